/*
 * The fewest faults, beside a search over every choice of what to evict: all reference strings of 10
 * touches of at most 6 pages, in memory for 1 to 4. A string that names its pages in the order in
 * which they come (0, then 0 or 1, ...) stands for all that differ from it in names only: there are
 * 109,299 of them, the partitions of 10 into 6 parts or less.
 * UM_IDEAL_TOUCHES=12 makes them longer.
 */
#include "sim/ideal/ideal_core.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGES	    6u
#define SETS	    (1u << PAGES)
#define TOUCHES_MAX 14
#define MEMORY_MAX  4u
#define NEVER	    255

static unsigned touches = 10;
static unsigned char string[TOUCHES_MAX];
/* [touches done][pages of memory][set of pages that are there]: fewest faults, NEVER: cannot be */
static unsigned char fewest[TOUCHES_MAX + 1][MEMORY_MAX + 1][SETS];
static unsigned long strings;

static void check(int error)
{
	if (error)
		fail_msg("%s", um_error_message());
}

static unsigned char smaller(unsigned a, unsigned b)
{
	return (unsigned char)(a < b ? a : b);
}

/* Any page may leave at any time: what a set can do each of its subsets can do. */
static void let_leave(const unsigned char *from, unsigned char *to)
{
	memcpy(to, from, SETS);
	for (unsigned page = 0; page < PAGES; page++)
		for (unsigned set = 0; set < SETS; set++)
			if (set >> page & 1)
				to[set ^ 1u << page] = smaller(to[set ^ 1u << page], to[set]);
}

static void touch_page(const unsigned char *before, unsigned char *after, unsigned page,
		       unsigned memory)
{
	unsigned char left[SETS];

	let_leave(before, left);
	memset(after, NEVER, SETS);
	for (unsigned set = 0; set < SETS; set++) {
		unsigned with = set | 1u << page;

		if ((unsigned)__builtin_popcount(with) > memory || left[set] == NEVER)
			continue;
		after[with] = smaller(after[with], left[set] + (with != set));
	}
}

static unsigned fewest_of(const unsigned char *sets)
{
	unsigned char all = NEVER;

	for (unsigned set = 0; set < SETS; set++)
		all = smaller(all, sets[set]);
	return all;
}

static uint64_t bound_of(unsigned memory)
{
	const struct um_ideal_terms terms = {.devices = 1, .unit_pages = 1, .limited = {true}};
	struct um_ideal_core *core;
	struct um_ideal ideal;

	check(um_ideal_core_create(&core, &terms));
	check(um_ideal_core_add(core, 0, PAGES, UM_PAGE_LINES, UM_PAGE_LINES));
	um_ideal_core_room(core, 0, memory);
	for (unsigned i = 0; i < touches; i++) {
		check(um_ideal_core_device_op(core, 0, true));
		check(um_ideal_core_touch(core, 0, string[i], 1, 64, 0));
		check(um_ideal_core_op_end(core));
	}
	check(um_ideal_core_finish(core, &ideal));
	um_ideal_core_destroy(core);
	return ideal.device_faults;
}

static void compare(void)
{
	strings++;
	for (unsigned memory = 1; memory <= MEMORY_MAX; memory++)
		if (bound_of(memory) != fewest_of(fewest[touches][memory]))
			fail_msg("string %lu, memory for %u: the bound is %llu, the fewest are %u",
				 strings, memory, (unsigned long long)bound_of(memory),
				 fewest_of(fewest[touches][memory]));
}

static void go_on(unsigned done, unsigned named)
{
	if (done == touches) {
		compare();
		return;
	}
	for (unsigned page = 0; page <= named && page < PAGES; page++) {
		string[done] = (unsigned char)page;
		for (unsigned memory = 1; memory <= MEMORY_MAX; memory++)
			touch_page(fewest[done][memory], fewest[done + 1][memory], page, memory);
		go_on(done + 1, page == named ? named + 1 : named);
	}
}

