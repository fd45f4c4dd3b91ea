/*
 * What happened in a run that a policy can be about, by the keys that the program will know it by again
 * (spool/apply_table.h): each allocation, name of a part and launch of a trace, and the how many-eth of its
 * key it was.
 */
#ifndef UM_APPLY_KEYS_H
#define UM_APPLY_KEYS_H

#include "trace/db/trace_db.h"
#include "trace/spool/apply_table.h"

struct um_occurrence {
	uint64_t hash;
	uint32_t kind;		   /* UM_APPLY_ALLOCATION, UM_APPLY_NAME, UM_APPLY_LAUNCH */
	uint32_t nth;		   /* of its key, from 1 */
	uint32_t allocation_place; /* the how many-eth of the trace's allocations, from 0 */
	int64_t op;		   /* 0: not known */
	int64_t row;		   /* allocation; else op */
};

struct um_occurrences {
	struct um_occurrence *items; /* by kind, hash, nth */
	size_t count, capacity;
	uint64_t *site_hashes; /* by site */
	int64_t site_count;    /* the largest and one */
};

/* UM_ENOMEM, UM_EFORMAT, or of the trace. */
int um_occurrences_load(struct um_occurrences *, struct um_db *trace);
void um_occurrences_fini(struct um_occurrences *); /* also of zeros, and after an error */
/* The hash of a site; 0: none that is known. */
uint64_t um_occurrences_site(const struct um_occurrences *, int64_t site);

#endif
