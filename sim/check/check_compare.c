#include "check_compare.h"

#include "check_lost.h"
#include "check_pairs.h"
#include "trace/base/error.h"
#include "trace/base/kernel_name.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work that a file may ask for: operations of all ranges together, allocations times ranges. */
#define WORK_MAX (UINT64_C(1) << 32)

struct comparing {
	struct um_check_comparison *out;
	struct um_check_side *predicted, *measured;
	size_t measured_count;
	struct um_check_segments segments;
	struct um_check_facts *facts; /* scratch: one of each measured side */
	bool *is_there;		      /* so */
	double *samples;	      /* so */
	size_t launches_alike, allocations_paired;
	uint64_t lost_pages, lost_work;
};

static int no_memory(void)
{
	return um_fail(UM_ENOMEM, "no memory for the comparison");
}

__attribute__((format(printf, 2, 3))) static int note(struct comparing *c, const char *format, ...)
{
	struct um_check_comparison *out = c->out;
	va_list args;
	int error, wanted;

	if (out->note_count == UM_CHECK_NOTES_MAX) {
		out->notes_left_out++;
		return 0;
	}
	error = um_check_room(&out->notes, out->note_count, &out->note_room, sizeof(*out->notes));
	if (error)
		return error;
	va_start(args, format);
	wanted = vasprintf(&out->notes[out->note_count], format, args);
	va_end(args);
	if (wanted < 0)
		return no_memory();
	out->note_count++;
	return 0;
}

/* --- rows --- */

/* The next row, with its name, which it takes; NULL: no memory. */
static struct um_check_row *new_row(struct um_check_rows *rows, char *name, const char *range)
{
	if (!name || um_check_room(&rows->rows, rows->count, &rows->room, sizeof(*rows->rows))) {
		free(name);
		return NULL;
	}
	rows->rows[rows->count] = (struct um_check_row){.name = name, .range = range};
	return &rows->rows[rows->count++];
}

/* c->facts and c->is_there have the measured sides'. */
static void fill_figure(struct comparing *c, struct um_check_figure *figure,
			const struct um_check_facts *predicted, enum um_check_quantity quantity)
{
	const char *origin = NULL;
	size_t samples = 0;

	figure->is_predicted = !(predicted->unknown >> quantity & 1);
	figure->predicted = (double)predicted->value[quantity];
	for (size_t k = 0; k < c->measured_count; k++) {
		if (!c->is_there[k] || !c->measured[k].origin[quantity] ||
		    c->facts[k].unknown >> quantity & 1)
			continue;
		origin = c->measured[k].origin[quantity];
		c->samples[samples++] = (double)c->facts[k].value[quantity];
	}
	um_check_figure_measured(figure, c->samples, samples, origin);
}

/* Those that are counted by the driver's records. */
static bool is_of_records(enum um_check_quantity quantity)
{
	static const char *const records[] = {"migration", "mapping", "fault", "fault.host"};

	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
		if (strcmp(records[i], um_check_quantities[quantity].record) == 0)
			return true;
	return false;
}

static void fill(struct comparing *c, struct um_check_row *row,
		 const struct um_check_facts *predicted, uint64_t lost_pages, bool is_other)
{
	for (int i = 0; i < UM_CHECK_QUANTITIES; i++) {
		enum um_check_quantity quantity = (enum um_check_quantity)i;

		if (!um_check_quantities[i].record)
			continue;
		fill_figure(c, &row->figures[i], predicted, quantity);
		row->figures[i].is_least = lost_pages > 0 && is_of_records(quantity);
		row->figures[i].is_other = is_other;
	}
}

/* Rows that only a part of the quantities can be counted by. */
static void keep_only(struct um_check_row *row, uint32_t quantities)
{
	for (int i = 0; i < UM_CHECK_QUANTITIES; i++)
		if (!(quantities >> i & 1))
			row->figures[i] = (struct um_check_figure){0};
}

#define BIT(quantity) (1u << UM_CHECK_##quantity)
#define CAUSES	      (((1u << UM_CHECK_QUANTITIES) - 1) & ~((1u << UM_CHECK_MAIN_QUANTITIES) - 1))
/* What happened on account of a launch while it ran; the host's faults are not among that. */
#define OF_LAUNCHES                                                                                \
	(BIT(BYTES_TO_DEVICE) | BIT(BYTES_TO_HOST) | BIT(RECORDS_TO_DEVICE) |                      \
	 BIT(RECORDS_TO_HOST) | BIT(FAULT_BATCHES) | BIT(REMOTE_MAPS) | BIT(REMOTE_MAP_BYTES) |    \
	 BIT(TRANSFER_TIME) | BIT(KERNEL_TIME) | BIT(FAULT_KERNEL_TIME) | CAUSES)
