/* Lists in order: where something begins in them. */
#ifndef UM_SORTED_H
#define UM_SORTED_H

#include <stddef.h>

/* As for qsort(). */
typedef int (*um_compare_fn)(const void *left, const void *right);

/* The place of the first item that is not below `key`, an item too; `count` if all are below. */
size_t um_sorted_first(const void *items, size_t count, size_t item_bytes, const void *key,
		       um_compare_fn compare);
/* How many are as `key` from `first` on. */
size_t um_sorted_alike(const void *items, size_t count, size_t item_bytes, size_t first,
		       const void *key, um_compare_fn compare);
/* Ascending. */
void um_sort_values(double *values, size_t count);

#endif
