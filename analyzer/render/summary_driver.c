#include "summary_driver.h"

#include "summary_measured.h"

#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <stdbool.h>
#include <string.h>

typedef char *(*format_fn)(char *buffer, size_t capacity, uint64_t value);

static void cell(struct um_text_table *table, int64_t value, format_fn format)
{
	char text[32];

	um_text_table_cell(table, "%s",
			   value < 0 ? "-" : format(text, sizeof(text), (uint64_t)value));
}

/* ---------------------------------------------------------------- driver events */

static const char *event_label(const char *kind)
{
	static const struct {
		const char *kind, *label;
	} labels[] = {
		{UM_EVENT_QUEUE_EVICTION, "queues of the GPU stopped"},
		{UM_EVENT_VRAM_REFUSED, "no room in device memory"},
		{UM_EVENT_FAULT_DROPPED, "faults of the GPU dropped"},
		{UM_EVENT_WORD_THRASHING, "thrashing: pages went to and fro"},
		{UM_EVENT_WORD_THROTTLING, "throttling: a wait on their account"},
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (strcmp(kind, labels[i].kind) == 0)
			return labels[i].label;
	return kind;
}

static void event_row(struct um_text_table *table, const struct um_event_summary *event)
{
	bool stops = strcmp(event->kind, UM_EVENT_QUEUE_EVICTION) == 0;
	bool drops = strcmp(event->kind, UM_EVENT_FAULT_DROPPED) == 0;
	bool lasts = stops || drops || strcmp(event->kind, UM_EVENT_WORD_THROTTLING) == 0;

	um_text_table_cell(table, "%s", event_label(event->kind));
	um_text_table_cell(table, "%s", event->reason ? event->reason : "-");
	cell(table, event->count, um_format_count);
	/* Whose pages made the driver stop the queues says nothing of how much stood still. */
	cell(table,
	     stops || event->pages < 0 ? UM_NULL
				       : (int64_t)((uint64_t)event->pages * UM_PAGE_BYTES),
	     um_format_bytes);
	cell(table, lasts ? event->duration_ns : UM_NULL, um_format_duration);
	cell(table, event->waited_ns, um_format_duration);
}

/* What the times are. */
static void note_times(struct um_text_table *table, const struct um_summary *summary)
{
	for (size_t i = 0; i < summary->event_count; i++)
		if (strcmp(summary->events[i].kind, UM_EVENT_FAULT_DROPPED) == 0) {
			um_text_table_note(
				table, "dropped: so soon after another on the same range; time: "
				       "while some access waited for that; waits: of all of them, "
				       "added up");
			return;
		}
}

static int print_events(FILE *out, const struct um_summary *summary)
{
	static const struct um_text_column columns[] = {{"event", UM_ALIGN_LEFT},
							{"reason", UM_ALIGN_LEFT},
							{"times", UM_ALIGN_RIGHT},
							{"memory", UM_ALIGN_RIGHT},
							{"time", UM_ALIGN_RIGHT},
							{"waits", UM_ALIGN_RIGHT},
							{NULL, 0}};
	struct um_text_table *table;
	int error;

	if (!summary->event_count)
		return 0;
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	fprintf(out, "\nWhat the driver did beside%s\n", um_summary_measured(summary));
	for (size_t i = 0; i < summary->event_count; i++)
		event_row(table, &summary->events[i]);
	note_times(table, summary);
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

/* ---------------------------------------------------------------- bounds */

struct quantity {
	const char *name, *label;
	format_fn format;
};

static const struct quantity *find_quantity(const char *name)
{
	static const struct quantity known[] = {
		{UM_BOUND_BYTES_TO_DEVICE, "to the GPU, migrated or remote", um_format_bytes},
		{UM_BOUND_BYTES_TO_HOST, "to the host, migrated or remote", um_format_bytes},
		{UM_BOUND_DEVICE_FAULTS, "faults of the GPU", um_format_count},
		{UM_BOUND_HOST_FAULTS, "faults of the host", um_format_count},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0)
			return &known[i];
	return NULL;
}

static void bound_label(struct um_text_table *table, const struct um_bound_summary *bound,
			const char *label)
{
	char page[32];

	if (bound->page_bytes < 0)
		um_text_table_cell(table, "%s", label);
	else
		um_text_table_cell(
			table, "%s, pages of %s", label,
			um_format_bytes(page, sizeof(page), (uint64_t)bound->page_bytes));
}

static void bound_row(struct um_text_table *table, const struct um_bound_summary *bound)
{
	const struct quantity *quantity = find_quantity(bound->quantity);
	format_fn format = quantity ? quantity->format : um_format_count;

	bound_label(table, bound, quantity ? quantity->label : bound->quantity);
	cell(table, bound->simulated, format);
	cell(table, bound->least, format);
	if (bound->simulated < 0 || bound->least < 0)
		um_text_table_cell(table, "-");
	else if (bound->simulated == bound->least)
		um_text_table_cell(table, "1 x");
	else if (bound->least == 0)
		um_text_table_cell(table, "none needed");
	else if (bound->simulated < bound->least)
		um_text_table_cell(table, "-");
	else
		um_text_table_cell(table, "%.3g x",
				   (double)bound->simulated / (double)bound->least);
}

static bool has_faults(const struct um_summary *summary)
{
	for (size_t i = 0; i < summary->bound_count; i++)
		if (summary->bounds[i].page_bytes != UM_NULL)
			return true;
	return false;
}

static int print_bounds(FILE *out, const struct um_summary *summary)
{
	static const struct um_text_column columns[] = {{"", UM_ALIGN_LEFT},
							{"here", UM_ALIGN_RIGHT},
							{"ideal", UM_ALIGN_RIGHT},
							{"over ideal", UM_ALIGN_RIGHT},
							{NULL, 0}};
	struct um_text_table *table;
	int error;

	if (!summary->bound_count)
		return 0;
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	fputs("\nDistance to the ideal: what no driver and no policy could undercut, of managed memory\n",
	      out);
	for (size_t i = 0; i < summary->bound_count; i++)
		bound_row(table, &summary->bounds[i]);
	if (has_faults(summary))
		um_text_table_note(table, "faults: of demand paging at this page size; - where "
					  "prefetches, mappings or evictions made do with fewer");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

int um_render_summary_driver(FILE *out, const struct um_summary *summary)
{
	int error = print_events(out, summary);

	return error ? error : print_bounds(out, summary);
}
