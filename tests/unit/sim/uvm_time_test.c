/* What driver nvidia_uvm takes its time for (A1), besides a batch's own parts. */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Nothing takes time but what a test names behind it. */
#define NO_COSTS                                                                                   \
	"driver: {name: nvidia_uvm, entry_time: 0ns, touch_time: 0ns, store_time: 0ns, "           \
	"batch_time: 0ns, block_time: 0ns, page_time: 0ns, new_block_time: 0ns, unmap_time: 0ns, " \
	"evict_time: 0ns, "
#define BYTES_NS 1 /* that few bytes at the memory's bandwidth */
#define NO_WAITS "fetch_time: 0ns, interrupt_time: 0ns, "
/* A page that is touched alone brings the rest of its 64 KiB, all of data that the host wrote. */
#define MOVED_NS (RECORD_NS(1) + RECORD_NS(15))

static struct uvm uvm;

static int open_trace(void **state)
{
	(void)state;
	uvm_open(&uvm, NULL);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	uvm_close(&uvm);
	return 0;
}

static int64_t took(int64_t op)
{
	return uvm.log.ops[op].end_ns - uvm.log.ops[op].start_ns;
}

static void pages_that_are_brought_along_take_time(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), read = uvm_read(&uvm, data, 0, 1);

	(void)state;
	fx_policy(&uvm.fx, NO_COSTS NO_WAITS "prefetched_page_time: 2us, cpu_fault_time: 0ns}\n");
	uvm_run(&uvm);
	assert_int_equal(took(read), 15 * 2000 + MOVED_NS);
}

/* The copies of one block come before the next block is looked at. */
static void blocks_of_a_batch_are_served_one_after_another(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), read = uvm_read_each(&uvm, data, 0, BLOCK, 2);

	(void)state;
	fx_policy(&uvm.fx,
		  "driver: {name: nvidia_uvm, entry_time: 0ns, touch_time: 0ns, store_time: 0ns, "
		  "batch_time: 0ns, block_time: 20us, page_time: 0ns, new_block_time: 0ns, "
		  "unmap_time: 0ns, " NO_WAITS "cpu_fault_time: 0ns}\n");
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, read), 2);
	assert_int_equal(took(read), 2 * (20000 + MOVED_NS));
}

/* Of the host's faults all that come count. */
static void pages_that_come_to_the_host_take_time(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), back;

	(void)state;
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	back = uvm_host_read(&uvm, data, 0, 1);
	fx_policy(&uvm.fx, NO_COSTS NO_WAITS "cpu_page_time: 3us, cpu_fault_time: 70us}\n");
	uvm_run(&uvm);
	assert_int_equal(took(back), 70000 + 16 * 3000 + MOVED_NS);
}

/* interrupt_time after an idle time, and wake_time more after a long one; what is first is. */
static void an_idle_driver_takes_time_to_look(void **state)
{
	int64_t data = uvm_data(&uvm, 4 * BLOCK), other = uvm_alloc(&uvm, BLOCK);
	int64_t first = uvm_read(&uvm, data, 0, 1), soon = uvm_read(&uvm, data, 64, 1), late;

	(void)state;
	uvm_host_write(&uvm, other, 0, 1); /* takes cpu_fault_time */
	late = uvm_read(&uvm, data, 128, 1);
	fx_policy(&uvm.fx, NO_COSTS "fetch_time: 0ns, interrupt_time: 10us, wake_time: 50us, "
				    "wake_after: 1ms, cpu_fault_time: 1ms}\n");
	uvm_run(&uvm);
	assert_int_equal(took(first), 10000 + 50000 + MOVED_NS);
	assert_int_equal(took(soon), 10000 + MOVED_NS);
	assert_int_equal(took(late), 10000 + 50000 + MOVED_NS);
}

/* Under umtrace each record, each page that faulted, and each such fault of the host has its cost. */
static void recording_takes_time_where_it_is_asked_for(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), read = uvm_read(&uvm, data, 0, 1);
	int64_t back = uvm_host_read(&uvm, data, 0, 1);

	(void)state;
	uvm.fx.machine.tracing = (struct um_tracing_spec){
		.to_device_record_ns = 7000, .fault_record_ns = 5000, .cpu_fault_record_ns = 11000};
	fx_policy(&uvm.fx, NO_COSTS NO_WAITS "cpu_fault_time: 0ns}\n");
	uvm_run(&uvm);
	assert_int_equal(took(read), MOVED_NS);
	assert_int_equal(took(back), MOVED_NS);
	row_log_clear(&uvm.log);
	uvm.fx.traced = true;
	uvm_run(&uvm);
	assert_int_equal(took(read), 2 * 7000 + 5000 + MOVED_NS);
	assert_int_equal(took(back), 11000 + MOVED_NS);
}

