/* How much memory a policy gives: what is written, the footprint of a trace, what the trace had. */
#include "sim/policy/policy.h"
#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* --- what is written --- */

static void limits(void **state)
{
	static const struct {
		const char *text;
		int error;
		uint64_t bytes;
		double times;
	} cases[] = {
		{"16GiB", 0, 16ull << 30, 0},  {"7448KiB", 0, 7448ull << 10, 0},
		{"0.8x", 0, 0, 0.8},	       {"1x", 0, 0, 1},
		{"2.50 x", 0, 0, 2.5},	       {"0x", UM_EINVAL, 0, 0},
		{"-1x", UM_EINVAL, 0, 0},      {"x", UM_EINVAL, 0, 0},
		{"80%", UM_EINVAL, 0, 0},      {"0.8", UM_EINVAL, 0, 0},
		{"0.8X", UM_EINVAL, 0, 0},     {"0.8xx", UM_EINVAL, 0, 0},
		{"9999999x", UM_EINVAL, 0, 0}, {"", UM_EINVAL, 0, 0},
		{"0B", UM_EINVAL, 0, 0},       {"7447KiB", UM_EINVAL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct um_memory_limit limit;

		assert_int_equal(um_memory_limit_parse(&limit, cases[i].text), cases[i].error);
		if (cases[i].error)
			continue;
		assert_int_equal(limit.bytes, cases[i].bytes);
		assert_true(limit.times == cases[i].times);
	}
}

static void in_a_file(void **state)
{
	struct um_policy *policy;
	char *text;

	(void)state;
	assert_int_equal(um_policy_parse(&policy, "p.yaml", "memory: 0.8x\n", 13), 0);
	assert_int_equal(policy->memory_bytes, 0);
	assert_true(policy->memory_times == 0.8);
	assert_int_equal(policy->memory_source, UM_MEMORY_BY_POLICY);
	assert_int_equal(um_policy_text(&text, policy), 0);
	assert_non_null(strstr(text, "\nmemory: 0.8x\n"));
	free(text);
	um_policy_destroy(policy);
	assert_int_equal(um_policy_parse(&policy, "p.yaml", "memory: 0x\n", 11), UM_EINVAL);
	assert_string_equal(um_error_message(),
			    "p.yaml:1:9: memory: a device without memory runs nothing");
}

/* --- eviction orders of the command line --- */

static void orders(void **state)
{
	static const struct {
		const char *text, *order; /* NULL: the driver's own */
		uint32_t seed;
	} good[] = {{"lru", "lru", 0},	     {"driver", NULL, 0},
		    {"random", "random", 0}, {"random:7", "random", 7},
		    {"belady", "belady", 0}, {"random:4294967295", "random", UINT32_MAX}};
	static const char *const bad[] = {"",	     "oldest",	 "lru:7",     "driver:1",
					  "random:", "random:x", "random:-1", "random:4294967296",
					  ":7"};
	struct um_policy *policy;

	(void)state;
	assert_int_equal(um_policy_default(&policy), 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(um_policy_set_evict(policy, good[i].text), 0);
		assert_int_equal(policy->evict != NULL, good[i].order != NULL);
		if (good[i].order)
			assert_string_equal(policy->evict->name, good[i].order);
		assert_int_equal(policy->evict_seed, good[i].seed);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(um_policy_set_evict(policy, bad[i]), UM_EINVAL);
	assert_int_equal(policy->evict_seed, UINT32_MAX); /* what failed changed nothing */
	um_policy_destroy(policy);
}

/* --- of a trace --- */

static char path[64];
static struct um_machine_spec machine = {.name = "mi250x", .devices = 1, .memory_bytes = 1 << 20};

static struct um_db *make_trace(const char *run, const char *allocations)
{
	struct um_db *db;
	char *sql;
	int file;

	strcpy(path, "/tmp/um-policy-memory-XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	assert_true(
		asprintf(&sql,
			 "INSERT INTO run (role, tool, command, clock, machine, memory_bytes)"
			 " VALUES ('trace', 'test', './app', 'none', %s);"
			 "INSERT INTO allocation (allocation, kind, bytes, op, freed_op) VALUES %s",
			 run, allocations) > 0);
	assert_int_equal(um_db_create(&db, path, true), 0);
	if (um_db_exec(db, sql))
		fail_msg("%s", um_error_message());
	free(sql);
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(um_db_open(&db, path), 0);
	return db;
}

static void footprint(void **state)
{
	static const struct {
		const char *allocations;
		uint64_t pages;
	} cases[] = {
		{"(1, 'managed', 4096, 1, NULL)", 1},
		{"(1, 'managed', 1, 1, NULL), (2, 'device', 4097, 2, NULL)", 3},
		/* Freed before the next is made, or at its op. */
		{"(1, 'managed', 8192, 1, 2), (2, 'managed', 12288, 3, NULL)", 3},
		{"(1, 'managed', 8192, 1, 3), (2, 'managed', 12288, 3, NULL)", 3},
		{"(1, 'managed', 8192, 1, 4), (2, 'managed', 12288, 3, NULL)", 5},
		/* Before main. */
		{"(1, 'device', 8192, NULL, NULL), (2, 'managed', 4096, 3, NULL)", 3},
		/* No device's memory. */
		{"(1, 'pinned', 8192, 1, NULL), (2, 'registered', 4096, 1, NULL),"
		 " (3, 'pageable', 4096, 1, NULL)",
		 0},
		/* Rows of a damaged file. */
		{"(1, 'managed', -5, 1, NULL), (2, 'managed', 4096, 1, NULL)", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct um_db *db = make_trace("NULL, NULL", cases[i].allocations);
		uint64_t bytes;

		assert_int_equal(um_policy_footprint(&bytes, db), 0);
		assert_int_equal(bytes, cases[i].pages * 4096);
		um_db_close(db);
		unlink(path);
	}
}

/* A trace of 100 pages, on a machine with 256. */
static void settled(void **state)
{
	static const struct {
		const char *run, *file, *option;
		int error;
		uint64_t bytes;
		enum um_memory_source source;
	} cases[] = {
		{"NULL, NULL", "", NULL, 0, 0, UM_MEMORY_BY_MACHINE},
		{"'mi250x', 409600", "", NULL, 0, 409600, UM_MEMORY_BY_TRACE},
		{"'mi210', 409600", "", NULL, 0, 0, UM_MEMORY_BY_MACHINE},
		{"'mi250x', 1048576", "", NULL, 0, 0, UM_MEMORY_BY_MACHINE},
		{"'mi250x', 2097152", "", NULL, 0, 0, UM_MEMORY_BY_MACHINE},
		{"'mi250x', 409600", "memory: 64KiB\n", NULL, 0, 65536, UM_MEMORY_BY_POLICY},
		{"'mi250x', 409600", "memory: 64KiB\n", "32KiB", 0, 32768, UM_MEMORY_BY_OPTION},
		{"'mi250x', 409600", "memory: 0.5x\n", NULL, 0, 50 * 4096, UM_MEMORY_BY_POLICY},
		{"'mi250x', 409600", "memory: 0.5x\n", "64KiB", 0, 65536, UM_MEMORY_BY_OPTION},
		{"'mi250x', 409600", "memory: 64KiB\n", "1x", 0, 409600, UM_MEMORY_BY_OPTION},
		/* 0.29 has no exact double; the page is whole all the same. */
		{"NULL, NULL", "", "0.29x", 0, 29 * 4096, UM_MEMORY_BY_OPTION},
		{"NULL, NULL", "", "0.299x", 0, 29 * 4096, UM_MEMORY_BY_OPTION},
		{"NULL, NULL", "", "2.57x", UM_EINVAL, 0, 0},
		{"NULL, NULL", "", "0.0099x", UM_EINVAL, 0, 0},
		{"NULL, NULL", "memory: 2MiB\n", NULL, UM_EINVAL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct um_db *db = make_trace(cases[i].run, "(1, 'managed', 409600, 1, NULL)");
		struct um_memory_limit limit;
		struct um_policy *policy;

		assert_int_equal(
			um_policy_parse(&policy, "p.yaml", cases[i].file, strlen(cases[i].file)),
			0);
		if (cases[i].option) {
			assert_int_equal(um_memory_limit_parse(&limit, cases[i].option), 0);
			um_policy_set_memory(policy, &limit);
		}
		assert_int_equal(um_policy_settle_memory(policy, &machine, db), cases[i].error);
		if (!cases[i].error) {
			assert_int_equal(policy->memory_bytes, cases[i].bytes);
			assert_int_equal(policy->memory_source, cases[i].source);
		}
		um_policy_destroy(policy);
		um_db_close(db);
		unlink(path);
	}
}

static void multiple_of_nothing(void **state)
{
	struct um_db *db = make_trace("NULL, NULL", "(1, 'pageable', 409600, 1, NULL)");
	struct um_policy *policy;

	(void)state;
	assert_int_equal(um_policy_parse(&policy, "p.yaml", "memory: 1x\n", 11), 0);
	assert_int_equal(um_policy_settle_memory(policy, &machine, db), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), "has no managed or device memory"));
	um_policy_destroy(policy);
	um_db_close(db);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits),  cmocka_unit_test(in_a_file),
		cmocka_unit_test(orders),  cmocka_unit_test(footprint),
		cmocka_unit_test(settled), cmocka_unit_test(multiple_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
