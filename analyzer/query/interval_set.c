#include "interval_set.h"

#include "trace/base/error.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct um_interval *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

void um_interval_set_settle(struct um_interval_set *set)
{
	size_t kept = 0;

	if (set->settled == set->count)
		return;
	qsort(set->items, set->count, sizeof(*set->items), compare);
	for (size_t i = 0; i < set->count; i++) {
		struct um_interval *last = kept ? &set->items[kept - 1] : NULL;

		if (!last || set->items[i].start > last->end)
			set->items[kept++] = set->items[i];
		else if (set->items[i].end > last->end)
			last->end = set->items[i].end;
	}
	set->count = set->settled = kept;
}

static int make_room(struct um_interval_set *set)
{
	if (set->count < set->capacity)
		return 0;
	um_interval_set_settle(set);
	if (set->count * 2 <= set->capacity && set->capacity)
		return 0;
	size_t capacity = set->capacity ? 2 * set->capacity : 8;
	void *grown = reallocarray(set->items, capacity, sizeof(*set->items));

	if (!grown)
		return um_fail(UM_ENOMEM, "out of memory");
	set->items = grown;
	set->capacity = capacity;
	return 0;
}

int um_interval_set_add(struct um_interval_set *set, int64_t start, int64_t end)
{
	struct um_interval *last = set->count ? &set->items[set->count - 1] : NULL;

	if (start >= end || (last && start >= last->start && end <= last->end))
		return 0;
	if (last && start >= last->start && start <= last->end) {
		last->end = end;
		return 0;
	}
	if (make_room(set))
		return UM_ENOMEM;
	last = set->count ? &set->items[set->count - 1] : NULL;
	if (set->settled == set->count && (!last || start > last->end))
		set->settled++;
	set->items[set->count++] = (struct um_interval){start, end};
	return 0;
}

int64_t um_interval_set_total(struct um_interval_set *set)
{
	int64_t total = 0;

	um_interval_set_settle(set);
	for (size_t i = 0; i < set->count; i++)
		total += set->items[i].end - set->items[i].start;
	return total;
}

int64_t um_interval_set_common(struct um_interval_set *set, struct um_interval_set *scaled,
			       int64_t scale)
{
	int64_t total = 0;

	um_interval_set_settle(set);
	um_interval_set_settle(scaled);
	for (size_t i = 0, j = 0; i < set->count && j < scaled->count;) {
		int64_t start = scaled->items[j].start * scale, end = scaled->items[j].end * scale;
		int64_t from = start > set->items[i].start ? start : set->items[i].start;
		int64_t to = end < set->items[i].end ? end : set->items[i].end;

		total += to > from ? to - from : 0;
		if (end < set->items[i].end)
			j++;
		else
			i++;
	}
	return total;
}

void um_interval_set_fini(struct um_interval_set *set)
{
	free(set->items);
	*set = (struct um_interval_set){0};
}
