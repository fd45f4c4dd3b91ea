/* Rules of driver amdgpu_svm: prefetches, and that their location stays. XNACK on, kernel 6.8. */
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

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

static int64_t to_device(int64_t op)
{
	return row_log_moved(&svm.log, op, UM_HOST, 0, NULL);
}

static int64_t to_host(int64_t op)
{
	return row_log_moved(&svm.log, op, 0, UM_HOST, NULL);
}

/* svm_range_trigger_migration: a prefetch moves all of the range, whatever the granularity. */
static void a_prefetch_moves_its_whole_range_at_once(void **state)
{
	int64_t data = svm_data(&svm, 1536), op = svm_prefetch(&svm, data, 0, 1536, 0);

	(void)state;
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, op, UM_HOST, 0, "prefetch"), PAGES(1536));
	assert_int_equal(row_log_transfer(&svm.log, 0)->pages, 1536);
	assert_int_equal(svm.log.ops[op].end_ns, LATENCY_NS + 1536 * PAGE_NS);
}

/* svm_range_validate_and_map: the device that it went to, which has ACCESS, is mapped. */
static void what_was_prefetched_is_mapped(void **state)
{
	int64_t data = svm_data(&svm, 1536), read, write;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	read = svm_read(&svm, data, 0, 1536);
	write = svm_write(&svm, data, 0, 1536);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.device_faults, 0);
	assert_int_equal(row_log_remote_reads(&svm.log, read, 0), 0);
	assert_int_equal(row_log_remote_writes(&svm.log, write, 0), 0);
}

/* svm_migrate_vram_to_ram unmaps it; a whole range that left is mapped to nobody. */
static void what_was_prefetched_to_the_host_faults_again(void **state)
{
	int64_t data = svm_data(&svm, 1024), back, op;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	back = svm_prefetch(&svm, data, 0, 1024, UM_HOST);
	op = svm_read(&svm, data, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, back, 0, UM_HOST, "prefetch"), PAGES(1024));
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(to_device(op), PAGES(WINDOW));
}

/* svm_range_is_same_attrs: a prefetch to the same place runs again and collects what came back. */
static void a_repeated_prefetch_collects_what_came_back(void **state)
{
	int64_t data = svm_data(&svm, 1536), again, none, kernel;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	fx_host(&svm.fx, data, 512, 1, UM_TOUCH_READ);
	again = svm_prefetch(&svm, data, 0, 1536, 0);
	none = svm_prefetch(&svm, data, 0, 1536, 0);
	kernel = svm_read(&svm, data, 0, 1536);
	svm_run(&svm);
	assert_int_equal(to_device(again), PAGES(WINDOW));
	assert_int_equal(to_device(none), 0);
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 0);
}

/* migrate_vma_collect_hole: pages without data are device pages from then on. */
static void a_prefetch_of_pages_without_data_copies_nothing(void **state)
{
	int64_t data = svm_alloc(&svm, 1024), op = svm_prefetch(&svm, data, 0, 1024, 0);
	int64_t kernel = svm_write(&svm, data, 0, 1024), host;

	(void)state;
	host = fx_host(&svm.fx, data, 0, 1, UM_TOUCH_READ);
	svm_run(&svm);
	assert_int_equal(to_device(op), 0);
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 0);
	assert_int_equal(to_host(host), PAGES(WINDOW));
}

/* svm_range_trigger_migration: nothing on a device, nothing to bring to the host. */
static void a_prefetch_to_the_host_of_what_is_there_does_nothing(void **state)
{
	int64_t data = svm_data(&svm, 1024), op = svm_prefetch(&svm, data, 0, 1024, UM_HOST);

	(void)state;
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.bytes_to_host, 0);
	assert_int_equal(svm.log.ops[op].end_ns, 0);
}

/*
 * svm_range_set_attr runs svm_range_trigger_migration for every range that it updates, with the
 * location of the last prefetch: any advice that changes something prefetches again.
 */
static void advice_repeats_the_last_prefetch(void **state)
{
	int64_t data = svm_data(&svm, 1536), advice, kernel;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	fx_host(&svm.fx, data, 512, 1, UM_TOUCH_WRITTEN);
	advice = fx_advise(&svm.fx, data, "preferred_location", 0);
	kernel = svm_read(&svm, data, 0, 1536);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, advice, UM_HOST, 0, "prefetch"), PAGES(WINDOW));
	assert_int_equal(svm.log.ops[advice].end_ns - svm.log.ops[advice].start_ns, WINDOW_NS);
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 0);
}

