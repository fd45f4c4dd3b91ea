#include "render_summary.h"

#include "render_json.h"
#include "summary_head.h"
#include "summary_json.h"
#include "trace/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static json_t *real_json(double value)
{
	json_t *json = json_real(value); /* NULL for NaN, the row's "not known" */

	return json ? json : json_null();
}

/* A column that holds JSON itself; as a string where it is not. */
static json_t *embedded_json(const char *text)
{
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	return json ? json : um_nullable_text_json(text);
}

static json_t *column_json(const struct um_column *column, const void *row)
{
	const char *field = (const char *)row + column->offset;

	switch (column->type) {
	case UM_COLUMN_INT:
	case UM_COLUMN_ID:
		return um_integer_json(*(const int64_t *)field);
	case UM_COLUMN_REAL:
		return real_json(*(const double *)field);
	case UM_COLUMN_TEXT:
		if (strcmp(column->name, "driver_parameters") == 0 ||
		    strcmp(column->name, "clocks") == 0 || strcmp(column->name, "environment") == 0)
			return embedded_json(*(const char *const *)field);
		return um_nullable_text_json(*(const char *const *)field);
	default:
		return NULL; /* no table shown here has masks or blobs */
	}
}

/*
 * A row under the names of its columns. json_object_set_new() takes NULL as a failure and says so.
 */
static json_t *row_json(const struct um_table *table, const void *row)
{
	json_t *object = json_object();

	for (const struct um_column *column = table->columns; column->name; column++)
		if (json_object_set_new(object, column->name, column_json(column, row))) {
			json_decref(object);
			return NULL;
		}
	return object;
}

/* Arrays of structs, by a table of their fields. */
struct field {
	const char *name; /* NULL ends the table */
	size_t offset;
	bool is_text;
};

