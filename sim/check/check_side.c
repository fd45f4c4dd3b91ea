/* What a program did: operations, launches, allocations and ranges, and sums over them. */
#include "check_side.h"

#include "trace/base/error.h"
#include "trace/base/sorted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int um_check_room(void *items, size_t count, size_t *room, size_t item_bytes)
{
	void **old = items, *grown;
	size_t wanted = *room ? *room * 2 : 64;

	if (count < *room)
		return 0;
	if (count >= UM_CHECK_ITEMS_MAX)
		return um_fail(UM_ELIMIT, "more than %u rows of a kind to compare",
			       UM_CHECK_ITEMS_MAX);
	grown = reallocarray(*old, wanted, item_bytes);
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for what is to be compared");
	*old = grown;
	*room = wanted;
	return 0;
}

static char *copy_text(const char *text)
{
	return strdup(text ? text : "");
}

static int no_memory(void)
{
	return um_fail(UM_ENOMEM, "no memory for what is to be compared");
}

/* --- operations --- */

static enum um_check_op_kind kind_of(const char *word)
{
	static const struct {
		const char *word;
		enum um_check_op_kind kind;
	} kinds[] = {{"prefetch", UM_CHECK_OP_PREFETCH},
		     {"host", UM_CHECK_OP_HOST},
		     {"launch", UM_CHECK_OP_LAUNCH}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].word, word) == 0)
			return kinds[i].kind;
	return UM_CHECK_OP_OTHER;
}

static int add_call(struct um_check_side *side, const struct um_op_row *op)
{
	static const char *const words[] = {
		[UM_CHECK_CALL_ALLOC] = "alloc",   [UM_CHECK_CALL_FREE] = "free",
		[UM_CHECK_CALL_ADVISE] = "advise", [UM_CHECK_CALL_PREFETCH] = "prefetch",
		[UM_CHECK_CALL_ATTACH] = "attach", [UM_CHECK_CALL_COPY] = "copy",
		[UM_CHECK_CALL_MEMSET] = "memset", [UM_CHECK_CALL_LAUNCH] = "launch",
	};
	int kind = 0, error;

	while (kind < UM_CHECK_CALL_KINDS && strcmp(words[kind], op->kind) != 0)
		kind++;
	/* A call that was refused did nothing. */
	if (kind == UM_CHECK_CALL_KINDS || (op->result != UM_NULL && op->result != 0))
		return 0;
	error = um_check_room(&side->calls, side->call_count, &side->call_room,
			      sizeof(*side->calls));
	if (error)
		return error;
	side->calls[side->call_count++] = (struct um_check_call){
		.kind = (enum um_check_call_kind)kind,
		.op = side->op_count,
		.allocation = op->allocation,
		.offset_bytes = op->offset_bytes,
		.bytes = op->bytes,
		.source_allocation = op->source_allocation,
		.source_offset_bytes = op->source_offset_bytes,
		.device = op->device,
		.stream = op->stream == UM_NULL ? 0 : op->stream,
		.value = op->value,
		.advice = op->advice ? um_word_code(um_advice_words, op->advice) : -1,
	};
	return 0;
}

static int take_op(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct um_check_side *side = context;
	size_t room = side->op_room, rooms[2] = {room, room};
	int error = um_check_room(&side->ops, side->op_count, &side->op_room, sizeof(*side->ops));

	if (!error)
		error = um_check_room(&side->op_facts, side->op_count, &rooms[0],
				      sizeof(*side->op_facts));
	if (!error)
		error = um_check_room(&side->op_kinds, side->op_count, &rooms[1],
				      sizeof(*side->op_kinds));
	if (!error)
		error = add_call(side, op);
	if (error)
		return error;
	side->ops[side->op_count] = op->op;
	side->op_facts[side->op_count] = 0;
	side->op_kinds[side->op_count++] = kind_of(op->kind);
	side->not_recorded += (op->flags & UM_OP_UNSELECTED) != 0;
	return 0;
}

