/* Rows that are alike in a few integers, with two sums of each group. */
#ifndef UM_ROW_GROUPS_H
#define UM_ROW_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#define UM_ROW_GROUP_KEYS     6
#define UM_ROW_GROUPS_AT_ONCE 64

struct um_row_group {
	int64_t key[UM_ROW_GROUP_KEYS];
	int64_t sum[2]; /* UM_NULL: one of them is not known */
};

/* Zeroed: empty. Groups are in the order in which they came first. */
struct um_row_groups {
	struct um_row_group *groups;
	size_t count;
	uint32_t *slots; /* place in groups + 1; 0: free */
	size_t slot_count;
	size_t last; /* that was added to */
};

/* UM_EFORMAT: a sum beyond 64 bits; UM_ENOMEM. */
int um_row_groups_add(struct um_row_groups *, const int64_t *key, const int64_t *amounts);
/* The same for up to UM_ROW_GROUPS_AT_ONCE rows; quicker where groups are more than a cache holds. */
int um_row_groups_add_rows(struct um_row_groups *, const struct um_row_group *rows, size_t count);
void um_row_groups_fini(struct um_row_groups *);

#endif