/* A batch and a launch are of several allocations. */
#define OF_ALLOCATIONS                                                                             \
	(BIT(BYTES_TO_DEVICE) | BIT(BYTES_TO_HOST) | BIT(RECORDS_TO_DEVICE) |                      \
	 BIT(RECORDS_TO_HOST) | BIT(CPU_FAULTS) | BIT(REMOTE_MAPS) | BIT(REMOTE_MAP_BYTES) |       \
	 BIT(TRANSFER_TIME) | CAUSES)

/* --- launches --- */

/* Of one launch or allocation of a side, by its place in the side's list. */
typedef const struct um_check_facts *facts_fn(const struct um_check_side *, size_t place);

/* Fills c->facts and c->is_there with the measured ones of a pair; false: no side has one. */
static bool take_measured(struct comparing *c, const struct um_check_segment *segment,
			  const struct um_check_pairs *pairs, size_t nth, facts_fn *facts_of)
{
	bool is_any = false;

	for (size_t k = 0; k < c->measured_count; k++) {
		size_t there = segment->measured[k].is_there ? pairs[k].pairs[nth].there : SIZE_MAX;

		c->is_there[k] = there != SIZE_MAX;
		is_any = is_any || c->is_there[k];
		if (c->is_there[k])
			c->facts[k] = *facts_of(&c->measured[k], there);
	}
	return is_any;
}

static const struct um_check_facts *launch_facts(const struct um_check_side *side, size_t place)
{
	return um_check_side_op(side, side->launches[place].op);
}

/* So that its time counts as that of a kernel with faults. */
static void mark_faulted(struct um_check_side *side, size_t launch)
{
	size_t place = side->op_facts[side->launches[launch].op];
	struct um_check_facts *facts = &side->facts[place];

	if (place)
		facts->value[UM_CHECK_FAULT_KERNEL_TIME] = facts->value[UM_CHECK_KERNEL_TIME];
}

static bool has_faults(const struct um_check_side *side, size_t launch)
{
	return launch_facts(side, launch)->value[UM_CHECK_FAULT_BATCHES] > 0;
}

/* Without parameters: CUDA and HIP have other types of the same name there. */
static bool is_same_kernel(const char *a, const char *b)
{
	struct um_kernel_name left = um_kernel_name(a), right = um_kernel_name(b);

	return left.bare_length == right.bare_length &&
	       strncmp(left.start, right.start, left.bare_length) == 0;
}

/* The first that has no counterpart, by its name; the others by their number. */
static int note_unmatched(struct comparing *c, const char *range,
			  const struct um_check_pairs *pairs, size_t there_count)
{
	bool is_here = pairs->count > there_count;
	size_t more = is_here ? pairs->count - there_count : there_count - pairs->count;
	size_t first = (is_here ? there_count : pairs->count) + 1;
	const struct um_check_launch *launch =
		is_here ? &c->predicted->launches[pairs->pairs[first - 1].here]
			: &c->measured->launches[pairs->only_there[0]];

	return note(
		c,
		"%s: %zu launches predicted, %zu measured; launches %zu to %zu are only %s and not "
		"compared, the first of them %s",
		range, pairs->count, there_count, first, first + more - 1,
		is_here ? "in the accesses" : "in what was measured", launch->name);
}

static int note_launches(struct comparing *c, const struct um_check_segment *segment,
			 const struct um_check_pairs *pairs, size_t there_count)
{
	const char *range = segment->range ? segment->range->name : "the run";
	int error = 0;

	if (pairs->count != there_count)
		error = note_unmatched(c, range, pairs, there_count);
	for (size_t i = 0; i < pairs->count && !error; i++) {
		const struct um_check_pair *pair = &pairs->pairs[i];
		const char *here, *there;

		if (pair->there == SIZE_MAX)
			continue;
		here = c->predicted->launches[pair->here].name;
		there = c->measured->launches[pair->there].name;
		if (is_same_kernel(here, there))
			c->launches_alike++;
		else
			error = note(c, "%s, launch %zu: %s in the accesses, %s when measured",
				     range, i + 1, here, there);
	}
	return error;
}

