/* Records about what the program asked for. */
#include "ingest_private.h"

#include <stdio.h>
#include <stdlib.h>

/* --- allocations --- */

int um_ingest_allocation(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_allocation *allocation = record;
	const char *at = allocation->name;
	const char *kind = um_word(um_allocation_words, (int)allocation->kind);
	char name[UM_INGEST_TEXT];

	if (!kind || !um_ingest_text(&at, end, name) ||
	    (ingest->measured && !um_ingest_is_memory(allocation->address, allocation->bytes)))
		return UM_RECORD_INVALID;
	struct um_allocation_row row = {
		.allocation = allocation->allocation,
		.kind = kind,
		.bytes = (int64_t)allocation->bytes,
		.flags = allocation->flags,
		.device = allocation->device,
		.address = (int64_t)allocation->address,
		.op = um_ingest_op_id(ingest, allocation->op),
		.freed_op = UM_NULL,
		.site = um_or_null(um_ingest_user_site(ingest, allocation->site)),
		.name = *name ? name : NULL,
	};
	ingest->allocation = 0;
	int result = um_ingest_know(ingest, allocation->allocation, allocation->bytes);
	if (result == 0)
		result = um_ingest_insert(ingest, &um_table_allocation, &row);
	if (result == 0 && ingest->measured)
		result = um_measured_add_allocation(ingest->measured, allocation);
	if (result)
		return result;
	ingest->allocation = allocation->allocation;
	ingest->allocation_site = um_ingest_user_site(ingest, allocation->site);
	if (allocation->kind == UM_ALLOCATION_MANAGED)
		ingest->totals.managed_bytes += allocation->bytes;
	return 0;
}

static int note_free(struct um_ingest *ingest, const struct um_record_op *op)
{
	struct um_known_allocation *known = um_ingest_known(ingest, op->allocation);
	if (op->kind != UM_OP_FREE || op->result != 0 || !known || known->freed)
		return 0;
	known->freed = true;
	if (ingest->measured)
		um_measured_add_free(ingest->measured, op->allocation, op->op);
	return um_db_update(ingest->db, "UPDATE allocation SET freed_op = ? WHERE allocation = ?",
			    (int64_t[]){um_ingest_op_id(ingest, op->op), op->allocation}, 2);
}

/* --- operations --- */

enum op_fields { RANGE = 1, SOURCE = 2, ADVICE = 4, EVENT = 8, VALUE = 16 };

/* Those that mean something; the others are NULL. */
static const unsigned char op_fields[UM_OP_KINDS] = {
	[UM_OP_ALLOC] = RANGE,
	[UM_OP_FREE] = RANGE,
	[UM_OP_ADVISE] = RANGE | ADVICE,
	[UM_OP_PREFETCH] = RANGE | VALUE,
	[UM_OP_COPY] = RANGE | SOURCE | VALUE,
	[UM_OP_MEMSET] = RANGE | VALUE,
	[UM_OP_EVENT_RECORD] = EVENT,
	[UM_OP_EVENT_SYNC] = EVENT,
	[UM_OP_STREAM_WAIT] = EVENT,
	[UM_OP_ATTACH] = RANGE | VALUE,
	[UM_OP_NAME] = RANGE,
	[UM_OP_NAME_END] = RANGE,
	[UM_OP_PROFILER_START] = VALUE,
	[UM_OP_PROFILER_STOP] = VALUE,
	[UM_OP_EVENT_QUERY] = EVENT,
};

static const char *advice_name(uint32_t advice, char number[32])
{
	const char *word = um_word(um_advice_words, (int)advice);

	if (word)
		return word;
	/* What the program asked for, though HIP refused it. */
	snprintf(number, 32, "advice_%u", advice);
	return number;
}

static bool is_possible(const struct um_ingest *ingest, const struct um_record_op *op)
{
	bool refused = op->end_ns != 0 && op->result != 0;

	/* hipMalloc((size_t)-1) is a call like any other that fails. */
	if (ingest->measured && op->op > INT32_MAX) /* ids are twice that */
		return false;
	return op->op != 0 && um_word(um_op_words, op->kind) && op->start_ns <= INT64_MAX &&
	       op->end_ns <= INT64_MAX && (op->bytes <= INT64_MAX || refused) &&
	       op->offset <= INT64_MAX && op->source_offset <= INT64_MAX &&
	       (op->end_ns == 0 || op->end_ns >= op->start_ns);
}

/* What was asked for and is more than a column can hold is not known. */
static int64_t size_or_null(uint64_t bytes)
{
	return bytes <= INT64_MAX ? (int64_t)bytes : UM_NULL;
}

/* What device a stream belongs to the tap does not tell. */
static bool knows_value(const struct um_ingest *ingest, const struct um_record_op *op)
{
	return op->kind != UM_OP_PREFETCH || !ingest->measured;
}

static void fill_op_row(const struct um_ingest *ingest, struct um_op_row *row,
			const struct um_record_op *op, char number[32])
{
	unsigned fields = op_fields[op->kind];

	*row = (struct um_op_row){
		.op = um_ingest_op_id(ingest, op->op),
		.kind = um_word(um_op_words, op->kind),
		.flags = op->flags,
		.thread = um_or_null(op->thread),
		.stream = op->stream,
		.start_ns = (int64_t)op->start_ns,
		.end_ns = um_or_null(op->end_ns),
		/* A range is no call. */
		.result = op->end_ns && op->kind != UM_OP_RANGE ? op->result : UM_NULL,
		.site = um_or_null(um_ingest_user_site(ingest, op->site)),
		.allocation = um_or_null(op->allocation),
		.offset_bytes = fields & RANGE ? (int64_t)op->offset : UM_NULL,
		.bytes = fields & RANGE ? size_or_null(op->bytes) : UM_NULL,
		.source_allocation = fields & SOURCE ? um_or_null(op->source_allocation) : UM_NULL,
		.source_offset_bytes = fields & SOURCE ? (int64_t)op->source_offset : UM_NULL,
		.device = op->device,
		.advice = fields & ADVICE ? advice_name(op->advice, number) : NULL,
		.event = fields & EVENT ? um_or_null(op->event) : UM_NULL,
		.value = fields & VALUE && knows_value(ingest, op) ? op->value : UM_NULL,
	};
}

