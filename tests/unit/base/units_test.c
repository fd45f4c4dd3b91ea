#include "trace/base/error.h"
#include "trace/base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define KIB UINT64_C(1024)

typedef int (*parse_fn)(const char *, uint64_t *);

struct whole_case {
	parse_fn parse;
	const char *text;
	uint64_t expected;
};
static const struct whole_case whole_cases[] = {
	{um_parse_bytes, "0", 0},
	{um_parse_bytes, "0B", 0},
	{um_parse_bytes, "12B", 12},
	{um_parse_page_bytes, "64KiB", 64 * KIB},
	{um_parse_memory_bytes, "1GiB", KIB *KIB *KIB},
	{um_parse_bytes, "64KiB", 64 * KIB},
	{um_parse_bytes, "64 KiB", 64 * KIB},
	{um_parse_bytes, "1.5GiB", 3 * KIB *KIB *KIB / 2},
	{um_parse_bytes, "0.5KiB", 512},
	{um_parse_bytes, ".5KiB", 512},
	{um_parse_bytes, "0.0009765625KiB", 1},
	{um_parse_bytes, "000000000000000000000000000064.000KiB", 64 * KIB},
	{um_parse_bytes, "18446744073709551615B", UINT64_MAX},
	{um_parse_bytes, "16777215TiB", UINT64_C(16777215) << 40},
	{um_parse_duration, "0", 0},
	{um_parse_duration, "20us", 20000},
	{um_parse_duration, "1.5ms", 1500000},
	{um_parse_duration, "2s", UINT64_C(2000000000)},
	{um_parse_u64, "0", 0},
	{um_parse_u64, "18446744073709551615", UINT64_MAX},
};

static void whole_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whole_cases) / sizeof(whole_cases[0]); i++) {
		uint64_t got = 1234567;
		if (whole_cases[i].parse(whole_cases[i].text, &got) != 0)
			fail_msg("%s: %s", whole_cases[i].text, um_error_message());
		assert_true(got == whole_cases[i].expected);
	}
}

struct refusal {
	parse_fn parse;
	const char *text, *message;
};
static const struct refusal refusals[] = {
	{um_parse_bytes, "64KB", "\"64KB\": did you mean 64KiB?"},
	{um_parse_bytes, "64kb", "\"64kb\": did you mean 64KiB?"},
	{um_parse_bytes, "1.5G", "\"1.5G\": did you mean 1.5GiB?"},
	{um_parse_bytes, "64", "\"64\" has no unit: a size is written like 64KiB"},
	{um_parse_bytes, "-64KiB", "\"-64KiB\" is negative"},
	{um_parse_bytes, "", "\"\" is not a size: write it like 64KiB"},
	{um_parse_bytes, "KiB", "\"KiB\" is not a size: write it like 64KiB"},
	{um_parse_bytes, ".KiB", "\".KiB\" is not a size: write it like 64KiB"},
	{um_parse_bytes, "0x10B", "\"0x10B\": unknown unit \"x10B\": a size is written like 64KiB"},
	{um_parse_bytes, "1.KiB", "\"1.KiB\": unknown unit \".KiB\": a size is written like 64KiB"},
	{um_parse_bytes, "1KiBs", "\"1KiBs\": unknown unit \"KiBs\": a size is written like 64KiB"},
	{um_parse_bytes, "0.3B", "\"0.3B\" is not a whole number of bytes"},
	{um_parse_bytes, "18446744073709551616B", "\"18446744073709551616B\" is too large"},
	{um_parse_bytes, "16777216TiB", "\"16777216TiB\" is too large"},
	{um_parse_bytes, "9999999999999999999999999B",
	 "\"9999999999999999999999999B\" has too many digits"},
	{um_parse_duration, "20\xc2\xb5s", "\"20\xc2\xb5s\": did you mean 20us?"},
	{um_parse_page_bytes, "0", "a page of 0 bytes holds nothing"},
	{um_parse_memory_bytes, "0B", "a device without memory runs nothing"},
	{um_parse_memory_bytes, "-1GiB", "\"-1GiB\" is negative"},
	{um_parse_memory_bytes, "1B", "memory: 1B is out of range: it can be 4 KiB to 256 TiB"},
	{um_parse_memory_bytes, "257TiB",
	 "memory: 257TiB is out of range: it can be 4 KiB to 256 TiB"},
	{um_parse_memory_bytes, "5000B", "memory: 5000B is not whole pages of 4 KiB"},
	{um_parse_duration, "0.5ns", "\"0.5ns\" is not a whole number of nanoseconds"},
	{um_parse_u64, "3.5", "\"3.5\" is not a whole number"},
	{um_parse_u64, "7x", "\"7x\" is not a whole number"},
	{um_parse_u64, "-1", "\"-1\" is negative"},
	{um_parse_u64, "+1", "\"+1\" is not a count: write it like 16"},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		uint64_t got = 77;
		if (refusals[i].parse(refusals[i].text, &got) != UM_EINVAL)
			fail_msg("%s is taken", refusals[i].text);
		assert_string_equal(um_error_message(), refusals[i].message);
		assert_int_equal(got, 77);
	}
}

