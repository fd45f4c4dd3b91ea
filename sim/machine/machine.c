/*
 * Life, capacity and questions. What a driver may do is in machine_pages.c, time in machine_link.c.
 */
#include "machine_internal.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int um_machine_check_memory(const struct um_machine_spec *spec, uint64_t bytes)
{
	char has[32], wanted[32];

	if (bytes <= spec->memory_bytes)
		return 0;
	return um_fail(UM_EINVAL, "machine %s has %s of memory a device, not %s", spec->name,
		       um_format_bytes(has, sizeof(has), spec->memory_bytes),
		       um_format_bytes(wanted, sizeof(wanted), bytes));
}

int um_machine_create(struct um_machine **out, const struct um_machine_spec *spec,
		      struct um_engine *engine, struct um_probe *probe, uint64_t memory_limit_bytes)
{
	struct um_machine *machine;
	int error = um_machine_check_memory(spec, memory_limit_bytes);

	if (error)
		return error;
	if (spec->devices < 1 || spec->devices > UM_DEVICES_MAX)
		return um_fail(UM_EINVAL, "machine %s: 1 to %d devices, not %u", spec->name,
			       UM_DEVICES_MAX, spec->devices);
	machine = calloc(1, sizeof(*machine));
	if (!machine)
		return um_fail(UM_ENOMEM, "no memory for the machine");
	machine->spec = spec;
	machine->engine = engine;
	machine->probe = probe;
	machine->places = spec->devices + 1;
	for (uint32_t device = 0; device < spec->devices; device++)
		machine->memory[device].total_bytes =
			memory_limit_bytes ? memory_limit_bytes : spec->memory_bytes;
	um_machine_init_links(machine);
	*out = machine;
	return 0;
}

static void free_allocation(struct allocation *allocation)
{
	if (!allocation)
		return;
	free(allocation->planes);
	free(allocation->names);
	free(allocation);
}

void um_machine_destroy(struct um_machine *machine)
{
	if (!machine)
		return;
	for (size_t id = 0; id < machine->allocation_slots; id++)
		free_allocation(machine->allocations[id]);
	for (size_t i = 0; i < machine->own_count; i++)
		free_allocation(machine->own[i]);
	free(machine->allocations);
	free(machine->own);
	free(machine->arrivals);
	for (size_t device = 0; device < UM_DEVICES_MAX; device++)
		free(machine->queues[device].waiters);
	free(machine);
}

const struct um_machine_spec *um_machine_spec(const struct um_machine *machine)
{
	return machine->spec;
}

um_ns um_machine_now(const struct um_machine *machine)
{
	return um_engine_now(machine->engine);
}

static const struct device_memory *memory_of(const struct um_machine *machine, um_device_id device)
{
	assert(device >= 0 && (uint32_t)device < machine->spec->devices);
	return &machine->memory[device];
}

uint64_t um_machine_memory_free(const struct um_machine *machine, um_device_id device)
{
	const struct device_memory *memory = memory_of(machine, device);

	return memory->total_bytes - memory->used_bytes;
}

uint64_t um_machine_memory_total(const struct um_machine *machine, um_device_id device)
{
	return memory_of(machine, device)->total_bytes;
}

/* --- allocations --- */

static int make_slot(struct um_machine *machine, um_alloc_id id)
{
	size_t slots = machine->allocation_slots ? machine->allocation_slots : 64;
	struct allocation **grown;

	if (id == 0 || id >= UM_ALLOC_IDS_END)
		return um_fail(UM_EFORMAT, "allocation %u: ids are 1 to %u", id,
			       UM_ALLOC_IDS_END - 1);
	if (id < machine->allocation_slots)
		return machine->allocations[id]
			       ? um_fail(UM_EFORMAT, "allocation %u is made twice", id)
			       : 0;
	while (slots <= id)
		slots *= 2;
	grown = realloc(machine->allocations, slots * sizeof(struct allocation *));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu allocations", slots);
	memset(grown + machine->allocation_slots, 0,
	       (slots - machine->allocation_slots) * sizeof(struct allocation *));
	machine->allocations = grown;
	machine->allocation_slots = slots;
	return 0;
}

/*
 * Of `populated`, the host and the first device all planes lie together; of further devices, those
 * of two. A host's memory is never reserved.
 */
