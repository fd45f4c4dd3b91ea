/*
 * Explicit copies. What crosses a link depends on where the bytes are: device allocations on their
 * device; pinned, registered, pageable and unknown memory on the host; managed pages where they are
 * now (the host's copy if there is one) and where they stay, if a copy engine does not fault pages
 * over. Pages of the target that nobody has touched are then first touched by the host.
 *
 * Where copies fault (um_driver_ops.copies_fault) the device accesses managed pages like a kernel,
 * first those of the source, then those of the target, and then copies (copy_touch.c); not so what
 * the program says goes from host to host.
 *
 * Between devices bytes take the link between the two where the machine has one, else both links to the host.
 *
 * Time: each direction of the link is booked once for all its bytes; a copy within a device takes
 * its memory's bandwidth twice; within the host it takes none.
 */
#include "copy_touch.h"

#include "trace/base/error.h"

#include <math.h>
#include <stdlib.h>

#define HOST_TO_HOST 0 /* hipMemcpyHostToHost (hip_runtime_api.h, enum hipMemcpyKind) */

struct side {
	int64_t allocation; /* 0: unknown host memory */
	uint64_t offset_bytes;
};

struct copy {
	struct um_simulation_state *state;
	struct um_task *task;
	struct side source, target;
	uint64_t bytes;
	um_device_id device;
	bool faults;
	struct um_copy_touch *touch; /* of one that faults */
};

struct traffic {
	uint64_t to_device[UM_DEVICES_MAX], to_host[UM_DEVICES_MAX];
	uint64_t within_device;
	uint64_t between[UM_DEVICES_MAX][UM_DEVICES_MAX]; /* from, to, over a link of theirs */
};

static void free_copy(struct copy *copy)
{
	um_copy_touch_destroy(copy->touch);
	free(copy);
}

static void abandon_copy(struct um_task *task)
{
	free_copy(task->work);
}

/* The device's copy if it has one; *place comes in as the host. */
static um_page device_first_end(const struct copy *copy, um_alloc_id id, um_page first,
				um_page limit, um_device_id *place)
{
	enum um_mapping_state map;
	uint32_t where;
	um_page end = um_machine_run_end(copy->state->machine, id, first, limit, copy->device,
					 &where, &map);

	*place = where & UM_PAGE_DEVICE ? copy->device : UM_HOST;
	return end;
}

static um_page managed_end(const struct copy *copy, um_alloc_id id, um_page first, um_page limit,
			   um_device_id *place)
{
	bool nowhere;

	return copy->faults ? device_first_end(copy, id, first, limit, place)
			    : um_machine_holder_end(copy->state->machine, id, first, limit, place,
						    &nowhere);
}

/* Where the bytes from `at` on are; returns how many, at most `limit`, are there. */
static uint64_t place_of_bytes(const struct copy *copy, const struct side *side, uint64_t at,
			       uint64_t limit, um_device_id *place)
{
	const struct um_machine *machine = copy->state->machine;
	um_alloc_id id = (um_alloc_id)side->allocation;
	uint64_t offset = side->offset_bytes + at, end;

	*place = UM_HOST;
	switch (id ? um_machine_home(machine, id) : UM_HOME_HOST) {
	case UM_HOME_DEVICE:
		*place = um_machine_home_device(machine, id);
		return limit;
	case UM_HOME_MANAGED:
		end = managed_end(copy, id, (um_page)(offset / UM_PAGE_BYTES),
				  (um_page)((offset + limit - 1) / UM_PAGE_BYTES + 1), place);
		end = end * UM_PAGE_BYTES - offset;
		return end < limit ? end : limit;
	case UM_HOME_HOST:
		break;
	}
	return limit;
}

static void add_traffic(const struct copy *copy, struct traffic *traffic, um_device_id from,
			um_device_id to, uint64_t bytes)
{
	if (from == to) {
		traffic->within_device += from == UM_HOST ? 0 : bytes;
		return;
	}
	if (um_machine_are_peers(copy->state->machine, from, to)) {
		traffic->between[from][to] += bytes;
		return;
	}
	if (from != UM_HOST)
		traffic->to_host[from] += bytes;
	if (to != UM_HOST)
		traffic->to_device[to] += bytes;
}

