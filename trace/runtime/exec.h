/*
 * Runs a launch on the calling thread, deterministically: groups in linear order, lanes of a group
 * in order, each until it ends, waits (barrier, wave operation) or has filled its share of the
 * recorder's window. A lane that never waits costs no switch of stacks; where that is known of all,
 * one call runs the group.
 * See ../compiler/device/device_abi.h for what code objects call.
 */
#ifndef UM_EXEC_H
#define UM_EXEC_H

#include <stdbool.h>
#include <stdint.h>

struct um_lane;
typedef void (*um_kernel_entry)(void **args);
typedef void (*um_group_entry)(void **args, const struct um_lane *first, unsigned *number);

struct um_launch {
	um_kernel_entry entry;
	um_group_entry group_entry; /* does the same for a whole group, unless NULL */
	void **args;		    /* as hipLaunchKernel's; the caller's, read by every lane */
	uint32_t grid[3];	    /* groups; each >= 1 */
	uint32_t block[3];	    /* lanes; product 1 to 1024 */
	uint32_t dynamic_lds_bytes;
	char *static_lds; /* section um_lds of the code object, or NULL */
	uint64_t static_lds_bytes;
	uint32_t group_lds_bytes; /* what a group of this kernel has: its static LDS and dynamic */
	bool selected;		  /* asked to be recorded in detail; true when untraced */
	bool hooked;		  /* entry has hooks and the recorder is to be used */
	bool cooperative;	  /* every group must be resident: all get turns from the start */
	uint32_t op;		  /* of the trace, 0 when untraced */
	const char *name;	  /* for messages */
};

struct um_launch_totals {
	uint64_t reads, writes, atomics, bytes_read, bytes_written, outside;
	uint64_t lines; /* of 64 bytes, each once for reading and once for writing */
};

/*
 * Returns a hipError_t. hipErrorLaunchFailure (with a line on stderr that names kernel, group and
 * lane) when the kernel called um_fault or can make no progress: every unfinished group has spun
 * through um_yield or hooks for the limit without one of them ending or writing anything new.
 * Not reentrant; the caller holds the runtime lock. `totals` may be NULL.
 */
int um_exec_run(const struct um_launch *, struct um_launch_totals *totals);

#endif
