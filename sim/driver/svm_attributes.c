/* amdgpu_svm's SET_ATTR: ranges cut, set, moved to their prefetch location, mapped (R3 to R11). */
#include "svm.h"

/* --- attributes --- */

static bool is_set(const struct svm_range *range, const struct svm_setting *setting)
{
	switch (setting->attribute) {
	case SVM_PREFERRED_LOCATION:
		return range->preferred == setting->value;
	case SVM_PREFETCH_LOCATION: /* always moves again */
		return false;
	case SVM_ACCESS:
		return range->access >> setting->value & 1;
	case SVM_ACCESS_IN_PLACE:
		return range->in_place >> setting->value & 1;
	case SVM_SET_FLAGS:
		return (range->flags & setting->value) == setting->value;
	case SVM_CLEAR_FLAGS:
		return !(range->flags & setting->value);
	}
	return false;
}

/* One or the other, never none (R7). */
static void set_access(struct svm_range *range, um_device_id device, bool in_place)
{
	uint16_t bit = (uint16_t)(1u << device);

	range->access = (uint16_t)(in_place ? range->access & ~bit : range->access | bit);
	range->in_place = (uint16_t)(in_place ? range->in_place | bit : range->in_place & ~bit);
}

static void set(struct svm_range *range, const struct svm_setting *setting)
{
	switch (setting->attribute) {
	case SVM_PREFERRED_LOCATION:
		range->preferred = setting->value;
		break;
	case SVM_PREFETCH_LOCATION:
		range->prefetch = setting->value;
		break;
	case SVM_ACCESS:
	case SVM_ACCESS_IN_PLACE:
		set_access(range, setting->value, setting->attribute == SVM_ACCESS_IN_PLACE);
		break;
	case SVM_SET_FLAGS:
		range->flags |= (uint8_t)setting->value;
		break;
	case SVM_CLEAR_FLAGS:
		range->flags &= (uint8_t)~setting->value;
		break;
	}
}

/* Whether the setting asks for mappings (R11, R29; update_mapping of svm_range_apply_attrs). */
static bool asks_for_mapping(const struct svm *svm, const struct svm_setting *setting)
{
	switch (setting->attribute) {
	case SVM_ACCESS:
	case SVM_ACCESS_IN_PLACE:
		return !svm->xnack;
	case SVM_SET_FLAGS:
	case SVM_CLEAR_FLAGS:
		return true;
	case SVM_PREFERRED_LOCATION:
	case SVM_PREFETCH_LOCATION:
		break;
	}
	return false;
}

/* --- a SET_ATTR --- */

struct settings {
	const struct svm_setting *at;
	size_t count;
};

static bool needs_nothing(const struct svm_range *range, const struct settings *settings)
{
	for (size_t i = 0; i < settings->count; i++)
		if (!is_set(range, &settings->at[i]))
			return false;
	return range->mapped_to_gpu;
}

/* R5 */
static int note_remap(struct svm *svm, struct svm_range *piece, um_page cut)
{
	uint64_t address_page = piece->owner->address_page + cut;

	if (svm->kernel < SVM_KERNEL_6_8 || !(address_page & (svm->block_pages - 1)))
		return 0;
	return um_svm_ranges_add(&svm->remaps, piece);
}

/* The part of the range that lies in [first, end) becomes a range of its own (R3). */
static int cut_out(struct svm *svm, struct svm_range **range, um_page first, um_page end)
{
	struct svm_range *piece;
	int error = 0;

	if ((*range)->first_page < first) {
		struct svm_range *head = *range;

		error = um_svm_split(svm, head, first, range);
		head->accepts_at = 0; /* it is a clone, as they all are (svm_range_clone) */
		if (!error)
			error = note_remap(svm, head, first);
	}
	if (!error && svm_range_end(*range) > end) {
		error = um_svm_split(svm, *range, end, &piece);
		(*range)->accepts_at = 0;
		if (!error)
			error = note_remap(svm, piece, end);
	}
	return error;
}

static int take_range(struct svm *svm, struct svm_range *range, um_page first, um_page end,
		      const struct settings *settings)
{
	int error;

	if (needs_nothing(range, settings))
		return 0;
	error = cut_out(svm, &range, first, end);
	return error ? error : um_svm_ranges_add(&svm->updates, range);
}

/* Where a new range that begins there ends at the latest (R2). */
static um_page new_range_end(const struct svm *svm, const struct svm_allocation *allocation,
			     um_page first, um_page end)
{
	uint64_t most = svm->max_range_pages, base = allocation->address_page;
	uint64_t cut;

	cut = ((base + first + most) & ~(most - 1)) - base;
	return cut < end ? (um_page)cut : end;
}

