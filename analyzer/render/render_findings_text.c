#include "render_findings.h"

#include "analyzer/findings/finding_rule.h"
#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FINDING_INDENT 3

struct writing {
	FILE *out;
	const struct um_findings *findings;
	const struct um_findings_style *style;
};

/* --- figures --- */

static char *value_text(char *buffer, size_t capacity, const struct um_finding_value *value)
{
	bool negative = value->value < 0 && value->unit != UM_UNIT_TEXT;
	uint64_t magnitude = negative ? -(uint64_t)value->value : (uint64_t)value->value;
	char text[64];

	switch (value->unit) {
	case UM_UNIT_BYTES:
		um_format_bytes(text, sizeof(text), magnitude);
		break;
	case UM_UNIT_NS:
		um_format_duration(text, sizeof(text), magnitude);
		break;
	case UM_UNIT_PERCENT:
		snprintf(text, sizeof(text), "%" PRIu64 " %%", magnitude);
		break;
	case UM_UNIT_COUNT:
		um_format_count(text, sizeof(text), magnitude);
		break;
	case UM_UNIT_TEXT:
		snprintf(buffer, capacity, "%s", value->text);
		return buffer;
	}
	snprintf(buffer, capacity, "%s%s", negative ? "-" : "", text);
	return buffer;
}

/* "42 %", "0.3 %"; of a saving. */
static char *share_text(char *buffer, size_t capacity, int64_t part, uint64_t whole)
{
	double percent = whole ? 100 * (double)part / (double)whole : 0;

	snprintf(buffer, capacity, percent > -10 && percent < 10 ? "%.1f %%" : "%.0f %%", percent);
	return buffer;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- one finding --- */

/* "saves 1.2 ms (42 %) and 30 MiB (50 %)" */
static void put_saving(const struct writing *writing, const struct um_finding_change *change)
{
	const struct um_finding_cost *baseline = &writing->findings->baseline;
	char amount[40], share[32];
	bool has_time = change->saved_ns > 0, has_bytes = change->saved_bytes > 0;

	if (has_time)
		fprintf(writing->out, "saves %s (%s)",
			um_format_duration(amount, sizeof(amount), (uint64_t)change->saved_ns),
			share_text(share, sizeof(share), change->saved_ns, baseline->end_ns));
	if (has_bytes)
		fprintf(writing->out, "%s%s (%s)", has_time ? " and " : "saves ",
			um_format_bytes(amount, sizeof(amount), (uint64_t)change->saved_bytes),
			share_text(share, sizeof(share), change->saved_bytes,
				   um_finding_cost_bytes(baseline)));
	if (!has_time && !has_bytes)
		fputs("saves nothing", writing->out);
}

static void put_verdict(const struct writing *writing, const struct um_finding *finding)
{
	switch (finding->verdict) {
	case UM_FINDING_FAULT:
		fputs(finding->is_certain ? "a fault of the program"
					  : "may be a fault of the program",
		      writing->out);
		break;
	case UM_FINDING_NOT_REPLAYED:
		fputs("what it costs is not known", writing->out);
		break;
	case UM_FINDING_NO_EFFECT:
		fputs("changes nothing", writing->out);
		break;
	case UM_FINDING_SAVES:
	case UM_FINDING_FOLDED:
		put_saving(writing, &finding->changes[0]);
		break;
	}
}

static void put_place(FILE *out, const struct um_finding *finding)
{
	fprintf(out, "%*s", FINDING_INDENT, "");
	um_text_print(out,
		      finding->at.text ? base_name(finding->at.text) : "a line that is not known");
	if (finding->at.function && finding->at.line != UM_NULL) {
		fputs(" in ", out);
		um_text_print(out, finding->at.function);
	}
	for (size_t i = 0; i < finding->kernel_count; i++) {
		fputs(i ? ", " : finding->kernel_count > 1 ? "; kernels " : "; kernel ", out);
		um_text_print(out, finding->kernels[i]);
	}
	if (finding->phase) {
		fputs("; range ", out);
		um_text_print(out, finding->phase);
	}
	fputc('\n', out);
}

static int put_evidence(FILE *out, const struct um_finding *finding)
{
	static const struct um_text_column columns[] = {
		{"", UM_ALIGN_LEFT}, {"", UM_ALIGN_RIGHT}, {"", UM_ALIGN_LEFT}, {0}};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);
	char text[512];

	for (size_t i = 0; i < finding->evidence_count && !error; i++) {
		const struct um_finding_value *value = &finding->evidence[i];

		um_text_table_cell(table, "%s", value->label);
		um_text_table_cell(table, "%s", value_text(text, sizeof(text), value));
		um_text_table_cell(table, "%s", value->origin ? value->origin : "");
	}
	if (!error)
		error = um_text_table_print(table, out, FINDING_INDENT);
	um_text_table_destroy(table);
	return error;
}

