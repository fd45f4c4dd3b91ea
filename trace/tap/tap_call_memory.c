/* Allocations and frees, and what the program says about where they should be. */
#include "tap_apply.h"
#include "tap_map.h"

#include <string.h>

#define NAME_MAX_BYTES 1024u

static struct um_tap_map managed_pools;

/* --- allocations --- */

void um_tap_put_allocation(const struct um_tap_block *block, const struct um_record_op *op,
			   uint32_t flags, const char *name)
{
	size_t name_bytes = strnlen(name, NAME_MAX_BYTES - 1);
	size_t bytes = (sizeof(struct um_record_allocation) + name_bytes + 8) & ~(size_t)7;
	struct um_record_allocation *record = um_tap_reserve(bytes);

	if (!record)
		return;
	memset(record, 0, bytes);
	record->header = (struct um_record){(uint32_t)bytes, UM_RECORD_ALLOCATION, 0};
	record->allocation = block->allocation;
	record->kind = block->kind;
	record->flags = flags;
	record->device = op->device;
	record->address = block->address;
	record->bytes = block->bytes;
	record->op = op->op;
	record->site = op->site;
	memcpy(record->name, name, name_bytes);
	um_tap_commit();
}

/* `address`: where the driver put it; not read when the call failed. */
static void allocate(struct um_tap_call *call, enum um_allocation_kind kind,
		     const um_cuda_pointer *address, uint64_t bytes, uint32_t flags,
		     const char *name)
{
	struct um_record_op op = um_tap_op(call, UM_OP_ALLOC);
	bool made = call->result == 0 && address;
	struct um_tap_block block = {.bytes = bytes, .kind = kind};

	op.bytes = bytes;
	if (made) {
		block.address = *address;
		block.allocation = um_tap_next_allocation();
		op.allocation = block.allocation;
	}
	um_tap_put_op(&op, 0);
	if (!made)
		return;
	um_tap_put_allocation(&block, &op, flags, name);
	if (call->out)
		um_tap_put_variable(call->variable, block.allocation, call->out);
	um_tap_memory_add(&block);
	um_tap_apply_allocated(&op, &block, name);
}

void um_tap_alloc(struct um_tap_call *call)
{
	const struct um_params_alloc *params = call->params;
	uint32_t flags = call->row->what == UM_ALLOCATION_MANAGED ? params->flags : 0;

	allocate(call, call->row->what, params->address, params->bytes, flags, "");
}

void um_tap_alloc_pitch(struct um_tap_call *call)
{
	const struct um_params_alloc_pitch *params = call->params;
	bool made = call->result == 0 && params->pitch;

	allocate(call, call->row->what, params->address,
		 (made ? *params->pitch : params->width_bytes) * params->height, 0, "");
}

void um_tap_alloc_async(struct um_tap_call *call)
{
	const struct um_params_alloc_async *params = call->params;

	allocate(call, call->row->what, params->address, params->bytes, 0, "");
}

void um_tap_alloc_from_pool(struct um_tap_call *call)
{
	const struct um_params_alloc_from_pool *params = call->params;
	uint64_t managed = 0;

	um_tap_map_get(&managed_pools, (uintptr_t)params->pool, &managed);
	allocate(call, managed ? UM_ALLOCATION_MANAGED : UM_ALLOCATION_DEVICE, params->address,
		 params->bytes, 0, "");
}

/* what: has flags */
void um_tap_alloc_host(struct um_tap_call *call)
{
	const struct um_params_alloc *params = call->params;

	allocate(call, UM_ALLOCATION_PINNED, params->address, params->bytes,
		 call->row->what ? params->flags : 0, "");
}

void um_tap_host_register(struct um_tap_call *call)
{
	const struct um_params_register *params = call->params;

	allocate(call, UM_ALLOCATION_REGISTERED, &params->address, params->bytes, params->flags,
		 "");
}

/*
 * A variable of a module lives from before its address is first asked for, as CUDA's runtime does for
 * managed ones when it loads their module.
 */
void um_tap_global(struct um_tap_call *call)
{
	const struct um_params_global *params = call->params;
	bool is_managed = call->is_managed || call->row->number == UM_CUDA_LIBRARY_GET_MANAGED;

	if (call->result != 0 || !params->address || !params->bytes)
		return;
	const struct um_tap_block *known = um_tap_memory_find(*params->address);

	if (known && known->address == *params->address && known->bytes == *params->bytes)
		return;
	allocate(call, is_managed ? UM_ALLOCATION_MANAGED : UM_ALLOCATION_DEVICE, params->address,
		 *params->bytes, 0, params->name ? params->name : "");
}

