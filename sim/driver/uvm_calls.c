/* nvidia_uvm: advice, prefetches and copies of the program (R2, R20 to R24). */
#include "uvm.h"

/* What the driver makes of a range: whole pages of its own (R35), of the allocation. */
static struct uvm_span whole_units(const struct uvm *uvm, const struct um_page_range *range)
{
	const struct uvm_allocation *allocation = um_uvm_find(uvm, range->allocation);
	uint64_t begin = allocation->offset, last = begin + allocation->lies_on;
	struct uvm_span span = um_uvm_span_of(allocation, range);

	span.first -= span.first % uvm->unit;
	span.end = (span.end + uvm->unit - 1) / uvm->unit * uvm->unit;
	span.first = span.first < begin ? begin : span.first;
	span.end = span.end > last ? last : span.end;
	return span;
}

/* --- advice --- */

struct advise {
	struct uvm *uvm;
	const struct um_advice *advice;
	struct um_why why;
	um_ns at;
};

/* The block's policy with the advice taken. */
static struct uvm_policy changed(const struct uvm_policy *old, const struct um_advice *advice)
{
	struct uvm_policy policy = *old;

	switch (advice->kind) {
	case UM_ADVICE_READ_MOSTLY:
	case UM_ADVICE_UNSET_READ_MOSTLY:
		policy.duplication = advice->kind == UM_ADVICE_READ_MOSTLY ? UVM_DUPLICATION_ON
									   : UVM_DUPLICATION_OFF;
		break;
	case UM_ADVICE_PREFERRED_LOCATION:
		policy.preferred = advice->device;
		break;
	case UM_ADVICE_UNSET_PREFERRED_LOCATION:
		policy.preferred = UVM_NOBODY;
		break;
	case UM_ADVICE_ACCESSED_BY:
		policy.accessed_by |= uvm_bit(advice->device);
		break;
	case UM_ADVICE_UNSET_ACCESSED_BY:
		policy.accessed_by &= ~uvm_bit(advice->device);
		break;
	case UM_ADVICE_COARSE_GRAIN:
	case UM_ADVICE_UNSET_COARSE_GRAIN:
		break;
	}
	return policy;
}

static bool is_same(const struct uvm_policy *a, const struct uvm_policy *b)
{
	return a->preferred == b->preferred && a->accessed_by == b->accessed_by &&
	       a->duplication == b->duplication;
}

/* R22: what the new preferred location has mapped from afar. */
static int prefer(struct advise *advise, struct uvm_block *block, um_device_id old)
{
	struct uvm *uvm = advise->uvm;
	struct uvm_window *window = block->window;
	um_device_id preferred = block->policy.preferred;
	struct uvm_mask far = uvm_mask_of(block->pages);
	int error = 0;

	if (old != UVM_NOBODY && block->policy.accessed_by & uvm_bit(old) &&
	    !uvm_is_read_mostly(block))
		error = um_uvm_map_accessed_by(uvm, block, old, &advise->why);
	if (error || preferred == UVM_NOBODY || uvm_is_read_mostly(block))
		return error;
	uvm_remove(&far, &window->place[uvm_place_of(preferred)].resident);
	return um_uvm_unmap(uvm, window, preferred, &far, &advise->why);
}

static struct uvm_move move_for(const struct advise *advise, struct uvm_block *block,
				um_device_id to)
{
	return (struct uvm_move){.uvm = advise->uvm,
				 .block = block,
				 .to = to,
				 .cause = UM_CAUSE_ADVICE,
				 .op = advise->advice->op,
				 .at = advise->at,
				 .end = advise->at};
}

/* R24: who has pages keeps them, for reading. */
static int begin_duplication(struct advise *advise, struct uvm_block *block)
{
	struct uvm_mask all = uvm_mask_of(block->pages);
	int error = 0;

	for (um_device_id i = UM_HOST; i < advise->uvm->devices && !error; i++) {
		struct uvm_mask here =
			uvm_and(all, &block->window->place[uvm_place_of(i)].resident);
		struct uvm_move move = move_for(advise, block, i);

		if (!uvm_is_empty(&here))
			error = um_uvm_duplicate(&move, &here);
	}
	return error;
}

static int keep_at(struct advise *advise, struct uvm_block *block, um_device_id device)
{
	struct uvm_mask all = uvm_mask_of(block->pages);
	struct uvm_mask shared = uvm_and(all, &block->window->duplicated);
	struct uvm_move move = move_for(advise, block, device);

	shared = uvm_and(shared, &block->window->place[uvm_place_of(device)].resident);
	return uvm_is_empty(&shared) ? 0 : um_uvm_make_resident(&move, &shared);
}

