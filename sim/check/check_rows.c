/* The rows of one side, each counted where it belongs. */
#include "check_calls.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u

/* --- where a row is counted --- */

static int new_facts(struct um_check_side *side, size_t *place)
{
	int error;

	if (*place)
		return 0;
	error = um_check_room(&side->facts, side->fact_count, &side->fact_room,
			      sizeof(*side->facts));
	if (error)
		return error;
	side->facts[side->fact_count] = (struct um_check_facts){0};
	*place = side->fact_count++;
	return 0;
}

/* NULL: there is none. */
static struct um_check_allocation *find_allocation(const struct um_check_side *side, int64_t id)
{
	size_t place = um_check_allocation_place(side, id);

	return place == SIZE_MAX ? NULL : &side->allocations[place];
}

/* Its place in the side's ops; false: it has no such op. */
static bool find_op(const struct um_check_side *side, int64_t op, size_t *place)
{
	*place = um_check_side_place(side, op);
	return op != UM_NULL && *place < side->op_count && side->ops[*place] == op;
}

/* Adds to the operation, and to the allocation where the row has one. */
static int add(struct um_check_side *side, int64_t op, int64_t allocation,
	       const struct um_check_facts *facts)
{
	struct um_check_allocation *about = find_allocation(side, allocation);
	size_t place;
	int error = 0;

	if (!find_op(side, op, &place)) {
		side->rows_without_op++;
		um_check_facts_add(&side->without_op, facts);
	} else {
		error = new_facts(side, &side->op_facts[place]);
		if (!error)
			um_check_facts_add(&side->facts[side->op_facts[place]], facts);
	}
	if (about && !error) {
		error = new_facts(side, &about->facts);
		if (!error)
			um_check_facts_add(&side->facts[about->facts], facts);
	}
	return error;
}

/* --- figures of a row --- */

static int damaged(const struct um_check_side *side, const char *what, int64_t value)
{
	return um_fail(UM_EFORMAT, "%s: damaged: %s %lld", side->path ? side->path : "trace", what,
		       (long long)value);
}

/* What is not known makes the quantity unknown, for all that it is added to. */
static int set(const struct um_check_side *side, struct um_check_facts *facts,
	       enum um_check_quantity quantity, int64_t value)
{
	if (value == UM_NULL)
		facts->unknown |= 1u << quantity;
	else if (value < 0)
		return damaged(side, um_check_quantities[quantity].title, value);
	else
		facts->value[quantity] = (uint64_t)value;
	return 0;
}

static int set_time(const struct um_check_side *side, struct um_check_facts *facts,
		    enum um_check_quantity quantity, int64_t start_ns, int64_t end_ns)
{
	if (start_ns == UM_NULL || end_ns == UM_NULL)
		return set(side, facts, quantity, UM_NULL);
	if (start_ns < 0 || end_ns < start_ns)
		return damaged(side, "a time that ends before it starts, or starts at", start_ns);
	return set(side, facts, quantity, end_ns - start_ns);
}

static int add_span(struct um_check_side *side, int64_t op, bool is_launch, int64_t start_ns,
		    int64_t end_ns)
{
	size_t place;
	int error;

	if (!find_op(side, op, &place) || start_ns == UM_NULL || end_ns == UM_NULL ||
	    end_ns <= start_ns)
		return 0;
	error = um_check_room(&side->spans, side->span_count, &side->span_room,
			      sizeof(*side->spans));
	if (!error)
		side->spans[side->span_count++] = (struct um_check_span){
			place, is_launch, (uint64_t)start_ns, (uint64_t)end_ns};
	return error;
}

static int add_launch(struct um_check_side *side, const struct um_op_row *op)
{
	struct um_check_facts facts = {0};
	int error = set_time(side, &facts, UM_CHECK_KERNEL_TIME, op->start_ns, op->end_ns);

	if (facts.unknown)
		facts.unknown |= 1u << UM_CHECK_WAIT_TIME | 1u << UM_CHECK_FAULT_KERNEL_TIME;
	if (!error)
		error = add(side, op->op, UM_NULL, &facts);
	return error ? error : add_span(side, op->op, true, op->start_ns, op->end_ns);
}

int um_check_add_op(struct um_check_side *side, const struct um_op_row *op)
{
	if (strcmp(op->kind, "launch") == 0)
		return add_launch(side, op);
	if (strcmp(op->kind, "copy") == 0 || strcmp(op->kind, "memset") == 0)
		return add_span(side, op->op, false, op->start_ns, op->end_ns);
	return 0;
}

/* --- faults --- */

/* A batch is counted with its first row; a row that names none is a batch's only one. */
static bool begins_batch(struct um_check_side *side, const struct um_fault_row *fault)
{
	size_t devices = sizeof(side->last_batch) / sizeof(*side->last_batch);
	int64_t *last = &side->last_batch[(uint64_t)fault->device % devices];

	if (fault->batch == UM_NULL)
		return true;
	if (fault->batch == *last)
		return false;
	*last = fault->batch;
	return true;
}

int um_check_add_fault(struct um_check_side *side, const struct um_fault_row *fault)
{
	struct um_check_facts facts = {0};
	int error = 0;

	if (fault->device >= 0)
		facts.value[UM_CHECK_FAULT_BATCHES] = begins_batch(side, fault);
	else
		error = set(side, &facts, UM_CHECK_CPU_FAULTS,
			    fault->faults == UM_NULL ? fault->pages : fault->faults);
	return error ? error : add(side, fault->op, fault->allocation, &facts);
}

/* --- what a device has within its reach --- */

