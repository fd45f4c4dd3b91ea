/* Rules of a policy against a program: what they change, and when. */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct trace_fixture fx;
static struct um_rule rules[4];

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	memset(rules, 0, sizeof(rules));
	fx.policy.rules = rules;
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static void put_reader(const char *name, int64_t allocation, int64_t pages)
{
	fx_launch(&fx, name, 1, 0);
	fx_touch_range(&fx, 0, allocation, 0, pages, false);
	fx_lines(&fx, allocation, 0, pages, UM_TOUCH_READ, UINT64_MAX, 0);
	fx_launch_end(&fx);
}

static int64_t put_data(int64_t pages)
{
	int64_t allocation = fx_alloc(&fx, "managed", pages * PAGE);

	fx_host(&fx, allocation, 0, pages, UM_TOUCH_WRITTEN);
	return allocation;
}

static void advice_at_allocation(void **state)
{
	int64_t data = put_data(32), other = put_data(32);

	(void)state;
	put_reader("k", data, 32);
	put_reader("k", other, 32);
	rules[0] = (struct um_rule){.line = 3,
				    .on = {.index = 1},
				    .has_preferred_location = true,
				    .preferred_location = UM_HOST};
	fx.policy.rule_count = 1;
	fx_run(&fx);
	assert_int_equal(fx.totals.remote_lines_read, 32 * 64);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_DEVICE_FAULT], 32 * PAGE);
}

static void advice_on_a_range_of_bytes(void **state)
{
	int64_t data = put_data(32);

	(void)state;
	put_reader("k", data, 32);
	rules[0] = (struct um_rule){
		.line = 3,
		.on = {.has_range = true, .range_start = 4 * PAGE, .range_end = 10 * PAGE},
		.accessed_by = 1};
	fx.policy.rule_count = 1;
	fx_run(&fx);
	assert_int_equal(fx.totals.remote_lines_read, 6 * 64);
	assert_int_equal(fx.totals.device_faults, 26);
}

static void later_rules_win(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	put_reader("k", data, 8);
	rules[0] = (struct um_rule){
		.line = 1, .has_preferred_location = true, .preferred_location = UM_HOST};
	rules[1] = (struct um_rule){
		.line = 2, .has_preferred_location = true, .preferred_location = 0};
	fx.policy.rule_count = 2;
	fx_run(&fx);
	assert_int_equal(fx.totals.remote_lines_read, 0);
	assert_int_equal(fx.totals.bytes_to_device, 8 * PAGE);
}

static void prefetch_before_a_launch(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	put_reader("first(float*)", data, 4);
	put_reader("second(float*)", data, 8);
	rules[0] = (struct um_rule){
		.line = 1, .is_prefetch = true, .to = 0, .at = {.before = (char *)"second"}};
	fx.policy.rule_count = 1;
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 4);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_PREFETCH], 4 * PAGE);

	rules[0].at.ahead = 1; /* before the first as well */
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 0);
	rules[0].own_stream = true; /* runs beside; the kernel waits for what is on its way */
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 0);
	assert_int_equal(fx.totals.end_ns, LATENCY_NS + 8 * PAGE_NS);
}

static void only_the_nth_launch(void **state)
{
	int64_t data = put_data(8);

	(void)state;
	for (int i = 0; i < 3; i++) {
		put_reader("k", data, 8);
		fx_sync(&fx);
		fx_host(&fx, data, 0, 8, UM_TOUCH_READ);
	}
	rules[0] = (struct um_rule){
		.line = 1, .is_prefetch = true, .to = 0, .at = {.before = (char *)"k", .nth = 2}};
	fx.policy.rule_count = 1;
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 16);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_PREFETCH], 8 * PAGE);
	rules[0].at.nth = 0;
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 0);
}

