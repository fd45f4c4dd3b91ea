#include "uvm_oracle.h"

#include <assert.h>
#include <string.h>

#define BIG_PAGE 16 /* UVM_BIG_PAGE_SIZE, 64 KiB */

/* Part of a block: pages of one allocation, within 2 MiB. */
struct region {
	struct oracle_allocation *allocation;
	int first, outer;
};

void oracle_init(struct oracle *oracle, const struct oracle_setup *setup)
{
	memset(oracle, 0, sizeof(*oracle));
	oracle->setup = *setup;
}

static void begin(struct oracle *oracle)
{
	memset(&oracle->result, 0, sizeof(oracle->result));
}

void oracle_alloc(struct oracle *oracle, int id, int pages)
{
	struct oracle_allocation *allocation = &oracle->allocation[id];

	begin(oracle);
	assert(id < ORACLE_ALLOCATIONS && pages <= ORACLE_PAGES && pages >= ORACLE_BLOCK);
	memset(allocation, 0, sizeof(*allocation));
	allocation->pages = pages;
	for (int i = 0; i < pages; i++)
		allocation->page[i].policy.preferred = ORACLE_NOWHERE;
}

static struct region block_of(struct oracle_allocation *allocation, int page)
{
	struct region block = {allocation, page, page + 1};

	while (block.first % ORACLE_BLOCK && !allocation->page[block.first].range_starts)
		block.first--;
	while (block.outer % ORACLE_BLOCK && block.outer < allocation->pages &&
	       !allocation->page[block.outer].range_starts)
		block.outer++;
	return block;
}

static struct oracle_page *page_of(const struct region *region, int page)
{
	return &region->allocation->page[page];
}

static const struct oracle_policy *policy_of(const struct region *region)
{
	return &region->allocation->page[region->first].policy;
}

static struct oracle_window *window_of(const struct region *region)
{
	return &region->allocation->window[region->first / ORACLE_BLOCK];
}

static int window_count(const struct oracle_allocation *allocation)
{
	return (allocation->pages + ORACLE_BLOCK - 1) / ORACLE_BLOCK;
}

static int outer_of_window(const struct oracle_allocation *allocation, int window)
{
	int outer = (window + 1) * ORACLE_BLOCK;

	return outer < allocation->pages ? outer : allocation->pages;
}

static int pages_of_window(const struct oracle_allocation *allocation, int window)
{
	return outer_of_window(allocation, window) - window * ORACLE_BLOCK;
}

static bool is_whole_block(const struct region *block)
{
	return block->outer - block->first == ORACLE_BLOCK;
}

static int count_resident(const struct region *region, int processor)
{
	int count = 0;

	for (int i = region->first; i < region->outer; i++)
		count += !!(page_of(region, i)->resident & ORACLE_BIT(processor));
	return count;
}

/* accessible_from[at]: PCIe. */
static bool can_access(int processor, int at)
{
	return at == ORACLE_CPU || processor == at;
}

/* --- chunks --- */

static void mark_memory_used(struct oracle *oracle, const struct region *block)
{
	if (!is_whole_block(block) || !count_resident(block, ORACLE_GPU))
		return;
	window_of(block)->unused = false;
	window_of(block)->age = ++oracle->clock;
}

/* block_clear_resident_processor */
static void mark_memory_unused(struct oracle *oracle, const struct region *block, bool had)
{
	if (!had || count_resident(block, ORACLE_GPU) || !is_whole_block(block))
		return;
	window_of(block)->unused = true;
	window_of(block)->age = ++oracle->clock;
}

static void evict_chunk(struct oracle *, struct oracle_allocation *, int window);

