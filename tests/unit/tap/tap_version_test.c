/* The driver's version, out of what it says of itself. */
#include "trace/tap/tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The device's part of the tap calls these, which this test does not get to. */
bool um_tap_put(const struct um_record *record)
{
	return record == NULL;
}

static void expect(const char *text, const char *version)
{
	char path[] = "/tmp/tap_version-XXXXXX", found[32] = "?";
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
	close(file);
	um_tap_driver_version(found, path);
	unlink(path);
	assert_string_equal(found, version);
}

static void as_drivers_write_it(void **state)
{
	(void)state;
	expect("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Nov 11 2025\n"
	       "GCC version:  gcc version 13.3.0\n",
	       "580.159.04");
	expect("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45  Release Build\n",
	       "595.45");
}

static void nothing_there(void **state)
{
	char found[32] = "?";

	(void)state;
	um_tap_driver_version(found, "/nonexistent/version");
	assert_string_equal(found, "");
	expect("", "");
	expect("no digits here\n12.0\n", "");
	expect("x86_64 64 v1.2\n", "");
	expect("111111111111111111.1111111111111111111111111111111\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_drivers_write_it),
		cmocka_unit_test(nothing_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
