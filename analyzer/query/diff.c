#include "diff_parts.h"
#include "query.h"

#include "sim/check/check_pairs.h"
#include "trace/base/error.h"
#include "trace/db/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diffing {
	struct um_diff *out;
	struct um_diff_input inputs[UM_DIFF_SIDES];
};

static int no_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

static const struct um_diff_values nothing_known = {
	.value = {[0 ... UM_DIFF_QUANTITIES - 1] = UM_NULL}};

/* --- what may be compared --- */

static bool is_time(enum um_diff_quantity quantity)
{
	return um_diff_quantities[quantity].unit == UM_DIFF_NS;
}

/* Static words; NULL: it may. */
static const char *why_not(const struct diffing *d, enum um_diff_quantity quantity)
{
	const struct um_diff *out = d->out;
	const char *a = out->origins[UM_DIFF_A][quantity], *b = out->origins[UM_DIFF_B][quantity];
	bool is_merged = d->inputs[UM_DIFF_A].is_merged || d->inputs[UM_DIFF_B].is_merged;

	if (!um_diff_quantities[quantity].record)
		return NULL;
	if (!a || !b)
		return !a && !b ? "neither tells it"
		       : !a	? "A does not tell it"
				: "B does not tell it";
	if (is_time(quantity) && (strcmp(a, "emulated") == 0 || strcmp(b, "emulated") == 0))
		return "times of an emulation are the CPU's and say nothing about a GPU";
	if (quantity == UM_DIFF_TRANSFER_TIME && is_merged)
		return "the modelled rows of a trace are merged by page, and have no times of their "
		       "own (replay it)";
	if (quantity == UM_DIFF_DEVICE_FAULTS && strcmp(a, b) != 0)
		return "a GPU's driver tells of fewer faults than pages that faulted";
	return NULL;
}

bool um_diff_is_compared(const struct um_diff *diff, const struct um_diff_row *row,
			 enum um_diff_quantity quantity)
{
	return !diff->why_not[quantity] && row->names[UM_DIFF_A] && row->names[UM_DIFF_B] &&
	       row->values[UM_DIFF_A].value[quantity] != UM_NULL &&
	       row->values[UM_DIFF_B].value[quantity] != UM_NULL;
}

/* --- rows --- */

static struct um_diff_row *new_row(struct um_diff_rows *rows)
{
	struct um_diff_row *row = um_query_append(&rows->rows, &rows->count, sizeof(*row));

	for (size_t side = 0; row && side < UM_DIFF_SIDES; side++) {
		row->values[side] = nothing_known;
		row->ids[side] = row->bytes[side] = UM_NULL;
	}
	return row;
}

static int take_name(struct um_diff_row *row, enum um_diff_side side, const char *name)
{
	row->names[side] = strdup(name);
	return row->names[side] ? 0 : no_memory();
}

static double distance(const struct um_diff_row *row, enum um_diff_quantity first,
		       enum um_diff_quantity last)
{
	double sum = 0;

	for (enum um_diff_quantity i = first; i <= last; i++) {
		int64_t a = row->values[UM_DIFF_A].value[i], b = row->values[UM_DIFF_B].value[i];

		if (i != UM_DIFF_EVICTED)
			sum += __builtin_fabs((double)(b == UM_NULL ? 0 : b) -
					      (double)(a == UM_NULL ? 0 : a));
	}
	return sum;
}

/* Rows of equal distance keep their order: ids hold it. */
struct ranked {
	struct um_diff_row row;
	double bytes, faults;
	size_t place;
};

static int by_distance(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->faults != b->faults)
		return a->faults < b->faults ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

static int rank(struct um_diff_rows *rows)
{
	struct ranked *ranked = calloc(rows->count + 1, sizeof(*ranked));

	if (!ranked)
		return no_memory();
	for (size_t i = 0; i < rows->count; i++)
		ranked[i] = (struct ranked){
			.row = rows->rows[i],
			.bytes = distance(&rows->rows[i], UM_DIFF_MOVED_TO_DEVICE,
					  UM_DIFF_COPIED_TO_HOST),
			.faults = distance(&rows->rows[i], UM_DIFF_DEVICE_FAULTS,
					   UM_DIFF_HOST_FAULTS),
			.place = i,
		};
	qsort(ranked, rows->count, sizeof(*ranked), by_distance);
	for (size_t i = 0; i < rows->count; i++)
		rows->rows[i] = ranked[i].row;
	free(ranked);
	return 0;
}

