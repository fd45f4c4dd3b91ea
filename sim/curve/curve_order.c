/*
 * When the order in which a program touches its pages is the same with any memory, and decides what
 * is moved:
 *
 * - the driver is demand, whose unit is one size of page, and every managed allocation is whole
 *   units: with less a unit, how many fit would depend on which;
 * - the eviction order is one that touches decide: lru, fifo (demand's own) or belady;
 * - one device, which shares no memory with the host;
 * - one group of a launch is in flight at a time, and all launches, memsets and copies are on one
 *   stream: groups in flight take turns at their faults, which memory decides;
 * - the host touches nothing while the device may be busy;
 * - nothing else moves managed memory: no rule of the policy, no prefetch, no copy, and no advice
 *   that the driver heeds;
 * - device allocations are made before anything is touched, and are there as long as anything is.
 *
 * What holds then: with memory for n units an access faults if its unit is not among the n that the
 * eviction order keeps; each fault brings one unit, and pushes one out if there is no room.
 */
#include "curve_order.h"

#include "sim/simulate.h"
#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>
#include <string.h>

struct looking {
	struct um_curve_order *order;
	const struct um_policy *policy;
	const struct um_machine_spec *machine;
	const char *why;
	bool is_busy;	   /* the device may be */
	bool has_touched;  /* something may have been */
	bool gives_memory; /* of the device back */
	bool has_stream;
	int64_t stream;
	uint8_t *kinds; /* enum um_allocation_kind by id; 0 */
	size_t kind_count;
};

static void refuse(struct looking *looking, const char *why)
{
	if (!looking->why)
		looking->why = why;
}

/* --- allocations --- */

static int note_kind(struct looking *looking, int64_t id, uint8_t kind)
{
	size_t count = looking->kind_count ? looking->kind_count : 64;
	uint8_t *grown;

	while (count <= (size_t)id)
		count *= 2;
	if (count > looking->kind_count) {
		grown = realloc(looking->kinds, count);
		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu allocations", count);
		memset(grown + looking->kind_count, 0, count - looking->kind_count);
		looking->kinds = grown;
		looking->kind_count = count;
	}
	looking->kinds[id] = kind;
	return 0;
}

static int look_at_allocation(const void *row, void *context)
{
	const struct um_allocation_row *allocation = row;
	struct looking *looking = context;
	int kind = um_word_code(um_allocation_words, allocation->kind);

	if (kind < 0 || allocation->allocation <= 0 || allocation->allocation >= UM_ALLOC_IDS_END ||
	    allocation->bytes < 0) {
		refuse(looking, "the trace is damaged");
		return 0;
	}
	if (kind == UM_ALLOCATION_DEVICE) {
		looking->order->taken_bytes += ((uint64_t)allocation->bytes + UM_PAGE_BYTES - 1) /
					       UM_PAGE_BYTES * UM_PAGE_BYTES;
		if (allocation->op == UM_NULL || allocation->op <= 0)
			refuse(looking, "device memory was there before the trace began");
	}
	return note_kind(looking, allocation->allocation, (uint8_t)kind);
}

static int kind_of(const struct looking *looking, int64_t id)
{
	return id > 0 && (uint64_t)id < looking->kind_count ? looking->kinds[id] : 0;
}

/* --- operations --- */

static int look_at_kernel(const void *row, void *context)
{
	const struct um_kernel_row *kernel = row;
	struct looking *looking = context;

	if (um_kernel_groups_in_flight(looking->machine, kernel) > 1)
		refuse(looking, "several groups of a launch are in flight, and which touches next "
				"depends on their faults");
	return 0;
}

static void look_at_task(struct looking *looking, const struct um_op_row *op)
{
	if (looking->has_stream && looking->stream != op->stream)
		refuse(looking, "several streams touch side by side");
	looking->has_stream = true;
	looking->stream = op->stream;
	looking->has_touched = true;
	if (looking->gives_memory)
		refuse(looking, "device memory is given back between touches");
	looking->is_busy = op->flags & UM_OP_ASYNC;
}

static void look_at_copy(struct looking *looking, const struct um_op_row *op)
{
	if (kind_of(looking, op->allocation) == UM_ALLOCATION_MANAGED ||
	    kind_of(looking, op->source_allocation) == UM_ALLOCATION_MANAGED)
		refuse(looking, "copies of managed memory");
	look_at_task(looking, op);
}

static void look_at_alloc(struct looking *looking, const struct um_op_row *op)
{
	if (kind_of(looking, op->allocation) == UM_ALLOCATION_DEVICE && looking->has_touched)
		refuse(looking, "device memory is allocated between touches");
}

