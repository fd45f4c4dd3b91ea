/* What calls do under driver amdgpu_svm: who waits, who refuses, what is ignored, who leaves. */
#include "svm_rules.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define FREE "xnack: on, duplicate_window: 0ns"

static struct svm svm;

static int open_trace(void **state)
{
	(void)state;
	svm_open(&svm, FREE);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	svm_close(&svm);
	return 0;
}

/* --- prefetches --- */

static void the_host_waits_for_a_prefetch(void **state)
{
	int64_t data = svm_data(&svm, 512), op;

	(void)state;
	fx_prefetch(&svm.fx, data, PAGES(512), 0, 7);
	op = fx_op(&svm.fx, &(struct um_op_row){.kind = "event_record", .event = 1, .stream = 8});
	fx_sync(&svm.fx);
	svm_run(&svm);
	assert_int_equal(svm.log.ops[op].start_ns, WINDOW_NS);
	svm_choose(&svm, FREE ", prefetch_waits: off", "");
	svm_run(&svm);
	assert_int_equal(svm.log.ops[op].start_ns, 0);
}

/* What comes before in its stream, too. */
static void it_waits_for_the_stream(void **state)
{
	int64_t data = svm_data(&svm, 512), other = svm_data(&svm, 512), op;

	(void)state;
	svm_launch(&svm, other, 0, 512, false, 7);
	fx_prefetch(&svm.fx, data, PAGES(512), 0, 7);
	op = fx_op(&svm.fx, &(struct um_op_row){.kind = "event_record", .event = 1, .stream = 8});
	fx_sync(&svm.fx);
	svm_run(&svm);
	assert_int_equal(svm.log.ops[op].start_ns, 2 * WINDOW_NS);
}

/* A policy's prefetches are calls like the program's: each returns before the next is made. */
static void the_host_waits_for_a_policys_prefetches(void **state)
{
	int64_t data = svm_data(&svm, 512), other = svm_data(&svm, 256), op;
	const char *rules = "prefetch:\n"
			    "  - {on: {index: 1}, to: gpu0, before: \"k*\", stream: own}\n"
			    "  - {on: {index: 2}, to: gpu0, before: \"k*\", stream: own}\n";

	(void)state;
	(void)other;
	op = svm_read(&svm, data, 0, 512);
	svm_choose(&svm, FREE, rules);
	svm_run(&svm);
	assert_int_equal(svm.log.ops[op].start_ns, WINDOW_NS + LATENCY_NS + 256 * PAGE_NS);
	assert_int_equal(svm.fx.totals.device_faults, 0);
	assert_int_equal(svm.fx.totals.migrated_to_device[UM_CAUSE_PREFETCH], PAGES(768));
}

/* --- without HMM --- */

static void without_hmm_advice_and_prefetches_are_said_to_do_nothing(void **state)
{
	int64_t data = svm_data(&svm, 64), op;

	(void)state;
	op = svm_prefetch(&svm, data, 0, 64, 0);
	svm_read(&svm, data, 0, 64);
	svm_choose(&svm, "xnack: on, hmm: off", "");
	svm_run(&svm);
	assert_string_equal(svm.fx.ignored, "advice and prefetches");
	assert_int_equal(svm.log.ops[op].end_ns, 0);
	assert_int_equal(svm.fx.totals.remote_to_device, PAGES(64));
	assert_int_equal(svm.log.migration_count, 0);
}

/* --- pageable memory without faults --- */

static void expect_refused(const char *parameters, const char *says)
{
	svm_choose(&svm, parameters, "");
	row_log_clear(&svm.log);
	assert_int_equal(fx_simulate(&svm.fx), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), says));
}

static void a_device_cannot_reach_malloced_memory_without_faults(void **state)
{
	int64_t heap = fx_alloc(&svm.fx, "pageable", PAGES(10));

	(void)state;
	fx_host(&svm.fx, heap, 0, 10, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	svm_read(&svm, heap, 0, 10);
	expect_refused("xnack: off", "without XNACK no fault is served");
	expect_refused("xnack: on, hmm: off", "without HMM no fault is served");
	svm_choose(&svm, FREE, "");
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.bytes_to_device, PAGES(10));
}

static void advice_registers_malloced_memory(void **state)
{
	int64_t heap = fx_alloc(&svm.fx, "pageable", PAGES(10));

	(void)state;
	fx_advise(&svm.fx, heap, "accessed_by", 0);
	svm_read(&svm, heap, 0, 10);
	svm_choose(&svm, "xnack: off", "");
	svm_run(&svm);
	assert_int_equal(svm.fx.totals.remote_to_device, PAGES(10));
	assert_int_equal(svm.fx.totals.device_faults, 0);
}

/* --- who leaves --- */

/*
 * Three ranges of 32 MiB and room for two: the first is touched last before the third comes. The
 * driver's own order sends it away, least recently used the second.
 */
static void another_order_evicts_others(void **state)
{
	int64_t pages = 32 * MIB / PAGE, a = svm_data(&svm, pages), b = svm_data(&svm, pages);
	int64_t c = svm_data(&svm, pages), op;

	(void)state;
	svm_leave(&svm, 64 * MIB);
	svm_prefetch(&svm, a, 0, pages, 0);
	svm_prefetch(&svm, b, 0, pages, 0);
	svm_read(&svm, a, 0, 1);
	svm_prefetch(&svm, c, 0, pages, 0);
	op = svm_read(&svm, a, 0, 1);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	svm_choose(&svm, FREE, "evict: lru\n");
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 0);
	assert_int_equal(svm.fx.totals.migrated_to_host[UM_CAUSE_EVICTION], 32 * MIB);
}

/* --- an APU --- */

static void on_an_apu_nothing_is_remote_and_nothing_moves(void **state)
{
	int64_t data = svm_data(&svm, 512), pinned = fx_alloc(&svm.fx, "pinned", PAGES(64)), op;

	(void)state;
	svm.fx.machine.apu = true;
	svm.fx.machine.link.coherent = true;
	svm_prefetch(&svm, data, 0, 512, 0);
	op = svm_read(&svm, data, 0, 512);
	svm_read(&svm, pinned, 0, 64);
	svm_run(&svm);
	assert_int_equal(row_log_faults(&svm.log, op, 0), 1);
	assert_int_equal(svm.log.migration_count, 0);
	assert_int_equal(svm.log.remote_count, 0);
	assert_int_equal(svm.log.ops[op].end_ns, 0);
}

#define CALL(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CALL(the_host_waits_for_a_prefetch),
		CALL(it_waits_for_the_stream),
		CALL(the_host_waits_for_a_policys_prefetches),
		CALL(without_hmm_advice_and_prefetches_are_said_to_do_nothing),
		CALL(a_device_cannot_reach_malloced_memory_without_faults),
		CALL(advice_registers_malloced_memory),
		CALL(another_order_evicts_others),
		CALL(on_an_apu_nothing_is_remote_and_nothing_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