static void evict_one(struct oracle *oracle)
{
	struct oracle_allocation *allocation = NULL;
	int window = 0;

	for (int id = 0; id < ORACLE_ALLOCATIONS; id++)
		for (int i = 0; i < window_count(&oracle->allocation[id]); i++) {
			struct oracle_window *each = &oracle->allocation[id].window[i], *best;

			best = allocation ? &allocation->window[window] : NULL;
			if (!each->has_chunk ||
			    (best && (best->unused > each->unused ||
				      (best->unused == each->unused && best->age < each->age))))
				continue;
			allocation = &oracle->allocation[id];
			window = i;
		}
	assert(allocation);
	evict_chunk(oracle, allocation, window);
}

static void take(struct oracle *oracle, int pages)
{
	while (oracle->taken + pages > oracle->setup.chunks * ORACLE_BLOCK)
		evict_one(oracle);
	oracle->taken += pages;
}

static void populate(struct oracle *oracle, const struct region *block)
{
	struct oracle_window *window = window_of(block);

	if (window->has_chunk)
		return;
	take(oracle, pages_of_window(block->allocation, block->first / ORACLE_BLOCK));
	*window = (struct oracle_window){.has_chunk = true, .age = ++oracle->clock};
}

void oracle_take(struct oracle *oracle, int chunks)
{
	begin(oracle);
	take(oracle, chunks * ORACLE_BLOCK);
}

void oracle_free(struct oracle *oracle, int id)
{
	struct oracle_allocation *allocation = &oracle->allocation[id];

	begin(oracle);
	for (int i = 0; i < window_count(allocation); i++)
		if (allocation->window[i].has_chunk)
			oracle->taken -= pages_of_window(allocation, i);
	allocation->pages = 0;
}

/* --- residency; `mask` says for each page of the allocation 'F', 'P' or 0 --- */

/* block_copy_resident_pages_between: runs of neighbours of one cause are records. */
static void count_records(struct oracle *oracle, const struct region *region, int to, bool eviction)
{
	struct oracle_result *result = &oracle->result;
	char last = 0;

	for (int i = region->first; i < region->outer; i++) {
		char copied = page_of(region, i)->copied;

		if (copied && copied != last)
			*(to == ORACLE_GPU ? &result->records_in : &result->records_out) += 1;
		if (copied)
			*(to == ORACLE_GPU ? &result->pages_in : &result->pages_out) += 1;
		result->evicted += copied && eviction;
		last = copied;
		page_of(region, i)->copied = 0;
	}
}

/* uvm_va_block_make_resident */
static void make_resident(struct oracle *oracle, const struct region *block, const char *mask,
			  int to, bool eviction)
{
	int other = !to;
	bool had = count_resident(block, ORACLE_GPU), any = false;

	for (int i = block->first; i < block->outer; i++) {
		struct oracle_page *page = page_of(block, i);

		if (!mask[i])
			continue;
		any = true;
		if (!(page->resident & ORACLE_BIT(to))) {
			page->mapped[ORACLE_CPU] = page->mapped[ORACLE_GPU] = ORACLE_NONE;
			page->copied = page->resident ? mask[i] : 0;
		}
		if (page->duplicated)
			page->mapped[other] = ORACLE_NONE;
		page->resident = ORACLE_BIT(to);
		page->duplicated = false;
	}
	count_records(oracle, block, to, eviction);
	if (any && to == ORACLE_GPU)
		mark_memory_used(oracle, block);
	mark_memory_unused(oracle, block, had);
}

/* uvm_va_block_make_resident_read_duplicate */
static void make_resident_read_duplicate(struct oracle *oracle, const struct region *block,
					 const char *mask, int to)
{
	bool any = false;

	for (int i = block->first; i < block->outer; i++) {
		struct oracle_page *page = page_of(block, i);
		int holder = page->resident & ORACLE_BIT(ORACLE_CPU) ? ORACLE_CPU : ORACLE_GPU;

		if (!mask[i])
			continue;
		any = true;
		if (page->resident && !page->duplicated) {
			page->mapped[!holder] = ORACLE_NONE;
			if (page->mapped[holder] == ORACLE_WRITE)
				page->mapped[holder] = ORACLE_READ;
		}
		if (page->resident & ORACLE_BIT(to))
			continue;
		page->copied = page->resident ? mask[i] : 0;
		page->duplicated = page->resident;
		page->resident |= ORACLE_BIT(to);
	}
	count_records(oracle, block, to, false);
	if (any && to == ORACLE_GPU)
		mark_memory_used(oracle, block);
}

