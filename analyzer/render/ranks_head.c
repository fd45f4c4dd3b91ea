#include "ranks_head.h"

#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMNS 13
/* Of a long list, so many are said. */
#define SAID_MAX 8
/* Longer values, as a machine file's text, are only said to differ. */
#define VALUE_MAX 60

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_count(FILE *out, size_t count, const char *one, const char *many)
{
	char text[32];

	fprintf(out, "%s %s", um_format_count(text, sizeof(text), count), count == 1 ? one : many);
}

void um_put_rank(FILE *out, const struct um_rank_group *group, size_t at)
{
	const struct um_rank *rank = &group->ranks[at];

	if (rank->rank == UM_NULL) {
		um_text_print(out, base_name(rank->path));
		return;
	}
	fprintf(out, "rank %" PRId64, rank->rank);
	if (group->hosts > 1 && rank->host) {
		fputs(" (", out);
		um_text_print(out, rank->host);
		fputc(')', out);
	}
}

/* --- several kinds --- */

static uint32_t all_differences(const struct um_ranks *ranks)
{
	uint32_t differs = 0;

	for (size_t i = 0; i < ranks->count; i++)
		differs |= ranks->groups[i].differs;
	return differs;
}

static void put_words(FILE *out, uint32_t traits)
{
	const char *before = "";

	for (size_t i = 0; i < UM_RANKS_TRAITS; i++)
		if (traits >> i & 1) {
			fprintf(out, "%s%s", before, um_ranks_traits[i].words);
			before = ", ";
		}
}

void um_render_ranks_opening(FILE *out, const struct um_ranks *ranks)
{
	if (ranks->range && ranks->without_range)
		fprintf(out,
			"%zu of the files have no range that is called so: what follows is without "
			"them\n",
			ranks->without_range);
	if (ranks->count < 2)
		return;
	fprintf(out, "%zu kinds of runs are shown apart, since their figures cannot be added up",
		ranks->count);
	uint32_t differs = all_differences(ranks);
	fputs(differs ? ".\nThey differ in: " : "", out);
	put_words(out, differs);
	fputs("\n\n", out);
}

/* Behind "kind 2 of 3": what tells it from the others, as far as that is short. */
static void put_differences(FILE *out, const struct um_ranks *ranks,
			    const struct um_rank_group *group)
{
	uint32_t differs = all_differences(ranks);
	const char *before = ": ";

	for (size_t i = 0; i < UM_RANKS_TRAITS; i++) {
		const char *value = group->traits[i];

		if (!(differs >> i & 1) || !value || strlen(value) > VALUE_MAX ||
		    strchr(value, '\n'))
			continue;
		fprintf(out, "%s%s%s", before,
			um_ranks_traits[i].is_plain ? "" : um_ranks_traits[i].words,
			um_ranks_traits[i].is_plain ? "" : " ");
		um_text_print(out, value);
		before = "; ";
	}
	fputc('\n', out);
}

/* --- one kind --- */

static void begin(FILE *out, const char *label)
{
	fprintf(out, "  %-*s", LABEL_COLUMNS - 2, label);
}

static void put(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	um_text_print(out, text);
	fputs(after, out);
}

/* "4 of 8 ranks", "3 traces without a rank" */
static void put_title(FILE *out, const struct um_rank_group *group)
{
	const char *kind = group->is_simulation ? "simulated"
			   : group->is_measured ? "measured"
						: "traced";

	if (group->is_unranked)
		put_count(out, group->count, "run", "runs");
	else if (group->ranks_of_job == UM_NULL)
		put_count(out, group->count, "rank", "ranks");
	else
		fprintf(out, "%zu of %" PRId64 " ranks", group->count, group->ranks_of_job);
	fprintf(out, ", %s", kind);
	if (group->hosts > 0) {
		fputs(", on ", out);
		put_count(out, group->hosts, "host", "hosts");
	}
	put(out, ": ", group->command, "");
	if (group->commands > 1)
		fprintf(out, " and %zu other command%s", group->commands - 1,
			group->commands == 2 ? "" : "s");
	fputc('\n', out);
}

