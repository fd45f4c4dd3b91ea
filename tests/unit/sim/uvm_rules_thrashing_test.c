/*
 * Rules of driver nvidia_uvm: pages that host and device take from each other again and again
 * (uvm_perf_thrashing.c). A lapse is 500 us; a page that goes back and forth takes some 20 us.
 */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LAPSE_NS ((int64_t)500000)
#define SLACK_NS ((int64_t)60000) /* of a few transfers of 16 pages */
#define MOST	 24

static struct uvm uvm;
static int64_t ops[MOST]; /* even: the device reads page 0; odd: the host writes it */

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

/* The copy takes as long as its pages. */
static void pass_time(int64_t pages)
{
	int64_t device = fx_alloc(&uvm.fx, "device", PAGES(pages)),
		host = fx_alloc(&uvm.fx, "pinned", PAGES(pages));

	fx_copy(&uvm.fx, device, host, PAGES(pages), 0, false);
	fx_free(&uvm.fx, device);
	fx_free(&uvm.fx, host);
}

static void take_turns(int64_t data, int from, int to)
{
	for (int i = from; i < to; i++)
		ops[i] = i % 2 ? uvm_host_write(&uvm, data, 0, 1) : uvm_read(&uvm, data, 0, 1);
}

static int64_t took_ns(int turn)
{
	return uvm.log.ops[ops[turn]].end_ns - uvm.log.ops[ops[turn]].start_ns;
}

static int64_t pages_of(int turn)
{
	return turn % 2 ? uvm_pages_out(&uvm, ops[turn]) : uvm_pages_in(&uvm, ops[turn]);
}

static void expect_moves_at_once(int turn, int64_t pages)
{
	assert_int_equal(pages_of(turn), pages);
	assert_true(took_ns(turn) < SLACK_NS);
}

/* Pages of driver_event rows of a kind; op 0: of all. */
static int64_t pages_that(const char *kind, int64_t op)
{
	const struct um_driver_event_row *row;
	int64_t count = 0;

	for (size_t n = 0; (row = row_log_event(&uvm.log, kind, n)); n++)
		count += !op || row->op == op ? row->pages : 0;
	return count;
}

/*
 * thrashing_event_cb: tracking begins with the second event of a block, by another processor; from
 * then on a page counts each that follows the last within a lapse, and thrashes from the third on
 * (turn 4). uvm_perf_prefetch.c brings no page along that thrashes, nor with one.
 */
static void a_page_that_thrashes_moves_alone(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	take_turns(data, 0, 6);
	uvm_run(&uvm);
	for (int turn = 0; turn < 5; turn++)
		expect_moves_at_once(turn, 16);
	expect_moves_at_once(5, 1);
	assert_int_equal(pages_that(UM_EVENT_WORD_THRASHING, ops[4]), 16);
	assert_int_equal(pages_that(UM_EVENT_WORD_THRASHING, 0), 16);
}

/*
 * uvm_perf_thrashing_get_hint: the one that faults first (turn 5) has the page for a nap, the others
 * are held back to its end; then it is the other's turn (thrashing_throttle_update).
 */
static void the_other_processor_waits_for_a_nap(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	take_turns(data, 0, 9);
	uvm_run(&uvm);
	for (int turn = 6; turn < 9; turn++) {
		assert_int_equal(pages_of(turn), 1);
		assert_in_range(took_ns(turn), LAPSE_NS - SLACK_NS, LAPSE_NS + SLACK_NS);
	}
	assert_int_equal(pages_that(UM_EVENT_WORD_THROTTLING, 0), 3);
	for (size_t n = 0; n < 3; n++) {
		const struct um_driver_event_row *row =
			row_log_event(&uvm.log, UM_EVENT_WORD_THROTTLING, n);

		assert_int_equal(row->device, n == 1 ? UM_HOST : 0);
		assert_int_equal(row->allocation, data);
		assert_int_equal(row->first_page, 0);
		assert_in_range(row->end_ns - row->start_ns, LAPSE_NS - SLACK_NS,
				LAPSE_NS + SLACK_NS);
	}
}

/*
 * get_hint_for_migration_thrashing: throttled ten times (turns 6 to 15), a page is pinned where the
 * privileged processor is, here the host, and the others map it from afar.
 */
static void after_ten_naps_the_page_is_pinned_on_the_host(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	take_turns(data, 0, 20);
	uvm_run(&uvm);
	for (int turn = 6; turn < 16; turn++)
		assert_int_equal(pages_of(turn), 1);
	for (int turn = 16; turn < 20; turn++) {
		expect_moves_at_once(turn, 0);
		assert_int_equal(uvm_device_faults(&uvm, ops[turn]), 0);
		assert_int_equal(uvm_host_faults(&uvm, ops[turn]), 0);
	}
	assert_int_equal(uvm_pages_remote(&uvm, ops[16]), 1);
}

/* thrashing_unpin_pages: after 300 lapses it is unmapped, and migrates as before. */
static void a_pin_ends_after_150_ms(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), early, late;

	(void)state;
	take_turns(data, 0, 16);
	pass_time(140000);
	early = uvm_read(&uvm, data, 0, 1);
	pass_time(20000);
	late = uvm_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, early), 0);
	assert_int_equal(uvm_pages_in(&uvm, late), 1);
}

/* Events further apart than a lapse do not count. */
static void slow_turns_are_no_thrashing(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	for (int turn = 0; turn < 12; turn++) {
		take_turns(data, turn, turn + 1);
		pass_time(510);
	}
	uvm_run(&uvm);
	for (int turn = 0; turn < 12; turn++)
		expect_moves_at_once(turn, 16);
}

