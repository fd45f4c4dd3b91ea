#include "spool_stack.h"

#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

#define NODES (1u << 17)
#define SLOTS (2 * NODES)
/* Recent stacks: sets by the innermost frame, of so many each. */
#define RECENT_SETS 64u
#define RECENT_WAYS 4u

struct um_stack_node {
	uint32_t parent;
	uint32_t site;	   /* of the stack that ends here; 0: it goes on, or is not known */
	uintptr_t address; /* that this frame's callee returns to; of the first, where that lies */
	uintptr_t next;	   /* where this frame's own return address lies; 0: it has none */
};

struct um_stack_recent {
	uint32_t site; /* 0: none */
	uint32_t frames;
	uintptr_t slot[UM_STACK_FRAMES_MAX];
	uintptr_t address_in[UM_STACK_FRAMES_MAX];
};

/* --- the tree --- */

static uint32_t *slot_of(const struct um_stack_table *table, uint32_t parent, uintptr_t address)
{
	const struct um_stack_node *nodes = table->nodes;
	uint32_t at =
		(uint32_t)(((address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15ull) >> 32);

	for (;; at++) {
		uint32_t *slot = table->slots + (at & (SLOTS - 1));

		if (!*slot || (nodes[*slot].parent == parent && nodes[*slot].address == address))
			return slot;
	}
}

/* Zeros, of which only what is touched takes memory. */
static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* When it is full it begins anew. */
static bool make_room(struct um_stack_table *table)
{
	if (!table->nodes)
		table->nodes = reserve(NODES * sizeof(*table->nodes));
	if (!table->slots)
		table->slots = reserve(SLOTS * sizeof(*table->slots));
	if (!table->nodes || !table->slots)
		return false;
	if (table->node_count + UM_STACK_FRAMES_MAX + 2 >= NODES) {
		memset(table->slots, 0, SLOTS * sizeof(*table->slots));
		table->node_count = 0;
	}
	return true;
}

static uint32_t add_node(struct um_stack_table *table, uint32_t parent, uintptr_t address,
			 uintptr_t next)
{
	uint32_t *slot = slot_of(table, parent, address);

	if (!*slot)
		*slot = ++table->node_count;
	table->nodes[*slot] = (struct um_stack_node){parent, 0, address, next};
	return *slot;
}

void um_stack_keep(struct um_stack_table *table, const struct um_stack *stack, uint32_t site)
{
	if (!stack->can_be_kept || !stack->frames || !site || !make_room(table))
		return;
	uint32_t node = add_node(table, 0, stack->slot[0], stack->slot[0]);

	for (size_t i = 0; i < stack->frames; i++)
		node = add_node(table, node, stack->address_in[i],
				i + 1 < stack->frames ? stack->slot[i + 1] : 0);
	table->nodes[node].site = site;
}

/* --- those of the last calls --- */

static uintptr_t word_at(uintptr_t slot)
{
	uintptr_t word;

	memcpy(&word, (const void *)slot, sizeof(word));
	return word;
}

static struct um_stack_recent *recent_set(const struct um_stack_table *table, uintptr_t slot)
{
	uint64_t mixed = (slot ^ word_at(slot) << 16) * 0x9e3779b97f4a7c15ull;

	return table->recent + (mixed >> 40) % RECENT_SETS * RECENT_WAYS;
}

/* From the innermost on: as long as they are the same, the next one is where it was. */
static bool is_same(const struct um_stack_recent *recent, uintptr_t slot)
{
	if (!recent->site || recent->slot[0] != slot)
		return false;
	for (uint32_t i = 0; i < recent->frames; i++)
		if (word_at(recent->slot[i]) != recent->address_in[i])
			return false;
	return true;
}

static bool find_recent(const struct um_stack_table *table, struct um_stack *stack, uintptr_t slot)
{
	const struct um_stack_recent *recent = recent_set(table, slot), *end = recent + RECENT_WAYS;

	while (recent < end && !is_same(recent, slot))
		recent++;
	if (recent == end)
		return false;
	stack->known_site = recent->site;
	stack->frames = recent->frames;
	memcpy(stack->slot, recent->slot, recent->frames * sizeof(*recent->slot));
	memcpy(stack->address_in, recent->address_in, recent->frames * sizeof(*recent->address_in));
	return true;
}

static void keep_recent(struct um_stack_table *table, const struct um_stack *stack)
{
	struct um_stack_recent *recent =
		recent_set(table, stack->slot[0]) + table->recent_count++ % RECENT_WAYS;

	recent->site = stack->known_site;
	recent->frames = (uint32_t)stack->frames;
	memcpy(recent->slot, stack->slot, stack->frames * sizeof(*stack->slot));
	memcpy(recent->address_in, stack->address_in, stack->frames * sizeof(*stack->address_in));
}

static void find_in_tree(const struct um_stack_table *table, struct um_stack *stack, uintptr_t slot)
{
	const struct um_stack_node *nodes = table->nodes;
	uint32_t node = nodes && table->slots ? *slot_of(table, 0, slot) : 0;

	stack->known_site = 0;
	stack->frames = 0;
	while (node && nodes[node].next && stack->frames < UM_STACK_FRAMES_MAX) {
		uintptr_t address = word_at(nodes[node].next);

		stack->slot[stack->frames] = nodes[node].next;
		stack->address_in[stack->frames++] = address;
		node = *slot_of(table, node, address);
	}
	stack->known_site = node ? nodes[node].site : 0;
}

uint32_t um_stack_find(struct um_stack_table *table, struct um_stack *stack, uintptr_t slot)
{
	if (!table->recent)
		table->recent = reserve(RECENT_SETS * RECENT_WAYS * sizeof(*table->recent));
	if (table->recent && find_recent(table, stack, slot))
		return stack->known_site;
	find_in_tree(table, stack, slot);
	if (table->recent && stack->known_site)
		keep_recent(table, stack);
	return stack->known_site;
}

/* --- unwinding --- */

struct walk {
	struct um_stack *stack;
	uintptr_t first;
	bool (*is_hidden)(uintptr_t address);
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *noted)
{
	const struct walk *walk = noted;
	struct um_stack *stack = walk->stack;
	int is_interrupted = 0; /* by a signal: the address is not one that is returned to */
	uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
	/* x86-64: the return address lies below the caller's frame. */
	uintptr_t slot = _Unwind_GetCFA(context) - sizeof(address);
	uintptr_t found;

	if (!address)
		return _URC_END_OF_STACK;
	if (stack->frames == 0 && slot != walk->first)
		return _URC_NO_REASON; /* those that were called since */
	memcpy(&found, (const void *)slot, sizeof(found));
	stack->can_be_kept &= found == address; /* not so around a signal handler */
	stack->slot[stack->frames] = slot;
	stack->address_in[stack->frames++] = address + (is_interrupted != 0);
	if (stack->depth > 0 || !walk->is_hidden || !walk->is_hidden(address))
		stack->depth++;
	return stack->depth == UM_STACK_MAX || stack->frames == UM_STACK_FRAMES_MAX
		       ? _URC_END_OF_STACK
		       : _URC_NO_REASON;
}

void um_stack_walk(struct um_stack *stack, uintptr_t slot, bool (*is_hidden)(uintptr_t address))
{
	struct walk walk = {stack, slot, is_hidden};

	stack->known_site = 0;
	stack->depth = 0;
	stack->frames = 0;
	stack->can_be_kept = true;
	_Unwind_Backtrace(note_frame, &walk);
}

struct interrupted {
	uintptr_t instruction, stack_pointer;
	bool is_next;
	uintptr_t slot;
};

static _Unwind_Reason_Code seek_interrupted(struct _Unwind_Context *context, void *sought)
{
	struct interrupted *interrupted = sought;
	uintptr_t end = _Unwind_GetCFA(context);

	if (interrupted->is_next) {
		/* Its caller's frame lies above it. */
		if (_Unwind_GetIP(context) && end > interrupted->stack_pointer)
			interrupted->slot = end - sizeof(uintptr_t);
		return _URC_END_OF_STACK;
	}
	interrupted->is_next = _Unwind_GetIP(context) == interrupted->instruction &&
			       end == interrupted->stack_pointer;
	return _URC_NO_REASON;
}

uintptr_t um_stack_interrupted(uintptr_t instruction, uintptr_t stack_pointer)
{
	struct interrupted interrupted = {.instruction = instruction,
					  .stack_pointer = stack_pointer};

	_Unwind_Backtrace(seek_interrupted, &interrupted);
	return interrupted.slot;
}