static bool make_planes(const struct um_machine *machine, struct allocation *allocation)
{
	size_t words = um_bitmap_words(allocation->pages) * UM_PLANES_TOGETHER;
	size_t groups = (machine->places + 1) / 2;
	size_t bytes = (words ? words : UM_PLANES_TOGETHER) * groups * sizeof(uint64_t);

	_Static_assert(UM_PLANES_TOGETHER == UM_OWN_PAGES_APART, "as machine.h has it");
	allocation->planes = aligned_alloc(UM_PLANES_TOGETHER * sizeof(uint64_t), bytes);
	if (!allocation->planes)
		return false;
	memset(allocation->planes, 0, bytes);
	allocation->populated.first = allocation->planes;
	for (unsigned i = 0; i < machine->places; i++) {
		struct place_pages *place = &allocation->place[i];
		uint64_t *first = allocation->planes + i / 2 * words + i % 2 * 4;

		place->reserved.first = i ? first : NULL;
		place->valid.first = first + 1;
		place->map_low.first = first + 2;
		place->map_high.first = first + 3;
	}
	return true;
}

static int take_device_memory(struct um_machine *machine, const struct allocation *allocation)
{
	struct device_memory *memory = &machine->memory[allocation->device];
	uint64_t bytes = (uint64_t)allocation->pages * UM_PAGE_BYTES;
	char text[3][32];

	if (memory->total_bytes - memory->used_bytes < bytes)
		return um_fail(UM_ELIMIT,
			       "device %d: no room for allocation %u of %s: %s of %s are free",
			       allocation->device, allocation->id,
			       um_format_bytes(text[0], sizeof(text[0]), allocation->bytes),
			       um_format_bytes(text[1], sizeof(text[1]),
					       memory->total_bytes - memory->used_bytes),
			       um_format_bytes(text[2], sizeof(text[2]), memory->total_bytes));
	memory->used_bytes += bytes;
	return 0;
}

int um_machine_add(struct um_machine *machine, um_alloc_id id, enum um_home home,
		   um_device_id device, uint64_t bytes)
{
	size_t places = home == UM_HOME_MANAGED ? machine->places : 0;
	uint64_t pages = bytes / UM_PAGE_BYTES + (bytes % UM_PAGE_BYTES > 0);
	struct allocation *allocation;
	int error = make_slot(machine, id);

	if (error)
		return error;
	if (pages > UINT32_MAX)
		return um_fail(UM_EFORMAT, "allocation %u: %llu bytes are beyond 2^32 pages", id,
			       (unsigned long long)bytes);
	if (home == UM_HOME_DEVICE && (device < 0 || (uint32_t)device >= machine->spec->devices))
		return um_fail(UM_EINVAL, "allocation %u is on device %d; machine %s has %u", id,
			       device, machine->spec->name, machine->spec->devices);
	allocation = calloc(1, sizeof(*allocation) + places * sizeof(struct place_pages));
	if (!allocation)
		return um_fail(UM_ENOMEM, "no memory for allocation %u", id);
	*allocation = (struct allocation){
		.id = id, .home = home, .device = device, .bytes = bytes, .pages = (um_page)pages};
	if (home == UM_HOME_MANAGED && !make_planes(machine, allocation))
		error = um_fail(UM_ENOMEM, "no memory for the page table of allocation %u", id);
	else if (home == UM_HOME_DEVICE)
		error = take_device_memory(machine, allocation);
	if (error)
		free_allocation(allocation);
	else
		machine->allocations[id] = allocation;
	return error;
}

static void give_back_memory(struct um_machine *machine, struct allocation *allocation)
{
	for (unsigned i = 0; i < machine->places; i++) {
		struct place_pages *place = &allocation->place[i];

		assert(um_plane_count(place->valid, 0, allocation->pages) == place->resident_pages);
		machine->ledger[i][LEDGER_FREED] += place->resident_pages;
		if (i > 0)
			machine->memory[i - 1].used_bytes -= place->reserved_pages * UM_PAGE_BYTES;
	}
}

static int grow_own(struct um_machine *machine)
{
	size_t capacity = machine->own_capacity ? machine->own_capacity * 2 : 16;
	struct allocation **grown = realloc(machine->own, capacity * sizeof(struct allocation *));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu runs of a driver's pages", capacity);
	machine->own = grown;
	machine->own_capacity = capacity;
	return 0;
}

int um_machine_add_own(struct um_machine *machine, uint32_t pages, um_alloc_id *id)
{
	struct allocation *allocation;

	if (machine->own_count == machine->own_capacity && grow_own(machine))
		return UM_ENOMEM;
	*id = UM_OWN_PAGES + (um_alloc_id)machine->own_count;
	allocation = calloc(1, sizeof(*allocation) + machine->places * sizeof(struct place_pages));
	if (!allocation)
		return um_fail(UM_ENOMEM, "no memory for %u pages of a driver", pages);
	*allocation = (struct allocation){.id = *id,
					  .home = UM_HOME_MANAGED,
					  .bytes = (uint64_t)pages * UM_PAGE_BYTES,
					  .pages = pages};
	if (!make_planes(machine, allocation)) {
		free_allocation(allocation);
		return um_fail(UM_ENOMEM, "no memory for the page table of %u pages", pages);
	}
	machine->own[machine->own_count++] = allocation;
	return 0;
}

