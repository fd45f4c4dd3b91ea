#include "svm_oracle.h"

#include <assert.h>
#include <string.h>

#define DEFAULT_FLAGS (1 | ORACLE_COHERENT)

void oracle_init(struct oracle *oracle, const struct oracle_setup *setup)
{
	memset(oracle, 0, sizeof(*oracle));
	oracle->setup = *setup;
	oracle->bo_count = 1;
}

void oracle_alloc(struct oracle *oracle, int id, int pages)
{
	struct oracle_allocation *allocation = &oracle->allocations[id];

	assert(id < ORACLE_ALLOCATIONS && pages <= ORACLE_PAGES);
	memset(&oracle->result, 0, sizeof(oracle->result));
	memset(allocation, 0, sizeof(*allocation));
	allocation->pages = pages;
	for (int page = 0; page < pages; page++) {
		allocation->page[page].place = oracle->setup.xnack ? ORACLE_NOWHERE : ORACLE_HOST;
		allocation->page[page].data = !oracle->setup.xnack;
	}
	for (int first = 0; first < pages; first += ORACLE_RANGE_PAGES)
		allocation->ranges[allocation->range_count++] = (struct oracle_range){
			.first = first,
			.pages = pages - first < ORACLE_RANGE_PAGES ? pages - first
								    : ORACLE_RANGE_PAGES,
			.preferred = ORACLE_NOWHERE,
			.prefetch = ORACLE_NOWHERE,
			.actual = ORACLE_HOST,
			.access = (1u << oracle->setup.devices) - 1,
			.flags = DEFAULT_FLAGS,
			.mapped_to_gpu = !oracle->setup.xnack,
		};
}

/* --- buffer objects --- */

static void unref(struct oracle *oracle, struct oracle_range *range)
{
	struct oracle_bo *bo = &oracle->bos[range->svm_bo];

	if (!range->holds)
		return;
	range->holds = false;
	assert(bo->holders > 0);
	if (!--bo->holders)
		oracle->bo_pages[bo->device] -= bo->pages;
}

/* svm_range_evict for what migrate_vma_setup is about to look at; [first, end) is in the range. */
static void invalidate(struct oracle *oracle, struct oracle_allocation *allocation,
		       struct oracle_range *range, int first, int end)
{
	if (!range->mapped_to_gpu || !oracle->setup.xnack)
		return; /* without XNACK the restore work maps it again, from where it is */
	if (first == range->first && end == range->first + range->pages)
		range->mapped_to_gpu = false;
	for (int page = first; page < end; page++)
		for (int device = 0; device < oracle->setup.devices; device++)
			allocation->page[page].mapped[device] = false;
}

static int pages_on_device(const struct oracle_allocation *allocation,
			   const struct oracle_range *range)
{
	int count = 0;

	for (int page = range->first; page < range->first + range->pages; page++)
		count += allocation->page[page].place == range->actual;
	return count;
}

static void migrate_vram_to_ram(struct oracle *oracle, struct oracle_allocation *allocation,
				struct oracle_range *range, int first, int end)
{
	if (range->actual == ORACLE_HOST)
		return;
	invalidate(oracle, allocation, range, first, end);
	for (int page = first; page < end; page++) {
		if (allocation->page[page].place != range->actual)
			continue;
		assert(allocation->page[page].data);
		oracle->result.pages_out[range->actual]++;
		allocation->page[page].place = ORACLE_HOST;
	}
	if (!pages_on_device(allocation, range)) {
		range->actual = ORACLE_HOST;
		unref(oracle, range);
	}
}

/* svm_range_evict_svm_bo_worker */
static void evict_bo(struct oracle *oracle, int svm_bo)
{
	for (int id = 0; id < ORACLE_ALLOCATIONS; id++) {
		struct oracle_allocation *allocation = &oracle->allocations[id];

		for (int i = 0; i < allocation->range_count; i++) {
			struct oracle_range *range = &allocation->ranges[i];

			if (!range->holds || range->svm_bo != svm_bo)
				continue;
			migrate_vram_to_ram(oracle, allocation, range, range->first,
					    range->first + range->pages);
			assert(!range->holds);
		}
	}
	assert(!oracle->bos[svm_bo].holders);
}

