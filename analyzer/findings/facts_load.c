/* The program's calls, allocations and ranges as a trace has them. */
#include "facts.h"

#include "analyzer/query/query.h"
#include "analyzer/query/text_pool.h"
#include "sim/driver/driver.h"
#include "trace/base/error.h"
#include "trace/base/kernel_name.h"
#include "trace/db/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- places --- */

static int keep(const struct um_facts *facts, const char **text)
{
	return um_text_pool_keep(facts->texts, text);
}

static int place_of(const struct um_facts *facts, int64_t site, const char *kind,
		    struct um_finding_place *out)
{
	const struct um_stack_frame *frame =
		site == UM_NULL ? NULL : um_stacks_user(facts->stacks, site, kind, NULL);
	char *text;
	int error;

	*out = (struct um_finding_place){.site = site, .line = UM_NULL};
	if (!frame)
		return 0;
	text = um_stack_frame_text(frame);
	if (!text)
		return um_fail(UM_ENOMEM, "out of memory");
	out->text = text;
	out->file = frame->file;
	out->function = frame->function;
	out->line = frame->line;
	error = keep(facts, &out->text);
	if (!error)
		error = keep(facts, &out->file);
	if (!error)
		error = keep(facts, &out->function);
	free(text);
	return error;
}

struct um_finding_place um_facts_place(const struct um_facts *facts, const struct um_fact_op *op)
{
	struct um_finding_place place;

	if (place_of(facts, op->site, um_word(um_op_words, op->kind), &place))
		return (struct um_finding_place){.site = UM_NULL, .line = UM_NULL};
	return place;
}

/* --- allocations --- */

/* "#3 grid.cells" */
static int label(const struct um_facts *facts, struct um_fact_allocation *allocation)
{
	char text[256];

	snprintf(text, sizeof(text), "#%" PRId64 "%s%.200s", allocation->id,
		 allocation->name ? " " : "", allocation->name ? allocation->name : "");
	allocation->label = text;
	return keep(facts, &allocation->label);
}

static int add_allocation(const void *item, void *context)
{
	const struct um_allocation_row *row = item;
	struct um_facts *facts = context;
	struct um_fact_allocation *added = um_query_append(
		&facts->allocations, &facts->allocation_count, sizeof(*facts->allocations));
	int error;

	if (!added)
		return UM_ENOMEM;
	if (row->bytes < 0 || row->bytes > INT64_MAX / 2 ||
	    (facts->allocation_count > 1 && row->allocation <= added[-1].id))
		return um_fail(UM_EFORMAT, "%s: damaged: an allocation that cannot be",
			       um_db_path(facts->db));
	*added = (struct um_fact_allocation){
		.id = row->allocation,
		.index = (int64_t)facts->allocation_count,
		.kind = um_word_code(um_allocation_words, row->kind),
		.bytes = row->bytes,
		.flags = row->flags,
		.device = row->device,
		.op = row->op,
		.freed_op = row->freed_op,
		.name = row->name,
		.page_count = row->bytes ? (row->bytes - 1) / UM_FACT_PAGE_BYTES + 1 : 0,
	};
	error = keep(facts, &added->name);
	if (!error)
		error = place_of(facts, row->site, "alloc", &added->at);
	return error ? error : label(facts, added);
}

/* --- operations --- */

/* A stream and thread that are not known are the first. */
static int64_t or_zero(int64_t value)
{
	return value == UM_NULL ? 0 : value;
}

static int add_op(const void *item, void *context)
{
	const struct um_op_row *row = item;
	struct um_facts *facts = context;
	struct um_fact_op *added =
		um_query_append(&facts->ops, &facts->op_count, sizeof(*facts->ops));

	if (!added)
		return UM_ENOMEM;
	if (facts->op_count > 1 && row->op <= added[-1].op)
		return um_fail(UM_EFORMAT, "%s: damaged: op %" PRId64 " stands there twice",
			       um_db_path(facts->db), row->op);
	*added = (struct um_fact_op){
		.op = row->op,
		.kind = um_word_code(um_op_words, row->kind),
		.flags = row->flags,
		.thread = or_zero(row->thread),
		.stream = or_zero(row->stream),
		.result = or_zero(row->result),
		.site = row->site,
		.allocation = row->allocation,
		.offset_bytes = or_zero(row->offset_bytes),
		.bytes = or_zero(row->bytes),
		.source_allocation = row->source_allocation,
		.source_offset_bytes = or_zero(row->source_offset_bytes),
		.device = row->device,
		.advice = row->advice ? um_word_code(um_advice_words, row->advice) : 0,
		.event = row->event,
		.value = row->value,
		.start_ns = row->start_ns,
		.end_ns = row->end_ns,
		.run_start_ns = UM_NULL,
		.run_end_ns = UM_NULL,
		.atomics = UM_NULL,
	};
	return 0;
}

