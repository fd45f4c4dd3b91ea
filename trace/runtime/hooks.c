/*
 * What code objects call for every access to memory, and the small services of device_abi.h.
 */
#include "arena.h"
#include "device_export.h"
#include "lane_group.h"
#include "pageable.h"
#include "recorder.h"

#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <unistd.h>

/* A lane that reads the same address outside the arena for ever must be seen as well. */
#define OUTSIDE_PER_YIELD 4096u
/* s_sleep 1 is 64 clocks ("MI200 ISA reference guide", s_sleep); um_clock() moves by as much. */
#define TICKS_PER_CALL 64u

#define LINES_BITS 30 /* of UM_ARENA_SPAN / UM_LINE_BYTES */
_Static_assert(UM_ARENA_SPAN >> UM_LINE_SHIFT == UINT64_C(1) << LINES_BITS, "span of the arena");

static uint64_t ticks;

static inline void append(uint32_t line, unsigned descriptor)
{
	uint32_t at = um_window.cursor;

	um_window.line[at] = line;
	um_window.descriptor[at] = descriptor;
	um_window.cursor = at + UM_WINDOW_TILE;
}

static void append_or_wait(const char *address, uint32_t line, unsigned descriptor)
{
	if (um_window.cursor == um_window.limit) {
		um_running_lane()->address = address;
		um_group_wait(um_running.group->full);
		um_running_lane()->address = NULL;
	}
	append(line, descriptor);
}

/* LDS and private memory, reached through a pointer that may point anywhere. */
static bool is_private(const char *address)
{
	const struct um_launch *launch = um_running.launch;
	const char *here = __builtin_frame_address(0);

	return (uintptr_t)address - (uintptr_t)um_lds_dynamic < UM_LDS_BYTES ||
	       (uintptr_t)address - (uintptr_t)launch->static_lds < launch->static_lds_bytes ||
	       ((uintptr_t)address - (uintptr_t)here < UM_FIBRE_STACK_BYTES &&
		um_fibre_is_same(here, address));
}

/* What is to be recorded though it is not in the arena. */
static bool is_pageable(const char *address)
{
	return um_pageable_active() && !is_private(address);
}

static void outside(const char *address)
{
	static uint32_t calls;

	if (++calls % OUTSIDE_PER_YIELD == 0) {
		um_running_lane()->address = address;
		um_group_wait(um_running.group->yielded);
		um_running_lane()->address = NULL;
	}
	if (!is_private(address))
		um_recorder_outside();
}

static uint32_t arena_line(const char *address)
{
	return (uint32_t)(((uintptr_t)address - um_window.base) >> UM_LINE_SHIFT);
}

static const char *next_line(const char *address)
{
	return address + UM_LINE_BYTES - ((uintptr_t)address & (UM_LINE_BYTES - 1));
}

/* Line after line. The first entry counts as the access, the others continue it. */
static void access_lines(const char *address, uint64_t bytes, unsigned descriptor)
{
	unsigned continued = descriptor & ~UM_ACCESS_BYTES(~0u);
	const char *end = address + bytes;

	for (const char *at = address; at < end; at = next_line(at))
		append_or_wait(at, arena_line(at), at == address ? descriptor : continued);
}

/*
 * The same for memory that HIP did not allocate, of which each page may belong to another mapping.
 * False: the first byte stays outside, and so does all of the access.
 */
static bool pageable_lines(const char *address, uint64_t bytes, unsigned descriptor)
{
	unsigned continued = descriptor & ~UM_ACCESS_BYTES(~0u);
	const char *end = address + bytes;

	for (const char *at = address; at < end; at = next_line(at)) {
		uint32_t line = um_pageable_line(at);

		if (line)
			append_or_wait(at, line, at == address ? descriptor : continued);
		else if (at == address)
			return false;
	}
	return true;
}

static bool inside(const char *address, uint64_t bytes)
{
	uint64_t offset = (uintptr_t)address - um_window.base;

	return offset < UM_ARENA_SPAN && bytes <= UM_ARENA_SPAN - offset;
}

static __attribute__((noinline)) void access_slowly(const char *address, unsigned descriptor)
{
	uint64_t bytes = UM_ACCESS_BYTES(descriptor);

	if (inside(address, bytes))
		access_lines(address, bytes, descriptor);
	else if (!is_pageable(address) || !pageable_lines(address, bytes, descriptor))
		outside(address);
}

/*
 * The bases of arena and pages are aligned, so that one shift tells both whether the access lies
 * in the arena and whether it stays in one line.
 */
void um_access(const void *address, unsigned descriptor)
{
	uint64_t first = (uintptr_t)address - um_window.base;
	uint64_t last = first + UM_ACCESS_BYTES(descriptor) - 1;
	uint64_t line = first >> UM_LINE_SHIFT;

	if (__builtin_expect((line ^ last >> UM_LINE_SHIFT) | line >> LINES_BITS, 0) ||
	    __builtin_expect(um_window.cursor == um_window.limit, 0))
		access_slowly(address, descriptor);
	else
		append((uint32_t)line, descriptor);
}

void um_access_range(const void *address, unsigned long bytes, unsigned descriptor)
{
	unsigned continued = descriptor & ~UM_ACCESS_BYTES(~0u);

	if (!bytes)
		return;
	if (inside(address, bytes)) {
		um_recorder_count(UM_ACCESS_KIND(descriptor), 1, bytes);
		access_lines(address, bytes, continued);
	} else if (is_pageable(address) && pageable_lines(address, bytes, continued)) {
		um_recorder_count(UM_ACCESS_KIND(descriptor), 1, bytes);
	} else {
		outside(address);
	}
}

const struct um_lane *um_self(void)
{
	return &um_running_lane()->self;
}

void um_barrier(void)
{
	um_group_wait(um_running.group->at_barrier);
}

void um_yield(void)
{
	ticks += TICKS_PER_CALL;
	um_group_wait(um_running.group->yielded);
}

/* No clock of the host: a kernel that waits for a time must make the same accesses in every run. */
unsigned long um_clock(void)
{
	ticks += TICKS_PER_CALL;
	return ticks;
}

void um_fault(int hip_error, const char *text)
{
	const struct um_group *group = um_running.group;

	dprintf(STDERR_FILENO, "umtrace: kernel %s: group (%u,%u,%u), lane %u: %s\n",
		um_running.launch->name, group->index[0], group->index[1], group->index[2],
		um_window.lane, text);
	um_group_fail(hip_error ? hip_error : hipErrorLaunchFailure);
}