static int add_launch(struct comparing *c, const struct um_check_segment *segment,
		      const struct um_check_pairs *pairs, size_t nth)
{
	const struct um_check_launch *launch = &c->predicted->launches[pairs->pairs[nth].here];
	struct um_check_row *row;

	if (!take_measured(c, segment, pairs, nth, launch_facts))
		return 0;
	row = new_row(&c->out->kernels, strdup(launch->name),
		      segment->range ? segment->range->name : NULL);
	if (!row)
		return no_memory();
	fill(c, row, um_check_side_op(c->predicted, launch->op), segment->lost_pages,
	     segment->is_other);
	keep_only(row, OF_LAUNCHES);
	return 0;
}

/* A launch is one with faults if it was when it was first measured, else if it is predicted. */
static void mark_predicted(struct comparing *c, const struct um_check_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct um_check_pair *pair = &pairs->pairs[i];

		if (pair->there == SIZE_MAX ? has_faults(c->predicted, pair->here)
					    : has_faults(c->measured, pair->there))
			mark_faulted(c->predicted, pair->here);
	}
}

static int pair_launches(struct comparing *c, struct um_check_segment *segment,
			 struct um_check_pairs *pairs)
{
	const struct um_check_pairs *first = NULL;
	int error = 0;

	for (size_t k = 0; k < c->measured_count && !error; k++) {
		if (!segment->measured[k].is_there)
			continue;
		error = um_check_pair_launches(&pairs[k], c->predicted, &segment->predicted,
					       &c->measured[k], &segment->measured[k]);
		first = first ? first : &pairs[k];
	}
	if (error || !first)
		return error;
	if (segment->measured[0].is_there) {
		size_t there = first->only_there_count;

		for (size_t i = 0; i < first->count; i++)
			there += first->pairs[i].there != SIZE_MAX;
		mark_predicted(c, first);
		error = note_launches(c, segment, first, there);
	}
	for (size_t i = 0; i < first->count && !error; i++)
		error = add_launch(c, segment, pairs, i);
	return error;
}

/* --- allocations --- */

static const struct um_check_facts *allocation_facts(const struct um_check_side *side, size_t place)
{
	return &side->facts[side->allocations[place].facts];
}

static int note_allocation(struct comparing *c, const struct um_check_side *side, size_t place,
			   const char *where)
{
	char *name = um_check_allocation_text(&side->allocations[place]);
	int error = name ? note(c, "allocation %s: only %s", name, where) : no_memory();

	free(name);
	return error;
}

static int add_allocation(struct comparing *c, const struct um_check_segment *segment,
			  const struct um_check_pairs *pairs, size_t nth)
{
	size_t here = pairs->pairs[nth].here;
	struct um_check_row *row;

	if (!take_measured(c, segment, pairs, nth, allocation_facts))
		return note_allocation(c, c->predicted, here, "in the accesses");
	c->allocations_paired++;
	row = new_row(&c->out->allocations,
		      um_check_allocation_text(&c->predicted->allocations[here]),
		      segment->range ? segment->range->name : NULL);
	if (!row)
		return no_memory();
	fill(c, row, allocation_facts(c->predicted, here), segment->lost_pages, segment->is_other);
	keep_only(row, OF_ALLOCATIONS);
	return 0;
}

static int pair_allocations(struct comparing *c, struct um_check_segment *segment,
			    struct um_check_pairs *pairs)
{
	const struct um_check_pairs *first = NULL;
	int error = 0;

	for (size_t k = 0; k < c->measured_count && !error; k++) {
		if (!segment->measured[k].is_there)
			continue;
		error = um_check_pair_allocations(&pairs[k], c->predicted, &segment->predicted,
						  &c->measured[k], &segment->measured[k]);
		first = first ? first : &pairs[k];
	}
	for (size_t i = 0; first && i < first->count && !error; i++)
		error = add_allocation(c, segment, pairs, i);
	for (size_t i = 0; first == pairs && i < pairs->only_there_count && !error; i++)
		error = note_allocation(c, c->measured, pairs->only_there[i], "when measured");
	return error;
}

/* --- what the measurement lost --- */