/* --- mappings --- */

static void map_page(struct oracle_page *page, int processor, enum oracle_protection protection)
{
	if (page->mapped[processor] < protection)
		page->mapped[processor] = protection;
}

/* uvm_va_block_page_compute_highest_permission */
static enum oracle_protection highest_permission(const struct oracle_page *page, int processor)
{
	bool two = page->resident == (ORACLE_BIT(ORACLE_CPU) | ORACLE_BIT(ORACLE_GPU));

	if (!page->resident)
		return ORACLE_NONE;
	if (two)
		return ORACLE_READ;
	return can_access(processor, page->resident == ORACLE_BIT(ORACLE_GPU)) ? ORACLE_WRITE
									       : ORACLE_NONE;
}

/* uvm_va_block_set_accessed_by and uvm_va_block_add_mappings */
static void set_accessed_by(const struct region *block, int processor)
{
	for (int i = block->first; i < block->outer; i++)
		if (!page_of(block, i)->duplicated)
			map_page(page_of(block, i), processor,
				 highest_permission(page_of(block, i), processor));
}

static void set_accessed_by_all(const struct region *block)
{
	const struct oracle_policy *policy = policy_of(block);

	for (int processor = 0; processor < ORACLE_PROCESSORS; processor++)
		if (policy->accessed_by & ORACLE_BIT(processor) &&
		    policy->duplication != ORACLE_ENABLED)
			set_accessed_by(block, processor);
}

/* uvm_va_block_add_mappings_after_migration, of one page */
static void add_mappings_after_migration(const struct oracle_policy *policy,
					 struct oracle_page *page, int to, int processor)
{
	int other = !processor;

	if (policy->duplication == ORACLE_ENABLED ||
	    (policy->duplication == ORACLE_UNSET && page->duplicated) ||
	    !(policy->accessed_by & ORACLE_BIT(other)) || !can_access(other, to) ||
	    (policy->preferred != to && policy->preferred == other))
		return;
	map_page(page, other, ORACLE_WRITE);
}

/* uvm_va_block_evict_chunks, and block_add_eviction_mappings */
static void evict_chunk(struct oracle *oracle, struct oracle_allocation *allocation, int window)
{
	int first = window * ORACLE_BLOCK, outer = outer_of_window(allocation, window);
	struct region block;
	char mask[ORACLE_PAGES] = {0};

	for (int i = first; i < outer; i++)
		mask[i] = allocation->page[i].resident & ORACLE_BIT(ORACLE_GPU) ? 'E' : 0;
	for (int i = first; i < outer; i = block.outer) {
		block = block_of(allocation, i);
		make_resident(oracle, &block, mask, ORACLE_CPU, true);
		set_accessed_by_all(&block);
	}
	allocation->window[window].has_chunk = false;
	oracle->taken -= outer - first;
}

/* --- faults --- */

/* block_select_processor_residency */
static int select_residency(const struct oracle_policy *policy, const struct oracle_page *page,
			    int processor, bool write, bool *duplicate)
{
	bool may = policy->duplication == ORACLE_ENABLED ||
		   (policy->duplication == ORACLE_UNSET && page->duplicated);
	int closest = page->resident & ORACLE_BIT(processor) ? processor : !processor;
	bool reaches_preferred =
		policy->preferred != ORACLE_NOWHERE && can_access(processor, policy->preferred);

	*duplicate = may && !write;
	if (may || policy->preferred == processor)
		return processor;
	if (!page->resident)
		return reaches_preferred ? policy->preferred : processor;
	if (policy->accessed_by & ORACLE_BIT(processor) && can_access(processor, closest))
		return closest;
	if (closest != processor && reaches_preferred)
		return policy->preferred;
	return processor;
}