static void put_files(FILE *out, const struct um_rank_group *group)
{
	begin(out, "Files");
	put(out, "", group->ranks[0].path, "");
	if (group->count > 1)
		put(out, group->count > 2 ? " to " : ", ", group->ranks[group->count - 1].path, "");
	fputc('\n', out);
}

static void put_times(FILE *out, const struct um_rank_group *group)
{
	if (!group->first_started)
		return;
	begin(out, "Started");
	put(out, "", group->first_started, "");
	if (strcmp(group->first_started, group->last_started) != 0)
		put(out, " to ", group->last_started, "");
	fputc('\n', out);
}

/* What is one job by its name needs no word. */
static void put_job(FILE *out, const struct um_rank_group *group)
{
	if (group->is_unranked) {
		begin(out, "Ranks");
		fputs("no launcher told any: whether these are of one job is not known\n", out);
	} else if (group->is_job_guessed && group->count > 1) {
		begin(out, "Job");
		fputs("not named by its launcher: these are taken for one, as ranks of one program "
		      "and of as many; ranks of another run among them would not be noticed\n",
		      out);
	}
}

static void put_machine(FILE *out, const struct um_rank_group *group)
{
	const char *backend = group->traits[UM_TRAIT_BACKEND];

	begin(out, "Machine");
	put(out, "", group->machine ? group->machine : "not recorded", "");
	if (!group->is_measured && backend && strcmp(backend, "emulated") == 0)
		fputs(", played by a CPU: no GPU took part", out);
	fputc('\n', out);
}

static void put_driver(FILE *out, const struct um_rank_group *group)
{
	const char *faults = group->traits[UM_TRAIT_FAULTS];
	const char *page = group->traits[UM_TRAIT_PAGE_SIZE];
	char text[32];

	begin(out, "Driver");
	put(out, group->is_measured && group->driver ? "NVIDIA " : "",
	    group->driver ? group->driver : "not recorded",
	    faults && strcmp(faults, "modelled") == 0 ? " (a model)" : "");
	if (page)
		fprintf(out, ", pages of %s",
			um_format_bytes(text, sizeof(text), strtoull(page, NULL, 10)));
	if (group->traits[UM_TRAIT_XNACK])
		put(out, ", XNACK ", group->traits[UM_TRAIT_XNACK], "");
	fputc('\n', out);
}

/* Which figures are what: those of one origin together. */
static void put_origins(FILE *out, const struct um_rank_group *group)
{
	static const struct {
		enum um_ranks_trait trait;
		const char *words;
	} records[] = {
		{UM_TRAIT_FAULTS, "page faults"},     {UM_TRAIT_HOST_FAULTS, "those of the host"},
		{UM_TRAIT_MIGRATIONS, "migrations"},  {UM_TRAIT_REMOTE, "remote accesses"},
		{UM_TRAIT_COPIES, "explicit copies"},
	};
	static const char *const origins[] = {"measured", "imported", "emulated", "modelled",
					      "inferred"};
	size_t count = sizeof(records) / sizeof(*records);
	bool any = false;

	for (size_t o = 0; o < sizeof(origins) / sizeof(*origins); o++) {
		const char *before = any ? "; " : "";

		for (size_t i = 0; i < count; i++) {
			const char *is = group->traits[records[i].trait];

			if (!is || strcmp(is, origins[o]) != 0)
				continue;
			if (!any)
				begin(out, "Origin");
			fprintf(out, "%s%s", before, records[i].words);
			before = ", ";
			any = true;
		}
		if (strcmp(before, ", ") == 0)
			fprintf(out, ": %s", origins[o]);
	}
	if (any)
		fputc('\n', out);
}