static int note_lost(struct comparing *c, const struct um_check_segment *segment)
{
	return note(
		c,
		"%s: no record tells how %llu pages came within the device's reach that the host had "
		"written and a kernel touched: the driver lost records, and what was measured by them is "
		"the least that there was",
		segment->range ? segment->range->name : "the run",
		(unsigned long long)segment->lost_pages);
}

/* Of one measured side. */
static int find_lost_of(struct comparing *c, const struct um_check_segment *segment, size_t k,
			struct um_check_pairs *pairs, uint64_t *all_lost)
{
	int error = um_check_pair_allocations(pairs, c->predicted, &segment->predicted,
					      &c->measured[k], &segment->measured[k]);

	*all_lost = 0;
	for (size_t i = 0; i < pairs->count && !error; i++) {
		const struct um_check_pair *pair = &pairs->pairs[i];
		uint64_t lost = 0;

		if (pair->there != SIZE_MAX)
			error = um_check_lost_pages(&lost, c->predicted, pair->here,
						    &c->measured[k], pair->there, &c->lost_work);
		*all_lost += lost;
	}
	return error;
}

/* The most that one of the repetitions has lost. */
static int find_lost(struct comparing *c, struct um_check_segment *segment,
		     struct um_check_pairs *pairs)
{
	int error = 0;

	for (size_t k = 0; k < c->measured_count && !error; k++) {
		uint64_t lost;

		if (!segment->measured[k].is_there || !c->measured[k].tells_all_reached)
			continue;
		error = find_lost_of(c, segment, k, &pairs[k], &lost);
		if (lost > segment->lost_pages)
			segment->lost_pages = lost;
	}
	c->lost_pages += segment->lost_pages;
	return error || !segment->lost_pages ? error : note_lost(c, segment);
}

/* What lies in another has lost what that one has. */
static void spread_lost(struct um_check_segments *segments)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < segments->count; i++) {
		if (segments->segments[i].is_outermost)
			lost = segments->segments[i].lost_pages;
		segments->segments[i].lost_pages = lost;
	}
}

/* --- all of it, segment by segment --- */

static int each_segment(struct comparing *c,
			int (*pair)(struct comparing *, struct um_check_segment *,
				    struct um_check_pairs *))
{
	struct um_check_pairs *pairs = calloc(c->measured_count, sizeof(*pairs));
	int error = pairs ? 0 : no_memory();

	for (size_t i = 0; i < c->segments.count && !error; i++) {
		if (c->segments.segments[i].is_outermost)
			error = pair(c, &c->segments.segments[i], pairs);
		for (size_t k = 0; k < c->measured_count; k++)
			um_check_pairs_free(&pairs[k]);
	}
	free(pairs);
	return error;
}

/* --- what the total is of --- */

static bool is_total_of_ranges(const struct comparing *c)
{
	return c->segments.has_ranges &&
	       (c->segments.only_predicted_count || c->segments.only_measured_count);
}

/* A range that lies in no other and that all sides have. */
static bool is_everywhere(const struct comparing *c, const struct um_check_segment *segment)
{
	for (size_t k = 0; k < c->measured_count; k++)
		if (!segment->measured[k].is_there)
			return false;
	return segment->is_outermost;
}

/* --- what was called --- */

/* Whether a segment's own calls differ, those made within it counted within it. */
static int compare_segment(struct comparing *c, struct um_check_segment *segment)
{
	int error = 0;

	for (size_t k = 0; k < c->measured_count && !error && !segment->is_other; k++) {
		struct um_check_difference difference;

		if (!segment->measured[k].is_there)
			continue;
		error = um_check_calls_compare(&difference, c->predicted, &segment->predicted,
					       &c->measured[k], &segment->measured[k],
					       c->predicted->has_policy);
		segment->is_other = !error && um_check_calls_differ(&difference);
		if (segment->is_other && segment->range)
			error = note(c,
				     "range %s: %zu of its %zu calls are only in the accesses, "
				     "%zu only in what was measured",
				     segment->range->name, difference.only_here,
				     difference.calls_here, difference.only_there);
	}
	return error;
}

