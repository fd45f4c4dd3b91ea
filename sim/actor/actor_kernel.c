/*
 * Kernels. A launch keeps compute_units * floor(waves_per_unit / waves a group) groups in flight,
 * at least one; LDS and registers do not limit them here, and a launch has the whole machine, also
 * beside another. Groups run in the order in which the trace has them; a group runs until its next
 * touch faults (or its page is still on its way), and goes on when that has been served. Runs of
 * pages in one state are one step. Where the driver has groups fault on several pages side by side
 * (um_driver_ops.faults_side_by_side), a group goes on past a fault until so many of its touches
 * wait. How many touches a group makes at once is the average over the launch.
 *
 * A hit takes no time of its own, unless the way of the device's faults says how much (um_fault_path):
 * then a group is ahead of the clock by what its touches took, and its next fault is so much late.
 *
 * Time is a simple estimate: launch_ns before the first group; then the longest of the groups'
 * waiting, what it computes (measured, or estimated by the bytes and accesses of its lanes without
 * caches: kernel_shape.h), and the remote accesses on the link; and after that the atomics on one address (kernel_atomics.c). While the
 * driver has stopped the device's queues no group touches anything, and what the memory is taken for
 * ends that much later.
 *
 * A memset is a kernel with one group that writes its range in order; an untraced launch, or one
 * that was not selected for recording, touches
 * nothing, since nothing is known.
 */
#include "kernel_fill.h"
#include "kernel_shape.h"
#include "simulation.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>

#define LATE_MOST_NS 2000 /* how far ahead of the clock a group begins a run of touches at most */
#define RUNS_AHEAD   8	  /* that are looked at before they are touched */

struct kernel;

struct slot { /* of a group in flight */
	struct um_group_cursor *cursor;
	struct um_access_run run;
	uint32_t touched; /* of run.count */
	bool busy, has_run;
	um_ns late_ns;		   /* what its touches took since it last waited */
	uint32_t reading, writing; /* touches aside */
	bool resume_due, catching_up;
};

/* A touch that waits while its group may go on; its slot has room for `asides` of them. */
struct touch_aside {
	um_alloc_id allocation;
	um_page page;
	bool write;
	bool in_use;
	bool again;   /* it has faulted before */
	bool arrives; /* it was made, and waits for the page's data */
};

/* The allocation that the last run is of; 0: none. It outlives the kernel. */
struct run_on {
	um_alloc_id allocation;
	um_page pages;
	bool is_managed;
	struct um_machine_own_pages own;
};

struct kernel {
	struct um_simulation_state *state;
	struct um_task *task;
	uint32_t op;
	um_device_id device;
	struct um_groups *groups; /* NULL: a fill or nothing */
	bool fill_waits;	  /* the fill's one group has not started */
	struct um_kernel_fill fill;
	struct slot *slots;
	uint32_t slot_count, busy_slots;
	struct um_kernel_shape shape;
	uint32_t asides;	   /* reads_most and writes_most; 0: a group waits for each touch */
	struct touch_aside *aside; /* of all slots */
	um_ns began;
	um_ns compute_ns;
	um_ns atomics_ns; /* after all else */
	um_ns ends_at;	  /* once all groups have ended */
	um_ns stopped_ns; /* of the device's queues, as far as ends_at counts it */
	struct um_remote_tally remote;
	bool tells_touches; /* to the probe */
	struct run_on run_on;
};

static void free_kernel(struct kernel *kernel)
{
	for (uint32_t i = 0; kernel->slots && i < kernel->slot_count; i++)
		um_group_close(kernel->slots[i].cursor);
	free(kernel->slots);
	free(kernel->aside);
	um_groups_close(kernel->groups);
	um_remote_tally_fini(&kernel->remote);
	free(kernel);
}

static void abandon_kernel(struct um_task *task)
{
	free_kernel(task->work);
}

/* --- the end --- */

/* What the device's queues were stopped for since the last call. */
static um_ns newly_stopped_ns(struct kernel *kernel)
{
	um_ns all = um_machine_stopped_ns(kernel->state->machine, kernel->device);
	um_ns new = all - kernel->stopped_ns;

	kernel->stopped_ns = all;
	return new;
}

