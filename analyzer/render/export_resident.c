#include "export_resident.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdlib.h>

#define PAGE_BYTES 4096

/* Values of a counter are told this many times of the run at most, and then what they ended with. */
enum { VALUES_MAX = 20000, DEVICES_MAX = 64 };

/* What is on a device of an allocation. */
struct share {
	int64_t allocation, device, bytes;
};

struct counter {
	const char *name;
	int64_t value[DEVICES_MAX], told[DEVICES_MAX], told_ns[DEVICES_MAX];
};

struct counting {
	struct um_trace_events *events;
	int64_t first_process, step_ns, last_ns;
	struct share *shares; /* a hash table */
	size_t share_room, share_count;
	struct counter managed, device;
};

/* --- shares --- */

static size_t hash_of(int64_t allocation, int64_t device)
{
	uint64_t key = (uint64_t)allocation * DEVICES_MAX + (uint64_t)device;

	key *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / the golden ratio: Fibonacci hashing */
	return (size_t)(key ^ key >> 32);
}

static struct share *place_of(struct share *shares, size_t room, int64_t allocation, int64_t device)
{
	size_t at = hash_of(allocation, device) & (room - 1);

	while (shares[at].bytes >= 0 &&
	       (shares[at].allocation != allocation || shares[at].device != device))
		at = (at + 1) & (room - 1);
	return &shares[at];
}

/* Empty ones have bytes -1. */
static int grow(struct counting *counting)
{
	size_t room = counting->share_room ? 2 * counting->share_room : 1024;
	struct share *grown;

	if (2 * (counting->share_count + 1) <= counting->share_room)
		return 0;
	grown = reallocarray(NULL, room, sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < room; i++)
		grown[i] = (struct share){.bytes = -1};
	for (size_t i = 0; i < counting->share_room; i++) {
		const struct share *share = &counting->shares[i];

		if (share->bytes >= 0)
			*place_of(grown, room, share->allocation, share->device) = *share;
	}
	free(counting->shares);
	counting->shares = grown;
	counting->share_room = room;
	return 0;
}

/* --- values --- */

static int tell(struct counting *counting, struct counter *counter, int64_t device, int64_t at_ns)
{
	counter->told[device] = counter->value[device];
	counter->told_ns[device] = at_ns;
	return um_trace_events_counter(counting->events, counting->first_process + device,
				       counter->name, at_ns, counter->value[device]);
}

static int change(struct counting *counting, struct counter *counter, int64_t device, int64_t at_ns,
		  int64_t by)
{
	bool is_first = counter->told_ns[device] == UM_NULL;

	if (__builtin_add_overflow(counter->value[device], by, &counter->value[device]))
		counter->value[device] = by < 0 ? 0 : INT64_MAX;
	if (!is_first &&
	    (int64_t)((uint64_t)at_ns - (uint64_t)counter->told_ns[device]) < counting->step_ns)
		return 0;
	return tell(counting, counter, device, at_ns);
}

/* Up to `most` bytes of the allocation, and not below none. */
static int move(struct counting *counting, int64_t allocation, int64_t device, int64_t at_ns,
		int64_t by, int64_t most)
{
	struct share *share;
	int64_t before, after;
	int error = grow(counting);

	if (error)
		return error;
	share = place_of(counting->shares, counting->share_room, allocation, device);
	if (share->bytes < 0) {
		*share = (struct share){allocation, device, 0};
		counting->share_count++;
	}
	before = share->bytes;
	after = before + by;
	share->bytes = after < 0 ? 0 : after > most ? most : after;
	return change(counting, &counting->managed, device, at_ns, share->bytes - before);
}

/* --- rows --- */

enum what { CAME, WENT, FREED, MADE_ON_DEVICE, FREED_ON_DEVICE };