static int make_ranges(struct svm *svm, struct svm_allocation *allocation, um_page first,
		       um_page end)
{
	int error = 0;

	while (first < end && !error) {
		um_page next = new_range_end(svm, allocation, first, end);
		struct svm_range *range;

		error = um_svm_new_range(svm, allocation, first, next - first, &range);
		if (!error)
			error = um_svm_ranges_add(&svm->updates, range);
		first = next;
	}
	return error;
}

/* Ranges that the settings work on, new ones in the gaps among them, by address. */
static int collect(struct svm *svm, struct svm_allocation *allocation,
		   const struct um_page_range *part, const struct settings *settings)
{
	um_page page = part->first_page, end = part->first_page + part->pages;
	int error = 0;

	svm->updates.count = svm->remaps.count = 0;
	while (page < end && !error) {
		uint32_t place = um_svm_range_place(allocation, page);
		struct svm_range *range =
			place < allocation->count ? allocation->ranges[place] : NULL;
		um_page next = end;

		if (range && range->first_page <= page) {
			next = svm_range_end(range) < end ? svm_range_end(range) : end;
			error = take_range(svm, range, page, end, settings);
		} else {
			if (range && range->first_page < end)
				next = range->first_page;
			error = make_ranges(svm, allocation, page, next);
		}
		page = next;
	}
	return error;
}

/* Where the range's prefetch location takes it (R9); SVM_UNDEFINED: nowhere. */
static um_device_id prefetch_target(const struct svm *svm, const struct svm_range *range)
{
	uint32_t devices = svm->xnack ? range->in_place : range->access | range->in_place;

	if (range->prefetch < 0)
		return range->prefetch;
	if (svm->apu)
		return UM_HOST;
	for (; devices; devices &= devices - 1)
		if (!svm_in_hive(svm, __builtin_ctz(devices), range->prefetch))
			return UM_HOST;
	return range->prefetch;
}

/* Whether the prefetch leaves the range where it is (R9). */
static bool stays(const struct svm *svm, const struct svm_range *range, um_device_id target)
{
	if (target == SVM_UNDEFINED)
		return true;
	if (svm->kernel < SVM_KERNEL_6_8)
		return target == range->actual;
	return target == UM_HOST && range->actual == UM_HOST;
}

/* R10 */
static int move_to_prefetch_location(struct svm *svm, struct svm_range *range,
				     const struct um_why *why, um_ns at, um_ns *end, bool *moved)
{
	struct um_why prefetch = {UM_CAUSE_PREFETCH, why->op, 0};
	struct um_page_range pages = svm_pages_of(range);
	um_device_id target = prefetch_target(svm, range);
	bool refused = false;
	int error;

	*end = at;
	*moved = false;
	if (stays(svm, range, target))
		return 0;
	error = target == UM_HOST ? um_svm_move_to_host(svm, range, &pages, &prefetch, at, end)
				  : um_svm_move_to_device(svm, range, target, &pages, &prefetch, at,
							  end, &refused);
	*moved = !refused;
	return error;
}

static int update(struct svm *svm, struct svm_range *range, bool map, const struct um_why *why,
		  um_ns at, um_ns *end)
{
	struct um_page_range pages = svm_pages_of(range);
	bool moved;
	int error = move_to_prefetch_location(svm, range, why, at, end, &moved);

	if (error || (moved && !svm->xnack && range->mapped_to_gpu) || (!moved && !map))
		return error;
	return um_svm_validate(svm, range, &pages, um_svm_map_targets(svm, range), moved, why, *end,
			       end);
}

static int remap(struct svm *svm, struct svm_range *range, const struct um_why *why, um_ns at,
		 um_ns *end)
{
	struct um_page_range pages = svm_pages_of(range);

	return um_svm_validate(svm, range, &pages, um_svm_map_targets(svm, range), false, why, at,
			       end);
}

static bool apply(struct svm *svm, const struct settings *settings)
{
	bool map = false;

	for (size_t i = 0; i < settings->count && svm->updates.count; i++) {
		for (size_t range = 0; range < svm->updates.count; range++)
			set(svm->updates.at[range], &settings->at[i]);
		map = map || asks_for_mapping(svm, &settings->at[i]);
	}
	return map;
}

int um_svm_set_attributes(struct svm *svm, struct svm_allocation *allocation,
			  const struct um_page_range *part, const struct svm_setting *all,
			  size_t count, const struct um_why *why, um_ns at, um_ns *end)
{
	struct settings settings = {all, count};
	int error = collect(svm, allocation, part, &settings);
	bool map = !error && apply(svm, &settings);

	*end = at;
	/* From the last to the first (R4). */
	for (size_t i = svm->updates.count; i-- > 0 && !error;)
		error = update(svm, svm->updates.at[i], map, why, *end, end);
	for (size_t i = svm->remaps.count; i-- > 0 && !error;)
		error = remap(svm, svm->remaps.at[i], why, *end, end);
	svm->busy_until = *end;
	return error;
}