static int tell_driver(struct kernel *kernel)
{
	struct um_driver *driver = kernel->state->driver;
	struct um_launch launch = {kernel->device, kernel->op};

	return driver->ops->on_kernel_end ? driver->ops->on_kernel_end(driver, &launch) : 0;
}

static int kernel_done(void *context, uint64_t argument)
{
	struct kernel *kernel = context;
	struct um_task *task = kernel->task;
	struct um_simulation_state *state = kernel->state;
	int error;

	(void)argument;
	if (um_machine_is_stopped(state->machine, kernel->device))
		return um_machine_when_resumed(state->machine, kernel->device, kernel_done, kernel,
					       0);
	kernel->ends_at += newly_stopped_ns(kernel);
	if (kernel->ends_at > um_engine_now(state->engine))
		return um_engine_schedule(state->engine, kernel->ends_at, kernel_done, kernel, 0);
	error = tell_driver(kernel);
	task->abandon = NULL;
	free_kernel(kernel);
	return error ? error : um_streams_done(state->streams, task);
}

static long page_rows(struct kernel *kernel, const struct um_page_access_row **rows)
{
	if (!kernel->remote.count &&
	    (!kernel->state->far_allocations || um_machine_spec(kernel->state->machine)->apu))
		return 0; /* nothing that the kernel can have touched is remote */
	if (!kernel->groups) {
		*rows = kernel->fill.rows;
		return kernel->fill.row_count;
	}
	return um_source_pages(kernel->state->source, kernel->op, rows);
}

static int finish(struct kernel *kernel)
{
	const struct um_page_access_row *rows;
	long count = page_rows(kernel, &rows);
	um_ns end = um_engine_now(kernel->state->engine), remote_end = 0;
	int error;

	if (count < 0)
		return (int)count;
	error = um_remote_tally_settle(&kernel->remote, kernel->state, rows, count, kernel->device,
				       kernel->began, &remote_end);
	if (error)
		return error;
	end = remote_end > end ? remote_end : end;
	kernel->ends_at = kernel->began + kernel->compute_ns + newly_stopped_ns(kernel);
	if (end > kernel->ends_at)
		kernel->ends_at = end;
	kernel->ends_at += kernel->atomics_ns;
	return um_engine_schedule(kernel->state->engine, kernel->ends_at, kernel_done, kernel, 0);
}

/* --- groups --- */

/* Puts the next group into the slot; it stays idle if there is none. */
static int next_group(struct kernel *kernel, struct slot *slot)
{
	int error = 0;

	slot->busy = slot->has_run = false;
	if (kernel->fill_waits) {
		kernel->fill_waits = false;
		slot->run = kernel->fill.run;
		slot->touched = 0;
		slot->busy = slot->has_run = true;
	} else if (kernel->groups) {
		slot->cursor = um_groups_next(kernel->groups, &error);
		slot->busy = slot->cursor;
	}
	return error;
}

/* The run is of another allocation than the one before. */
static int come_to(struct kernel *kernel, const struct um_access_run *run)
{
	struct um_machine *machine = kernel->state->machine;
	int error = um_simulation_ensure(kernel->state, run->allocation, kernel->op);

	if (error)
		return error;
	kernel->run_on = (struct run_on){
		.allocation = run->allocation,
		.pages = um_machine_pages(machine, run->allocation),
		.is_managed = um_machine_home(machine, run->allocation) == UM_HOME_MANAGED,
	};
	if (kernel->run_on.is_managed)
		kernel->run_on.own = um_machine_own_pages(machine, run->allocation, kernel->device);
	return 0;
}

static int check_run(struct kernel *kernel, const struct um_access_run *run)
{
	int64_t first = run->first_page;
	int64_t last = first + (int64_t)run->stride * ((int64_t)run->count - 1);
	int64_t pages;
	int error = kernel->run_on.allocation == run->allocation ? 0 : come_to(kernel, run);

	if (error)
		return error;
	pages = kernel->run_on.pages;
	if (first < pages && last >= 0 && last < pages)
		return 0;
	return um_fail(
		UM_EFORMAT, "op %u touches pages %lld to %lld of allocation %u, which has %lld",
		kernel->op, (long long)first, (long long)last, run->allocation, (long long)pages);
}

