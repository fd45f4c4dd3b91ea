#include "arena_gaps.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/*
 * Between n pieces that are taken lie n + 1 gaps at most, and one more while two are being joined.
 * Room is made by the take, which may fail, so that a give cannot.
 */
static bool reserve(struct um_gaps *gaps, size_t count)
{
	if (count <= gaps->capacity)
		return true;
	size_t capacity = 2 * count + 64;
	struct um_gap *grown = realloc(gaps->gap, capacity * sizeof(*grown));

	if (!grown)
		return false;
	gaps->gap = grown;
	gaps->capacity = capacity;
	return true;
}

int um_gaps_reset(struct um_gaps *gaps, uint64_t bytes)
{
	if (!reserve(gaps, 64))
		return um_fail(UM_ENOMEM, "out of memory");
	gaps->gap[0] = (struct um_gap){0, bytes};
	gaps->count = 1;
	gaps->taken = 0;
	return 0;
}

static void insert(struct um_gaps *gaps, size_t at, struct um_gap gap)
{
	memmove(gaps->gap + at + 1, gaps->gap + at, (gaps->count - at) * sizeof(gap));
	gaps->gap[at] = gap;
	gaps->count++;
}

static void erase(struct um_gaps *gaps, size_t at)
{
	gaps->count--;
	memmove(gaps->gap + at, gaps->gap + at + 1, (gaps->count - at) * sizeof(*gaps->gap));
}

/* Cuts [offset, offset + bytes) out of gap `at`: what is before it and behind it stays free. */
static void cut(struct um_gaps *gaps, size_t at, uint64_t offset, uint64_t bytes)
{
	struct um_gap *gap = &gaps->gap[at];
	uint64_t before = offset - gap->offset;
	uint64_t behind = gap->bytes - before - bytes;

	if (!before && !behind) {
		erase(gaps, at);
		return;
	}
	if (!before) {
		*gap = (struct um_gap){offset + bytes, behind};
		return;
	}
	gap->bytes = before;
	if (behind)
		insert(gaps, at + 1, (struct um_gap){offset + bytes, behind});
}

bool um_gaps_take(uint64_t *offset, struct um_gaps *gaps, uint64_t bytes, uint64_t align)
{
	if (!reserve(gaps, gaps->taken + 3))
		return false;
	for (size_t i = 0; i < gaps->count; i++) {
		const struct um_gap *gap = &gaps->gap[i];
		uint64_t start = (gap->offset + align - 1) & ~(align - 1);
		uint64_t skipped = start - gap->offset;

		if (skipped > gap->bytes || gap->bytes - skipped < bytes)
			continue;
		cut(gaps, i, start, bytes);
		gaps->taken++;
		*offset = start;
		return true;
	}
	return false;
}

/* Index of the first gap above `offset`. */
static size_t above(const struct um_gaps *gaps, uint64_t offset)
{
	size_t low = 0, high = gaps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gaps->gap[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void um_gaps_give(struct um_gaps *gaps, uint64_t offset, uint64_t bytes)
{
	size_t at = above(gaps, offset);

	insert(gaps, at, (struct um_gap){offset, bytes});
	gaps->taken--;
	if (at + 1 < gaps->count && offset + bytes == gaps->gap[at + 1].offset) {
		gaps->gap[at].bytes += gaps->gap[at + 1].bytes;
		erase(gaps, at + 1);
	}
	if (at && gaps->gap[at - 1].offset + gaps->gap[at - 1].bytes == offset) {
		gaps->gap[at - 1].bytes += gaps->gap[at].bytes;
		erase(gaps, at);
	}
}