/*
 * Two groups fault on neighbours; the batch has the first one's entry only, and serves both. The other
 * entry comes when its kernel has ended and its memory is gone.
 */
static void late_entries_of_freed_memory_are_dropped(void **state)
{
	int64_t data = uvm_data(&uvm, 16), read = uvm_read_each(&uvm, data, 0, 1, 2), next;

	(void)state;
	fx_free(&uvm.fx, data);
	data = uvm_data(&uvm, 16);
	next = uvm_read(&uvm, data, 0, 1);
	fx_policy(&uvm.fx,
		  "driver: {name: nvidia_uvm, entry_time: 20ns, fetch_time: 110ns, "
		  "interrupt_time: 10ns, entry_jitter: 0ns, touch_time: 0ns, store_time: 0ns, "
		  "batch_time: 100us}\n");
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, read), 16);
	assert_int_equal(uvm_device_faults(&uvm, read), 1);
	assert_int_equal(uvm_pages_in(&uvm, next), 16);
}

/*
 * 300 atomics, two thirds of whose requests went to one page: 200 take turns there; and of narrow ones a
 * wave's instructions.
 */
static void atomics_on_one_address_take_turns(void **state)
{
	int64_t data = uvm_data(&uvm, 16), op, plain;

	(void)state;
	uvm_prefetch(&uvm, data, 0, 16, 0);
	plain = uvm_read(&uvm, data, 0, 2);
	op = uvm_read(&uvm, data, 0, 2);
	for (int page = 0; page < 2; page++) {
		struct um_page_access_row row = {.op = op,
						 .allocation = data,
						 .first_page = page,
						 .pages = 1,
						 .touch = UM_TOUCH_READ,
						 .requests = UM_NULL,
						 .atomics = page ? 5 : 10};

		assert_int_equal(um_db_replace(uvm.fx.db, &um_table_page_access, &row), 0);
	}
	assert_int_equal(
		um_db_exec(uvm.fx.db, "UPDATE kernel SET atomics = 300, bytes_written = 2400"), 0);
	fx_policy(&uvm.fx, NO_COSTS NO_WAITS "cpu_fault_time: 0ns}\n");
	uvm.fx.machine.atomics_per_s = 1e8;
	uvm_run(&uvm);
	assert_int_equal(took(op), BYTES_NS + 200 * 10);
	assert_int_equal(took(plain), BYTES_NS); /* no row tells of any */
	row_log_clear(&uvm.log);
	assert_int_equal(um_db_exec(uvm.fx.db, "UPDATE kernel SET bytes_written = 1200"), 0);
	uvm_run(&uvm);
	assert_int_equal(took(op), BYTES_NS + 5 * 10 * 2 / 3); /* 300 / 64 */
}

/* A file may say any number: repeats take no time, and no more waves make a touch than fit. */
static void launches_beyond_all_sense_end(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), slow = uvm_read(&uvm, data, 0, 17), wide;
	char text[256];

	(void)state;
	wide = uvm_read(&uvm, uvm_data(&uvm, BLOCK), 0, 1);
	snprintf(text, sizeof(text),
		 "UPDATE kernel SET block_x = -5, reads = 9000000000000000000 WHERE op = %lld;"
		 "UPDATE kernel SET block_x = 2147483647, block_y = 2147483647, reads = NULL"
		 " WHERE op = %lld",
		 (long long)slow, (long long)wide);
	assert_int_equal(um_db_exec(uvm.fx.db, text), 0);
	fx_policy(&uvm.fx, "driver: nvidia_uvm\n");
	uvm_run(&uvm);
	assert_true(took(slow) < 10000000);
	assert_true(took(wide) < 10000000);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(pages_that_are_brought_along_take_time),
		RULE(blocks_of_a_batch_are_served_one_after_another),
		RULE(pages_that_come_to_the_host_take_time),
		RULE(an_idle_driver_takes_time_to_look),
		RULE(recording_takes_time_where_it_is_asked_for),
		RULE(late_entries_of_freed_memory_are_dropped),
		RULE(atomics_on_one_address_take_turns),
		RULE(launches_beyond_all_sense_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