/* ttm_bo_mem_space: the oldest first until there is room. */
static void make_room(struct oracle *oracle, int device, int64_t pages)
{
	for (int i = 1; i < oracle->bo_count; i++) {
		if (oracle->bo_pages[device] + oracle->device_pages[device] + pages <=
		    oracle->setup.memory_pages)
			return;
		if (oracle->bos[i].holders && oracle->bos[i].device == device)
			evict_bo(oracle, i);
	}
}

void oracle_take(struct oracle *oracle, int device, int64_t pages)
{
	memset(&oracle->result, 0, sizeof(oracle->result));
	make_room(oracle, device, pages);
	oracle->device_pages[device] += pages;
}

/* The buffer object on the device that the range's pages were part of when it was made; 0: none. */
static int old_place(const struct oracle *oracle, const struct oracle_allocation *allocation,
		     const struct oracle_range *range, int device)
{
	for (int i = 1; i < oracle->bo_count; i++) {
		const struct oracle_bo *bo = &oracle->bos[i];

		if (bo->holders && bo->device == device && bo->ranges == allocation->ranges &&
		    bo->first <= range->first &&
		    bo->first + bo->pages >= range->first + range->pages)
			return i;
	}
	return 0;
}

static void vram_node_new(struct oracle *oracle, struct oracle_allocation *allocation,
			  struct oracle_range *range, int device)
{
	if (range->holds)
		return;
	range->svm_bo = old_place(oracle, allocation, range, device);
	if (!range->svm_bo) {
		make_room(oracle, device, range->pages);
		assert(oracle->bo_count < ORACLE_BOS);
		range->svm_bo = oracle->bo_count++;
		oracle->bos[range->svm_bo] = (struct oracle_bo){.ranges = allocation->ranges,
								.device = device,
								.first = range->first,
								.pages = range->pages};
		oracle->bo_pages[device] += range->pages;
	}
	oracle->bos[range->svm_bo].holders++;
	range->holds = true;
}

/* False: refused. */
static bool migrate_ram_to_vram(struct oracle *oracle, struct oracle_allocation *allocation,
				struct oracle_range *range, int device, int first, int end)
{
	int moved = 0;

	if (oracle->device_pages[device] + range->pages > oracle->setup.memory_pages) {
		oracle->result.refused++;
		return false;
	}
	vram_node_new(oracle, allocation, range, device);
	invalidate(oracle, allocation, range, first, end);
	for (int i = first; i < end; i++) {
		struct oracle_page *page = &allocation->page[i];

		if (page->place != ORACLE_HOST && page->place != ORACLE_NOWHERE)
			continue;
		oracle->result.pages_in[device] += page->data;
		page->place = device;
		page->data = true;
		moved++;
	}
	if (moved)
		range->actual = device;
	else if (range->actual == ORACLE_HOST)
		unref(oracle, range);
	return true;
}

static bool migrate_to_vram(struct oracle *oracle, struct oracle_allocation *allocation,
			    struct oracle_range *range, int device, int first, int end)
{
	if (range->actual != ORACLE_HOST && range->actual != device)
		migrate_vram_to_ram(oracle, allocation, range, range->first,
				    range->first + range->pages);
	return migrate_ram_to_vram(oracle, allocation, range, device, first, end);
}

/* --- mapping --- */

static bool reaches(const struct oracle *oracle, int device, int place)
{
	return place == ORACLE_HOST || place == device || oracle->setup.hive;
}

static void validate_and_map(struct oracle *oracle, struct oracle_allocation *allocation,
			     struct oracle_range *range, int first, int end, unsigned devices)
{
	if (!devices)
		return;
	for (int i = first; i < end; i++) {
		struct oracle_page *page = &allocation->page[i];

		if (page->place == ORACLE_NOWHERE) {
			page->place = ORACLE_HOST;
			page->data = true;
		}
		for (int device = 0; device < oracle->setup.devices; device++)
			if (devices >> device & 1 && reaches(oracle, device, page->place))
				page->mapped[device] = true;
	}
	range->mapped_to_gpu = true;
}

static unsigned devices_to_map(const struct oracle *oracle, const struct oracle_range *range)
{
	unsigned devices = range->in_place;

	if (!oracle->setup.xnack)
		return devices | range->access;
	if (range->actual != ORACLE_HOST)
		devices |= range->access & 1u << range->actual;
	if (!devices && range->mapped_to_gpu)
		devices = range->access;
	return devices;
}

static void map_whole(struct oracle *oracle, struct oracle_allocation *allocation,
		      struct oracle_range *range)
{
	validate_and_map(oracle, allocation, range, range->first, range->first + range->pages,
			 devices_to_map(oracle, range));
}