/* What the group touches a little later comes nearer to the processor until then. */
static void look_ahead(const struct kernel *kernel, const struct slot *slot)
{
	const struct um_access_run *run = um_group_ahead(slot->cursor, RUNS_AHEAD);
	struct um_driver *driver = kernel->state->driver;

	if (!run || run->allocation != kernel->run_on.allocation || !kernel->run_on.is_managed ||
	    run->first_page >= kernel->run_on.pages)
		return;
	um_machine_owns_ahead(&kernel->run_on.own, run->first_page);
	if (driver->ops->on_touch_ahead)
		driver->ops->on_touch_ahead(driver, run->allocation, run->first_page,
					    kernel->device);
}

/* The group's next run; has_run false at its end. */
static int next_run(struct kernel *kernel, struct slot *slot)
{
	const struct um_access_run *run;
	int error;

	slot->has_run = false;
	if (!slot->cursor)
		return 0;
	run = um_group_next(slot->cursor, &error);
	if (!run) {
		um_group_close(slot->cursor);
		slot->cursor = NULL;
		return error;
	}
	slot->run = *run;
	slot->touched = 0;
	slot->has_run = true;
	look_ahead(kernel, slot);
	return check_run(kernel, &slot->run);
}

static int run_slot(void *context, uint64_t index);

/* Groups come to the compute units in turn. */
static uint32_t client_of(const struct kernel *kernel, const struct slot *slot)
{
	uint32_t units = um_machine_spec(kernel->state->machine)->compute_units;

	return units ? (uint32_t)(slot - kernel->slots) % units : 0;
}

static struct um_fault fault_of(const struct kernel *kernel, const struct slot *slot,
				um_alloc_id allocation, um_page page, bool write)
{
	return (struct um_fault){
		.device = kernel->device,
		.allocation = allocation,
		.client = client_of(kernel, slot),
		.page = page,
		.pages_ahead = 1,
		.waves = kernel->shape.waves,
		.late_ns = slot->late_ns,
		.access = write ? UM_FAULT_WRITE : UM_FAULT_READ,
		.op = kernel->op,
	};
}

static int wait_for_fault(struct kernel *kernel, struct slot *slot, um_page page)
{
	struct um_fault fault = fault_of(kernel, slot, slot->run.allocation, page, slot->run.write);

	slot->late_ns = 0;
	if (slot->run.stride == 1)
		fault.pages_ahead = slot->run.count - slot->touched;
	return um_fault_buffers_raise(kernel->state->faults, &fault, run_slot, kernel,
				      (uint64_t)(slot - kernel->slots));
}

/* `range` can be accessed now. *ready: when its last page is there; 0: it is. */
static int access_pages(struct kernel *kernel, const struct um_page_range *range, bool write,
			uint32_t place, enum um_mapping_state map, um_ns *ready)
{
	struct um_simulation_state *state = kernel->state;
	int error = 0;

	*ready = 0;
	if (kernel->tells_touches)
		um_probe_touch(state->probe, range->allocation, range->first_page, range->pages);
	if (!(place & UM_PAGE_POPULATED))
		um_machine_touch(state->machine, range, kernel->device, write, kernel->op);
	if (map == UM_MAP_REMOTE && !um_machine_spec(state->machine)->apu)
		error = um_remote_tally_add(&kernel->remote, state->machine, range);
	else
		*ready = um_machine_ready_at(state->machine, range, kernel->device);
	if (state->driver->ops->on_touch)
		state->driver->ops->on_touch(state->driver, range, kernel->device, write);
	return error;
}

static bool is_allowed(enum um_mapping_state map, bool write)
{
	return map != UM_MAP_NONE && !(map == UM_MAP_LOCAL_READ && write);
}

/* --- touches aside --- */

static bool is_full(const struct kernel *kernel, const struct slot *slot)
{
	return kernel->asides && (slot->reading >= kernel->shape.reads_most ||
				  slot->writing >= kernel->shape.writes_most);
}

static int resume_slot(void *context, uint64_t index)
{
	struct kernel *kernel = context;
	struct slot *slot = &kernel->slots[index];

	slot->resume_due = false;
	if (slot->catching_up)
		return 0;
	slot->late_ns = 0;
	return run_slot(kernel, index);
}

