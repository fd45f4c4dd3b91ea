/*
 * Random small programs as traces: what a kernel's stream touches and what its page accesses say
 * agree, as they do in a real trace. Everything follows from the seed.
 */
#ifndef UM_RANDOM_TRACE_H
#define UM_RANDOM_TRACE_H

#include "tests/unit/sim/trace_fixture.h"

#define RANDOM_BLOCKS 4

struct random_block {
	int64_t id, pages;
	const char *kind;
};

struct random_trace {
	struct trace_fixture *fx;
	uint64_t state; /* of the generator */
	uint32_t devices, streams, operations;
	int64_t most_pages; /* of an allocation */
	bool advises, prefetches;
	uint32_t launches; /* in the trace that was put */
	struct random_block blocks[RANDOM_BLOCKS];
	unsigned char
		*touched; /* by the launch that is being written, page by page: 1 read, 2 written */
};

uint32_t random_below(struct random_trace *, uint32_t limit);

/* A database of its own for all traces, which only the last put() fills. */
void random_trace_open(struct random_trace *, struct trace_fixture *);
void random_trace_close(struct random_trace *);
/*
 * Any program: allocations of every kind, the host, launches on several streams and devices, copies,
 * memsets, advice and prefetches if they are wanted, frees, failed and untraced calls.
 */
void random_trace_put(struct random_trace *, uint64_t seed);
/*
 * A sparse one: the host writes parts of managed memory once; from then on host and device take
 * turns and touch no more than one and the same page of each 2 MiB.
 */
void random_trace_put_sparse(struct random_trace *, uint64_t seed);

#endif