/* Of what the total is of: the run, or the ranges that all sides have. */
static int compare_side(struct comparing *c, size_t k, bool of_ranges)
{
	const struct um_check_part run = {true, 0, c->predicted->op_count},
				   measured_run = {true, 0, c->measured[k].op_count};
	struct um_check_difference *all = &c->out->differences[k];
	int error = 0;

	if (!of_ranges)
		return um_check_calls_compare(all, c->predicted, &run, &c->measured[k],
					      &measured_run, c->predicted->has_policy);
	for (size_t i = 0; i < c->segments.count && !error; i++) {
		const struct um_check_segment *segment = &c->segments.segments[i];
		struct um_check_difference part;

		if (!is_everywhere(c, segment))
			continue;
		error = um_check_calls_compare(&part, c->predicted, &segment->predicted,
					       &c->measured[k], &segment->measured[k],
					       c->predicted->has_policy);
		if (!error)
			um_check_difference_add(all, &part);
	}
	return error;
}

static int compare_calls(struct comparing *c)
{
	int error = 0;

	c->out->differences = calloc(c->measured_count, sizeof(*c->out->differences));
	c->out->difference_count = c->measured_count;
	if (!c->out->differences)
		return no_memory();
	for (size_t k = 0; k < c->measured_count && !error; k++) {
		error = compare_side(c, k, is_total_of_ranges(c));
		c->out->is_other =
			c->out->is_other || um_check_calls_differ(&c->out->differences[k]);
	}
	for (size_t i = 0; i < c->segments.count && !error; i++)
		error = compare_segment(c, &c->segments.segments[i]);
	return error;
}

/* --- ranges --- */

static int sum_parts(struct comparing *c, const struct um_check_segment *segment,
		     struct um_check_facts *predicted)
{
	int error = um_check_side_sum(c->predicted, segment->predicted.first,
				      segment->predicted.end, predicted);

	for (size_t k = 0; k < c->measured_count && !error; k++) {
		const struct um_check_part *part = &segment->measured[k];

		c->is_there[k] = part->is_there;
		if (part->is_there)
			error = um_check_side_sum(&c->measured[k], part->first, part->end,
						  &c->facts[k]);
	}
	return error;
}

static int add_range(struct comparing *c, const struct um_check_segment *segment)
{
	const struct um_check_range *range = segment->range;
	struct um_check_facts predicted;
	struct um_check_row *row;
	char *name = NULL;
	int error = sum_parts(c, segment, &predicted);

	if (error)
		return error;
	if (asprintf(&name, range->nth > 1 ? "%s (%u)" : "%s", range->name, range->nth) < 0)
		name = NULL;
	row = new_row(&c->out->ranges, name, NULL);
	if (!row)
		return no_memory();
	row->first = range->first;
	row->end = range->end;
	fill(c, row, &predicted, segment->lost_pages, segment->is_other);
	return 0;
}

static int add_ranges(struct comparing *c)
{
	int error = 0;

	for (size_t i = 0; i < c->segments.count && !error && c->segments.has_ranges; i++)
		error = add_range(c, &c->segments.segments[i]);
	return error;
}

static int note_ranges(struct comparing *c)
{
	const struct um_check_segments *segments = &c->segments;
	int error = 0;

	if (!segments->has_ranges && (c->predicted->range_count || c->measured->range_count))
		error = note(
			c, "no range of the one is one of the other: the whole runs are compared");
	for (size_t i = 0; i < segments->only_predicted_count && !error && segments->has_ranges;
	     i++)
		error = note(c, "range %s: only in the accesses",
			     c->predicted->ranges[segments->only_predicted[i]].name);
	for (size_t i = 0; i < segments->only_measured_count && !error && segments->has_ranges; i++)
		error = note(c, "range %s: only when measured",
			     c->measured->ranges[segments->only_measured[i]].name);
	return error;
}

/* --- in total --- */

/* Of the ranges that lie in no other and that all sides have. */
static int sum_ranges(struct comparing *c, struct um_check_facts *predicted,
		      struct um_check_facts *measured)
{
	int error = 0;

	for (size_t i = 0; i < c->segments.count && !error; i++) {
		const struct um_check_segment *segment = &c->segments.segments[i];
		struct um_check_facts sum;

		if (!is_everywhere(c, segment))
			continue;
		error = sum_parts(c, segment, &sum);
		um_check_facts_add(predicted, &sum);
		for (size_t k = 0; k < c->measured_count && !error; k++)
			um_check_facts_add(&measured[k], &c->facts[k]);
	}
	return error;
}

static int sum_run(struct comparing *c, struct um_check_facts *predicted,
		   struct um_check_facts *measured)
{
	int error = um_check_side_sum(c->predicted, 0, c->predicted->op_count, predicted);