static void put_selection(FILE *out, const struct um_rank_group *group)
{
	const char *selection = group->traits[UM_TRAIT_SELECTION];
	char recorded[32], launches[32];

	if (!selection || strcmp(selection, "none") == 0)
		return;
	begin(out, "Selection");
	put(out, "", selection, ": faults and bytes of kernels are those of ");
	if (group->recorded >= 0 && group->launches >= 0)
		fprintf(out, "%s of %s launches\n",
			um_format_count(recorded, sizeof(recorded), (uint64_t)group->recorded),
			um_format_count(launches, sizeof(launches), (uint64_t)group->launches));
	else
		fputs("the selected launches\n", out);
}

static void put_missing(FILE *out, const struct um_rank_group *group)
{
	char text[32];

	if (!group->missing)
		return;
	begin(out, "MISSING");
	fputs(group->missing == 1 ? "rank " : "ranks ", out);
	for (size_t i = 0; i < group->gap_count && i < SAID_MAX; i++) {
		const struct um_rank_gap *gap = &group->gaps[i];

		fprintf(out, "%s%" PRId64, i ? ", " : "", gap->first);
		if (gap->last > gap->first)
			fprintf(out, "%s%" PRId64, gap->last == gap->first + 1 ? ", " : " to ",
				gap->last);
	}
	if (group->gap_count > SAID_MAX)
		fprintf(out, " and others, %s in all",
			um_format_count(text, sizeof(text), (uint64_t)group->missing));
	fputs(": what follows is without them\n", out);
}

static bool has_ended_well(const struct um_rank *rank)
{
	return strcmp(rank->ended, "exited") == 0 && rank->exit_status == 0;
}

static void put_end(FILE *out, const struct um_rank *rank)
{
	if (strcmp(rank->ended, "exited") == 0)
		fprintf(out, " ended with status %" PRId64, rank->exit_status);
	else if (strcmp(rank->ended, "signalled") == 0)
		fprintf(out, " was ended by signal %" PRId64, rank->exit_signal);
	else
		fputs(" ENDS EARLY: its writer was stopped, or still runs", out);
}

static void put_ends(FILE *out, const struct um_rank_group *group)
{
	size_t said = 0, left = 0;

	for (size_t i = 0; i < group->count; i++) {
		if (has_ended_well(&group->ranks[i]))
			continue;
		if (said == SAID_MAX) {
			left++;
			continue;
		}
		if (said++)
			fputs("; ", out);
		else
			begin(out, "Ended");
		um_put_rank(out, group, i);
		put_end(out, &group->ranks[i]);
	}
	if (left)
		fprintf(out, "; and %zu more did not end well", left);
	if (said)
		fputc('\n', out);
}

static void put_settings(FILE *out, const struct um_ranks *ranks, const struct um_rank_group *group)
{
	put_files(out, group);
	put_times(out, group);
	put_job(out, group);
	put_machine(out, group);
	put_driver(out, group);
	put_origins(out, group);
	if (ranks->range) {
		begin(out, "Range");
		put(out, "", ranks->range, ": all that follows is of it\n");
	}
	put_selection(out, group);
	put_missing(out, group);
	put_ends(out, group);
}

/* The command stays whole, so that it can be copied. */
int um_render_ranks_head(FILE *out, const struct um_ranks *ranks, const struct um_rank_group *group)
{
	char *text = NULL, *at, *line;
	size_t bytes;
	FILE *settings = open_memstream(&text, &bytes);

	if (!settings)
		return um_fail(UM_ENOMEM, "out of memory");
	put_settings(settings, ranks, group);
	if (fclose(settings) != 0) {
		free(text);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	if (ranks->count > 1) {
		fprintf(out, "--- kind %zu of %zu", (size_t)(group - ranks->groups) + 1,
			ranks->count);
		put_differences(out, ranks, group);
	}
	put_title(out, group);
	at = text;
	while ((line = strsep(&at, "\n")) && at)
		um_text_print_wrapped(out, line, 0, LABEL_COLUMNS);
	free(text);
	return 0;
}
