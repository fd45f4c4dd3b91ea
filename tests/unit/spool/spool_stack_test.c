/* Stacks: walked once, then found; told apart by who called. */
#include "trace/spool/spool_stack.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOINLINE __attribute__((noinline))
/* A call that no jump replaces, and a function of its own. */
#define STAY __asm__ volatile("" ::: "memory")

static uint32_t last_site;
static struct um_stack_table stacks;
static volatile unsigned walks; /* a handler changes it */
static bool (*hidden)(uintptr_t);

/* As the runtime and the tap do. */
static NOINLINE uint32_t ask(struct um_stack *stack)
{
	uintptr_t slot = UM_STACK_OWN_SLOT;

	assert_ptr_equal(*(void **)slot, __builtin_return_address(0));
	if (um_stack_find(&stacks, stack, slot))
		return stack->known_site;
	walks++;
	um_stack_walk(stack, slot, hidden);
	um_stack_keep(&stacks, stack, ++last_site);
	return last_site;
}

static NOINLINE uint32_t wrap(struct um_stack *stack)
{
	uint32_t site = ask(stack);

	STAY;
	return site;
}

static NOINLINE uint32_t descend(unsigned depth, struct um_stack *stack)
{
	uint32_t site = depth ? descend(depth - 1, stack) : wrap(stack);

	STAY;
	return site;
}

static void a_stack_is_walked_once(void **state)
{
	struct um_stack walked, found;
	struct um_stack *volatile stack = &walked; /* one call for both */
	uint32_t sites[2];

	(void)state;
	walks = 0;
	for (unsigned i = 0; i < 1000; i++) {
		sites[i > 0] = descend(10, stack);
		stack = &found;
	}
	assert_int_equal(walks, 1);
	assert_int_equal(sites[0], sites[1]);
	assert_true(walked.frames > 12);
	assert_int_equal(walked.depth, walked.frames);
	assert_int_equal(found.frames, walked.frames);
	for (size_t i = 0; i < found.frames; i++) {
		assert_int_equal(found.slot[i], walked.slot[i]);
		assert_int_equal(found.address_in[i], walked.address_in[i]);
		assert_true(i == 0 || found.slot[i] > found.slot[i - 1]);
	}
}

static void callers_tell_stacks_apart(void **state)
{
	struct um_stack stack;
	uint32_t sites[4];

	(void)state;
	walks = 0;
	sites[0] = wrap(&stack);
	sites[1] = wrap(&stack);
	sites[2] = descend(3, &stack);
	sites[3] = descend(4, &stack);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = 0; j < i; j++)
			assert_int_not_equal(sites[i], sites[j]);
	assert_int_equal(walks, 4);
}

static void no_more_than_there_is_room_for(void **state)
{
	struct um_stack stack;

	(void)state;
	descend(5000, &stack);
	assert_int_equal(stack.frames, UM_STACK_MAX);
}

static uintptr_t hidden_address;

static bool is_hidden(uintptr_t address)
{
	return address == hidden_address;
}

static void hidden_frames_are_not_counted(void **state)
{
	struct um_stack stack;

	(void)state;
	wrap(&stack);
	hidden_address = stack.address_in[0]; /* in wrap() */
	hidden = is_hidden;
	descend(1, &stack);
	assert_int_equal(stack.depth + 1, stack.frames);
	descend(4000, &stack); /* not as deep as another test: its stack may have been met */
	assert_int_equal(stack.frames, UM_STACK_MAX + 1);
	hidden = NULL;
}

static struct um_stack in_handler;
static uint32_t handler_site;

static void handle(int number)
{
	(void)number;
	handler_site = ask(&in_handler);
}

/* What a signal interrupted is no call: its address lies in no slot. */
static void stacks_of_handlers_are_not_kept(void **state)
{
	(void)state;
	signal(SIGUSR1, handle);
	walks = 0;
	for (unsigned i = 0; i < 2; i++)
		raise(SIGUSR1);
	assert_int_equal(walks, 2);
	assert_false(in_handler.can_be_kept);
	assert_true(in_handler.frames > 3);
	signal(SIGUSR1, SIG_DFL);
}

/* More stacks than there is room for: it begins anew, and still tells them apart. */
static void the_tree_begins_anew(void **state)
{
	struct um_stack stack;

	(void)state;
	for (unsigned round = 0; round < 4; round++)
		for (unsigned depth = 0; depth < 900; depth += 1)
			assert_true(descend(depth, &stack) > 0);
	uint32_t a = descend(20, &stack), b = descend(21, &stack);

	assert_int_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_walked_once),
		cmocka_unit_test(callers_tell_stacks_apart),
		cmocka_unit_test(no_more_than_there_is_room_for),
		cmocka_unit_test(hidden_frames_are_not_counted),
		cmocka_unit_test(stacks_of_handlers_are_not_kept),
		cmocka_unit_test(the_tree_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
