/* The ideal of small traces, by hand: what counts, what does not, and what order is certain. */
#include "trace_fixture.h"

#include "sim/ideal/ideal.h"
#include "sim/ideal/ideal_order.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define READ  UM_TOUCH_READ
#define WRITE UM_TOUCH_WRITTEN
#define LINE  UM_LINE_BYTES
#define ALL   UINT64_MAX

static struct trace_fixture fx;
static uint64_t memory_bytes, page_bytes, packed_bytes;

static int set_up(void **state)
{
	(void)state;
	fx_open(&fx);
	memory_bytes = 1 << 30;
	page_bytes = PAGE;
	packed_bytes = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

/* Page by page; the lines are the same of each. */
static void launch(int64_t stream, int64_t allocation, int64_t first, int64_t pages, uint64_t read,
		   uint64_t written)
{
	fx_launch(&fx, "k", 1, stream);
	fx_touch_range(&fx, 0, allocation, first, pages, written);
	fx_lines(&fx, allocation, first, pages, (read ? READ : 0) | (written ? WRITE : 0), read,
		 written);
	fx_launch_end(&fx);
}

static struct um_ideal bounds(void)
{
	const struct um_ideal_request request = {.trace = fx.db,
						 .machine = &fx.machine,
						 .memory_bytes = memory_bytes,
						 .packed_bytes = packed_bytes,
						 .page_bytes = page_bytes};
	struct um_ideal ideal;

	if (um_ideal_bounds(&ideal, &request))
		fail_msg("%s", um_error_message());
	return ideal;
}

static void expect(uint64_t to_device, uint64_t to_host, uint64_t device_faults,
		   uint64_t host_faults)
{
	struct um_ideal ideal = bounds();

	assert_int_equal(ideal.bytes_to_device, to_device);
	assert_int_equal(ideal.bytes_to_host, to_host);
	assert_int_equal(ideal.device_faults, device_faults);
	assert_int_equal(ideal.host_faults, host_faults);
}

/* --- with room for all --- */

static void lines_cross_once_until_the_host_writes_again(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 10 * PAGE);

	(void)state;
	fx_host(&fx, data, 0, 10, WRITE);
	launch(0, data, 0, 10, 0xff, 0);
	launch(0, data, 0, 10, 0xff, 0); /* 8 lines more, or the page is there */
	fx_sync(&fx);
	fx_host(&fx, data, 0, 5, WRITE);
	launch(0, data, 0, 10, ALL, 0);
	expect(10 * 16 * LINE + 5 * PAGE + 5 * 48 * LINE, 0, 15, 0);
}

static void what_a_device_writes_crosses_when_the_host_needs_it(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 10 * PAGE);

	(void)state;
	launch(0, data, 0, 10, 0, 0xff);
	launch(0, data, 0, 4, 0, 0xff00);
	fx_sync(&fx);
	fx_host(&fx, data, 0, 8, READ);
	fx_host(&fx, data, 0, 8, READ);
	expect(0, (4 * 16 + 4 * 8) * LINE, 10, 8);
}

static void a_page_without_data_costs_nothing(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);

	(void)state;
	fx_host(&fx, data, 0, 4, READ);
	launch(0, data, 0, 4, ALL, 0);
	launch(0, data, 0, 4, ALL, ALL);
	launch(0, data, 0, 4, ALL, 0);
	expect(0, 0, 4, 0);
}

static void only_managed_memory_counts(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", 4 * PAGE);
	int64_t device = fx_alloc(&fx, "device", 4 * PAGE);
	int64_t pageable = fx_alloc(&fx, "pageable", 4 * PAGE);

	(void)state;
	fx_host(&fx, pageable, 0, 4, WRITE);
	launch(0, pinned, 0, 4, ALL, ALL);
	launch(0, device, 0, 4, ALL, ALL);
	launch(0, pageable, 0, 4, ALL, ALL);
	fx_sync(&fx);
	fx_host(&fx, pageable, 0, 4, READ);
	expect(0, 0, 0, 0);
}

static void a_memset_writes_the_lines_that_it_fills(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);

	(void)state;
	fx_op(&fx, &(struct um_op_row){.kind = "memset",
				       .allocation = data,
				       .offset_bytes = PAGE - 100,
				       .bytes = 100 + PAGE + 1});
	fx_host(&fx, data, 0, 4, READ);
	expect(0, 2 * LINE + PAGE + LINE, 3, 3);
}

