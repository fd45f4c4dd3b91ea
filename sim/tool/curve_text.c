/* A curve as a table with bars, its knees, and what the figures are. */
#include "curve_command.h"

#include "trace/base/units.h"

#include <string.h>

#define BAR_COLUMNS   40
#define THRASHES_FROM 2 /* times the bytes with the most memory, and the footprint */

const struct um_curve_point *um_curve_most_memory(const struct um_curve *curve)
{
	for (size_t i = curve->count; i-- > 0;)
		if (!curve->points[i].error)
			return &curve->points[i];
	return NULL;
}

void um_curve_method_text(char *out, size_t capacity, const struct um_curve *curve)
{
	switch (curve->method) {
	case UM_CURVE_REPLAYS:
		snprintf(out, capacity, "a replay at each memory: %s", curve->why_replays);
		break;
	case UM_CURVE_STACK:
		snprintf(out, capacity,
			 "all points from one simulation, by stack distances: touches "
			 "come in one order whatever the memory is");
		break;
	case UM_CURVE_LISTS:
		snprintf(out, capacity,
			 "all points from one simulation, a list of units each: touches "
			 "come in one order whatever the memory is");
		break;
	}
}

/* --- the table --- */

static uint64_t most_bytes(const struct um_curve *curve)
{
	uint64_t most = 0;

	for (size_t i = 0; i < curve->count; i++)
		if (!curve->points[i].error && um_curve_bytes(&curve->points[i]) > most)
			most = um_curve_bytes(&curve->points[i]);
	return most;
}

/* Longest where most moves; what moves anything has one character. */
static void add_bar(struct um_text_table *table, uint64_t bytes, uint64_t most)
{
	char bar[BAR_COLUMNS + 1];
	size_t columns = most ? (size_t)((double)bytes / (double)most * BAR_COLUMNS + 0.5) : 0;

	columns = bytes && !columns ? 1 : columns;
	memset(bar, '#', columns);
	bar[columns] = '\0';
	um_text_table_cell(table, "%s", bar);
}

static void add_point(struct um_text_table *table, const struct um_curve_result *result,
		      const struct um_curve_point *point, uint64_t most)
{
	char text[32];

	um_text_table_cell(table, "%s", um_format_bytes(text, 32, point->memory_bytes));
	if (result->footprint_bytes)
		um_text_table_cell(table, "%.3gx",
				   (double)point->memory_bytes / (double)result->footprint_bytes);
	else
		um_text_table_cell(table, "-");
	if (point->error) {
		um_text_table_cell(table, "failed");
		for (int i = 0; i < 4; i++)
			um_text_table_cell(table, "%s", "");
		return;
	}
	um_text_table_cell(table, "%s", um_format_count(text, 32, point->device_faults));
	um_text_table_cell(table, "%s", um_format_count(text, 32, point->host_faults));
	um_text_table_cell(table, "%s", um_format_bytes(text, 32, point->bytes_to_device));
	um_text_table_cell(table, "%s", um_format_bytes(text, 32, point->bytes_to_host));
	add_bar(table, um_curve_bytes(point), most);
}

/* --- below it --- */

static bool thrashes(const struct um_curve_result *result, uint64_t bytes)
{
	const struct um_curve_point *reference = um_curve_most_memory(&result->curve);

	return bytes / THRASHES_FROM >= um_curve_bytes(reference) &&
	       bytes / THRASHES_FROM >= result->footprint_bytes;
}

static void add_knee(struct um_text_table *table, const struct um_curve_result *result,
		     const struct um_curve_knee *knee)
{
	const struct um_curve_point *above = &result->curve.points[knee->above];
	const struct um_curve_point *below = &result->curve.points[knee->below];
	double least = (double)um_curve_bytes(um_curve_most_memory(&result->curve));
	char from[32], to[32], before[32], after[32], times[64] = "";

	if (least > 0)
		snprintf(times, sizeof(times), "%.3gx -> %.3gx the bytes, ",
			 (double)um_curve_bytes(above) / least,
			 (double)um_curve_bytes(below) / least);
	um_text_table_note(table, "knee: from %s down to %s it %s: %s%s -> %s",
			   um_format_bytes(from, 32, above->memory_bytes),
			   um_format_bytes(to, 32, below->memory_bytes),
			   thrashes(result, um_curve_bytes(below)) ? "thrashes" : "rises", times,
			   um_format_bytes(before, 32, um_curve_bytes(above)),
			   um_format_bytes(after, 32, um_curve_bytes(below)));
}

static void add_machine(struct um_text_table *table, const struct um_curve_result *result)
{
	const struct um_machine_spec *machine = result->run.replays->machine;
	char footprint[32], memory[32];

	um_text_table_note(table,
			   "the program's footprint is %s; machine %s has %s of device memory",
			   um_format_bytes(footprint, 32, result->footprint_bytes), machine->name,
			   um_format_bytes(memory, 32, machine->memory_bytes));
	if (result->curve.count &&
	    result->curve.points[result->curve.count - 1].memory_bytes > machine->memory_bytes)
		um_text_table_note(table, "hypothetical: more than %s, which %s does not have",
				   memory, machine->name);
}

static void add_notes(struct um_text_table *table, const struct um_curve_result *result)
{
	char method[512];

	for (size_t i = 0; i < result->knee_count; i++)
		add_knee(table, result, &result->knees[i]);
	if (!result->knee_count)
		um_text_table_note(table, "no knee: no step down multiplies the bytes by %.3g",
				   UM_CURVE_KNEE);
	add_machine(table, result);
	um_curve_method_text(method, sizeof(method), &result->curve);
	um_text_table_note(table, "%s", method);
	um_replay_add_notes(table, &result->run);
}

int um_curve_print_text(FILE *out, const struct um_curve_result *result)
{
	static const struct um_text_column columns[] = {
		{"memory", UM_ALIGN_RIGHT},	    {"of the\nfootprint", UM_ALIGN_RIGHT},
		{"device\nfaults", UM_ALIGN_RIGHT}, {"host\nfaults", UM_ALIGN_RIGHT},
		{"to\ndevice", UM_ALIGN_RIGHT},	    {"to\nhost", UM_ALIGN_RIGHT},
		{"both ways", UM_ALIGN_LEFT},	    {NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	uint64_t most = most_bytes(&result->curve);
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	um_replay_print_xnack(out, result->run.replays, 1);
	for (size_t i = 0; i < result->curve.count; i++)
		add_point(table, result, &result->curve.points[i], most);
	add_notes(table, result);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}
