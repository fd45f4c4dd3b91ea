/*
 * How far a run is, for what selects launches (selection.h): launches counted, in all and of each kernel,
 * and the profiler's switch. Not for several threads at once.
 */
#ifndef UM_SELECTION_STATE_H
#define UM_SELECTION_STATE_H

#include "selection.h"

#define UM_SELECTION_BUCKETS 256u
/* Threads that are switched off one by one; of more, none is. */
#define UM_SELECTION_THREADS 64u

struct um_selected_kernel;

struct um_selection_state {
	const char *text;
	/* The name as in the source, malloc'ed, of a symbol; NULL: it is the name. */
	char *(*demangle)(const char *symbol);
	uint64_t launches;
	struct um_selected_kernel *kernels[UM_SELECTION_BUCKETS]; /* by symbol */
	bool is_off;
	uint32_t paused[UM_SELECTION_THREADS]; /* ids of threads */
	unsigned paused_count;
};

/* `text` stays the caller's and must last. */
void um_selection_begin(struct um_selection_state *, const char *text,
			char *(*demangle)(const char *symbol));
void um_selection_end(struct um_selection_state *);

/* The profiler's switch, of all threads (0) or of one. */
void um_selection_switch(struct um_selection_state *, bool on, uint32_t thread);
bool um_selection_is_on(const struct um_selection_state *, uint32_t thread);
/*
 * Counts a launch of the kernel with this symbol by a thread, that has a range open which --ranges names,
 * and says whether it is selected. Without memory for the symbol it is.
 */
bool um_selection_launch(struct um_selection_state *, const char *symbol, uint32_t thread,
			 bool in_range);

#endif