/* range_big_page_region_all, in pages of the block; outer 0: there is none */
static void big_pages_of(const struct region *block, int big_page, int *first, int *outer)
{
	*first = (block->first + big_page - 1) / big_page * big_page - block->first;
	*outer = block->outer / big_page * big_page - block->first;
	if (*outer <= *first)
		*first = *outer = 0;
}

static void fill(bool *leaves, int offset, int first, int outer, int fault)
{
	if (fault >= first && fault < outer)
		memset(leaves + offset + first, 1, (size_t)(outer - first));
}

/* grow_fault_granularity, for one fault */
static void grow(bool *leaves, int offset, int pages, int first, int outer, int fault)
{
	if (!outer) {
		fill(leaves, offset, 0, pages, fault);
		return;
	}
	fill(leaves, offset, 0, first, fault);
	for (int big = first; big < outer; big += BIG_PAGE)
		fill(leaves, offset, big, big + BIG_PAGE, fault);
	fill(leaves, offset, outer, pages, fault);
}

/* compute_prefetch_region, in leaves; false: no node qualifies */
static bool largest_node(const struct oracle *oracle, const bool *leaves, int leaf_count, int leaf,
			 int *first, int *outer)
{
	bool found = false;

	for (int size = 1;; size *= 2) {
		int from = leaf / size * size, to = from + size, count = 0;

		if (to > leaf_count)
			to = leaf_count;
		for (int i = from; i < to; i++)
			count += leaves[i];
		if (count * 100 > (to - from) * oracle->setup.threshold) {
			*first = from;
			*outer = to;
			found = true;
		}
		if (size >= leaf_count)
			return found;
	}
}

/* compute_prefetch_region: leaves become pages of the block. */
static void clamp(const struct oracle *oracle, int offset, int pages, int *first, int *outer)
{
	if (oracle->setup.version < 525)
		*first = *first < offset ? 0 : *first - offset;
	else
		*first = *first < offset ? offset : *first - offset;
	*outer = *outer < offset ? offset : *outer - offset;
	if (*outer > pages)
		*outer = pages;
}

/* prefetch_info_get_create of 515: with the empty leaves that pages of 128 KiB need. */
static int leaf_count_of(const struct oracle *oracle, const struct region *block, int offset)
{
	int pages = block->outer - block->first, big_page = 2 * BIG_PAGE, first, outer;

	if (oracle->setup.version >= 525)
		return pages + offset;
	big_pages_of(block, big_page, &first, &outer);
	if (!outer) {
		big_page = BIG_PAGE;
		big_pages_of(block, big_page, &first, &outer);
	}
	return first ? pages + big_page - first : pages;
}

static void mark_tree(const struct oracle *oracle, const struct region *block, int fault, int to,
		      char *mask)
{
	bool leaves[2 * ORACLE_BLOCK] = {false};
	int pages = block->outer - block->first, first, outer, offset;

	big_pages_of(block, BIG_PAGE, &first, &outer);
	offset = first ? BIG_PAGE - first : 0;
	for (int i = 0; i < pages; i++)
		leaves[offset + i] = page_of(block, block->first + i)->resident & ORACLE_BIT(to) ||
				     block->first + i == fault;
	grow(leaves, offset, pages, first, outer, fault - block->first);
	if (!largest_node(oracle, leaves, leaf_count_of(oracle, block, offset),
			  fault - block->first + offset, &first, &outer))
		return;
	clamp(oracle, offset, pages, &first, &outer);
	for (int i = first; i < outer; i++)
		mask[block->first + i] = 'P';
}

