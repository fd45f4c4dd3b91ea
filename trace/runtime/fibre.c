#include "fibre.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

static void keep(struct transfer transfer)
{
	*(um_context *)transfer.data = transfer.from;
}

void um_fibre_jump(um_context *from, um_context to)
{
	keep(jump_fcontext(to, from));
}

static void entry(struct transfer transfer)
{
	keep(transfer);
	pool.body(pool.starting);
	abort(); /* the contract of um_fibre_start(): a body leaves */
}

static bool idle_list_make(void)
{
	size_t bytes = (size_t)SLABS * SLAB_STACKS * sizeof(*pool.idle);
	void *list = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (list == MAP_FAILED)
		return false;
	pool.idle = list;
	return true;
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
	madvise(base, SLAB_BYTES, MADV_DONTFORK);
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

bool um_fibre_start(um_context *from, void (*body)(um_fibre_stack))
{
	um_fibre_stack stack;
	char *top;

	if (!pool.idle_count && !slab_add())
		return false;
	stack = pool.idle[--pool.idle_count];
	top = stack_base(stack) + STACK_BYTES - COLOUR_BYTES(stack);
	pool.body = body;
	pool.starting = stack;
	keep(jump_fcontext(make_fcontext(top, STACK_BYTES - 2 * GUARD_BYTES, entry), from));
	return true;
}

void um_fibre_leave(um_fibre_stack stack, um_context to)
{
	um_context forgotten;

	pool.idle[pool.idle_count++] = stack;
	jump_fcontext(to, &forgotten);
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