void um_tap_pool_create(struct um_tap_call *call)
{
	const struct um_params_pool_create *params = call->params;

	if (call->result == 0 && params->pool && params->props &&
	    params->props->type == UM_CUDA_POOL_MANAGED)
		um_tap_map_set(&managed_pools, (uintptr_t)*params->pool, 1);
}

void um_tap_pool_destroy(struct um_tap_call *call)
{
	const struct um_params_pool *params = call->params;

	if (call->result == 0)
		um_tap_map_remove(&managed_pools, (uintptr_t)params->pool);
}

void um_tap_free(struct um_tap_call *call)
{
	struct um_record_op op = um_tap_op(call, UM_OP_FREE);

	op.allocation = call->freed.allocation;
	op.bytes = call->freed.bytes;
	if (call->result != 0 && call->freed.address)
		um_tap_memory_add(&call->freed);
	else
		um_tap_apply_freed(&call->freed);
	um_tap_put_op(&op, 0);
}

/* --- hints --- */

/* The ordinal; -1 the host. A hint that names no place has that of the caller. */
static int32_t device_at(const struct um_tap_call *call, struct um_cuda_location location)
{
	switch (location.type) {
	case UM_CUDA_LOCATION_DEVICE:
		return location.id;
	case UM_CUDA_LOCATION_HOST:
	case UM_CUDA_LOCATION_HOST_NUMA:
	case UM_CUDA_LOCATION_HOST_NUMA_CURRENT:
		return -1;
	default:
		return call->device;
	}
}

static void hint(struct um_tap_call *call, enum um_op_kind kind, uint64_t address, uint64_t bytes,
		 int32_t device, uint32_t advice)
{
	struct um_record_op op = um_tap_op(call, kind);

	um_tap_op_target(&op, address, bytes);
	op.device = device < -1 ? call->device : device;
	op.advice = advice;
	um_tap_put_op(&op, 0);
}

void um_tap_advise_1(struct um_tap_call *call)
{
	const struct um_params_advise_1 *params = call->params;

	hint(call, UM_OP_ADVISE, params->address, params->bytes, params->device, params->advice);
}

void um_tap_advise(struct um_tap_call *call)
{
	const struct um_params_advise *params = call->params;

	hint(call, UM_OP_ADVISE, params->address, params->bytes, device_at(call, params->location),
	     params->advice);
}

void um_tap_prefetch_1(struct um_tap_call *call)
{
	const struct um_params_prefetch_1 *params = call->params;

	hint(call, UM_OP_PREFETCH, params->address, params->bytes, params->device, 0);
}

void um_tap_prefetch(struct um_tap_call *call)
{
	const struct um_params_prefetch *params = call->params;

	hint(call, UM_OP_PREFETCH, params->address, params->bytes,
	     device_at(call, params->location), 0);
}

void um_tap_prefetch_batch(struct um_tap_call *call)
{
	const struct um_params_prefetch_batch *params = call->params;
	size_t location = 0;

	for (size_t i = 0; i < params->count && params->locations; i++) {
		while (location + 1 < params->locations &&
		       params->location_first[location + 1] <= i)
			location++;
		hint(call, UM_OP_PREFETCH, params->address[i], params->bytes[i],
		     device_at(call, params->location[location]), 0);
	}
}

void um_tap_discard_batch(struct um_tap_call *call)
{
	(void)call;
	um_tap_lost(UM_LOSS_UNKNOWN_RECORD, 1, "cuMemDiscardBatchAsync() is not recorded");
}

void um_tap_discard_and_prefetch(struct um_tap_call *call)
{
	um_tap_lost(UM_LOSS_UNKNOWN_RECORD, 1,
		    "the discard of cuMemDiscardAndPrefetchBatchAsync() is not recorded");
	um_tap_prefetch_batch(call);
}

void um_tap_attach(struct um_tap_call *call)
{
	const struct um_params_attach *params = call->params;
	struct um_record_op op = um_tap_op(call, UM_OP_ATTACH);

	um_tap_op_target(&op, params->address, params->bytes);
	/* A length of 0 is the whole of it. */
	const struct um_tap_block *block = um_tap_memory_find(params->address);

	if (!params->bytes && block)
		op.bytes = block->bytes;
	op.value = params->flags;
	um_tap_put_op(&op, 0);
}
