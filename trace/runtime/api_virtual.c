/*
 * Virtual memory management: places of the arena that hipMemAddressReserve() keeps free, memory that
 * hipMemCreate() makes, and maps of the one in the other. In the trace memory is allocated where it
 * is mapped and freed where it is unmapped; each map is an allocation of its own, though its contents
 * may be older.
 */
#include "api.h"
#include "hip6_translate.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <sys/mman.h>

/* HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE and _REC_GRANULE of ROCr's device memory. */
#define MINIMUM_BYTES	  (4u << 10)
#define RECOMMENDED_BYTES (2u << 20)

struct place {
	struct place *next;
	uint64_t offset, bytes; /* of the arena */
};

struct memory {
	struct memory *next;
	uint64_t offset, bytes; /* of the arena, where nobody but maps of it sees it */
	hipMemAllocationProp properties;
	unsigned handles; /* that the program has not released */
	unsigned maps;
};

struct map {
	struct map *next;
	struct memory *memory;
	struct um_allocation *allocation;
	hipMemAccessFlags flags;
};

static struct place *places;
static struct memory *memories;
static struct map *maps;

static uint64_t offset_of(const void *address)
{
	return (uint64_t)((uintptr_t)address - (uintptr_t)um_arena.base);
}

static bool is_within(uint64_t offset, uint64_t bytes, uint64_t start, uint64_t room)
{
	return offset - start <= room && bytes <= room - (offset - start);
}

static bool is_granular(uint64_t bytes)
{
	return bytes && bytes % MINIMUM_BYTES == 0;
}

/* --- places --- */

static hipError_t reserve(void **out, size_t bytes, size_t align, unsigned long long flags)
{
	if (!out || flags || !is_granular(bytes) || align & (align - 1))
		return hipErrorInvalidValue;
	hipError_t error = um_ready();
	struct place *place = calloc(1, sizeof(*place));

	if (error || !place ||
	    um_arena_reserve(&place->offset, bytes,
			     align > RECOMMENDED_BYTES ? align : RECOMMENDED_BYTES)) {
		free(place);
		return hipErrorOutOfMemory;
	}
	place->bytes = bytes;
	place->next = places;
	places = place;
	*out = um_arena.base + place->offset;
	return hipSuccess;
}

/* `wish` is no more than that: HIP may return another address. */
hipError_t hipMemAddressReserve(void **out, size_t bytes, size_t align, void *wish,
				unsigned long long flags)
{
	(void)wish;
	UM_ENTER();
	return um_leave(reserve(out, bytes, align, flags));
}

static bool any_map(uint64_t offset, uint64_t bytes)
{
	for (const struct map *map = maps; map; map = map->next)
		if (map->allocation->offset < offset + bytes &&
		    offset < map->allocation->offset + map->allocation->bytes)
			return true;
	return false;
}

static void place_free(struct place *place)
{
	struct place **link = &places;

	while (*link != place)
		link = &(*link)->next;
	*link = place->next;
	um_arena_unreserve(place->offset, place->bytes);
	free(place);
}

static hipError_t address_free(const void *address, size_t bytes)
{
	struct place *place = places;

	while (place && (place->offset != offset_of(address) || place->bytes != bytes))
		place = place->next;
	if (!place || any_map(place->offset, bytes))
		return hipErrorInvalidValue;
	place_free(place);
	return hipSuccess;
}

hipError_t hipMemAddressFree(void *address, size_t bytes)
{
	UM_ENTER();
	return um_leave(address_free(address, bytes));
}

static bool is_reserved(uint64_t offset, uint64_t bytes)
{
	for (const struct place *place = places; place; place = place->next)
		if (is_within(offset, bytes, place->offset, place->bytes))
			return true;
	return false;
}

/* --- memory --- */

static hipError_t check_properties(const hipMemAllocationProp *properties)
{
	if (!properties || properties->type != hipMemAllocationTypePinned ||
	    properties->location.type != hipMemLocationTypeDevice)
		return hipErrorInvalidValue;
	return um_is_device(properties->location.id) ? hipSuccess : hipErrorInvalidDevice;
}

static hipError_t get_granularity(size_t *out, const hipMemAllocationProp *properties,
				  hipMemAllocationGranularity_flags option)
{
	hipError_t error = check_properties(properties);

	if (!out || (option != hipMemAllocationGranularityMinimum &&
		     option != hipMemAllocationGranularityRecommended))
		return hipErrorInvalidValue;
	if (!error)
		*out = option == hipMemAllocationGranularityMinimum ? MINIMUM_BYTES
								    : RECOMMENDED_BYTES;
	return error;
}

hipError_t hipMemGetAllocationGranularity(size_t *out, const hipMemAllocationProp *properties,
					  hipMemAllocationGranularity_flags option)
{
	hipMemAllocationProp kept;

	UM_ENTER();
	return um_leave(get_granularity(out, um_to_allocation_prop(&kept, properties), option));
}

