/* What of a driver model's settings a summary shows. */
#include "analyzer/render/summary_settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *driver, const char *parameters, const char *expected)
{
	char *text = um_summary_settings_text(driver, parameters);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void only_what_differs(void **state)
{
	(void)state;
	expect("nvidia_uvm", "{\"prefetch_threshold\":\"51\",\"page_time\":\"4us\"}",
	       "page_time 4us; 1 is the model's default (-f json tells all)");
}

static void equal_quantities_are_equal(void **state)
{
	(void)state;
	expect("amdgpu_svm", "{\"fault_service\":\"100000ns\",\"hmm\":\"yes\"}",
	       "2 are the model's defaults (-f json tells all)");
	expect("amdgpu_svm", "{\"fault_service\":\"101us\"}", "fault_service 101us");
}

/* Of another version, or of a file from anyone. */
static void what_is_not_known_is_shown(void **state)
{
	(void)state;
	expect("amdgpu_svm", "{\"new_one\":\"1\",\"hmm\":\"perhaps\",\"hive\":true}",
	       "new_one 1, hmm perhaps, hive true");
	expect("another", "{\"hmm\":\"on\"}", "hmm on");
	expect(NULL, "{\"hmm\":\"on\"}", "hmm on");
}

static void nothing_of_nothing(void **state)
{
	(void)state;
	expect("amdgpu_svm", "{}", NULL);
	expect("amdgpu_svm", "[\"hmm\"]", NULL);
	expect("amdgpu_svm", "hmm on", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_differs),
		cmocka_unit_test(equal_quantities_are_equal),
		cmocka_unit_test(what_is_not_known_is_shown),
		cmocka_unit_test(nothing_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
