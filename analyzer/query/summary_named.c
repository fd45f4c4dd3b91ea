/* What the program named: the parts of allocations, by name, and what their pages tell of them. */
#include "interval_set.h"
#include "part_lives.h"
#include "query.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096
#define END_MAX	   (INT64_C(1) << 48) /* pages or bytes that a row may reach to */

/* One name in one allocation, or what lies in none. */
struct group {
	struct um_allocation_summary *of; /* the allocation; NULL: it is not shown */
	const char *name;		  /* NULL: in none */
	struct um_part_summary sums;
	struct um_interval_set places, touched, shared; /* bytes, pages, pages */
	/* Of the row that is being shared out, while `row` is its number: */
	uint64_t row;
	int64_t units, covered_to;
};

struct naming {
	struct um_summary *summary;
	struct um_part_lives *lives;
	struct group
		*groups; /* by allocation, then by their first names; those of none come last */
	size_t group_count;
	size_t *rest; /* of each group the one that has what lies in no part */
	size_t *hit;  /* groups of the row */
	size_t hit_count;
	uint64_t row;
	const struct source *source;
};

/* --- groups --- */

static int compare_names(const void *left, const void *right)
{
	const struct um_life *a = *(struct um_life *const *)left;
	const struct um_life *b = *(struct um_life *const *)right;
	int order;

	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : (a->op > b->op) - (a->op < b->op);
}

static bool is_same(const struct um_life *a, const struct um_life *b)
{
	return a->allocation == b->allocation && strcmp(a->name, b->name) == 0;
}

/* The first life of each name stands for its group, in the order of allocations, then of these ops. */
static int compare_first(const void *left, const void *right)
{
	const struct um_life *a = *(struct um_life *const *)left;
	const struct um_life *b = *(struct um_life *const *)right;

	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

static struct group *add_group(struct naming *naming, int64_t allocation, const char *name)
{
	struct group *group =
		um_query_append(&naming->groups, &naming->group_count, sizeof(*group));

	if (!group)
		return NULL;
	group->of = um_summary_find(naming->summary, allocation);
	group->name = name;
	group->sums.of.allocation = allocation;
	return group;
}

/* Numbers the groups: `sorted` are all lives by name, `first` gets the first of each. */
static int make_groups(struct naming *naming, struct um_life **sorted, struct um_life **first,
		       size_t count)
{
	size_t names = 0;

	qsort(sorted, count, sizeof(struct um_life *), compare_names);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || !is_same(sorted[i - 1], sorted[i]))
			first[names++] = sorted[i];
	qsort(first, names, sizeof(struct um_life *), compare_first);
	for (size_t i = 0; i < names; i++) {
		first[i]->group = naming->group_count;
		if (!add_group(naming, first[i]->allocation, first[i]->name))
			return UM_ENOMEM;
		bool is_last = i + 1 == names || first[i + 1]->allocation != first[i]->allocation;

		if (is_last && !add_group(naming, first[i]->allocation, NULL))
			return UM_ENOMEM;
	}
	for (size_t i = 1; i < count; i++)
		if (is_same(sorted[i - 1], sorted[i]))
			sorted[i]->group = sorted[i - 1]->group;
	return 0;
}

/* Each allocation's last group is that of no part. */
static int find_rests(struct naming *naming)
{
	naming->rest = calloc(naming->group_count + 1, sizeof(*naming->rest));
	naming->hit = calloc(naming->group_count + 1, sizeof(*naming->hit));
	if (!naming->rest || !naming->hit)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = naming->group_count; i-- > 0;)
		naming->rest[i] = naming->groups[i].name ? naming->rest[i + 1] : i;
	return 0;
}

static int group_lives(struct naming *naming)
{
	size_t count;
	struct um_life *lives = um_part_lives_all(naming->lives, &count);
	struct um_life **sorted = calloc(2 * count + 1, sizeof(struct um_life *));
	int error = sorted ? 0 : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; i < count && !error; i++)
		sorted[i] = &lives[i];
	if (!error)
		error = make_groups(naming, sorted, sorted + count, count);
	free(sorted);
	return error ? error : find_rests(naming);
}

/* --- places, and the pages that several share --- */

static int share(struct group *group, struct group *other, int64_t page)
{
	if (group == other)
		return 0;
	int error = um_interval_set_add(&group->shared, page, page + 1);

	return error ? error : um_interval_set_add(&other->shared, page, page + 1);
}