/* Each line of it behind a bar. */
static void put_code(FILE *out, const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		int length = end ? (int)(end - text) : (int)strlen(text);
		char *line = strndup(text, (size_t)length);

		fprintf(out, "%*s| ", FINDING_INDENT + 2, "");
		um_text_print(out, line ? line : "");
		fputc('\n', out);
		free(line);
		text += length + (end != NULL);
	}
}

static void add_cost(struct um_text_table *table, const char *name,
		     const struct um_finding_cost *cost, const char *origin)
{
	char text[40];

	um_text_table_cell(table, "%s", name);
	um_text_table_cell(table, "%s", um_format_duration(text, sizeof(text), cost->end_ns));
	um_text_table_cell(table, "%s", um_format_bytes(text, sizeof(text), cost->bytes_to_device));
	um_text_table_cell(table, "%s", um_format_bytes(text, sizeof(text), cost->bytes_to_host));
	um_text_table_cell(
		table, "%s",
		um_format_bytes(text, sizeof(text), cost->remote_to_device + cost->remote_to_host));
	um_text_table_cell(table, "%s", um_format_count(text, sizeof(text), cost->device_faults));
	um_text_table_cell(table, "%s", um_format_count(text, sizeof(text), cost->host_faults));
	um_text_table_cell(table, "%s", origin);
}

static int put_costs(const struct writing *writing, const struct um_finding_change *change)
{
	static const struct um_text_column columns[] = {{"", UM_ALIGN_LEFT},
							{"end", UM_ALIGN_RIGHT},
							{"to device", UM_ALIGN_RIGHT},
							{"to host", UM_ALIGN_RIGHT},
							{"of it remote", UM_ALIGN_RIGHT},
							{"device faults", UM_ALIGN_RIGHT},
							{"host faults", UM_ALIGN_RIGHT},
							{"", UM_ALIGN_LEFT},
							{0}};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	add_cost(table, "as it is", &writing->findings->baseline,
		 writing->findings->baseline_origin);
	add_cost(table, "changed", &change->cost, "modelled");
	error = um_text_table_print(table, writing->out, FINDING_INDENT);
	um_text_table_destroy(table);
	return error;
}

static int put_change(const struct writing *writing, const struct um_finding_change *change)
{
	FILE *out = writing->out;

	fprintf(out, "%*schange ", FINDING_INDENT, "");
	um_text_print(out, change->at.text ? base_name(change->at.text) : "the program");
	fputs(":\n", out);
	put_code(out, change->code);
	if (!change->not_replayable)
		return put_costs(writing, change);
	fprintf(out, "%*snot replayed: ", FINDING_INDENT, "");
	um_text_print(out, change->not_replayable);
	fputc('\n', out);
	return 0;
}

