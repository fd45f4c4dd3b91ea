/* Lines of this program's own debug information. */
#include "trace/tool/source_lines.h"

#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uintptr_t return_address;

__attribute__((noinline)) static void remember_caller(void)
{
	return_address = (uintptr_t)__builtin_return_address(0);
}

enum { INLINED_LINE = __LINE__ + 3 };
static inline __attribute__((always_inline)) void inlined(void)
{
	remember_caller();
	__asm__ volatile("" ::: "memory"); /* not a tail call */
}

enum { OUTER_LINE = __LINE__ + 3 };
__attribute__((noinline)) static void outer(void)
{
	inlined();
	__asm__ volatile("" ::: "memory");
}

static int first_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	(void)bytes;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

static void frames_of_an_inlined_call(void **state)
{
	struct um_source_lines *lines = um_source_lines_create();
	struct um_source_frame frames[4];
	char path[PATH_MAX] = "";
	uintptr_t base = 0;

	(void)state;
	outer();
	dl_iterate_phdr(first_base, &base);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(um_source_lines_find(lines, path, return_address - base, frames, 4), 2);
	assert_string_equal(frames[0].function, "inlined");
	assert_true(frames[0].inlined);
	assert_int_equal(frames[0].line, INLINED_LINE);
	assert_non_null(strstr(frames[0].file, "source_lines_test.c"));
	assert_string_equal(frames[1].function, "outer");
	assert_false(frames[1].inlined);
	assert_int_equal(frames[1].line, OUTER_LINE);
	/* No more than there is room for. */
	assert_int_equal(um_source_lines_find(lines, path, return_address - base, frames, 1), 1);
	um_source_lines_destroy(lines);
}

static void a_module_has_its_build_id(void **state)
{
	struct um_source_lines *lines = um_source_lines_create();
	const char *id = um_source_lines_build_id(lines, "/proc/self/exe");

	(void)state;
	assert_non_null(id);
	assert_int_equal(strlen(id), 40);
	assert_int_equal(strspn(id, "0123456789abcdef"), 40);
	assert_string_equal(um_source_lines_build_id(lines, "/proc/self/exe"), id);
	assert_null(um_source_lines_build_id(lines, "/nowhere"));
	assert_null(um_source_lines_build_id(lines, "/etc/passwd"));
	um_source_lines_destroy(lines);
}

static void nothing_is_known(void **state)
{
	struct um_source_lines *lines = um_source_lines_create();
	struct um_source_frame frames[4];

	(void)state;
	assert_int_equal(um_source_lines_find(lines, "/nowhere", 100, frames, 4), 0);
	assert_int_equal(um_source_lines_find(lines, "/etc/passwd", 100, frames, 4), 0);
	assert_int_equal(um_source_lines_find(lines, "/bin/sh", 100, frames, 4), 0);
	assert_int_equal(um_source_lines_find(lines, "/proc/self/exe", 0, frames, 4), 0);
	um_source_lines_destroy(lines);
	um_source_lines_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_an_inlined_call),
		cmocka_unit_test(a_module_has_its_build_id),
		cmocka_unit_test(nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