/* The page that the part begins or ends within: who else has bytes of it, and none of the part's. */
static int look_beside(struct naming *naming, const struct um_life *life, int64_t page)
{
	struct um_life *const *found;
	size_t count = um_part_lives_at(naming->lives, life->allocation, page * PAGE_BYTES,
					(page + 1) * PAGE_BYTES, &found);
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		if (found[i]->end <= life->start || found[i]->start >= life->end)
			error = share(&naming->groups[life->group],
				      &naming->groups[found[i]->group], page);
	return error;
}

static int add_places(struct naming *naming)
{
	struct um_life *life;
	int error = 0;

	um_part_lives_rewind(naming->lives);
	while (!error && (life = um_part_lives_next(naming->lives))) {
		struct group *group = &naming->groups[life->group];

		group->sums.times++;
		error = um_interval_set_add(&group->places, life->start, life->end);
		if (!error && life->start % PAGE_BYTES)
			error = look_beside(naming, life, life->start / PAGE_BYTES);
		if (!error && life->end % PAGE_BYTES)
			error = look_beside(naming, life, life->end / PAGE_BYTES);
	}
	return error;
}

/* --- rows, shared out by the pages or bytes that lie in parts --- */

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

/* Units [from, to) of the row lie in the group. */
static int hit(struct naming *naming, size_t place, int64_t from, int64_t to)
{
	struct group *group = &naming->groups[place];

	if (group->row != naming->row) {
		group->row = naming->row;
		group->units = 0;
		group->covered_to = from;
		naming->hit[naming->hit_count++] = place;
	}
	from = from > group->covered_to ? from : group->covered_to;
	if (from >= to)
		return 0;
	group->units += to - from;
	group->covered_to = to;
	return naming->source->touches ? um_interval_set_add(&group->touched, from, to) : 0;
}

/* Parts come by their starts; what lies in none of them is the rest's. */
static int hit_all(struct naming *naming, struct um_life *const *found, size_t count, size_t rest,
		   int64_t first, int64_t end)
{
	int64_t unit = naming->source->unit_bytes, covered_to = first;
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		int64_t from = found[i]->start / unit, to = (found[i]->end - 1) / unit + 1;

		from = from > first ? from : first;
		to = to < end ? to : end;
		if (from > covered_to)
			error = hit(naming, rest, covered_to, from);
		if (!error)
			error = hit(naming, found[i]->group, from, to);
		covered_to = to > covered_to ? to : covered_to;
	}
	return error || covered_to >= end ? error : hit(naming, rest, covered_to, end);
}

/* The group of no part; group_count: of this allocation none is named. */
static size_t rest_of(const struct naming *naming, int64_t allocation)
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

/* A row over several names: by how many pages, not by what of it was theirs, is all that is known. */
static void note_shared_row(struct naming *naming, size_t rest)
{
	struct um_allocation_summary *of = naming->groups[rest].of;

	if (naming->hit_count < 2 || !naming->source->divides)
		return;
	if (of)
		of->shared_rows++;
	for (size_t i = 0; i < naming->hit_count; i++)
		naming->groups[naming->hit[i]].sums.shared_rows++;
}

static int share_out(struct sqlite3_stmt *row, void *context)
{
	struct naming *naming = context;
	const struct source *source = naming->source;
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

	naming->row++;
	naming->hit_count = 0;
	int error = hit_all(naming, found, lives, rest, first, first + count);

	for (size_t i = 0; i < naming->hit_count && !error; i++) {
		struct group *group = &naming->groups[naming->hit[i]];

		if (group->units)
			source->add(&group->sums.of, row, group->units, count);
	}
	if (!error)
		note_shared_row(naming, rest);
	return error;
}

static int share_out_all(struct naming *naming, struct um_db *db)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !error; i++) {
		naming->source = &sources[i];
		um_part_lives_rewind(naming->lives);
		error = um_query_each(db, sources[i].sql, share_out, naming);
	}
	return error;
}

/* --- what is shown --- */

/* All of an allocation, under its own name alone: it says no more than the allocation does. */
static bool is_the_allocation(struct group *group)
{
	const struct um_allocation_summary *of = group->of;

	um_interval_set_settle(&group->places);
	return of->name && strcmp(group->name, of->name) == 0 && group->places.count == 1 &&
	       group->places.items[0].start == 0 && group->places.items[0].end == of->bytes;
}