/* --- faults --- */

static struct oracle_range *range_of(struct oracle_allocation *allocation, int page)
{
	for (int i = 0; i < allocation->range_count; i++)
		if (page >= allocation->ranges[i].first &&
		    page < allocation->ranges[i].first + allocation->ranges[i].pages)
			return &allocation->ranges[i];
	assert(!"a page without a range");
	return NULL;
}

static void window_of(const struct oracle *oracle, const struct oracle_range *range, int page,
		      int *first, int *end)
{
	*first = page / oracle->setup.granule * oracle->setup.granule;
	*end = *first + oracle->setup.granule;
	if (*first < range->first)
		*first = range->first;
	if (*end > range->first + range->pages)
		*end = range->first + range->pages;
}

static int best_restore_location(const struct oracle *oracle, const struct oracle_range *range,
				 int device)
{
	if (range->preferred == device || range->preferred == ORACLE_HOST)
		return range->preferred;
	if (range->preferred != ORACLE_NOWHERE && oracle->setup.hive)
		return range->preferred;
	if (range->access >> device & 1)
		return device;
	if (range->actual == ORACLE_HOST)
		return ORACLE_HOST;
	return range->actual == device || oracle->setup.hive ? range->actual : ORACLE_HOST;
}

/* svm_range_restore_pages */
static void device_fault(struct oracle *oracle, struct oracle_allocation *allocation, int page,
			 int device)
{
	struct oracle_range *range = range_of(allocation, page);
	int best = best_restore_location(oracle, range, device), first, end;

	oracle->result.device_faults++;
	window_of(oracle, range, page, &first, &end);
	if (oracle->setup.old) {
		first = range->first;
		end = range->first + range->pages;
	}
	if (oracle->setup.old && best == range->actual)
		; /* it is mapped, no more */
	else if (best == ORACLE_HOST)
		migrate_vram_to_ram(oracle, allocation, range, first, end);
	else if (!migrate_to_vram(oracle, allocation, range, best, first, end) &&
		 range->actual != best)
		migrate_vram_to_ram(oracle, allocation, range, first, end);
	validate_and_map(oracle, allocation, range, first, end, 1u << device);
}

void oracle_kernel(struct oracle *oracle, int device, int id, int first, int pages)
{
	struct oracle_allocation *allocation = &oracle->allocations[id];

	memset(&oracle->result, 0, sizeof(oracle->result));
	for (int page = first; page < first + pages; page++) {
		if (oracle->setup.xnack && !allocation->page[page].mapped[device])
			device_fault(oracle, allocation, page, device);
		assert(!oracle->setup.xnack || allocation->page[page].mapped[device]);
		oracle->result.remote_pages += allocation->page[page].place != device;
	}
}

/* Cuts what lies before `at` off the range at `index`; the cut-off part comes before it. */
static void split(struct oracle *oracle, struct oracle_allocation *allocation, int index, int at)
{
	struct oracle_range *range = &allocation->ranges[index], *head;

	assert(allocation->range_count < ORACLE_RANGES);
	memmove(range + 1, range, (size_t)(allocation->range_count - index) * sizeof(*range));
	allocation->range_count++;
	head = range++;
	head->pages = at - head->first;
	range->first = at;
	range->pages -= head->pages;
	if (head->holds)
		oracle->bos[head->svm_bo].holders++;
}

/* svm_range_split_by_granularity */
static void split_off_granule(struct oracle *oracle, struct oracle_allocation *allocation, int page)
{
	int index = (int)(range_of(allocation, page) - allocation->ranges), first, end;

	window_of(oracle, &allocation->ranges[index], page, &first, &end);
	if (first > allocation->ranges[index].first)
		split(oracle, allocation, index++, first);
	if (end < allocation->ranges[index].first + allocation->ranges[index].pages)
		split(oracle, allocation, index, end);
}

/* svm_migrate_to_ram */
void oracle_host(struct oracle *oracle, int id, int first, int pages)
{
	struct oracle_allocation *allocation = &oracle->allocations[id];

	memset(&oracle->result, 0, sizeof(oracle->result));
	for (int i = first; i < first + pages; i++) {
		struct oracle_page *page = &allocation->page[i];
		int from, to;

		if (page->place == ORACLE_NOWHERE) {
			page->place = ORACLE_HOST;
			page->data = true;
		}
		if (page->place == ORACLE_HOST)
			continue;
		oracle->result.host_faults++;
		if (oracle->setup.old)
			split_off_granule(oracle, allocation, i);
		window_of(oracle, range_of(allocation, i), i, &from, &to);
		migrate_vram_to_ram(oracle, allocation, range_of(allocation, i), from, to);
	}
}

