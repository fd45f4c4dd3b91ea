/*
 * rocprof-sys' unified memory report (ROCPROFSYS_USE_UNIFIED_MEMORY_PROFILING, unified_memory-PID.json):
 * totals and nothing else. Each device and direction becomes one row of migration with as many transfers,
 * from time 0 on; faults, and what migrations were for, are counts of driver_event.
 */
#include "import_format.h"

#include "trace/base/error.h"

#include <jansson.h>
#include <string.h>

/* A report of a hundred devices has 100 KB. */
#define BYTES_MAX (UINT64_C(16) << 20)

static int wrong(const struct um_import_file *file, const char *what)
{
	return um_fail(UM_EFORMAT, "%s: recognised as a %s, but damaged: %s", file->path,
		       um_import_totals.what, what);
}

/* Not negative; -1: it is not there, or no such number. */
static int64_t count_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
									: -1;
}

static const struct {
	const char *key;
	bool from_host, to_host;
} directions[] = {
	{"host_to_device", true, false},
	{"device_to_host", false, true},
	{"device_to_device", false, false},
};

static int put_direction(const struct um_import_file *file, const struct um_import_events *events,
			 const json_t *moved, int64_t device, size_t direction)
{
	struct um_migration_row row = um_import_migration();
	int64_t count = count_of(moved, "count"), ns = count_of(moved, "total_time_ns");

	row.bytes = count_of(moved, "total_size_bytes");
	if (!moved || count == 0)
		return 0;
	if (count < 0 || row.bytes < 0 || ns < 0)
		return wrong(file, "a direction without count, total_size_bytes and total_time_ns");
	row.pages = row.bytes / UM_PAGE_BYTES;
	row.source = directions[direction].from_host ? -1 : device;
	row.destination = directions[direction].to_host ? -1 : device;
	row.transfers = count;
	row.start_ns = 0;
	row.end_ns = ns;
	return events->migration(events->context, &row);
}

static int put_device(const struct um_import_file *file, const struct um_import_events *events,
		      const json_t *told, int64_t device)
{
	const char *name = json_string_value(json_object_get(told, "device_name"));
	const struct um_device_row row = um_import_device(device, name);
	const json_t *migrations = json_object_get(told, "migrations");

	if (!name || !json_is_object(migrations))
		return wrong(file, "a device without device_name and migrations");
	int error = events->device(events->context, &row);
	for (size_t i = 0; i < sizeof(directions) / sizeof(*directions) && !error; i++)
		error = put_direction(file, events, json_object_get(migrations, directions[i].key),
				      device, i);
	return error;
}

static int put_count(const struct um_import_events *events, const char *kind, const char *reason,
		     int64_t count)
{
	struct um_driver_event_row row = um_import_event();

	row.kind = kind;
	row.reason = reason;
	row.count = count;
	return count > 0 ? events->event(events->context, &row) : 0;
}

static int put_summary(const struct um_import_file *file, const struct um_import_events *events,
		       const json_t *summary)
{
	const json_t *triggers = json_object_get(summary, "migration_triggers");
	const json_t *xnack = json_object_get(summary, "xnack_enabled");
	struct um_import_run run = {.pid = UM_NULL};
	int64_t faults = count_of(summary, "total_page_faults");
	const char *reason;
	json_t *count;

	if (faults < 0)
		return wrong(file, "a summary without total_page_faults");
	if (json_is_boolean(xnack))
		run.xnack = json_is_true(xnack) ? "on" : "off";
	int error = events->run(events->context, &run);
	if (!error)
		error = put_count(events, "page_faults", NULL, faults);
	json_object_foreach((json_t *)(uintptr_t)triggers, reason, count)
	{
		if (!error && (!json_is_integer(count) || json_integer_value(count) < 0))
			error = wrong(file, "a trigger without a count");
		if (!error)
			error = put_count(events, "migrations", reason, json_integer_value(count));
	}
	return error;
}

static int put_all(const struct um_import_file *file, const struct um_import_events *events,
		   const json_t *all)
{
	const json_t *devices = json_object_get(all, "devices");
	int error = put_summary(file, events, json_object_get(all, "summary"));

	if (!error && !json_is_array(devices))
		error = wrong(file, "no list of devices");
	for (size_t i = 0; i < json_array_size(devices) && !error; i++)
		error = put_device(file, events, json_array_get(devices, i), (int64_t)i);
	return error;
}

static int recognise(const struct um_import_file *file, const char *head)
{
	(void)file;
	return head[strspn(head, " \t\r\n")] == '{' && strstr(head, "\"total_page_faults\"") &&
	       strstr(head, "\"migration_triggers\"");
}

static int read_file(const struct um_import_file *file, const struct um_import_events *events)
{
	json_error_t place;

	if (file->bytes > BYTES_MAX)
		return wrong(file, "too large for one");
	rewind(file->text);
	json_t *all = json_loadf(file->text, JSON_REJECT_DUPLICATES, &place);
	if (!all)
		return um_fail(UM_EFORMAT, "%s:%d: recognised as a %s, but damaged: %s", file->path,
			       place.line, um_import_totals.what, place.text);
	int error = put_all(file, events, all);

	json_decref(all);
	return error;
}

static const struct um_import_told told[] = {
	{"migration", "totals of each device and direction; bytes as amdkfd was asked to move"},
	{"driver_event", "counts of page faults, and of migrations by what they were for"},
	{NULL, NULL},
};

const struct um_import_format um_import_totals = {
	.name = "rocprof_sys_totals",
	.what = "unified_memory report of rocprof-sys",
	.medium = UM_IMPORT_TEXT,
	.clock = "none: totals",
	.launches_told = true,
	.told = told,
	.recognise = recognise,
	.read = read_file,
};