/* The same in the other direction: after a prefetch to the host, advice takes it from the device. */
static void advice_repeats_a_prefetch_to_the_host(void **state)
{
	int64_t data = svm_data(&svm, 1024), advice;

	(void)state;
	svm_prefetch(&svm, data, 0, 1024, 0);
	svm_prefetch(&svm, data, 0, 1024, UM_HOST);
	svm_read(&svm, data, 0, 1); /* takes a window back */
	advice = fx_advise(&svm.fx, data, "preferred_location", 0);
	svm_run(&svm);
	assert_int_equal(row_log_moved(&svm.log, advice, 0, UM_HOST, "prefetch"), PAGES(WINDOW));
}

/* svm_range_add: advice that changes nothing of a mapped range updates nothing. */
static void advice_that_changes_nothing_repeats_nothing(void **state)
{
	int64_t data = svm_data(&svm, 1536), advice;

	(void)state;
	fx_advise(&svm.fx, data, "preferred_location", 0);
	svm_prefetch(&svm, data, 0, 1536, 0);
	fx_host(&svm.fx, data, 512, 1, UM_TOUCH_WRITTEN);
	advice = fx_advise(&svm.fx, data, "preferred_location", 0);
	svm_run(&svm);
	assert_int_equal(to_device(advice), 0);
}

/* svm_range_split_adjust: a part keeps the location of the prefetch. */
static void advice_on_a_part_repeats_the_prefetch_of_that_part(void **state)
{
	int64_t data = svm_data(&svm, 1536), advice;

	(void)state;
	svm_prefetch(&svm, data, 0, 1536, 0);
	fx_host(&svm.fx, data, 0, 1536, UM_TOUCH_WRITTEN); /* three windows */
	advice = fx_advise_pages(&svm.fx, data, 100, 200, "preferred_location", 0);
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.host_faults, 3);
	assert_int_equal(to_device(advice), PAGES(200));
}

/* A fault leaves prefetch_loc alone; memory that was never prefetched has none to repeat. */
static void advice_without_a_prefetch_moves_nothing(void **state)
{
	int64_t data = svm_data(&svm, 1024), advice;

	(void)state;
	svm_read(&svm, data, 0, 1);
	advice = fx_advise(&svm.fx, data, "preferred_location", 0);
	svm_run(&svm);
	assert_int_equal(to_device(advice), 0);
	assert_int_equal(to_host(advice), 0);
}

/*
 * svm_migrate_ram_to_vram: no room for the whole range, ENOSPC; svm_range_set_attr gives up on the
 * range: nothing moves and nothing is mapped.
 */
static void a_prefetch_without_room_does_nothing(void **state)
{
	int64_t data = svm_data(&svm, 1024), op, kernel;

	(void)state;
	svm_leave(&svm, 3 * MIB);
	op = svm_prefetch(&svm, data, 0, 1024, 0);
	kernel = svm_read(&svm, data, 0, 1);
	svm_run(&svm);
	assert_int_equal(to_device(0), 0);
	assert_int_equal(svm.log.ops[op].end_ns, 0);
	assert_int_equal(row_log_faults(&svm.log, kernel, 0), 1);
	assert_true(row_log_events(&svm.log, UM_EVENT_VRAM_REFUSED) >= 2);
	assert_int_equal(row_log_event(&svm.log, UM_EVENT_VRAM_REFUSED, 0)->op, op);
	assert_int_equal(row_log_event(&svm.log, UM_EVENT_VRAM_REFUSED, 0)->pages, 1024);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_prefetch_moves_its_whole_range_at_once),
		RULE(what_was_prefetched_is_mapped),
		RULE(what_was_prefetched_to_the_host_faults_again),
		RULE(a_repeated_prefetch_collects_what_came_back),
		RULE(a_prefetch_of_pages_without_data_copies_nothing),
		RULE(a_prefetch_to_the_host_of_what_is_there_does_nothing),
		RULE(advice_repeats_the_last_prefetch),
		RULE(advice_repeats_a_prefetch_to_the_host),
		RULE(advice_that_changes_nothing_repeats_nothing),
		RULE(advice_on_a_part_repeats_the_prefetch_of_that_part),
		RULE(advice_without_a_prefetch_moves_nothing),
		RULE(a_prefetch_without_room_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
