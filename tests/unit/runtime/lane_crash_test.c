/* Kernels that make mistakes: their launches fail, and the next one works. */
#include "launch_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hip/hip_runtime_api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(um_kernel_entry entry, char *text, size_t capacity)
{
	struct um_launch launch = fixture_launch(entry, NULL, 3, 64);

	launch.hooked = false;
	return fixture_run_captured(&launch, text, capacity);
}

static void fine_kernel(void **args)
{
	(void)args;
	um_barrier();
}

static void assert_still_works(void)
{
	char text[512];

	assert_int_equal(run(fine_kernel, text, sizeof(text)), hipSuccess);
	assert_string_equal(text, "");
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

	(void)state;
	assert_int_equal(run(null_kernel, text, sizeof(text)), hipErrorIllegalAddress);
	assert_string_equal(text, "umtrace: kernel test_kernel: group (2,0,0), lane 9: "
				  "access to address 0x10\n");
	assert_still_works();
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

	(void)state;
	assert_int_equal(run(divide_kernel, text, sizeof(text)), hipErrorLaunchFailure);
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

	(void)state;
	assert_int_equal(run(deep_kernel, text, sizeof(text)), hipErrorLaunchFailure);
	assert_non_null(strstr(text, "group (1,0,0), lane 0: needs more than 256 KiB of stack"));
	assert_still_works();
}

static volatile size_t one_byte = 1;

/* memset() has no frame of its own; the memory is gone when it is called. */
UNCHECKED static void freed_kernel(void **args)
{
	if (is_me(1, 7))
		memset(*(void **)args[0], 1, one_byte);
}

static void test_freed_memory(void **state)
{
	char text[512], wanted[128];
	void *memory = fixture_alloc(4096);
	void *args[] = {&memory};
	struct um_launch launch = fixture_launch(freed_kernel, args, 3, 64);

	(void)state;
	launch.hooked = false;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	um_arena_free(um_arena_find(memory));
	assert_int_equal(fixture_run_captured(&launch, text, sizeof(text)), hipErrorIllegalAddress);
	snprintf(wanted, sizeof(wanted), "group (1,0,0), lane 7: access to address %p", memory);
	assert_non_null(strstr(text, wanted));
}

static void exit_kindly(int number)
{
	(void)number;
	_exit(77);
}

UNCHECKED static void raising_kernel(void **args)
{
	(void)args;
	if (is_me(0, 0))
		raise(SIGSEGV);
}

static int status_of_child(um_kernel_entry entry, void (*handler)(int))
{
	struct um_launch launch = fixture_launch(entry, NULL, 3, 64);
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	launch.hooked = false;
	if (!child) {
		freopen("/dev/null", "w", stderr);
		signal(SIGSEGV, handler); /* cmocka has set its own */
		_exit(fixture_run(&launch) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_a_signal_that_is_no_fault_is_the_programs(void **state)
{
	(void)state;
	int status = status_of_child(raising_kernel, exit_kindly);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 77);
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
		cmocka_unit_test(test_freed_memory),
		cmocka_unit_test(test_a_signal_that_is_no_fault_is_the_programs),
		cmocka_unit_test(test_handlers_are_back_after_a_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