static struct memory *find_memory(hipMemGenericAllocationHandle_t handle)
{
	for (struct memory *memory = memories; memory; memory = memory->next)
		if ((hipMemGenericAllocationHandle_t)memory == handle && memory->handles)
			return memory;
	return NULL;
}

static hipError_t memory_make(struct memory **out, size_t bytes, int device)
{
	hipError_t error = um_memory_take(device, bytes);

	if (error)
		return error;
	struct memory *memory = calloc(1, sizeof(*memory));

	if (!memory || um_arena_reserve(&memory->offset, bytes, RECOMMENDED_BYTES)) {
		um_memory_give(device, bytes);
		free(memory);
		return hipErrorOutOfMemory;
	}
	memory->bytes = bytes;
	memory->next = memories;
	memories = memory;
	*out = memory;
	return hipSuccess;
}

static hipError_t create(hipMemGenericAllocationHandle_t *out, size_t bytes,
			 const hipMemAllocationProp *properties, unsigned long long flags)
{
	struct memory *memory;
	hipError_t error = check_properties(properties);

	if (!out || flags || !is_granular(bytes))
		return hipErrorInvalidValue;
	if (!error && properties->requestedHandleType != hipMemHandleTypeNone)
		return um_refuse_part("memory that is shared with other processes");
	if (!error)
		error = um_ready();
	if (!error)
		error = memory_make(&memory, bytes, properties->location.id);
	if (error)
		return error;
	memory->properties = *properties;
	memory->handles = 1;
	*out = (hipMemGenericAllocationHandle_t)memory;
	return hipSuccess;
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *out, size_t bytes,
			const hipMemAllocationProp *properties, unsigned long long flags)
{
	hipMemAllocationProp kept;

	UM_ENTER();
	return um_leave(create(out, bytes, um_to_allocation_prop(&kept, properties), flags));
}

/* "Release ... a memory handle": the memory lives on while it is mapped. */
static void memory_end_if_unused(struct memory *memory)
{
	struct memory **link = &memories;

	if (memory->handles || memory->maps)
		return;
	while (*link != memory)
		link = &(*link)->next;
	*link = memory->next;
	um_arena_unreserve(memory->offset, memory->bytes);
	um_memory_give(memory->properties.location.id, memory->bytes);
	free(memory);
}

static hipError_t release(hipMemGenericAllocationHandle_t handle)
{
	struct memory *memory = find_memory(handle);

	if (!memory)
		return hipErrorInvalidValue;
	memory->handles--;
	memory_end_if_unused(memory);
	return hipSuccess;
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
	UM_ENTER();
	return um_leave(release(handle));
}

static hipError_t get_properties(hipMemAllocationProp *out, hipMemGenericAllocationHandle_t handle)
{
	const struct memory *memory = find_memory(handle);

	if (!out || !memory)
		return hipErrorInvalidValue;
	um_from_allocation_prop(out, &memory->properties);
	return hipSuccess;
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *out,
						   hipMemGenericAllocationHandle_t handle)
{
	UM_ENTER();
	return um_leave(get_properties(out, handle));
}

/* --- maps --- */

static struct map *find_map(const void *address)
{
	for (struct map *map = maps; map; map = map->next)
		if (um_memory_holds(map->allocation, address, 1))
			return map;
	return NULL;
}

static hipError_t retain(hipMemGenericAllocationHandle_t *out, const void *address)
{
	const struct map *map = find_map(address);

	if (!out || !map)
		return hipErrorInvalidValue;
	map->memory->handles++;
	*out = (hipMemGenericAllocationHandle_t)map->memory;
	return hipSuccess;
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *out, void *address)
{
	UM_ENTER();
	return um_leave(retain(out, address));
}

static hipError_t map_at(uint64_t offset, uint64_t bytes, struct memory *memory)
{
	struct map *map = calloc(1, sizeof(*map));

	if (!map ||
	    um_arena_map(&map->allocation, UM_ALLOCATION_DEVICE, offset, bytes, memory->offset)) {
		free(map);
		return hipErrorOutOfMemory;
	}
	map->memory = memory;
	memory->maps++;
	map->next = maps;
	maps = map;
	um_memory_adopt(map->allocation, memory->properties.location.id);
	return hipSuccess;
}

/* "offset into the memory, currently must be zero". */
static hipError_t map(const void *address, size_t bytes, size_t start,
		      hipMemGenericAllocationHandle_t handle, unsigned long long flags)
{
	struct memory *memory = find_memory(handle);
	uint64_t offset = offset_of(address);

	if (!memory || start || flags || !is_granular(bytes) || bytes > memory->bytes ||
	    offset % MINIMUM_BYTES || !is_reserved(offset, bytes) || any_map(offset, bytes))
		return hipErrorInvalidValue;
	return map_at(offset, bytes, memory);
}

