/* Device memory that is reserved for pages, filled or not. */
#include "machine_internal.h"

#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <assert.h>

static struct place_pages *place_at(const struct um_machine *machine,
				    const struct um_page_range *range, um_device_id device)
{
	assert(device >= 0 && (uint32_t)device < machine->spec->devices);
	assert(!um_machine_managed(machine, range)->alias_of); /* that has the memory */
	return &um_machine_managed(machine, range)->place[place_of(device)];
}

uint64_t um_machine_unreserved(const struct um_machine *machine, const struct um_page_range *range,
			       um_device_id device)
{
	return range->pages - um_plane_count(place_at(machine, range, device)->reserved,
					     range->first_page, range->pages);
}

int um_machine_reserve(struct um_machine *machine, const struct um_page_range *range,
		       um_device_id device)
{
	struct place_pages *place = place_at(machine, range, device);
	uint64_t pages = um_machine_unreserved(machine, range, device);

	if (pages * UM_PAGE_BYTES > um_machine_memory_free(machine, device))
		return um_fail(UM_ELIMIT, "device %d: no room for %llu pages of allocation %u",
			       device, (unsigned long long)pages, range->allocation);
	um_plane_fill(place->reserved, range->first_page, range->pages, true);
	place->reserved_pages += pages;
	machine->memory[device].used_bytes += pages * UM_PAGE_BYTES;
	return 0;
}

void um_machine_release(struct um_machine *machine, const struct um_page_range *range,
			um_device_id device)
{
	struct place_pages *place = place_at(machine, range, device);
	uint64_t end = (uint64_t)range->first_page + range->pages, pages = 0;

	for (size_t word = range->first_page / UM_WORD_PAGES; word * UM_WORD_PAGES < end; word++) {
		uint64_t *reserved = um_plane_word(place->reserved, word);
		uint64_t released = *reserved & ~*um_plane_word(place->valid, word) &
				    um_bitmap_mask(word, range->first_page, end);

		if (!released)
			continue;
		*reserved &= ~released;
		pages += (uint64_t)__builtin_popcountll(released);
	}
	place->reserved_pages -= pages;
	machine->memory[device].used_bytes -= pages * UM_PAGE_BYTES;
}
