#include "curve_units.h"

#include "sim/machine/page_bitmap.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>
#include <string.h>

#define UNITS_MAX (1u << 28) /* an order of touches has four bits beside a unit */

struct counting {
	struct um_curve_units *units;
	um_page unit_pages;
	uint64_t next;
	bool whole;
};

static int grow_to(struct um_curve_units *units, size_t id)
{
	size_t count = units->allocations ? units->allocations : 64;
	struct um_curve_allocation *grown;

	if (id < units->allocations)
		return 0;
	while (count <= id)
		count *= 2;
	grown = realloc(units->allocation, count * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu allocations", count);
	memset(grown + units->allocations, 0, (count - units->allocations) * sizeof(*grown));
	units->allocation = grown;
	units->allocations = count;
	return 0;
}

/* Rows come by id, so that units are numbered as eviction orders compare them. */
static int number_units(const void *row, void *context)
{
	const struct um_allocation_row *allocation = row;
	struct counting *counting = context;
	uint64_t pages;

	if (um_word_code(um_allocation_words, allocation->kind) != UM_ALLOCATION_MANAGED)
		return 0;
	if (allocation->allocation <= 0 || allocation->allocation >= UM_ALLOC_IDS_END ||
	    allocation->bytes < 0) {
		counting->whole = false; /* a replay says what is wrong with it */
		return 0;
	}
	pages = ((uint64_t)allocation->bytes + UM_PAGE_BYTES - 1) / UM_PAGE_BYTES;
	counting->whole = counting->whole && pages % counting->unit_pages == 0;
	if (counting->next + pages / counting->unit_pages > UNITS_MAX)
		return um_fail(UM_ELIMIT, "more than %u units of managed memory", UNITS_MAX);
	if (grow_to(counting->units, (size_t)allocation->allocation))
		return UM_ENOMEM;
	counting->units->allocation[allocation->allocation] = (struct um_curve_allocation){
		(uint32_t)counting->next, (uint32_t)(pages / counting->unit_pages)};
	counting->next += pages / counting->unit_pages;
	return 0;
}

int um_curve_units_init(struct um_curve_units *units, struct um_db *trace, um_page unit_pages,
			bool *whole)
{
	struct counting counting = {units, unit_pages, 0, true};
	int error;

	*units = (struct um_curve_units){.shift = (unsigned)__builtin_ctz(unit_pages)};
	error = um_db_each(trace, &um_table_allocation, NULL, 0, number_units, &counting);
	*whole = counting.whole;
	if (error || !counting.whole)
		return error;
	units->count = (uint32_t)counting.next;
	units->has_data = calloc(um_bitmap_words(counting.next << units->shift) + 1, 8);
	units->pages = calloc(counting.next + 1, sizeof(*units->pages));
	return units->has_data && units->pages
		       ? 0
		       : um_fail(UM_ENOMEM, "no memory for %u units", units->count);
}

void um_curve_units_fini(struct um_curve_units *units)
{
	free(units->allocation);
	free(units->has_data);
	free(units->pages);
}

void um_curve_units_clear(struct um_curve_units *units)
{
	memset(units->pages, 0, units->count * sizeof(*units->pages));
	memset(units->has_data, 0, um_bitmap_words((uint64_t)units->count << units->shift) * 8);
}

uint32_t um_curve_units_fill(struct um_curve_units *units, uint32_t unit, um_page first,
			     um_page end)
{
	um_page in_unit = (1u << units->shift) - 1;
	uint64_t from = ((uint64_t)unit << units->shift) + (first & in_unit);
	uint32_t missing;

	if (units->pages[unit] > in_unit)
		return 0;
	missing = end - first - (uint32_t)um_bitmap_count(units->has_data, from, end - first);
	if (!missing)
		return 0;
	um_bitmap_fill(units->has_data, from, end - first, true);
	units->pages[unit] = (uint16_t)(units->pages[unit] + missing);
	return missing;
}
