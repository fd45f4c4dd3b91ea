#include "fibre.h"

#include "lazy_map.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Boost.Context 1.61 and later, boost/context/detail/fcontext.hpp; extern "C" there. */
struct transfer {
	um_context from;
	void *data;
};
struct transfer jump_fcontext(um_context to, void *data);
um_context make_fcontext(void *top, size_t bytes, void (*entry)(struct transfer));

#define STACK_BYTES UM_FIBRE_STACK_BYTES
#define SLAB_STACKS 64u
#define SLAB_BYTES  ((size_t)SLAB_STACKS * STACK_BYTES)
/* 262,144 stacks: more than the lanes that a GCD of an MI250X holds (110 CUs x 2048). */
#define SLABS 4096u
/*
 * Below its stack each has a page that nobody may touch. That is two mappings a stack, and Linux
 * allows a process 65,530 (vm.max_map_count), so only the first stacks are guarded.
 */
#define GUARDED_SLABS 256u
#define GUARD_BYTES   4096u
/* Slabs kept from one launch to the next: the lanes of two large groups. */
#define KEPT_SLABS 32u
/*
 * Stacks start 5 lines apart modulo 4 KiB: else the hot frames of all lanes would share the few
 * cache sets of one offset.
 */
#define COLOUR_BYTES(stack) ((stack)*320u % 4096u)

static struct {
	char *slab[SLABS];
	uint32_t slabs;
	um_fibre_stack *idle; /* a stack of stacks */
	uint32_t idle_count;
	void (*body)(um_fibre_stack); /* of the fibre that starts */
	um_fibre_stack starting;
} pool;

/* What a jump hands over: where its caller is to be kept, and the value. */
struct message {
	um_context *from;
	uint64_t value;
};

static uint64_t receive(struct transfer transfer)
{
	const struct message *message = transfer.data;

	*message->from = transfer.from;
	return message->value;
}

uint64_t um_fibre_jump(um_context *from, um_context to, uint64_t value)
{
	struct message message = {from, value};

	return receive(jump_fcontext(to, &message));
}

static void entry(struct transfer transfer)
{
	receive(transfer);
	pool.body(pool.starting);
	abort(); /* the contract of um_fibre_create(): a body leaves */
}

static bool idle_list_make(void)
{
	size_t bytes = (size_t)SLABS * SLAB_STACKS * sizeof(*pool.idle);

	pool.idle = um_lazy_map(bytes);
	return pool.idle;
}

static void slab_put(uint32_t slab)
{
	for (uint32_t i = SLAB_STACKS; i-- > 0;)
		pool.idle[pool.idle_count++] = slab * SLAB_STACKS + i;
}

static bool slab_add(void)
{
	char *base;

	if (pool.slabs == SLABS || (!pool.idle && !idle_list_make()))
		return false;
	base = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (base == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < SLAB_STACKS && pool.slabs < GUARDED_SLABS; i++)
		mprotect(base + (size_t)i * STACK_BYTES, GUARD_BYTES, PROT_NONE);
	pool.slab[pool.slabs] = base;
	slab_put(pool.slabs++);
	return true;
}

static char *stack_base(um_fibre_stack stack)
{
	return pool.slab[stack / SLAB_STACKS] + (size_t)(stack % SLAB_STACKS) * STACK_BYTES;
}

um_context um_fibre_create(void (*body)(um_fibre_stack))
{
	um_fibre_stack stack;

	if (!pool.idle_count && !slab_add())
		return NULL;
	stack = pool.idle[--pool.idle_count];
	pool.body = body;
	pool.starting = stack;
	return make_fcontext(stack_base(stack) + STACK_BYTES - COLOUR_BYTES(stack),
			     STACK_BYTES - COLOUR_BYTES(stack), entry);
}

void um_fibre_leave(um_fibre_stack stack, um_context to, uint64_t value)
{
	um_context forgotten;

	pool.idle[pool.idle_count++] = stack;
	um_fibre_jump(&forgotten, to, value);
	abort(); /* nobody holds the context of an idle stack */
}

void um_fibre_drop_all(void)
{
	if (pool.slabs <= KEPT_SLABS && pool.idle_count == pool.slabs * SLAB_STACKS)
		return;
	while (pool.slabs > KEPT_SLABS)
		munmap(pool.slab[--pool.slabs], SLAB_BYTES);
	pool.idle_count = 0;
	for (uint32_t slab = pool.slabs; slab-- > 0;)
		slab_put(slab);
}

bool um_fibre_is_same(const void *address, const void *other)
{
	static uint32_t last; /* slab: most questions are about the same few stacks */
	uintptr_t at;

	for (uint32_t tried = 0; tried < pool.slabs; tried++, last++) {
		if (last >= pool.slabs)
			last = 0;
		at = (uintptr_t)address - (uintptr_t)pool.slab[last];
		if (at < SLAB_BYTES)
			return ((uintptr_t)other - (uintptr_t)pool.slab[last]) / STACK_BYTES ==
			       at / STACK_BYTES;
	}
	return false;
}

bool um_fibre_overflowed(const void *address)
{
	for (uint32_t i = 0; i < pool.slabs && i < GUARDED_SLABS; i++) {
		uintptr_t offset = (uintptr_t)address - (uintptr_t)pool.slab[i];

		if (offset < SLAB_BYTES && offset % STACK_BYTES < GUARD_BYTES)
			return true;
	}
	return false;
}
