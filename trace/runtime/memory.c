/* Allocations behind the API: the arena, memory that the program registered, and their records. */
#include "api.h"
#include "hostwatch.h"
#include "memory_registered.h"
#include "pageable.h"
#include "page_state.h"
#include "policy_apply.h"
#include "tracer_site.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>

struct um_allocation *um_memory_find(const void *address)
{
	struct um_allocation *found = um_arena_find(address);

	return found ? found : um_registered_find(address);
}

bool um_memory_is_free(const void *address)
{
	uint64_t offset = (uint64_t)((uintptr_t)address - (uintptr_t)um_arena.base);

	return offset < um_arena.span && !um_arena_find(address);
}

void *um_memory_start(const struct um_allocation *allocation)
{
	if (allocation->kind == UM_ALLOCATION_REGISTERED)
		return um_registered_start(allocation);
	return um_arena.base + allocation->offset;
}

bool um_memory_holds(const struct um_allocation *allocation, const void *address, uint64_t bytes)
{
	uint64_t offset = (uintptr_t)address - (uintptr_t)um_memory_start(allocation);

	return offset <= allocation->bytes && bytes <= allocation->bytes - offset;
}

void *um_memory_own(const void *address)
{
	uint64_t offset = (uint64_t)((uintptr_t)address - (uintptr_t)um_arena.base);

	return offset < um_arena.span ? um_arena_own(address) : (void *)(uintptr_t)address;
}

/* What each device holds. */
static struct {
	uint64_t device_bytes, managed_bytes;
} used[UM_MAX_DEVICES];

static uint64_t in_whole_pages(uint64_t bytes)
{
	return (bytes + UM_PAGE_BYTES - 1) & ~(uint64_t)(UM_PAGE_BYTES - 1);
}

/* Memory comes in pages, as with AMD's runtime (hip-tests, catch/unit/memory/hipMemGetInfo.cc). */
static void count(const struct um_allocation *allocation, bool comes)
{
	uint64_t pages_bytes = in_whole_pages(allocation->bytes);
	uint64_t bytes = comes ? pages_bytes : -pages_bytes;

	if (allocation->kind == UM_ALLOCATION_DEVICE)
		used[allocation->device].device_bytes += bytes;
	if (allocation->kind == UM_ALLOCATION_MANAGED)
		used[allocation->device].managed_bytes += bytes;
}

void um_memory_child(void)
{
	memset(used, 0, sizeof(used));
	um_pageable_child();
	um_virtual_child();
	um_arena_child();
}

static uint64_t left_after(int device, uint64_t bytes)
{
	uint64_t total = um_device_get((uint32_t)device)->memory_bytes;

	return bytes < total ? total - bytes : 0;
}

/*
 * Managed memory may exceed the device's (that is what migration is for), so hipMalloc() does not
 * count it; hipMemGetInfo() does, as if all of it were there.
 */
uint64_t um_memory_device_left(int device)
{
	return left_after(device, used[device].device_bytes + used[device].managed_bytes);
}

static bool device_has_room(int device, uint64_t bytes)
{
	uint64_t left = left_after(device, used[device].device_bytes);

	return bytes <= left && in_whole_pages(bytes) <= left;
}

/* What the host cannot hold would work on the machine that is played: say so, once. */
static void say_host_is_small(uint64_t bytes)
{
	const struct um_played_device *device = um_device_get((uint32_t)um_thread.device);
	static bool said;
	char wanted[32], played[32];

	if (!said)
		um_say("hipErrorOutOfMemory for %s: the device that is played has %s, but %s",
		       um_format_bytes(wanted, sizeof(wanted), bytes),
		       um_format_bytes(played, sizeof(played), device->memory_bytes),
		       um_error_message());
	said = true;
}

static hipError_t place(struct um_allocation **out, const struct um_memory_request *request)
{
	hipError_t error = um_ready();

	if (error)
		return error;
	if (request->kind == UM_ALLOCATION_DEVICE &&
	    !device_has_room(request->device, request->bytes))
		return hipErrorOutOfMemory;
	if (!um_arena_alloc(out, request->kind, request->bytes))
		return hipSuccess;
	say_host_is_small(request->bytes);
	return hipErrorOutOfMemory;
}