/* --- kernels --- */

static int add_kernel(struct diffing *d, const struct um_diff_named *const named[UM_DIFF_SIDES])
{
	struct um_diff_row *row = new_row(&d->out->kernels);
	int error = row ? 0 : UM_ENOMEM;

	for (size_t side = 0; side < UM_DIFF_SIDES && !error; side++) {
		if (!named[side])
			continue;
		row->values[side] = named[side]->values;
		error = take_name(row, (enum um_diff_side)side, named[side]->name);
	}
	return error;
}

/* Both are by name. */
static int add_kernels(struct diffing *d)
{
	const struct um_diff_input *a = &d->inputs[UM_DIFF_A], *b = &d->inputs[UM_DIFF_B];
	size_t i = a->kernel_count && !a->kernels[0].name,
	       k = b->kernel_count && !b->kernels[0].name;
	int error = 0;

	while ((i < a->kernel_count || k < b->kernel_count) && !error) {
		int order = i == a->kernel_count   ? 1
			    : k == b->kernel_count ? -1
						   : strcmp(a->kernels[i].name, b->kernels[k].name);
		const struct um_diff_named *named[UM_DIFF_SIDES] = {
			order <= 0 ? &a->kernels[i++] : NULL, order >= 0 ? &b->kernels[k++] : NULL};

		error = add_kernel(d, named);
	}
	return error ? error : rank(&d->out->kernels);
}

/* What belongs to no launch, behind all others. */
static int add_other(struct diffing *d)
{
	struct um_diff_row *row;
	bool is_any = false;

	for (size_t side = 0; side < UM_DIFF_SIDES; side++)
		is_any = is_any ||
			 (d->inputs[side].kernel_count && !d->inputs[side].kernels[0].name);
	if (!is_any)
		return 0;
	row = new_row(&d->out->kernels);
	if (!row)
		return UM_ENOMEM;
	d->out->has_other = true;
	for (size_t side = 0; side < UM_DIFF_SIDES; side++) {
		const struct um_diff_input *input = &d->inputs[side];

		if (take_name(row, (enum um_diff_side)side, ""))
			return UM_ENOMEM;
		row->values[side] = (struct um_diff_values){0};
		if (input->kernel_count && !input->kernels[0].name)
			row->values[side] = input->kernels[0].values;
		for (size_t i = 0; i < UM_DIFF_QUANTITIES; i++)
			if (um_diff_quantities[i].record && !d->out->origins[side][i])
				row->values[side].value[i] = UM_NULL;
		row->values[side].value[UM_DIFF_LAUNCHES] = UM_NULL;
		row->values[side].value[UM_DIFF_KERNEL_TIME] = UM_NULL;
	}
	return 0;
}

static void add_totals(struct diffing *d)
{
	for (size_t side = 0; side < UM_DIFF_SIDES; side++) {
		struct um_diff_values *total = &d->out->totals[side];

		for (size_t i = 0; i < d->inputs[side].kernel_count; i++)
			um_diff_values_add(total, &d->inputs[side].kernels[i].values);
		for (size_t i = 0; i < UM_DIFF_QUANTITIES; i++)
			if (um_diff_quantities[i].record && !d->out->origins[side][i])
				total->value[i] = UM_NULL;
	}
}

/* --- allocations --- */

/* One of the list, which outlives what is read. */
static const char *kind_word(const char *kind)
{
	return um_word(um_allocation_words, um_word_code(um_allocation_words, kind));
}

static int fill_allocation(struct diffing *d, struct um_diff_row *row, enum um_diff_side side,
			   size_t place)
{
	const struct um_diff_input *input = &d->inputs[side];
	const struct um_check_allocation *allocation = &input->program.allocations[place];

	row->kinds[side] = kind_word(allocation->kind);
	row->ids[side] = allocation->allocation;
	row->bytes[side] = allocation->bytes;
	row->values[side] = input->allocations[place];
	return take_name(row, side, input->allocation_names[place]);
}

static int add_allocation(struct diffing *d, size_t a, size_t b)
{
	struct um_diff_row *row = new_row(&d->out->allocations);
	int error = row ? 0 : UM_ENOMEM;

	if (!error && a != SIZE_MAX)
		error = fill_allocation(d, row, UM_DIFF_A, a);
	if (!error && b != SIZE_MAX)
		error = fill_allocation(d, row, UM_DIFF_B, b);
	return error;
}

