#include "trace/base/kernel_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct name_case {
	const char *demangled, *name, *bare;
};
static const struct name_case cases[] = {
	{"scale(float*, int)", "scale", "scale"},
	{"scale", "scale", "scale"},
	{"void scale<float>(float*, int)", "scale<float>", "scale"},
	{"void f<T<int (*)(int)> >(int)", "f<T<int (*)(int)> >", "f"},
	{"(anonymous namespace)::k(int)", "(anonymous namespace)::k", "(anonymous namespace)::k"},
	{"void n::f<(anonymous namespace)::T>(int)", "n::f<(anonymous namespace)::T>", "n::f"},
	{"", "", ""},
	{"(", "", ""},
	{">", ">", ">"},
	{"voidness(int)", "voidness", "voidness"},
};

static void names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct um_kernel_name got = um_kernel_name(cases[i].demangled);
		assert_int_equal(got.length, strlen(cases[i].name));
		assert_memory_equal(got.start, cases[i].name, got.length);
		assert_int_equal(got.bare_length, strlen(cases[i].bare));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
