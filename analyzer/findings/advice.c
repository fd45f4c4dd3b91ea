#include "advice.h"

#include "finding_rule.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A change that is applied, or that was tried and is not. */
struct part {
	const struct um_finding *finding;
	const struct um_finding_change *change;
};

struct whole {
	struct um_findings *findings;
	struct um_finding_setup *setup;
	struct part *applied, *left_out;
	size_t applied_count, left_out_count;
	struct um_finding_cost cost;
};

/* --- one file out of many fragments --- */

/*
 * Fragments are rules of the findings' own making: lists of rules below a key at the line's start, or a
 * key with its value in one line.
 */
static const char without[] = "program: {without: [";

static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? end + 1 : text + strlen(text);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_origin(FILE *out, const struct part *part)
{
	char time[32], bytes[32];
	const struct um_finding_change *change = part->change;

	fprintf(out, "  # %s", part->finding->kind);
	if (part->finding->at.text)
		fprintf(out, ", %s", base_name(part->finding->at.text));
	fprintf(out, ": %s%s, %s%s alone\n", change->saved_ns < 0 ? "-" : "",
		um_format_duration(time, sizeof(time), (uint64_t)llabs(change->saved_ns)),
		change->saved_bytes < 0 ? "-" : "",
		um_format_bytes(bytes, sizeof(bytes), (uint64_t)llabs(change->saved_bytes)));
}

/* The rules of one list of a fragment; false: it has no such list. */
static bool put_list(FILE *out, const struct part *part, const char *key)
{
	const char *line = part->change->policy;

	while (*line && !begins(line, key))
		line = next_line(line);
	if (!*line)
		return false;
	put_origin(out, part);
	for (line = next_line(line); *line == ' '; line = next_line(line))
		fwrite(line, 1, (size_t)(next_line(line) - line), out);
	return true;
}

static bool has_list(const struct part *part, const char *key)
{
	const char *line = part->change->policy;

	while (*line && !begins(line, key))
		line = next_line(line);
	return *line != '\0';
}

static void put_lists(FILE *out, const struct part *parts, size_t count, const char *key)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!has_list(&parts[i], key))
			continue;
		if (!any)
			fputs(key, out);
		any = true;
		put_list(out, &parts[i], key);
	}
}

/* Each line once. */
static bool was_before(const struct part *parts, size_t count, const char *text, size_t length)
{
	for (size_t i = 0; i < count; i++)
		for (const char *line = parts[i].change->policy; *line; line = next_line(line))
			if (strncmp(line, text, length) == 0)
				return true;
	return false;
}

static void put_without(FILE *out, const struct part *parts, size_t count)
{
	const char *separator = without;

	for (size_t i = 0; i < count; i++)
		for (const char *line = parts[i].change->policy; *line; line = next_line(line)) {
			size_t length = (size_t)(next_line(line) - line);

			if (!begins(line, without) || was_before(parts, i, line, length))
				continue;
			/* Less what stands before and "]}\n" behind. */
			fputs(separator, out);
			fwrite(line + strlen(without), 1, length - strlen(without) - 3, out);
			separator = ", ";
		}
	if (separator != without)
		fputs("]}\n", out);
}

/* Any other key in one line: `driver: {xnack: on}`. */
static void put_others(FILE *out, const struct part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (const char *line = parts[i].change->policy; *line; line = next_line(line)) {
			size_t length = (size_t)(next_line(line) - line);

			if (*line == ' ' || begins(line, "advise:") || begins(line, "prefetch:") ||
			    begins(line, without) || was_before(parts, i, line, length))
				continue;
			fwrite(line, 1, length, out);
		}
}

static void put_rules(FILE *out, const struct part *parts, size_t count)
{
	put_others(out, parts, count);
	put_without(out, parts, count);
	put_lists(out, parts, count, "advise:\n");
	put_lists(out, parts, count, "prefetch:\n");
}

/* NULL: out of memory. */
static const char *rules_of(struct um_findings *findings, const struct part *parts, size_t count)
{
	char *text = NULL;
	const char *kept = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out) {
		put_rules(out, parts, count);
		if (fclose(out) == 0)
			kept = um_finding_text(findings, "%s", text);
	}
	free(text);
	if (!kept)
		um_fail(UM_ENOMEM, "out of memory");
	return kept;
}

/* --- what helps together --- */

static int try_change(struct whole *whole, const struct part *part, bool *helps)
{
	struct um_finding_cost cost;
	const char *rules;
	int error;

	*helps = false;
	whole->applied[whole->applied_count] = *part;
	rules = rules_of(whole->findings, whole->applied, whole->applied_count + 1);
	if (!rules)
		return UM_ENOMEM;
	error = um_finding_replay(whole->setup, rules, NULL, &cost);
	if (error == UM_EINVAL || error == UM_ENOTSUP)
		return 0; /* two that cannot be in one file */
	if (error || um_finding_worth(&whole->cost, &cost) <= 0)
		return error;
	*helps = true;
	whole->cost = cost;
	whole->applied_count++;
	return 0;
}

/* The first of its changes that helps beside those before. */
static int try_finding(struct whole *whole, const struct um_finding *finding)
{
	bool helps = false;

	for (size_t i = 0; i < finding->change_count && !helps; i++) {
		const struct part part = {finding, &finding->changes[i]};
		int error;

		if (!part.change->policy || part.change->not_replayable ||
		    um_finding_worth(&whole->findings->baseline, &part.change->cost) <= 0)
			continue;
		error = try_change(whole, &part, &helps);
		if (error)
			return error;
	}
	if (!helps && finding->change_count && finding->changes[0].policy)
		whole->left_out[whole->left_out_count++] =
			(struct part){finding, &finding->changes[0]};
	return 0;
}

