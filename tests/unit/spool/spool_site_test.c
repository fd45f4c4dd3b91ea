/* Places in the program, and what umtrace takes out of the environment. */
#include "trace/spool/spool_environment.h"
#include "trace/spool/spool_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct um_site_table sites;

static const void *at(uintptr_t address)
{
	return (const void *)address;
}

static void callers_tell_places_apart(void **state)
{
	bool is_new = false;

	(void)state;
	uint32_t main_site = um_site_intern(&sites, 0, at(0x1000), &is_new);

	assert_true(is_new);
	uint32_t a = um_site_intern(&sites, main_site, at(0x2000), &is_new);

	assert_true(is_new);
	uint32_t b = um_site_intern(&sites, 0, at(0x2000), &is_new);

	assert_true(is_new);
	assert_int_not_equal(a, b);
	assert_true(a > main_site);
	assert_int_equal(um_site_intern(&sites, main_site, at(0x2000), &is_new), a);
	assert_false(is_new);
	assert_int_equal(um_site_intern(&sites, 0, NULL, &is_new), 0);
	assert_false(is_new);
}

/* Numbered in order, and found again when the table has grown. */
static void many(void **state)
{
	bool is_new = false;
	uint32_t first = um_site_intern(&sites, 0, at(0x100000), &is_new);

	(void)state;
	for (uint32_t i = 1; i < 20000; i++)
		assert_int_equal(
			um_site_intern(&sites, first + i - 1, at(0x100000 + i % 7), &is_new),
			first + i);
	for (uint32_t i = 1; i < 20000; i++)
		assert_int_equal(
			um_site_intern(&sites, first + i - 1, at(0x100000 + i % 7), &is_new),
			first + i);
	assert_false(is_new);
}

static void record(void **state)
{
	const struct um_record_site *site = um_site_record(7, 3, 0x1234, "/usr/bin/app", "main");

	(void)state;
	assert_int_equal(site->header.kind, UM_RECORD_SITE);
	assert_int_equal(site->header.bytes % 8, 0);
	assert_int_equal(site->site, 7);
	assert_int_equal(site->parent, 3);
	assert_int_equal(site->offset, 0x1234);
	assert_string_equal(site->text, "/usr/bin/app");
	assert_string_equal(site->text + sizeof("/usr/bin/app"), "main");
	assert_true(sizeof(*site) + sizeof("/usr/bin/app") + sizeof("main") <= site->header.bytes);
}

static void long_texts_are_cut(void **state)
{
	static char text[3 * UM_SITE_SYMBOL_MAX];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	const struct um_record_site *site = um_site_record(1, 0, 0, text, text);

	assert_true(site->header.bytes <= UM_SITE_RECORD_MAX);
	assert_int_equal(strlen(site->text), PATH_MAX - 1);
	assert_int_equal(strlen(site->text + PATH_MAX), UM_SITE_SYMBOL_MAX - 1);
}

static void module_paths(void **state)
{
	char path[PATH_MAX];

	(void)state;
	um_site_module_path(path, "");
	assert_non_null(strstr(path, "spool_site_test"));
	um_site_module_path(path, "/lib/libx.so");
	assert_string_equal(path, "/lib/libx.so");
	um_site_module_path(path, "nowhere/libx.so");
	assert_string_equal(path, "nowhere/libx.so");
}

static void expect_preload(const char *before, const char *after)
{
	setenv("LD_PRELOAD", before, 1);
	um_environment_remove_preload("/opt/um/liba.so");
	const char *left = getenv("LD_PRELOAD");

	assert_string_equal(left ? left : "(none)", after);
}

static void preloads(void **state)
{
	(void)state;
	expect_preload("/opt/um/liba.so", "(none)");
	expect_preload("/opt/um/liba.so:/b.so", "/b.so");
	expect_preload("/b.so:/opt/um/liba.so", "/b.so");
	expect_preload("/b.so /opt/um/liba.so:/c.so", "/b.so /c.so");
	expect_preload("liba.so:/b.so", "/b.so"); /* as ld.so searched for it */
	expect_preload("/other/liba.so", "/other/liba.so");
	expect_preload("", "");
	unsetenv("LD_PRELOAD");
	um_environment_remove_preload("/opt/um/liba.so");
	assert_null(getenv("LD_PRELOAD"));
}

static void variables(void **state)
{
	(void)state;
	assert_null(um_environment_spool());
	setenv(UM_SPOOL_VARIABLE, "/dev/shm/x", 1);
	char *value = getenv(UM_SPOOL_VARIABLE);

	assert_string_equal(um_environment_spool(), "/dev/shm/x");
	um_environment_remove(UM_SPOOL_VARIABLE);
	assert_null(um_environment_spool());
	assert_string_equal(value, ""); /* gone from the memory too */
	um_environment_remove("UMTRACE_NOT_THERE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_tell_places_apart),
		cmocka_unit_test(many),
		cmocka_unit_test(record),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(module_paths),
		cmocka_unit_test(preloads),
		cmocka_unit_test(variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