static void copies_are_the_programs_own(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);
	int64_t device = fx_alloc(&fx, "device", 4 * PAGE);

	(void)state;
	fx_copy(&fx, data, 0, 4 * PAGE, 0, false); /* gives it data, here or there */
	launch(0, data, 0, 4, ALL, 0);		   /* so that this need not cross */
	fx_copy(&fx, device, data, 4 * PAGE, 0, false);
	expect(0, 0, 4, 0);
	fx_host(&fx, data, 0, 4, WRITE);
	fx_copy(&fx, data, device, 4 * PAGE, 0, false); /* into the host's memory: */
	launch(0, data, 0, 4, ALL, 0);			/* a copy engine makes no copies there */
	expect(4 * PAGE, 0, 8, 0);
}

static void what_is_freed_need_not_come_back(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE), other;

	(void)state;
	fx_host(&fx, data, 0, 4, WRITE);
	launch(0, data, 0, 4, 1, ALL);
	fx_free(&fx, data);
	other = fx_alloc(&fx, "managed", 4 * PAGE);
	launch(0, other, 0, 4, ALL, 0);
	expect(4 * LINE, 0, 8, 0);
}

static void calls_that_failed_and_launches_that_nobody_saw_do_nothing(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);

	(void)state;
	fx_host(&fx, data, 0, 4, WRITE);
	launch(0, data, 0, 4, ALL, 0);
	assert_int_equal(um_db_exec(fx.db, "UPDATE op SET result = 1 WHERE kind = 'launch'"), 0);
	launch(0, data, 0, 4, ALL, 0);
	assert_int_equal(um_db_exec(fx.db, "UPDATE op SET flags = 4 WHERE op = 4"), 0);
	fx_op(&fx, &(struct um_op_row){
			   .kind = "memset", .result = 1, .allocation = data, .bytes = PAGE});
	expect(0, 0, 0, 0);
}

static void faults_are_by_the_unit(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 40 * PAGE);

	(void)state;
	page_bytes = 16 * PAGE;
	fx_host(&fx, data, 0, 40, WRITE);
	launch(0, data, 14, 4, 1, 1); /* of the first two units */
	launch(0, data, 0, 33, 1, 0); /* of all three */
	fx_sync(&fx);
	fx_host(&fx, data, 15, 1, READ);
	fx_host(&fx, data, 16, 1, READ);
	fx_host(&fx, data, 17, 1, WRITE); /* came with the page before */
	launch(0, data, 18, 1, 1, 0);	  /* is still there */
	launch(0, data, 17, 1, 1, 0);
	expect(39 * LINE, 3 * LINE, 4, 2);
}

/* --- machines --- */

static void a_coherent_link_spares_the_host_its_faults(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);

	(void)state;
	fx.machine.link.coherent = true;
	launch(0, data, 0, 4, 0, 0xf);
	fx_sync(&fx);
	fx_host(&fx, data, 0, 2, WRITE); /* written where it is */
	fx_host(&fx, data, 2, 2, READ);
	expect(0, 2 * 4 * LINE, 4, 0);
}

static void nothing_crosses_in_one_memory(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);

	(void)state;
	fx.machine.apu = true;
	fx_host(&fx, data, 0, 4, WRITE);
	launch(0, data, 0, 4, ALL, ALL);
	expect(0, 0, 0, 0);
}

static void from_one_device_to_another_it_crosses_both_links(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);

	(void)state;
	fx.machine.devices = 2;
	launch(0, data, 0, 4, 0, 0xff);
	fx_sync(&fx);
	fx.device = 1;
	launch(0, data, 0, 4, 0xf, 0);
	expect(4 * 4 * LINE, 4 * 4 * LINE, 8, 0);
}

/* --- under a capacity --- */

static void what_does_not_fit_crosses_again(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 10 * PAGE);

	(void)state;
	memory_bytes = 6 * PAGE;
	fx_host(&fx, data, 0, 10, WRITE);
	for (int i = 0; i < 3; i++)
		launch(0, data, 0, 10, ALL, 0);
	/* 6 of 10 stay from each to the next; within one no more than 10 - 6 need to come */
	expect((10 + 4 + 4) * PAGE, 0, 10 + 4 + 4, 0);
}