static int put_finding(const struct writing *writing, size_t index)
{
	const struct um_finding *finding = &writing->findings->findings[index];
	FILE *out = writing->out;
	int error;

	fprintf(out, "%s%2zu %s: ", writing->style->colour ? "\033[1m" : "", index + 1,
		finding->kind);
	um_text_print(out, finding->title);
	fputs(writing->style->colour ? "\033[0m\n" : "\n", out);
	fprintf(out, "%*s", FINDING_INDENT, "");
	put_verdict(writing, finding);
	for (size_t i = 0; i < UM_FINDING_ALSO && finding->also[i]; i++)
		fprintf(out, "%s%s", i ? ", " : "; also ", finding->also[i]);
	fputc('\n', out);
	put_place(out, finding);
	if (finding->because)
		um_text_print_wrapped(out, finding->because, FINDING_INDENT, 0);
	error = put_evidence(out, finding);
	if (!error && finding->change_count)
		error = put_change(writing, &finding->changes[0]);
	fputc('\n', out);
	return error;
}

/* --- all of it --- */

static void put_head(const struct writing *writing)
{
	const struct um_findings *findings = writing->findings;
	FILE *out = writing->out;
	char text[40];

	um_text_print(out, findings->path);
	fputs(": ", out);
	um_text_print(out, findings->command ? findings->command : "");
	fputc('\n', out);
	if (findings->is_measured) {
		fputs("measured on a GPU: nothing can be replayed, ", out);
	} else {
		fprintf(out, "%s, %s, %s pages", findings->machine, findings->driver,
			um_format_bytes(text, sizeof(text), findings->page_bytes));
		if (findings->xnack) {
			fprintf(out, ", XNACK %s (", findings->xnack);
			um_text_print(out, findings->xnack_source);
			fputc(')', out);
		}
		fprintf(out, "; %s\n", findings->validated);
	}
	fprintf(out, "as it is (%s): ends after %s, ", findings->baseline_origin,
		um_format_duration(text, sizeof(text), findings->baseline.end_ns));
	fprintf(out, "%s to the device, ",
		um_format_bytes(text, sizeof(text), findings->baseline.bytes_to_device));
	fprintf(out, "%s to the host",
		um_format_bytes(text, sizeof(text), findings->baseline.bytes_to_host));
	if (findings->baseline.bytes_between_devices)
		fprintf(out, ", %s between devices",
			um_format_bytes(text, sizeof(text),
					findings->baseline.bytes_between_devices));
	fputc('\n', out);
}

static void put_left_out(const struct writing *writing)
{
	const struct um_findings *findings = writing->findings;

	if (findings->rules_left_out)
		fprintf(writing->out, "%zu kind%s of findings not looked for: %s\n",
			findings->rules_left_out, findings->rules_left_out == 1 ? "" : "s",
			findings->left_out_why);
}

static void put_rest(const struct writing *writing)
{
	const struct um_findings *findings = writing->findings;
	size_t folded = writing->style->folded ? 0 : findings->count - findings->shown;

	if (folded)
		fprintf(writing->out,
			"%zu more would save less than 1 %% of time and bytes: --all shows %s\n",
			folded, folded == 1 ? "it" : "them");
}

int um_render_findings_text(FILE *out, const struct um_findings *findings,
			    const struct um_findings_style *style)
{
	const struct writing writing = {out, findings, style};
	size_t shown = style->folded ? findings->count : findings->shown;
	int error = 0;

	if (!shown) {
		um_text_print(out, findings->path);
		fputs(findings->count
			      ? ": nothing found that would save 1 % of time or bytes (--all shows the "
				"rest)\n"
			      : ": nothing found\n",
		      out);
		put_left_out(&writing);
		return 0;
	}
	put_head(&writing);
	fputc('\n', out);
	for (size_t i = 0; i < shown && !error; i++)
		error = put_finding(&writing, i);
	put_rest(&writing);
	put_left_out(&writing);
	if (!error && ferror(out))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

int um_render_finding_rules(FILE *out)
{
	static const struct um_text_column columns[] = {
		{"finding", UM_ALIGN_LEFT}, {"what", UM_ALIGN_LEFT}, {0}};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	for (size_t i = 0; um_finding_rules[i] && !error; i++) {
		um_text_table_cell(table, "%s", um_finding_rules[i]->name);
		um_text_table_cell(table, "%s", um_finding_rules[i]->help);
	}
	if (!error)
		error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}
