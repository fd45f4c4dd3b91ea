#include "sorted.h"

#include <stdlib.h>

static const void *item_at(const void *items, size_t item_bytes, size_t place)
{
	return (const char *)items + place * item_bytes;
}

size_t um_sorted_first(const void *items, size_t count, size_t item_bytes, const void *key,
		       um_compare_fn compare)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(item_at(items, item_bytes, middle), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t um_sorted_alike(const void *items, size_t count, size_t item_bytes, size_t first,
		       const void *key, um_compare_fn compare)
{
	size_t alike = 0;

	while (first + alike < count &&
	       compare(item_at(items, item_bytes, first + alike), key) == 0)
		alike++;
	return alike;
}

static int by_id(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

void *um_sorted_find(const void *items, size_t count, size_t item_bytes, uint32_t id)
{
	size_t place = um_sorted_first(items, count, item_bytes, &id, by_id);

	if (place == count || by_id(item_at(items, item_bytes, place), &id) != 0)
		return NULL;
	return (void *)item_at(items, item_bytes, place);
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void um_sort_values(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), by_value);
}
