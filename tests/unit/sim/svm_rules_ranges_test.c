/*
 * Rules of driver amdgpu_svm: where ranges begin and end. Under the 6.6 kernel a device fault moves
 * its whole range, so that ranges can be seen by what one fault moves.
 */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, "xnack: on, kernel: '6.6'");
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static void expect_range(int64_t op, int64_t pages)
{
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(pages));
}

/* svm_range_set_max_pages: a 32nd of the memory, at least 2 MiB. */
static void ranges_have_at_least_2MiB(void **state)
{
	int64_t data = svm_data(&svm, 1100);
	int64_t a = svm_read(&svm, data, 511, 1), b = svm_read(&svm, data, 512, 1);
	int64_t c = svm_read(&svm, data, 1099, 1);

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(16 * MIB);
	svm_run(&svm);
	expect_range(a, 512);
	expect_range(b, 512);
	expect_range(c, 1100 - 1024);
}

/* svm_range_set_max_pages: rounded down to a power of two; 100 MiB / 32 is 3.125 MiB. */
static void range_sizes_are_powers_of_two(void **state)
{
	int64_t data = svm_data(&svm, 1024);
	int64_t a = svm_read(&svm, data, 0, 1), b = svm_read(&svm, data, 1023, 1);

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(100 * MIB);
	svm_run(&svm);
	expect_range(a, 512);
	expect_range(b, 512);
}

/* svm_range_set_max_pages, svm_range_split_new: cut where addresses are multiples of the size. */
static void ranges_are_a_32nd_of_the_memory(void **state)
{
	int64_t data = svm_data(&svm, 2048), moved[4], sum = 0;
	int64_t ops[] = {svm_read(&svm, data, 0, 1), svm_read(&svm, data, 1024, 1),
			 svm_read(&svm, data, 512, 1), svm_read(&svm, data, 1536, 1)};

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(128 * MIB);
	svm_run(&svm);
	for (size_t i = 0; i < 4; i++) {
		moved[i] = row_log_moved(&svm.log, ops[i], UM_HOST, 0, NULL);
		sum += moved[i];
	}
	assert_int_equal(sum, PAGES(2048));
	/* 4 MiB from a multiple of 4 MiB on; else 2 MiB up to it, 4 MiB, and what is left. */
	if (moved[2]) {
		assert_int_equal(moved[0], PAGES(512));
		assert_int_equal(moved[2], PAGES(1024));
		assert_int_equal(moved[3], PAGES(512));
	} else {
		assert_int_equal(moved[0], PAGES(1024));
		assert_int_equal(moved[1], PAGES(1024));
	}
}

/* svm_range_set_max_pages: at most 1 GiB. A prefetch moves range by range. */
static void ranges_have_at_most_1GiB(void **state)
{
	enum { GIB_PAGES = 1 << 18 };
	int64_t data = svm_data(&svm, 2 * GIB_PAGES), most = 0, sum = 0;
	const struct um_migration_row *row;

	(void)state;
	svm_prefetch(&svm, data, 0, 2 * GIB_PAGES, 0);
	svm.fx.machine.memory_bytes = (uint64_t)128 << 30;
	svm_run(&svm);
	for (size_t i = 0; (row = row_log_transfer(&svm.log, i)); i++) {
		most = row->pages > most ? row->pages : most;
		sum += row->pages;
	}
	assert_int_equal(sum, 2 * GIB_PAGES);
	assert_int_equal(most, GIB_PAGES);
}

/* svm_range_add: advice on a part clones and splits; the attributes stay with their part. */
static void advice_on_a_part_splits_its_range(void **state)
{
	int64_t data = svm_data(&svm, 1024), middle, before, behind;

	(void)state;
	fx_advise_pages(&svm.fx, data, 256, 256, "preferred_location", UM_HOST);
	middle = svm_read(&svm, data, 300, 1);
	before = svm_read(&svm, data, 255, 1);
	behind = svm_read(&svm, data, 512, 1);
	svm_run(&svm);
	expect_range(middle, 0);
	expect_range(before, 256);
	expect_range(behind, 512);
}

/* svm_range_split_head, _tail: positions are pages, aligned to nothing; all three parts remain. */
static void ranges_split_at_any_page(void **state)
{
	int64_t data = svm_data(&svm, 1024), before, middle, behind;

	(void)state;
	fx_advise_pages(&svm.fx, data, 101, 599, "preferred_location", 0);
	before = svm_read(&svm, data, 0, 1);
	middle = svm_read(&svm, data, 101, 1);
	behind = svm_read(&svm, data, 700, 1);
	svm_run(&svm);
	expect_range(before, 101);
	expect_range(middle, 599);
	expect_range(behind, 324);
}

/* The same under 6.8: the window of a fault ends at the split. */
static void a_window_does_not_cross_a_split(void **state)
{
	int64_t data = svm_data(&svm, 1024), before, behind;

	(void)state;
	fx_advise_pages(&svm.fx, data, 300, 724, "preferred_location", 0);
	before = svm_read(&svm, data, 299, 1);
	behind = svm_read(&svm, data, 300, 1);
	svm_choose(&svm, "xnack: on, kernel: '6.8'", "");
	svm_run(&svm);
	expect_range(before, 300);
	expect_range(behind, 212);
}

