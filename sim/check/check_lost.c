#include "check_lost.h"

#include "trace/base/error.h"
#include "trace/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES  4096
#define BLOCK_BYTES (2 << 20)
/* 256 GiB: larger allocations are not looked at; a page is a byte here. */
#define PAGES_MAX (UINT64_C(1) << 26)

/* What is known of a page so far. */
enum page_state { UNTOUCHED, HOST_WROTE, DEVICE_NEEDS };

static int by_allocation(const void *left, const void *right)
{
	const struct um_check_pages *a = left, *b = right;

	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

/* The rows of an allocation, in a list by allocation. */
static const struct um_check_pages *rows_of(const struct um_check_pages *all, size_t count,
					    int64_t allocation, size_t *found)
{
	const struct um_check_pages key = {.allocation = allocation};
	size_t first = um_sorted_first(all, count, sizeof(*all), &key, by_allocation);

	*found = um_sorted_alike(all, count, sizeof(*all), first, &key, by_allocation);
	return all ? all + first : NULL;
}

/* The row's pages within the allocation; false: there are none, or too much was looked at already. */
static bool clip(const struct um_check_pages *row, uint64_t pages, uint64_t *first, uint64_t *end,
		 uint64_t *work)
{
	*first = row->first;
	*end = row->count > pages ? pages : row->first + row->count;
	if (*end > pages)
		*end = pages;
	if (*first >= *end || *end - *first > *work)
		return false;
	*work -= *end - *first;
	return true;
}

static void touch(unsigned char *states, uint64_t first, uint64_t end, bool by_host)
{
	for (uint64_t page = first; page < end; page++)
		if (by_host && states[page] == UNTOUCHED)
			states[page] = HOST_WROTE;
		else if (!by_host && states[page] == HOST_WROTE)
			states[page] = DEVICE_NEEDS;
}

static void touch_all(unsigned char *states, uint64_t pages, const struct um_check_side *accesses,
		      int64_t allocation, uint64_t *work)
{
	size_t count;
	const struct um_check_pages *rows =
		rows_of(accesses->touched, accesses->touched_count, allocation, &count);
	uint64_t first, end;

	for (size_t i = 0; i < count; i++)
		if (clip(&rows[i], pages, &first, &end, work))
			touch(states, first, end,
			      accesses->op_kinds[rows[i].op] == UM_CHECK_OP_HOST);
}

/* Returns false where not all of the records were looked at. */
static bool reach_all(unsigned char *states, uint64_t pages, const struct um_check_side *measured,
		      int64_t allocation, uint64_t *work)
{
	size_t count;
	const struct um_check_pages *rows =
		rows_of(measured->reached, measured->reached_count, allocation, &count);
	uint64_t first, end;

	for (size_t i = 0; i < count; i++)
		if (clip(&rows[i], pages, &first, &end, work))
			memset(states + first, UNTOUCHED, end - first);
		else if (rows[i].first < pages)
			return false;
	return true;
}

int um_check_lost_pages(uint64_t *out, const struct um_check_side *accesses, size_t here,
			const struct um_check_side *measured, size_t there, uint64_t *work)
{
	const struct um_check_allocation *allocation = &accesses->allocations[here];
	uint64_t pages =
		allocation->bytes > 0 ? ((uint64_t)allocation->bytes - 1) / PAGE_BYTES + 1 : 0;
	unsigned char *states;

	*out = 0;
	if (!measured->tells_all_reached || strcmp(allocation->kind, "managed") != 0 ||
	    allocation->bytes < BLOCK_BYTES || pages > PAGES_MAX || pages > *work)
		return 0;
	*work -= pages;
	states = calloc(pages, 1);
	if (!states)
		return um_fail(UM_ENOMEM, "no memory for the pages of an allocation");
	touch_all(states, pages, accesses, allocation->allocation, work);
	if (reach_all(states, pages, measured, measured->allocations[there].allocation, work))
		for (uint64_t page = 0; page < pages; page++)
			*out += states[page] == DEVICE_NEEDS;
	free(states);
	return 0;
}
