#include "occupancy.h"

#include "page_set.h"
#include "query.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGE_BYTES = 4096 };

struct device_state {
	struct um_page_sets *managed;
	int64_t managed_bytes, allocated_bytes;
};

struct walk {
	const struct um_axis *axis;
	struct um_occupancy *out;
	struct device_state now[UM_OCCUPANCY_DEVICES_MAX];
	size_t bin; /* that has been reached */
};

/* What happens to memory, in its order. At one moment data arrive before others leave, so that a most is not missed. */
enum step { STEP_MOVE, STEP_BORN, STEP_ALLOCATE, STEP_FREE };
enum { AT, STEP, ALLOCATION, FIRST, PAGES, FROM, TO, BYTES, DUPLICATES };

static const char time_sql[] =
	"SELECT migration.start_ns + COALESCE(migration.duration_ns, 0), 0, migration.allocation,"
	" first_page, pages, source, destination, allocation.bytes, cause_code = 5"
	" FROM migration JOIN allocation USING (allocation) WHERE first_page IS NOT NULL"
	" UNION ALL SELECT at_ns, 1, mapping.allocation, first_page, pages, -1, mapping.device,"
	" allocation.bytes, 0 FROM mapping JOIN allocation USING (allocation) WHERE change_code = 3"
	" AND first_page IS NOT NULL"
	" UNION ALL SELECT op.start_ns, 2, allocation.allocation, 0, 0, -1,"
	" COALESCE(allocation.device, 0), allocation.bytes, 0"
	" FROM allocation JOIN op ON op.op = allocation.op WHERE allocation.kind = 'device'"
	" UNION ALL SELECT op.start_ns, 3, allocation.allocation, 0, 0,"
	" CASE allocation.kind WHEN 'device' THEN COALESCE(allocation.device, 0) ELSE -1 END, -1,"
	" allocation.bytes, 0 FROM allocation JOIN op ON op.op = allocation.freed_op"
	" ORDER BY 1, 2";
static const char calls_sql[] =
	"SELECT migration.op, 0, migration.allocation, first_page, pages, source, destination,"
	" allocation.bytes, cause_code = 5, start_ns AS at"
	" FROM migration JOIN allocation USING (allocation) WHERE first_page IS NOT NULL"
	" UNION ALL SELECT mapping.op, 1, mapping.allocation, first_page, pages, -1, mapping.device,"
	" allocation.bytes, 0, at_ns FROM mapping JOIN allocation USING (allocation)"
	" WHERE change_code = 3 AND first_page IS NOT NULL"
	" UNION ALL SELECT op, 2, allocation, 0, 0, -1, COALESCE(device, 0), bytes, 0, 0"
	" FROM allocation WHERE kind = 'device'"
	" UNION ALL SELECT freed_op, 3, allocation, 0, 0,"
	" CASE kind WHEN 'device' THEN COALESCE(device, 0) ELSE -1 END, -1, bytes, 0, 0"
	" FROM allocation WHERE freed_op IS NOT NULL"
	" ORDER BY 1, 10, 2";

static bool is_followed(int64_t device)
{
	return device >= 0 && device < (int64_t)UM_OCCUPANCY_DEVICES_MAX;
}

/* --- along the axis --- */

static void raise(int64_t *most, int64_t value)
{
	*most = value > *most ? value : *most;
}

/* The state as it is now, in the bin that has been reached. */
static void note(struct walk *walk, size_t device)
{
	struct um_occupancy_device *of = &walk->out->devices[device];
	const struct device_state *now = &walk->now[device];

	of->is_used = true;
	raise(&of->managed_bytes[walk->bin], now->managed_bytes);
	raise(&of->allocated_bytes[walk->bin], now->allocated_bytes);
	raise(&of->most_managed_bytes, now->managed_bytes);
	raise(&of->most_allocated_bytes, now->allocated_bytes);
	raise(&of->most_bytes, now->managed_bytes + now->allocated_bytes);
}

/* What lies there stays until something changes it. */
static void go_to(struct walk *walk, double position)
{
	size_t bins = walk->out->bins;
	size_t bin = position <= 0 ? 0 : position < (double)bins ? (size_t)position : bins - 1;

	while (walk->bin < bin) {
		walk->bin++;
		for (size_t i = 0; i < UM_OCCUPANCY_DEVICES_MAX; i++)
			if (walk->out->devices[i].is_used)
				note(walk, i);
	}
}

/* --- what happens --- */

