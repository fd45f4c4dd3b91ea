/* What holds of every driver model that there is (registry.c), on one program each. */
#include "trace_fixture.h"

#include "sim/driver/driver.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PAGES 1024

static struct trace_fixture fx;
static struct um_totals totals[2];
static const struct um_driver_ops *driver;

static void each_driver(void (*check)(void))
{
	size_t count;
	const struct um_driver_ops *const *drivers = um_driver_registry(&count);

	assert_true(count >= 4);
	for (size_t i = 0; i < count; i++) {
		char text[160];

		fx_open(&fx);
		fx.machine.xnack = UM_XNACK_PROCESS;
		driver = drivers[i];
		snprintf(text, sizeof(text), "driver: {name: %s}\nmemory: 64MiB\n", driver->name);
		fx_policy(&fx, text);
		check();
		fx_close(&fx);
	}
}

/* The host writes, a kernel reads and writes, the host reads. */
static int64_t put_program(void)
{
	int64_t data = fx_alloc(&fx, "managed", PAGES * PAGE);

	fx_host(&fx, data, 0, PAGES, UM_TOUCH_WRITTEN);
	fx_launch(&fx, "k", 4, 0);
	for (uint64_t group = 0; group < 4; group++)
		fx_touch_range(&fx, group, data, (int64_t)group * PAGES / 4, PAGES / 4, true);
	fx_lines(&fx, data, 0, PAGES, UM_TOUCH_READ | UM_TOUCH_WRITTEN, UINT64_MAX, UINT64_MAX);
	fx_launch_end(&fx);
	fx_sync(&fx);
	fx_host(&fx, data, 0, PAGES, UM_TOUCH_READ);
	return data;
}

static void check_words(void)
{
	assert_true(*driver->summary && *driver->validated);
	assert_ptr_equal(um_driver_find(driver->name), driver);
	assert_true(driver->default_page_bytes >= UM_PAGE_BYTES);
	for (const struct um_param *param = driver->params; param->name; param++) {
		struct um_param_value value;

		assert_true(*param->help);
		assert_int_equal(um_param_default(&value, param), 0);
	}
}

static void every_driver_says_what_it_is(void **state)
{
	(void)state;
	each_driver(check_words);
}

/* All of it gets there, and is back when the host reads it. */
static void check_traffic(void)
{
	fx_free(&fx, put_program());
	for (size_t i = 0; i < 2; i++) {
		fx_run(&fx);
		totals[i] = fx.totals;
	}
	assert_memory_equal(&totals[0], &totals[1], sizeof(totals[0]));
	if (fx.totals.bytes_to_device != (uint64_t)PAGES * PAGE ||
	    fx.totals.bytes_to_host != (uint64_t)PAGES * PAGE)
		fail_msg("%s: %llu bytes to the device, %llu to the host", driver->name,
			 (unsigned long long)fx.totals.bytes_to_device,
			 (unsigned long long)fx.totals.bytes_to_host);
	assert_true(fx.totals.end_ns >= PAGES * PAGE_NS); /* both ways at once, at best */
}

static void every_driver_brings_what_is_accessed_and_repeats_itself(void **state)
{
	(void)state;
	each_driver(check_traffic);
}

static void check_refusal(void)
{
	put_program();
	fx_alloc(&fx, "device", 65ll << 20);
	assert_int_equal(fx_simulate(&fx), UM_ELIMIT);
	assert_non_null(strstr(um_error_message(), "hipErrorOutOfMemory"));
}

static void every_driver_refuses_what_never_fits(void **state)
{
	(void)state;
	each_driver(check_refusal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_driver_says_what_it_is),
		cmocka_unit_test(every_driver_brings_what_is_accessed_and_repeats_itself),
		cmocka_unit_test(every_driver_refuses_what_never_fits),
	};

	return cmocka_run_group_tests_name("driver_registry", tests, NULL, NULL);
}
