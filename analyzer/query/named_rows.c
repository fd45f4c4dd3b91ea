/* Rows of the file, shared out to the names in which their pages or bytes lay. */
#include "query.h"
#include "summary_named.h"
#include "trace/base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES UM_NAMED_PAGE_BYTES
#define END_MAX	   (INT64_C(1) << 48) /* pages or bytes that a row may reach to */

/*
 * A row: op, allocation, first, count, and what it has of that, which `add` gives a group a share of.
 * Rows without an op (a policy's prefetches are none of the program's) have a time instead.
 */
struct source {
	const char *sql;
	bool by_time;
	int64_t unit_bytes;
	void (*add)(struct um_allocation_summary *, struct sqlite3_stmt *row, int64_t units,
		    int64_t of);
	bool touches;
	bool divides; /* each group has but a share */
};

static void add_known(int64_t *sum, int64_t value)
{
	if (*sum == UM_NULL || value == UM_NULL)
		*sum = UM_NULL;
	else /* of a file from anyone the sum may be more than there can be */
		*sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

static int64_t share_of(int64_t value, int64_t units, int64_t of)
{
	return value == UM_NULL ? UM_NULL : (int64_t)(((__int128)value * units + of / 2) / of);
}

static void add_faults(struct um_allocation_summary *sums, struct sqlite3_stmt *row, int64_t units,
		       int64_t of)
{
	int64_t faults = um_query_integer(row, 5);
	int64_t share =
		faults == UM_NULL ? UM_NULL : (int64_t)(((__int128)faults * units + of - 1) / of);

	add_known(um_query_integer(row, 4) >= 0 ? &sums->device_faults : &sums->host_faults, share);
}

static void add_migration(struct um_allocation_summary *sums, struct sqlite3_stmt *row,
			  int64_t units, int64_t of)
{
	int64_t bytes = share_of(um_query_integer(row, 4), units, of);

	if (um_query_integer(row, 5) == -1)
		add_known(&sums->migrated_to_device_bytes, bytes);
	if (um_query_integer(row, 6) == -1)
		add_known(&sums->migrated_to_host_bytes, bytes);
	if (um_query_integer(row, 6) == -1 && um_query_integer(row, 7))
		add_known(&sums->evicted_bytes, bytes);
}

static void add_remote(struct um_allocation_summary *sums, struct sqlite3_stmt *row, int64_t units,
		       int64_t of)
{
	add_known(&sums->remote_to_device_bytes, share_of(um_query_integer(row, 4), units, of));
	add_known(&sums->remote_to_host_bytes, share_of(um_query_integer(row, 5), units, of));
}

static void add_copy(struct um_allocation_summary *sums, struct sqlite3_stmt *row, int64_t units,
		     int64_t of)
{
	add_known(&sums->copied_to_device_bytes, share_of(um_query_integer(row, 4), units, of));
	add_known(&sums->copied_to_host_bytes, share_of(um_query_integer(row, 5), units, of));
}

static void add_mapping(struct um_allocation_summary *sums, struct sqlite3_stmt *row, int64_t units,
			int64_t of)
{
	(void)row;
	(void)units;
	(void)of;
	add_known(&sums->remote_mappings, 1);
}

static void add_access(struct um_allocation_summary *sums, struct sqlite3_stmt *row, int64_t units,
		       int64_t of)
{
	(void)of;
	if (um_query_integer(row, 4))
		add_known(&sums->host_touched_pages, units);
}

#define FAULT "allocation, first_page, pages, device, faults FROM fault"
#define MIGRATION                                                                                  \
	"allocation, first_page, pages, bytes, source, destination, cause = 'eviction' FROM "      \
	"migration"
#define MAPPING	   "allocation, first_page, pages FROM mapping"
#define WITH_OP	   " WHERE allocation IS NOT NULL AND op IS NOT NULL"
#define WITHOUT_OP " WHERE allocation IS NOT NULL AND op IS NULL"
static const struct source sources[] = {
	{"SELECT page_access.op, page_access.allocation, first_page, pages, op.kind = 'host'"
	 " FROM page_access JOIN op ON op.op = page_access.op ORDER BY page_access.op",
	 false, PAGE_BYTES, add_access, true, false},
	{"SELECT op, " FAULT WITH_OP " ORDER BY op", false, PAGE_BYTES, add_faults, false, true},
	{"SELECT start_ns, " FAULT WITHOUT_OP " ORDER BY start_ns", true, PAGE_BYTES, add_faults,
	 false, true},
	{"SELECT op, " MIGRATION WITH_OP " ORDER BY op", false, PAGE_BYTES, add_migration, false,
	 true},
	{"SELECT start_ns, " MIGRATION WITHOUT_OP " ORDER BY start_ns", true, PAGE_BYTES,
	 add_migration, false, true},
	{"SELECT op, " MAPPING WITH_OP " AND change = 'remote' ORDER BY op", false, PAGE_BYTES,
	 add_mapping, false, false},
	{"SELECT at_ns, " MAPPING WITHOUT_OP " AND change = 'remote' ORDER BY at_ns", true,
	 PAGE_BYTES, add_mapping, false, false},
	{"SELECT op, allocation, first_page, pages, bytes_to_device, bytes_to_host"
	 " FROM remote_access ORDER BY op",
	 false, PAGE_BYTES, add_remote, false, true},
	{"SELECT op.op, copy_traffic.allocation, CASE WHEN op.allocation ="
	 "  copy_traffic.allocation THEN op.offset_bytes ELSE op.source_offset_bytes END, op.bytes,"
	 "  copy_traffic.bytes_to_device, copy_traffic.bytes_to_host"
	 " FROM copy_traffic JOIN op ON op.op = copy_traffic.op"
	 " WHERE copy_traffic.allocation IS NOT NULL ORDER BY op.op",
	 false, 1, add_copy, false, false}, /* of bytes: exact where all crossed */
};

/* Rows that are being shared out. */
struct shares {
	struct um_naming *naming;
	const struct source *source; /* that they come from */
	uint64_t row;		     /* the number of this one */
	size_t *hit;		     /* groups that have some of it */
	size_t hit_count;
};

/* Units [from, to) of the row lie in the group. */
static int hit(struct shares *shares, size_t place, int64_t from, int64_t to)
{
	struct um_named_group *group = &shares->naming->groups[place];

	if (group->row != shares->row) {
		group->row = shares->row;
		group->units = 0;
		group->covered_to = from;
		shares->hit[shares->hit_count++] = place;
	}
	from = from > group->covered_to ? from : group->covered_to;
	if (from >= to)
		return 0;
	group->units += to - from;
	group->covered_to = to;
	return shares->source->touches ? um_interval_set_add(&group->touched, from, to) : 0;
}

/* Parts come by their starts; what lies in none of them is the rest's. */
static int hit_all(struct shares *shares, struct um_life *const *found, size_t count, size_t rest,
		   int64_t first, int64_t end)
{
	int64_t unit = shares->source->unit_bytes, covered_to = first;
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		int64_t from = found[i]->start / unit, to = (found[i]->end - 1) / unit + 1;

		from = from > first ? from : first;
		to = to < end ? to : end;
		if (from > covered_to)
			error = hit(shares, rest, covered_to, from);
		if (!error)
			error = hit(shares, found[i]->group, from, to);
		covered_to = to > covered_to ? to : covered_to;
	}
	return error || covered_to >= end ? error : hit(shares, rest, covered_to, end);
}

