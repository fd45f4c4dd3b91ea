/* Kernels that crash, each in a child. */
#include "launch_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Runs the kernel in a child with that handler, its stderr in `text`. Returns the child's status.
 */
static int run_in_child(um_kernel_entry entry, void (*handler)(int), char *text, size_t capacity)
{
	struct um_launch launch = fixture_launch(entry, NULL, 3, 64);
	int ends[2], status;
	size_t used = 0;
	ssize_t got;
	pid_t child;

	launch.hooked = false;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGSEGV, handler); /* cmocka has set its own */
		signal(SIGFPE, handler);
		_exit(fixture_run(&launch) ? 1 : 0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + used, capacity - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* The mistakes are for the processor to find. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

static bool is_me(uint32_t group, uint32_t lane)
{
	return um_self()->group[0] == group && um_self()->lane == lane;
}

static volatile int *volatile nowhere = (volatile int *)16;

UNCHECKED static void null_kernel(void **args)
{
	(void)args;
	um_barrier();
	if (is_me(2, 9))
		*nowhere = 1;
}

static void test_null_pointer(void **state)
{
	char text[512];
	int status = run_in_child(null_kernel, SIG_DFL, text, sizeof(text));

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	assert_string_equal(text, "umtrace: kernel test_kernel: group (2,0,0), lane 9: "
				  "access to address 0x10\n");
}

static volatile int zero;

UNCHECKED static void divide_kernel(void **args)
{
	(void)args;
	if (is_me(0, 3))
		zero = 1000 / zero;
}

static void test_division_by_zero(void **state)
{
	char text[512];
	int status = run_in_child(divide_kernel, SIG_DFL, text, sizeof(text));

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGFPE);
	assert_non_null(strstr(text, "group (0,0,0), lane 3: integer division by zero"));
}

static int deeper(int levels);
static int (*volatile next_level)(int) = deeper; /* no compiler makes a loop of it */

UNCHECKED static int deeper(int levels)
{
	volatile char here[1024]; /* that many levels */

	here[levels] = 1;
	return levels ? next_level(levels - 1) + here[levels] : 0;
}

static void deep_kernel(void **args)
{
	(void)args;
	if (is_me(1, 0))
		deeper(1000);
}

static void test_stack_overflow(void **state)
{
	char text[512];
	int status = run_in_child(deep_kernel, SIG_DFL, text, sizeof(text));

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	assert_non_null(strstr(text, "group (1,0,0), lane 0: needs more than 256 KiB of stack"));
}

static void exit_kindly(int number)
{
	(void)number;
	_exit(77);
}

UNCHECKED static void handled_kernel(void **args)
{
	(void)args;
	if (is_me(0, 0))
		*nowhere = 1;
}

static void test_the_programs_handler_still_runs(void **state)
{
	char text[512];
	int status = run_in_child(handled_kernel, exit_kindly, text, sizeof(text));

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 77);
	assert_non_null(strstr(text, "group (0,0,0), lane 0"));
}

static void fine_kernel(void **args)
{
	(void)args;
}

static void test_handlers_are_back_after_a_launch(void **state)
{
	struct um_launch launch = fixture_launch(fine_kernel, NULL, 1, 1);
	struct sigaction action = {.sa_handler = exit_kindly}, before, after;

	(void)state;
	launch.hooked = false;
	sigaction(SIGSEGV, &action, &before);
	assert_int_equal(fixture_run(&launch), 0);
	sigaction(SIGSEGV, &before, &after);
	assert_ptr_equal(after.sa_handler, exit_kindly);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_null_pointer),
		cmocka_unit_test(test_division_by_zero),
		cmocka_unit_test(test_stack_overflow),
		cmocka_unit_test(test_the_programs_handler_still_runs),
		cmocka_unit_test(test_handlers_are_back_after_a_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
