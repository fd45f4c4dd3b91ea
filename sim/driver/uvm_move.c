/* nvidia_uvm: pages go where they are to be (R14 to R16). */
#include "uvm.h"

/* --- what the machine is told --- */

struct step {
	struct uvm_move *move;
	um_device_id to;
	struct um_why why;
	bool duplicates;
};

static int send_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	struct step *step = context;
	struct uvm_move *move = step->move;
	struct um_machine *machine = move->uvm->machine;
	um_ns end;
	int error;

	if (index)
		um_machine_join_next(machine);
	error = (step->duplicates ? um_machine_duplicate : um_machine_migrate)(
		machine, range, step->to, &step->why, move->at, &end);
	move->end = uvm_later(move->end, end);
	return error;
}

/* One record: a run of one source and cause. */
static int send_run(struct uvm_move *move, um_device_id to, struct uvm_region run, bool prefetched,
		    bool duplicates)
{
	struct step step = {.move = move,
			    .to = to,
			    .why = {.cause = duplicates	  ? UM_CAUSE_DUPLICATE
					     : prefetched ? UM_CAUSE_DRIVER_PREFETCH
							  : move->cause,
				    .op = move->op,
				    .batch = move->batch},
			    .duplicates = duplicates};
	int error = um_uvm_for_each_piece(move->uvm, move->block->window, run, send_piece, &step);
	bool is_fault = move->cause == UM_CAUSE_DEVICE_FAULT ||
			move->cause == UM_CAUSE_HOST_FAULT ||
			move->cause == UM_CAUSE_ACCESS_COUNTER;

	if (error || to != move->to || move->cause == UM_CAUSE_EVICTION)
		return error;
	if (is_fault && !duplicates && !uvm_is_read_mostly(move->block))
		return um_uvm_thrash_moved(move->uvm, move->block, to, run, prefetched, move->op,
					   move->at);
	um_uvm_thrash_reset(move->uvm, move->block, run, move->at);
	return 0;
}

/* Cut where the cause changes. */
static int send_pages(struct uvm_move *move, um_device_id to, const struct uvm_mask *pages,
		      bool duplicates)
{
	struct uvm_region run = {0, 0};
	int error = 0;

	while (!error && uvm_next_run(pages, run.end, &run)) {
		bool along = move->prefetched && uvm_has(move->prefetched, run.first);

		if (move->prefetched) {
			uint32_t change = uvm_find(move->prefetched, run.first, !along);

			run.end = change < run.end ? change : run.end;
		}
		error = send_run(move, to, run, along, duplicates);
	}
	return error;
}

static int make_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	struct step *step = context;
	struct um_machine *machine = step->move->uvm->machine;
	int error = um_machine_populate(machine, range, step->to, &step->why);

	(void)index;
	if (!error)
		um_machine_fill(machine, range, step->to, step->why.op);
	return error;
}

/* Pages that are nowhere (R15). */
static int make_pages(struct uvm_move *move, const struct uvm_mask *pages)
{
	struct step step = {.move = move,
			    .to = move->to,
			    .why = {.cause = move->cause, .op = move->op, .batch = move->batch}};
	struct uvm_region run = {0, 0};
	int error = 0;

	while (!error && uvm_next_run(pages, run.end, &run))
		error = um_uvm_for_each_piece(move->uvm, move->block->window, run, make_piece,
					      &step);
	return error;
}

/* --- what it means for the window --- */

static struct uvm_place *place_in(const struct uvm_move *move, um_device_id device)
{
	return &move->block->window->place[uvm_place_of(device)];
}

static struct uvm_mask anywhere(const struct uvm_move *move)
{
	struct uvm_mask all = {{0}};

	for (um_device_id i = UM_HOST; i < move->uvm->devices; i++)
		uvm_add(&all, &place_in(move, i)->resident);
	return all;
}

static int get_memory(struct uvm_move *move)
{
	struct uvm *uvm = move->uvm;
	struct uvm_window *window = move->block->window;
	bool has_it = move->to == UM_HOST || window->has_memory & uvm_bit(move->to);
	int error;

	if (move->to == UM_HOST)
		return 0;
	error = um_uvm_take_memory(uvm, window, move->to, move->op, &move->at);
	if (!has_it)
		move->at += uvm->costs.new_block_ns;
	move->end = uvm_later(move->end, move->at);
	return error;
}

static void add_unmap_time(struct uvm_move *move, const struct uvm_mask *missing)
{
	struct uvm_mask mapped = uvm_and(*missing, &place_in(move, UM_HOST)->mapped);

	if (move->to != UM_HOST && !uvm_is_empty(&mapped))
		move->at += move->uvm->costs.unmap_ns;
}

/* Pages that `to` lacks, by source: the host first, then the devices (those through the host). */
static int send_missing(struct uvm_move *move, struct uvm_mask missing, bool duplicates)
{
	int error = 0;

	for (um_device_id from = UM_HOST; from < move->uvm->devices && !error; from++) {
		struct uvm_mask there = uvm_and(missing, &place_in(move, from)->resident);

		if (uvm_is_empty(&there))
			continue;
		if (duplicates && from != UM_HOST && move->to != UM_HOST) {
			error = send_pages(move, UM_HOST, &there, true);
			uvm_add(&place_in(move, UM_HOST)->resident, &there);
		}
		if (!error)
			error = send_pages(move, move->to, &there, duplicates);
		uvm_remove(&missing, &there);
	}
	return error;
}