/* The group of no part; group_count: of this allocation none is named. */
static size_t rest_of(const struct um_naming *naming, int64_t allocation)
{
	size_t low = 0, high = naming->group_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (naming->groups[middle].sums.of.allocation < allocation)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == naming->group_count || naming->groups[low].sums.of.allocation != allocation)
		return naming->group_count;
	return naming->rest[low];
}

/* What of a row was whose is known by how many pages alone: not of names that hold but some of its. */
static void note_shared_row(struct shares *shares, size_t rest, int64_t units)
{
	struct um_allocation_summary *of = shares->naming->groups[rest].of;
	bool is_shared = false;

	for (size_t i = 0; i < shares->hit_count && shares->source->divides; i++) {
		struct um_named_group *group = &shares->naming->groups[shares->hit[i]];

		if (group->units == 0 || group->units >= units)
			continue;
		group->sums.shared_rows++;
		is_shared = true;
	}
	if (of && is_shared)
		of->shared_rows++;
}

static int share_out(struct sqlite3_stmt *row, void *context)
{
	struct shares *shares = context;
	struct um_naming *naming = shares->naming;
	const struct source *source = shares->source;
	int64_t allocation = um_query_integer(row, 1), first = um_query_integer(row, 2);
	int64_t count = um_query_integer(row, 3), unit = source->unit_bytes;
	size_t rest = rest_of(naming, allocation);
	struct um_life *const *found;

	if (rest == naming->group_count || first == UM_NULL || count == UM_NULL || count == 0)
		return 0;
	if (first < 0 || count < 1 || first > END_MAX || count > END_MAX)
		return um_fail(UM_EFORMAT, "%s: damaged: a run of pages that cannot be",
			       naming->summary->path);
	if (source->by_time)
		um_part_lives_go_to_time(naming->lives, um_query_integer(row, 0));
	else
		um_part_lives_go_to(naming->lives, um_query_integer(row, 0));
	size_t lives = um_part_lives_at(naming->lives, allocation, first * unit,
					(first + count) * unit, &found);

	shares->row++;
	shares->hit_count = 0;
	int error = hit_all(shares, found, lives, rest, first, first + count);

	for (size_t i = 0; i < shares->hit_count && !error; i++) {
		struct um_named_group *group = &naming->groups[shares->hit[i]];

		if (group->units)
			source->add(&group->sums.of, row, group->units, count);
	}
	if (!error)
		note_shared_row(shares, rest, count);
	return error;
}

int um_naming_share_out(struct um_naming *naming, struct um_db *db)
{
	struct shares shares = {.naming = naming};
	int error = 0;

	shares.hit = calloc(naming->group_count + 1, sizeof(*shares.hit));
	if (!shares.hit)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !error; i++) {
		shares.source = &sources[i];
		um_part_lives_rewind(naming->lives);
		error = um_query_each(db, sources[i].sql, share_out, &shares);
	}
	free(shares.hit);
	return error;
}
