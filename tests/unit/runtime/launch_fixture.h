/*
 * Runs launches without the HIP API: the real arena, execution and recorder, with a spool that
 * keeps the records for the test to look at.
 */
#ifndef UM_LAUNCH_FIXTURE_H
#define UM_LAUNCH_FIXTURE_H

#include "trace/compiler/device/device_abi.h"
#include "trace/runtime/arena.h"
#include "trace/runtime/exec.h"
#include "trace/runtime/recorder.h"
#include "trace/spool/access_stream.h"

#include <stddef.h>

/* Hooks as umhipcc writes them; the line of the source is the instruction. */
#define HOOK(pointer, kind)                                                                        \
	um_access(pointer, UM_ACCESS(sizeof(*(pointer)), UM_ACCESS_##kind, __LINE__))
#define LOAD(pointer) (HOOK(pointer, READ), *(volatile __typeof__(*(pointer)) *)(pointer))
#define STORE(pointer, value)                                                                      \
	do {                                                                                       \
		__typeof__(*(pointer)) value_ = (value);                                           \
		HOOK(pointer, WRITE);                                                              \
		*(volatile __typeof__(*(pointer)) *)(pointer) = value_;                            \
	} while (0)
#define ATOMIC_ADD(pointer, value)                                                                 \
	(HOOK(pointer, ATOMIC), __atomic_fetch_add(pointer, value, __ATOMIC_RELAXED))

struct touch {
	uint64_t group;
	uint32_t allocation, page;
	bool write;
};

struct sent_allocation {
	uint32_t id, kind, flags;
	uint64_t address, bytes;
	char name[64];
};

/* What the last launch sent, until the next one. */
struct sent {
	struct um_page_run *runs;
	size_t run_count, run_capacity;
	struct touch *touches;
	size_t touch_count, touch_capacity;
	/* of pageable memory, and what the host had written there before */
	struct sent_allocation *allocations;
	size_t allocation_count, allocation_capacity;
	struct um_page_run *host_runs;
	size_t host_run_count, host_run_capacity;
	uint32_t freed;	      /* the allocation that was freed last before it; 0: none */
	unsigned char *bytes; /* every record, one after the other */
	size_t byte_count, byte_capacity;
};
extern struct sent sent;
extern struct um_launch_totals totals;
/* The compute units of the device: how many groups may be in flight. */
extern uint32_t fixture_compute_units;

/* Fills in a launch of `groups` groups of `lanes` lanes, hooked, op 1. */
struct um_launch fixture_launch(um_kernel_entry entry, void **args, uint32_t groups,
				uint32_t lanes);
/* um_exec_run() with what came before forgotten. */
int fixture_run(const struct um_launch *);
/* Memory in the arena, for the life of the test. */
void *fixture_alloc(uint64_t bytes);
uint32_t fixture_allocation_of(const void *address);
/* The run that holds the page of `address`, or NULL. */
const struct um_page_run *fixture_page(const void *address);
/* Runs with stderr in `text`. */
int fixture_run_captured(const struct um_launch *, char *text, size_t capacity);

#endif