static void sum_up(const struct copy *copy, struct traffic *traffic)
{
	uint64_t step;

	for (uint64_t at = 0; at < copy->bytes; at += step) {
		um_device_id from, to;

		step = place_of_bytes(copy, &copy->source, at, copy->bytes - at, &from);
		step = place_of_bytes(copy, &copy->target, at, step, &to);
		add_traffic(copy, traffic, from, to, step);
	}
}

static um_ns later(um_ns a, um_ns b)
{
	return a > b ? a : b;
}

static void report(const struct copy *copy, const struct traffic *traffic, um_ns start, um_ns end)
{
	struct um_copy_traffic_row row = {
		.op = copy->task->op.op,
		.allocation = copy->target.allocation ? copy->target.allocation : UM_NULL,
		.start_ns = (int64_t)start,
		.end_ns = (int64_t)end,
	};

	for (size_t i = 0; i < UM_DEVICES_MAX; i++) {
		row.bytes_to_device += (int64_t)traffic->to_device[i];
		row.bytes_to_host += (int64_t)traffic->to_host[i];
	}
	um_probe_copy_traffic(copy->state->probe, &row);
}

/* The links between devices: their time, and rows. */
static um_ns book_between(const struct copy *copy, const struct traffic *traffic, um_ns at)
{
	um_device_id devices = (um_device_id)um_machine_spec(copy->state->machine)->devices;
	um_ns end = at;

	for (um_device_id from = 0; from < devices; from++)
		for (um_device_id to = 0; to < devices; to++) {
			struct um_peer_traffic_row row = {
				.op = copy->task->op.op,
				.allocation =
					copy->target.allocation ? copy->target.allocation : UM_NULL,
				.source = from,
				.destination = to,
				.bytes = (int64_t)traffic->between[from][to],
				.cause = um_word(um_traffic_words, UM_TRAFFIC_COPY),
			};

			if (!row.bytes)
				continue;
			end = later(end, um_machine_peer_transfer(copy->state->machine, from, to,
								  traffic->between[from][to], at));
			um_probe_peer_traffic(copy->state->probe, &row);
		}
	return end;
}

static um_ns book(const struct copy *copy, const struct traffic *traffic, um_ns at)
{
	struct um_machine *machine = copy->state->machine;
	const struct um_machine_spec *spec = um_machine_spec(machine);
	um_ns end = at + (um_ns)ceil(2.0 * (double)traffic->within_device * 1e9 /
				     spec->memory_bytes_per_s);

	for (um_device_id i = 0; i < (um_device_id)spec->devices; i++) {
		end = later(end, um_machine_transfer(machine, i, false, traffic->to_host[i], at));
		end = later(end, um_machine_transfer(machine, i, true, traffic->to_device[i], at));
	}
	return later(end, book_between(copy, traffic, at));
}

static int copy_done(void *context, uint64_t argument)
{
	struct copy *copy = context;
	struct um_task *task = copy->task;

	(void)argument;
	task->abandon = NULL;
	free_copy(copy);
	return um_streams_done(task->state->streams, task);
}

static struct um_page_range managed_pages(const struct copy *copy, const struct side *side)
{
	struct um_page_range none = {0, 0, 0};

	if (!side->allocation || !copy->bytes ||
	    um_machine_home(copy->state->machine, (um_alloc_id)side->allocation) != UM_HOME_MANAGED)
		return none;
	return um_simulation_pages(copy->state, side->allocation, (int64_t)side->offset_bytes,
				   (int64_t)copy->bytes);
}

static int run_copy(void *context, uint64_t argument);