/* uvm_perf_prefetch_prenotify_fault_migrations: puts 'P' beside the 'F'. */
static void mark_prefetch(const struct oracle *oracle, const struct region *block, int fault,
			  int to, char *mask)
{
	const struct oracle_policy *policy = policy_of(block);
	bool nowhere = !count_resident(block, ORACLE_CPU) && !count_resident(block, ORACLE_GPU);

	if (!oracle->setup.prefetch)
		return;
	if (nowhere && policy->preferred == to)
		memset(mask + block->first, 'P', (size_t)(block->outer - block->first));
	else if (oracle->setup.version < 590 || policy->preferred == ORACLE_NOWHERE ||
		 policy->preferred == to)
		mark_tree(oracle, block, fault, to, mask);
	for (int i = block->first; i < block->outer && to == ORACLE_CPU; i++)
		if (page_of(block, i)->resident & ORACLE_BIT(ORACLE_CPU) &&
		    page_of(block, i)->mapped[ORACLE_CPU])
			mask[i] = 0;
	mask[fault] = 'F';
}

/* compute_new_permission */
static enum oracle_protection new_permission(const struct oracle_policy *policy,
					     const struct oracle_page *page, bool write)
{
	bool might_duplicate = policy->duplication == ORACLE_ENABLED ||
			       (policy->duplication == ORACLE_UNSET && page->duplicated);

	return write || !might_duplicate ? ORACLE_WRITE : ORACLE_READ;
}

/* uvm_va_block_service_finish */
static void map_pages(const struct region *block, const char *mask, int processor, int to,
		      bool write)
{
	const struct oracle_policy *policy = policy_of(block);

	for (int i = block->first; i < block->outer; i++) {
		struct oracle_page *page = page_of(block, i);

		if (!mask[i])
			continue;
		map_page(page, processor, new_permission(policy, page, write && mask[i] == 'F'));
		add_mappings_after_migration(policy, page, to, processor);
	}
}

/* uvm_va_block_service_locked, for a page that faulted */
static void service(struct oracle *oracle, struct oracle_allocation *allocation, int fault,
		    int processor, bool write)
{
	struct region block = block_of(allocation, fault);
	const struct oracle_policy *policy = policy_of(&block);
	char mask[ORACLE_PAGES] = {0}, copies[ORACLE_PAGES] = {0}, moves[ORACLE_PAGES] = {0};
	bool duplicate, any = false;
	int to = select_residency(policy, page_of(&block, fault), processor, write, &duplicate);

	mask[fault] = 'F';
	mark_prefetch(oracle, &block, fault, to, mask);
	if (to == ORACLE_GPU)
		populate(oracle, &block);
	for (int i = block.first; i < block.outer; i++) {
		bool is_copy = mask[i] == 'F' ? duplicate
					      : policy->duplication == ORACLE_ENABLED ||
							(policy->duplication == ORACLE_UNSET &&
							 page_of(&block, i)->duplicated);

		(is_copy ? copies : moves)[i] = mask[i];
		any = any || (is_copy && mask[i]);
	}
	if (any)
		make_resident_read_duplicate(oracle, &block, copies, to);
	make_resident(oracle, &block, moves, to, false);
	map_pages(&block, mask, processor, to, write);
}

void oracle_access(struct oracle *oracle, int processor, int id, int first, int pages, bool write)
{
	struct oracle_allocation *allocation = &oracle->allocation[id];
	enum oracle_protection needed = write ? ORACLE_WRITE : ORACLE_READ;

	begin(oracle);
	for (int i = first; i < first + pages; i++) {
		struct oracle_page *page = &allocation->page[i];

		if (page->mapped[processor] < needed) {
			*(processor == ORACLE_CPU ? &oracle->result.host_faults
						  : &oracle->result.device_faults) += 1;
			service(oracle, allocation, i, processor, write);
		}
		assert(page->mapped[processor] >= needed);
		oracle->result.remote_pages +=
			processor == ORACLE_GPU && !(page->resident & ORACLE_BIT(ORACLE_GPU));
	}
}