static const char changes_sql[] =
	"SELECT 0, COALESCE(migration.end_ns, migration.start_ns) AS at_ns, destination,"
	" migration.allocation, pages, allocation.bytes FROM migration JOIN allocation"
	"  ON allocation.allocation = migration.allocation WHERE destination >= 0"
	" UNION ALL SELECT 1, COALESCE(migration.end_ns, migration.start_ns), source,"
	" migration.allocation, pages, allocation.bytes FROM migration JOIN allocation"
	"  ON allocation.allocation = migration.allocation WHERE source >= 0"
	" UNION ALL SELECT 0, at_ns, mapping.device, mapping.allocation, pages, allocation.bytes"
	"  FROM mapping JOIN allocation ON allocation.allocation = mapping.allocation"
	"  WHERE change_code = 3 AND mapping.device >= 0"
	" UNION ALL SELECT CASE allocation.kind WHEN 'managed' THEN 2 ELSE 4 END, op.end_ns,"
	"  COALESCE(allocation.device, 0), allocation.allocation, 0, allocation.bytes"
	"  FROM allocation JOIN op ON op.op = allocation.freed_op"
	"  WHERE allocation.kind IN ('managed', 'device')"
	" UNION ALL SELECT 3, op.end_ns, COALESCE(allocation.device, 0), allocation.allocation, 0,"
	"  allocation.bytes FROM allocation JOIN op ON op.op = allocation.op"
	"  WHERE allocation.kind = 'device'"
	" ORDER BY at_ns, 1";

static int free_managed(struct counting *counting, int64_t allocation, int64_t at_ns, int64_t most)
{
	int error = 0;

	for (int64_t device = 0; device < DEVICES_MAX && !error; device++)
		if (counting->managed.told_ns[device] != UM_NULL)
			error = move(counting, allocation, device, at_ns, -most, most);
	return error;
}

static int take_change(struct sqlite3_stmt *row, void *context)
{
	struct counting *counting = context;
	int64_t at_ns = um_query_integer(row, 1), device = um_query_integer(row, 2);
	int64_t allocation = um_query_integer(row, 3), pages = um_query_integer(row, 4);
	int64_t bytes = um_query_integer(row, 5), most;

	/* A file from anyone: what cannot be is not counted. */
	if (at_ns == UM_NULL || device < 0 || device >= DEVICES_MAX || pages < 0 || bytes < 0 ||
	    pages > INT64_MAX / 8 / PAGE_BYTES || bytes > INT64_MAX / 8)
		return 0;
	most = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	counting->last_ns = at_ns;
	switch ((enum what)um_query_integer(row, 0)) {
	case CAME:
		return move(counting, allocation, device, at_ns, pages * PAGE_BYTES, most);
	case WENT:
		return move(counting, allocation, device, at_ns, -pages * PAGE_BYTES, most);
	case FREED:
		return free_managed(counting, allocation, at_ns, most);
	case MADE_ON_DEVICE:
		return change(counting, &counting->device, device, at_ns, bytes);
	case FREED_ON_DEVICE:
		return change(counting, &counting->device, device, at_ns, -bytes);
	}
	return 0;
}

static int tell_ends(struct counting *counting, struct counter *counter)
{
	int error = 0;

	for (int64_t device = 0; device < DEVICES_MAX && !error; device++)
		if (counter->told_ns[device] != UM_NULL &&
		    counter->told[device] != counter->value[device])
			error = tell(counting, counter, device, counting->last_ns);
	return error;
}

int um_export_resident(struct um_trace_events *events, struct um_db *db, int64_t first_process)
{
	struct counting counting = {
		.events = events,
		.first_process = first_process,
		.managed = {.name = "managed memory on the device"},
		.device = {.name = "device allocations"},
	};
	int error = um_db_integer(db, "SELECT (MAX(end_ns) - MIN(start_ns)) / ? FROM op",
				  VALUES_MAX, &counting.step_ns);

	for (size_t i = 0; i < DEVICES_MAX; i++)
		counting.managed.told_ns[i] = counting.device.told_ns[i] = UM_NULL;
	if (!error)
		error = um_query_each(db, changes_sql, take_change, &counting);
	if (!error)
		error = tell_ends(&counting, &counting.managed);
	if (!error)
		error = tell_ends(&counting, &counting.device);
	free(counting.shares);
	return error;
}