static int end_duplication(struct advise *advise, struct uvm_block *block)
{
	struct uvm *uvm = advise->uvm;
	int error = 0;

	if (block->policy.preferred != UVM_NOBODY)
		error = keep_at(advise, block, block->policy.preferred);
	for (um_device_id i = UM_HOST; i < uvm->devices && !error; i++)
		error = keep_at(advise, block, i);
	for (um_device_id i = UM_HOST; i < uvm->devices && !error; i++)
		if (block->policy.accessed_by & uvm_bit(i))
			error = um_uvm_map_accessed_by(uvm, block, i, &advise->why);
	return error;
}

/* Once the block has its new policy; `old` is what it was. */
static int follow(struct advise *advise, struct uvm_block *block, const struct uvm_policy *old)
{
	switch (advise->advice->kind) {
	case UM_ADVICE_READ_MOSTLY:
		return begin_duplication(advise, block);
	case UM_ADVICE_UNSET_READ_MOSTLY:
		return end_duplication(advise, block);
	case UM_ADVICE_PREFERRED_LOCATION:
	case UM_ADVICE_UNSET_PREFERRED_LOCATION:
		return prefer(advise, block, old->preferred);
	case UM_ADVICE_ACCESSED_BY:
		return uvm_is_read_mostly(block)
			       ? 0
			       : um_uvm_map_accessed_by(advise->uvm, block, advise->advice->device,
							&advise->why);
	default:
		return 0;
	}
}

static int advise_block(void *context, struct uvm_block *block, struct uvm_region pages)
{
	struct advise *advise = context;
	struct uvm_policy old = block->policy;

	(void)pages; /* all of it */
	block->policy = changed(&old, advise->advice);
	if (is_same(&old, &block->policy) && advise->advice->kind != UM_ADVICE_ACCESSED_BY)
		return 0;
	return follow(advise, block, &old);
}

static struct uvm_block *block_of(const struct uvm_allocation *allocation, uint64_t page)
{
	return um_uvm_block_at(allocation->windows[page / UVM_WINDOW_PAGES],
			       (uint32_t)(page % UVM_WINDOW_PAGES));
}

/* Where the advice would change the policy, a range begins at the page. */
static int cut(const struct advise *advise, const struct uvm_allocation *allocation, uint64_t page)
{
	const struct uvm_block *block;
	struct uvm_policy new;

	if (page == 0 || page == um_uvm_end_of(allocation))
		return 0;
	block = block_of(allocation, page);
	new = changed(&block->policy, advise->advice);
	return is_same(&block->policy, &new) ? 0
					     : um_uvm_split(advise->uvm, block->window,
							    (uint32_t)(page % UVM_WINDOW_PAGES));
}

static uint64_t first_of_range(const struct uvm_allocation *allocation, uint64_t page)
{
	for (;;) {
		const struct uvm_block *block = block_of(allocation, page);

		page = page / UVM_WINDOW_PAGES * UVM_WINDOW_PAGES + block->pages.first;
		if (block->starts_range || page == 0)
			return page;
		page--;
	}
}

static uint64_t end_of_range(const struct uvm_allocation *allocation, uint64_t page)
{
	while (page < um_uvm_end_of(allocation) && !block_of(allocation, page)->starts_range)
		page = page / UVM_WINDOW_PAGES * UVM_WINDOW_PAGES +
		       block_of(allocation, page)->pages.end;
	return page;
}

/* What is advised is ranges: where no cut is needed, all of the one that is there. */
static int advise_ranges(struct advise *advise)
{
	const struct um_page_range *range = &advise->advice->range;
	const struct uvm_allocation *allocation = um_uvm_find(advise->uvm, range->allocation);
	struct uvm_span span = whole_units(advise->uvm, range);
	uint64_t first = span.first, end = span.end;
	int error = cut(advise, allocation, first);

	if (!error)
		error = cut(advise, allocation, end);
	if (error)
		return error;
	first = first_of_range(allocation, first);
	/* The block with the last page, and what follows in its range. */
	end = (end - 1) / UVM_WINDOW_PAGES * UVM_WINDOW_PAGES +
	      block_of(allocation, end - 1)->pages.end;
	return um_uvm_walk(allocation, first, end_of_range(allocation, end), advise_block, advise);
}

static void ignore_coarse_grain(const struct uvm *uvm)
{
	uvm->env->ignored(uvm->env->ignored_context, "advice: coarse grain",
			  "CUDA has no such advice: its call fails");
}

int um_uvm_on_advice(struct um_driver *driver, const struct um_advice *advice, um_ns *done_at)
{
	struct uvm *uvm = uvm_of(driver);
	struct advise advise = {.uvm = uvm,
				.advice = advice,
				.why = {.cause = UM_CAUSE_ADVICE, .op = advice->op},
				.at = *done_at};

	if (advice->kind == UM_ADVICE_COARSE_GRAIN ||
	    advice->kind == UM_ADVICE_UNSET_COARSE_GRAIN) {
		ignore_coarse_grain(uvm);
		return 0;
	}
	um_uvm_thrash_unpin_due(uvm);
	return advice->range.pages ? advise_ranges(&advise) : 0;
}

/* --- prefetches --- */