/* --- svm_range_set_attr --- */

static bool is_same(const struct oracle_range *range, enum oracle_attribute attribute, int value)
{
	switch (attribute) {
	case ORACLE_PREFERRED:
		return range->preferred == value;
	case ORACLE_PREFETCH:
		return false;
	case ORACLE_ACCESS:
		return range->access >> value & 1;
	case ORACLE_IN_PLACE:
		return range->in_place >> value & 1;
	case ORACLE_SET_FLAGS:
		return (range->flags & (unsigned)value) == (unsigned)value;
	case ORACLE_CLEAR_FLAGS:
		return !(range->flags & (unsigned)value);
	}
	return false;
}

static void apply(struct oracle_range *range, enum oracle_attribute attribute, int value)
{
	switch (attribute) {
	case ORACLE_PREFERRED:
		range->preferred = value;
		break;
	case ORACLE_PREFETCH:
		range->prefetch = value;
		break;
	case ORACLE_ACCESS:
		range->access |= 1u << value;
		range->in_place &= ~(1u << value);
		break;
	case ORACLE_IN_PLACE:
		range->in_place |= 1u << value;
		range->access &= ~(1u << value);
		break;
	case ORACLE_SET_FLAGS:
		range->flags |= (unsigned)value;
		break;
	case ORACLE_CLEAR_FLAGS:
		range->flags &= ~(unsigned)value;
		break;
	}
}

static int best_prefetch_location(const struct oracle *oracle, const struct oracle_range *range)
{
	unsigned devices;

	if (range->prefetch == ORACLE_HOST || range->prefetch == ORACLE_NOWHERE ||
	    oracle->setup.hive)
		return range->prefetch;
	devices = oracle->setup.xnack ? range->in_place : range->in_place | range->access;
	return devices & ~(1u << range->prefetch) ? ORACLE_HOST : range->prefetch;
}

static void update(struct oracle *oracle, struct oracle_allocation *allocation,
		   struct oracle_range *range, bool update_mapping)
{
	int best = best_prefetch_location(oracle, range), end = range->first + range->pages;
	bool migrated = false;

	if (oracle->setup.old && best == range->actual)
		best = ORACLE_NOWHERE;
	if (best == ORACLE_HOST) {
		migrated = range->actual != ORACLE_HOST;
		migrate_vram_to_ram(oracle, allocation, range, range->first, end);
	} else if (best != ORACLE_NOWHERE) {
		migrated = migrate_to_vram(oracle, allocation, range, best, range->first, end);
	}
	if (migrated || update_mapping)
		map_whole(oracle, allocation, range);
}

void oracle_set(struct oracle *oracle, int id, int first, int pages,
		enum oracle_attribute attribute, int value)
{
	struct oracle_allocation *allocation = &oracle->allocations[id];
	bool updates[ORACLE_RANGES] = {false}, remaps[ORACLE_RANGES] = {false};
	int end = first + pages;

	memset(&oracle->result, 0, sizeof(oracle->result));
	for (int i = 0; i < allocation->range_count; i++) {
		struct oracle_range *range = &allocation->ranges[i];
		int range_end = range->first + range->pages;

		if (range_end <= first || range->first >= end ||
		    (is_same(range, attribute, value) && range->mapped_to_gpu))
			continue;
		if (range->first < first) {
			split(oracle, allocation, i, first);
			remaps[i++] = first % oracle->setup.granule != 0;
		}
		if (range_end > end) {
			split(oracle, allocation, i, end);
			remaps[i + 1] = end % oracle->setup.granule != 0;
		}
		updates[i] = true;
		i += range_end > end;
	}
	for (int i = 0; i < allocation->range_count; i++)
		if (updates[i])
			apply(&allocation->ranges[i], attribute, value);
	for (int i = allocation->range_count; i-- > 0;)
		if (updates[i])
			update(oracle, allocation, &allocation->ranges[i],
			       attribute >= ORACLE_SET_FLAGS);
	for (int i = allocation->range_count; i-- > 0 && !oracle->setup.old;)
		if (remaps[i])
			map_whole(oracle, allocation, &allocation->ranges[i]);
}