static int arrive(struct walk *walk, struct sqlite3_stmt *row, int64_t device)
{
	struct device_state *now = &walk->now[device];
	int64_t bytes = um_query_integer(row, BYTES), changed;
	int64_t all = bytes > 0 ? (bytes - 1) / PAGE_BYTES + 1 : 1;
	int error;

	if (all > UM_OCCUPANCY_PAGES_MAX) {
		walk->out->not_followed++;
		return 0;
	}
	error = um_page_sets_add(now->managed, um_query_integer(row, ALLOCATION), all,
				 um_query_integer(row, FIRST), um_query_integer(row, PAGES),
				 &changed);
	if (!error) {
		now->managed_bytes += changed * PAGE_BYTES;
		note(walk, (size_t)device);
	}
	return error;
}

static void leave(struct walk *walk, struct sqlite3_stmt *row, int64_t device)
{
	struct device_state *now = &walk->now[device];

	now->managed_bytes -=
		PAGE_BYTES * um_page_sets_take(now->managed, um_query_integer(row, ALLOCATION),
					       um_query_integer(row, FIRST),
					       um_query_integer(row, PAGES));
}

static int move(struct walk *walk, struct sqlite3_stmt *row)
{
	int64_t from = um_query_integer(row, FROM), to = um_query_integer(row, TO);
	bool is_duplicate = sqlite3_column_int64(row, DUPLICATES) != 0;
	int error = is_followed(to) ? arrive(walk, row, to) : 0;

	if (!error && is_followed(from) && from != to && !is_duplicate)
		leave(walk, row, from);
	return error;
}

static void allocate(struct walk *walk, struct sqlite3_stmt *row, int64_t device, int sign)
{
	int64_t bytes = um_query_integer(row, BYTES);
	int64_t *sum = &walk->now[device].allocated_bytes, changed;

	if (bytes < 0 || __builtin_add_overflow(*sum, sign * bytes, &changed) || changed < 0 ||
	    changed > INT64_MAX / 4)
		walk->out->not_followed++;
	else
		*sum = changed;
	note(walk, (size_t)device);
}

static void drop(struct walk *walk, struct sqlite3_stmt *row)
{
	int64_t device = um_query_integer(row, FROM);

	if (is_followed(device)) {
		allocate(walk, row, device, -1);
		return;
	}
	for (size_t i = 0; i < UM_OCCUPANCY_DEVICES_MAX; i++)
		walk->now[i].managed_bytes -=
			PAGE_BYTES *
			um_page_sets_drop(walk->now[i].managed, um_query_integer(row, ALLOCATION));
}

static int take_step(struct sqlite3_stmt *row, void *context)
{
	struct walk *walk = context;
	int64_t at = um_query_integer(row, AT), to = um_query_integer(row, TO);

	if (at == UM_NULL) {
		walk->out->not_followed++;
		return 0;
	}
	go_to(walk, um_axis_position(walk->axis, at));
	switch (sqlite3_column_int(row, STEP)) {
	case STEP_MOVE:
		return move(walk, row);
	case STEP_BORN:
		return is_followed(to) ? arrive(walk, row, to) : 0;
	case STEP_ALLOCATE:
		if (is_followed(to))
			allocate(walk, row, to, 1);
		return 0;
	default:
		drop(walk, row);
		return 0;
	}
}

/* --- life --- */

static int prepare(struct walk *walk)
{
	int error = 0;

	for (size_t i = 0; i < UM_OCCUPANCY_DEVICES_MAX && !error; i++) {
		struct um_occupancy_device *of = &walk->out->devices[i];

		of->device = (int64_t)i;
		of->managed_bytes = calloc(walk->out->bins, sizeof(int64_t));
		of->allocated_bytes = calloc(walk->out->bins, sizeof(int64_t));
		error = um_page_sets_create(&walk->now[i].managed);
		if (!error && (!of->managed_bytes || !of->allocated_bytes))
			error = um_fail(UM_ENOMEM, "out of memory");
	}
	return error;
}

int um_occupancy_load(struct um_occupancy *out, const struct um_axis *axis, struct um_db *db)
{
	struct walk walk = {.axis = axis, .out = out};
	int error;

	*out = (struct um_occupancy){.bins = axis->bins};
	error = prepare(&walk);
	if (!error)
		error = um_query_each(db, axis->kind == UM_AXIS_CALLS ? calls_sql : time_sql,
				      take_step, &walk);
	if (!error)
		go_to(&walk, (double)axis->bins);
	for (size_t i = 0; i < UM_OCCUPANCY_DEVICES_MAX; i++)
		um_page_sets_destroy(walk.now[i].managed);
	return error;
}

void um_occupancy_fini(struct um_occupancy *occupancy)
{
	for (size_t i = 0; i < UM_OCCUPANCY_DEVICES_MAX; i++) {
		free(occupancy->devices[i].managed_bytes);
		free(occupancy->devices[i].allocated_bytes);
	}
}