/* The touch is over; its group goes on when all that end at this instant have ended. */
static int end_aside(struct kernel *kernel, uint64_t index, struct touch_aside *touch)
{
	struct slot *slot = &kernel->slots[index];

	touch->in_use = false;
	if (touch->write)
		slot->writing--;
	else
		slot->reading--;
	if (slot->resume_due)
		return 0;
	slot->resume_due = true;
	return um_engine_schedule(kernel->state->engine, um_engine_now(kernel->state->engine),
				  resume_slot, kernel, index);
}

static int try_aside(void *context, uint64_t argument)
{
	struct kernel *kernel = context;
	struct touch_aside *touch = &kernel->aside[argument];
	uint64_t index = argument / kernel->asides;
	struct um_page_range range = {touch->allocation, touch->page, 1};
	enum um_mapping_state map;
	uint32_t place;
	um_ns ready;
	int error;

	if (touch->arrives)
		return end_aside(kernel, index, touch);
	um_machine_run_end(kernel->state->machine, touch->allocation, touch->page, touch->page + 1,
			   kernel->device, &place, &map);
	if (!is_allowed(map, touch->write)) {
		struct um_fault fault = fault_of(kernel, &kernel->slots[index], touch->allocation,
						 touch->page, touch->write);

		if (touch->again)
			fault.late_ns = 0;
		touch->again = true;
		return um_fault_buffers_raise(kernel->state->faults, &fault, try_aside, kernel,
					      argument);
	}
	error = access_pages(kernel, &range, touch->write, place, map, &ready);
	if (error || !ready)
		return error ? error : end_aside(kernel, index, touch);
	touch->arrives = true;
	return um_engine_schedule(kernel->state->engine, ready, try_aside, kernel, argument);
}

/* The page's touch waits, and its group goes on. `ready`: it was made, and has its data then. */
static int put_aside(struct kernel *kernel, struct slot *slot, um_page page, um_ns ready)
{
	uint64_t first = (uint64_t)(slot - kernel->slots) * kernel->asides, at = first;

	while (kernel->aside[at].in_use)
		at++;
	assert(at < first + kernel->asides);
	kernel->aside[at] = (struct touch_aside){.allocation = slot->run.allocation,
						 .page = page,
						 .write = slot->run.write,
						 .in_use = true,
						 .arrives = ready > 0};
	if (slot->run.write)
		slot->writing++;
	else
		slot->reading++;
	return ready ? um_engine_schedule(kernel->state->engine, ready, try_aside, kernel, at)
		     : try_aside(kernel, at);
}

/* --- touches in order --- */

static int wait_for_queues(struct kernel *kernel, struct slot *slot)
{
	return um_machine_when_resumed(kernel->state->machine, kernel->device, run_slot, kernel,
				       (uint64_t)(slot - kernel->slots));
}

static void have_touched(const struct kernel *kernel, struct slot *slot, uint32_t pages)
{
	slot->touched += pages;
	slot->late_ns += pages * (slot->run.write ? kernel->shape.write_ns : kernel->shape.read_ns);
}

/* The page is the device's own, and there. */
static void touch_own_page(struct kernel *kernel, struct slot *slot, um_page page)
{
	struct um_driver *driver = kernel->state->driver;
	struct um_page_range range = {slot->run.allocation, page, 1};

	if (kernel->tells_touches)
		um_probe_touch(kernel->state->probe, range.allocation, page, 1);
	if (driver->ops->on_touch)
		driver->ops->on_touch(driver, &range, kernel->device, slot->run.write);
	have_touched(kernel, slot, 1);
}

/*
 * Touches single pages, one after another, as long as each is the device's own and nothing is under
 * way, which touches do not change: what most touches are costs a look at three bits.
 */
static int touch_own_pages(struct kernel *kernel, struct slot *slot)
{
	const struct um_access_run *run = &slot->run;
	int error = 0;

	if (!um_machine_is_calm(kernel->state->machine, kernel->device))
		return 0;
	while (slot->has_run && !error && run->allocation == kernel->run_on.allocation &&
	       kernel->run_on.is_managed && slot->late_ns < LATE_MOST_NS) {
		um_page page = (um_page)(run->first_page + (int64_t)run->stride * slot->touched);

		if (run->stride == 1 && run->count - slot->touched > 1)
			break; /* in one step */
		if (!um_machine_owns(&kernel->run_on.own, page))
			break;
		touch_own_page(kernel, slot, page);
		if (slot->touched == run->count)
			error = next_run(kernel, slot);
	}
	return error;
}