static void look_at_free(struct looking *looking, const struct um_op_row *op)
{
	int kind = kind_of(looking, op->allocation);

	looking->gives_memory = looking->gives_memory || kind == UM_ALLOCATION_DEVICE;
	if (kind)
		looking->is_busy = false;
}

static void look_at_host(struct looking *looking)
{
	if (looking->is_busy)
		refuse(looking, "the host touches memory while the device may be busy");
	if (looking->gives_memory)
		refuse(looking, "device memory is given back between touches");
	looking->has_touched = true;
}

static void look_at_advice(struct looking *looking, const struct um_op_row *op)
{
	int kind = op->advice ? um_word_code(um_advice_words, op->advice) : -1;

	if (looking->policy->keep_program_advice && kind != UM_ADVICE_COARSE_GRAIN &&
	    kind != UM_ADVICE_UNSET_COARSE_GRAIN)
		refuse(looking, "the program's advice decides what moves");
}

static int look_at_op(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct looking *looking = context;

	if (op->result != UM_NULL && op->result != 0)
		return 0; /* it failed: nothing happened */
	switch (um_word_code(um_op_words, op->kind)) {
	case UM_OP_LAUNCH:
	case UM_OP_MEMSET:
		look_at_task(looking, op);
		break;
	case UM_OP_COPY:
		look_at_copy(looking, op);
		break;
	case UM_OP_PREFETCH:
		if (looking->policy->keep_program_prefetch)
			refuse(looking, "the program's prefetches decide what moves");
		break;
	case UM_OP_ADVISE:
		look_at_advice(looking, op);
		break;
	case UM_OP_ALLOC:
		look_at_alloc(looking, op);
		break;
	case UM_OP_FREE:
		look_at_free(looking, op);
		break;
	case UM_OP_HOST:
		look_at_host(looking);
		break;
	case UM_OP_SYNC_DEVICE:
	case UM_OP_SYNC_STREAM:
	case UM_OP_STREAM_QUERY:
		looking->is_busy = looking->is_busy && looking->stream != op->stream &&
				   um_word_code(um_op_words, op->kind) != UM_OP_SYNC_DEVICE;
		break;
	default:
		break;
	}
	return 0;
}

/* --- all of it --- */

static const struct um_curve_model_ops *model_of(const struct um_policy *policy)
{
	static const struct um_curve_model_ops *const models[] = {&um_curve_lru, &um_curve_fifo,
								  &um_curve_belady};
	const struct um_evict_ops *order = policy->evict ? policy->evict : policy->driver->evict;

	for (size_t i = 0; order && i < sizeof(models) / sizeof(*models); i++)
		if (!strcmp(models[i]->evict, order->name))
			return models[i];
	return NULL;
}

static void look_at_policy(struct looking *looking)
{
	const struct um_policy *policy = looking->policy;

	looking->order->model = model_of(policy);
	looking->order->unit_bytes =
		policy->page_bytes ? policy->page_bytes : policy->driver->default_page_bytes;
	if (strcmp(policy->driver->name, "demand") != 0)
		refuse(looking, "the driver moves more than the unit of a fault");
	else if (!looking->order->model)
		refuse(looking, "touches alone do not decide the eviction order");
	if (looking->machine->devices != 1 || looking->machine->apu)
		refuse(looking, "the machine has several devices, or one memory for both");
	if (policy->rule_count)
		refuse(looking, "rules of the policy decide what moves");
}

static int look(struct looking *looking, struct um_db *trace)
{
	int error = um_db_each(trace, &um_table_allocation, NULL, 0, look_at_allocation, looking);

	if (!error)
		error = um_db_each(trace, &um_table_kernel, NULL, 0, look_at_kernel, looking);
	return error ? error : um_db_each(trace, &um_table_op, NULL, 0, look_at_op, looking);
}

int um_curve_order_find(struct um_curve_order *order, struct um_db *trace,
			const struct um_policy *policy, const struct um_machine_spec *machine,
			const char **why)
{
	struct looking looking = {.order = order, .policy = policy, .machine = machine};
	bool whole = true;
	int error = 0;

	*order = (struct um_curve_order){0};
	look_at_policy(&looking);
	if (!looking.why)
		error = look(&looking, trace);
	free(looking.kinds);
	if (!error && !looking.why)
		error = um_curve_units_init(&order->units, trace,
					    (um_page)(order->unit_bytes / UM_PAGE_BYTES), &whole);
	if (!whole)
		refuse(&looking, "an allocation does not fill its last page of the driver");
	*why = looking.why;
	if (error || looking.why)
		um_curve_order_fini(order);
	return error;
}

void um_curve_order_fini(struct um_curve_order *order)
{
	um_curve_units_fini(&order->units);
	order->units = (struct um_curve_units){0};
}

/* --- what the simulation tells --- */