static int add_reached(struct um_check_side *side, int64_t op, int64_t allocation,
		       int64_t first_page, int64_t pages)
{
	int error;

	if (!side->tells_all_reached || allocation == UM_NULL || first_page < 0 || pages <= 0)
		return 0;
	error = um_check_room(&side->reached, side->reached_count, &side->reached_room,
			      sizeof(*side->reached));
	if (!error)
		side->reached[side->reached_count++] = (struct um_check_pages){
			.allocation = allocation,
			.first = (uint64_t)first_page,
			.count = (uint64_t)pages,
			.op = um_check_side_place(side, op),
		};
	return error;
}

/* --- what moved --- */

enum cause_class { SERVED, BROUGHT, PREFETCHED, EVICTED, OTHER };

/*
 * What a measured trace can tell apart: it has the duplicates of read-mostly memory under what they
 * were made for, which here is the prefetch they were asked by, or else a fault.
 */
static enum cause_class class_of(const struct um_check_side *side,
				 const struct um_migration_row *row)
{
	size_t op;
	bool has_op = find_op(side, row->op, &op);
	int cause = row->cause ? um_word_code(um_cause_words, row->cause) : -1;

	switch (cause) {
	case UM_CAUSE_DUPLICATE:
		return has_op && side->op_kinds[op] == UM_CHECK_OP_PREFETCH ? PREFETCHED : SERVED;
	case UM_CAUSE_DEVICE_FAULT:
	case UM_CAUSE_HOST_FAULT:
	case UM_CAUSE_THRASHING:
		return SERVED;
	case UM_CAUSE_DRIVER_PREFETCH:
		return BROUGHT;
	case UM_CAUSE_PREFETCH:
		return PREFETCHED;
	case UM_CAUSE_EVICTION:
		return EVICTED;
	default:
		return OTHER;
	}
}

/* A duplicate for a fault may be the page that faulted or one that came along. */
static void hide_what_came_along(struct um_check_facts *facts, const struct um_migration_row *row)
{
	if (row->cause && strcmp(row->cause, um_word(um_cause_words, UM_CAUSE_DUPLICATE)) == 0)
		facts->unknown |= 1u << UM_CHECK_BROUGHT_TO_DEVICE | 1u << UM_CHECK_BROUGHT_TO_HOST;
}

static int set_causes(const struct um_check_side *side, struct um_check_facts *facts,
		      const struct um_migration_row *row, bool to_host)
{
	static const enum um_check_quantity quantities[] = {
		[SERVED] = UM_CHECK_SERVED_TO_DEVICE,
		[BROUGHT] = UM_CHECK_BROUGHT_TO_DEVICE,
		[PREFETCHED] = UM_CHECK_PREFETCHED_TO_DEVICE,
		[EVICTED] = UM_CHECK_EVICTED_TO_DEVICE,
		[OTHER] = UM_CHECK_OTHER_TO_DEVICE,
	};
	enum cause_class class = class_of(side, row);
	int error = set(side, facts, quantities[class] + to_host, row->bytes);

	if (class == BROUGHT && !error)
		error = set(side, facts, UM_CHECK_SERVED_TO_DEVICE + to_host, row->bytes);
	if (class == SERVED)
		hide_what_came_along(facts, row);
	return error;
}

int um_check_add_migration(struct um_check_side *side, const struct um_migration_row *row)
{
	struct um_check_facts facts = {0};
	bool to_host = row->destination < 0;
	int error;

	/* From device to device nothing crosses the link to the host. */
	if ((row->source < 0) == to_host || row->bytes == 0)
		return 0;
	error = set(side, &facts, UM_CHECK_BYTES_TO_DEVICE + to_host, row->bytes);
	if (!error)
		error = set(side, &facts, UM_CHECK_RECORDS_TO_DEVICE + to_host, row->transfers);
	if (!error)
		error = set_time(side, &facts, UM_CHECK_TRANSFER_TIME, row->start_ns, row->end_ns);
	if (!error)
		error = set_causes(side, &facts, row, to_host);
	if (!error)
		error = add(side, row->op, row->allocation, &facts);
	if (!error && !to_host)
		error = add_reached(side, row->op, row->allocation, row->first_page, row->pages);
	return error ? error : add_span(side, row->op, false, row->start_ns, row->end_ns);
}

/* --- what did not move --- */

int um_check_add_mapping(struct um_check_side *side, const struct um_mapping_row *row)
{
	struct um_check_facts facts = {.value[UM_CHECK_REMOTE_MAPS] = 1};
	int error;

	if (row->device < 0 || strcmp(row->change, "remote") != 0)
		return 0;
	if (row->pages < 0 || row->pages > INT64_MAX / PAGE_BYTES)
		return damaged(side, "pages of a mapping", row->pages);
	facts.value[UM_CHECK_REMOTE_MAP_BYTES] = (uint64_t)row->pages * PAGE_BYTES;
	error = add(side, row->op, row->allocation, &facts);
	return error ? error
		     : add_reached(side, row->op, row->allocation, row->first_page, row->pages);
}

int um_check_add_remote_access(struct um_check_side *side, const struct um_remote_access_row *row)
{
	struct um_check_facts facts = {0};
	int error = set(side, &facts, UM_CHECK_REMOTE_TO_DEVICE, row->bytes_to_device);

	if (!error)
		error = set(side, &facts, UM_CHECK_REMOTE_TO_HOST, row->bytes_to_host);
	return error ? error : add(side, row->op, row->allocation, &facts);
}

int um_check_add_copy(struct um_check_side *side, const struct um_copy_traffic_row *row)
{
	struct um_check_facts facts = {0};
	int error = set(side, &facts, UM_CHECK_COPIED_TO_DEVICE, row->bytes_to_device);

	if (!error)
		error = set(side, &facts, UM_CHECK_COPIED_TO_HOST, row->bytes_to_host);
	return error ? error : add(side, row->op, row->allocation, &facts);
}
