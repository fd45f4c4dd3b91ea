/* Rules of driver amdgpu_svm: what advice changes, and what not. XNACK on, kernel 6.8. */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, "xnack: on, kernel: '6.8'");
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

static void expect_in_place(int64_t op, int64_t faults, int64_t pages)
{
	assert_int_equal(row_log_faults(&svm.log, op, 0), faults);
	assert_int_equal(row_log_moved(&svm.log, op, ROW_LOG_ANY, ROW_LOG_ANY, NULL), 0);
	assert_int_equal(row_log_remote_reads(&svm.log, op, 0), PAGES(pages));
}

/* svm_range_best_restore_location: ACCESS_IN_PLACE restores where the data is. */
static void accessed_by_maps_what_is_on_the_host_in_place(void **state)
{
	int64_t data = svm_data(&svm, 300), first, again, host;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 0);
	first = svm_read(&svm, data, 0, 300);
	host = fx_host(&svm.fx, data, 0, 300, UM_TOUCH_WRITTEN);
	again = svm_read(&svm, data, 0, 300);
	svm_run(&svm);
	expect_in_place(first, 1, 300);
	expect_in_place(again, 0, 300);
	assert_int_equal(row_log_faults(&svm.log, host, UM_HOST), 0);
}

/* svm_range_set_attr: with XNACK, ACCESS_IN_PLACE alone does not set update_mapping. */
static void accessed_by_maps_window_by_window_and_not_beforehand(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 0);
	op = svm_read(&svm, data, 0, 1024);
	svm_run(&svm);
	expect_in_place(op, 2, 1024);
	assert_true(svm.log.ops[op].end_ns >= PENDING_NS); /* the second fault on the range */
}

/* svm_range_validate_and_map: holes of what it maps are faulted in, in host memory. */
static void mapping_in_place_gives_the_whole_window_data_on_the_host(void **state)
{
	int64_t data = svm_alloc(&svm, 1024), move;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 0);
	svm_read(&svm, data, 0, 1);
	fx_advise(&svm.fx, data, "unset_accessed_by", 0);
	move = svm_prefetch(&svm, data, 0, 1024, 0);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, move, UM_HOST, 0, NULL), PAGES(WINDOW));
}

/*
 * svm_range_validate_and_map maps to the ACCESS_IN_PLACE devices whenever a range has migrated: so
 * it is mapped from the host at once when it goes back there by a prefetch.
 */
static void accessed_by_keeps_the_mapping_through_a_prefetch_to_the_host(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	fx_advise(&svm.fx, data, "accessed_by", 0);
	svm_prefetch(&svm, data, 0, 1024, UM_HOST);
	op = svm_read(&svm, data, 0, 1024);
	svm_run(&svm);
	expect_in_place(op, 0, 1024);
}

/* A prefetch that moves nothing maps nothing (svm_range_set_attr: neither migrated nor updated). */
static void accessed_by_is_not_mapped_by_a_prefetch_that_moves_nothing(void **state)
{
	int64_t data = svm_data(&svm, WINDOW), op;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 0);
	svm_prefetch(&svm, data, 0, WINDOW, UM_HOST);
	op = svm_read(&svm, data, 0, WINDOW);
	svm_run(&svm);
	expect_in_place(op, 1, WINDOW);
}

/* rocdevice.cpp SetSvmAttributesInt: unsetting it is ACCESS again, not NO_ACCESS. */
static void unset_accessed_by_lets_it_migrate_again(void **state)
{
	int64_t data = svm_data(&svm, WINDOW), op;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 0);
	fx_advise(&svm.fx, data, "unset_accessed_by", 0);
	op = svm_read(&svm, data, 0, WINDOW);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(WINDOW));
}

/* svm_range_best_restore_location: preferred SYSMEM is where a fault restores. */
static void preferred_on_the_host_is_mapped_from_there(void **state)
{
	int64_t data = svm_data(&svm, 300), op;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", UM_HOST);
	op = svm_read(&svm, data, 0, 300);
	svm_run(&svm);
	expect_in_place(op, 1, 300);
	assert_int_equal(svm.fx.totals.host_faults, 0);
}

/* svm_range_restore_pages: the window of a fault goes to the preferred location, also back. */
static void preferred_on_the_host_takes_no_page_to_the_device(void **state)
{
	int64_t data = svm_data(&svm, 1024), op;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	fx_advise(&svm.fx, data, "preferred_location", UM_HOST);
	fx_host(&svm.fx, data, 0, 1, UM_TOUCH_WRITTEN);
	op = svm_read(&svm, data, 0, 512);
	svm_run(&svm);
	expect_in_place(op, 1, 512);
}

