/* What the program named: the parts of allocations, by name, and what their pages tell of them. */
#include "summary_named.h"

#include "query.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES UM_NAMED_PAGE_BYTES

/* All of an allocation, under its own name alone: it says no more than the allocation does. */
static bool is_the_allocation(struct um_named_group *group)
{
	const struct um_allocation_summary *of = group->of;

	um_interval_set_settle(&group->places);
	return of->name && strcmp(group->name, of->name) == 0 && group->places.count == 1 &&
	       group->places.items[0].start == 0 && group->places.items[0].end == of->bytes;
}

static bool is_empty(const struct um_named_group *group)
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
static void add_sizes(struct um_named_group *group, int64_t named_bytes)
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

static int show(struct um_summary *summary, struct um_named_group *group)
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
static int show_allocation(struct um_naming *naming, size_t first, size_t end)
{
	struct um_named_group *rest = &naming->groups[end - 1];
	struct um_allocation_summary *of = rest->of;
	struct um_interval_set named = {0}, shared = {0};
	int error = 0;

	if (!of || (end - first == 2 && is_the_allocation(&naming->groups[first])))
		return 0;
	for (size_t i = first; i < end && !error; i++) {
		struct um_named_group *group = &naming->groups[i];

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

static int show_all(struct um_naming *naming)
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
	struct um_naming naming = {.summary = summary};
	size_t count = 0;
	int error = um_part_lives_load(&naming.lives, db);

	if (!error)
		um_part_lives_all(naming.lives, &count);
	if (!error && count) {
		error = um_naming_group(&naming);
		if (!error)
			error = um_naming_add_places(&naming);
		if (!error)
			error = um_naming_share_out(&naming, db);
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
	um_part_lives_destroy(naming.lives);
	return error;
}