/* --- uvm_migrate --- */

/* block_migrate_add_mappings */
static void migrate_add_mappings(const struct region *block, const char *mask, int to)
{
	const struct oracle_policy *policy = policy_of(block);

	for (int i = block->first; i < block->outer; i++) {
		struct oracle_page *page = page_of(block, i);
		bool unmapped = !page->mapped[ORACLE_CPU] && !page->mapped[ORACLE_GPU];

		if (!mask[i])
			continue;
		if (!page->mapped[to])
			map_page(page, to, highest_permission(page, to));
		if (unmapped)
			add_mappings_after_migration(policy, page, to, to);
	}
}

static void migrate_block(struct oracle *oracle, const struct region *block, const char *mask,
			  int to, bool map)
{
	if (to == ORACLE_GPU)
		populate(oracle, block);
	if (policy_of(block)->duplication == ORACLE_ENABLED)
		make_resident_read_duplicate(oracle, block, mask, to);
	else
		make_resident(oracle, block, mask, to, false);
	if (map)
		migrate_add_mappings(block, mask, to);
}

void oracle_prefetch(struct oracle *oracle, int id, int first, int pages, int to)
{
	struct oracle_allocation *allocation = &oracle->allocation[id];
	struct region block = block_of(allocation, first);
	char mask[ORACLE_PAGES] = {0};
	int passes = first + pages <= block.outer ? 1 : 2;

	begin(oracle);
	memset(mask + first, 'A', (size_t)pages);
	for (int pass = 1; pass <= passes; pass++)
		for (int i = first; i < first + pages; i = block.outer) {
			block = block_of(allocation, i);
			migrate_block(oracle, &block, mask, to, pass == passes);
		}
}

/* --- uvm_policy.c --- */

static bool is_split_needed(const struct oracle_policy *policy, enum oracle_advice advice,
			    int processor)
{
	bool accessed = policy->accessed_by & ORACLE_BIT(processor);

	switch (advice) {
	case ORACLE_PREFERRED:
		return policy->preferred != processor;
	case ORACLE_UNSET_PREFERRED:
		return policy->preferred != ORACLE_NOWHERE;
	case ORACLE_ACCESSED_BY:
		return !accessed;
	case ORACLE_UNSET_ACCESSED_BY:
		return accessed;
	case ORACLE_READ_MOSTLY:
		return policy->duplication != ORACLE_ENABLED;
	case ORACLE_UNSET_READ_MOSTLY:
		return policy->duplication != ORACLE_DISABLED;
	}
	return false;
}

static void split(struct oracle_allocation *allocation, int at, enum oracle_advice advice,
		  int processor)
{
	if (at && at < allocation->pages &&
	    is_split_needed(&allocation->page[at].policy, advice, processor))
		allocation->page[at].range_starts = true;
}

static void set_policy(const struct region *block, const struct oracle_policy *policy)
{
	struct oracle_policy copy = *policy;

	for (int i = block->first; i < block->outer; i++)
		page_of(block, i)->policy = copy;
}

/* uvm_va_range_set_preferred_location and preferred_location_unmap_remote_pages */
static void set_preferred(const struct region *block, int preferred)
{
	struct oracle_policy policy = *policy_of(block);
	int old = policy.preferred;

	if (old == preferred)
		return;
	policy.preferred = preferred;
	set_policy(block, &policy);
	if (policy.duplication == ORACLE_ENABLED)
		return;
	if (old != ORACLE_NOWHERE && policy.accessed_by & ORACLE_BIT(old))
		set_accessed_by(block, old);
	for (int i = block->first; i < block->outer && preferred != ORACLE_NOWHERE; i++)
		if (!(page_of(block, i)->resident & ORACLE_BIT(preferred)))
			page_of(block, i)->mapped[preferred] = ORACLE_NONE;
}