/* Touches what the run can touch in one step; *waits: an event will run the slot again. */
static int touch_managed(struct kernel *kernel, struct slot *slot, bool *waits)
{
	const struct um_access_run *run = &slot->run;
	um_page page = (um_page)(run->first_page + (int64_t)run->stride * slot->touched);
	um_page limit = run->stride == 1 ? page + (run->count - slot->touched) : page + 1;
	enum um_mapping_state map;
	uint32_t place;
	um_ns ready = 0;
	um_page end = um_machine_run_end(kernel->state->machine, run->allocation, page, limit,
					 kernel->device, &place, &map);
	struct um_page_range range = {run->allocation, page, end - page};
	int error;

	if (!is_allowed(map, run->write)) {
		*waits = !kernel->asides;
		if (!kernel->asides)
			return wait_for_fault(kernel, slot, page);
		slot->touched++;
		return put_aside(kernel, slot, page, 0);
	}
	error = access_pages(kernel, &range, run->write, place, map, &ready);
	have_touched(kernel, slot, range.pages);
	if (error || !ready)
		return error;
	if (kernel->asides)
		return put_aside(kernel, slot, page, ready);
	*waits = true;
	slot->late_ns = 0;
	return um_engine_schedule(kernel->state->engine, ready, run_slot, kernel,
				  (uint64_t)(slot - kernel->slots));
}

static int caught_up(void *context, uint64_t index)
{
	struct kernel *kernel = context;

	kernel->slots[index].catching_up = false;
	return run_slot(kernel, index);
}

/* The clock catches up with what the slot's touches took. */
static int catch_up(struct kernel *kernel, struct slot *slot)
{
	um_ns at = um_engine_now(kernel->state->engine) + slot->late_ns;

	slot->late_ns = 0;
	slot->catching_up = true;
	return um_engine_schedule(kernel->state->engine, at, caught_up, kernel,
				  (uint64_t)(slot - kernel->slots));
}

/* Runs the slot's groups until one waits or there are no more. */
static int run_slot(void *context, uint64_t index)
{
	struct kernel *kernel = context;
	struct slot *slot = &kernel->slots[index];
	bool waits = false;
	int error = 0;

	while (slot->busy && !waits && !error) {
		waits = um_machine_is_stopped(kernel->state->machine, kernel->device);
		if (waits) {
			error = wait_for_queues(kernel, slot);
			continue;
		}
		if (is_full(kernel, slot)) {
			waits = true;
			continue;
		}
		if (slot->late_ns >= LATE_MOST_NS) {
			waits = true;
			error = catch_up(kernel, slot);
			continue;
		}
		if (!slot->has_run) {
			error = next_run(kernel, slot);
			waits = !slot->has_run && (slot->reading || slot->writing);
			if (!error && !slot->has_run && !waits)
				error = next_group(kernel, slot);
			continue;
		}
		error = touch_own_pages(kernel, slot);
		if (error || !slot->has_run || slot->late_ns >= LATE_MOST_NS ||
		    um_machine_is_stopped(kernel->state->machine, kernel->device))
			continue;
		if (um_machine_home(kernel->state->machine, slot->run.allocation) ==
		    UM_HOME_MANAGED)
			error = touch_managed(kernel, slot, &waits);
		else /* on the device, or counted by page at the end */
			slot->touched = slot->run.count;
		if (slot->touched == slot->run.count)
			slot->has_run = false;
	}
	if (!error && !waits && slot->late_ns) {
		waits = true;
		error = catch_up(kernel, slot);
	}
	if (error || waits)
		return error;
	assert(kernel->busy_slots > 0);
	return --kernel->busy_slots ? 0 : finish(kernel);
}

/* --- the beginning --- */

static int begin(void *context, uint64_t argument)
{
	struct kernel *kernel = context;
	uint32_t slots = kernel->slot_count;
	int error = 0;

	(void)argument;
	if (um_machine_is_stopped(kernel->state->machine, kernel->device))
		return um_machine_when_resumed(kernel->state->machine, kernel->device, begin,
					       kernel, 0);
	newly_stopped_ns(kernel);
	kernel->began = um_engine_now(kernel->state->engine);
	kernel->busy_slots = 1; /* this function, so that no early group ends the kernel */
	for (uint32_t i = 0; i < slots && !error; i++) {
		error = next_group(kernel, &kernel->slots[i]);
		if (error || !kernel->slots[i].busy)
			break;
		kernel->busy_slots++;
		error = run_slot(kernel, i);
	}
	if (error)
		return error;
	return --kernel->busy_slots ? 0 : finish(kernel);
}

