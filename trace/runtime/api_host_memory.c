/* Pinned and registered host memory. */
#include "api.h"
#include "memory_registered.h"
#include "pageable.h"
#include "policy_apply.h"

static hipError_t host_get_device_pointer(void **out, void *address, unsigned flags)
{
	const struct um_allocation *allocation = um_memory_find(address);

	if (!out || !address || flags)
		return hipErrorInvalidValue;
	if (!allocation || allocation->kind == UM_ALLOCATION_DEVICE)
		return hipErrorInvalidValue;
	*out = address; /* one address space, as with AMD's unified addressing */
	return hipSuccess;
}

hipError_t hipHostGetDevicePointer(void **out, void *address, unsigned flags)
{
	UM_ENTER();
	return um_leave(host_get_device_pointer(out, address, flags));
}

static hipError_t host_get_flags(unsigned *out, const void *address)
{
	const struct um_allocation *allocation = um_memory_find(address);

	if (!out || !allocation)
		return hipErrorInvalidValue;
	if (allocation->kind != UM_ALLOCATION_PINNED &&
	    allocation->kind != UM_ALLOCATION_REGISTERED)
		return hipErrorInvalidValue;
	*out = allocation->flags;
	return hipSuccess;
}

hipError_t hipHostGetFlags(unsigned *out, void *address)
{
	UM_ENTER();
	return um_leave(host_get_flags(out, address));
}

static hipError_t host_register(void *start, size_t bytes, unsigned flags)
{
	const unsigned known = hipHostRegisterPortable | hipHostRegisterMapped |
			       hipHostRegisterIoMemory | hipExtHostRegisterCoarseGrained;

	if (!start || !bytes || flags & ~known || (uintptr_t)start + bytes < (uintptr_t)start)
		return hipErrorInvalidValue;
	if (um_arena_find(start) || um_registered_overlaps(start, bytes))
		return hipErrorHostMemoryAlreadyRegistered;
	struct um_record_op op = um_op(UM_OP_ALLOC, 0);
	struct um_allocation *allocation = um_registered_add(start, bytes);

	if (!allocation)
		return hipErrorOutOfMemory;
	allocation->flags = flags;
	allocation->device = um_thread.device;
	op.allocation = allocation->id;
	op.bytes = bytes;
	um_tracer_op_begin(&op);
	um_memory_record(allocation, &op, "");
	um_pageable_forget(start, bytes);
	um_tracer_op_end(&op, hipSuccess);
	um_policy_allocated();
	return hipSuccess;
}

hipError_t hipHostRegister(void *start, size_t bytes, unsigned flags)
{
	UM_ENTER();
	return um_leave(host_register(start, bytes, flags));
}

static hipError_t host_unregister(const void *start)
{
	struct um_allocation *allocation = um_registered_find(start);

	if (!start)
		return hipErrorInvalidValue;
	if (!allocation || um_registered_start(allocation) != start)
		return hipErrorHostMemoryNotRegistered;
	return um_memory_free(allocation, 0);
}

hipError_t hipHostUnregister(void *start)
{
	UM_ENTER();
	return um_leave(host_unregister(start));
}
