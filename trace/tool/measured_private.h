/* What the files of measured.h share. */
#ifndef UM_MEASURED_PRIVATE_H
#define UM_MEASURED_PRIVATE_H

#include "measured.h"

#include <stdbool.h>
#include <stddef.h>

/* How far the clocks of driver and device may be apart: a fault is served within a kernel, not beside. */
#define UM_MEASURED_SLACK_NS 20000
/* Devices that can be told apart; CUDA's own limit is below. */
#define UM_MEASURED_DEVICES 64

struct um_measured_op {
	uint32_t op, thread;
	uint16_t kind; /* enum um_op_kind */
	bool timed;
	int32_t device;	     /* where it ran, if timed; else as called */
	int64_t call_ns;     /* start and end of the call */
	int64_t call_end_ns; /* INT64_MAX: not ended */
	int64_t start_ns;    /* on the device, if timed */
	int64_t end_ns;
	uint32_t allocation, source_allocation;
	uint64_t offset, source_offset, bytes;
	uint32_t value, site;
	int32_t result;
	int64_t host_ns; /* what the host did before it began then; UM_NULL: nothing known */
	bool left_out;	 /* none of what was selected */
	bool host_kept;	 /* rows of the 'host' op before it are */
};

/* A time in which rows of no call are kept. */
struct um_measured_span {
	int64_t start_ns, end_ns; /* INT64_MAX: it has not ended */
};

struct um_measured_allocation {
	uint32_t allocation;
	uint32_t kind; /* enum um_allocation_kind */
	uint64_t address, bytes;
	uint32_t op, freed_op; /* 0: before and after all others */
	int64_t born_ns, died_ns;
};

struct um_measured {
	struct um_measured_op *ops; /* by number */
	size_t op_count, op_capacity;
	struct um_measured_allocation *allocations; /* by number */
	size_t allocation_count, allocation_capacity;
	struct um_measured_span *spans; /* ascending, apart from each other */
	size_t span_count, span_capacity;
	bool has_spans, has_left_out;
	struct um_measured_op last; /* stands behind all ops, for what the host did there */
};

struct um_measured_op *um_measured_op(const struct um_measured *, uint32_t op);
struct um_measured_allocation *um_measured_allocation(const struct um_measured *,
						      uint32_t allocation);

/* --- measured_lives.c: which allocations there were at a time --- */

struct um_lives;

int um_lives_create(struct um_lives **out, struct um_measured *);
void um_lives_destroy(struct um_lives *);
/* Back to before all times; between two calls of the one below time does not fall. */
void um_lives_rewind(struct um_lives *);
/* The one of the first byte, else the first that lies in the run; NULL: none. */
const struct um_measured_allocation *um_lives_find(struct um_lives *, int64_t at_ns,
						   uint64_t address, uint64_t bytes);

/* --- measured_ops.c: which ops were under way at a time --- */

struct um_under_way;

/* Something that happened; devices as in the schema, -1 is the host. */
struct um_happening {
	int64_t at_ns;
	uint64_t address, bytes;
	int64_t device;	  /* whose doing it is */
	int64_t target;	  /* of a prefetch */
	bool by_prefetch; /* that the program asked for */
	bool is_fault;
	bool is_mapping; /* which the host may be the cause of, too */
};

int um_under_way_create(struct um_under_way **out, struct um_measured *, int64_t run_start_ns);
void um_under_way_destroy(struct um_under_way *);
void um_under_way_rewind(struct um_under_way *); /* as above */
/* The id in the database; UM_NULL: none. Marks the 'host' ops that are needed. */
int64_t um_under_way_find(struct um_under_way *, const struct um_happening *);

#endif
