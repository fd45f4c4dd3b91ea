/* What faults at least: lemmas 5 to 7 of ideal.c. */
#include "ideal_state.h"

#include "trace/spool/spool_record.h"

struct unit_walk {
	struct um_ideal_core *core;
	struct device_books *books;
	uint64_t pages; /* touched, of each unit */
	uint32_t stamp;
};

static int device_units(void *context, void *value, uint64_t first, uint64_t units)
{
	const struct unit_walk *walk = context;
	struct um_ideal_core *core = walk->core;
	struct device_books *books = walk->books;
	struct unit_state *unit = value;
	bool certain = !unit->touched || walk->stamp > unit->touched;
	int error = 0;

	(void)first;
	if (certain)
		books->certain_faults += units;
	else if (core->alone && unit->touched < core->op)
		error = um_fault_savings_ask(&books->faults, &books->moments,
					     first_moment_behind(core, unit->touched), walk->pages,
					     units);
	/* Where there is room for all, what asks is kept, and takes no part in what is counted. */
	if (certain || books->moments.limited)
		unit->touched = core->op;
	return error;
}

static int host_units(void *context, void *value, uint64_t first, uint64_t units)
{
	const struct unit_walk *walk = context;
	struct unit_state *unit = value;

	(void)first;
	if (walk->stamp > unit->touched) {
		walk->core->host_faults += units;
		unit->touched = walk->core->op;
	}
	return 0;
}

static int touch_units(struct um_ideal_core *core, struct device_books *books,
		       const struct unit_touch *touched, uint64_t units)
{
	struct allocation_books *allocation = &core->allocations[touched->allocation];
	struct unit_walk walk = {core, books, touched->pages, touched->stamp};

	if (core->by == UM_HOST)
		return um_page_map_walk(&allocation->host_unit, touched->unit, units, host_units,
					&walk);
	return um_page_map_walk(&allocation->unit[core->by], touched->unit, units, device_units,
				&walk);
}

int um_ideal_faults_flush(struct um_ideal_core *core, struct device_books *books)
{
	struct unit_touch touched = books->unit;

	books->unit.any = false;
	return touched.any ? touch_units(core, books, &touched, 1) : 0;
}

/* Pages of one unit, of which others may be touched as well. */
static int touch_part(const struct touch *touch, uint64_t unit, uint64_t pages, uint32_t stamp)
{
	struct unit_touch *open = &touch->books->unit;
	int error = 0;

	if (open->any && (open->unit != unit || open->allocation != touch->allocation))
		error = um_ideal_faults_flush(touch->core, touch->books);
	if (!open->any)
		*open = (struct unit_touch){.allocation = touch->allocation, .unit = unit};
	open->any = true;
	open->pages += pages;
	open->stamp = stamp > open->stamp ? stamp : open->stamp;
	return error;
}

int um_ideal_faults_touch(const struct touch *touch, uint64_t first, uint64_t pages, uint32_t stamp)
{
	uint64_t size = touch->core->terms.unit_pages, end = first + pages;
	uint64_t whole_from = (first + size - 1) / size, whole_to = end / size;
	struct unit_touch whole = {
		.allocation = touch->allocation, .unit = whole_from, .pages = size, .stamp = stamp};
	int error = 0;

	if (whole_from > whole_to)
		return touch_part(touch, first / size, pages, stamp);
	if (first < whole_from * size)
		error = touch_part(touch, first / size, whole_from * size - first, stamp);
	if (!error && whole_from < whole_to) {
		error = um_ideal_faults_flush(touch->core, touch->books);
		if (!error)
			error = touch_units(touch->core, touch->books, &whole,
					    whole_to - whole_from);
	}
	if (!error && whole_to * size < end)
		error = touch_part(touch, whole_to, end - whole_to * size, stamp);
	return error;
}
