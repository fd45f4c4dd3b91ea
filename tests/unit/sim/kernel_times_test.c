/* What kernels compute for: as measured, by name and shape, else by the roofline, which can be scaled. */
#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct trace_fixture fx, card;
static struct um_kernel_times *times;

static int open_traces(void **state)
{
	(void)state;
	fx_open(&fx);
	fx_open(&card);
	fx.machine.memory_bytes_per_s = 1e9; /* a byte a ns */
	return 0;
}

static int close_traces(void **state)
{
	(void)state;
	um_kernel_times_destroy(times);
	times = NULL;
	fx_close(&card);
	fx_close(&fx);
	return 0;
}

static void set_counts(const struct trace_fixture *of, int64_t op, int64_t reads, int64_t bytes)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "UPDATE kernel SET reads = %lld, bytes_read = %lld WHERE op = %lld",
		 (long long)reads, (long long)bytes, (long long)op);
	assert_int_equal(um_db_exec(of->db, text), 0);
}

static int64_t put_kernel(struct trace_fixture *in, const char *name, int64_t groups)
{
	int64_t op = fx_launch(in, name, groups, 0);

	fx_launch_end(in);
	return op;
}

static void put_measured(const char *name, int64_t groups, int64_t ns)
{
	int64_t op = put_kernel(&card, name, groups);
	char text[160];

	snprintf(text, sizeof(text),
		 "UPDATE op SET start_ns = 1000, end_ns = 1000 + %lld WHERE op = %lld",
		 (long long)ns, (long long)op);
	assert_int_equal(um_db_exec(card.db, text), 0);
}

static void say_measured(void)
{
	assert_int_equal(um_db_exec(card.db, "INSERT INTO origin (record, origin, clock) VALUES "
					     "('op.time', 'measured', 'run'); INSERT INTO device "
					     "(device, name) VALUES (0, 'A card')"),
			 0);
}

static uint64_t end_of_run(void)
{
	fx_run(&fx);
	return fx.totals.end_ns;
}

static void the_longer_of_bytes_and_accesses_is_what_it_takes(void **state)
{
	(void)state;
	set_counts(&fx, put_kernel(&fx, "k", 1), 5000, 40000);
	assert_int_equal(end_of_run(), 40000);
	fx.machine.accesses_per_s = 1e9; /* one a ns */
	assert_int_equal(end_of_run(), 40000);
	fx.machine.accesses_per_s = 1e8;
	assert_int_equal(end_of_run(), 50000);
}

static void estimates_can_be_half_and_double(void **state)
{
	(void)state;
	set_counts(&fx, put_kernel(&fx, "k", 1), 1, 40000);
	fx.estimate_scale = 0.5;
	assert_int_equal(end_of_run(), 20000);
	fx.estimate_scale = 2;
	assert_int_equal(end_of_run(), 80000);
}

static void the_shortest_launch_alike_is_what_it_computes(void **state)
{
	(void)state;
	put_measured("void k<int>(int const*)", 4, 900);
	put_measured("void k<int>(int const*)", 4, 700);
	put_measured("void k<int>(int const*)", 4, 800);
	put_measured("void k<int>(int const*)", 5, 100);
	say_measured();
	assert_int_equal(um_kernel_times_load(&times, card.path), 0);
	assert_string_equal(um_kernel_times_device(times), "A card");
	assert_string_equal(um_kernel_times_path(times), card.path);
	fx.kernel_times = times;
	set_counts(&fx, put_kernel(&fx, "void k<int>(const int*)", 4), 1, 40000);
	assert_int_equal(end_of_run(), 700);
	fx.estimate_scale = 2; /* it is none */
	assert_int_equal(end_of_run(), 700);
	assert_string_equal(fx.ignored, "");
}

static void what_was_not_measured_is_estimated_and_said(void **state)
{
	(void)state;
	put_measured("k", 4, 900);
	say_measured();
	assert_int_equal(um_kernel_times_load(&times, card.path), 0);
	fx.kernel_times = times;
	set_counts(&fx, put_kernel(&fx, "other", 4), 1, 300);
	set_counts(&fx, put_kernel(&fx, "k", 5), 1, 300);
	assert_int_equal(end_of_run(), 600);
	assert_string_equal(fx.ignored, "measured compute times of some kernels");
}

static void a_trace_without_measured_times_is_refused(void **state)
{
	(void)state;
	put_measured("k", 4, 900);
	assert_int_equal(um_kernel_times_load(&times, card.path), UM_ENOTSUP);
	assert_non_null(strstr(um_error_message(), "no times of kernels"));
	assert_int_equal(um_kernel_times_load(&times, "/nowhere"), UM_ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_traces, close_traces)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_longer_of_bytes_and_accesses_is_what_it_takes),
		TEST(estimates_can_be_half_and_double),
		TEST(the_shortest_launch_alike_is_what_it_computes),
		TEST(what_was_not_measured_is_estimated_and_said),
		TEST(a_trace_without_measured_times_is_refused),
	};

	return cmocka_run_group_tests_name("kernel_times", tests, NULL, NULL);
}