static int by_id(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

size_t um_check_side_place(const struct um_check_side *side, int64_t op)
{
	return um_sorted_first(side->ops, side->op_count, sizeof(*side->ops), &op, by_id);
}

/* --- what the operations are about --- */

static int take_launch(const void *row, void *context)
{
	const struct um_kernel_row *kernel = row;
	struct um_check_side *side = context;
	size_t op = um_check_side_place(side, kernel->op);
	int error = um_check_room(&side->launches, side->launch_count, &side->launch_room,
				  sizeof(*side->launches));

	if (error)
		return error;
	if (op == side->op_count || side->ops[op] != kernel->op)
		return um_fail(UM_EFORMAT, "%s: damaged: kernel of op %lld, which there is not",
			       side->path, (long long)kernel->op);
	side->launches[side->launch_count] = (struct um_check_launch){
		.op = op,
		.name = copy_text(kernel->name),
		.groups = {kernel->grid_x, kernel->grid_y, kernel->grid_z},
		.lanes = {kernel->block_x, kernel->block_y, kernel->block_z},
	};
	return side->launches[side->launch_count++].name ? 0 : no_memory();
}

static int take_allocation(const void *row, void *context)
{
	const struct um_allocation_row *allocation = row;
	struct um_check_side *side = context;
	struct um_check_allocation *taken;
	int error = um_check_room(&side->allocations, side->allocation_count,
				  &side->allocation_room, sizeof(*side->allocations));

	if (error)
		return error;
	taken = &side->allocations[side->allocation_count++];
	*taken = (struct um_check_allocation){
		.allocation = allocation->allocation,
		.op = um_check_side_place(side, allocation->op == UM_NULL ? 0 : allocation->op),
		.kind = copy_text(allocation->kind),
		.name = allocation->name ? strdup(allocation->name) : NULL,
		.bytes = allocation->bytes,
	};
	return taken->kind ? 0 : no_memory();
}

static int take_range(const void *row, void *context)
{
	const struct um_user_range_row *range = row;
	struct um_check_side *side = context;
	struct um_check_range *taken;
	int error = um_check_room(&side->ranges, side->range_count, &side->range_room,
				  sizeof(*side->ranges));

	if (error)
		return error;
	taken = &side->ranges[side->range_count++];
	*taken = (struct um_check_range){.first = um_check_side_place(side, range->op),
					 .end = side->op_count,
					 .name = copy_text(range->name)};
	if (range->last_op != UM_NULL && range->last_op < INT64_MAX)
		taken->end = um_check_side_place(side, range->last_op + 1);
	if (taken->end < taken->first)
		taken->end = taken->first;
	return taken->name ? 0 : no_memory();
}

static int by_name_then_place(const void *left, const void *right)
{
	const struct um_check_range *a = *(struct um_check_range *const *)left,
				    *b = *(struct um_check_range *const *)right;
	int names = strcmp(a->name, b->name);

	return names ? names : (a > b) - (a < b);
}

/* Ranges of one name are numbered in program order. */
static int number_ranges(struct um_check_side *side)
{
	struct um_check_range **sorted =
		calloc(side->range_count + 1, sizeof(struct um_check_range *));

	if (!sorted)
		return no_memory();
	for (size_t i = 0; i < side->range_count; i++)
		sorted[i] = &side->ranges[i];
	qsort(sorted, side->range_count, sizeof(*sorted), by_name_then_place);
	for (size_t i = 0; i < side->range_count; i++)
		sorted[i]->nth = i && strcmp(sorted[i]->name, sorted[i - 1]->name) == 0
					 ? sorted[i - 1]->nth + 1
					 : 1;
	free(sorted);
	return 0;
}

/* What the host wrote and what launches touched. */
static int take_touch(const void *row, void *context)
{
	const struct um_page_access_row *access = row;
	struct um_check_side *side = context;
	size_t op = um_check_side_place(side, access->op);
	enum um_check_op_kind kind;
	int error;

	if (op == side->op_count || side->ops[op] != access->op || access->first_page < 0 ||
	    access->pages <= 0)
		return 0;
	kind = side->op_kinds[op];
	if (kind != UM_CHECK_OP_LAUNCH &&
	    (kind != UM_CHECK_OP_HOST || !(access->touch & UM_TOUCH_WRITTEN)))
		return 0;
	error = um_check_room(&side->touched, side->touched_count, &side->touched_room,
			      sizeof(*side->touched));
	if (!error)
		side->touched[side->touched_count++] = (struct um_check_pages){
			.allocation = access->allocation,
			.first = (uint64_t)access->first_page,
			.count = (uint64_t)access->pages,
			.op = op,
		};
	return error;
}

/* --- what it ran on --- */

static void copy_into(char *to, size_t capacity, const char *text)
{
	snprintf(to, capacity, "%s", text ? text : "");
}

static uint64_t known(int64_t value)
{
	return value > 0 ? (uint64_t)value : 0;
}

static int take_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct um_check_card *card = &((struct um_check_side *)context)->card;

	copy_into(card->machine, sizeof(card->machine), run->machine);
	copy_into(card->driver_version, sizeof(card->driver_version), run->driver_version);
	card->is_cupti = run->backend && strcmp(run->backend, "cupti") == 0;
	return 0;
}

/* The first. */
static int take_device(const void *row, void *context)
{
	const struct um_device_row *device = row;
	struct um_check_card *card = &((struct um_check_side *)context)->card;

	if (*card->name)
		return 0;
	copy_into(card->name, sizeof(card->name), device->name);
	copy_into(card->arch, sizeof(card->arch), device->arch);
	copy_into(card->link, sizeof(card->link), device->link);
	card->memory_bytes = known(device->memory_bytes);
	card->compute_units = known(device->compute_units);
	card->wave_lanes = known(device->wave_lanes);
	return 0;
}