static json_t *fields_json(const struct field *fields, const void *item)
{
	json_t *object = json_object();

	for (; fields->name; fields++) {
		const char *at = (const char *)item + fields->offset;
		json_t *value = fields->is_text ? um_nullable_text_json(*(const char *const *)at)
						: um_integer_json(*(const int64_t *)at);
		if (json_object_set_new(object, fields->name, value)) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

typedef json_t *(*item_fn)(const void *how, const void *item);

static json_t *table_row(const void *table, const void *item)
{
	return row_json(table, item);
}

static json_t *struct_fields(const void *fields, const void *item)
{
	return fields_json(fields, item);
}

static json_t *array_json(const void *items, size_t count, size_t item_bytes, item_fn call,
			  const void *how)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(array, call(how, (const char *)items + i * item_bytes))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

#define KERNEL(member)	   #member, offsetof(struct um_kernel_summary, member)
#define ALLOCATION(member) #member, offsetof(struct um_allocation_summary, member)
#define TRANSFER(member)   #member, offsetof(struct um_transfer_summary, member)
#define LINE(member)	   #member, offsetof(struct um_line_summary, member)
#define HOST_LINE(member)  #member, offsetof(struct um_host_line_summary, member)
#define RANGE(member)	   #member, offsetof(struct um_range_summary, member)
#define TRAFFIC(member)	   #member, offsetof(struct um_traffic, member)
#define FAULTS(member)	   #member, offsetof(struct um_fault_totals, member)
#define EVENT(member)	   #member, offsetof(struct um_event_summary, member)
#define BOUND(member)	   #member, offsetof(struct um_bound_summary, member)
#define COUNT(member)	   #member, offsetof(struct um_count, member)

static const struct field kernel_fields[] = {
	{KERNEL(name), true},
	{KERNEL(first_op), false},
	{KERNEL(launches), false},
	{KERNEL(untraced), false},
	{KERNEL(recorded), false},
	{KERNEL(duration_ns), false},
	{KERNEL(shortest_ns), false},
	{KERNEL(longest_ns), false},
	{KERNEL(faults), false},
	{KERNEL(migrated_to_device_bytes), false},
	{KERNEL(migrated_to_host_bytes), false},
	{KERNEL(remote_to_device_bytes), false},
	{KERNEL(remote_to_host_bytes), false},
	{KERNEL(remote_mappings), false},
	{KERNEL(reads), false},
	{KERNEL(writes), false},
	{KERNEL(atomics), false},
	{KERNEL(requests), false},
	{KERNEL(extrapolated_reads), false},
	{KERNEL(extrapolated_writes), false},
	{KERNEL(extrapolated_atomics), false},
	{KERNEL(extrapolated_requests), false},
	{0},
};
static const struct field allocation_fields[] = {
	{ALLOCATION(allocation), false},
	{ALLOCATION(name), true},
	{ALLOCATION(site), true},
	{ALLOCATION(function), true},
	{ALLOCATION(kind), true},
	{ALLOCATION(bytes), false},
	{ALLOCATION(touched_bytes), false},
	{ALLOCATION(device_faults), false},
	{ALLOCATION(host_faults), false},
	{ALLOCATION(migrated_to_device_bytes), false},
	{ALLOCATION(migrated_to_host_bytes), false},
	{ALLOCATION(evicted_bytes), false},
	{ALLOCATION(remote_to_device_bytes), false},
	{ALLOCATION(remote_to_host_bytes), false},
	{ALLOCATION(copied_to_device_bytes), false},
	{ALLOCATION(copied_to_host_bytes), false},
	{ALLOCATION(remote_mappings), false},
	{ALLOCATION(host_touched_pages), false},
	{0},
};
#define PART(member) #member, offsetof(struct um_part_summary, of.member)
static const struct field part_fields[] = {
	{PART(name), true},
	{"times", offsetof(struct um_part_summary, times), false},
	{PART(bytes), false},
	{PART(touched_bytes), false},
	{"shared_pages", offsetof(struct um_part_summary, shared_pages), false},
	{"shared_rows", offsetof(struct um_part_summary, shared_rows), false},
	{PART(device_faults), false},
	{PART(host_faults), false},
	{PART(migrated_to_device_bytes), false},
	{PART(migrated_to_host_bytes), false},
	{PART(evicted_bytes), false},
	{PART(remote_to_device_bytes), false},
	{PART(remote_to_host_bytes), false},
	{PART(copied_to_device_bytes), false},
	{PART(copied_to_host_bytes), false},
	{PART(remote_mappings), false},
	{PART(host_touched_pages), false},
	{0},
};
static const struct field traffic_fields[] = {
	{TRAFFIC(bytes_to_device), false},
	{TRAFFIC(bytes_to_host), false},
	{TRAFFIC(transfers), false},
	{TRAFFIC(requests), false},
	{0},
};
static const struct field fault_fields[] = {
	{FAULTS(faults), false},
	{"read_faults", offsetof(struct um_fault_totals, by_access[UM_FAULT_READ]), false},
	{"write_faults", offsetof(struct um_fault_totals, by_access[UM_FAULT_WRITE]), false},
	{"atomic_faults", offsetof(struct um_fault_totals, by_access[UM_FAULT_ATOMIC]), false},
	{"prefetch_faults", offsetof(struct um_fault_totals, by_access[UM_FAULT_PREFETCH]), false},
	{FAULTS(pages), false},
	{FAULTS(batches), false},
	{FAULTS(records), false},
	{0},
};
static const struct field transfer_fields[] = {
	{TRANSFER(direction), true},	{TRANSFER(count), false},
	{TRANSFER(bytes), false},	{TRANSFER(median_bytes), false},
	{TRANSFER(least_bytes), false}, {TRANSFER(most_bytes), false},
	{TRANSFER(duration_ns), false}, {0},
};
static const struct field line_fields[] = {
	{LINE(site), true},
	{LINE(function), true},
	{LINE(faults), false},
	{LINE(read_faults), false},
	{LINE(write_faults), false},
	{LINE(allocations), false},
	{0},
};
static const struct field host_line_fields[] = {
	{HOST_LINE(site), true},
	{HOST_LINE(function), true},
	{HOST_LINE(allocation), false},
	{HOST_LINE(read_pages), false},
	{HOST_LINE(written_pages), false},
	{HOST_LINE(faults), false},
	{HOST_LINE(migrated_to_host_bytes), false},
	{0},
};
static const struct field range_fields[] = {
	{RANGE(name), true},
	{RANGE(times), false},
	{RANGE(duration_ns), false},
	{RANGE(launches), false},
	{RANGE(launch_ns), false},
	{RANGE(device_faults), false},
	{RANGE(host_faults), false},
	{RANGE(migrated_to_device_bytes), false},
	{RANGE(migrated_to_host_bytes), false},
	{0},
};
static const struct field event_fields[] = {
	{EVENT(kind), true},
	{EVENT(reason), true},
	{EVENT(count), false},
	{EVENT(duration_ns), false},
	{EVENT(pages), false},
	{EVENT(waited_ns), false},
	{0},
};
static const struct field bound_fields[] = {
	{BOUND(quantity), true},
	{BOUND(page_bytes), false},
	{BOUND(least), false},
	{BOUND(simulated), false},
	{0},
};
static const struct field call_fields[] = {{COUNT(name), true}, {COUNT(count), false}, {0}};
static const struct field memory_fields[] = {
	{COUNT(name), true}, {COUNT(count), false}, {COUNT(bytes), false}, {0}};

/* The columns of the table, and below them the parts that the program named. */
static json_t *allocation_json(const void *fields, const void *item)
{
	const struct um_allocation_summary *of = item;
	json_t *object = fields_json(fields, item);

	if (object && json_object_set_new(object, "parts",
					  array_json(of->parts, of->part_count, sizeof(*of->parts),
						     struct_fields, part_fields))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *traffic_json(const struct um_summary *summary)
{
	json_t *object = json_object();
	int failed = 0;

	for (size_t i = 0; i < UM_TRAFFIC_CAUSES && !failed; i++)
		failed = json_object_set_new(object, um_traffic_words[i].word,
					     fields_json(traffic_fields, &summary->traffic[i]));
	if (failed ||
	    json_object_set_new(object, "total", fields_json(traffic_fields, &summary->total))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *faults_json(const struct um_summary *summary)
{
	return json_pack("{s:o, s:o}", "device", fields_json(fault_fields, &summary->device_faults),
			 "host", fields_json(fault_fields, &summary->host_faults));
}

/* The line that the text opens with; its parts are run's. */
static json_t *xnack_json(const struct um_summary *summary)
{
	char text[512];

	return *um_summary_xnack_text(text, sizeof(text), summary) ? um_text_json(text)
								   : json_null();
}

/* Null where every launch was recorded. */
static json_t *selection_json(const struct um_summary *summary)
{
	if (!summary->criterion_count &&
	    (summary->recorded == UM_NULL || summary->recorded == summary->launches))
		return json_null();
	return json_pack("{s:I, s:o, s:o}", "launches", (json_int_t)summary->launches, "recorded",
			 um_integer_json(summary->recorded), "criteria",
			 array_json(summary->criteria, summary->criterion_count,
				    sizeof(*summary->criteria), table_row, &um_table_selection));
}

json_t *um_summary_json(const struct um_summary *summary)
{
	const struct {
		const char *name;
		json_t *value;
	} parts[] = {
		{"path", um_text_json(summary->path)},
		{"xnack", xnack_json(summary)},
		{"run", row_json(&um_table_run, &summary->run)},
		{"devices", array_json(summary->devices, summary->device_count,
				       sizeof(*summary->devices), table_row, &um_table_device)},
		{"origins", array_json(summary->origins, summary->origin_count,
				       sizeof(*summary->origins), table_row, &um_table_origin)},
		{"calls", array_json(summary->calls, summary->call_count, sizeof(*summary->calls),
				     struct_fields, call_fields)},
		{"memory", array_json(summary->memory, summary->memory_count,
				      sizeof(*summary->memory), struct_fields, memory_fields)},
		{"traffic", traffic_json(summary)},
		{"peer_copied_bytes", json_integer(summary->peer_copied)},
		{"peer_remote_bytes", json_integer(summary->peer_remote)},
		{"faults", faults_json(summary)},
		{"range", um_nullable_text_json(summary->chosen)},
		{"transfers",
		 array_json(summary->transfers,
			    summary->is_measured
				    ? sizeof(summary->transfers) / sizeof(summary->transfers[0])
				    : 0,
			    sizeof(summary->transfers[0]), struct_fields, transfer_fields)},
		{"remote_mappings",
		 um_integer_json(summary->is_measured ? summary->remote_mappings : UM_NULL)},
		{"host_fault_lines",
		 array_json(summary->lines, summary->line_count, sizeof(*summary->lines),
			    struct_fields, line_fields)},
		{"host_lines",
		 array_json(summary->host_lines, summary->host_line_count,
			    sizeof(*summary->host_lines), struct_fields, host_line_fields)},
		{"ranges", array_json(summary->ranges, summary->range_count,
				      sizeof(*summary->ranges), struct_fields, range_fields)},
		{"driver_events",
		 array_json(summary->events, summary->event_count, sizeof(*summary->events),
			    struct_fields, event_fields)},
		{"bounds", array_json(summary->bounds, summary->bound_count,
				      sizeof(*summary->bounds), struct_fields, bound_fields)},
		{"selection", selection_json(summary)},
		{"kernels", array_json(summary->kernels, summary->kernel_count,
				       sizeof(*summary->kernels), struct_fields, kernel_fields)},
		{"allocations",
		 array_json(summary->allocations, summary->allocation_count,
			    sizeof(*summary->allocations), allocation_json, allocation_fields)},
		{"losses", array_json(summary->losses, summary->loss_count,
				      sizeof(*summary->losses), table_row, &um_table_loss)},
	};
	json_t *object = json_object();
	int failed = 0;

	/* Each value is handed over, also after a failure. */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		failed |= json_object_set_new(object, parts[i].name, parts[i].value);
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

int um_render_summary_json(FILE *out, const struct um_summary *summary)
{
	json_t *json = um_summary_json(summary);

	if (!json)
		return um_fail(UM_ENOMEM, "out of memory");
	int failed = json_dumpf(json, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
	json_decref(json);
	return failed ? um_fail_errno(UM_EIO, "writing") : 0;
}