hipError_t hipMemMap(void *address, size_t bytes, size_t start,
		     hipMemGenericAllocationHandle_t handle, unsigned long long flags)
{
	UM_ENTER();
	return um_leave(map(address, bytes, start, handle, flags));
}

/* Whether whole maps make up the range, without a hole. */
static bool is_mapped(uint64_t offset, uint64_t bytes)
{
	uint64_t found = 0;

	for (const struct map *m = maps; m; m = m->next) {
		const struct um_allocation *a = m->allocation;

		if (is_within(a->offset, a->bytes, offset, bytes))
			found += a->bytes;
	}
	return bytes && found == bytes;
}

static void unmap_one(struct map **link)
{
	struct map *map = *link;

	*link = map->next;
	um_memory_release(map->allocation);
	map->memory->maps--;
	memory_end_if_unused(map->memory);
	free(map);
}

static hipError_t unmap(const void *address, size_t bytes)
{
	uint64_t offset = offset_of(address);

	if (!is_mapped(offset, bytes))
		return hipErrorInvalidValue;
	for (struct map **link = &maps; *link;)
		if (is_within((*link)->allocation->offset, (*link)->allocation->bytes, offset,
			      bytes))
			unmap_one(link);
		else
			link = &(*link)->next;
	return hipSuccess;
}

hipError_t hipMemUnmap(void *address, size_t bytes)
{
	UM_ENTER();
	return um_leave(unmap(address, bytes));
}

/* --- access: what a device may, the host may here as well --- */

static int rights_of(hipMemAccessFlags flags)
{
	switch (flags) {
	case hipMemAccessFlagsProtReadWrite:
		return PROT_READ | PROT_WRITE;
	case hipMemAccessFlagsProtRead:
		return PROT_READ;
	default:
		return PROT_NONE;
	}
}

static hipError_t check_access(const hipMemAccessDesc *wish)
{
	if (wish->location.type != hipMemLocationTypeDevice ||
	    (wish->flags != hipMemAccessFlagsProtNone && wish->flags != hipMemAccessFlagsProtRead &&
	     wish->flags != hipMemAccessFlagsProtReadWrite))
		return hipErrorInvalidValue;
	return um_is_device(wish->location.id) ? hipSuccess : hipErrorInvalidDevice;
}

/* The devices share one map here: the most that one of them may. */
static hipError_t most_access(hipMemAccessFlags *out, const hipMemAccessDesc *wish, size_t count)
{
	*out = hipMemAccessFlagsProtNone;
	for (size_t i = 0; i < count; i++) {
		hipError_t error = check_access(&wish[i]);

		if (error)
			return error;
		*out |= wish[i].flags;
	}
	return hipSuccess;
}

static hipError_t set_access(const void *address, size_t bytes, const hipMemAccessDesc *wish,
			     size_t count)
{
	uint64_t offset = offset_of(address);
	hipMemAccessFlags flags;

	if (!wish || !count || !is_mapped(offset, bytes))
		return hipErrorInvalidValue;
	hipError_t error = most_access(&flags, wish, count);

	if (error)
		return error;
	if (!um_arena_protect(offset, bytes, rights_of(flags)))
		return hipErrorOutOfMemory;
	for (struct map *m = maps; m; m = m->next)
		if (is_within(m->allocation->offset, m->allocation->bytes, offset, bytes))
			m->flags = flags;
	return hipSuccess;
}

hipError_t hipMemSetAccess(void *address, size_t bytes, const hipMemAccessDesc *wish, size_t count)
{
	UM_ENTER();
	return um_leave(set_access(address, bytes, wish, count));
}

static hipError_t get_access(unsigned long long *out, const hipMemLocation *location,
			     const void *address)
{
	const struct map *m = find_map(address);

	if (!out || !location || location->type != hipMemLocationTypeDevice || !m)
		return hipErrorInvalidValue;
	if (!um_is_device(location->id))
		return hipErrorInvalidDevice;
	*out = m->flags;
	return hipSuccess;
}

hipError_t hipMemGetAccess(unsigned long long *out, const hipMemLocation *location, void *address)
{
	UM_ENTER();
	return um_leave(get_access(out, location, address));
}

/* --- their end --- */

void um_virtual_reset(int device)
{
	for (struct map **link = &maps; *link;)
		if ((*link)->memory->properties.location.id == device)
			unmap_one(link);
		else
			link = &(*link)->next;
	for (struct memory *memory = memories, *next; memory; memory = next) {
		next = memory->next;
		if (memory->properties.location.id == device && !memory->maps) {
			memory->handles = 0;
			memory_end_if_unused(memory);
		}
	}
}

static void forget(void *list)
{
	struct any {
		struct any *next;
	} *any = list;

	while (any) {
		struct any *next = any->next;

		free(any);
		any = next;
	}
}

void um_virtual_child(void)
{
	forget(places);
	forget(memories);
	forget(maps);
	places = NULL;
	memories = NULL;
	maps = NULL;
}