static void bound_is_the_fewest_faults(void **state)
{
	(void)state;
	memset(fewest[0], NEVER, sizeof(fewest[0]));
	for (unsigned memory = 1; memory <= MEMORY_MAX; memory++)
		fewest[0][memory][0] = 0;
	strings = 0;
	go_on(0, 0);
	if (touches == 10)
		assert_int_equal(strings, 109299);
}

/* --- operations that touch several pages: every order of their touches --- */

#define OPS	   4u
#define PER_OP_MAX 3u

struct op {
	unsigned pages; /* set */
};

static uint64_t seed;

static unsigned below(unsigned limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return (unsigned)(seed >> 33) % limit;
}

/* Fewest faults of touching the set's pages in any order, page of `from` after page of `from`. */
static void touch_set(const unsigned char *before, unsigned char *after, unsigned pages,
		      unsigned memory)
{
	unsigned char next[SETS], all[SETS];

	if (!pages) {
		memcpy(after, before, SETS);
		return;
	}
	memset(all, NEVER, SETS);
	for (unsigned page = 0; page < PAGES; page++) {
		if (!(pages >> page & 1))
			continue;
		touch_page(before, next, page, memory);
		touch_set(next, after, pages ^ 1u << page, memory);
		for (unsigned set = 0; set < SETS; set++)
			all[set] = smaller(all[set], after[set]);
	}
	memcpy(after, all, SETS);
}

static uint64_t bound_of_ops(const struct op *ops, unsigned memory)
{
	const struct um_ideal_terms terms = {.devices = 1, .unit_pages = 1, .limited = {true}};
	struct um_ideal_core *core;
	struct um_ideal ideal;

	check(um_ideal_core_create(&core, &terms));
	check(um_ideal_core_add(core, 0, PAGES, UM_PAGE_LINES, UM_PAGE_LINES));
	um_ideal_core_room(core, 0, memory);
	for (unsigned i = 0; i < OPS; i++) {
		check(um_ideal_core_device_op(core, 0, true));
		for (unsigned page = 0; page < PAGES; page++)
			if (ops[i].pages >> page & 1)
				check(um_ideal_core_touch(core, 0, page, 1, 1, 0));
		check(um_ideal_core_op_end(core));
	}
	check(um_ideal_core_finish(core, &ideal));
	um_ideal_core_destroy(core);
	return ideal.device_faults;
}

static void bound_holds_for_every_order_within_operations(void **state)
{
	(void)state;
	for (seed = 1; seed < 1200; seed++) {
		uint64_t kept = seed;
		unsigned char sets[2][SETS];
		unsigned memory = 1 + below(MEMORY_MAX);
		struct op ops[OPS];

		memset(sets[0], NEVER, SETS);
		sets[0][0] = 0;
		for (unsigned i = 0; i < OPS; i++) {
			ops[i].pages = 0;
			for (unsigned n = 1 + below(PER_OP_MAX); n > 0; n--)
				ops[i].pages |= 1u << below(PAGES);
			touch_set(sets[i % 2], sets[(i + 1) % 2], ops[i].pages, memory);
		}
		if (bound_of_ops(ops, memory) > fewest_of(sets[OPS % 2]))
			fail_msg("seed %llu: %llu faults, %u are enough", (unsigned long long)kept,
				 (unsigned long long)bound_of_ops(ops, memory),
				 fewest_of(sets[OPS % 2]));
		seed = kept;
	}
}

int main(void)
{
	const char *longer = getenv("UM_IDEAL_TOUCHES");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_is_the_fewest_faults),
		cmocka_unit_test(bound_holds_for_every_order_within_operations),
	};

	if (longer && atoi(longer) > 0 && atoi(longer) <= TOUCHES_MAX)
		touches = (unsigned)atoi(longer);
	return cmocka_run_group_tests_name("ideal_faults", tests, NULL, NULL);
}
