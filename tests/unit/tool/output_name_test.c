/* Names of traces, and the command that launchers' users are told. */
#include "trace/tool/launcher.h"
#include "trace/tool/output_name.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct um_job_rank no_job = {.rank = UM_NULL, .ranks = UM_NULL};
static const struct um_job_rank third = {.rank = 2, .ranks = 4};
static const struct um_job_rank only = {.rank = 0, .ranks = 1};

static void expect_name(const char *pattern, const struct um_job_rank *rank, const char *wanted)
{
	const struct um_output_place place = {"a/node", 4711, rank};
	char *name;

	assert_int_equal(um_output_pattern_check(pattern), 0);
	assert_int_equal(um_output_name(&name, pattern, &place), 0);
	assert_string_equal(name, wanted);
	free(name);
}

static void patterns_become_names(void **state)
{
	(void)state;
	expect_name("plain.um.db", &third, "plain.um.db");
	expect_name("t.%h.%p.%r.um.db", &third, "t.a_node.4711.2.um.db");
	expect_name("%r%r/%%r%%", &third, "22/%r%");
	expect_name("%r", &no_job, "0");
}

static void refused(const char *pattern, const char *part)
{
	assert_int_equal(um_output_pattern_check(pattern), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), part));
}

static void unknown_letters_are_refused(void **state)
{
	(void)state;
	refused("a%q.um.db", "no %q is known");
	refused("%R", "%r (rank)");
	refused("50%", "ends in a single %");
	refused("%%%", "ends in a single %");
	refused("%d", "%% (a percent sign)");
}

static void expect_default(const char *program, const struct um_job_rank *rank, const char *wanted)
{
	const struct um_output_place place = {"node", 1, rank};
	char *pattern, *name;

	assert_int_equal(um_output_default(&pattern, program, NULL, rank), 0);
	assert_int_equal(um_output_name(&name, pattern, &place), 0);
	assert_string_equal(name, wanted);
	free(pattern);
	free(name);
}

static void the_default_keeps_ranks_apart(void **state)
{
	(void)state;
	expect_default("./dir/app", &no_job, "app.um.db");
	expect_default("app", &only, "app.um.db");
	expect_default("app", &third, "app.2.um.db");
	expect_default("/x/50%r", &third, "50%r.2.um.db");
}

static void expect_glob(const char *pattern, const char *wanted)
{
	char *glob = um_output_glob(pattern);

	assert_string_equal(glob, wanted);
	free(glob);
}

static void all_ranks_have_a_glob(void **state)
{
	(void)state;
	expect_glob("app.%r.um.db", "app.*.um.db");
	expect_glob("%h/a b.%p%%.um.db", "*'/a b.'*%.um.db");
	expect_glob("plain", "plain");
	assert_true(um_output_tells_ranks_apart("%r"));
	assert_true(um_output_tells_ranks_apart("%h.%p"));
	assert_false(um_output_tells_ranks_apart("%p"));
	assert_false(um_output_tells_ranks_apart("%%r"));
}

static void expect_advice(const char *wanted, char *const *words)
{
	char *advice = um_launcher_advice(words);

	assert_string_equal(advice, wanted);
	free(advice);
}

#define WORDS(...)                                                                                 \
	(char *const *)(const char *const[])                                                       \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void launchers_are_known(void **state)
{
	(void)state;
	assert_true(um_launcher_is("mpirun"));
	assert_true(um_launcher_is("/usr/bin/mpiexec.hydra"));
	assert_true(um_launcher_is("srun"));
	assert_false(um_launcher_is("./app"));
	assert_false(um_launcher_is("mpirunner"));
	assert_false(um_launcher_is("dir.mpirun/app"));
	expect_advice("mpirun -n 4 umtrace /bin/sh -c 'exit 3'",
		      WORDS("mpirun", "-n", "4", "/bin/sh", "-c", "exit 3"));
	expect_advice("srun OPTIONS umtrace PROGRAM", WORDS("srun", "-n", "4", "./not there"));
	expect_advice("mpirun OPTIONS umtrace PROGRAM", WORDS("mpirun"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_become_names),
		cmocka_unit_test(unknown_letters_are_refused),
		cmocka_unit_test(the_default_keeps_ranks_apart),
		cmocka_unit_test(all_ranks_have_a_glob),
		cmocka_unit_test(launchers_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
