/* HSA_XNACK, and what comes of it where a process may choose, or not. */
#include "trace/runtime/process_xnack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* As ROCr reads it: "0" or "1", nothing else counts. */
static const struct {
	const char *value;
	enum um_hsa_xnack read;
} values[] = {
	{NULL, UM_HSA_XNACK_UNSET},	{"", UM_HSA_XNACK_NEITHER},    {"0", UM_HSA_XNACK_0},
	{"1", UM_HSA_XNACK_1},		{"2", UM_HSA_XNACK_NEITHER},   {"on", UM_HSA_XNACK_NEITHER},
	{"true", UM_HSA_XNACK_NEITHER}, {"01", UM_HSA_XNACK_NEITHER},  {" 1", UM_HSA_XNACK_NEITHER},
	{"1 ", UM_HSA_XNACK_NEITHER},	{"yes", UM_HSA_XNACK_NEITHER},
};

static void environment(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].value)
			setenv("HSA_XNACK", values[i].value, 1);
		else
			unsetenv("HSA_XNACK");
		assert_int_equal(um_hsa_xnack(), values[i].read);
	}
}

#define BOTH (UM_XNACK_MAY_TURN_ON | UM_XNACK_MAY_TURN_OFF)

static void choices(void **state)
{
	(void)state;
	/* Each process chooses (gfx90a). */
	assert_false(um_process_xnack(false, BOTH, UM_HSA_XNACK_UNSET));
	assert_false(um_process_xnack(false, BOTH, UM_HSA_XNACK_NEITHER));
	assert_false(um_process_xnack(false, BOTH, UM_HSA_XNACK_0));
	assert_true(um_process_xnack(false, BOTH, UM_HSA_XNACK_1));
	/* Booted without, or never (gfx908, gfx1100): refused, and tolerated. */
	assert_false(um_process_xnack(false, 0, UM_HSA_XNACK_UNSET));
	assert_false(um_process_xnack(false, 0, UM_HSA_XNACK_1));
	/* Booted with noretry=0: a process can still be without. */
	assert_true(um_process_xnack(true, UM_XNACK_MAY_TURN_OFF, UM_HSA_XNACK_UNSET));
	assert_true(um_process_xnack(true, UM_XNACK_MAY_TURN_OFF, UM_HSA_XNACK_NEITHER));
	assert_true(um_process_xnack(true, UM_XNACK_MAY_TURN_OFF, UM_HSA_XNACK_1));
	assert_false(um_process_xnack(true, UM_XNACK_MAY_TURN_OFF, UM_HSA_XNACK_0));
	/* No such switch. */
	assert_true(um_process_xnack(true, 0, UM_HSA_XNACK_0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environment),
		cmocka_unit_test(choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