static void what_was_written_and_does_not_fit_goes_back(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 10 * PAGE);

	(void)state;
	memory_bytes = 6 * PAGE;
	for (int i = 0; i < 3; i++)
		launch(0, data, 0, 10, 0, ALL);
	expect(0, (4 + 4 + 4) * PAGE, 10 + 4 + 4, 0); /* 6 are there at the end */
}

static void device_allocations_leave_less_room(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 10 * PAGE), taken;

	(void)state;
	memory_bytes = 10 * PAGE;
	fx_host(&fx, data, 0, 10, WRITE);
	launch(0, data, 0, 10, ALL, 0);
	taken = fx_alloc(&fx, "device", 3 * PAGE);
	launch(0, data, 0, 10, ALL, 0);
	fx_free(&fx, taken);
	launch(0, data, 0, 10, ALL, 0);
	expect(13 * PAGE, 0, 13, 0);
}

static void pages_of_few_lines_are_not_taken_for_whole_ones(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 8 * PAGE);

	(void)state;
	memory_bytes = 4 * PAGE;
	fx_host(&fx, data, 0, 8, WRITE);
	for (int i = 0; i < 2; i++) {
		launch(0, data, 0, 4, ALL, 0);
		launch(0, data, 4, 4, 0xf, 0);
	}
	/* The whole ones stay. */
	expect(4 * PAGE + 4 * 2 * 4 * LINE, 0, 8 + 4, 0);
}

/* --- what order is certain --- */

static void a_kernel_that_still_runs_may_read_what_the_host_writes(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 4 * PAGE);

	(void)state;
	fx_host(&fx, data, 0, 4, WRITE);
	launch(0, data, 0, 4, ALL, 0);
	fx_host(&fx, data, 0, 4, WRITE); /* before the kernel's reading, perhaps */
	launch(0, data, 0, 4, ALL, 0);
	expect(4 * PAGE, 0, 4, 0);
}

static void events_order_what_streams_do_not(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 10 * PAGE);

	(void)state;
	memory_bytes = 6 * PAGE;
	fx_host(&fx, data, 0, 10, WRITE);
	for (int64_t stream = 1; stream <= 2; stream++)
		fx_op(&fx, &(struct um_op_row){.kind = "stream_create", .stream = stream});
	launch(1, data, 0, 10, ALL, 0);
	launch(2, data, 0, 10, ALL, 0); /* beside it: may read what that brings */
	expect(10 * PAGE, 0, 10, 0);
	fx_op(&fx, &(struct um_op_row){.kind = "event_record", .stream = 2, .event = 1});
	fx_op(&fx, &(struct um_op_row){.kind = "stream_wait", .stream = 1, .event = 1});
	launch(1, data, 0, 10, ALL, 0); /* behind both */
	expect(14 * PAGE, 0, 14, 0);
	launch(0, data, 0, 10, ALL, 0); /* the null stream waits for all */
	expect(18 * PAGE, 0, 18, 0);
}

static void no_more_order_is_assumed_of_very_many_streams(void **state)
{
	struct um_op_order *order;
	bool alone;

	(void)state;
	assert_int_equal(um_op_order_create(&order), 0);
	for (int64_t stream = 1; stream <= 100; stream++) {
		const struct um_op_row op = {
			.kind = "stream_create", .flags = UM_OP_NON_BLOCKING, .stream = stream};

		assert_int_equal(um_op_order_host(order, &op), 0);
	}
	for (int64_t stream = 99; stream <= 100; stream++) {
		const struct um_op_row launched = {
			.kind = "launch", .flags = UM_OP_ASYNC, .stream = stream};
		const struct um_op_row waited = {.kind = "sync_stream", .stream = stream};

		assert_int_equal(um_op_order_task(order, &launched, true, &alone), 0);
		assert_true(alone == (stream == 99));
		assert_int_equal(um_op_order_host(order, &waited), 0);
		assert_int_equal(um_op_order_over(order), 0);
	}
	um_op_order_wait_all(order);
	assert_int_equal(um_op_order_over(order), 2);
	um_op_order_destroy(order);
}

/* --- refused --- */

