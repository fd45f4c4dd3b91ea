/* One line on a terminal that says how far a long run has come; silent elsewhere. */
#ifndef UM_PROGRESS_H
#define UM_PROGRESS_H

#include "ingest.h"

struct um_progress {
	bool on, shown;
	uint64_t start_ns, last_ns; /* CLOCK_MONOTONIC */
};

void um_progress_init(struct um_progress *, bool quiet);
void um_progress_trace(struct um_progress *, const struct um_ingest_totals *);
/* The um_simulation's callback; context is the um_progress. */
void um_progress_model(void *progress, uint64_t done, uint64_t all);
/* How far a file is read. */
void um_progress_import(struct um_progress *, const char *name, uint64_t done, uint64_t all);
/* That it is read, and its records are being put in order. */
void um_progress_sorting(struct um_progress *, const char *name);
/* Takes the line away. */
void um_progress_clear(struct um_progress *);
uint64_t um_progress_now_ns(void);

#endif