/* A prefetch is an attribute as well (KFD_IOCTL_SVM_ATTR_PREFETCH_LOC): it splits. */
static void a_prefetch_of_a_part_splits_its_range(void **state)
{
	int64_t data = svm_data(&svm, 1024), rest;

	(void)state;
	svm_prefetch(&svm, data, 0, 100, 0);
	rest = svm_read(&svm, data, 100, 1);
	svm_run(&svm);
	expect_range(rest, 924);
	assert_int_equal(row_log_moved(&svm.log, 0, UM_HOST, 0, "prefetch"), PAGES(100));
}

/* Nothing in kfd_svm.c joins ranges again. */
static void parts_stay_apart_when_their_attributes_are_the_same_again(void **state)
{
	int64_t data = svm_data(&svm, 1024), before, behind;

	(void)state;
	fx_advise_pages(&svm.fx, data, 256, 768, "preferred_location", UM_HOST);
	fx_advise_pages(&svm.fx, data, 256, 768, "unset_preferred_location", UM_HOST);
	before = svm_read(&svm, data, 0, 1);
	behind = svm_read(&svm, data, 256, 1);
	svm_run(&svm);
	expect_range(before, 256);
	expect_range(behind, 768);
}

/*
 * svm_range_add: what already has the attributes is left alone if it is mapped, and is split if it
 * is not.
 */
static void advice_that_changes_nothing_splits_what_is_not_mapped(void **state)
{
	int64_t mapped = svm_data(&svm, 1024), unmapped = svm_data(&svm, 1024), whole, part;

	(void)state;
	svm_read(&svm, mapped, 0, 1);
	fx_advise_pages(&svm.fx, mapped, 256, 256, "unset_coarse_grain", 0); /* fine from birth */
	fx_advise_pages(&svm.fx, unmapped, 256, 256, "unset_coarse_grain", 0);
	svm_prefetch(&svm, mapped, 0, 1024, UM_HOST);
	whole = svm_read(&svm, mapped, 0, 1);
	part = svm_read(&svm, unmapped, 0, 1);
	svm_run(&svm);
	expect_range(whole, 1024);
	expect_range(part, 256);
}

/* svm_range_set_attr of several ranges: each has its own migration, the highest first (list_add). */
static void ranges_of_one_call_are_served_from_the_highest_down(void **state)
{
	int64_t data = svm_data(&svm, 1536), op = svm_prefetch(&svm, data, 0, 1536, 0);

	(void)state;
	svm.fx.machine.memory_bytes = (uint64_t)(64 * MIB);
	svm_run(&svm);
	for (int64_t i = 0; i < 3; i++) {
		const struct um_migration_row *row = row_log_transfer(&svm.log, (size_t)i);

		assert_int_equal(row->first_page, 1024 - 512 * i);
		assert_int_equal(row->pages, 512);
		assert_int_equal(row->start_ns, i * WINDOW_NS);
	}
	assert_int_equal(svm.log.ops[op].end_ns, 3 * WINDOW_NS);
}

/*
 * svm_range_split_head, svm_range_set_attr's remap_list (6.8): what is left of a range that was split
 * at a page that is no multiple of the granularity is mapped again, and all of it, from where it is.
 */
static void the_rest_of_an_unaligned_split_is_mapped_whole(void **state)
{
	int64_t a = svm_data(&svm, 1536), b = svm_data(&svm, 1536), unaligned, aligned;

	(void)state;
	svm_read(&svm, a, 0, 1);
	svm_read(&svm, b, 0, 1);
	fx_advise_pages(&svm.fx, a, 1025, 511, "preferred_location", 0);
	fx_advise_pages(&svm.fx, b, 1024, 512, "preferred_location", 0);
	unaligned = svm_read(&svm, a, 600, 1);
	aligned = svm_read(&svm, b, 600, 1);
	svm_choose(&svm, "xnack: on, kernel: '6.8'", "");
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, unaligned, 0), 0);
	assert_int_equal(row_log_remote_reads(&svm.log, unaligned, 0), PAGES(1));
	expect_range(aligned, WINDOW);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(ranges_have_at_least_2MiB),
		RULE(range_sizes_are_powers_of_two),
		RULE(ranges_are_a_32nd_of_the_memory),
		RULE(ranges_have_at_most_1GiB),
		RULE(advice_on_a_part_splits_its_range),
		RULE(ranges_split_at_any_page),
		RULE(a_window_does_not_cross_a_split),
		RULE(a_prefetch_of_a_part_splits_its_range),
		RULE(parts_stay_apart_when_their_attributes_are_the_same_again),
		RULE(advice_that_changes_nothing_splits_what_is_not_mapped),
		RULE(ranges_of_one_call_are_served_from_the_highest_down),
		RULE(the_rest_of_an_unaligned_split_is_mapped_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