/* svm_range_best_restore_location asks for the preferred location first. */
static void preferred_location_wins_over_accessed_by(void **state)
{
	int64_t data = svm_data(&svm, WINDOW), op;

	(void)state;
	fx_advise(&svm.fx, data, "accessed_by", 0);
	fx_advise(&svm.fx, data, "preferred_location", 0);
	op = svm_read(&svm, data, 0, WINDOW);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(WINDOW));
}

/* svm_range_apply_attrs: a preferred location is only noted. */
static void preferred_location_moves_nothing_by_itself(void **state)
{
	int64_t data = svm_data(&svm, WINDOW), op;

	(void)state;
	op = fx_advise(&svm.fx, data, "preferred_location", 0);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.bytes_to_device, 0);
	assert_int_equal(svm.log.ops[op].end_ns, svm.log.ops[op].start_ns);
}

static void unset_preferred_location_is_the_default_again(void **state)
{
	int64_t data = svm_data(&svm, WINDOW), op;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", UM_HOST);
	fx_advise(&svm.fx, data, "unset_preferred_location", UM_HOST);
	op = svm_read(&svm, data, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(WINDOW));
}

/* KFD_IOCTL_SVM_FLAG_GPU_READ_MOSTLY is read nowhere in kfd_svm.c: no second copy. */
static void read_mostly_makes_no_copies_and_is_told(void **state)
{
	int64_t data = svm_data(&svm, WINDOW), host, again;

	(void)state;
	fx_advise(&svm.fx, data, "read_mostly", 0);
	svm_read(&svm, data, 0, WINDOW);
	host = fx_host(&svm.fx, data, 0, WINDOW, UM_TOUCH_READ);
	again = svm_read(&svm, data, 0, WINDOW);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.device_faults, 2);
	assert_int_equal(row_log_moved(&svm.log, host, 0, UM_HOST, NULL), PAGES(WINDOW));
	assert_int_equal(row_log_moved(&svm.log, again, UM_HOST, 0, NULL), PAGES(WINDOW));
	assert_int_equal(svm.fx.totals.migrated_to_device[UM_CAUSE_DUPLICATE], 0);
	assert_non_null(strstr(svm.fx.ignored, "read_mostly"));
}

/* ROCr SetSvmAttrib: it is a flag; setting one is an attribute change with all that follows. */
static void read_mostly_repeats_the_last_prefetch_as_other_advice_does(void **state)
{
	int64_t data = svm_data(&svm, 1024), advice;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	fx_host(&svm.fx, data, 0, 1, UM_TOUCH_WRITTEN);
	advice = fx_advise(&svm.fx, data, "read_mostly", 0);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, advice, UM_HOST, 0, NULL), PAGES(WINDOW));
}

/*
 * svm_range_apply_attrs: a flag sets update_mapping; svm_range_validate_and_map then maps the whole
 * range, if any of it was mapped, where its pages are.
 */
static void a_flag_maps_all_of_a_range_that_was_mapped_in_part(void **state)
{
	static const char *const flags[] = {"coarse_grain", "read_mostly"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int64_t data = svm_data(&svm, 1024), op;

		svm_read(&svm, data, 0, 1);
		fx_advise(&svm.fx, data, flags[i], 0);
		op = svm_read(&svm, data, 512, 512);
		svm_run(&svm);
		expect_in_place(op, 0, 512);
	}
}

/* The same: a range of which nothing was mapped stays so. */
static void a_flag_maps_nothing_of_a_range_that_was_not_mapped(void **state)
{
	int64_t data = svm_data(&svm, WINDOW), op;

	(void)state;
	fx_advise(&svm.fx, data, "coarse_grain", 0);
	op = svm_read(&svm, data, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, NULL), PAGES(WINDOW));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(accessed_by_maps_what_is_on_the_host_in_place),
		RULE(accessed_by_maps_window_by_window_and_not_beforehand),
		RULE(mapping_in_place_gives_the_whole_window_data_on_the_host),
		RULE(accessed_by_keeps_the_mapping_through_a_prefetch_to_the_host),
		RULE(accessed_by_is_not_mapped_by_a_prefetch_that_moves_nothing),
		RULE(unset_accessed_by_lets_it_migrate_again),
		RULE(preferred_on_the_host_is_mapped_from_there),
		RULE(preferred_on_the_host_takes_no_page_to_the_device),
		RULE(preferred_location_wins_over_accessed_by),
		RULE(preferred_location_moves_nothing_by_itself),
		RULE(unset_preferred_location_is_the_default_again),
		RULE(read_mostly_makes_no_copies_and_is_told),
		RULE(read_mostly_repeats_the_last_prefetch_as_other_advice_does),
		RULE(a_flag_maps_all_of_a_range_that_was_mapped_in_part),
		RULE(a_flag_maps_nothing_of_a_range_that_was_not_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
