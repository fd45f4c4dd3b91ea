#include "row_merger.h"

#include <stdlib.h>
#include <string.h>

enum side { BEGINS = 1, ENDS = 2 };

struct um_merger_end {
	uint32_t row; /* place + 1; 0: free */
	uint32_t side;
};

static void *row_at(const struct um_row_merger *merger, size_t place)
{
	return merger->rows + place * merger->kind->row_bytes;
}

static int64_t page_at(const struct um_row_merger *merger, const void *row, enum side side)
{
	int64_t first = um_row_first(merger->kind, row);

	return side == BEGINS ? first : first + um_row_pages(merger->kind, row);
}

static size_t home_of(const struct um_row_merger *merger, const void *row, int64_t page,
		      enum side side)
{
	uint64_t hash = merger->kind->hash(row) ^ ((uint64_t)page << 2 | side);

	hash *= 0x9e3779b97f4a7c15u; /* Fibonacci hashing: 2^64 / golden ratio */
	return (size_t)(hash ^ hash >> 32) & (merger->end_capacity - 1);
}

/* The slot of a row like `row` that begins or ends at the page; a free one if there is none. */
static size_t find(const struct um_row_merger *merger, const void *row, int64_t page,
		   enum side side)
{
	size_t mask = merger->end_capacity - 1, slot = home_of(merger, row, page, side);

	for (; merger->ends[slot].row; slot = (slot + 1) & mask) {
		const void *other = row_at(merger, merger->ends[slot].row - 1);

		if (merger->ends[slot].side == side && page_at(merger, other, side) == page &&
		    merger->kind->is_alike(other, row))
			break;
	}
	return slot;
}

/* Where a row begins or ends is forgotten, if it is this row that is known for it. */
static void forget(struct um_row_merger *merger, size_t place, enum side side)
{
	const void *row = row_at(merger, place);
	size_t mask = merger->end_capacity - 1;
	size_t slot = find(merger, row, page_at(merger, row, side), side);

	if (merger->ends[slot].row != place + 1)
		return;
	merger->ends[slot].row = 0;
	for (size_t next = (slot + 1) & mask; merger->ends[next].row; next = (next + 1) & mask) {
		struct um_merger_end *end = &merger->ends[next];
		const void *other = row_at(merger, end->row - 1);
		size_t home = home_of(merger, other, page_at(merger, other, (enum side)end->side),
				      (enum side)end->side);

		if (((next - home) & mask) < ((next - slot) & mask))
			continue;
		merger->ends[slot] = *end;
		end->row = 0;
		slot = next;
	}
}

/* The youngest row that begins or ends at a page is the one that is known for it. */
static void remember(struct um_row_merger *merger, size_t place, enum side side)
{
	const void *row = row_at(merger, place);
	size_t slot = find(merger, row, page_at(merger, row, side), side);

	merger->ends[slot] = (struct um_merger_end){(uint32_t)place + 1, side};
}

static bool make_room(struct um_row_merger *merger)
{
	size_t capacity = merger->capacity ? merger->capacity * 2 : 256;
	struct um_merger_end *ends;
	char *rows;

	if (merger->count < merger->capacity)
		return true;
	if (capacity > UM_MERGER_ROWS_MAX)
		return false;
	rows = realloc(merger->rows, capacity * merger->kind->row_bytes);
	if (rows)
		merger->rows = rows;
	ends = calloc(4 * capacity, sizeof(*ends)); /* two a row, half full at most */
	if (!rows || !ends) {
		free(ends);
		return false;
	}
	free(merger->ends);
	merger->ends = ends;
	merger->end_capacity = 4 * capacity;
	merger->capacity = capacity;
	for (size_t place = 0; place < merger->count; place++)
		if (um_row_pages(merger->kind, row_at(merger, place))) {
			remember(merger, place, BEGINS);
			remember(merger, place, ENDS);
		}
	return true;
}

static void clear_pages(struct um_row_merger *merger, size_t place)
{
	*(int64_t *)(void *)((char *)row_at(merger, place) + merger->kind->pages) = 0;
}

/* What begins where the row at `place` ends becomes part of it. */
static void join_next(struct um_row_merger *merger, size_t place)
{
	void *row = row_at(merger, place);
	size_t next = merger->ends[find(merger, row, page_at(merger, row, ENDS), BEGINS)].row;

	if (!next || --next == place)
		return;
	forget(merger, place, ENDS);
	forget(merger, next, BEGINS);
	forget(merger, next, ENDS);
	merger->kind->add(row, row_at(merger, next));
	clear_pages(merger, next);
	remember(merger, place, ENDS);
}

bool um_row_merger_add(struct um_row_merger *merger, const void *row)
{
	size_t place;

	if (!make_room(merger))
		return false;
	place = merger->ends[find(merger, row, page_at(merger, row, BEGINS), ENDS)].row;
	if (place--) {
		forget(merger, place, ENDS);
		merger->kind->add(row_at(merger, place), row);
	} else {
		place = merger->count++;
		memcpy(row_at(merger, place), row, merger->kind->row_bytes);
		remember(merger, place, BEGINS);
	}
	remember(merger, place, ENDS);
	join_next(merger, place);
	return true;
}

void um_row_merger_flush(struct um_row_merger *merger, void (*call)(void *context, const void *row),
			 void *context)
{
	for (size_t place = 0; place < merger->count; place++)
		if (um_row_pages(merger->kind, row_at(merger, place)))
			call(context, row_at(merger, place));
	merger->count = 0;
	if (merger->ends)
		memset(merger->ends, 0, merger->end_capacity * sizeof(*merger->ends));
}

void um_row_merger_fini(struct um_row_merger *merger)
{
	free(merger->rows);
	free(merger->ends);
}
