/*
 * What SMI events come to once beginnings and ends have found each other: migrations, faults, times in
 * which queues stood still. What amdkfd's FIFO had no room for is gone without a word, so that a half
 * without its other is how a loss shows.
 *
 * Keys: of a migration its range and its two places, of a fault its page and GPU, of a stop its GPU; with
 * the process, always. Threads of one process cannot have two of a key at once: a second beginning of one
 * says that the first one's end was lost.
 */
#ifndef UM_SMI_PAIR_H
#define UM_SMI_PAIR_H

#include "smi_event.h"

#include <stdbool.h>

enum um_smi_span_kind { UM_SMI_MIGRATION, UM_SMI_FAULT, UM_SMI_STOP, UM_SMI_UNMAPPING };

struct um_smi_span {
	enum um_smi_span_kind kind;
	int64_t start_ns, end_ns;  /* UM_SMI_NOT_TOLD: that half never came */
	struct um_smi_event event; /* of the beginning, or of the end where that is all there is */
	int32_t error;		   /* of a migration's end */
	char outcome;		   /* of a fault's end: M, U, or 0 */
};

/* As many as are in the air at once; amdkfd serves one migration a process at a time. */
#define UM_SMI_OPEN 256u

struct um_smi_pairs {
	/* May be called from each of the functions below. */
	void (*take)(void *context, const struct um_smi_span *);
	void *context;
	struct um_smi_event open[UM_SMI_OPEN]; /* in the order in which they came */
	uint64_t keys[UM_SMI_OPEN];	       /* of these, by which they are found */
	unsigned count;
	uint64_t spans; /* that were whole */
	uint64_t
		no_end; /* beginnings whose end was lost, or that failed (a fault that could not migrate) */
	uint64_t no_start;   /* ends whose beginning was lost */
	uint64_t duplicates; /* stops of GPUs that stood still already: nested, and no loss */
};

void um_smi_pairs_init(struct um_smi_pairs *, void (*take)(void *, const struct um_smi_span *),
		       void *context);
/* Events of other kinds are left alone. */
void um_smi_pairs_put(struct um_smi_pairs *, const struct um_smi_event *);
/* Nothing more comes: what is open has no end. */
void um_smi_pairs_end(struct um_smi_pairs *);

#endif
