#include "trace/tool/verify_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

/* Bytes: predicted to halve; achieved 100 before, `after` behind, with a run of `last` at the end. */
static struct um_verify *make(double after, double last)
{
	struct um_verify *verify = calloc(1, sizeof(*verify));

	verify->repeats = 3;
	verify->tolerance = 0.05;
	verify->time_tolerance = 0.2;
	verify->predicted[0].value[UM_VERIFY_TO_DEVICE] = 200;
	verify->predicted[1].value[UM_VERIFY_TO_DEVICE] = 100;
	for (size_t i = 0; i < 3; i++) {
		verify->achieved[0][i].value[UM_VERIFY_TO_DEVICE] = 100;
		verify->achieved[1][i].value[UM_VERIFY_TO_DEVICE] = i == 2 ? last : after;
	}
	return verify;
}

static void compares_changes(void **state)
{
	struct um_verify *verify = make(52, 52);
	struct um_verify_row row;

	(void)state;
	um_verify_row(&row, verify, UM_VERIFY_TO_DEVICE);
	assert_true(fabs(row.predicted_change - (-0.5)) < 1e-9);
	assert_true(fabs(row.change - (-0.48)) < 1e-9);
	assert_true(fabs(row.missed_by - (0.02)) < 1e-9);
	assert_false(um_verify_is_missed(verify));
	verify->tolerance = 0.01;
	assert_true(um_verify_is_missed(verify));
	free(verify);
}

/* What the runs themselves differ by is no miss. */
static void allows_for_spread(void **state)
{
	struct um_verify *verify = make(70, 45);
	struct um_verify_row row;

	(void)state;
	um_verify_row(&row, verify, UM_VERIFY_TO_DEVICE);
	assert_true(fabs(row.change - (-0.3)) < 1e-9);
	assert_true(fabs(row.least - (-0.55)) < 1e-9);
	assert_true(fabs(row.missed_by - (0)) < 1e-9);
	assert_false(um_verify_is_missed(verify));
	free(verify);
	verify = make(70, 65);
	assert_true(um_verify_is_missed(verify));
	free(verify);
}

/* Faults of a card are fewer than the model's; what was not recorded is not missed. */
static void leaves_out_the_unknown(void **state)
{
	struct um_verify *verify = make(50, 50);
	struct um_verify_row row;

	(void)state;
	verify->predicted[1].value[UM_VERIFY_DEVICE_FAULTS] = 10;
	um_verify_row(&row, verify, UM_VERIFY_DEVICE_FAULTS);
	assert_true(row.is_missed);
	verify->measured = true;
	um_verify_row(&row, verify, UM_VERIFY_DEVICE_FAULTS);
	assert_false(row.is_known);
	assert_false(um_verify_is_missed(verify));
	verify->achieved[1][1].value[UM_VERIFY_TO_DEVICE] = UM_VERIFY_UNKNOWN;
	verify->predicted[1].value[UM_VERIFY_TO_DEVICE] = 0;
	assert_false(um_verify_is_missed(verify));
	free(verify);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares_changes),
		cmocka_unit_test(allows_for_spread),
		cmocka_unit_test(leaves_out_the_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