/* The first page of the target that is nowhere faults as the host's would. */
static int touch_first(struct copy *copy, const struct um_page_range *target, bool *waits)
{
	um_page page = target->first_page, end = target->first_page + target->pages;

	*waits = false;
	while (page < end && !*waits) {
		um_device_id holder;
		um_page next = um_machine_holder_end(copy->state->machine, target->allocation, page,
						     end, &holder, waits);
		struct um_fault fault = {
			.device = UM_HOST,
			.allocation = target->allocation,
			.page = page,
			.pages_ahead = next - page,
			.access = UM_FAULT_WRITE,
			.op = (uint32_t)copy->task->op.op,
		};

		if (*waits)
			return um_fault_buffers_raise(copy->state->faults, &fault, run_copy, copy,
						      0);
		page = next;
	}
	return 0;
}

static int write_target(const struct copy *copy, const struct um_page_range *target)
{
	struct um_driver *driver = copy->state->driver;

	um_machine_copy_into(copy->state->machine, target, (uint32_t)copy->task->op.op);
	return driver->ops->on_copied ? driver->ops->on_copied(driver, target) : 0;
}

/* The bytes go now. */
static int transfer(void *context, uint64_t argument)
{
	struct copy *copy = context;
	struct um_page_range target = managed_pages(copy, &copy->target);
	um_ns now = um_engine_now(copy->state->engine), end;
	struct traffic traffic = {.within_device = 0};
	int error = 0;

	(void)argument;
	sum_up(copy, &traffic);
	end = book(copy, &traffic, now);
	if (target.pages)
		error = write_target(copy, &target);
	report(copy, &traffic, copy->task->start, end);
	return error ? error : um_engine_schedule(copy->state->engine, end, copy_done, copy, 0);
}

/* In place. */
static int run_copy(void *context, uint64_t argument)
{
	struct copy *copy = context;
	struct um_page_range target = managed_pages(copy, &copy->target);
	bool waits;
	int error = touch_first(copy, &target, &waits);

	(void)argument;
	return error || waits ? error : transfer(copy, 0);
}

static int run_faulting_copy(struct copy *copy)
{
	struct um_copy_touch_request request = {
		.state = copy->state,
		.device = copy->device,
		.op = (uint32_t)copy->task->op.op,
		.pages = {[UM_COPY_SOURCE] = managed_pages(copy, &copy->source),
			  [UM_COPY_TARGET] = managed_pages(copy, &copy->target)},
		.done = transfer,
		.context = copy,
	};

	return um_copy_touch_start(&copy->touch, &request);
}

static int check_side(const struct copy *copy, struct side *side, int64_t allocation,
		      int64_t offset_bytes)
{
	int64_t op = copy->task->op.op;
	uint64_t all;
	int error;

	side->allocation = allocation == UM_NULL ? 0 : allocation;
	side->offset_bytes = offset_bytes > 0 ? (uint64_t)offset_bytes : 0;
	if (!side->allocation)
		return 0;
	error = um_simulation_ensure(copy->state, side->allocation, op);
	if (error)
		return error;
	all = (uint64_t)um_machine_pages(copy->state->machine, (um_alloc_id)side->allocation) *
	      UM_PAGE_BYTES;
	if (side->offset_bytes <= all && copy->bytes <= all - side->offset_bytes)
		return 0;
	return um_fail(UM_EFORMAT, "op %lld copies beyond the end of allocation %lld",
		       (long long)op, (long long)side->allocation);
}

int um_copy_start(struct um_task *task)
{
	const struct um_op_row *op = &task->op;
	struct copy *copy = calloc(1, sizeof(*copy));
	int error;

	if (!copy)
		return um_fail(UM_ENOMEM, "no memory for a copy");
	task->work = copy;
	task->abandon = abandon_copy;
	copy->state = task->state;
	copy->task = task;
	copy->bytes = op->bytes > 0 ? (uint64_t)op->bytes : 0;
	copy->device = um_simulation_device(task->state, op);
	copy->faults = task->state->driver->ops->copies_fault && op->value != HOST_TO_HOST;
	error = check_side(copy, &copy->source, op->source_allocation, op->source_offset_bytes);
	if (!error)
		error = check_side(copy, &copy->target, op->allocation, op->offset_bytes);
	if (error)
		return error;
	return copy->faults ? run_faulting_copy(copy) : run_copy(copy, 0);
}
