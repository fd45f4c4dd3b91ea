#include "row_groups.h"

#include "trace/base/error.h"
#include "trace/db/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64 /* of a cache: a group is one */

_Static_assert(sizeof(struct um_row_group) == LINE_BYTES, "a group lies in one line of the cache");

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

static bool is_of(const struct um_row_group *group, const int64_t *key)
{
	return memcmp(group->key, key, sizeof(group->key)) == 0;
}

/* The slot of such a key, or the free one where it would be. At most half of the slots are taken. */
static size_t slot_of(const struct um_row_groups *of, const int64_t *key, size_t hash)
{
	size_t slot = hash & (of->slot_count - 1);

	while (of->slots[slot] && !is_of(&of->groups[of->slots[slot] - 1], key))
		slot = (slot + 1) & (of->slot_count - 1);
	return slot;
}

static int grow_slots(struct um_row_groups *of)
{
	size_t count = of->slot_count ? 2 * of->slot_count : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots || count > UINT32_MAX) {
		free(slots);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	free(of->slots);
	of->slots = slots;
	of->slot_count = count;
	for (size_t i = 0; i < of->count; i++)
		slots[slot_of(of, of->groups[i].key, hash_of(of->groups[i].key))] = (uint32_t)i + 1;
	return 0;
}

/* Room for half as many groups as there are slots. */
static int grow(struct um_row_groups *of)
{
	int error = grow_slots(of);
	struct um_row_group *groups =
		error ? NULL : aligned_alloc(LINE_BYTES, of->slot_count / 2 * sizeof(*groups));

	if (error)
		return error;
	if (!groups)
		return um_fail(UM_ENOMEM, "out of memory");
	if (of->count)
		memcpy(groups, of->groups, of->count * sizeof(*groups));
	free(of->groups);
	of->groups = groups;
	return 0;
}

static int find(struct um_row_groups *of, const int64_t *key, size_t hash)
{
	size_t slot;

	if (of->count == of->slot_count / 2) {
		int error = grow(of);

		if (error)
			return error;
	}
	slot = slot_of(of, key, hash);
	if (!of->slots[slot]) {
		struct um_row_group *group = &of->groups[of->count++];

		memcpy(group->key, key, sizeof(group->key));
		group->sum[0] = group->sum[1] = 0;
		of->slots[slot] = (uint32_t)of->count;
	}
	of->last = of->slots[slot] - 1;
	return 0;
}

static int add_amounts(int64_t *sums, const int64_t *amounts)
{
	for (size_t i = 0; i < 2; i++) {
		int64_t sum = UM_NULL;

		if (sums[i] != UM_NULL && amounts[i] != UM_NULL &&
		    __builtin_add_overflow(sums[i], amounts[i], &sum))
			return um_fail(UM_EFORMAT, "damaged: integer overflow in a sum");
		sums[i] = sum;
	}
	return 0;
}

int um_row_groups_add(struct um_row_groups *of, const int64_t *key, const int64_t *amounts)
{
	/* Rows that follow each other are mostly alike. */
	if (!of->count || !is_of(&of->groups[of->last], key)) {
		int error = find(of, key, hash_of(key));

		if (error)
			return error;
	}
	return add_amounts(of->groups[of->last].sum, amounts);
}

int um_row_groups_add_rows(struct um_row_groups *of, const struct um_row_group *rows, size_t count)
{
	size_t hashes[UM_ROW_GROUPS_AT_ONCE];
	int error = of->slot_count ? 0 : grow(of);

	/* What is not in the cache is asked for before the first of it is waited for. */
	for (size_t i = 0; i < count && !error; i++) {
		hashes[i] = hash_of(rows[i].key);
		__builtin_prefetch(&of->slots[hashes[i] & (of->slot_count - 1)]);
	}
	for (size_t i = 0; i < count && !error; i++) {
		uint32_t place = of->slots[hashes[i] & (of->slot_count - 1)];

		if (place)
			__builtin_prefetch(&of->groups[place - 1], 1);
	}
	for (size_t i = 0; i < count && !error; i++) {
		error = find(of, rows[i].key, hashes[i]);
		if (!error)
			error = add_amounts(of->groups[of->last].sum, rows[i].sum);
	}
	return error;
}

void um_row_groups_fini(struct um_row_groups *of)
{
	free(of->groups);
	free(of->slots);
}
