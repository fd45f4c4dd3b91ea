/*
 * The rules of NVIDIA's unified-memory driver once more, page by page and as plainly as can be, to
 * hold driver nvidia_uvm against: one access after the other, without time and without thrashing.
 * Written from uvm_va_block.c, uvm_perf_prefetch.c, uvm_policy.c, uvm_migrate.c and uvm_pmm_gpu.c,
 * function by function, under the module's own names. One device behind PCIe; allocations have 2 MiB at
 * least.
 *
 * In three things it is the model and not the module: the pieces of a block that advice has cut share
 * one 2 MiB of device memory, which is as old as its first page; an allocation's last block, where it
 * has less than 2 MiB, takes just its pages; and there are rights to read and to write only, none for
 * atomics.
 */
#ifndef UM_UVM_ORACLE_H
#define UM_UVM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#define ORACLE_ALLOCATIONS 8
#define ORACLE_BLOCK	   512
#define ORACLE_WINDOWS	   4 /* of an allocation */
#define ORACLE_PAGES	   (ORACLE_WINDOWS * ORACLE_BLOCK)
#define ORACLE_NOWHERE	   (-2)

/* Processors, as indices and as bits of a mask. */
enum { ORACLE_CPU, ORACLE_GPU, ORACLE_PROCESSORS };
#define ORACLE_BIT(processor) (1u << (processor))

enum oracle_protection { ORACLE_NONE, ORACLE_READ, ORACLE_WRITE };
enum oracle_duplication { ORACLE_UNSET, ORACLE_ENABLED, ORACLE_DISABLED };

/* Of one operation. */
struct oracle_result {
	int64_t device_faults, host_faults;
	int64_t pages_in, pages_out, evicted;
	int64_t records_in, records_out;
	int64_t remote_pages;
};

struct oracle_policy {
	int preferred; /* a processor, or ORACLE_NOWHERE */
	unsigned accessed_by;
	enum oracle_duplication duplication;
};

struct oracle_page {
	unsigned resident; /* mask */
	enum oracle_protection mapped[ORACLE_PROCESSORS];
	bool duplicated, range_starts; /* a cut before it */
	struct oracle_policy policy;
	char copied; /* in the copy that is under way: 'F', 'P', or 0 */
};

struct oracle_window {
	bool has_chunk, unused;
	int64_t age; /* place in its list */
};

struct oracle_allocation {
	int pages; /* 0: not there */
	struct oracle_page page[ORACLE_PAGES];
	struct oracle_window window[ORACLE_WINDOWS];
};

struct oracle_setup {
	int version;   /* 515, 535, ... */
	int chunks;    /* of 2 MiB */
	bool prefetch; /* uvm_perf_prefetch_enable */
	int threshold; /* uvm_perf_prefetch_threshold */
};

struct oracle {
	struct oracle_setup setup;
	struct oracle_allocation allocation[ORACLE_ALLOCATIONS];
	int64_t clock;
	int taken; /* pages, of blocks and of the program */
	struct oracle_result result;
};

enum oracle_advice {
	ORACLE_PREFERRED,
	ORACLE_UNSET_PREFERRED,
	ORACLE_ACCESSED_BY,
	ORACLE_UNSET_ACCESSED_BY,
	ORACLE_READ_MOSTLY,
	ORACLE_UNSET_READ_MOSTLY
};

void oracle_init(struct oracle *, const struct oracle_setup *);
void oracle_alloc(struct oracle *, int allocation, int pages);
void oracle_free(struct oracle *, int allocation);
/* Device memory that the program allocates, in chunks. */
void oracle_take(struct oracle *, int chunks);
void oracle_access(struct oracle *, int processor, int allocation, int first, int pages,
		   bool write);
void oracle_prefetch(struct oracle *, int allocation, int first, int pages, int to);
void oracle_advise(struct oracle *, int allocation, int first, int pages, enum oracle_advice,
		   int processor);

#endif