/* Those that are of no use any more beside what came after them. */
static int prune(struct whole *whole)
{
	for (size_t i = 0; i < whole->applied_count && whole->applied_count > 1; i++) {
		struct part part = whole->applied[i];
		size_t behind = whole->applied_count - i - 1;
		struct um_finding_cost cost;
		const char *rules;
		int error;

		memmove(&whole->applied[i], &whole->applied[i + 1], behind * sizeof(part));
		rules = rules_of(whole->findings, whole->applied, whole->applied_count - 1);
		if (!rules)
			return UM_ENOMEM;
		error = um_finding_replay(whole->setup, rules, NULL, &cost);
		if (error)
			return error;
		if (um_finding_worth(&cost, &whole->cost) > 0) {
			memmove(&whole->applied[i + 1], &whole->applied[i], behind * sizeof(part));
			whole->applied[i] = part;
			continue;
		}
		whole->cost = cost;
		whole->applied_count--;
		whole->left_out[whole->left_out_count++] = part;
		i--;
	}
	return 0;
}

/* --- the file --- */

static void put_cost(FILE *out, const char *what, const struct um_finding_cost *cost)
{
	char end[32], in[32], back[32];

	fprintf(out,
		"# %-10s ends after %s, %s to the device, %s to the host, %llu + %llu faults\n",
		what, um_format_duration(end, sizeof(end), cost->end_ns),
		um_format_bytes(in, sizeof(in), cost->bytes_to_device),
		um_format_bytes(back, sizeof(back), cost->bytes_to_host),
		(unsigned long long)cost->device_faults, (unsigned long long)cost->host_faults);
}

static void put_comment(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
	fputs(after, out);
}

static void put_head(FILE *out, const struct whole *whole)
{
	const struct um_findings *findings = whole->findings;

	put_comment(out, "# umanalyze advise ", findings->path, "\n");
	fprintf(out, "# replayed together (modelled) on %s by %s", findings->machine,
		findings->driver);
	if (findings->xnack)
		fprintf(out, ", XNACK %s", findings->xnack);
	fprintf(out, ": %s\n", findings->validated);
	put_cost(out, "as it is:", &findings->baseline);
	put_cost(out, "with this:", &whole->cost);
	for (size_t i = 0; i < whole->left_out_count; i++) {
		const struct part *part = &whole->left_out[i];

		fprintf(out, "# left out, no use beside the others: %s", part->finding->kind);
		put_comment(out, " of ",
			    part->finding->at.text ? base_name(part->finding->at.text) : "?", "\n");
	}
}

/* What the replays were asked for beside the trace. */
static void put_setup(FILE *out, const struct whole *whole)
{
	const struct um_findings_choice *choice = whole->setup->choice;

	if (choice->machine)
		fprintf(out, "machine: %s\n", um_finding_quote(whole->findings, choice->machine));
	if (choice->driver && choice->xnack)
		fprintf(out, "driver: {name: %s, xnack: %s}\n", choice->driver, choice->xnack);
	else if (choice->driver)
		fprintf(out, "driver: %s\n", choice->driver);
	else if (choice->xnack)
		fprintf(out, "driver: {xnack: %s}\n", choice->xnack);
}

/* With the baseline's policy beneath: a file has all or nothing of it. */
static int put_policy(FILE *out, const struct whole *whole)
{
	const char *rules = rules_of(whole->findings, whole->applied, whole->applied_count);
	char *text;
	int error = rules ? um_finding_policy_text(whole->setup, rules, &text) : UM_ENOMEM;

	if (error)
		return error;
	put_comment(out, "# the rules of ",
		    whole->setup->choice->policy ? whole->setup->choice->policy
						 : "the simulation's policy",
		    ", and last:\n");
	for (size_t i = 0; i < whole->applied_count; i++)
		put_origin(out, &whole->applied[i]);
	fputs(text, out);
	free(text);
	return 0;
}

static int put_file(FILE *out, const struct whole *whole)
{
	put_head(out, whole);
	if (um_finding_has_policy(whole->setup))
		return put_policy(out, whole);
	put_setup(out, whole);
	put_rules(out, whole->applied, whole->applied_count);
	return 0;
}

static int write_file(struct whole *whole)
{
	struct um_findings *findings = whole->findings;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int error;

	if (!out)
		return um_fail(UM_ENOMEM, "out of memory");
	error = put_file(out, whole);
	if (fclose(out) == 0 && !error)
		findings->advice.policy = um_finding_text(findings, "%s", text);
	free(text);
	if (error)
		return error;
	return findings->advice.policy ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

int um_findings_put_together(struct um_findings *findings, struct um_finding_setup *setup)
{
	struct whole whole = {
		.findings = findings,
		.setup = setup,
		.applied = calloc(findings->count + 1, sizeof(*whole.applied)),
		.left_out = calloc(findings->count + 1, sizeof(*whole.left_out)),
		.cost = findings->baseline,
	};
	int error = whole.applied && whole.left_out ? 0 : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; i < findings->shown && !error; i++)
		if (findings->findings[i].verdict == UM_FINDING_SAVES)
			error = try_finding(&whole, &findings->findings[i]);
	if (!error)
		error = prune(&whole);
	findings->advice.cost = whole.cost;
	findings->advice.applied = whole.applied_count;
	findings->advice.left_out = whole.left_out_count;
	if (!error && whole.applied_count)
		error = write_file(&whole);
	free(whole.applied);
	free(whole.left_out);
	return error;
}