struct watch {
	struct um_curve_units *units;
	struct um_curve_model *model;
	int error;
};

static void note_error(struct watch *watch, int error)
{
	watch->error = watch->error ? watch->error : error;
}

/* Pages of one unit have data from now on. */
static void fill(struct watch *watch, uint32_t unit, um_page first, um_page end)
{
	uint32_t pages = um_curve_units_fill(watch->units, unit, first, end);

	if (pages && watch->model->ops->fill)
		note_error(watch, watch->model->ops->fill(watch->model, unit, pages));
}

static um_page end_of_unit(const struct um_curve_units *units, um_page page, um_page end)
{
	um_page unit_end = ((page >> units->shift) + 1) << units->shift;

	return unit_end < end && unit_end ? unit_end : end;
}

static void see_touch(void *context, uint32_t allocation, uint32_t first_page, uint32_t pages)
{
	struct watch *watch = context;
	um_page page = first_page, end = first_page + pages;

	while (page < end && !watch->error) {
		uint32_t unit = um_curve_unit(watch->units, allocation, page);
		um_page next = end_of_unit(watch->units, page, end);

		note_error(watch, watch->model->ops->touch(watch->model, unit));
		fill(watch, unit, page, next);
		page = next;
	}
}

/* First touches by the host; the device's are among its touches. */
static void see_mapping(void *context, const struct um_mapping_row *row)
{
	struct watch *watch = context;
	um_page page = (um_page)row->first_page, end = page + (um_page)row->pages;

	if (row->device >= 0 || um_word_code(um_change_words, row->change) != UM_CHANGE_FIRST_TOUCH)
		return;
	while (page < end && !watch->error) {
		um_page next = end_of_unit(watch->units, page, end);

		fill(watch, um_curve_unit(watch->units, (um_alloc_id)row->allocation, page), page,
		     next);
		page = next;
	}
}

static void see_fault(void *context, const struct um_fault_row *row)
{
	struct watch *watch = context;

	if (row->device < 0)
		note_error(watch, watch->model->ops->leave(
					  watch->model,
					  um_curve_unit(watch->units, (um_alloc_id)row->allocation,
							(um_page)row->first_page),
					  true));
}

static void see_op(void *context, const struct um_op_row *row)
{
	struct watch *watch = context;
	const struct um_curve_allocation *allocation;

	if (um_word_code(um_op_words, row->kind) != UM_OP_FREE ||
	    (row->result != UM_NULL && row->result != 0) || row->allocation <= 0 ||
	    (uint64_t)row->allocation >= watch->units->allocations)
		return;
	allocation = &watch->units->allocation[row->allocation];
	for (uint32_t i = 0; i < allocation->units && !watch->error; i++)
		note_error(watch,
			   watch->model->ops->leave(watch->model, allocation->first + i, false));
}

static int simulate(struct watch *watch, const struct um_simulation *request,
		    struct um_totals *totals)
{
	struct um_observer seen = {.context = watch,
				   .touch = see_touch,
				   .mapping = see_mapping,
				   .fault = see_fault,
				   .op = see_op};
	struct um_observer sum = um_probe_totals(totals);
	struct um_simulation simulation = *request;
	int error = um_probe_create(&simulation.probe);

	if (error)
		return error;
	error = um_probe_add(simulation.probe, &seen);
	if (!error)
		error = um_probe_add(simulation.probe, &sum);
	if (!error)
		error = um_simulate(&simulation);
	if (!error)
		error = um_probe_finish(simulation.probe);
	um_probe_destroy(simulation.probe);
	return error ? error : watch->error;
}

int um_curve_order_run(struct um_curve_order *order, const struct um_curve *curve,
		       const uint32_t *capacities, size_t count, struct um_curve_sums *sums,
		       struct um_totals *totals)
{
	struct um_policy with_all = *curve->policy;
	struct um_machine_spec large = *curve->machine;
	const struct um_simulation simulation = {.trace = curve->trace,
						 .policy = &with_all,
						 .machine = &large,
						 .ignored = curve->ignored,
						 .ignored_context = curve->context};
	struct watch watch = {.units = &order->units};
	int error;

	with_all.evict = NULL; /* nothing leaves, whatever the order */
	with_all.memory_bytes = 0;
	large.memory_bytes = UM_MEMORY_BYTES_MAX;
	um_curve_units_clear(&order->units);
	memset(sums, 0, count * sizeof(*sums));
	*totals = (struct um_totals){0};
	error = order->model->create(&watch.model, &order->units, capacities, count);
	if (!error)
		error = simulate(&watch, &simulation, totals);
	if (!error)
		error = order->model->finish(watch.model, sums);
	order->model->destroy(watch.model);
	return error;
}