/* va_block_set_read_duplication_locked */
static void set_read_duplication(struct oracle *oracle, const struct region *block)
{
	for (int processor = 0; processor < ORACLE_PROCESSORS; processor++) {
		char mask[ORACLE_PAGES] = {0};

		for (int i = block->first; i < block->outer; i++)
			mask[i] = page_of(block, i)->resident & ORACLE_BIT(processor) ? 'A' : 0;
		if (count_resident(block, processor))
			make_resident_read_duplicate(oracle, block, mask, processor);
	}
}

static void keep_copies_of(struct oracle *oracle, const struct region *block, int processor)
{
	char mask[ORACLE_PAGES] = {0};
	bool any = false;

	for (int i = block->first; i < block->outer; i++) {
		const struct oracle_page *page = page_of(block, i);

		mask[i] = page->duplicated && page->resident & ORACLE_BIT(processor) ? 'A' : 0;
		any = any || mask[i];
	}
	if (any)
		make_resident(oracle, block, mask, processor, false);
}

/* va_block_unset_read_duplication_locked */
static void unset_read_duplication(struct oracle *oracle, const struct region *block)
{
	const struct oracle_policy *policy = policy_of(block);

	if (policy->preferred != ORACLE_NOWHERE)
		keep_copies_of(oracle, block, policy->preferred);
	for (int processor = 0; processor < ORACLE_PROCESSORS; processor++)
		keep_copies_of(oracle, block, processor);
	for (int processor = 0; processor < ORACLE_PROCESSORS; processor++)
		if (policy->accessed_by & ORACLE_BIT(processor))
			set_accessed_by(block, processor);
}

static void advise_block(struct oracle *oracle, const struct region *block,
			 enum oracle_advice advice, int processor)
{
	struct oracle_policy policy = *policy_of(block);
	bool changes = is_split_needed(&policy, advice, processor);

	switch (advice) {
	case ORACLE_PREFERRED:
		set_preferred(block, processor);
		break;
	case ORACLE_UNSET_PREFERRED:
		set_preferred(block, ORACLE_NOWHERE);
		break;
	case ORACLE_ACCESSED_BY:
		policy.accessed_by |= ORACLE_BIT(processor);
		set_policy(block, &policy);
		if (policy.duplication != ORACLE_ENABLED)
			set_accessed_by(block, processor);
		break;
	case ORACLE_UNSET_ACCESSED_BY:
		policy.accessed_by &= ~ORACLE_BIT(processor);
		set_policy(block, &policy);
		break;
	case ORACLE_READ_MOSTLY:
		if (changes)
			set_read_duplication(oracle, block);
		policy.duplication = ORACLE_ENABLED;
		set_policy(block, &policy);
		break;
	case ORACLE_UNSET_READ_MOSTLY:
		if (changes)
			unset_read_duplication(oracle, block);
		policy.duplication = ORACLE_DISABLED;
		set_policy(block, &policy);
		break;
	}
}

/* What is advised is ranges: where the advice cuts none, it is for all of the one that is there. */
static void whole_ranges(const struct oracle_allocation *allocation, int *first, int *outer)
{
	while (*first && !allocation->page[*first].range_starts)
		--*first;
	while (*outer < allocation->pages && !allocation->page[*outer].range_starts)
		++*outer;
}

void oracle_advise(struct oracle *oracle, int id, int first, int pages, enum oracle_advice advice,
		   int processor)
{
	struct oracle_allocation *allocation = &oracle->allocation[id];
	struct region block;
	int outer = first + pages;

	begin(oracle);
	split(allocation, first, advice, processor);
	split(allocation, outer, advice, processor);
	whole_ranges(allocation, &first, &outer);
	for (int i = first; i < outer; i = block.outer) {
		block = block_of(allocation, i);
		advise_block(oracle, &block, advice, processor);
	}
}