struct bring {
	struct uvm *uvm;
	const struct um_prefetch *prefetch;
	bool maps;
	um_ns at, end;
};

/* R21 */
static int map_brought(struct bring *bring, struct uvm_block *block, struct uvm_region region)
{
	struct um_why why = {.cause = UM_CAUSE_PREFETCH, .op = bring->prefetch->op};
	struct uvm_window *window = block->window;
	um_device_id to = bring->prefetch->to;
	struct uvm_mask pages = uvm_mask_of(region), unmapped = pages, rest, shared;
	int error;

	for (um_device_id i = UM_HOST; i < bring->uvm->devices; i++)
		uvm_remove(&unmapped, &window->place[uvm_place_of(i)].mapped);
	rest = uvm_and_not(pages, &window->place[uvm_place_of(to)].mapped);
	shared = uvm_and(rest, &window->duplicated);
	uvm_remove(&rest, &shared);
	error = um_uvm_map(bring->uvm, window, to, &rest, true, &why);
	if (!error)
		error = um_uvm_map(bring->uvm, window, to, &shared, false, &why);
	return error ? error : um_uvm_map_others(bring->uvm, block, to, to, &unmapped, 0, &why);
}

static int bring_block(void *context, struct uvm_block *block, struct uvm_region region)
{
	struct bring *bring = context;
	struct uvm_mask pages = uvm_mask_of(region);
	struct uvm_move move = {.uvm = bring->uvm,
				.block = block,
				.to = bring->prefetch->to,
				.cause = UM_CAUSE_PREFETCH,
				.op = bring->prefetch->op,
				.at = bring->at,
				.end = bring->end};
	int error = uvm_is_read_mostly(block) ? um_uvm_duplicate(&move, &pages)
					      : um_uvm_make_resident(&move, &pages);

	bring->at = move.at;
	bring->end = uvm_later(move.end, move.at);
	return error || !bring->maps ? error : map_brought(bring, block, region);
}

static bool is_one_block(const struct uvm_allocation *allocation, struct uvm_span span)
{
	const struct uvm_block *block = block_of(allocation, span.first);

	return block->pages.end - span.first % UVM_WINDOW_PAGES >= span.end - span.first;
}

int um_uvm_on_prefetch(struct um_driver *driver, const struct um_prefetch *prefetch, um_ns *done_at)
{
	struct uvm *uvm = uvm_of(driver);
	struct bring bring = {.uvm = uvm, .prefetch = prefetch, .at = *done_at, .end = *done_at};
	const struct uvm_allocation *allocation = um_uvm_find(uvm, prefetch->range.allocation);
	struct uvm_span span;
	int error = 0;

	if (!prefetch->range.pages)
		return 0;
	span = whole_units(uvm, &prefetch->range);
	um_uvm_thrash_unpin_due(uvm);
	if (!is_one_block(allocation, span))
		error = um_uvm_walk(allocation, span.first, span.end, bring_block, &bring);
	bring.maps = true;
	if (!error)
		error = um_uvm_walk(allocation, span.first, span.end, bring_block, &bring);
	*done_at = bring.end;
	return error;
}

/* --- copies --- */

/* The machine was told of the allocation, not yet of what it lies on (A2). */
static int copy_into_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	struct uvm *uvm = context;

	(void)index;
	um_machine_copy_into(uvm->machine, range, 0);
	return 0;
}

static int copy_into_own(struct uvm *uvm, const struct uvm_window *window,
			 const struct uvm_mask *pages)
{
	struct uvm_region run = {0, 0};
	int error = 0;

	while (window->own && !error && uvm_next_run(pages, run.end, &run))
		error = um_uvm_for_each_piece(uvm, window, run, copy_into_piece, uvm);
	return error;
}

/* The copy that was written stays: the host's if it has one (um_machine_copy_into). */
static int note_copied(void *context, struct uvm_block *block, struct uvm_region region)
{
	struct uvm *uvm = context;
	struct uvm_window *window = block->window;
	struct uvm_mask pages = uvm_mask_of(region), shared, kept = {{0}};

	shared = uvm_and(pages, &window->duplicated);
	for (um_device_id i = UM_HOST; i < uvm->devices; i++) {
		struct uvm_place *place = &window->place[uvm_place_of(i)];
		struct uvm_mask here = uvm_and(shared, &place->resident);
		struct uvm_mask gone = uvm_and(here, &kept);
		struct uvm_mask other = uvm_and_not(shared, &here);

		uvm_add(&other, &gone);
		uvm_remove(&place->resident, &gone);
		uvm_remove(&place->mapped, &other);
		uvm_remove(&place->writable, &other);
		uvm_add(&kept, &here);
		um_uvm_note_left(uvm, window, i);
	}
	uvm_remove(&window->duplicated, &shared);
	return copy_into_own(uvm, window, &shared);
}

int um_uvm_on_copied(struct um_driver *driver, const struct um_page_range *range)
{
	return um_uvm_for_each_block(uvm_of(driver), range, note_copied, uvm_of(driver));
}
