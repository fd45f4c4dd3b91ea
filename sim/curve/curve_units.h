/*
 * The driver's units of all managed allocations of a trace, numbered by allocation and page, and
 * which of their pages have data.
 */
#ifndef UM_CURVE_UNITS_H
#define UM_CURVE_UNITS_H

#include "sim/machine/machine.h"
#include "trace/db/trace_db.h"

struct um_curve_units {
	unsigned shift; /* pages a unit, as a logarithm */
	uint32_t count;
	struct um_curve_allocation {
		uint32_t first, units; /* 0 units: none of managed memory */
	} * allocation;		       /* by id */
	size_t allocations;	       /* ids are below */
	uint64_t *has_data;	       /* a bit a page of a unit, by unit */
	uint16_t *pages;	       /* with data, by unit */
};

/*
 * Managed allocations in the trace as it is. *whole: false if one has pages that do not fill its
 * last unit; then nothing else counts. UM_ENOMEM, UM_ELIMIT.
 */
int um_curve_units_init(struct um_curve_units *, struct um_db *trace, um_page unit_pages,
			bool *whole);
void um_curve_units_fini(struct um_curve_units *);
/* No page has data. */
void um_curve_units_clear(struct um_curve_units *);
/* These pages, all of the unit, have data from now on; returns how many had none. */
uint32_t um_curve_units_fill(struct um_curve_units *, uint32_t unit, um_page first, um_page end);

static inline uint32_t um_curve_unit(const struct um_curve_units *units, um_alloc_id id,
				     um_page page)
{
	return units->allocation[id].first + (page >> units->shift);
}

#endif
