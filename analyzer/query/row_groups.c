#include "row_groups.h"

#include "query.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static size_t hash_of(const int64_t *key)
{
	uint64_t hash = 0;

	/* Fibonacci hashing of each, folded: the high bits of a product depend on all of it. */
	for (size_t i = 0; i < UM_ROW_GROUP_KEYS; i++) {
		hash = (hash ^ (uint64_t)key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (size_t)hash;
}

/* The slot of such a key, or the free one where it would be. At most half of the slots are taken. */
static size_t slot_of(const struct um_row_groups *of, const int64_t *key)
{
	size_t slot = hash_of(key) & (of->slot_count - 1);

	while (of->slots[slot] &&
	       memcmp(of->groups[of->slots[slot] - 1].key, key, sizeof(of->groups[0].key)) != 0)
		slot = (slot + 1) & (of->slot_count - 1);
	return slot;
}

static int grow(struct um_row_groups *of)
{
	size_t *before = of->slots;

	if (2 * (of->count + 1) <= of->slot_count)
		return 0;
	of->slot_count = of->slot_count ? 2 * of->slot_count : 1024;
	of->slots = calloc(of->slot_count, sizeof(*of->slots));
	free(before);
	if (!of->slots)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < of->count; i++)
		of->slots[slot_of(of, of->groups[i].key)] = i + 1;
	return 0;
}

static int find(struct um_row_groups *of, const int64_t *key)
{
	int error;
	size_t slot;

	/* Rows that follow each other are mostly alike. */
	if (of->count && memcmp(of->groups[of->last].key, key, sizeof(of->groups[0].key)) == 0)
		return 0;
	error = grow(of);
	if (error)
		return error;
	slot = slot_of(of, key);
	if (!of->slots[slot]) {
		struct um_row_group *group =
			um_query_append(&of->groups, &of->count, sizeof(*group));

		if (!group)
			return UM_ENOMEM;
		memcpy(group->key, key, sizeof(group->key));
		of->slots[slot] = of->count;
	}
	of->last = of->slots[slot] - 1;
	return 0;
}

int um_row_groups_add(struct um_row_groups *of, const int64_t *key, const int64_t *amounts)
{
	int error = find(of, key);

	for (size_t i = 0; i < 2 && !error; i++) {
		int64_t *sum = &of->groups[of->last].sum[i];

		if (amounts[i] == UM_NULL)
			*sum = UM_NULL;
		else if (*sum != UM_NULL && __builtin_add_overflow(*sum, amounts[i], sum))
			error = um_fail(UM_EFORMAT, "damaged: integer overflow in a sum");
	}
	return error;
}

void um_row_groups_fini(struct um_row_groups *of)
{
	free(of->groups);
	free(of->slots);
}
