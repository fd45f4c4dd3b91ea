#include "calibrate_batches.h"

#include "trace/base/error.h"

#include <stdlib.h>

#define BLOCK_PAGES 512
#define PAGE_BYTES  4096
/* The host's next fault comes of what it does after this one, not after something else. */
#define HOST_APART_NS 2000000

static bool is_fault_move(const struct um_measured_move *move, enum um_cause fault)
{
	return move->cause == fault || move->cause == UM_CAUSE_DRIVER_PREFETCH ||
	       move->cause == UM_CAUSE_DUPLICATE;
}

/* --- transfers --- */

int um_calibrate_transfers(struct um_samples *samples, const struct um_measured *measured,
			   bool to_device)
{
	int error = 0;

	samples->terms = UM_TRANSFER_TERMS;
	for (size_t i = 0; i < measured->move_count && !error; i++) {
		const struct um_measured_move *move = &measured->moves[i];
		const struct um_sample sample = {
			.terms = {1, (double)move->bytes},
			.value_ns = (double)(move->end_ns - move->start_ns),
		};

		if (move->to_device == to_device && sample.value_ns > 0)
			error = um_samples_add(samples, &sample);
	}
	return error;
}

/* --- blocks that a configuration has seen --- */

struct block {
	int64_t allocation, number;
};
struct blocks {
	struct block *at;
	size_t count;
};

/* *is_new: it was not in there. */
static int add_block(struct blocks *blocks, int64_t allocation, int64_t page, bool *is_new)
{
	struct block block = {allocation, page == UM_NULL ? 0 : page / BLOCK_PAGES};
	struct block *grown;

	*is_new = false;
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->at[i].allocation == block.allocation &&
		    blocks->at[i].number == block.number)
			return 0;
	grown = reallocarray(blocks->at, blocks->count + 1, sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu blocks", blocks->count);
	blocks->at = grown;
	grown[blocks->count++] = block;
	*is_new = true;
	return 0;
}

/* --- batches --- */

struct walk {
	const struct um_measured *measured;
	const double *to_device_ns;
	const struct um_measured_range *range;
	size_t move, map;     /* the first that no batch before has */
	struct blocks seen;   /* by the device, in this configuration */
	struct blocks served; /* of one batch */
	int64_t idle_since_ns;
};

static bool is_read_mostly(const struct um_measured *measured, int64_t allocation)
{
	for (size_t i = 0; i < measured->read_mostly_count; i++)
		if (measured->read_mostly[i] == allocation)
			return true;
	return false;
}

/* Whether the host touched the allocation before. */
static bool has_host_data(const struct um_measured *measured, int64_t allocation, int64_t before_ns)
{
	for (size_t i = 0;
	     i < measured->host_fault_count && measured->host_faults[i].start_ns < before_ns; i++)
		if (measured->host_faults[i].allocation == allocation)
			return true;
	return false;
}

static int add_place(struct walk *walk, struct um_sample *sample, int64_t allocation, int64_t page,
		     bool unmaps)
{
	bool is_new;
	int error = add_block(&walk->seen, allocation, page, &is_new);

	sample->terms[UM_BATCH_TERM_NEW_BLOCK] += is_new;
	if (!error)
		error = add_block(&walk->served, allocation, page, &is_new);
	if (!error && is_new) {
		sample->terms[UM_BATCH_TERM_BLOCK]++;
		sample->terms[UM_BATCH_TERM_UNMAP] += unmaps;
	}
	return error;
}

static int add_move(struct walk *walk, struct um_sample *sample,
		    const struct um_measured_move *move)
{
	bool along = move->cause == UM_CAUSE_DRIVER_PREFETCH;

	sample->terms[along ? UM_BATCH_TERM_PREFETCHED : UM_BATCH_TERM_PAGE] += (double)move->pages;
	sample->fixed_ns += walk->to_device_ns[UM_TRANSFER_TERM_EACH] +
			    walk->to_device_ns[UM_TRANSFER_TERM_BYTE] * (double)move->bytes;
	return add_place(walk, sample, move->allocation, move->first_page,
			 !is_read_mostly(walk->measured, move->allocation));
}

static int add_map(struct walk *walk, struct um_sample *sample, const struct um_measured_map *map)
{
	bool is_new;
	int error = add_block(&walk->served, map->allocation, map->first_page, &is_new);

	sample->terms[UM_BATCH_TERM_BLOCK] += is_new;
	sample->terms[UM_BATCH_TERM_MAP]++;
	if (has_host_data(walk->measured, map->allocation, map->at_ns))
		sample->terms[UM_BATCH_TERM_PAGE] += (double)map->pages;
	else
		sample->terms[UM_BATCH_TERM_HOST_BLOCK] += (double)map->pages / BLOCK_PAGES;
	return error;
}

/* What moved and was mapped from `start_ns` on and before `end_ns`. */
static int add_contents(struct walk *walk, struct um_sample *sample, int64_t start_ns,
			int64_t end_ns)
{
	const struct um_measured *measured = walk->measured;
	int error = 0;

	walk->served.count = 0;
	for (; walk->move < measured->move_count && measured->moves[walk->move].start_ns < end_ns;
	     walk->move++) {
		const struct um_measured_move *move = &measured->moves[walk->move];

		if (move->start_ns >= start_ns && move->to_device &&
		    is_fault_move(move, UM_CAUSE_DEVICE_FAULT) && !error)
			error = add_move(walk, sample, move);
	}
	for (; walk->map < measured->map_count && measured->maps[walk->map].at_ns < end_ns;
	     walk->map++)
		if (measured->maps[walk->map].at_ns >= start_ns && !error)
			error = add_map(walk, sample, &measured->maps[walk->map]);
	return error;
}