/* Only `to` has the pages now, and of those that came nobody has a mapping. */
static void settle_move(struct uvm_move *move, const struct uvm_mask *pages,
			const struct uvm_mask *came)
{
	struct uvm_place *here = place_in(move, move->to);

	for (um_device_id i = UM_HOST; i < move->uvm->devices; i++) {
		struct uvm_place *place = place_in(move, i);

		if (i == move->to)
			continue;
		uvm_remove(&place->resident, pages);
		uvm_remove(&place->mapped, came);
		uvm_remove(&place->writable, came);
		um_uvm_note_left(move->uvm, move->block->window, i);
	}
	uvm_remove(&here->mapped, came);
	uvm_remove(&here->writable, came);
	uvm_add(&here->resident, pages);
	uvm_remove(&move->block->window->duplicated, pages);
}

/* With memory at `to`; *missing: pages that it lacks. */
static int begin_step(struct uvm_move *move, const struct uvm_mask *pages, struct uvm_mask *missing)
{
	int error = get_memory(move);

	*missing = uvm_and_not(*pages, &place_in(move, move->to)->resident);
	add_unmap_time(move, missing);
	move->end = uvm_later(move->end, move->at);
	return error;
}

/* Of a block as long as that takes, if a device's fault is why. */
static void add_host_block_time(struct uvm_move *move, const struct uvm_mask *fresh)
{
	if (move->to != UM_HOST || move->cause != UM_CAUSE_DEVICE_FAULT)
		return;
	move->at += move->uvm->costs.host_block_ns * uvm_count(fresh) / UVM_WINDOW_PAGES;
	move->end = uvm_later(move->end, move->at);
}

/* Pages that are nowhere are made and leave `missing`, which is what has to be sent. */
static int make_fresh(struct uvm_move *move, struct uvm_mask *missing, struct uvm_mask *fresh)
{
	struct uvm_mask found = anywhere(move);

	*fresh = uvm_and_not(*missing, &found);
	uvm_remove(missing, fresh);
	add_host_block_time(move, fresh);
	return make_pages(move, fresh);
}

/* `to` has these; other copies, and their mappings, go. */
static int end_copies(struct uvm_move *move, const struct uvm_mask *pages)
{
	struct step step = {.move = move,
			    .to = move->to,
			    .why = {.cause = move->cause, .op = move->op, .batch = move->batch}};
	struct uvm_region run = {0, 0};
	int error = 0;

	while (!error && uvm_next_run(pages, run.end, &run))
		error = um_uvm_for_each_piece(move->uvm, move->block->window, run, send_piece,
					      &step);
	for (um_device_id i = UM_HOST; i < move->uvm->devices; i++)
		if (i != move->to) {
			uvm_remove(&place_in(move, i)->mapped, pages);
			uvm_remove(&place_in(move, i)->writable, pages);
		}
	return error;
}

int um_uvm_make_resident(struct uvm_move *move, const struct uvm_mask *pages)
{
	struct uvm_mask missing, fresh, came, shared;
	int error = begin_step(move, pages, &missing);

	if (!error)
		error = make_fresh(move, &missing, &fresh);
	if (!error)
		error = send_missing(move, missing, false);
	shared = uvm_and(*pages, &move->block->window->duplicated);
	uvm_remove(&shared, &missing);
	if (!error)
		error = end_copies(move, &shared);
	if (error)
		return error;
	came = uvm_or(missing, &fresh);
	settle_move(move, pages, &came);
	return um_uvm_used(move->uvm, move->block, move->to);
}

/* All that have the pages keep them mapped for reading only; who has not is unmapped. */
static int end_writing(struct uvm_move *move, const struct uvm_mask *pages)
{
	struct um_why why = {UM_CAUSE_DUPLICATE, move->op, move->batch};
	struct uvm_window *window = move->block->window;
	struct uvm_mask first = uvm_and_not(*pages, &window->duplicated);
	int error = 0;

	for (um_device_id i = UM_HOST; i < move->uvm->devices && !error; i++) {
		struct uvm_mask local = uvm_and(first, &place_in(move, i)->resident);
		struct uvm_mask remote = uvm_and_not(first, &place_in(move, i)->resident);

		error = um_uvm_unmap(move->uvm, window, i, &remote, &why);
		local = uvm_and(local, &place_in(move, i)->writable);
		if (!error)
			error = um_uvm_thrash_revoked(move->uvm, move->block, i, &local, move->op,
						      move->at);
		if (!error)
			error = um_uvm_revoke(move->uvm, window, i, &local, &why);
	}
	return error;
}

int um_uvm_duplicate(struct uvm_move *move, const struct uvm_mask *pages)
{
	struct uvm_mask missing, fresh;
	int error = begin_step(move, pages, &missing);

	if (!error)
		error = end_writing(move, pages);
	if (!error)
		error = make_fresh(move, &missing, &fresh);
	if (!error)
		error = send_missing(move, missing, true);
	if (error)
		return error;
	uvm_add(&place_in(move, move->to)->resident, pages);
	uvm_add(&move->block->window->duplicated, &missing);
	return um_uvm_used(move->uvm, move->block, move->to);
}
