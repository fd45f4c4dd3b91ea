#include "report_json.h"
#include "render_json.h"
#include "summary_head.h"
#include "summary_json.h"

#include "analyzer/query/allocation_rank.h"

#include <stdlib.h>
#include <string.h>

/* --- the lines that a summary begins with --- */

static bool add_line(json_t *lines, const char *line)
{
	char label[UM_SUMMARY_LABEL_COLUMNS];
	size_t bytes = strlen(line), indent = UM_SUMMARY_LABEL_COLUMNS;
	const char *text = bytes > indent ? line + indent : "";
	size_t width = strnlen(line, indent);

	while (width && line[width - 1] == ' ')
		width--;
	/* XNACK's sentence stands without a label. */
	if (bytes > indent && line[indent - 1] != ' ')
		return json_array_append_new(lines,
					     json_pack("[s, o]", "", um_text_json(line + 2))) == 0;
	snprintf(label, sizeof(label), "%.*s", (int)(width > 2 ? width - 2 : 0),
		 width > 2 ? line + 2 : "");
	return json_array_append_new(lines, json_pack("[s, o]", label, um_text_json(text))) == 0;
}

json_t *um_report_head_json(const struct um_summary *summary)
{
	char *text = um_render_summary_settings(summary), *at = text, *line;
	json_t *lines = text ? json_array() : NULL;
	bool ok = lines != NULL;

	while (ok && (line = strsep(&at, "\n")) && at)
		ok = add_line(lines, line);
	free(text);
	if (ok)
		return lines;
	json_decref(lines);
	return NULL;
}

/* --- its tables, cut down --- */

static double known(int64_t value)
{
	return value == UM_NULL ? 0 : (double)value;
}

static double kernel_weight(const struct um_kernel_summary *of)
{
	return known(of->migrated_to_device_bytes) + known(of->migrated_to_host_bytes) +
	       known(of->remote_to_device_bytes) + known(of->remote_to_host_bytes);
}

static int by_weight(const void *left, const void *right)
{
	const struct um_kernel_summary *a = left, *b = right;
	const double keys[][2] = {{kernel_weight(a), kernel_weight(b)},
				  {known(a->duration_ns), known(b->duration_ns)}};

	for (size_t i = 0; i < 2; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] > keys[i][1] ? -1 : 1;
	return (a->first_op > b->first_op) - (a->first_op < b->first_op);
}

static int by_rank(const void *left, const void *right)
{
	return um_allocation_compare(left, right);
}

/* A sorted copy; NULL where there is no memory. */
static void *sorted(const void *items, size_t count, size_t item_bytes,
		    int (*compare)(const void *, const void *))
{
	void *copy = calloc(count + 1, item_bytes);

	if (copy && count) {
		memcpy(copy, items, count * item_bytes);
		qsort(copy, count, item_bytes, compare);
	}
	return copy;
}

static void cut(size_t *count, size_t most, json_t *folded, const char *name)
{
	if (*count <= most)
		return;
	um_report_set(folded, name, json_integer((json_int_t)(*count - most)));
	*count = most;
}

static void cut_tables(struct um_summary *brief, size_t rows, json_t *folded)
{
	cut(&brief->kernel_count, rows, folded, "kernels");
	cut(&brief->allocation_count, rows, folded, "allocations");
	cut(&brief->range_count, rows, folded, "ranges");
	cut(&brief->line_count, rows, folded, "host_fault_lines");
	cut(&brief->host_line_count, rows, folded, "host_lines");
	cut(&brief->loss_count, rows, folded, "losses");
	cut(&brief->event_count, rows, folded, "driver_events");
	cut(&brief->origin_count, rows, folded, "origins");
	cut(&brief->bound_count, rows, folded, "bounds");
	cut(&brief->device_count, rows, folded, "devices");
	cut(&brief->criterion_count, rows, folded, "criteria");
	for (size_t i = 0; i < brief->allocation_count; i++)
		cut(&brief->allocations[i].part_count, rows / 8 + 1, folded, "parts");
}

/* Long texts that nobody reads on a page. */
static void drop_texts(json_t *json)
{
	json_object_del(json_object_get(json, "run"), "machine_text");
	json_object_del(json_object_get(json, "run"), "environment");
}

json_t *um_report_summary_json(const struct um_summary *summary,
			       const struct um_report_limits *limits)
{
	struct um_summary brief = *summary;
	json_t *folded = json_object(), *json = NULL;

	brief.kernels = sorted(summary->kernels, summary->kernel_count, sizeof(*summary->kernels),
			       by_weight);
	brief.allocations = sorted(summary->allocations, summary->allocation_count,
				   sizeof(*summary->allocations), by_rank);
	if (brief.kernels && brief.allocations && folded) {
		cut_tables(&brief, limits->rows, folded);
		json = um_summary_json(&brief);
	}
	free(brief.kernels);
	free(brief.allocations);
	if (!json) {
		json_decref(folded);
		return NULL;
	}
	drop_texts(json);
	um_report_set(json, "folded", folded);
	return json;
}
