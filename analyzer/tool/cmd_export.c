#include "command.h"
#include "output_file.h"
#include "skip_frames.h"

#include "analyzer/query/export_sheets.h"
#include "analyzer/render/export.h"
#include "trace/base/error.h"
#include "trace/base/suggest.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *path, *output;
	const struct um_export_format *format;
	struct um_export_choice choice;
	struct um_skip_frames skip;
	bool force;
};

enum { KEY_FORCE = 256 };

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0, "perfetto, csv, json or rocpd", 0},
	{"output", 'o', "FILE", 0, "where it goes; default and -: standard output", 0},
	{"table", 't', "TABLE", 0, "csv: which table (default transfers)", 0},
	{"force", KEY_FORCE, NULL, 0, "replace FILE", 0},
	UM_SKIP_FRAMES_OPTION,
	{0},
};

static const char help_end[] =
	"\n"
	"perfetto: JSON of Chrome's trace event format, which ui.perfetto.dev and chrome://tracing "
	"open. A track each for the streams of a device, each direction of its link, its page faults, the "
	"host's threads, their faults and ranges; counters of the managed memory on a device and of what "
	"hipMalloc() took. Times are relative to the run's start. Records of another clock than the calls' "
	"(the model's, in a trace) are left out: replay the trace for a timeline.\n"
	"\n"
	"json: one object: run, origins, traffic by cause, allocations, kernels, ranges, transfers, "
	"faults, losses. \"devices\" and \"summary\" in it have the names of rocprof-sys's "
	"unified_memory.json, so that what reads that reads this.\n"
	"\n"
	"rocpd: an SQLite database as rocprofv3 writes it (schema 3). Launches, calls, explicit copies, device "
	"allocations, and as events of KFD migrations, faults of devices, stops of queues, unmappings, losses; "
	"with what each figure is in rocpd_metadata, tags umtrace.origin.*. What has no place in it is left out, as is what "
	"has another clock than calls. umtrace --import reads it again.\n";

static void set_format(struct options *options, const char *name, struct argp_state *state)
{
	const struct um_export_format *format = um_export_formats;
	size_t count = 0;

	while (format->name && strcmp(format->name, name) != 0) {
		format++;
		count++;
	}
	if (format->name) {
		options->format = format;
		return;
	}
	const char *meant =
		um_suggest(name, &um_export_formats[0].name, count, sizeof(um_export_formats[0]));

	if (meant)
		argp_error(state, "--format: no \"%s\"; did you mean %s?", name, meant);
	else
		argp_error(state, "--format: \"%s\" is none of perfetto, csv, json, rocpd", name);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		set_format(options, argument, state);
		return 0;
	case 'o':
		options->output = strcmp(argument, "-") == 0 ? NULL : argument;
		return 0;
	case 't':
		options->choice.table = argument;
		return 0;
	case 's':
		um_skip_frames_add(&options->skip, argument, state);
		return 0;
	case KEY_FORCE:
		options->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_error(state, "one file is exported; \"%s\" is a second", argument);
		options->path = argument;
		return 0;
	case ARGP_KEY_END:
		if (!options->path)
			argp_error(state, "which file?");
		if (!options->format)
			argp_error(state, "--format: perfetto, csv, json or rocpd?");
		if (options->choice.table && strcmp(options->format->name, "csv") != 0)
			argp_error(state, "--table is of --format=csv");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The tables are told where they are listed. */
static char *filter_help(int key, const char *text, void *input)
{
	char *filled = NULL;
	size_t bytes;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&filled, &bytes)))
		return (char *)text;
	fputs("csv, by --table:\n", out);
	for (const struct um_export_sheet *sheet = um_export_sheets; sheet->name; sheet++)
		fprintf(out, "  %-12s %s\n", sheet->name, sheet->about);
	fputs("and the tables of the schema (trace/db/schema.sql), without their blobs:", out);
	for (size_t i = 0; um_tables[i]; i++)
		fprintf(out, "%s %s", i ? "," : "", um_tables[i]->name);
	fprintf(out, ".\n%s", help_end);
	fclose(out);
	return filled;
}

static void tell(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "umanalyze: %s\n", text);
}

static int export(struct options *options, struct um_db *db)
{
	struct um_output_file file;
	int error = um_export_prepare(db, options->skip.patterns);

	if (!error)
		error = um_output_open(&file, options->output, options->path, options->force);
	if (error)
		return error;
	error = options->format->run(file.out, db, &options->choice);
	return um_output_close(&file, error);
}

int um_cmd_export(int argc, char **argv)
{
	static const char doc[] =
		"A trace or a simulation for other programs: a timeline, a table, or "
		"all of it. Rows are written as they are read, however many there are."
		"\v"
		" ";
	static const struct argp argp = {option_table, parse,	    "TRACE", doc,
					 NULL,	       filter_help, NULL};
	static char name[] = "umanalyze export";
	struct options options = {.choice = {.note = tell}};
	struct um_db *db;

	argv[0] = name;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.choice.table)
		options.choice.table = "transfers";
	int error = um_db_open(&db, options.path);

	if (!error) {
		error = export(&options, db);
		um_db_close(db);
	}
	if (error)
		fprintf(stderr, "umanalyze: %s\n", um_error_message());
	return um_exit_status(error);
}
