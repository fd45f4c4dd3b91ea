/* The names of a file's parts, each once in an allocation, and where they lie. */
#include "query.h"
#include "summary_named.h"
#include "summary_parts.h"
#include "trace/base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES UM_NAMED_PAGE_BYTES

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

static struct um_named_group *add_group(struct um_naming *naming, int64_t allocation,
					const char *name)
{
	struct um_named_group *group =
		um_query_append(&naming->groups, &naming->group_count, sizeof(*group));

	if (!group)
		return NULL;
	group->of = um_summary_find(naming->summary, allocation);
	group->name = name;
	group->sums.of.allocation = allocation;
	return group;
}

/* Numbers the groups: `sorted` are all lives by name, `first` gets the first of each. */
static int make_groups(struct um_naming *naming, struct um_life **sorted, struct um_life **first,
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
static int find_rests(struct um_naming *naming)
{
	naming->rest = calloc(naming->group_count + 1, sizeof(*naming->rest));
	if (!naming->rest)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = naming->group_count; i-- > 0;)
		naming->rest[i] = naming->groups[i].name ? naming->rest[i + 1] : i;
	return 0;
}

int um_naming_group(struct um_naming *naming)
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

static int share(struct um_named_group *group, struct um_named_group *other, int64_t page)
{
	if (group == other)
		return 0;
	int error = um_interval_set_add(&group->shared, page, page + 1);

	return error ? error : um_interval_set_add(&other->shared, page, page + 1);
}

/* The page that the part begins or ends within: who else has bytes of it, and none of the part's. */
static int look_beside(struct um_naming *naming, const struct um_life *life, int64_t page)
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

int um_naming_add_places(struct um_naming *naming)
{
	struct um_life *life;
	int error = 0;

	um_part_lives_rewind(naming->lives);
	while (!error && (life = um_part_lives_next(naming->lives))) {
		struct um_named_group *group = &naming->groups[life->group];

		group->sums.times++;
		error = um_interval_set_add(&group->places, life->start, life->end);
		if (!error && life->start % PAGE_BYTES)
			error = look_beside(naming, life, life->start / PAGE_BYTES);
		if (!error && life->end % PAGE_BYTES)
			error = look_beside(naming, life, life->end / PAGE_BYTES);
	}
	return error;
}
