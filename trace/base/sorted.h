/* Lists in order: where something begins in them. */
#ifndef UM_SORTED_H
#define UM_SORTED_H

#include <stddef.h>
#include <stdint.h>

/* As for qsort(). */
typedef int (*um_compare_fn)(const void *left, const void *right);

/* The place of the first item that is not below `key`, an item too; `count` if all are below. */
size_t um_sorted_first(const void *items, size_t count, size_t item_bytes, const void *key,
		       um_compare_fn compare);
/* How many are as `key` from `first` on. */
size_t um_sorted_alike(const void *items, size_t count, size_t item_bytes, size_t first,
		       const void *key, um_compare_fn compare);
/* The item whose first member, a uint32_t by which they ascend, is `id`; NULL: there is none. */
void *um_sorted_find(const void *items, size_t count, size_t item_bytes, uint32_t id);
/* Ascending. */
void um_sort_values(double *values, size_t count);

#endif
