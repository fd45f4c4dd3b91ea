#include "measured_private.h"

#include "trace/base/error.h"
#include "trace/base/sorted.h"

#include <stdlib.h>

int um_measured_create(struct um_measured **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return um_fail(UM_ENOMEM, "out of memory");
	(*out)->last.host_ns = UM_NULL;
	(*out)->last.call_ns = INT64_MAX;
	return 0;
}

void um_measured_destroy(struct um_measured *measured)
{
	if (!measured)
		return;
	free(measured->ops);
	free(measured->allocations);
	free(measured->spans);
	free(measured);
}

static int make_room(void *items, size_t count, size_t *capacity, size_t item_bytes)
{
	void **array = items;

	if (count < *capacity)
		return 0;
	size_t wanted = *capacity ? 2 * *capacity : 256;
	void *grown = reallocarray(*array, wanted, item_bytes);

	if (!grown)
		return um_fail(UM_ENOMEM, "out of memory for %zu operations", wanted);
	*array = grown;
	*capacity = wanted;
	return 0;
}

struct um_measured_op *um_measured_op(const struct um_measured *measured, uint32_t op)
{
	/* As a rule none is missing. */
	if (op && op <= measured->op_count && measured->ops[op - 1].op == op)
		return measured->ops + op - 1;
	return um_sorted_find(measured->ops, measured->op_count, sizeof(*measured->ops), op);
}

struct um_measured_allocation *um_measured_allocation(const struct um_measured *measured,
						      uint32_t allocation)
{
	return um_sorted_find(measured->allocations, measured->allocation_count,
			      sizeof(*measured->allocations), allocation);
}

int um_measured_add_op(struct um_measured *measured, const struct um_record_op *record)
{
	struct um_measured_op *op = um_measured_op(measured, record->op);

	if (!op) {
		/* One that was never begun and is told of too late. */
		if (measured->op_count && record->op < measured->ops[measured->op_count - 1].op)
			return 0;
		int error = make_room(&measured->ops, measured->op_count, &measured->op_capacity,
				      sizeof(*op));

		if (error)
			return error;
		op = measured->ops + measured->op_count++;
		*op = (struct um_measured_op){.op = record->op, .host_ns = UM_NULL};
	}
	op->thread = record->thread;
	op->kind = record->kind;
	if (!op->timed)
		op->device = record->device;
	op->call_ns = (int64_t)record->start_ns;
	op->call_end_ns = record->end_ns ? (int64_t)record->end_ns : INT64_MAX;
	op->allocation = record->allocation;
	op->source_allocation = record->source_allocation;
	op->offset = record->offset;
	op->source_offset = record->source_offset;
	op->bytes = record->bytes;
	op->value = record->value;
	op->site = record->site;
	op->result = record->result;
	return 0;
}

bool um_measured_add_time(struct um_measured *measured, const struct um_record_time *time)
{
	struct um_measured_op *op = um_measured_op(measured, time->op);
	int64_t start = (int64_t)time->start_ns, end = (int64_t)time->end_ns;

	if (!op)
		return false;
	if (!op->timed || start < op->start_ns)
		op->start_ns = start;
	if (!op->timed || end > op->end_ns)
		op->end_ns = end;
	op->device = time->device;
	op->timed = true;
	return true;
}

void um_measured_get_time(const struct um_measured *measured, uint32_t number, int64_t *start_ns,
			  int64_t *end_ns)
{
	const struct um_measured_op *op = um_measured_op(measured, number);

	if (!op || !op->timed)
		return;
	*start_ns = op->start_ns;
	*end_ns = op->end_ns;
}

void um_measured_leave_out(struct um_measured *measured, uint32_t number)
{
	struct um_measured_op *op = um_measured_op(measured, number);

	if (op)
		op->left_out = measured->has_left_out = true;
}

bool um_measured_has_left_out(const struct um_measured *measured)
{
	return measured->has_left_out || measured->has_spans;
}

bool um_measured_is_left_out(const struct um_measured *measured, uint32_t number)
{
	const struct um_measured_op *op = um_measured_op(measured, number);

	return op && op->left_out;
}

int um_measured_span(struct um_measured *measured, bool begins, int64_t at_ns)
{
	struct um_measured_span *last =
		measured->span_count ? measured->spans + measured->span_count - 1 : NULL;
	bool is_open = last && last->end_ns == INT64_MAX;

	measured->has_spans = true;
	/* Threads tell their times a little out of order: the spans stay in theirs. */
	if (last && !is_open && at_ns < last->end_ns)
		at_ns = last->end_ns;
	if (is_open && !begins)
		last->end_ns = at_ns > last->start_ns ? at_ns : last->start_ns;
	if (is_open || !begins)
		return 0;
	int error = make_room(&measured->spans, measured->span_count, &measured->span_capacity,
			      sizeof(*measured->spans));

	if (!error)
		measured->spans[measured->span_count++] =
			(struct um_measured_span){at_ns, INT64_MAX};
	return error;
}

uint32_t um_measured_op_site(const struct um_measured *measured, uint32_t number)
{
	const struct um_measured_op *op = um_measured_op(measured, number);

	return op ? op->site : 0;
}

uint32_t um_measured_op_thread(const struct um_measured *measured, uint32_t number)
{
	const struct um_measured_op *op = um_measured_op(measured, number);

	return op ? op->thread : 0;
}

uint64_t um_measured_op_call_ns(const struct um_measured *measured, uint32_t number)
{
	const struct um_measured_op *op = um_measured_op(measured, number);

	return op ? (uint64_t)op->call_ns : 0;
}

int um_measured_add_allocation(struct um_measured *measured,
			       const struct um_record_allocation *record)
{
	int error = make_room(&measured->allocations, measured->allocation_count,
			      &measured->allocation_capacity, sizeof(*measured->allocations));

	if (error)
		return error;
	measured->allocations[measured->allocation_count++] = (struct um_measured_allocation){
		.allocation = record->allocation,
		.kind = record->kind,
		.address = record->address,
		.bytes = record->bytes,
		.op = record->op,
	};
	return 0;
}

void um_measured_add_free(struct um_measured *measured, uint32_t allocation, uint32_t op)
{
	struct um_measured_allocation *freed = um_measured_allocation(measured, allocation);

	if (freed)
		freed->freed_op = op;
}