static int name_kernel(const void *item, void *context)
{
	const struct um_kernel_row *row = item;
	struct um_facts *facts = context;
	struct um_fact_op *op = um_facts_find_op(facts, row->op);
	struct um_kernel_name name = um_kernel_name(row->name);
	char *text;
	int error;

	if (!op)
		return 0;
	text = strndup(name.start, name.length);
	if (!text)
		return um_fail(UM_ENOMEM, "out of memory");
	op->kernel = text;
	op->atomics = row->atomics;
	op->recorded = row->recorded != 0 && row->reads != UM_NULL;
	error = keep(facts, &op->kernel);
	free(text);
	return error;
}

/* --- ranges --- */

struct open_range {
	int64_t last_op, thread;
	const char *name;
};

struct ranging {
	struct um_facts *facts;
	struct um_user_range_row *rows; /* by op; names are kept */
	size_t count;
	struct open_range *open;
	size_t open_count;
};

static int add_range(const void *item, void *context)
{
	struct ranging *ranging = context;
	struct um_user_range_row *added =
		um_query_append(&ranging->rows, &ranging->count, sizeof(*ranging->rows));

	if (!added)
		return UM_ENOMEM;
	*added = *(const struct um_user_range_row *)item;
	return keep(ranging->facts, &added->name);
}

/* The one that began last of those that this thread is in. */
static const char *innermost(struct ranging *ranging, const struct um_fact_op *op)
{
	size_t kept = 0;
	const char *name = NULL;

	for (size_t i = 0; i < ranging->open_count; i++) {
		const struct open_range *range = &ranging->open[i];

		if (range->last_op != UM_NULL && range->last_op < op->op)
			continue;
		ranging->open[kept++] = *range;
		if (range->thread == op->thread)
			name = range->name;
	}
	ranging->open_count = kept;
	return name;
}

static int name_phases(struct ranging *ranging)
{
	struct um_facts *facts = ranging->facts;
	size_t next = 0;

	ranging->open = calloc(ranging->count + 1, sizeof(*ranging->open));
	if (!ranging->open)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < facts->op_count && ranging->count; i++) {
		struct um_fact_op *op = &facts->ops[i];

		while (next < ranging->count && ranging->rows[next].op < op->op)
			next++;
		if (next < ranging->count && ranging->rows[next].op == op->op)
			ranging->open[ranging->open_count++] = (struct open_range){
				ranging->rows[next].last_op, op->thread, ranging->rows[next].name};
		op->range = innermost(ranging, op);
	}
	return 0;
}

static int load_ranges(struct um_facts *facts)
{
	struct ranging ranging = {.facts = facts};
	int error = um_db_each(facts->db, &um_table_user_range, NULL, 0, add_range, &ranging);

	if (!error)
		error = name_phases(&ranging);
	free(ranging.rows);
	free(ranging.open);
	return error;
}

/* --- all of it --- */

int um_facts_load(struct um_facts *facts, struct um_db *db, struct um_text_pool *texts,
		  const char *const *skip_frames)
{
	struct um_stacks *stacks = NULL;
	int error;

	facts->db = db;
	facts->texts = texts;
	error = um_stacks_load(&stacks, db, skip_frames);
	facts->stacks = stacks;
	if (!error)
		error = um_db_each(db, &um_table_allocation, NULL, 0, add_allocation, facts);
	if (!error)
		error = um_db_each(db, &um_table_op, NULL, 0, add_op, facts);
	if (!error)
		error = um_db_each(db, &um_table_kernel, NULL, 0, name_kernel, facts);
	return error ? error : load_ranges(facts);
}

static void free_allocation(struct um_fact_allocation *allocation)
{
	size_t blocks =
		((size_t)allocation->page_count + UM_FACT_BLOCK_PAGES - 1) / UM_FACT_BLOCK_PAGES;

	for (size_t i = 0; allocation->blocks && i < blocks; i++)
		free(allocation->blocks[i].pages);
	free(allocation->blocks);
	free((size_t *)allocation->uses);
}

void um_facts_fini(struct um_facts *facts)
{
	for (size_t i = 0; i < facts->allocation_count; i++)
		free_allocation(&facts->allocations[i]);
	free(facts->allocations);
	free(facts->ops);
	free(facts->uses);
	um_stacks_destroy((struct um_stacks *)facts->stacks);
	*facts = (struct um_facts){0};
}
