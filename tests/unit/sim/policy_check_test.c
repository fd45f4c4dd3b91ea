/* Rules against a trace of three allocations and four launches. */
#include "sim/policy/policy_check.h"
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

#define KERNEL(op, name) "(" #op ", '" name "', 1, 1, 1, 64, 1, 1)"

static const char trace_sql[] =
	"INSERT INTO run (role, tool, command, clock) VALUES ('trace', 'test', './app', 'none');"
	"INSERT INTO site (site) VALUES (1), (2);"
	"INSERT INTO frame (site, depth, module, offset_bytes, function, file, line, inlined) VALUES (1, 0, '/app', 16, 'wrap', NULL, NULL, 0),"
	" (1, 1, '/app', 32, 'make(int)', '/src/app.hip', 7, 0), (2, 0, '/app', 255, NULL, NULL, "
	"NULL,"
	" 0);"
	"INSERT INTO allocation (allocation, kind, bytes, op, freed_op, site, name) VALUES"
	" (1, 'managed', 4096, 1, NULL, 1, NULL), (2, 'managed', 8192, 2, 5, 2, 'tmp'),"
	" (3, 'device', 4096, 3, NULL, NULL, NULL);"
	"INSERT INTO op (op, kind, result) VALUES (1, 'alloc', 0), (2, 'alloc', 0), (3, 'alloc', "
	"0),"
	" (4, 'launch', 0), (5, 'free', 0), (6, 'launch', 0), (7, 'launch', 98), (8, 'launch', 0);"
	"INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z) "
	"VALUES " KERNEL(4, "first(int)") "," KERNEL(6, "void step<float>(float*)") "," KERNEL(
		7, "void step<float>(float*)") "," KERNEL(8, "void step<float>(float*)");

static char path[] = "/tmp/um-policy-check-XXXXXX";

static int make_trace(void **state)
{
	struct um_db *db;
	int file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	assert_int_equal(um_db_create(&db, path, true), 0);
	if (um_db_exec(db, trace_sql))
		fail_msg("%s", um_error_message());
	assert_int_equal(um_db_close(db), 0);
	assert_int_equal(um_db_open(&db, path), 0);
	*state = db;
	return 0;
}

static int remove_trace(void **state)
{
	um_db_close(*state);
	return unlink(path);
}

struct expectation {
	const char *rule; /* behind "- " */
	bool prefetch;
	size_t subjects, first_subject;
	uint64_t launches;
	int64_t first_op, last_op;
	const char *error; /* NULL: it matches */
};
static const struct expectation expectations[] = {
	{"{on: {kind: managed}, read_mostly: true}", false, 2, 0, 0, 0, 0, NULL},
	{"{on: {name: \"t*\"}, read_mostly: true}", false, 1, 1, 0, 0, 0, NULL},
	{"{on: {site: \"app.hip:7\"}, read_mostly: true}", false, 1, 0, 0, 0, 0, NULL},
	{"{on: {site: \"wrap\"}, read_mostly: true}", false, 1, 0, 0, 0, 0, NULL},
	{"{on: {site: \"app+0xff\"}, read_mostly: true}", false, 1, 1, 0, 0, 0, NULL},
	{"{on: {index: 3}, read_mostly: true}", false, 1, 2, 0, 0, 0, NULL},
	{"{on: {index: 4}, read_mostly: true}", false, 0, 0, 0, 0, 0,
	 "p.yaml:2: this rule matches no allocation of the trace"},
	/* Launch 7 was refused by HIP: the second step is op 8. */
	{"{on: {index: 1}, to: gpu0, before: step}", true, 1, 0, 2, 6, 8, NULL},
	{"{on: {index: 1}, to: gpu0, before: step, nth: 2}", true, 1, 0, 1, 8, 8, NULL},
	{"{on: {index: 1}, to: gpu0, before: step, nth: 3}", true, 1, 0, 0, 0, 0,
	 "p.yaml:2: the trace has no launch number 3 of \"step\" while such an allocation lives"},
	{"{on: {name: tmp}, to: gpu0, before: \"*\"}", true, 1, 1, 1, 4, 4, NULL},
	/* tmp is freed before any step. */
	{"{on: {name: tmp}, to: gpu0, before: step}", true, 1, 1, 0, 0, 0,
	 "p.yaml:2: the trace has no launch of \"step\" while such an allocation lives"},
};

static void check(const struct expectation *expected, struct um_db *trace,
		  const struct um_subjects *subjects)
{
	struct um_rule_report *report = NULL;
	struct um_policy *policy = NULL;
	char text[200];

	snprintf(text, sizeof(text), "%s:\n  - %s\n", expected->prefetch ? "prefetch" : "advise",
		 expected->rule);
	if (um_policy_parse(&policy, "p.yaml", text, strlen(text)) ||
	    um_policy_report(&report, policy, subjects, trace))
		fail_msg("%s", um_error_message());
	assert_int_equal(report->subject_count, expected->subjects);
	if (expected->subjects)
		assert_int_equal(report->subjects[0], expected->first_subject);
	assert_true(report->launches == expected->launches);
	assert_true(report->first_op == expected->first_op && report->last_op == expected->last_op);
	assert_int_equal(um_policy_report_check(policy, report), expected->error ? UM_EINVAL : 0);
	if (expected->error)
		assert_string_equal(um_error_message(), expected->error);
	um_policy_report_free(report, policy->rule_count);
	um_policy_destroy(policy);
}

static void rules(void **state)
{
	struct um_subjects *subjects;

	assert_int_equal(um_subjects_load(&subjects, *state), 0);
	assert_int_equal(um_subjects_count(subjects), 3);
	assert_string_equal(um_subjects_at(subjects, 0)->place, "/src/app.hip:7");
	assert_string_equal(um_subjects_at(subjects, 1)->place, "/app+0xff");
	assert_null(um_subjects_at(subjects, 2)->place);
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		check(&expectations[i], *state, subjects);
	um_subjects_destroy(subjects);
	um_subjects_destroy(NULL);
	um_policy_report_free(NULL, 0);
}

static void actions(void **state)
{
	const struct um_rule advise = {.has_preferred_location = true,
				       .preferred_location = UM_HOST,
				       .accessed_by = 5 | UM_BY_HOST,
				       .has_read_mostly = true};
	const struct um_rule prefetch = {.is_prefetch = true, .to = 1};
	char *text;

	(void)state;
	assert_int_equal(um_rule_action_text(&text, &advise), 0);
	assert_string_equal(text,
			    "preferred_location host, accessed_by gpu0 gpu2 host, not read_mostly");
	free(text);
	assert_int_equal(um_rule_action_text(&text, &prefetch), 0);
	assert_string_equal(text, "prefetch to gpu1");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rules), cmocka_unit_test(actions)};

	return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
