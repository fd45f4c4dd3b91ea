/* The variables that a trace keeps. */
#include "trace/tool/run_context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *const *environment, const char *text)
{
	struct um_run_row run = {0};
	char *got;

	assert_int_equal(um_run_context(&run, &got, (char *const *)environment), 0);
	assert_string_equal(run.environment, text);
	free(got);
}

#define EXPECT(text, ...) expect((const char *const[]){__VA_ARGS__, NULL}, text)

static void variables_that_matter_are_kept(void **state)
{
	(void)state;
	EXPECT("{\"HIP_VISIBLE_DEVICES\":\"0,1\",\"HSA_XNACK\":\"1\"}", "PATH=/bin", "HSA_XNACK=1",
	       "AHSA_=2", "HSA_WITHOUT", "HIP_VISIBLE_DEVICES=0,1");
	EXPECT("{}", "HSA_NAME=\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_that_matter_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
