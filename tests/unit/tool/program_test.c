/* Finding and starting a program; tests/cli/umtrace*.sh see the rest from outside. */
#include "trace/base/error.h"
#include "trace/tool/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/umtrace-program-XXXXXX";

static void in_directory(char out[128], const char *name)
{
	snprintf(out, 128, "%s/%s", directory, name);
}

static bool make_file(const char *name, const char *text, mode_t mode)
{
	char path[128];

	in_directory(path, name);
	FILE *file = fopen(path, "w");
	if (!file)
		return false;
	fputs(text, file);
	return fclose(file) == 0 && chmod(path, mode) == 0;
}

static int make_files(void **state)
{
	char path[128];

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	if (!make_file("script", "#!/bin/sh\nexit 5\n", 0755) ||
	    !make_file("bare", "exit 6\n", 0755) ||
	    !make_file("foreign", "\177ELF\nexit 7\n", 0755) || !make_file("data", "", 0644))
		return -1;
	in_directory(path, "folder");
	return mkdir(path, 0755);
}

static int remove_files(void **state)
{
	static const char *const files[] = {"script", "bare", "foreign", "data"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		in_directory(path, files[i]);
		unlink(path);
	}
	in_directory(path, "folder");
	rmdir(path);
	return rmdir(directory);
}

static void programs_are_found(void **state)
{
	char *found, path[128];
	char *before = strdup(getenv("PATH"));

	(void)state;
	in_directory(path, "script");
	assert_int_equal(um_program_find(&found, path), 0);
	assert_string_equal(found, path);
	free(found);
	setenv("PATH", "/no/such/folder::", 1);
	assert_int_equal(um_program_find(&found, "script"), UM_ENOENT);
	setenv("PATH", directory, 1);
	assert_int_equal(um_program_find(&found, "script"), 0);
	assert_string_equal(found, path);
	free(found);
	assert_int_equal(um_program_find(&found, "folder"), UM_ENOENT);
	assert_int_equal(um_program_find(&found, ""), UM_ENOENT);
	in_directory(path, "folder");
	assert_int_equal(um_program_find(&found, path), UM_EIO);
	in_directory(path, "data");
	assert_int_equal(um_program_find(&found, path), UM_EIO);
	assert_int_equal(um_program_find(&found, "data"), UM_EIO);
	in_directory(path, "nothing");
	assert_int_equal(um_program_find(&found, path), UM_ENOENT);
	setenv("PATH", before, 1);
	free(before);
}

static int status_of(const char *command)
{
	char shell[] = "/bin/sh", option[] = "-c";
	char *words[] = {shell, option, (char *)(uintptr_t)command, NULL};
	const struct um_program_start start = {shell, words, "", "/nowhere", NULL};
	struct um_program program;

	signal(SIGPIPE, SIG_DFL); /* after the one before */
	um_program_init(&program);
	assert_int_equal(um_program_start(&program, &start), 0);
	um_program_poll(&program, true);
	assert_true(program.ended);
	um_program_release(&program);
	return um_program_exit_status(&program);
}

static void statuses_are_the_programs(void **state)
{
	(void)state;
	assert_int_equal(status_of("exit 0"), 0);
	assert_int_equal(status_of("exit 255"), 255);
	assert_int_equal(status_of("kill -9 $$"), 137);
	assert_int_equal(status_of("kill -TERM $$"), 143);
	/* umtrace ignores SIGINT meanwhile; the program does not. */
	assert_int_equal(status_of("kill -INT $$"), 130);
	assert_int_equal(status_of("kill -PIPE $$"), 141);
	assert_int_equal(status_of("kill -TERM $PPID; sleep 10; exit 1"), 143);
}

static void what_cannot_be_executed_is_said(void **state)
{
	char path[128];
	char *words[] = {path, NULL};
	const struct um_program_start start = {path, words, "", "/nowhere", NULL};
	struct um_program program;

	(void)state;
	um_program_init(&program);
	in_directory(path, "data");
	assert_int_equal(um_program_start(&program, &start), UM_EIO);
	assert_non_null(strstr(um_error_message(), "data cannot be executed: Permission denied"));
	in_directory(path, "nothing");
	assert_int_equal(um_program_start(&program, &start), UM_ENOENT);
	/* A shell would take it for a script, and its bytes for commands. */
	in_directory(path, "foreign");
	assert_int_equal(um_program_start(&program, &start), UM_EIO);
	assert_non_null(strstr(um_error_message(), "foreign cannot be executed: Exec format"));
}

static void a_script_needs_no_first_line(void **state)
{
	char path[128], name[] = "bare";
	char *words[] = {name, NULL};
	const struct um_program_start start = {path, words, "", "/nowhere", NULL};
	struct um_program program;

	(void)state;
	in_directory(path, "bare");
	signal(SIGPIPE, SIG_DFL);
	um_program_init(&program);
	assert_int_equal(um_program_start(&program, &start), 0);
	um_program_poll(&program, true);
	um_program_release(&program);
	assert_int_equal(um_program_exit_status(&program), 6);
}

static void environment_is_the_childs_only(void **state)
{
	(void)state;
	assert_int_equal(status_of("test \"$UMTRACE_SPOOL\" = /nowhere"), 0);
	assert_null(getenv("UMTRACE_SPOOL"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(statuses_are_the_programs),
		cmocka_unit_test(what_cannot_be_executed_is_said),
		cmocka_unit_test(a_script_needs_no_first_line),
		cmocka_unit_test(environment_is_the_childs_only),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