static void add_idleness(const struct walk *walk, struct um_sample *sample, int64_t start_ns)
{
	bool is_first = walk->idle_since_ns == UM_NULL;

	if (is_first || start_ns - walk->idle_since_ns > UM_WAKE_AFTER_NS)
		sample->terms[UM_BATCH_TERM_WAKE] = 1;
	else if (start_ns - walk->idle_since_ns > UM_IDLE_AFTER_NS)
		sample->terms[UM_BATCH_TERM_INTERRUPT] = 1;
}

static int add_batch(struct walk *walk, struct um_samples *samples,
		     const struct um_measured_fault *fault, const struct um_measured_fault *next)
{
	int64_t end_ns = fault->end_ns;
	struct um_sample sample = {.group = (size_t)(walk->range - walk->measured->ranges)};
	bool overlaps = next && next->start_ns < end_ns - UM_IDLE_AFTER_NS;
	int error;

	end_ns = next && next->start_ns < end_ns ? next->start_ns : end_ns;
	sample.value_ns = (double)(end_ns - fault->start_ns);
	sample.terms[UM_BATCH_TERM_BATCH] = 1;
	add_idleness(walk, &sample, fault->start_ns);
	error = add_contents(walk, &sample, fault->start_ns, end_ns);
	walk->idle_since_ns = end_ns;
	if (error || overlaps || walk->range->thrashes || sample.value_ns <= sample.fixed_ns ||
	    sample.terms[UM_BATCH_TERM_BLOCK] == 0)
		return error;
	return um_samples_add(samples, &sample);
}

static int walk_range(struct walk *walk, struct um_samples *samples, size_t *fault)
{
	const struct um_measured *measured = walk->measured;
	const struct um_measured_range *range = walk->range;
	int error = 0;

	walk->seen.count = 0;
	while (*fault < measured->fault_count &&
	       measured->faults[*fault].start_ns < range->start_ns)
		++*fault;
	while (*fault < measured->fault_count &&
	       measured->faults[*fault].start_ns <= range->end_ns && !error) {
		const struct um_measured_fault *at = &measured->faults[(*fault)++];
		const struct um_measured_fault *next =
			*fault < measured->fault_count ? at + 1 : NULL;

		error = add_batch(walk, samples, at, next);
	}
	return error;
}

int um_calibrate_batches(struct um_samples *samples, const struct um_measured *measured,
			 const double to_device_ns[UM_TRANSFER_TERMS])
{
	struct walk walk = {
		.measured = measured, .to_device_ns = to_device_ns, .idle_since_ns = UM_NULL};
	size_t fault = 0;
	int error = 0;

	samples->terms = UM_BATCH_TERMS;
	for (size_t i = 0; i < measured->range_count && !error; i++) {
		walk.range = &measured->ranges[i];
		error = walk_range(&walk, samples, &fault);
	}
	free(walk.seen.at);
	free(walk.served.at);
	return error;
}

/* --- the host --- */

/* *move: the first that no fault before has. */
static int add_host_fault(struct um_samples *samples, const struct um_measured *measured,
			  size_t number, size_t *move, const double *to_host_ns)
{
	const struct um_measured_fault *fault = &measured->host_faults[number];
	int64_t next_ns = measured->host_faults[number + 1].start_ns;
	struct um_sample sample = {.terms = {1}, .value_ns = (double)(next_ns - fault->start_ns)};

	for (; *move < measured->move_count && measured->moves[*move].start_ns < next_ns; ++*move) {
		const struct um_measured_move *at = &measured->moves[*move];

		if (at->start_ns < fault->start_ns || at->to_device ||
		    !is_fault_move(at, UM_CAUSE_HOST_FAULT))
			continue;
		sample.terms[UM_HOST_TERM_PAGE] += (double)at->pages;
		sample.fixed_ns += to_host_ns[UM_TRANSFER_TERM_EACH] +
				   to_host_ns[UM_TRANSFER_TERM_BYTE] * (double)at->bytes;
	}
	if (!sample.fixed_ns || sample.value_ns > HOST_APART_NS ||
	    sample.value_ns <= sample.fixed_ns)
		return 0;
	return um_samples_add(samples, &sample);
}

int um_calibrate_host_faults(struct um_samples *samples, const struct um_measured *measured,
			     const double to_host_ns[UM_TRANSFER_TERMS])
{
	size_t move = 0;
	int error = 0;

	samples->terms = UM_HOST_TERMS;
	for (size_t i = 0; i + 1 < measured->host_fault_count && !error; i++)
		error = add_host_fault(samples, measured, i, &move, to_host_ns);
	return error;
}

/* --- sums --- */

static bool is_in(const struct um_measured_range *range, int64_t at_ns)
{
	return range->start_ns <= at_ns && at_ns <= range->end_ns;
}

struct um_batch_sums um_calibrate_sums(const struct um_measured *measured,
				       const struct um_measured_range *range)
{
	struct um_batch_sums sums = {0, 0, 0};

	for (size_t i = 0; i < measured->move_count; i++) {
		const struct um_measured_move *move = &measured->moves[i];

		if (!is_in(range, move->start_ns))
			continue;
		sums.transfers += move->to_device;
		sums.cpu_faults += move->cause == UM_CAUSE_HOST_FAULT;
		if (move->to_device && move->cause == UM_CAUSE_DEVICE_FAULT)
			sums.pages += (double)move->pages;
	}
	return sums;
}
