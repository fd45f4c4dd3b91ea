#include "doctor_command.h"

#include "doctor_checks.h"
#include "trace/base/error.h"
#include "trace/base/format_option.h"
#include "trace/base/text_table.h"
#include "trace/tool/program.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_key { OPTION_ROOT = 256 };

static const struct argp_option options[] = {
	{"format", 'f', "text|json", 0, "How it is printed; default: text", 0},
	{"root", OPTION_ROOT, "FOLDER", 0,
	 "Look at the /proc, /sys, /dev, /boot and /usr below FOLDER: of another machine, copied",
	 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Says what managed memory will do on this machine, and why: kernel, driver, HMM, XNACK, what each hint "
	"becomes, whether PROGRAM has code that runs here, and what umtrace will see of it. What is in the way has "
	"its remedy beside it."
	"\v"
	"Examples:\n"
	"  umtrace doctor\n"
	"  HSA_XNACK=1 umtrace doctor ./app\n"
	"  umtrace doctor -f json | jq '.checks[] | select(.state == \"problem\")'\n\n"
	"Exit status: 0, 1 failed, 2 wrong usage, 3 something is in the way. A program that is called doctor is "
	"traced by umtrace -- doctor.";

struct arguments {
	const char *root, *program;
	bool json;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'f':
		arguments->json = um_wants_json(state, text);
		return 0;
	case OPTION_ROOT:
		arguments->root = text;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->program)
			argp_error(state, "'%s' is too much: one program", text);
		arguments->program = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *const states[] = {
	[UM_DOCTOR_OK] = "ok",
	[UM_DOCTOR_NOTE] = "note",
	[UM_DOCTOR_PROBLEM] = "problem",
};

/* --- as text --- */

static void print_check(const struct um_doctor_check *check)
{
	char line[sizeof(check->what) + 64];

	snprintf(line, sizeof(line), "%-8s %-12s %s", states[check->state], check->subject,
		 check->what);
	um_text_print_wrapped(stdout, line, 2, 22);
	if (!check->remedy[0])
		return;
	snprintf(line, sizeof(line), "%s%s",
		 check->state == UM_DOCTOR_OK ? "see also: " : "remedy: ", check->remedy);
	um_text_print_wrapped(stdout, line, 24, 2);
}

static int print_hints(const struct um_doctor_report *report)
{
	static const struct um_text_column columns[] = {
		{"call", UM_ALIGN_LEFT}, {"becomes", UM_ALIGN_LEFT}, {NULL, 0}};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (const struct um_doctor_hint *hint = report->hints; hint->call; hint++) {
		um_text_table_cell(table, "%s", hint->call);
		um_text_table_cell(table, "%s", hint->becomes);
	}
	printf("\nWhat hints become: %s\n", report->hints_for);
	error = um_text_table_print(table, stdout, 2);
	um_text_table_destroy(table);
	return error;
}

static int print_records(const struct um_doctor_report *report)
{
	static const struct um_text_column columns[] = {{"in a trace", UM_ALIGN_LEFT},
							{"is", UM_ALIGN_LEFT},
							{"how", UM_ALIGN_LEFT},
							{NULL, 0}};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (const struct um_doctor_record *record = report->records; record->record; record++) {
		um_text_table_cell(table, "%s", record->record);
		um_text_table_cell(table, "%s", record->origin);
		um_text_table_cell(table, "%s", record->how);
	}
	printf("\nWhat umtrace tells of %s\n", report->records_for);
	error = um_text_table_print(table, stdout, 2);
	um_text_table_destroy(table);
	return error;
}

static int print_text(const struct um_doctor_report *report)
{
	for (size_t i = 0; i < report->check_count; i++)
		print_check(&report->checks[i]);
	int error = print_hints(report);

	return error ? error : print_records(report);
}

/* --- as JSON --- */

static json_t *checks_json(const struct um_doctor_report *report)
{
	json_t *all = json_array();

	for (size_t i = 0; i < report->check_count; i++) {
		const struct um_doctor_check *check = &report->checks[i];

		json_array_append_new(all,
				      json_pack("{s:s, s:s, s:s, s:s?}", "subject", check->subject,
						"state", states[check->state], "what", check->what,
						"remedy", check->remedy[0] ? check->remedy : NULL));
	}
	return all;
}

static int print_json(const struct um_doctor_report *report)
{
	json_t *hints = json_array(), *records = json_array();

	for (const struct um_doctor_hint *hint = report->hints; hint->call; hint++)
		json_array_append_new(hints, json_pack("{s:s, s:s}", "call", hint->call, "becomes",
						       hint->becomes));
	for (const struct um_doctor_record *record = report->records; record->record; record++)
		json_array_append_new(records,
				      json_pack("{s:s, s:s, s:s}", "record", record->record,
						"origin", record->origin, "how", record->how));
	json_t *all = json_pack("{s:o, s:s, s:o, s:s, s:o}", "checks", checks_json(report),
				"hints_for", report->hints_for, "hints", hints, "records_for",
				report->records_for, "records", records);
	int error = all && json_dumpf(all, stdout, JSON_INDENT(2)) == 0
			    ? 0
			    : um_fail(UM_ENOMEM, "out of memory, or what is known is no UTF-8");

	putchar('\n');
	json_decref(all);
	return error;
}

static int examine(const struct arguments *arguments)
{
	struct um_doctor_facts facts;
	struct um_doctor_program program;
	struct um_doctor_report *report = calloc(1, sizeof(*report));
	char *path = NULL;
	int error = report ? 0 : um_fail(UM_ENOMEM, "out of memory");

	if (!error && arguments->program)
		error = um_program_find(&path, arguments->program);
	if (!error && path)
		error = um_doctor_program_read(&program, path);
	if (!error) {
		um_doctor_gather(&facts, arguments->root ? arguments->root : "", environ);
		um_doctor_check(report, &facts, path ? &program : NULL);
		error = arguments->json ? print_json(report) : print_text(report);
	}
	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "standard output");
	if (!error && um_doctor_has_problem(report))
		error = UM_ECHECK;
	free(path);
	free(report);
	return error;
}

int um_doctor_command(int argc, char **argv)
{
	const struct argp argp = {options, parse, "[PROGRAM]", documentation, NULL, NULL, NULL};
	struct arguments arguments = {0};
	int error;

	argp_err_exit_status = UM_EXIT_USAGE;
	argp_program_version = NULL;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	error = examine(&arguments);
	if (error && error != UM_ECHECK)
		fprintf(stderr, "umtrace doctor: %s\n", um_error_message());
	return (int)um_exit_status(error);
}
