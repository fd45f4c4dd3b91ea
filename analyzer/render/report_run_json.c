#include "report_json.h"
#include "render_json.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* --- the axis --- */

static json_t *axis_json(const struct um_report_run *run)
{
	const struct um_axis *axis = &run->axis;
	const char *origin =
		run->is_replayed ? "modelled" : um_summary_origin(run->summary, "op.time");

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:b, s:o}", "kind",
			 axis->kind == UM_AXIS_TIME ? "time" : "calls", "start",
			 (json_int_t)axis->start, "end", (json_int_t)axis->end, "bins",
			 (json_int_t)axis->bins, "columns", (json_int_t)run->heat.axis.bins,
			 "empty", axis->is_empty, "replayed", run->is_replayed, "origin",
			 um_nullable_text_json(origin));
}

/* --- what crossed the link, and what faulted --- */

static json_t *series_json(const char *key, const char *what, const char *cause,
			   const struct um_bins *bins)
{
	json_t *json =
		json_pack("{s:s, s:I, s:o}", key, what, "total", (json_int_t)um_bins_total(bins),
			  "bins", um_report_bins_json(bins));

	if (json && cause)
		um_report_set(json, "cause", json_string(cause));
	return json;
}

static json_t *transfers_json(const struct um_timeline *timeline)
{
	static const char *const ways[UM_DIRECTIONS] = {"to_device", "to_host", "between_devices"};
	json_t *array = json_array();
	bool ok = array != NULL;

	for (size_t way = 0; way < UM_DIRECTIONS; way++)
		for (size_t cause = 0; cause < UM_TRAFFIC_CAUSES && ok; cause++)
			if (timeline->bytes[way][cause])
				ok = json_array_append_new(
					     array, series_json("direction", ways[way],
								um_traffic_words[cause].word,
								timeline->bytes[way][cause])) == 0;
	if (ok)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *faults_json(const struct um_timeline *timeline)
{
	static const char *const of[2] = {"device", "host"};
	json_t *array = json_array();
	bool ok = array != NULL;

	for (size_t i = 0; i < 2 && ok; i++)
		if (timeline->faults[i])
			ok = json_array_append_new(array, series_json("of", of[i], NULL,
								      timeline->faults[i])) == 0;
	if (ok)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *foremost_json(const struct um_timeline *timeline, struct um_bins *const *of)
{
	size_t bins = timeline->axis.bins;
	int32_t *ranks = calloc(bins + 1, sizeof(*ranks));
	int64_t *wide = calloc(bins + 1, sizeof(*wide));
	json_t *json = NULL;

	if (ranks && wide && um_timeline_foremost(timeline, of, ranks) == 0) {
		for (size_t i = 0; i < bins; i++)
			wide[i] = ranks[i];
		json = um_report_repeats_json(wide, bins);
	}
	free(ranks);
	free(wide);
	return json;
}

static json_t *tracked_json(const struct um_timeline *timeline)
{
	json_t *ids = json_array();

	for (size_t i = 0; i < timeline->tracked_count; i++)
		um_report_push(ids, timeline->tracked[i]);
	return json_pack("{s:o, s:o, s:o}", "allocations", ids, "bytes",
			 foremost_json(timeline, timeline->tracked_bytes), "faults",
			 foremost_json(timeline, timeline->tracked_faults));
}

/* --- one by one --- */

/* Texts by number: many spans share one. */
struct texts {
	json_t *list, *numbers;
};

static int64_t number_of(struct texts *texts, const char *text)
{
	json_t *known, *clean;
	int64_t number;

	if (!text)
		return -1;
	clean = um_text_json(text);
	known = json_object_get(texts->numbers, json_string_value(clean));
	number = known ? json_integer_value(known) : (int64_t)json_array_size(texts->list);
	if (!known) {
		json_object_set_new(texts->numbers, json_string_value(clean), json_integer(number));
		json_array_append(texts->list, clean);
	}
	json_decref(clean);
	return number;
}

static int longest_first(const void *left, const void *right)
{
	const struct um_span *a = *(const struct um_span *const *)left,
			     *b = *(const struct um_span *const *)right;
	int64_t width_a = a->end - a->start, width_b = b->end - b->start;

	if (width_a != width_b)
		return width_a > width_b ? -1 : 1;
	return (a > b) - (a < b);
}

static int as_they_stand(const void *left, const void *right)
{
	const struct um_span *a = *(const struct um_span *const *)left,
			     *b = *(const struct um_span *const *)right;

	return (a > b) - (a < b);
}

/* The longest, by start; *count is how many. NULL where there is no memory. */
static const struct um_span **choose(const struct um_spans *spans, size_t most, size_t *count)
{
	const struct um_span **chosen = calloc(spans->count + 1, sizeof(*chosen));

	*count = spans->count;
	if (!chosen)
		return NULL;
	for (size_t i = 0; i < spans->count; i++)
		chosen[i] = &spans->items[i];
	if (spans->count <= most)
		return chosen;
	qsort(chosen, spans->count, sizeof(*chosen), longest_first);
	*count = most;
	qsort(chosen, most, sizeof(*chosen), as_they_stand);
	return chosen;
}

enum { SPAN_COLUMNS = 11 };
static const char *const span_columns[SPAN_COLUMNS] = {"kind",	     "start",  "end",	 "op",
						       "stream",     "device", "thread", "kernel",
						       "allocation", "bytes",  "detail"};

/* UM_NULL is -1: no number here can be. */
static int64_t plain(int64_t value)
{
	return value == UM_NULL ? -1 : value;
}

static bool add_span(json_t **columns, struct texts *texts, const struct um_span *span,
		     int64_t axis_start)
{
	const int64_t values[SPAN_COLUMNS] = {
		number_of(texts, span->kind),
		span->start - axis_start,
		span->end - span->start,
		plain(span->op),
		plain(span->stream),
		plain(span->device),
		plain(span->thread),
		plain(span->kernel),
		plain(span->allocation),
		plain(span->bytes),
		number_of(texts, span->detail),
	};

	for (size_t i = 0; i < SPAN_COLUMNS; i++)
		if (!um_report_push(columns[i], values[i]))
			return false;
	return um_report_push(columns[SPAN_COLUMNS], number_of(texts, span->site));
}

static json_t *spans_json(const struct um_report_run *run, size_t most)
{
	size_t count;
	const struct um_span **chosen = choose(&run->spans, most, &count);
	struct texts texts = {json_array(), json_object()};
	json_t *columns[SPAN_COLUMNS + 1], *json = json_object();
	bool ok = chosen != NULL;

	for (size_t i = 0; i <= SPAN_COLUMNS; i++) {
		columns[i] = json_array();
		ok = um_report_set(json, i < SPAN_COLUMNS ? span_columns[i] : "site", columns[i]) &&
		     ok;
	}
	for (size_t i = 0; i < count && ok; i++)
		ok = add_span(columns, &texts, chosen[i], run->axis.start);
	free(chosen);
	json_decref(texts.numbers);
	ok = um_report_set(json, "texts", texts.list) && ok;
	ok = um_report_set(json, "all", json_integer(run->spans.all)) && ok;
	if (ok)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *launches_json(const struct um_spans *spans)
{
	return json_pack("{s:I, s:o, s:o}", "total", (json_int_t)um_bins_total(spans->launches),
			 "count", um_report_bins_json(spans->launches), "busy",
			 um_report_bins_json(spans->busy));
}

/* --- memory --- */

static json_t *occupancy_json(const struct um_occupancy *occupancy)
{
	json_t *devices = json_array();

	for (size_t i = 0; i < UM_OCCUPANCY_DEVICES_MAX; i++) {
		const struct um_occupancy_device *of = &occupancy->devices[i];

		if (!of->is_used)
			continue;
		json_array_append_new(
			devices,
			json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "device",
				  (json_int_t)of->device, "most_managed_bytes",
				  (json_int_t)of->most_managed_bytes, "most_allocated_bytes",
				  (json_int_t)of->most_allocated_bytes, "most_bytes",
				  (json_int_t)of->most_bytes, "managed",
				  um_report_repeats_json(of->managed_bytes, occupancy->bins),
				  "allocated",
				  um_report_repeats_json(of->allocated_bytes, occupancy->bins)));
	}
	return json_pack("{s:o, s:I}", "devices", devices, "not_followed",
			 (json_int_t)occupancy->not_followed);
}

static const char *const layer_words[UM_HEAT_LAYERS] = {"to_device", "to_host",	     "remote",
							"faults",    "kernel_touch", "host_touch"};

/* Cells of all rows one after another, as one row of bins. */
static json_t *layer_json(const struct um_heatmap *map, size_t columns, int64_t *values,
			  enum um_heat_layer layer)
{
	json_t *cells = json_array();
	int64_t before = 0;
	bool ok = cells != NULL;

	for (size_t row = 0; row < map->rows && ok; row++) {
		if (!map->cells[layer][row])
			continue;
		um_bins_read(map->cells[layer][row], values);
		for (size_t column = 0; column < columns && ok; column++) {
			int64_t cell = (int64_t)(row * columns + column);
			if (!values[column])
				continue;
			ok = um_report_push(cells, cell - before) &&
			     um_report_push(cells, values[column]);
			before = cell;
		}
	}
	if (ok)
		return json_pack("{s:I, s:o}", "total", (json_int_t)um_heatmap_total(map, layer),
				 "cells", cells);
	json_decref(cells);
	return NULL;
}

static json_t *map_json(const struct um_heatmap *map, size_t columns, int64_t *values)
{
	json_t *layers = json_object();

	for (size_t layer = 0; layer < UM_HEAT_LAYERS; layer++)
		if (um_heatmap_total(map, (enum um_heat_layer)layer))
			um_report_set(layers, layer_words[layer],
				      layer_json(map, columns, values, (enum um_heat_layer)layer));
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "allocation", (json_int_t)map->allocation,
			 "pages", (json_int_t)map->pages, "pages_a_row",
			 (json_int_t)map->pages_a_row, "rows", (json_int_t)map->rows, "layers",
			 layers);
}

static json_t *heatmaps_json(const struct um_heatmaps *heat, size_t most)
{
	int64_t *values = calloc(heat->axis.bins + 1, sizeof(*values));
	json_t *array = values ? json_array() : NULL;

	for (size_t i = 0; array && i < heat->count && i < most; i++)
		json_array_append_new(array, map_json(&heat->maps[i], heat->axis.bins, values));
	free(values);
	return array;
}

/* --- all of it --- */

json_t *um_report_run_json(const struct um_report_run *run, const struct um_report_limits *limits)
{
	const struct {
		const char *name;
		json_t *value;
	} parts[] = {
		{"summary", um_report_summary_json(run->summary, limits)},
		{"head", um_report_head_json(run->summary)},
		{"axis", axis_json(run)},
		{"transfers", transfers_json(&run->timeline)},
		{"faults", faults_json(&run->timeline)},
		{"foremost", tracked_json(&run->timeline)},
		{"launches", launches_json(&run->spans)},
		{"spans", spans_json(run, limits->spans)},
		{"occupancy", occupancy_json(&run->occupancy)},
		{"heatmaps", heatmaps_json(&run->heat, limits->heatmaps)},
		{"unplaced", json_integer(run->unplaced)},
		{"unknown_transfers", json_integer(run->timeline.unknown_transfers)},
	};
	json_t *object = json_object();
	bool ok = true;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ok = um_report_set(object, parts[i].name, parts[i].value) && ok;
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}