static void another_kind_of_allocation(void **state)
{
	int64_t data = fx_alloc(&fx, "managed", 8 * PAGE);

	(void)state;
	put_reader("k", data, 8);
	rules[0] = (struct um_rule){.line = 1, .allocate_as = (char *)"device"};
	fx.policy.rule_count = 1;
	fx_run(&fx);
	assert_int_equal(fx.totals.device_faults, 0);
	assert_int_equal(fx.totals.bytes_to_device, 0);
	rules[0].allocate_as = (char *)"pinned";
	fx_run(&fx);
	assert_int_equal(fx.totals.remote_lines_read, 8 * 64);
	fx_host(&fx, data, 0, 1, UM_TOUCH_READ);
	rules[0].allocate_as = (char *)"device";
	assert_int_equal(fx_simulate(&fx), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), "the policy makes device memory"));
}

static void rules_that_match_nothing_are_errors(void **state)
{
	static const struct um_rule wrong[] = {
		{.line = 7, .on = {.index = 2}, .accessed_by = 1},
		{.line = 7, .on = {.kind = (char *)"pinned"}, .accessed_by = 1},
		{.line = 7, .is_prefetch = true, .at = {.before = (char *)"other"}},
		{.line = 7, .is_prefetch = true, .at = {.before = (char *)"k", .nth = 2}},
		{.line = 7, .on = {.site = (char *)"b.cpp:*"}, .accessed_by = 1},
	};
	int64_t data = put_data(8);

	(void)state;
	put_reader("k", data, 8);
	fx.policy.path = (char *)"x.yaml";
	fx.policy.rule_count = 1;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		rules[0] = wrong[i];
		assert_int_equal(fx_simulate(&fx), UM_EINVAL);
		assert_non_null(strstr(um_error_message(), "x.yaml:7: "));
	}
}

static void rules_find_sites(void **state)
{
	static const char *const sites[] = {"a.cpp:12", "make_data", "lib.so+0x40", "*.cpp:1?"};
	struct um_site_row site = {1, UM_NULL};
	struct um_frame_row frame = {.site = 1,
				     .module = "/opt/lib.so",
				     .offset_bytes = 0x40,
				     .function = "make_data",
				     .file = "/src/a.cpp",
				     .line = 12};
	int64_t data = put_data(8);

	(void)state;
	put_reader("k", data, 8);
	assert_int_equal(um_db_insert(fx.db, &um_table_site, &site), 0);
	assert_int_equal(um_db_insert(fx.db, &um_table_frame, &frame), 0);
	assert_int_equal(um_db_exec(fx.db, "UPDATE allocation SET site = 1"), 0);
	fx.policy.rule_count = 1;
	for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++) {
		rules[0] = (struct um_rule){
			.line = 1, .on = {.site = (char *)sites[i]}, .accessed_by = 1};
		fx_run(&fx);
		assert_int_equal(fx.totals.device_faults, 0);
	}
}

static void a_rule_skips_what_is_not_alive(void **state)
{
	int64_t early = put_data(8), late;

	(void)state;
	put_reader("k", early, 8);
	fx_free(&fx, early);
	late = put_data(8);
	put_reader("k", late, 8);
	rules[0] = (struct um_rule){
		.line = 1, .is_prefetch = true, .at = {.before = (char *)"k", .ahead = 1}};
	fx.policy.rule_count = 1;
	fx_run(&fx); /* `late` cannot be prefetched a launch ahead: it is when it lives */
	assert_int_equal(fx.totals.device_faults, 0);
	assert_int_equal(fx.totals.migrated_to_device[UM_CAUSE_PREFETCH], 16 * PAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(advice_at_allocation),
		TEST(advice_on_a_range_of_bytes),
		TEST(later_rules_win),
		TEST(prefetch_before_a_launch),
		TEST(only_the_nth_launch),
		TEST(another_kind_of_allocation),
		TEST(rules_that_match_nothing_are_errors),
		TEST(rules_find_sites),
		TEST(a_rule_skips_what_is_not_alive),
	};

	return cmocka_run_group_tests_name("player", tests, NULL, NULL);
}