void um_memory_record(const struct um_allocation *allocation, const struct um_record_op *op,
		      const char *name)
{
	struct um_record_allocation *record;
	size_t bytes = (sizeof(*record) + strlen(name) + 1 + 7) & ~(size_t)7;

	if (!um_tracer_on())
		return;
	record = calloc(1, bytes);
	if (!record)
		return;
	record->header.bytes = (uint32_t)bytes;
	record->header.kind = UM_RECORD_ALLOCATION;
	record->allocation = allocation->id;
	record->kind = um_policy_allocation(allocation, op, name);
	record->flags = allocation->flags;
	record->device = allocation->device;
	record->address = (uintptr_t)um_memory_start(allocation);
	record->bytes = allocation->bytes;
	record->op = op->op;
	record->site = op->site;
	memcpy(record->name, name, strlen(name) + 1);
	um_tracer_put(&record->header);
	free(record);
}

static void begin_life(struct um_allocation *allocation, const struct um_memory_request *request)
{
	allocation->flags = request->flags;
	allocation->device = request->device;
	allocation->pool = request->pool;
	count(allocation, true);
	um_pool_count(request->pool, (int64_t)request->bytes);
	if (request->kind == UM_ALLOCATION_MANAGED && um_tracer_on())
		um_hostwatch_add(allocation->offset, in_whole_pages(allocation->bytes));
}

hipError_t um_memory_allocate(void **out, const struct um_memory_request *request)
{
	struct um_record_op op = um_op(UM_OP_ALLOC, request->stream);
	struct um_allocation *allocation = NULL;

	op.device = request->device;
	op.bytes = request->bytes;
	um_tracer_op_begin(&op);
	hipError_t error = place(&allocation, request);

	if (!error) {
		begin_life(allocation, request);
		op.allocation = allocation->id;
		um_memory_record(allocation, &op, request->name);
		if (!*request->name)
			um_tracer_variable(allocation->id, um_thread.caller, out);
		*out = um_memory_start(allocation);
	}
	um_tracer_op_end(&op, error);
	um_policy_allocated();
	return error;
}

/* --- memory that comes before its place does --- */

hipError_t um_memory_take(int device, uint64_t bytes)
{
	if (!device_has_room(device, bytes))
		return hipErrorOutOfMemory;
	if (um_arena_hold((int64_t)bytes)) {
		say_host_is_small(bytes);
		return hipErrorOutOfMemory;
	}
	used[device].device_bytes += bytes;
	return hipSuccess;
}

void um_memory_give(int device, uint64_t bytes)
{
	um_arena_hold(-(int64_t)bytes);
	used[device].device_bytes -= bytes;
}

void um_memory_adopt(struct um_allocation *allocation, int device)
{
	struct um_record_op op = um_op(UM_OP_ALLOC, 0);

	allocation->device = device;
	op.bytes = allocation->bytes;
	op.allocation = allocation->id;
	um_tracer_op_begin(&op);
	um_memory_record(allocation, &op, "");
	um_tracer_op_end(&op, hipSuccess);
	um_policy_allocated();
}

void um_memory_release(struct um_allocation *allocation)
{
	struct um_record_op op = um_op(UM_OP_FREE, 0);

	op.allocation = allocation->id;
	op.bytes = allocation->bytes;
	um_tracer_op_begin(&op);
	um_policy_freed(allocation);
	um_page_state_free(allocation->state);
	um_arena_unmap(allocation);
	um_tracer_op_end(&op, hipSuccess);
}

hipError_t um_memory_free(struct um_allocation *allocation, uint32_t stream)
{
	struct um_record_op op = um_op(UM_OP_FREE, stream);

	op.allocation = allocation->id;
	op.bytes = allocation->bytes;
	um_tracer_op_begin(&op);
	if (allocation->kind == UM_ALLOCATION_MANAGED && um_tracer_on())
		um_hostwatch_remove(allocation->offset, in_whole_pages(allocation->bytes));
	um_policy_freed(allocation);
	count(allocation, false);
	um_pool_count(allocation->pool, -(int64_t)allocation->bytes);
	um_page_state_free(allocation->state);
	if (allocation->kind == UM_ALLOCATION_REGISTERED) {
		um_pageable_forget(um_memory_start(allocation), allocation->bytes);
		um_registered_remove(allocation);
	} else {
		um_arena_free(allocation);
	}
	um_tracer_op_end(&op, hipSuccess);
	return hipSuccess;
}
