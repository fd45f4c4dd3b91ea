/* Allocations whose pages are pages of the driver's own, which several of them can share. */
#include "machine_internal.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>

static struct allocation *own_of(const struct um_machine *machine, um_alloc_id own)
{
	struct allocation *allocation = find_allocation(machine, own);

	assert(own >= UM_OWN_PAGES && allocation);
	return allocation;
}

int um_machine_name_own(struct um_machine *machine, const struct um_page_range *own,
			um_alloc_id allocation, um_page first_page)
{
	struct allocation *pages = own_of(machine, own->allocation);

	assert(own->first_page <= pages->pages && own->pages <= pages->pages - own->first_page);
	if (!pages->names)
		pages->names = calloc(pages->pages, sizeof(*pages->names));
	if (!pages->names)
		return um_fail(UM_ENOMEM, "no memory for the names of %u pages", pages->pages);
	for (uint32_t i = 0; i < own->pages; i++)
		pages->names[own->first_page + i] = (struct page_name){allocation, first_page + i};
	return 0;
}

void um_machine_name(const struct um_machine *machine, const struct um_page_range *run,
		     int64_t *allocation, int64_t *first_page)
{
	const struct allocation *own;

	*allocation = run->allocation;
	*first_page = run->first_page;
	if (run->allocation < UM_OWN_PAGES)
		return;
	own = own_of(machine, run->allocation);
	*allocation = *first_page = UM_NULL;
	if (!own->names || !own->names[run->first_page].allocation)
		return;
	*allocation = own->names[run->first_page].allocation;
	*first_page = own->names[run->first_page].page;
}

void um_machine_lay_on(struct um_machine *machine, um_alloc_id id, um_alloc_id own, um_page first,
		       bool reaches_on)
{
	struct allocation *allocation = find_allocation(machine, id);

	assert(allocation && allocation->home == UM_HOME_MANAGED);
	assert(allocation->pages + reaches_on <= own_of(machine, own)->pages - first);
	allocation->alias_of = own;
	allocation->alias_first = first;
	allocation->alias_reaches_on = reaches_on;
}

/* --- the state of what they lie on --- */

/*
 * What can be accessed of a page that lies on two: what can be of both, in the words of the first. A
 * write from afar to the first that would fault on a copy of the second is let through.
 */
static enum um_mapping_state of_both(enum um_mapping_state first, enum um_mapping_state second)
{
	if (first == UM_MAP_NONE || second == UM_MAP_NONE)
		return UM_MAP_NONE;
	return first == UM_MAP_LOCAL && second == UM_MAP_LOCAL_READ ? UM_MAP_LOCAL_READ : first;
}

static void follow_copy(struct um_machine *machine, struct allocation *allocation, unsigned place,
			um_page page, bool is_there)
{
	struct place_pages *here = &allocation->place[place];

	if (um_plane_get(here->valid, page) == is_there)
		return;
	um_plane_fill(here->valid, page, 1, is_there);
	here->resident_pages += is_there ? 1 : UINT64_MAX;
	machine->ledger[place][is_there ? LEDGER_BORN : LEDGER_DROPPED]++;
}

static void follow_page(struct um_machine *machine, struct allocation *allocation,
			const struct allocation *own, um_page page)
{
	um_page at = allocation->alias_first + page;
	bool lies_on_two = allocation->alias_reaches_on && page + 1 == allocation->pages;

	for (unsigned place = 0; place < machine->places; place++) {
		const struct place_pages *there = &own->place[place];
		enum um_mapping_state map = mapping_of(there, at);

		if (lies_on_two)
			map = of_both(map, mapping_of(there, at + 1));
		follow_copy(machine, allocation, place, page, um_plane_get(there->valid, at));
		set_mapping(&allocation->place[place], page, 1, map);
	}
	um_plane_fill(allocation->populated, page, 1, um_plane_get(own->populated, at));
}

void um_machine_follow(struct um_machine *machine, const struct um_page_range *range)
{
	struct allocation *allocation = um_machine_managed(machine, range);
	const struct allocation *own = own_of(machine, allocation->alias_of);

	for (uint32_t i = 0; i < range->pages; i++)
		follow_page(machine, allocation, own, range->first_page + i);
}
