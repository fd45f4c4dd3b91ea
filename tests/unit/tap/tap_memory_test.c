/* Which allocation holds an address, against a map of every byte of a small address space. */
#include "trace/tap/tap_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPACE 4096u
#define STEPS 50000u

static void not_there(void **state)
{
	struct um_tap_block removed;

	(void)state;
	assert_null(um_tap_memory_find(0));
	assert_null(um_tap_memory_find(UINT64_MAX));
	assert_false(um_tap_memory_remove(100, &removed));
}

static void edges(void **state)
{
	struct um_tap_block block = {.address = 1000, .bytes = 10, .allocation = 1}, removed;
	struct um_tap_block last = {.address = UINT64_MAX - 9, .bytes = 10, .allocation = 2};

	(void)state;
	assert_true(um_tap_memory_add(&block));
	assert_true(um_tap_memory_add(&last));
	assert_null(um_tap_memory_find(999));
	assert_int_equal(um_tap_memory_find(1000)->allocation, 1);
	assert_int_equal(um_tap_memory_find(1009)->allocation, 1);
	assert_null(um_tap_memory_find(1010));
	assert_int_equal(um_tap_memory_find(UINT64_MAX)->allocation, 2);
	assert_false(um_tap_memory_remove(1001, &removed)); /* not its beginning */
	assert_true(um_tap_memory_remove(1000, &removed));
	assert_int_equal(removed.bytes, 10);
	assert_true(um_tap_memory_remove(last.address, &removed));
	assert_null(um_tap_memory_find(1000));
}

/* An address that is given anew was freed without our noticing. */
static void overlapped(void **state)
{
	struct um_tap_block old[3] = {{100, 50, 1, 0}, {150, 50, 2, 0}, {200, 50, 3, 0}};
	struct um_tap_block new_one = {140, 70, 4, 0}, removed;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(um_tap_memory_add(old + i));
	assert_true(um_tap_memory_add(&new_one));
	assert_null(um_tap_memory_find(100));
	assert_int_equal(um_tap_memory_find(140)->allocation, 4);
	assert_int_equal(um_tap_memory_find(209)->allocation, 4);
	assert_null(um_tap_memory_find(210));
	assert_true(um_tap_memory_remove(140, &removed));
}

static uint32_t owner[SPACE];

static void clear(uint32_t allocation)
{
	for (unsigned i = 0; i < SPACE; i++)
		if (owner[i] == allocation)
			owner[i] = 0;
}

static void add(uint32_t allocation)
{
	struct um_tap_block block = {
		.address = (uint64_t)random() % SPACE,
		.allocation = allocation,
	};

	block.bytes = 1 + (uint64_t)random() % 40;
	if (block.address + block.bytes > SPACE)
		block.bytes = SPACE - block.address;
	for (uint64_t i = 0; i < block.bytes; i++)
		if (owner[block.address + i])
			clear(owner[block.address + i]);
	for (uint64_t i = 0; i < block.bytes; i++)
		owner[block.address + i] = allocation;
	assert_true(um_tap_memory_add(&block));
}

static void take_away(void)
{
	uint64_t address = (uint64_t)random() % SPACE;
	bool begins = owner[address] && (address == 0 || owner[address - 1] != owner[address]);
	struct um_tap_block removed;

	assert_int_equal(um_tap_memory_remove(address, &removed), begins);
	if (!begins)
		return;
	assert_int_equal(removed.allocation, owner[address]);
	clear(owner[address]);
}

static void at_random(void **state)
{
	(void)state;
	srandom(2);
	memset(owner, 0, sizeof(owner));
	for (uint32_t step = 1; step <= STEPS; step++) {
		if (random() % 3)
			add(step);
		else
			take_away();
		uint64_t address = (uint64_t)random() % SPACE;
		const struct um_tap_block *found = um_tap_memory_find(address);

		assert_int_equal(found ? found->allocation : 0, owner[address]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_there),
		cmocka_unit_test(edges),
		cmocka_unit_test(overlapped),
		cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
