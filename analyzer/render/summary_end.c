#include "summary_end.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"
#include "trace/base/shell_quote.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- losses */

/* Rows of one kind and one detail, which names the kernel where it is a launch's: a line. */
struct loss_group {
	const struct um_loss_row *first; /* in the file */
	int64_t count, ops, first_op, last_op;
};

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int alike_first(const void *left, const void *right)
{
	const struct loss_group *a = left, *b = right;
	int order = compare_texts(a->first->kind, b->first->kind);

	order = order ? order : compare_texts(a->first->detail, b->first->detail);
	return order ? order : (a->first > b->first) - (a->first < b->first);
}

static int as_in_file(const void *left, const void *right)
{
	const struct loss_group *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

static void join(struct loss_group *group, const struct loss_group *other)
{
	if (__builtin_add_overflow(group->count, other->count, &group->count))
		group->count = INT64_MAX; /* a damaged file's */
	if (!other->ops)
		return;
	if (!group->ops || other->first_op < group->first_op)
		group->first_op = other->first_op;
	if (!group->ops || other->last_op > group->last_op)
		group->last_op = other->last_op;
	group->ops += other->ops;
}

/* In the order in which the first of each stands in the file; returns how many. */
static size_t group_losses(struct loss_group *groups, const struct um_summary *summary)
{
	size_t count = 0;

	for (size_t i = 0; i < summary->loss_count; i++) {
		const struct um_loss_row *row = &summary->losses[i];

		groups[i] =
			(struct loss_group){row, row->count, row->op != UM_NULL, row->op, row->op};
	}
	qsort(groups, summary->loss_count, sizeof(*groups), alike_first);
	for (size_t i = 0; i < summary->loss_count; i++) {
		struct loss_group *last = count ? &groups[count - 1] : NULL;

		if (last && !compare_texts(last->first->kind, groups[i].first->kind) &&
		    !compare_texts(last->first->detail, groups[i].first->detail))
			join(last, &groups[i]);
		else
			groups[count++] = groups[i];
	}
	qsort(groups, count, sizeof(*groups), as_in_file);
	return count;
}

static void put_loss(FILE *out, const struct loss_group *group)
{
	char count[32], ops[32];

	fprintf(out, "%s: %s", group->first->kind,
		um_format_count(count, sizeof(count), (uint64_t)group->count));
	if (group->ops == 1)
		fprintf(out, " in op %" PRId64, group->first_op);
	else if (group->ops)
		fprintf(out, " in %s ops (%" PRId64 " to %" PRId64 ")",
			um_format_count(ops, sizeof(ops), (uint64_t)group->ops), group->first_op,
			group->last_op);
	if (group->first->detail)
		fprintf(out, ", %s", group->first->detail);
}

static int print_loss(FILE *out, const struct loss_group *group)
{
	char *text = NULL;
	size_t bytes;
	FILE *line = open_memstream(&text, &bytes);

	if (!line)
		return um_fail(UM_ENOMEM, "out of memory");
	put_loss(line, group);
	int failed = fclose(line);
	if (!failed)
		um_text_print_wrapped(out, text, 2, 2);
	free(text);
	return failed ? um_fail(UM_ENOMEM, "out of memory") : 0;
}

static int print_losses(FILE *out, const struct um_summary *summary)
{
	struct loss_group *groups;
	size_t count;
	int error = 0;

	fputs("\nLosses\n", out);
	if (!summary->loss_count) {
		fputs(strcmp(summary->run.ended, "running") == 0
			      ? "  none is noted, but the file ends early\n"
			      : "  none: everything that was asked for is in the file\n",
		      out);
		return 0;
	}
	groups = calloc(summary->loss_count, sizeof(*groups));
	if (!groups)
		return um_fail(UM_ENOMEM, "out of memory");
	count = group_losses(groups, summary);
	for (size_t i = 0; i < count && !error; i++)
		error = print_loss(out, &groups[i]);
	free(groups);
	return error;
}

/* ---------------------------------------------------------------- what to do next */

/* A command to type, its words quoted where the shell wants it, `behind` as it stands. */
static int print_command(FILE *out, const char *const *words, const char *behind,
			 const char *what_for)
{
	char *line = um_shell_quote((char *const *)words);

	if (!line)
		return um_fail(UM_ENOMEM, "out of memory");
	fputs("\nNext: ", out);
	um_text_print(out, line);
	if (behind) {
		fputc(' ', out);
		um_text_print(out, behind);
	}
	fputs(what_for, out);
	free(line);
	return 0;
}

static bool has_memory(const struct um_summary *summary, const char *kind)
{
	for (size_t i = 0; i < summary->memory_count; i++)
		if (strcmp(summary->memory[i].name, kind) == 0)
			return true;
	return false;
}

static bool has_loss(const struct um_summary *summary, const char *kind)
{
	for (size_t i = 0; i < summary->loss_count; i++)
		if (strcmp(summary->losses[i].kind, kind) == 0)
			return true;
	return false;
}

static int propose_policy(FILE *out, const struct um_summary *summary)
{
	char *policy = NULL;
	int error = um_path_share(&policy, "policies/prefetch.yaml");

	if (error)
		return error;
	const char *const words[] = {"umsim", "replay", summary->path, "-P", policy, NULL};
	error = print_command(out, words, NULL, ", for what another policy would do\n");
	free(policy);
	return error;
}

/* Its faults are all that a driver does with it; without XNACK a kernel that touches it ends. */
static int propose_for_pageable(FILE *out, const struct um_summary *summary)
{
	const char *xnack = summary->run.xnack;
	bool is_off = xnack && strcmp(xnack, "off") == 0;
	const char *const words[] = {"umsim",
				     "replay",
				     summary->path,
				     is_off ? "--xnack" : "--page-size",
				     is_off ? "on" : "64KiB",
				     NULL};

	return print_command(out, words, NULL,
			     is_off ? ", since memory that HIP did not allocate takes XNACK\n"
				    : ", for what smaller blocks would do\n");
}

static int propose_recording(FILE *out, const struct um_summary *summary)
{
	static const char *const words[] = {"umtrace", "--pageable", "-o", "pageable.um.db", NULL};

	return print_command(out, words, summary->run.command,
			     ", for the memory that HIP did not allocate\n");
}

static int propose_machine(FILE *out, const struct um_summary *summary)
{
	const char *machine = summary->run.machine;
	bool is_mi300x = machine && strcmp(machine, "mi300x") == 0;
	const char *const words[] = {
		"umsim", "replay", summary->path, "--machine", is_mi300x ? "mi250x" : "mi300x",
		NULL};

	return print_command(out, words, NULL, ", for what another machine would do\n");
}

/* A measured run has no accesses that could be played again. */
static int propose_range(FILE *out, const struct um_summary *summary)
{
	if (!summary->range_count || summary->chosen)
		return 0;
	const char *const words[] = {"umanalyze",   "summary", "--range", summary->ranges[0].name,
				     summary->path, NULL};

	return print_command(out, words, NULL, ", for that range alone\n");
}

static int print_next(FILE *out, const struct um_summary *summary)
{
	if (strcmp(summary->run.role, "simulation") == 0) {
		const char *const words[] = {"umanalyze", "summary",
					     summary->run.source ? summary->run.source : "TRACE",
					     NULL};
		return print_command(out, words, NULL,
				     ", to set this beside the program as it ran\n");
	}
	if (summary->is_measured)
		return propose_range(out, summary);
	if (has_memory(summary, "managed") && summary->kernel_count)
		return propose_policy(out, summary);
	if (has_memory(summary, "pageable"))
		return propose_for_pageable(out, summary);
	if (has_loss(summary, "outside"))
		return propose_recording(out, summary);
	return propose_machine(out, summary);
}

int um_render_summary_end(FILE *out, const struct um_summary *summary)
{
	int error = print_losses(out, summary);

	return error ? error : print_next(out, summary);
}