static int prepare_launch(struct kernel *kernel)
{
	struct um_simulation_state *state = kernel->state;
	const struct um_kernel_row *row;
	int error;

	if (kernel->task->op.flags & UM_OP_UNSELECTED)
		return 0; /* as it was asked for: whoever shows it says so */
	if (kernel->task->op.flags & UM_OP_UNTRACED) {
		um_ignore(state, "untraced launches",
			  "their accesses are unknown: they touch nothing here");
		return 0;
	}
	row = um_source_kernel(state->source, kernel->op);
	if (!row)
		return um_fail(UM_EFORMAT, "op %u is a launch without a row in `kernel`",
			       kernel->op);
	kernel->slot_count = um_kernel_groups_in_flight(um_machine_spec(state->machine), row);
	kernel->compute_ns = um_kernel_compute_ns(state, row);
	error = um_groups_open(&kernel->groups, state->source, kernel->op);
	if (error)
		return error;
	/* Nobody counts in what was imported, and accesses may be there for all that. */
	if (row->reads == UM_NULL && um_groups_touches(kernel->groups) == 0)
		um_ignore(
			state, "launches of which no accesses are known",
			"they never ended, or nothing tells what they touched: they touch nothing "
			"here");
	um_kernel_shape(&kernel->shape, state, row, kernel->groups);
	if (kernel->shape.writes_most > 1)
		kernel->asides = kernel->shape.reads_most + kernel->shape.writes_most;
	return um_kernel_atomics_ns(state, row, &kernel->atomics_ns);
}

static int prepare_fill(struct kernel *kernel)
{
	const struct um_op_row *op = &kernel->task->op;
	struct um_page_range range;
	int error;

	if (op->allocation == UM_NULL || op->allocation == 0)
		return 0; /* memory that HIP does not know */
	error = um_simulation_ensure(kernel->state, op->allocation, op->op);
	if (error)
		return error;
	range = um_simulation_pages(kernel->state, op->allocation, op->offset_bytes, op->bytes);
	kernel->slot_count = 1;
	kernel->compute_ns = um_kernel_fill_ns(kernel->state, op->bytes);
	if (!range.pages)
		return 0;
	um_kernel_fill(&kernel->fill, op, &range);
	kernel->fill_waits = true;
	return 0;
}

static int begin_later(struct kernel *kernel)
{
	struct um_simulation_state *state = kernel->state;
	struct um_driver *driver = state->driver;
	struct um_launch launch = {kernel->device, kernel->op};
	um_ns start_at = kernel->task->start + um_machine_spec(state->machine)->launch_ns;
	int error = 0;

	if (driver->ops->on_launch)
		error = driver->ops->on_launch(driver, &launch, &start_at);
	return error ? error : um_engine_schedule(state->engine, start_at, begin, kernel, 0);
}

int um_kernel_start(struct um_task *task)
{
	struct um_simulation_state *state = task->state;
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	bool is_launch = um_word_code(um_op_words, task->op.kind) == UM_OP_LAUNCH;
	int error;

	if (!kernel)
		return um_fail(UM_ENOMEM, "no memory for a kernel");
	task->work = kernel;
	task->abandon = abandon_kernel;
	kernel->state = state;
	kernel->task = task;
	kernel->op = (uint32_t)task->op.op;
	kernel->tells_touches = um_probe_wants_touches(state->probe);
	kernel->device = um_simulation_device(state, &task->op);
	error = is_launch ? prepare_launch(kernel) : prepare_fill(kernel);
	if (error)
		return error;
	kernel->slots = calloc(kernel->slot_count + 1, sizeof(*kernel->slots));
	if (kernel->asides)
		kernel->aside =
			calloc((size_t)kernel->slot_count * kernel->asides, sizeof(*kernel->aside));
	if (!kernel->slots || (kernel->asides && !kernel->aside))
		return um_fail(UM_ENOMEM, "no memory for %u groups in flight", kernel->slot_count);
	return begin_later(kernel);
}
