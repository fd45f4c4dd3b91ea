/* Functions as people write them. */
#include "trace/tool/source_function.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names(void **state)
{
	static const struct {
		const char *name, *linkage, *expected;
	} cases[] = {
		{"main", NULL, "main"},
		{"main", "main", "main"},
		{"make", "_ZL4makem", "make"},
		{"make<float>", "_Z4makeIfEPT_m", "make<float>"},
		{"allocate", "_ZN2um9allocatorIfE8allocateEm", "um::allocator<float>::allocate"},
		{"buffer", "_ZN2um6bufferC2Em", "um::buffer::buffer"},
		{"buffer", "_ZN2um6bufferC4Em", "um::buffer::buffer"},
		{"~buffer", "_ZN2um6bufferD1Ev", "um::buffer::~buffer"},
		{"hidden", "_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden"},
		{"operator()", "_ZZ4mainENKUlvE_clEv", "operator()"},
		{"get<std::pair<int, int> >", "_ZN1n3getISt4pairIiiEEET_v",
		 "n::get<std::pair<int, int> >"},
		/* That do not fit, or are none. */
		{"other", "_ZL4makem", "other"},
		{"", "_ZL4makem", ""},
		{"make", "_Z", "make"},
		{"make", "_ZN", "make"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *name = um_source_function_name(cases[i].name, cases[i].linkage);

		assert_string_equal(name, cases[i].expected);
		free(name);
	}
}

static void symbols(void **state)
{
	static const struct {
		const char *symbol, *expected;
	} cases[] = {
		{"main", "main"},
		{"_ZL4makem", "make"},
		{"_Z4makeIfEPT_m", "make<float>"},
		{"_Z8fill_allIfEvPT_i", "fill_all<float>"},
		{"_ZN2um9allocatorIfE8allocateEm", "um::allocator<float>::allocate"},
		{"_Znwm", "operator new"},
		{"_Z", "_Z"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *name = um_source_symbol_name(cases[i].symbol);

		assert_string_equal(name, cases[i].expected);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(symbols)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
