/*
 * Managed memory that no followed call allocated: variables (__managed__), which CUDA's runtime places
 * by ways of its own when it loads their module. What the driver tells of their pages gives them away.
 * It is asked about them in the program's next call, since CUPTI's thread is no place to call it from.
 */
#include "tap.h"
#include "tap_map.h"
#include "tap_memory.h"

#include <stdatomic.h>

#define WAITING_MAX 64u
/* The driver gives memory in steps of at least this (nvidia-uvm, big pages): asked for once in each. */
#define STEP_SHIFT 16
#define ASKED_MAX  65536u

static uint64_t waiting[WAITING_MAX];
static _Atomic uint32_t waiting_count;
static struct um_tap_map asked;

void um_tap_note_address(uint64_t address)
{
	uint32_t count = atomic_load_explicit(&waiting_count, memory_order_relaxed);
	uint64_t step = (address >> STEP_SHIFT) + 1, unused;

	if (um_tap_memory_find(address) || count == WAITING_MAX || asked.used >= ASKED_MAX ||
	    um_tap_map_get(&asked, step, &unused))
		return;
	um_tap_map_set(&asked, step, 1);
	waiting[count] = address;
	atomic_store_explicit(&waiting_count, count + 1, memory_order_relaxed);
}

/* False: it is no managed memory, or has gone. */
static bool ask_driver(uint64_t address, struct um_tap_block *block)
{
	int (*ask)(void *, int, um_cuda_pointer) = um_tap.cupti.pointer_attribute;
	int is_managed = 0;
	size_t bytes = 0;

	block->kind = UM_ALLOCATION_MANAGED;
	if (ask(&is_managed, UM_CUDA_POINTER_IS_MANAGED, address) != 0 || !is_managed ||
	    ask(&block->address, UM_CUDA_POINTER_RANGE_START, address) != 0 ||
	    ask(&bytes, UM_CUDA_POINTER_RANGE_BYTES, address) != 0)
		return false;
	block->bytes = bytes;
	return address >= block->address && address - block->address < bytes;
}

static void put_stranger(struct um_tap_block *block, uint64_t since_ns)
{
	struct um_record_op op = {
		.kind = UM_OP_ALLOC,
		.start_ns = since_ns,
		.end_ns = since_ns,
		.bytes = block->bytes,
	};

	if (um_tap_memory_find(block->address))
		return; /* another address of the same */
	block->allocation = um_tap_next_allocation();
	op.allocation = block->allocation;
	um_tap_put_op(&op, 0);
	um_tap_put_allocation(block, &op, 0, "");
	um_tap_memory_add(block);
}

static uint32_t take_waiting(uint64_t out[WAITING_MAX])
{
	uint32_t count = atomic_load_explicit(&waiting_count, memory_order_relaxed);

	for (uint32_t i = 0; i < count; i++)
		out[i] = waiting[i];
	atomic_store_explicit(&waiting_count, 0, memory_order_relaxed);
	return count;
}

void um_tap_ask_addresses(void)
{
	uint64_t address[WAITING_MAX];
	struct um_tap_block block;

	if (!atomic_load_explicit(&waiting_count, memory_order_relaxed) || !um_tap_lock())
		return;
	uint32_t count = take_waiting(address);

	um_tap_unlock();
	for (uint32_t i = 0; i < count; i++) {
		if (!ask_driver(address[i], &block) || !um_tap_lock())
			continue;
		put_stranger(&block, um_tap.start_ns);
		um_tap_unlock();
	}
}