/*
 * Two of 256 bytes can be in one page, of which one transfer brings both: no more than their own lines
 * count, whatever is known of a page only. What is large begins a page.
 */
static void of_pages_that_are_shared_only_what_is_ones_own_counts(void **state)
{
	int64_t a = fx_alloc(&fx, "managed", 256), b = fx_alloc(&fx, "managed", 256);
	int64_t large = fx_alloc(&fx, "managed", 2 << 20);

	(void)state;
	packed_bytes = 2 << 20;
	fx_host(&fx, a, 0, 1, WRITE);
	fx_host(&fx, b, 0, 1, WRITE);
	fx_host(&fx, large, 0, 1, WRITE);
	launch(0, a, 0, 1, ALL, ALL);
	launch(0, b, 0, 1, ALL, 0);
	launch(0, large, 0, 1, ALL, 0);
	fx_sync(&fx);
	fx_host(&fx, a, 0, 1, READ);
	assert_int_equal(bounds().bytes_to_device, 256 + 256 + PAGE);
	assert_int_equal(bounds().bytes_to_host, 256);
	packed_bytes = 0;
	assert_int_equal(bounds().bytes_to_device, 3 * PAGE);
	assert_int_equal(bounds().bytes_to_host, PAGE);
}

/* 512 bytes of the first page, the second and third, and 100 bytes, 2 lines, of the fourth. */
static void pages_between_the_first_and_the_last_are_whole(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 3 * PAGE + 100);

	(void)state;
	packed_bytes = 2 << 20;
	fx_host(&fx, data, 0, 4, WRITE);
	launch(0, data, 0, 4, ALL, 0);
	assert_int_equal(bounds().bytes_to_device, 512 + 2 * PAGE + 2 * LINE);
	/* Those that have no room cross again, the shared ones are not counted again. */
	memory_bytes = PAGE;
	launch(0, data, 0, 4, ALL, 0);
	assert_int_equal(bounds().bytes_to_device, 512 + 3 * PAGE + 2 * LINE);
}

static void what_cannot_be_is_refused(void **state)
{
	struct um_ideal_request request = {.trace = fx.db,
					   .machine = &fx.machine,
					   .memory_bytes = 1 << 20,
					   .page_bytes = 5000};
	struct um_ideal ideal;
	int64_t data = fx_alloc(&fx, "managed", PAGE);

	(void)state;
	assert_int_equal(um_ideal_bounds(&ideal, &request), UM_EINVAL);
	request.page_bytes = 2048;
	assert_int_equal(um_ideal_bounds(&ideal, &request), UM_EINVAL);
	request.page_bytes = PAGE;
	launch(0, data, 0, 1, 1, 0);
	assert_int_equal(um_ideal_bounds(&ideal, &request), 0);
	assert_int_equal(um_db_exec(fx.db, "DELETE FROM access_chunk"), 0);
	assert_int_equal(um_ideal_bounds(&ideal, &request), UM_ENOTSUP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_cross_once_until_the_host_writes_again),
		TEST(what_a_device_writes_crosses_when_the_host_needs_it),
		TEST(a_page_without_data_costs_nothing),
		TEST(only_managed_memory_counts),
		TEST(a_memset_writes_the_lines_that_it_fills),
		TEST(copies_are_the_programs_own),
		TEST(what_is_freed_need_not_come_back),
		TEST(calls_that_failed_and_launches_that_nobody_saw_do_nothing),
		TEST(faults_are_by_the_unit),
		TEST(a_coherent_link_spares_the_host_its_faults),
		TEST(nothing_crosses_in_one_memory),
		TEST(from_one_device_to_another_it_crosses_both_links),
		TEST(what_does_not_fit_crosses_again),
		TEST(what_was_written_and_does_not_fit_goes_back),
		TEST(device_allocations_leave_less_room),
		TEST(pages_of_few_lines_are_not_taken_for_whole_ones),
		TEST(a_kernel_that_still_runs_may_read_what_the_host_writes),
		TEST(events_order_what_streams_do_not),
		TEST(no_more_order_is_assumed_of_very_many_streams),
		TEST(of_pages_that_are_shared_only_what_is_ones_own_counts),
		TEST(pages_between_the_first_and_the_last_are_whole),
		TEST(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests_name("ideal", tests, NULL, NULL);
}
