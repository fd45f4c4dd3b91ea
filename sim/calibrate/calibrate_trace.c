#include "calibrate_trace.h"

#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <stdlib.h>
#include <string.h>

struct reading {
	struct um_measured *measured;
	um_left_out_fn is_left_out;
	void *context;
	int64_t range_start_ns, range_end_ns;
};

/* A zeroed row more; NULL: UM_ENOMEM is set. */
static void *add_row(void *rows_pointer, size_t *count, size_t row_bytes)
{
	void **rows = rows_pointer;
	size_t capacity = *count;

	if ((capacity & (capacity - 1)) == 0) { /* a power of two is full */
		void *grown = reallocarray(*rows, capacity ? 2 * capacity : 1, row_bytes);

		if (!grown) {
			um_fail(UM_ENOMEM, "no memory for %zu rows", capacity);
			return NULL;
		}
		*rows = grown;
	}
	return memset((char *)*rows + (*count)++ * row_bytes, 0, row_bytes);
}

/* --- configurations --- */

static int take_times(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct reading *reading = context;

	reading->range_start_ns = op->start_ns;
	reading->range_end_ns = op->end_ns;
	return 0;
}

static int take_range(const void *row, void *context)
{
	const struct um_user_range_row *named = row;
	struct reading *reading = context;
	struct um_measured *measured = reading->measured;
	size_t length = named->name ? strcspn(named->name, "#") : 0;
	char *name = strndup(named->name ? named->name : "", length);

	if (!name)
		return um_fail(UM_ENOMEM, "out of memory");
	if (reading->is_left_out(reading->context, name)) {
		free(name);
		return 0;
	}
	struct um_measured_range *range =
		add_row(&measured->ranges, &measured->range_count, sizeof(*range));
	if (!range) {
		free(name);
		return UM_ENOMEM;
	}
	range->name = name;
	range->start_ns = named->op; /* until its op is looked up */
	return 0;
}

/* When all ranges were read: one statement of a table at a time. */
static int find_times(struct reading *reading, struct um_db *db)
{
	struct um_measured *measured = reading->measured;
	int error = 0;

	for (size_t i = 0; i < measured->range_count && !error; i++) {
		struct um_measured_range *range = &measured->ranges[i];

		reading->range_start_ns = reading->range_end_ns = UM_NULL;
		error = um_db_each(db, &um_table_op, "op = ?1", range->start_ns, take_times,
				   reading);
		range->start_ns = reading->range_start_ns;
		range->end_ns = reading->range_end_ns;
	}
	return error;
}

/* The configuration that the time is in, of those that are kept; NULL: none. */
static struct um_measured_range *range_at(const struct um_measured *measured, int64_t at_ns)
{
	for (size_t i = 0; i < measured->range_count; i++)
		if (measured->ranges[i].start_ns <= at_ns && at_ns <= measured->ranges[i].end_ns)
			return &measured->ranges[i];
	return NULL;
}

/* --- their rows --- */

/* A file from anyone may say any number; differences of such times are times. */
static bool is_span(int64_t start_ns, int64_t end_ns)
{
	return start_ns >= 0 && end_ns >= start_ns;
}

static int take_fault(const void *row, void *context)
{
	const struct um_fault_row *fault = row;
	struct um_measured *measured = ((struct reading *)context)->measured;
	bool of_host = fault->device < 0;

	if (!range_at(measured, fault->start_ns) ||
	    !is_span(fault->start_ns, of_host ? fault->start_ns : fault->end_ns))
		return 0;
	struct um_measured_fault *taken =
		of_host ? add_row(&measured->host_faults, &measured->host_fault_count,
				  sizeof(*taken))
			: add_row(&measured->faults, &measured->fault_count, sizeof(*taken));
	if (!taken)
		return UM_ENOMEM;
	*taken = (struct um_measured_fault){fault->start_ns, fault->end_ns, fault->allocation,
					    fault->first_page};
	return 0;
}

static int take_move(const void *row, void *context)
{
	const struct um_migration_row *move = row;
	struct um_measured *measured = ((struct reading *)context)->measured;
	int cause = move->cause ? um_word_code(um_cause_words, move->cause) : -1;

	if (!range_at(measured, move->start_ns) || !is_span(move->start_ns, move->end_ns) ||
	    move->bytes <= 0 || cause < 0)
		return 0;
	struct um_measured_move *taken =
		add_row(&measured->moves, &measured->move_count, sizeof(*taken));
	if (!taken)
		return UM_ENOMEM;
	*taken = (struct um_measured_move){
		.start_ns = move->start_ns,
		.end_ns = move->end_ns,
		.allocation = move->allocation,
		.first_page = move->first_page == UM_NULL ? 0 : move->first_page,
		.pages = move->bytes / 4096,
		.bytes = move->bytes,
		.to_device = move->destination >= 0,
		.cause = (enum um_cause)cause,
	};
	return 0;
}