static bool is_empty(const struct group *group)
{
	const struct um_allocation_summary *sums = &group->sums.of;
	const int64_t figures[] = {sums->device_faults,
				   sums->host_faults,
				   sums->migrated_to_device_bytes,
				   sums->migrated_to_host_bytes,
				   sums->remote_to_device_bytes,
				   sums->remote_to_host_bytes,
				   sums->copied_to_device_bytes,
				   sums->copied_to_host_bytes,
				   sums->remote_mappings};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (figures[i])
			return false;
	return group->touched.count == 0;
}

/* Of what lies in no part: the bytes that never had a name. */
static void add_sizes(struct group *group, int64_t named_bytes)
{
	struct um_allocation_summary *sums = &group->sums.of;
	int64_t touched = um_interval_set_total(&group->touched) * PAGE_BYTES;

	sums->kind = group->name ? "part" : "no part";
	if (group->name) {
		sums->bytes = um_interval_set_total(&group->places);
		sums->touched_bytes =
			um_interval_set_common(&group->places, &group->touched, PAGE_BYTES);
	} else {
		sums->bytes = group->of->bytes > named_bytes ? group->of->bytes - named_bytes : 0;
		sums->touched_bytes = touched < group->of->bytes ? touched : group->of->bytes;
	}
	group->sums.shared_pages = um_interval_set_total(&group->shared);
}

static int show(struct um_summary *summary, struct group *group)
{
	struct um_part_summary *part =
		um_query_append(&summary->parts, &summary->part_count, sizeof(*part));

	if (!part)
		return UM_ENOMEM;
	*part = group->sums;
	part->of.name = group->name;
	um_summary_forget_absent(summary, &part->of);
	return um_text_pool_keep(summary->texts, &part->of.name);
}

/* Groups [first, end) of an allocation, the last of which is that of no part. */
static int show_allocation(struct naming *naming, size_t first, size_t end)
{
	struct group *rest = &naming->groups[end - 1];
	struct um_allocation_summary *of = rest->of;
	struct um_interval_set named = {0}, shared = {0};
	int error = 0;

	if (!of || (end - first == 2 && is_the_allocation(&naming->groups[first])))
		return 0;
	for (size_t i = first; i < end && !error; i++) {
		struct group *group = &naming->groups[i];

		for (size_t n = 0; n < group->places.count && !error; n++)
			error = um_interval_set_add(&named, group->places.items[n].start,
						    group->places.items[n].end);
		for (size_t n = 0; n < group->shared.count && !error; n++)
			error = um_interval_set_add(&shared, group->shared.items[n].start,
						    group->shared.items[n].end);
		add_sizes(group, um_interval_set_total(&named));
		if (!error && (group != rest || !is_empty(rest))) {
			error = show(naming->summary, group);
			of->part_count++;
		}
	}
	of->shared_pages = um_interval_set_total(&shared);
	um_interval_set_fini(&named);
	um_interval_set_fini(&shared);
	return error;
}

/* The array has stopped to move. */
static void link_parts(struct um_summary *summary)
{
	const struct um_part_summary *next = summary->parts;

	for (size_t i = 0; i < summary->allocation_count; i++) {
		summary->allocations[i].parts = next;
		if (next)
			next += summary->allocations[i].part_count;
	}
}

static int show_all(struct naming *naming)
{
	int error = 0;

	for (size_t i = 0, first = 0; i < naming->group_count && !error; i++)
		if (!naming->groups[i].name) {
			error = show_allocation(naming, first, i + 1);
			first = i + 1;
		}
	if (!error)
		link_parts(naming->summary);
	return error;
}

int um_summary_load_named(struct um_summary *summary, struct um_db *db)
{
	struct naming naming = {.summary = summary};
	size_t count = 0;
	int error = um_part_lives_load(&naming.lives, db);

	if (!error)
		um_part_lives_all(naming.lives, &count);
	if (!error && count) {
		error = group_lives(&naming);
		if (!error)
			error = add_places(&naming);
		if (!error)
			error = share_out_all(&naming, db);
		if (!error)
			error = show_all(&naming);
	}
	for (size_t i = 0; i < naming.group_count; i++) {
		um_interval_set_fini(&naming.groups[i].places);
		um_interval_set_fini(&naming.groups[i].touched);
		um_interval_set_fini(&naming.groups[i].shared);
	}
	free(naming.groups);
	free(naming.rest);
	free(naming.hit);
	um_part_lives_destroy(naming.lives);
	return error;
}
