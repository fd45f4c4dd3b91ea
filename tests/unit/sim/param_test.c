#include "sim/machine/param.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const orders[] = {"fault", "random", NULL};
static const struct um_param duration = {"service", UM_PARAM_DURATION, 1000, 1e9, "20us",
					 NULL,	    "of a batch"};
static const struct um_param count = {"batch", UM_PARAM_COUNT, 1, 256, "32", NULL, "faults"};
static const struct um_param bytes = {"window", UM_PARAM_BYTES, 4096,	1 << 30,
				      "2MiB",	NULL,		"bytes"};
static const struct um_param real = {"share", UM_PARAM_REAL, 0, 1, "0.51", NULL, "of a block"};
static const struct um_param boolean = {"xnack", UM_PARAM_BOOL, 0, 0, "on", NULL, "retry"};
static const struct um_param choice = {"order", UM_PARAM_CHOICE, 0, 0, "fault", orders, "order"};

struct value_case {
	const struct um_param *param;
	const char *text;
	uint64_t integer;
	const char *canonical;
};
static const struct value_case values[] = {
	{&duration, "1500ns", 1500, "1500ns"}, {&duration, "0.5ms", 500000, "500us"},
	{&count, "256", 256, "256"},	       {&bytes, "0.5MiB", 1 << 19, "512KiB"},
	{&bytes, "4097B", 4097, "4097B"},      {&boolean, "yes", 1, "on"},
	{&boolean, "false", 0, "off"},	       {&choice, "random", 1, "random"},
};

static void taken(void **state)
{
	struct um_param_value value, again;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_int_equal(um_param_parse(&value, values[i].param, values[i].text), 0);
		assert_true(value.integer == values[i].integer);
		assert_ptr_equal(value.param, values[i].param);
		assert_string_equal(um_param_text(text, sizeof(text), &value), values[i].canonical);
		assert_int_equal(um_param_parse(&again, values[i].param, text), 0);
		assert_true(again.integer == value.integer);
	}
}

static void reals(void **state)
{
	static const char *const texts[] = {"0.51", "1e-07", "0.3333333333333333", "0", "1"};
	struct um_param_value value, again;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(um_param_parse(&value, &real, texts[i]), 0);
		assert_int_equal(
			um_param_parse(&again, &real, um_param_text(text, sizeof(text), &value)),
			0);
		assert_true(again.real == value.real);
	}
	assert_int_equal(um_param_default(&value, &real), 0);
	assert_true(value.real == 0.51);
}

struct refusal {
	const struct um_param *param;
	const char *text, *message;
};
static const struct refusal refusals[] = {
	{&duration, "999ns", "service: 999ns is out of range: it can be 1 us to 1 s"},
	{&duration, "20", "service: \"20\" has no unit: a time is written like 20us"},
	{&count, "257", "batch: 257 is out of range: it can be 1 to 256"},
	{&count, "many", "batch: \"many\" is not a count: write it like 16"},
	{&bytes, "64KB", "window: \"64KB\": did you mean 64KiB?"},
	{&real, "1.5", "share: 1.5 is out of range: it can be 0 to 1"},
	{&real, "-0.5", "share: -0.5 is out of range: it can be 0 to 1"},
	{&real, "nan", "share: \"nan\" is not a number"},
	{&real, "0x1", "share: \"0x1\" is not a number"},
	{&real, "", "share: \"\" is not a number"},
	{&boolean, "1", "xnack: \"1\" is neither on nor off"},
	{&choice, "Fault", "order: \"Fault\" is none of fault, random"},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct um_param_value value = {.integer = 77};
		if (um_param_parse(&value, refusals[i].param, refusals[i].text) != UM_EINVAL)
			fail_msg("%s: taken", refusals[i].text);
		assert_string_equal(um_error_message(), refusals[i].message);
		assert_int_equal(value.integer, 77);
	}
}

static void found_by_name(void **state)
{
	const struct um_param params[] = {count, boolean, {.name = NULL}};
	struct um_param_value found[2];
	char text[16];

	(void)state;
	assert_int_equal(um_param_default(&found[0], &params[0]), 0);
	assert_int_equal(um_param_default(&found[1], &params[1]), 0);
	assert_ptr_equal(um_param_find(found, params, "xnack"), &found[1]);
	assert_string_equal(um_param_text(text, sizeof(text), &found[1]), "on");
	assert_null(um_param_find(found, params, "xnac"));
	assert_null(um_param_find(NULL, NULL, "xnack"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),
		cmocka_unit_test(reals),
		cmocka_unit_test(refused),
		cmocka_unit_test(found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