/* thrashing_reset_pages_in_region: what the program asks for starts the count anew. */
static void a_prefetch_resets_the_count(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	take_turns(data, 0, 5);
	uvm_prefetch(&uvm, data, 0, BLOCK, UM_HOST);
	take_turns(data, 6, 7);
	uvm_run(&uvm);
	expect_moves_at_once(6, 16);
}

/* Other pages of the block are not held back. */
static void other_pages_do_not_wait(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	take_turns(data, 0, 6);
	op = uvm_read(&uvm, data, 256, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_in(&uvm, op), 16);
	assert_true(uvm.log.ops[op].end_ns - uvm.log.ops[op].start_ns < SLACK_NS);
}

/* thrashing_event_cb: read duplication is no thrashing. */
static void copies_do_not_thrash(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	take_turns(data, 0, 20);
	uvm_run(&uvm);
	for (int turn = 0; turn < 20; turn++)
		assert_true(took_ns(turn) < SLACK_NS);
}

/* uvm_perf_thrashing_enable */
static void without_detection_pages_keep_moving(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	uvm_choose(&uvm, "thrashing_enable: off");
	take_turns(data, 0, MOST);
	uvm_run(&uvm);
	for (int turn = 0; turn < MOST; turn++)
		expect_moves_at_once(turn, 16);
}

/* uvm_perf_thrashing_threshold, _lapse_usec, _nap, _pin_threshold */
static void the_limits_are_parameters(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	take_turns(data, 0, 8);
	uvm_choose(&uvm, "thrashing_threshold: 2");
	uvm_run(&uvm);
	expect_moves_at_once(3, 16);
	expect_moves_at_once(4, 1);
	uvm_choose(&uvm, "thrashing_lapse: 10us");
	uvm_run(&uvm);
	for (int turn = 0; turn < 8; turn++)
		expect_moves_at_once(turn, 16);
	uvm_choose(&uvm, "thrashing_lapse: 200us");
	uvm_run(&uvm);
	assert_in_range(took_ns(6), 200000 - SLACK_NS, 200000 + SLACK_NS);
	uvm_choose(&uvm, "thrashing_pin_threshold: 1");
	uvm_run(&uvm);
	/* throttled in turn 6, the device pins it to itself; the host, that cannot map it, waits for a
	 * nap and takes it, as the one place that both reach */
	assert_int_equal(pages_of(6), 1);
	assert_int_equal(pages_of(7), 1);
}

/*
 * adjust_thrashing_lapse, 590.48: a hint that comes within the lapse makes it longer by an eighth, as
 * a count below zero is compared as an unsigned one. The one of turn 5 makes 562 us of it, so that
 * turn 6, 540 us later, is still one of them, and turn 7 has to wait for its nap, which stays as it
 * was; in 580 turn 6 ends the count.
 */
static void from_590_on_the_lapse_grows(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK);

	(void)state;
	take_turns(data, 0, 6);
	pass_time(538);
	take_turns(data, 6, 8);
	uvm_choose(&uvm, "version: '580'");
	uvm_run(&uvm);
	expect_moves_at_once(6, 1);
	expect_moves_at_once(7, 1);
	uvm_choose(&uvm, "version: '590'");
	uvm_run(&uvm);
	expect_moves_at_once(6, 1);
	assert_int_equal(pages_of(7), 1);
	assert_in_range(took_ns(7), LAPSE_NS - SLACK_NS, LAPSE_NS + SLACK_NS);
	/* given as it is, it is no default and stays */
	uvm_choose(&uvm, "version: '590', thrashing_lapse: 501us");
	uvm_run(&uvm);
	expect_moves_at_once(7, 1);
}

/*
 * block_prep_read_duplicate_mapping: what comes along with a write to a read-mostly block is
 * duplicated, and may be written no more, also what was written there before. block_revoke_cpu_write
 * and block_revoke_prot_gpu_perf_notify: each such loss is an event, two of a device. Page 0 has four
 * when page 1 was written twice, and the host's of pages 2 to 15 come first.
 */
static void lost_rights_to_write_are_events(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), last, read;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	uvm_host_write(&uvm, data, 0, 16);
	uvm_write(&uvm, data, 0, 1);
	uvm_write(&uvm, data, 1, 1);
	uvm_write(&uvm, data, 0, 1);
	last = uvm_write(&uvm, data, 1, 1);
	read = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, last), 1);
	assert_int_equal(pages_that(UM_EVENT_WORD_THRASHING, last), 1);
	assert_int_equal(pages_that(UM_EVENT_WORD_THRASHING, 0), 1);
	assert_int_equal(uvm_pages_out(&uvm, read), 1); /* page 1 does not come along */
}

/* By one processor they are not. */
static void one_processor_alone_does_not_thrash(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), read;

	(void)state;
	fx_advise(&uvm.fx, data, "read_mostly", 0);
	for (int i = 0; i < 4; i++)
		uvm_write(&uvm, data, i % 2, 1);
	read = uvm_host_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(row_log_events(&uvm.log, UM_EVENT_WORD_THRASHING), 0);
	assert_int_equal(uvm_pages_out(&uvm, read), 16);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_page_that_thrashes_moves_alone),
		RULE(the_other_processor_waits_for_a_nap),
		RULE(after_ten_naps_the_page_is_pinned_on_the_host),
		RULE(a_pin_ends_after_150_ms),
		RULE(slow_turns_are_no_thrashing),
		RULE(a_prefetch_resets_the_count),
		RULE(other_pages_do_not_wait),
		RULE(copies_do_not_thrash),
		RULE(lost_rights_to_write_are_events),
		RULE(one_processor_alone_does_not_thrash),
		RULE(without_detection_pages_keep_moving),
		RULE(the_limits_are_parameters),
		RULE(from_590_on_the_lapse_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
