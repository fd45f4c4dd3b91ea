/* Two front ends that say the same are heard once. */
#include "cc_diagnostics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WARNING                                                                                    \
	"In file included from a.hip:1:\nb.h:2:3: warning: unused [-Wunused]\nint x;\n  ^\n"       \
	"b.h:1:1: note: here\n"
#define DEVICE_ERROR "a.hip:9:1: error: not in device code\nfoo();\n^\n"
#define HOST_ERROR   "a.hip:12:1: error: 1 error: twice\nbar();\n^\n"

static void write_file(char *path, const char *text)
{
	int file = mkstemp(path);

	assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
}

/* What is printed to stderr for the two texts. */
static void shown(char *out, size_t capacity, const char *device, const char *host)
{
	char one[] = "/tmp/cc_diagnostics-XXXXXX", two[] = "/tmp/cc_diagnostics-XXXXXX";
	const char *const paths[] = {one, two, "/nowhere/no-such-file"};
	int saved = dup(STDERR_FILENO), pipes[2];
	ssize_t length;

	write_file(one, device);
	write_file(two, host);
	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	um_diagnostics_show(paths, 3);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(pipes[1]);
	close(saved);
	length = read(pipes[0], out, capacity - 1);
	out[length < 0 ? 0 : length] = 0;
	close(pipes[0]);
	unlink(one);
	unlink(two);
}

static void repetitions_and_totals_are_left_out(void **state)
{
	char text[4096];

	(void)state;
	shown(text, sizeof text,
	      WARNING DEVICE_ERROR "1 warning and 1 error generated when compiling for x86-64.\n",
	      WARNING HOST_ERROR "1 warning and 1 error generated when compiling for host.\n");
	assert_string_equal(text, WARNING DEVICE_ERROR HOST_ERROR);
}

static void other_text_is_kept(void **state)
{
	char text[4096];

	(void)state;
	shown(text, sizeof text, "clang: something without a kind\n", "");
	assert_string_equal(text, "clang: something without a kind\n");
	shown(text, sizeof text, "", "");
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repetitions_and_totals_are_left_out),
		cmocka_unit_test(other_text_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
