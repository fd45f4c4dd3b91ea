#include "trace/base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"machine", "memory", "page_size", "driver", "on"};

static const char *nearest(const char *text)
{
	return um_suggest(text, names, sizeof(names) / sizeof(names[0]), sizeof(names[0]));
}

static void near_and_far(void **state)
{
	(void)state;
	assert_string_equal(nearest("machin"), "machine");
	assert_string_equal(nearest("pagesize"), "page_size");
	assert_string_equal(nearest("page-size"), "page_size");
	assert_string_equal(nearest("dirver"), "driver");
	assert_string_equal(nearest("no"), "on");
	assert_null(nearest("colour"));
	assert_null(nearest(""));
	char longer[200];
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_null(nearest(longer));
}

static void in_structs(void **state)
{
	struct named {
		int value;
		const char *name;
	};
	static const struct named things[] = {{1, "alpha"}, {2, "beta"}};

	(void)state;
	assert_string_equal(um_suggest("betta", &things[0].name, 2, sizeof(things[0])), "beta");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_and_far),
		cmocka_unit_test(in_structs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
