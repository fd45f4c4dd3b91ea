/*
 * Call stacks, by the tables that exceptions unwind with, which the driver's libraries have too. That
 * costs some 0.2 us a frame, so each stack is walked in this way once: a function that was called at the
 * same place of the stack and returns to the same place in it has its return address where it had it
 * before. So frames are kept as a tree, by their return addresses and where these lay, and a stack that
 * was met before is followed from one to the next. (A function whose frame varies in size, alloca(), may
 * be taken for an earlier call of itself.)
 */
#include "tap.h"
#include "tap_map.h"

#include <string.h>
#include <unwind.h>

#define NODES (1u << 17)
#define SLOTS (2 * NODES)

struct node {
	uint32_t parent;
	uint32_t site; /* of the stack that ends here; 0: it goes on, or is not known */
	uintptr_t
		address; /* that this frame's callee returns to; of the first, where the frame is */
	uintptr_t next;	 /* where this frame's own return address lies; 0: it has none */
};

static struct node *nodes; /* the first is not used */
static uint32_t *slots;
static uint32_t node_count;

/* --- the tree; with the lock held --- */

static uint32_t *slot_of(uint32_t parent, uintptr_t address)
{
	uint32_t at =
		(uint32_t)(((address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15ull) >> 32);

	for (;; at++) {
		uint32_t *slot = slots + (at & (SLOTS - 1));

		if (!*slot || (nodes[*slot].parent == parent && nodes[*slot].address == address))
			return slot;
	}
}

/* When it is full it begins anew. */
static bool make_room(void)
{
	if (!nodes) {
		nodes = um_tap_reserve_memory(NODES * sizeof(*nodes));
		slots = um_tap_reserve_memory(SLOTS * sizeof(*slots));
	}
	if (!nodes || !slots)
		return false;
	if (node_count + UM_TAP_FRAMES_MAX + 2 >= NODES) {
		memset(slots, 0, SLOTS * sizeof(*slots));
		node_count = 0;
	}
	return true;
}

static uint32_t add_node(uint32_t parent, uintptr_t address, uintptr_t next)
{
	uint32_t *slot = slot_of(parent, address);

	if (!*slot)
		*slot = ++node_count;
	nodes[*slot] = (struct node){parent, 0, address, next};
	return *slot;
}

void um_tap_keep_stack(const struct um_tap_stack *stack, uint32_t site)
{
	if (!stack->can_be_kept || !site || !make_room())
		return;
	uint32_t node = add_node(0, stack->frame, stack->slot[0]);

	for (size_t i = 0; i < stack->frames; i++)
		node = add_node(node, stack->address_in[i],
				i + 1 < stack->frames ? stack->slot[i + 1] : 0);
	nodes[node].site = site;
}

/* The site of the stack that this frame is the end of; 0: it was not met before. */
static uint32_t find_stack(uintptr_t frame)
{
	uint32_t node = nodes && slots ? *slot_of(0, frame) : 0;

	while (node && nodes[node].next) {
		uintptr_t address;

		memcpy(&address, (const void *)nodes[node].next, sizeof(address));
		node = *slot_of(node, address);
	}
	return node ? nodes[node].site : 0;
}

/* --- unwinding --- */

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *noted)
{
	struct um_tap_stack *stack = noted;
	uintptr_t address = _Unwind_GetIP(context);
	/* x86-64: the return address lies below the caller's frame. */
	uintptr_t slot = _Unwind_GetCFA(context) - sizeof(address);
	uintptr_t found;

	if (!address)
		return _URC_END_OF_STACK;
	if (!stack->began) {
		stack->began = true; /* the function below */
		return _URC_NO_REASON;
	}
	memcpy(&found, (const void *)slot, sizeof(found));
	stack->can_be_kept &= found == address; /* not so around a signal handler */
	stack->slot[stack->frames] = slot;
	stack->address_in[stack->frames++] = address;
	if (stack->depth > 0 || !um_tap_is_hidden(address))
		stack->depth++;
	return stack->depth == UM_TAP_STACK_MAX || stack->frames == UM_TAP_FRAMES_MAX
		       ? _URC_END_OF_STACK
		       : _URC_NO_REASON;
}

__attribute__((noinline)) void um_tap_unwind(struct um_tap_stack *stack)
{
	stack->frame = (uintptr_t)__builtin_frame_address(0);
	stack->depth = 0;
	stack->frames = 0;
	stack->began = false;
	stack->can_be_kept = true;
	stack->known_site = 0;
	if (!um_tap_lock())
		return;
	stack->known_site = find_stack(stack->frame);
	um_tap_unlock();
	if (!stack->known_site)
		_Unwind_Backtrace(note_frame, stack);
}
