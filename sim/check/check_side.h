/*
 * One side of a comparison: what a program did, by operation and allocation, as predicted or as
 * measured. Rows go in one by one, those of a simulation from its probe and those of a measured trace
 * from its file, so that both are counted alike.
 */
#ifndef UM_CHECK_SIDE_H
#define UM_CHECK_SIDE_H

#include "check_quantity.h"

#include "trace/db/trace_db.h"

struct um_check_facts {
	uint64_t value[UM_CHECK_QUANTITIES]; /* as large as can be at most; those of pairs stay 0 */
	uint32_t unknown;		     /* bit n: some row did not tell quantity n */
};

enum um_check_op_kind {
	UM_CHECK_OP_OTHER,
	UM_CHECK_OP_PREFETCH,
	UM_CHECK_OP_HOST,
	UM_CHECK_OP_LAUNCH
};

struct um_check_launch {
	size_t op; /* place in the side's ops */
	char *name;
	int64_t groups[3], lanes[3]; /* of the grid, of a group: x, y, z */
};

/* What the program asked for and decides what happens to pages; not what only waits or orders. */
enum um_check_call_kind {
	UM_CHECK_CALL_ALLOC,
	UM_CHECK_CALL_FREE,
	UM_CHECK_CALL_ADVISE,
	UM_CHECK_CALL_PREFETCH,
	UM_CHECK_CALL_ATTACH,
	UM_CHECK_CALL_COPY,
	UM_CHECK_CALL_MEMSET,
	UM_CHECK_CALL_LAUNCH,
	UM_CHECK_CALL_KINDS /* none of these */
};

struct um_check_call {
	enum um_check_call_kind kind;
	size_t op;				 /* place in the side's ops */
	int64_t allocation, offset_bytes, bytes; /* UM_NULL: not known, or memory of nobody's */
	int64_t source_allocation, source_offset_bytes; /* of copies */
	int64_t device;					/* of advice and prefetches */
	int64_t stream;					/* 0: the null stream */
	int64_t value;					/* of attachments */
	int advice;					/* um_advice_words; -1: none */
};

/* What is known of the card that it ran on, or of the machine that was played for it; 0, "": not told. */
struct um_check_card {
	char name[64], arch[32], link[64], machine[64], driver_version[32];
	uint64_t memory_bytes, compute_units, wave_lanes;
	bool is_cupti; /* NVIDIA's driver was measured */
};

struct um_check_allocation {
	int64_t allocation;
	size_t op; /* that made it: place in the side's ops */
	char *kind, *name;
	int64_t bytes;
	size_t facts; /* place in the side's facts; 0: no row is about it */
};

struct um_check_range {
	size_t first, end; /* places in the side's ops, from its own op; `end` is not in it */
	char *name;
	unsigned nth; /* of those of its name, from 1 */
};

/* Pages of an allocation. */
struct um_check_pages {
	int64_t allocation;
	uint64_t first, count;
	size_t op; /* place in the side's ops */
};

/* While a device ran something, or pages were on a link. */
struct um_check_span {
	size_t op;
	bool is_launch;
	uint64_t start_ns, end_ns;
};

struct um_check_side {
	char *path;
	int64_t *ops;	  /* ids, ascending */
	size_t *op_facts; /* one each: place in `facts`; 0: no row is about it */
	enum um_check_op_kind *op_kinds;
	size_t op_count, op_room;
	struct um_check_facts *facts; /* the first is empty */
	size_t fact_count, fact_room;
	struct um_check_launch *launches; /* in order; so the others */
	size_t launch_count, launch_room;
	struct um_check_call *calls; /* those that failed are not among them */
	size_t call_count, call_room;
	struct um_check_allocation *allocations;
	size_t allocation_count, allocation_room;
	struct um_check_range *ranges;
	size_t range_count, range_room;
	struct um_check_span *spans; /* by op once the side is complete */
	size_t span_count, span_room;
	/* By allocation and op once the side is complete: what the host wrote and launches touched. */
	struct um_check_pages *touched;
	size_t touched_count, touched_room;
	/* So: what came to a device or was mapped there from afar. */
	struct um_check_pages *reached;
	size_t reached_count, reached_room;
	bool tells_all_reached;	  /* its back end tells everything that `reached` is */
	uint64_t rows_without_op; /* counted nowhere but in `without_op` */
	struct um_check_facts without_op;
	int64_t last_batch[64]; /* of device n modulo 64 */
	/* NULL: told by nobody; else the word of table origin */
	const char *origin[UM_CHECK_QUANTITIES];
	uint64_t lost;	       /* records that the measurement lacks */
	uint64_t not_recorded; /* launches that were not selected */
	bool ends_early;
	struct um_check_card card;
	bool has_policy; /* whose advice and prefetches are not those of its calls */
};

/* Limit of operations, ranges, launches, spans: UM_ELIMIT beyond. */
#define UM_CHECK_ITEMS_MAX (1u << 26)

/*
 * The program of a trace: operations, calls, launches, allocations, ranges, touched pages, and what it
 * ran on; no figures. On an error the side is to be freed too. UM_EFORMAT, UM_ELIMIT, UM_ENOMEM.
 */
int um_check_side_program(struct um_check_side *, struct um_db *);
void um_check_side_free(struct um_check_side *);

/* One row each. UM_EFORMAT: less than nothing, or an end before its start; UM_ELIMIT, UM_ENOMEM. */
int um_check_add_op(struct um_check_side *, const struct um_op_row *);
int um_check_add_fault(struct um_check_side *, const struct um_fault_row *);
int um_check_add_migration(struct um_check_side *, const struct um_migration_row *);
int um_check_add_mapping(struct um_check_side *, const struct um_mapping_row *);
int um_check_add_remote_access(struct um_check_side *, const struct um_remote_access_row *);
int um_check_add_copy(struct um_check_side *, const struct um_copy_traffic_row *);
/* When all rows are in. */
void um_check_side_complete(struct um_check_side *);

/* Sum of the operations from place `first` to before `end`, wait_time and step_time with it. */
int um_check_side_sum(const struct um_check_side *, size_t first, size_t end,
		      struct um_check_facts *out);
/* Of one operation; never NULL. */
const struct um_check_facts *um_check_side_op(const struct um_check_side *, size_t op);
/* Adds, up to UINT64_MAX. */
void um_check_facts_add(struct um_check_facts *, const struct um_check_facts *);
uint64_t um_check_plus(uint64_t a, uint64_t b);

/* Room for one more item; moves what is there. UM_ENOMEM, UM_ELIMIT. */
int um_check_room(void *items, size_t count, size_t *room, size_t item_bytes);
/* The place of the first id not below `op`. */
size_t um_check_side_place(const struct um_check_side *, int64_t op);

#endif