static void bandwidths(void **state)
{
	double got;

	(void)state;
	assert_int_equal(um_parse_bandwidth("12.5GB/s", &got), 0);
	assert_true(got == 12.5e9);
	assert_int_equal(um_parse_bandwidth("1GiB/s", &got), 0);
	assert_true(got == (double)(KIB * KIB * KIB));
	assert_int_equal(um_parse_bandwidth("0", &got), 0);
	assert_true(got == 0);
	assert_int_equal(um_parse_bandwidth("12.5GB", &got), UM_EINVAL);
	assert_string_equal(um_error_message(), "\"12.5GB\": did you mean 12.5GB/s?");
	assert_int_equal(um_parse_bandwidth("-1GB/s", &got), UM_EINVAL);
}

struct format_case {
	char *(*format)(char *, size_t, uint64_t);
	uint64_t value;
	const char *expected;
};
static const struct format_case format_cases[] = {
	{um_format_bytes, 0, "0 B"},
	{um_format_bytes, 12, "12 B"},
	{um_format_bytes, 1023, "1023 B"},
	{um_format_bytes, 1024, "1 KiB"},
	{um_format_bytes, 64 * KIB, "64 KiB"},
	{um_format_bytes, 1536 * KIB *KIB, "1.5 GiB"},
	{um_format_bytes, KIB *KIB - 1, "1 MiB"},
	{um_format_bytes, 1023 * KIB, "1023 KiB"},
	{um_format_bytes, UINT64_MAX, "16777216 TiB"},
	{um_format_duration, 0, "0 ns"},
	{um_format_duration, 999, "999 ns"},
	{um_format_duration, 1250000, "1.25 ms"},
	{um_format_duration, 999999, "1 ms"},
	{um_format_duration, UINT64_C(12345678901234), "12346 s"},
	{um_format_count, 0, "0"},
	{um_format_count, 999, "999"},
	{um_format_count, 1234567, "1,234,567"},
	{um_format_count, UINT64_MAX, "18,446,744,073,709,551,615"},
};

static void formats(void **state)
{
	char buffer[32];

	(void)state;
	for (size_t i = 0; i < sizeof(format_cases) / sizeof(format_cases[0]); i++)
		assert_string_equal(
			format_cases[i].format(buffer, sizeof(buffer), format_cases[i].value),
			format_cases[i].expected);
	assert_string_equal(um_format_bandwidth(buffer, sizeof(buffer), 12.5e9), "12.5 GB/s");
	/* A short buffer holds a short text, still terminated. */
	assert_string_equal(um_format_count(buffer, 4, 1234567), "1,2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_values),
		cmocka_unit_test(refused),
		cmocka_unit_test(bandwidths),
		cmocka_unit_test(formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