	um_check_facts_add(predicted, &c->predicted->without_op);
	for (size_t k = 0; k < c->measured_count && !error; k++) {
		error = um_check_side_sum(&c->measured[k], 0, c->measured[k].op_count,
					  &measured[k]);
		um_check_facts_add(&measured[k], &c->measured[k].without_op);
	}
	return error;
}

static int add_total(struct comparing *c)
{
	struct um_check_facts predicted = {0};
	struct um_check_facts *measured = calloc(c->measured_count, sizeof(*measured));
	bool of_ranges = is_total_of_ranges(c);
	int error = measured ? 0 : no_memory();

	if (!error)
		error = (of_ranges ? sum_ranges : sum_run)(c, &predicted, measured);
	if (!error) {
		memcpy(c->facts, measured, c->measured_count * sizeof(*measured));
		for (size_t k = 0; k < c->measured_count; k++)
			c->is_there[k] = true;
		fill(c, &c->out->total, &predicted, c->lost_pages, c->out->is_other);
	}
	c->out->is_total_of_ranges = of_ranges;
	c->out->total.end = c->predicted->op_count;
	free(measured);
	return error;
}

/* --- together --- */

static int check_work(const struct comparing *c)
{
	uint64_t work = 0;

	for (size_t i = 0; i < c->segments.count; i++) {
		const struct um_check_segment *segment = &c->segments.segments[i];

		work += segment->predicted.end - segment->predicted.first +
			c->predicted->allocation_count;
		for (size_t k = 0; k < c->measured_count; k++)
			work += segment->measured[k].end - segment->measured[k].first +
				c->measured[k].allocation_count;
	}
	return work <= WORK_MAX ? 0
				: um_fail(UM_ELIMIT, "%s: too many ranges within ranges to compare",
					  c->predicted->path);
}

static int check_common(const struct comparing *c)
{
	if (c->segments.has_ranges || c->launches_alike ||
	    (c->allocations_paired && !c->predicted->launch_count && !c->measured->launch_count))
		return 0;
	return um_fail(UM_EINVAL,
		       "%s and %s are not of the same program: no range and no launch is in both",
		       c->predicted->path, c->measured->path);
}

static void mark_measured(struct comparing *c)
{
	for (size_t k = 0; k < c->measured_count; k++)
		for (size_t i = 0; i < c->measured[k].launch_count; i++)
			if (has_faults(&c->measured[k], i))
				mark_faulted(&c->measured[k], i);
}

static int compare(struct comparing *c)
{
	int error =
		um_check_segments_find(&c->segments, c->predicted, c->measured, c->measured_count);

	if (!error)
		error = check_work(c);
	if (error)
		return error;
	mark_measured(c);
	error = note_ranges(c);
	if (!error)
		error = compare_calls(c);
	if (!error)
		error = each_segment(c, find_lost);
	spread_lost(&c->segments);
	if (!error)
		error = each_segment(c, pair_launches);
	if (!error)
		error = each_segment(c, pair_allocations);
	if (!error)
		error = check_common(c);
	if (!error)
		error = add_ranges(c);
	return error ? error : add_total(c);
}

int um_check_compare(struct um_check_comparison *out, struct um_check_side *predicted,
		     struct um_check_side *measured, size_t measured_count)
{
	struct comparing c = {
		.out = out,
		.predicted = predicted,
		.measured = measured,
		.measured_count = measured_count,
		.facts = calloc(measured_count, sizeof(struct um_check_facts)),
		.is_there = calloc(measured_count, sizeof(bool)),
		.samples = calloc(measured_count, sizeof(double)),
		.lost_work = UM_CHECK_LOST_WORK,
	};
	int error;

	*out = (struct um_check_comparison){0};
	error = c.facts && c.is_there && c.samples ? compare(&c) : no_memory();
	um_check_segments_free(&c.segments);
	free(c.facts);
	free(c.is_there);
	free(c.samples);
	if (error)
		um_check_comparison_free(out);
	return error;
}

static void free_rows(struct um_check_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i].name);
	free(rows->rows);
}

void um_check_comparison_free(struct um_check_comparison *comparison)
{
	free_rows(&comparison->ranges);
	free_rows(&comparison->kernels);
	free_rows(&comparison->allocations);
	for (size_t i = 0; i < comparison->note_count; i++)
		free(comparison->notes[i]);
	free(comparison->notes);
	free(comparison->differences);
	*comparison = (struct um_check_comparison){0};
}
