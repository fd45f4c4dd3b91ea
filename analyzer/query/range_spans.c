#include "range_spans.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct um_span *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

void um_spans_merge(struct um_span *spans, size_t *count)
{
	size_t kept = 0;

	if (*count)
		qsort(spans, *count, sizeof(*spans), compare);
	for (size_t i = 0; i < *count; i++) {
		struct um_span *before = kept ? &spans[kept - 1] : NULL;

		if (spans[i].last < spans[i].first)
			continue;
		if (!before || before->thread != spans[i].thread || before->last < spans[i].first)
			spans[kept++] = spans[i];
		else if (before->last < spans[i].last)
			before->last = spans[i].last;
	}
	*count = kept;
}

bool um_spans_hold(const struct um_span *spans, size_t count, int64_t thread, int64_t at)
{
	const struct um_span sought = {.thread = thread, .first = at};
	size_t low = 0, high = count; /* the first that begins behind it */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&spans[middle], &sought) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && spans[low - 1].thread == thread && at <= spans[low - 1].last;
}
