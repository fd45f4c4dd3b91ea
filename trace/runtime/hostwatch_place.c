/*
 * A function that runs with the same stack and frame pointers as before has its return address where it
 * had it before: so that place is found out once, and from there on the stack is followed as
 * spool_stack.h does. What is wrong in a program's unwind tables ends in um_wrap_guard().
 */
#include "hostwatch_place.h"

#include "lazy_map.h"
#include "../spool/spool_site.h"

#include <signal.h>

#define TOUCHES_MAX (1u << 20) /* as many as a table of sites holds */
#define PLACES	    4096u      /* a power of two; one that another took is found out anew */
/* For the unwinder, and for the handler of a fault that it runs into. */
#define WALK_STACK_BYTES 12288u

struct known_place {
	uintptr_t instruction, stack_pointer, frame_pointer, slot;
};

struct touch {
	const void *address;
	uint32_t parent;
};

static struct known_place *places;
static struct um_stack_table stacks;
static struct um_site_table sites;
static struct touch *touches; /* by number, from 1; it never moves: readers have no lock */

void um_touch_interrupted(struct um_touch_place *place, const ucontext_t *interrupted)
{
	const greg_t *registers = interrupted->uc_mcontext.gregs;
	uintptr_t bottom = (uintptr_t)interrupted->uc_stack.ss_sp;
	uintptr_t room = (uintptr_t)__builtin_frame_address(0) - bottom;

	place->instruction = (uintptr_t)registers[REG_RIP];
	place->stack_pointer = (uintptr_t)registers[REG_RSP];
	place->frame_pointer = (uintptr_t)registers[REG_RBP];
	place->slot = 0;
	place->lacks_room = !(interrupted->uc_stack.ss_flags & SS_DISABLE) &&
			    room < interrupted->uc_stack.ss_size && room < WALK_STACK_BYTES;
	place->stack.frames = 0;
}

void um_touch_in_call(struct um_touch_place *place, uintptr_t slot)
{
	place->instruction = 0;
	place->slot = slot;
	place->lacks_room = false;
	place->stack.frames = 0;
}

static struct known_place *known_place(const struct um_touch_place *place)
{
	uint64_t mixed =
		(place->instruction ^ place->stack_pointer << 20 ^ place->frame_pointer << 40) *
		0x9e3779b97f4a7c15ull;

	if (!places)
		places = um_lazy_map(PLACES * sizeof(*places));
	return places ? places + (mixed >> 52) % PLACES : NULL;
}

/* The places from the outermost inwards; 0: there is no memory. */
static uint32_t intern(uint32_t parent, uintptr_t address)
{
	bool is_new = false;
	uint32_t touch = um_site_intern(&sites, parent, (const void *)address, &is_new);

	if (!touches)
		touches = um_lazy_map((TOUCHES_MAX + 1) * sizeof(*touches));
	if (!touches || touch > TOUCHES_MAX)
		return 0;
	if (is_new)
		touches[touch] = (struct touch){(const void *)address, parent};
	return touch;
}

/* An instruction counts as a call that returns behind it. */
static uint32_t below(uint32_t parent, const struct um_touch_place *place)
{
	return place->instruction ? intern(parent, place->instruction + 1) : parent;
}

uint32_t um_touch_find(struct um_touch_place *place)
{
	if (place->lacks_room)
		return below(0, place);
	if (place->instruction) {
		const struct known_place *known = known_place(place);

		if (!known || known->instruction != place->instruction ||
		    known->stack_pointer != place->stack_pointer ||
		    known->frame_pointer != place->frame_pointer)
			return 0;
		place->slot = known->slot;
		if (!place->slot)
			return below(0, place);
	}
	uint32_t caller = um_stack_find(&stacks, &place->stack, place->slot);

	return caller ? below(caller, place) : 0;
}

static void walk(void *context)
{
	struct um_touch_place *place = context;

	if (place->instruction)
		place->slot = um_stack_interrupted(place->instruction, place->stack_pointer);
	if (place->slot)
		um_stack_walk(&place->stack, place->slot, NULL);
}

void um_touch_walk(struct um_touch_place *place, um_wrap_guard_call *guard)
{
	place->stack.frames = 0;
	if (guard(walk, place))
		return;
	place->stack.frames = 0;
	place->slot = 0;
}

uint32_t um_touch_add(struct um_touch_place *place)
{
	struct known_place *known = place->instruction ? known_place(place) : NULL;
	uint32_t touch = 0;

	if (known)
		*known = (struct known_place){place->instruction, place->stack_pointer,
					      place->frame_pointer, place->slot};
	for (size_t i = place->stack.frames; i-- > 0;) {
		touch = intern(touch, place->stack.address_in[i]);
		if (!touch)
			return 0;
	}
	um_stack_keep(&stacks, &place->stack, touch);
	return below(touch, place);
}

const void *um_touch_address(uint32_t touch, uint32_t *parent)
{
	*parent = touches[touch].parent;
	return touches[touch].address;
}
