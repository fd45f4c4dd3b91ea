/* amdgpu_svm's ranges: made, found and cut in two (R1 to R3). */
#include "svm.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- allocations --- */

struct svm_allocation *um_svm_find(const struct svm *svm, um_alloc_id id)
{
	return id < svm->allocation_slots ? svm->allocations[id] : NULL;
}

static int make_slot(struct svm *svm, um_alloc_id id)
{
	size_t slots = svm->allocation_slots ? svm->allocation_slots : 64;
	struct svm_allocation **grown;

	if (id < svm->allocation_slots)
		return 0;
	while (slots <= id)
		slots *= 2;
	grown = realloc(svm->allocations, slots * sizeof(struct svm_allocation *));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu allocations", slots);
	memset(grown + svm->allocation_slots, 0,
	       (slots - svm->allocation_slots) * sizeof(struct svm_allocation *));
	svm->allocations = grown;
	svm->allocation_slots = slots;
	return 0;
}

int um_svm_add_allocation(struct svm *svm, const struct um_alloc *alloc)
{
	struct svm_allocation *allocation;

	if (make_slot(svm, alloc->allocation))
		return UM_ENOMEM;
	allocation = calloc(1, sizeof(*allocation));
	if (!allocation)
		return um_fail(UM_ENOMEM, "no memory for allocation %u", alloc->allocation);
	allocation->id = alloc->allocation;
	allocation->address_page = alloc->address / UM_PAGE_BYTES;
	allocation->pages = um_machine_pages(svm->machine, alloc->allocation);
	allocation->heap_or_stack = alloc->kind == UM_ALLOCATION_PAGEABLE &&
				    alloc->flags & (UM_PAGEABLE_HEAP | UM_PAGEABLE_STACK);
	svm->allocations[alloc->allocation] = allocation;
	return 0;
}

static void leave_books(struct svm *svm, struct svm_range *range)
{
	um_svm_forget_invalid(svm, range);
	um_svm_forget_dropped(svm, range);
	if (range->holds_bo)
		um_svm_drop_memory(svm, range); /* which tells its neighbours */
}

static void free_range(struct svm_range *range)
{
	free(range->dropped);
	free(range);
}

void um_svm_remove_allocation(struct svm *svm, struct svm_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->count; i++)
		leave_books(svm, allocation->ranges[i]);
	for (uint32_t i = 0; i < allocation->count; i++)
		free_range(allocation->ranges[i]);
	svm->allocations[allocation->id] = NULL;
	free(allocation->ranges);
	free(allocation);
}

/* --- finding --- */

uint32_t um_svm_range_place(const struct svm_allocation *allocation, um_page page)
{
	uint32_t low = 0, high = allocation->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (svm_range_end(allocation->ranges[middle]) <= page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct svm_range *um_svm_range_at(const struct svm_allocation *allocation, um_page page)
{
	uint32_t place = um_svm_range_place(allocation, page);

	if (place == allocation->count || allocation->ranges[place]->first_page > page)
		return NULL;
	return allocation->ranges[place];
}

struct um_page_range um_svm_block(const struct svm_range *range, um_page page, um_page block_pages)
{
	uint64_t base = range->owner->address_page;
	uint64_t first = (base + page) & ~(uint64_t)(block_pages - 1), end = first + block_pages;
	uint64_t range_first = base + range->first_page, range_end = base + svm_range_end(range);

	first = first > range_first ? first : range_first;
	end = end < range_end ? end : range_end;
	return (struct um_page_range){range->owner->id, (um_page)(first - base),
				      (uint32_t)(end - first)};
}

/* --- making --- */

int um_svm_ranges_add(struct svm_ranges *ranges, struct svm_range *range)
{
	if (ranges->count == ranges->capacity) {
		size_t capacity = ranges->capacity ? ranges->capacity * 2 : 16;
		struct svm_range **grown =
			realloc(ranges->at, capacity * sizeof(struct svm_range *));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu ranges", capacity);
		ranges->at = grown;
		ranges->capacity = capacity;
	}
	ranges->at[ranges->count++] = range;
	return 0;
}

static int insert(struct svm_range *range)
{
	struct svm_allocation *allocation = range->owner;
	uint32_t place = um_svm_range_place(allocation, range->first_page);

	if (allocation->count == allocation->capacity) {
		uint32_t capacity = allocation->capacity ? allocation->capacity * 2 : 1;
		struct svm_range **grown =
			realloc(allocation->ranges, capacity * sizeof(struct svm_range *));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u ranges", capacity);
		allocation->ranges = grown;
		allocation->capacity = capacity;
	}
	assert(place == allocation->count ||
	       allocation->ranges[place]->first_page >= svm_range_end(range));
	memmove(allocation->ranges + place + 1, allocation->ranges + place,
		(allocation->count - place) * sizeof(struct svm_range *));
	allocation->ranges[place] = range;
	allocation->count++;
	return 0;
}

static int put(const struct svm_range *as, struct svm_range **out)
{
	struct svm_range *range = malloc(sizeof(*range));

	*out = range;
	if (!range)
		return um_fail(UM_ENOMEM, "no memory for a range");
	*range = *as;
	if (!insert(range))
		return 0;
	free(range);
	return UM_ENOMEM;
}

int um_svm_new_range(struct svm *svm, struct svm_allocation *allocation, um_page first,
		     uint32_t pages, struct svm_range **out)
{
	const struct svm_range fresh = {
		.owner = allocation,
		.first_page = first,
		.pages = pages,
		.preferred = SVM_UNDEFINED,
		.prefetch = SVM_UNDEFINED,
		.actual = UM_HOST,
		.access = svm->xnack ? (uint16_t)((1u << svm->devices) - 1) : 0,
		.flags = SVM_HOST_ACCESS | SVM_COHERENT,
	};

	assert(pages > 0 && first + pages <= allocation->pages);
	return put(&fresh, out);
}

/* Pages of the range that are on its device. */
static uint32_t count_device_pages(const struct svm *svm, const struct svm_range *range)
{
	um_page page = range->first_page, end = svm_range_end(range);
	uint32_t count = 0;

	while (page < end && range->actual != UM_HOST) {
		um_device_id holder;
		bool nowhere;
		um_page next = um_machine_holder_end(svm->machine, range->owner->id, page, end,
						     &holder, &nowhere);

		count += !nowhere && holder == range->actual ? next - page : 0;
		page = next;
	}
	return count;
}

int um_svm_split(struct svm *svm, struct svm_range *range, um_page at, struct svm_range **tail)
{
	struct svm_range piece = *range;

	assert(at > range->first_page && at < svm_range_end(range));
	piece.first_page = at;
	piece.pages = svm_range_end(range) - at;
	piece.accepts_at = 0; /* no piece takes it over (svm_range_split_adjust) */
	piece.invalid = false;
	piece.next = NULL;
	piece.dropped = NULL;
	piece.dropped_first = piece.dropped_end = piece.dropped_capacity = 0;
	if (!range->holds_bo)
		piece.bo = NULL;
	piece.device_pages = count_device_pages(svm, &piece);
	range->pages -= piece.pages;
	if (put(&piece, tail)) {
		range->pages += piece.pages;
		return UM_ENOMEM;
	}
	range->device_pages -= piece.device_pages;
	if (range->holds_bo)
		range->bo->holders++;
	if (range->invalid && um_svm_stop_queues(svm, *tail, &svm->stopped_why))
		return UM_ENOMEM;
	return um_svm_share_dropped(svm, range, *tail);
}