void um_machine_remove(struct um_machine *machine, um_alloc_id id)
{
	struct allocation *allocation = find_allocation(machine, id);

	if (!allocation)
		return;
	if (allocation->home == UM_HOME_MANAGED)
		give_back_memory(machine, allocation);
	else if (allocation->home == UM_HOME_DEVICE)
		machine->memory[allocation->device].used_bytes -=
			(uint64_t)allocation->pages * UM_PAGE_BYTES;
	free_allocation(allocation);
	*(id < UM_OWN_PAGES ? &machine->allocations[id] : &machine->own[id - UM_OWN_PAGES]) = NULL;
}

enum um_home um_machine_home(const struct um_machine *machine, um_alloc_id id)
{
	const struct allocation *allocation = find_allocation(machine, id);

	return allocation ? allocation->home : 0;
}

um_device_id um_machine_home_device(const struct um_machine *machine, um_alloc_id id)
{
	const struct allocation *allocation = find_allocation(machine, id);

	return allocation ? allocation->device : UM_HOST;
}

um_page um_machine_pages(const struct um_machine *machine, um_alloc_id id)
{
	const struct allocation *allocation = find_allocation(machine, id);

	return allocation ? allocation->pages : 0;
}

/* --- runs of pages in one state --- */

struct planes {
	struct um_plane plane[UM_PLACES_MAX + 3];
	uint64_t flip[UM_PLACES_MAX + 3]; /* all ones where `from` has the bit set */
	unsigned count;
};

static bool add_plane(struct planes *planes, struct um_plane plane, um_page from)
{
	bool set = um_plane_get(plane, from);

	planes->plane[planes->count] = plane;
	planes->flip[planes->count++] = set ? ~0ull : 0;
	return set;
}

static um_page run_end(const struct planes *planes, um_page from, um_page limit)
{
	size_t last = (limit - 1) / UM_WORD_PAGES;

	if (limit == from + 1)
		return limit;
	for (size_t word = from / UM_WORD_PAGES; word <= last; word++) {
		uint64_t differs = 0;

		for (unsigned i = 0; i < planes->count; i++)
			differs |= *um_plane_word(planes->plane[i], word) ^ planes->flip[i];
		differs &= um_bitmap_mask(word, from, limit);
		if (differs)
			return (um_page)(word * UM_WORD_PAGES + (unsigned)__builtin_ctzll(differs));
	}
	return limit;
}

um_page um_machine_copies_end(const struct um_machine *machine, const struct allocation *allocation,
			      um_page from, um_page limit, struct copies *copies)
{
	struct planes planes;

	planes.count = 0; /* the rest is not looked at */
	copies->populated = add_plane(&planes, allocation->populated, from);
	copies->holders = 0;
	for (unsigned i = 0; i < machine->places; i++)
		copies->holders |= (uint32_t)add_plane(&planes, allocation->place[i].valid, from)
				   << i;
	assert(!copies->populated || copies->holders);
	return run_end(&planes, from, limit);
}

um_page um_machine_run_end(const struct um_machine *machine, um_alloc_id id, um_page from,
			   um_page limit, um_device_id device, uint32_t *place,
			   enum um_mapping_state *map)
{
	struct um_page_range range = {id, from, limit - from};
	const struct allocation *allocation = um_machine_managed(machine, &range);
	const struct place_pages *own = &allocation->place[place_of(device)];
	struct planes planes;
	bool on_device = false;

	assert(from < limit);
	planes.count = 0; /* the rest is not looked at */
	*map = (enum um_mapping_state)(add_plane(&planes, own->map_low, from) |
				       add_plane(&planes, own->map_high, from) << 1);
	*place = add_plane(&planes, allocation->populated, from) ? UM_PAGE_POPULATED : 0;
	*place |= add_plane(&planes, allocation->place[0].valid, from) ? UM_PAGE_HOST : 0;
	if (device >= 0)
		on_device = add_plane(&planes, own->valid, from);
	else
		for (unsigned i = 1; i < machine->places; i++)
			on_device |= add_plane(&planes, allocation->place[i].valid, from);
	*place |= on_device ? UM_PAGE_DEVICE : 0;
	return run_end(&planes, from, limit);
}
