#include "trace/runtime/page_state.h"

#include <hip/hip_runtime_api.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#define PAGES 64

static void prefer(struct um_page_advice *advice, int32_t device)
{
	advice->preferred = device;
}

struct runs {
	int count;
	int32_t device[PAGES];
};

static void note(const struct um_page_advice *advice, void *context)
{
	struct runs *runs = context;

	runs->device[runs->count++] = advice->preferred;
}

static struct runs look(const struct um_page_state *state, uint64_t first, uint64_t pages)
{
	struct runs runs = {0};

	um_page_state_look(state, first, pages, note, &runs);
	return runs;
}

static void test_splits_and_joins(void **unused)
{
	(void)unused;
	struct um_page_state *state = um_page_state_new(PAGES);
	struct runs runs = look(state, 0, PAGES);

	assert_int_equal(runs.count, 1);
	assert_int_equal(runs.device[0], hipInvalidDeviceId);
	assert_true(um_page_state_change(state, 10, 5, prefer, 3));
	runs = look(state, 0, PAGES);
	assert_int_equal(runs.count, 3);
	assert_int_equal(runs.device[1], 3);
	assert_int_equal(look(state, 0, 10).count, 1);
	assert_int_equal(look(state, 9, 2).count, 2);
	assert_int_equal(look(state, 10, 5).count, 1);
	assert_int_equal(look(state, 14, 1).device[0], 3);
	assert_int_equal(look(state, 15, 1).device[0], hipInvalidDeviceId);
	assert_true(um_page_state_change(state, 0, PAGES, prefer, 4));
	assert_int_equal(look(state, 0, PAGES).count, 1);
	um_page_state_free(state);
	um_page_state_free(NULL);
}

/* Against an array of pages, with many changes. */
static void test_against_array(void **unused)
{
	(void)unused;
	struct um_page_state *state = um_page_state_new(PAGES);
	int32_t plain[PAGES];
	unsigned random = 1;

	for (int i = 0; i < PAGES; i++)
		plain[i] = hipInvalidDeviceId;
	for (int round = 0; round < 2000; round++) {
		random = random * 1103515245u + 12345u;
		uint64_t first = (random >> 8) % PAGES,
			 pages = 1 + (random >> 16) % (PAGES - first);
		int32_t device = (int32_t)((random >> 24) % 3);

		assert_true(um_page_state_change(state, first, pages, prefer, device));
		for (uint64_t i = first; i < first + pages; i++)
			plain[i] = device;
		for (uint64_t i = 0; i < PAGES; i++)
			assert_int_equal(look(state, i, 1).device[0], plain[i]);
	}
	um_page_state_free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_splits_and_joins),
		cmocka_unit_test(test_against_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
