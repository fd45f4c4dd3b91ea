/* What the host has waited for, by HIP's rules of streams and events. */
#include "analyzer/findings/sync_order.h"
#include "trace/db/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct um_fact_op call(int kind, int64_t stream, int64_t event)
{
	return (struct um_fact_op){.kind = kind, .stream = stream, .event = event, .value = 0};
}

/* Passes a call that is no work in flight. */
static void pass(struct um_sync_order *order, struct um_fact_op op)
{
	struct um_sync_work work;

	assert_int_equal(um_sync_order_pass(order, &op, &work), 0);
}

static struct um_sync_work launch(struct um_sync_order *order, int64_t stream)
{
	struct um_fact_op op = call(UM_OP_LAUNCH, stream, 0);
	struct um_sync_work work;

	op.flags = UM_OP_ASYNC;
	assert_int_equal(um_sync_order_pass(order, &op, &work), 1);
	return work;
}

static void make_stream(struct um_sync_order *order, int64_t stream, bool is_blocking)
{
	struct um_fact_op op = call(UM_OP_STREAM_CREATE, stream, 0);

	op.flags = is_blocking ? 0 : UM_OP_NON_BLOCKING;
	pass(order, op);
}

static struct um_sync_order *make(bool queries_told)
{
	struct um_sync_order *order;

	assert_int_equal(um_sync_order_create(&order, queries_told), 0);
	make_stream(order, 1, false);
	make_stream(order, 2, false);
	make_stream(order, 3, true);
	return order;
}

static void test_waits(void **state)
{
	static const int waits[] = {UM_OP_SYNC_DEVICE, UM_OP_SYNC_STREAM, UM_OP_FREE,
				    UM_OP_CALLBACK, UM_OP_COPY};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		struct um_sync_order *order = make(true);
		struct um_sync_work work = launch(order, 1);

		assert_false(um_sync_order_is_done(order, work));
		pass(order, call(waits[i], 1, 0));
		assert_true(um_sync_order_is_done(order, work));
		assert_false(um_sync_order_is_done(order, launch(order, 1)));
		um_sync_order_destroy(order);
	}
}

static void test_other_stream(void **state)
{
	struct um_sync_order *order = make(true);
	struct um_sync_work work = launch(order, 1);

	(void)state;
	pass(order, call(UM_OP_SYNC_STREAM, 2, 0));
	pass(order, call(UM_OP_STREAM_DESTROY, 1, 0));
	assert_false(um_sync_order_is_done(order, work));
	um_sync_order_destroy(order);
}

/* Through an event that another stream waits for. */
static void test_events(void **state)
{
	struct um_sync_order *order = make(true);
	struct um_sync_work before = launch(order, 1), after;

	(void)state;
	pass(order, call(UM_OP_EVENT_RECORD, 1, 7));
	after = launch(order, 1);
	assert_false(um_sync_order_is_done(order, before));
	pass(order, call(UM_OP_STREAM_WAIT, 2, 7));
	pass(order, call(UM_OP_SYNC_STREAM, 2, 0));
	assert_true(um_sync_order_is_done(order, before));
	assert_false(um_sync_order_is_done(order, after));
	pass(order, call(UM_OP_EVENT_RECORD, 1, 7));
	pass(order, call(UM_OP_EVENT_SYNC, 0, 7));
	assert_true(um_sync_order_is_done(order, after));
	um_sync_order_destroy(order);
}

static void test_null_stream(void **state)
{
	struct um_sync_order *order = make(true);
	struct um_sync_work blocking = launch(order, 3), other = launch(order, 1);

	(void)state;
	pass(order, call(UM_OP_COPY, 0, 0));
	assert_true(um_sync_order_is_done(order, blocking));
	assert_false(um_sync_order_is_done(order, other));
	um_sync_order_destroy(order);
}

static void test_queries(void **state)
{
	struct um_sync_order *order = make(true), *older = make(false);
	struct um_sync_work work = launch(order, 1), in_older = launch(older, 1);
	int event_query = um_word_code(um_op_words, "event_query");

	(void)state;
	assert_true(event_query > 0);
	pass(order, call(UM_OP_EVENT_RECORD, 1, 7));
	assert_false(um_sync_order_is_done(order, work));
	pass(order, call(event_query, 0, 7));
	assert_true(um_sync_order_is_done(order, work));
	/* A trace without queries: whoever records an event is taken to ask for it. */
	pass(older, call(UM_OP_EVENT_RECORD, 1, 7));
	assert_true(um_sync_order_is_done(older, in_older));
	um_sync_order_destroy(older);
	um_sync_order_destroy(order);
}

static void test_failed(void **state)
{
	struct um_sync_order *order = make(true);
	struct um_sync_work work = launch(order, 1);
	struct um_fact_op failed = call(UM_OP_SYNC_DEVICE, 0, 0);

	(void)state;
	failed.result = 719;
	pass(order, failed);
	assert_false(um_sync_order_is_done(order, work));
	um_sync_order_destroy(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),	cmocka_unit_test(test_other_stream),
		cmocka_unit_test(test_events),	cmocka_unit_test(test_null_stream),
		cmocka_unit_test(test_queries), cmocka_unit_test(test_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