struct left_over {
	int64_t bytes;
	size_t place;
};

static int by_bytes(const void *left, const void *right)
{
	const struct left_over *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

/* The n-th of a size is the n-th, whatever kind they are. */
static int pair_left_over(struct diffing *d, struct left_over *a, size_t a_count,
			  struct left_over *b, size_t b_count)
{
	size_t i = 0, k = 0;
	int error = 0;

	qsort(a, a_count, sizeof(*a), by_bytes);
	qsort(b, b_count, sizeof(*b), by_bytes);
	while ((i < a_count || k < b_count) && !error) {
		int order = i == a_count   ? 1
			    : k == b_count ? -1
					   : (a[i].bytes > b[k].bytes) - (a[i].bytes < b[k].bytes);
		size_t here = order <= 0 ? a[i++].place : SIZE_MAX;
		size_t there = order >= 0 ? b[k++].place : SIZE_MAX;

		error = add_allocation(d, here, there);
	}
	return error;
}

static int add_pairs(struct diffing *d, const struct um_check_pairs *pairs)
{
	const struct um_check_side *a = &d->inputs[UM_DIFF_A].program,
				   *b = &d->inputs[UM_DIFF_B].program;
	struct left_over *here = calloc(pairs->count + 1, sizeof(*here));
	struct left_over *there = calloc(pairs->only_there_count + 1, sizeof(*there));
	size_t here_count = 0;
	int error = here && there ? 0 : no_memory();

	for (size_t i = 0; i < pairs->count && !error; i++) {
		size_t place = pairs->pairs[i].here;

		if (pairs->pairs[i].there == SIZE_MAX)
			here[here_count++] = (struct left_over){a->allocations[place].bytes, place};
		else
			error = add_allocation(d, place, pairs->pairs[i].there);
	}
	for (size_t i = 0; i < pairs->only_there_count && !error; i++) {
		size_t place = pairs->only_there[i];

		there[i] = (struct left_over){b->allocations[place].bytes, place};
	}
	if (!error)
		error = pair_left_over(d, here, here_count, there, pairs->only_there_count);
	free(here);
	free(there);
	return error ? error : rank(&d->out->allocations);
}

static int add_allocations(struct diffing *d)
{
	struct um_check_side *a = &d->inputs[UM_DIFF_A].program, *b = &d->inputs[UM_DIFF_B].program;
	const struct um_check_part all_a = {true, 0, SIZE_MAX}, all_b = {true, 0, SIZE_MAX};
	struct um_check_pairs pairs = {0};
	int error = um_check_pair_allocations(&pairs, a, &all_a, b, &all_b);

	if (!error)
		error = add_pairs(d, &pairs);
	um_check_pairs_free(&pairs);
	return error;
}

/* --- what is to be known beside --- */

static int warn_of_calls(struct diffing *d)
{
	const struct um_check_side *a = &d->inputs[UM_DIFF_A].program,
				   *b = &d->inputs[UM_DIFF_B].program;
	const struct um_check_part all_a = {true, 0, a->op_count}, all_b = {true, 0, b->op_count};
	struct um_check_difference difference;
	int error = um_check_calls_compare(&difference, a, &all_a, b, &all_b, false);

	if (error || !um_check_calls_differ(&difference))
		return error;
	return um_diff_warn(
		d->out,
		"the programs did not ask for the same: %s%zu of A's %zu calls are not in "
		"B, %zu of B's %zu not in A",
		difference.is_least ? "at least " : "", difference.only_here, difference.calls_here,
		difference.only_there, difference.calls_there);
}

static int warn_of_side(struct diffing *d, enum um_diff_side side)
{
	const struct um_diff_input *input = &d->inputs[side];
	const char *letter = side == UM_DIFF_A ? "A" : "B";
	int error = 0;

	if (input->ends_early)
		error = um_diff_warn(d->out,
				     "%s ends early: its program still ran, or umtrace was "
				     "stopped, when the last of it was written",
				     letter);
	if (!error && input->lost > 0)
		error = um_diff_warn(d->out, "%s lacks %lld records that were lost", letter,
				     (long long)input->lost);
	if (!error && input->program.not_recorded)
		error = um_diff_warn(d->out,
				     "%s has no details of %llu launches that were not selected",
				     letter, (unsigned long long)input->program.not_recorded);
	return error;
}

static bool is_origin(const struct diffing *d, enum um_diff_side side,
		      enum um_diff_quantity quantity, const char *word)
{
	const char *origin = d->out->origins[side][quantity];

	return origin && strcmp(origin, word) == 0;
}

/* A model agrees with itself. */
static int warn_of_models(struct diffing *d)
{
	if (!is_origin(d, UM_DIFF_A, UM_DIFF_MOVED_TO_DEVICE, "modelled") ||
	    !is_origin(d, UM_DIFF_B, UM_DIFF_MOVED_TO_DEVICE, "modelled"))
		return 0;
	return um_diff_warn(d->out,
			    "both are modelled: what differs is what the models say, and no "
			    "measurement confirms it");
}

/* What a recording costs is in the times of the one and not in those of the other. */
static int warn_of_times(struct diffing *d)
{
	static const char letters[UM_DIFF_SIDES] = "AB";

	for (size_t side = 0; side < UM_DIFF_SIDES; side++)
		if (is_origin(d, (enum um_diff_side)side, UM_DIFF_KERNEL_TIME, "measured") &&
		    is_origin(d, (enum um_diff_side) !side, UM_DIFF_KERNEL_TIME, "modelled"))
			return um_diff_warn(
				d->out,
				"times of %c have in them what recording took, those of %c do not; and kernels "
				"of a model compute in no time (umsim check takes the former in)",
				letters[side], letters[!side]);
	return 0;
}

static int warn_of_devices(struct diffing *d)
{
	const char *a = d->out->device[UM_DIFF_A], *b = d->out->device[UM_DIFF_B];

	if (!a || !b || strcmp(a, b) == 0)
		return 0;
	return um_diff_warn(d->out, "A is of %s, B of %s: what differs may be theirs", a, b);
}

/* --- all of it --- */

static int diff_inputs(struct diffing *d)
{
	int error = 0;

	for (size_t side = 0; side < UM_DIFF_SIDES && !error; side++)
		error = um_diff_describe(d->out, &d->inputs[side], (enum um_diff_side)side);
	for (size_t i = 0; i < UM_DIFF_QUANTITIES && !error; i++)
		d->out->why_not[i] = why_not(d, (enum um_diff_quantity)i);
	if (!error)
		error = add_kernels(d);
	if (!error)
		error = add_other(d);
	if (!error)
		error = add_allocations(d);
	for (size_t side = 0; side < UM_DIFF_SIDES && !error; side++)
		error = warn_of_side(d, (enum um_diff_side)side);
	if (!error)
		error = warn_of_calls(d);
	if (!error)
		error = warn_of_devices(d);
	if (!error)
		error = warn_of_models(d);
	if (!error)
		error = warn_of_times(d);
	add_totals(d);
	return error;
}

int um_diff_load(struct um_diff **out, const char *const paths[UM_DIFF_SIDES],
		 const char *const *skip_frames)
{
	struct diffing d = {.out = calloc(1, sizeof(*d.out))};
	int error = d.out ? 0 : no_memory();

	for (size_t side = 0; side < UM_DIFF_SIDES && !error; side++) {
		d.out->paths[side] = strdup(paths[side]);
		error = d.out->paths[side]
				? um_diff_input_read(&d.inputs[side], paths[side], skip_frames)
				: no_memory();
	}
	if (!error)
		error = diff_inputs(&d);
	for (size_t side = 0; side < UM_DIFF_SIDES; side++)
		um_diff_input_free(&d.inputs[side]);
	*out = error ? NULL : d.out;
	if (error)
		um_diff_destroy(d.out);
	return error;
}

static void free_rows(struct um_diff_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		for (size_t side = 0; side < UM_DIFF_SIDES; side++)
			free(rows->rows[i].names[side]);
	free(rows->rows);
}

void um_diff_destroy(struct um_diff *diff)
{
	if (!diff)
		return;
	for (size_t side = 0; side < UM_DIFF_SIDES; side++) {
		free(diff->paths[side]);
		for (size_t i = 0; i < UM_DIFF_FACTS_MAX; i++)
			free(diff->facts[i].values[side]);
		for (size_t i = 0; i < UM_DIFF_QUANTITIES; i++)
			free(diff->origins[side][i]);
	}
	free_rows(&diff->kernels);
	free_rows(&diff->allocations);
	for (size_t i = 0; i < diff->warning_count; i++)
		free(diff->warnings[i]);
	free(diff->warnings);
	free(diff);
}