/* How far a range reaches. */
static int note_range_end(struct um_ingest *ingest, const struct um_record_op *op)
{
	if (op->kind != UM_OP_RANGE || op->end_ns == 0)
		return 0;
	return um_db_update(ingest->db, "UPDATE user_range SET last_op = ? WHERE op = ?",
			    (int64_t[]){um_ingest_op_id(ingest, ingest->last_op),
					um_ingest_op_id(ingest, op->op)},
			    2);
}

int um_ingest_op(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_op *op = record;
	struct um_op_row row;
	char number[32];

	(void)end;
	if (!is_possible(ingest, op))
		return UM_RECORD_INVALID;
	fill_op_row(ingest, &row, op, number);
	if (op->kind == UM_OP_NAME_END)
		row.bytes = (int64_t)um_ingest_part_bytes(ingest, op);
	if (op->op <= ingest->last_op) {
		/* More about one that was begun. */
		if (ingest->measured)
			um_measured_get_time(ingest->measured, op->op, &row.start_ns, &row.end_ns);
		int error = um_db_replace(ingest->db, &um_table_op, &row);

		if (!error && ingest->measured)
			error = um_measured_add_op(ingest->measured, op);
		if (!error)
			error = um_ingest_select_op(ingest, op, false);
		if (!error)
			error = note_range_end(ingest, op);
		if (!error)
			error = um_ingest_parts_op(ingest, op);
		return error ? error : note_free(ingest, op);
	}
	int result = um_ingest_insert(ingest, &um_table_op, &row);
	if (result == 0 && ingest->measured)
		result = um_measured_add_op(ingest->measured, op);
	if (result == 0)
		result = um_ingest_select_op(ingest, op, true);
	if (result)
		return result;
	ingest->last_op = op->op;
	ingest->nameless = op->kind == UM_OP_LAUNCH ? op->op : 0;
	ingest->totals.ops++;
	if (op->kind == UM_OP_LAUNCH)
		ingest->totals.launches++;
	if (op->kind == UM_OP_LAUNCH && op->flags & UM_OP_UNTRACED)
		ingest->last_untraced = op->op;
	if (op->kind == UM_OP_LAUNCH && op->flags & UM_OP_UNSELECTED)
		ingest->totals.unselected++;
	result = um_ingest_parts_op(ingest, op);
	return result ? result : note_free(ingest, op);
}

static int set_launch_site(struct um_ingest *ingest, uint32_t op, const char *kernel)
{
	uint32_t site = um_measured_op_site(ingest->measured, op);
	uint32_t user = um_ingest_user_site(ingest, site);
	uint32_t launch = um_ingest_launch_site(ingest, site, kernel);

	if (launch == user)
		return 0;
	return um_db_update(ingest->db, "UPDATE op SET site = ? WHERE op = ?",
			    (int64_t[]){launch, um_ingest_op_id(ingest, op)}, 2);
}

int um_ingest_kernel(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_kernel *kernel = record;
	const char *at = kernel->name;
	char symbol[UM_INGEST_TEXT], given[UM_INGEST_TEXT];

	if (kernel->op == 0 || kernel->op > ingest->last_op || !um_ingest_text(&at, end, symbol) ||
	    !um_ingest_text(&at, end, given))
		return UM_RECORD_INVALID;
	int failed = kernel->ended ? 0 : um_ingest_select_launch(ingest, kernel->op, symbol);

	if (failed)
		return failed;
	bool recorded = ingest->measured ? !um_measured_is_left_out(ingest->measured, kernel->op)
					 : kernel->op != ingest->last_untraced;
	bool counted = kernel->ended && recorded && !ingest->measured;
	char *name = um_ingest_demangle(*given ? given : symbol);
	struct um_kernel_row row = {
		.op = um_ingest_op_id(ingest, kernel->op),
		.name = name && *name ? name : "(kernel without a name)",
		.symbol = *symbol ? symbol : NULL,
		.grid_x = kernel->grid[0],
		.grid_y = kernel->grid[1],
		.grid_z = kernel->grid[2],
		.block_x = kernel->block[0],
		.block_y = kernel->block[1],
		.block_z = kernel->block[2],
		.lds_bytes = kernel->lds_bytes,
		.reads = counted ? (int64_t)kernel->reads : UM_NULL,
		.writes = counted ? (int64_t)kernel->writes : UM_NULL,
		.atomics = counted ? (int64_t)kernel->atomics : UM_NULL,
		.bytes_read = counted ? (int64_t)kernel->bytes_read : UM_NULL,
		.bytes_written = counted ? (int64_t)kernel->bytes_written : UM_NULL,
		.recorded = recorded,
	};
	/* The one after the launch says more than the one before. */
	int result = kernel->ended ? um_db_replace(ingest->db, &um_table_kernel, &row)
				   : um_ingest_insert(ingest, &um_table_kernel, &row);
	free(name);
	if (kernel->op == ingest->nameless)
		ingest->nameless = 0;
	return result || !ingest->measured ? result : set_launch_site(ingest, kernel->op, symbol);
}
