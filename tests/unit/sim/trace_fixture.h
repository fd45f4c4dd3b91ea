/*
 * Synthetic traces for the simulator's tests, written through trace_db, and a machine with round
 * figures: a page takes the link 1000 ns, a transfer 500 ns more, nothing else takes time.
 */
#ifndef UM_TRACE_FIXTURE_H
#define UM_TRACE_FIXTURE_H

#include "sim/simulate.h"
#include "trace/spool/access_stream.h"
#include "trace/spool/spool_record.h"

#define PAGE	   4096
#define PAGE_NS	   1000
#define LATENCY_NS 500

struct trace_fixture {
	char path[64];
	struct um_db *db;
	int64_t ops, allocations;
	int64_t device; /* current: of allocations, launches and copies */
	struct um_machine_spec machine;
	struct um_policy policy;
	struct um_policy *chosen;	     /* fx_policy(): instead of `policy` */
	struct um_param_value fault_latency; /* of demand; 0 unless a test sets it */
	struct um_totals totals;
	struct um_observer extra; /* sees what the totals see */
	bool host_time;
	bool traced;
	const struct um_kernel_times *kernel_times;
	double estimate_scale;
	/* of a launch that is being written */
	int64_t launch, chunks;
	unsigned char *payload;
	struct um_stream_encoder encoder;
	char ignored[128];
};

void fx_open(struct trace_fixture *);
void fx_close(struct trace_fixture *);
/* The text of a policy file, from now on instead of the fixture's policy. */
void fx_policy(struct trace_fixture *, const char *text);

/* Each is one op of the program; returns its id, or the allocation's. */
int64_t fx_alloc(struct trace_fixture *, const char *kind, int64_t bytes);
/* The same with allocation.flags. */
int64_t fx_alloc_flags(struct trace_fixture *, const char *kind, int64_t bytes, int64_t flags);
int64_t fx_free(struct trace_fixture *, int64_t allocation);
/* Pages [first, first + pages) with UM_TOUCH_*. */
int64_t fx_host(struct trace_fixture *, int64_t allocation, int64_t first, int64_t pages,
		int64_t touch);
int64_t fx_op(struct trace_fixture *, const struct um_op_row *);
int64_t fx_sync(struct trace_fixture *);
int64_t fx_advise(struct trace_fixture *, int64_t allocation, const char *advice, int64_t device);
int64_t fx_prefetch(struct trace_fixture *, int64_t allocation, int64_t bytes, int64_t device,
		    int64_t stream);
/* Of pages [first, first + pages); the prefetch on stream 0. */
int64_t fx_advise_pages(struct trace_fixture *, int64_t allocation, int64_t first, int64_t pages,
			const char *advice, int64_t device);
int64_t fx_prefetch_pages(struct trace_fixture *, int64_t allocation, int64_t first, int64_t pages,
			  int64_t device);
int64_t fx_copy(struct trace_fixture *, int64_t target, int64_t source, int64_t bytes,
		int64_t stream, bool async);

/* A launch of `groups` groups of 64 lanes; then its touches group by group, then its end. */
int64_t fx_launch(struct trace_fixture *, const char *name, int64_t groups, int64_t stream);
void fx_touch(struct trace_fixture *, uint64_t group, int64_t allocation, int64_t page, bool write);
void fx_touch_range(struct trace_fixture *, uint64_t group, int64_t allocation, int64_t first,
		    int64_t pages, bool write);
void fx_next_chunk(struct trace_fixture *); /* where a test wants a chunk's end */
/* A row of page_access of the launch. */
void fx_lines(struct trace_fixture *, int64_t allocation, int64_t first, int64_t pages,
	      int64_t touch, uint64_t lines_read, uint64_t lines_written);
void fx_launch_end(struct trace_fixture *);

/* Runs; the totals are in the fixture. */
int fx_simulate(struct trace_fixture *);
/* The same, and fails the test on an error. */
void fx_run(struct trace_fixture *);

#endif