int um_check_side_program(struct um_check_side *side, struct um_db *db)
{
	static const struct {
		const struct um_table *table;
		int (*take)(const void *row, void *context);
	} parts[] = {{&um_table_op, take_op},
		     {&um_table_kernel, take_launch},
		     {&um_table_allocation, take_allocation},
		     {&um_table_user_range, take_range},
		     {&um_table_page_access, take_touch},
		     {&um_table_device, take_device}};
	int error;

	*side = (struct um_check_side){0};
	error = um_check_room(&side->facts, 0, &side->fact_room, sizeof(*side->facts));
	if (error)
		return error;
	side->facts[side->fact_count++] = (struct um_check_facts){0};
	for (size_t i = 0; i < sizeof(side->last_batch) / sizeof(*side->last_batch); i++)
		side->last_batch[i] = UM_NULL;
	side->path = copy_text(um_db_path(db));
	error = side->path ? 0 : no_memory();
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !error; i++)
		error = um_db_each(db, parts[i].table, NULL, 0, parts[i].take, side);
	if (!error)
		error = um_db_run(db, take_run, side);
	return error ? error : number_ranges(side);
}

void um_check_side_free(struct um_check_side *side)
{
	for (size_t i = 0; i < side->launch_count; i++)
		free(side->launches[i].name);
	for (size_t i = 0; i < side->allocation_count; i++) {
		free(side->allocations[i].kind);
		free(side->allocations[i].name);
	}
	for (size_t i = 0; i < side->range_count; i++)
		free(side->ranges[i].name);
	free(side->path);
	free(side->ops);
	free(side->op_facts);
	free(side->op_kinds);
	free(side->facts);
	free(side->launches);
	free(side->calls);
	free(side->allocations);
	free(side->ranges);
	free(side->spans);
	free(side->touched);
	free(side->reached);
	*side = (struct um_check_side){0};
}

/* --- sums --- */

uint64_t um_check_plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void um_check_facts_add(struct um_check_facts *to, const struct um_check_facts *facts)
{
	for (size_t i = 0; i < UM_CHECK_QUANTITIES; i++)
		to->value[i] = um_check_plus(to->value[i], facts->value[i]);
	to->unknown |= facts->unknown;
}

const struct um_check_facts *um_check_side_op(const struct um_check_side *side, size_t op)
{
	return &side->facts[op < side->op_count ? side->op_facts[op] : 0];
}

static int by_op(const void *left, const void *right)
{
	const struct um_check_span *a = left, *b = right;

	return (a->op > b->op) - (a->op < b->op);
}

static int by_start(const void *left, const void *right)
{
	const struct um_check_span *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int by_allocation(const void *left, const void *right)
{
	const struct um_check_pages *a = left, *b = right;

	if (a->allocation != b->allocation)
		return a->allocation > b->allocation ? 1 : -1;
	return (a->op > b->op) - (a->op < b->op);
}

void um_check_side_complete(struct um_check_side *side)
{
	if (side->touched_count)
		qsort(side->touched, side->touched_count, sizeof(*side->touched), by_allocation);
	if (side->reached_count)
		qsort(side->reached, side->reached_count, sizeof(*side->reached), by_allocation);
	if (side->span_count)
		qsort(side->spans, side->span_count, sizeof(*side->spans), by_op);
}

static size_t first_span(const struct um_check_side *side, size_t op)
{
	const struct um_check_span key = {.op = op};

	return um_sorted_first(side->spans, side->span_count, sizeof(*side->spans), &key, by_op);
}

/* How long any of the spans lasted; they are sorted. */
static uint64_t covered_ns(struct um_check_span *spans, size_t count)
{
	uint64_t covered = 0, until = 0;

	qsort(spans, count, sizeof(*spans), by_start);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = spans[i].start_ns > until ? spans[i].start_ns : until;

		if (spans[i].end_ns <= start)
			continue;
		covered += spans[i].end_ns - start;
		until = spans[i].end_ns;
	}
	return covered;
}

/* Returns how many there are. */
static size_t keep_launches(struct um_check_span *spans, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (spans[i].is_launch)
			spans[kept++] = spans[i];
	return kept;
}

int um_check_side_sum(const struct um_check_side *side, size_t first, size_t end,
		      struct um_check_facts *out)
{
	size_t from = first_span(side, first), count = first_span(side, end) - from;
	struct um_check_span *spans;

	*out = (struct um_check_facts){0};
	for (size_t op = first; op < end; op++)
		if (side->op_facts[op])
			um_check_facts_add(out, &side->facts[side->op_facts[op]]);
	if (end <= first || !count)
		return 0;
	spans = malloc(count * sizeof(*spans));
	if (!spans)
		return no_memory();
	memcpy(spans, side->spans + from, count * sizeof(*spans));
	out->value[UM_CHECK_WAIT_TIME] = covered_ns(spans, count);
	out->value[UM_CHECK_STEP_TIME] = covered_ns(spans, keep_launches(spans, count));
	free(spans);
	return 0;
}
