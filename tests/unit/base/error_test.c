#include "trace/base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void messages(void **state)
{
	(void)state;
	assert_int_equal(um_fail(UM_EFORMAT, "bad %d", 7), UM_EFORMAT);
	assert_string_equal(um_error_message(), "bad 7");
	errno = ENOENT;
	assert_int_equal(um_fail_errno(UM_ENOENT, "%s", "x.yaml"), UM_ENOENT);
	assert_string_equal(um_error_message(), "x.yaml: No such file or directory");
	um_fail_at(UM_EINVAL, "p.yaml", 3, 0, "no");
	assert_string_equal(um_error_message(), "p.yaml:3: no");
}

static void a_message_within_a_message(void **state)
{
	(void)state;
	um_fail(UM_EINVAL, "inner");
	um_fail_at(UM_EINVAL, "p.yaml", 3, 9, "memory: %s", um_error_message());
	assert_string_equal(um_error_message(), "p.yaml:3:9: memory: inner");
}

static void harmless_and_bounded(void **state)
{
	char longer[3000];

	(void)state;
	um_fail(UM_EINVAL, "%s", "a\x1b[2Jb\rc");
	assert_string_equal(um_error_message(), "a?[2Jb?c");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	um_fail_at(UM_EINVAL, longer, 1, 1, "%s", longer);
	assert_int_equal(strlen(um_error_message()), 1023);
}

static void exit_statuses(void **state)
{
	(void)state;
	assert_int_equal(um_exit_status(0), 0);
	assert_int_equal(um_exit_status(UM_EFORMAT), 1);
	assert_int_equal(um_exit_status(UM_EINVAL), 2);
	assert_int_equal(um_exit_status(UM_ECHECK), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(a_message_within_a_message),
		cmocka_unit_test(harmless_and_bounded),
		cmocka_unit_test(exit_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