static int take_map(const void *row, void *context)
{
	const struct um_mapping_row *map = row;
	struct um_measured *measured = ((struct reading *)context)->measured;

	if (map->device < 0 || !map->change || strcmp(map->change, "remote") != 0 ||
	    !range_at(measured, map->at_ns) || map->at_ns < 0)
		return 0;
	struct um_measured_map *taken =
		add_row(&measured->maps, &measured->map_count, sizeof(*taken));
	if (!taken)
		return UM_ENOMEM;
	*taken = (struct um_measured_map){map->at_ns, map->allocation, map->first_page, map->pages};
	return 0;
}

static int take_event(const void *row, void *context)
{
	const struct um_driver_event_row *event = row;
	struct um_measured_range *range =
		range_at(((struct reading *)context)->measured, event->start_ns);

	if (range)
		range->thrashes = true;
	return 0;
}

static int take_advice(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct um_measured *measured = ((struct reading *)context)->measured;

	if (!op->advice || strcmp(op->advice, "read_mostly") != 0)
		return 0;
	int64_t *taken =
		add_row(&measured->read_mostly, &measured->read_mostly_count, sizeof(*taken));
	if (!taken)
		return UM_ENOMEM;
	*taken = op->allocation;
	return 0;
}

static int take_device(const void *row, void *context)
{
	const struct um_device_row *device = row;
	struct um_measured *measured = ((struct reading *)context)->measured;

	if (measured->arch)
		return 0;
	measured->arch = strdup(device->arch ? device->arch : "");
	return measured->arch ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static int read_rows(struct reading *reading, struct um_db *db)
{
	static const struct {
		const struct um_table *table;
		const char *where;
		int (*take)(const void *, void *);
	} parts[] = {
		{&um_table_fault, NULL, take_fault},
		{&um_table_migration, NULL, take_move},
		{&um_table_mapping, NULL, take_map},
		{&um_table_driver_event, NULL, take_event},
		{&um_table_op, "?1 = 0 AND kind = 'advise'", take_advice},
		{&um_table_device, NULL, take_device},
	};
	int error = um_db_each(db, &um_table_user_range, NULL, 0, take_range, reading);

	if (!error)
		error = find_times(reading, db);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !error; i++)
		error = um_db_each(db, parts[i].table, parts[i].where, 0, parts[i].take, reading);
	return error;
}

/* Their time comes first in all of them. */
static int compare_times(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void sort_by_time(void *rows, size_t count, size_t row_bytes)
{
	if (count)
		qsort(rows, count, row_bytes, compare_times);
}

static void sort_rows(struct um_measured *measured)
{
	sort_by_time(measured->faults, measured->fault_count, sizeof(*measured->faults));
	sort_by_time(measured->host_faults, measured->host_fault_count,
		     sizeof(*measured->host_faults));
	sort_by_time(measured->moves, measured->move_count, sizeof(*measured->moves));
	sort_by_time(measured->maps, measured->map_count, sizeof(*measured->maps));
}

int um_measured_read(struct um_measured *measured, const char *path, um_left_out_fn is_left_out,
		     void *context)
{
	struct reading reading = {
		.measured = measured, .is_left_out = is_left_out, .context = context};
	struct um_db *db;
	int error = um_db_open(&db, path);

	*measured = (struct um_measured){0};
	if (error)
		return error;
	error = read_rows(&reading, db);
	if (!error && (!measured->range_count || !measured->arch))
		error = um_fail(UM_EFORMAT,
				"%s: no trace of the measuring program: it has no configurations",
				path);
	um_db_close(db);
	if (error)
		um_measured_free(measured);
	else
		sort_rows(measured);
	return error;
}

void um_measured_free(struct um_measured *measured)
{
	for (size_t i = 0; i < measured->range_count; i++)
		free(measured->ranges[i].name);
	free(measured->ranges);
	free(measured->faults);
	free(measured->host_faults);
	free(measured->moves);
	free(measured->maps);
	free(measured->read_mostly);
	free(measured->arch);
	*measured = (struct um_measured){0};
}
