/*
 * Fault order (fifo), which has no stack: a list of each memory's units, side by side. A hit at all
 * memories is one comparison of masks.
 */
#include "curve_model.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct link {
	uint32_t older, younger; /* `units` is the list's end */
};

struct fifo {
	struct um_curve_model base;
	const struct um_curve_units *units;
	const uint32_t *capacities;
	size_t count, words;	    /* memories, and words of a mask of them */
	uint64_t *here;		    /* a mask of memories, by unit */
	struct link **links;	    /* [memory][unit, and the end] */
	uint32_t *used;		    /* units, by memory */
	struct um_curve_sums *sums; /* by memory */
};

static void fifo_destroy(struct um_curve_model *model)
{
	struct fifo *fifo = (struct fifo *)model;

	if (!fifo)
		return;
	for (size_t i = 0; fifo->links && i < fifo->count; i++)
		free(fifo->links[i]);
	free(fifo->links);
	free(fifo->here);
	free(fifo->used);
	free(fifo->sums);
	free(fifo);
}

static int make_lists(struct fifo *fifo)
{
	uint32_t end = fifo->units->count;

	for (size_t i = 0; i < fifo->count; i++) {
		fifo->links[i] = malloc(((size_t)end + 1) * sizeof(struct link));
		if (!fifo->links[i])
			return UM_ENOMEM;
		fifo->links[i][end] = (struct link){end, end};
	}
	return 0;
}

static int fifo_create(struct um_curve_model **out, const struct um_curve_units *units,
		       const uint32_t *capacities, size_t count)
{
	struct fifo *fifo = calloc(1, sizeof(*fifo));

	if (!fifo)
		return um_fail(UM_ENOMEM, "no memory for lists of units");
	fifo->base.ops = &um_curve_fifo;
	fifo->units = units;
	fifo->capacities = capacities;
	fifo->count = count;
	fifo->words = (count + 63) / 64;
	fifo->here = calloc((size_t)units->count + 1, fifo->words * sizeof(*fifo->here));
	fifo->links = calloc(count + 1, sizeof(struct link *));
	fifo->used = calloc(count + 1, sizeof(*fifo->used));
	fifo->sums = calloc(count + 1, sizeof(*fifo->sums));
	if (!fifo->here || !fifo->links || !fifo->used || !fifo->sums || make_lists(fifo)) {
		fifo_destroy(&fifo->base);
		return um_fail(UM_ENOMEM, "no memory for %zu lists of %u units", count,
			       units->count);
	}
	*out = &fifo->base;
	return 0;
}

static void take_out(struct fifo *fifo, size_t memory, uint32_t unit)
{
	struct link *links = fifo->links[memory];

	links[links[unit].older].younger = links[unit].younger;
	links[links[unit].younger].older = links[unit].older;
	fifo->here[unit * fifo->words + memory / 64] &= ~(UINT64_C(1) << memory % 64);
	fifo->used[memory]--;
}

static void push_out_oldest(struct fifo *fifo, size_t memory)
{
	uint32_t oldest = fifo->links[memory][fifo->units->count].younger;

	take_out(fifo, memory, oldest);
	fifo->sums[memory].pages_out += fifo->units->pages[oldest];
}

static void bring(struct fifo *fifo, size_t memory, uint32_t unit)
{
	struct link *links = fifo->links[memory];
	uint32_t end = fifo->units->count;

	if (fifo->used[memory] == fifo->capacities[memory])
		push_out_oldest(fifo, memory);
	links[unit] = (struct link){links[end].older, end};
	links[links[end].older].younger = unit;
	links[end].older = unit;
	fifo->here[unit * fifo->words + memory / 64] |= UINT64_C(1) << memory % 64;
	fifo->used[memory]++;
	fifo->sums[memory].device_faults++;
	fifo->sums[memory].pages_in += fifo->units->pages[unit];
}

/* Bits of the memories that a word of a mask is of. */
static uint64_t memories_of_word(const struct fifo *fifo, size_t word)
{
	size_t left = fifo->count - word * 64;

	return left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
}

static int fifo_touch(struct um_curve_model *model, uint32_t unit)
{
	struct fifo *fifo = (struct fifo *)model;

	for (size_t word = 0; word < fifo->words; word++) {
		uint64_t missing =
			memories_of_word(fifo, word) & ~fifo->here[unit * fifo->words + word];

		for (; missing; missing &= missing - 1)
			bring(fifo, word * 64 + (unsigned)__builtin_ctzll(missing), unit);
	}
	return 0;
}

static int fifo_leave(struct um_curve_model *model, uint32_t unit, bool to_host)
{
	struct fifo *fifo = (struct fifo *)model;

	for (size_t memory = 0; memory < fifo->count; memory++) {
		if (!(fifo->here[unit * fifo->words + memory / 64] >> memory % 64 & 1))
			continue;
		take_out(fifo, memory, unit);
		fifo->sums[memory].host_faults += to_host;
		fifo->sums[memory].pages_out += to_host ? fifo->units->pages[unit] : 0;
	}
	return 0;
}

static int fifo_finish(struct um_curve_model *model, struct um_curve_sums *sums)
{
	const struct fifo *fifo = (const struct fifo *)model;

	for (size_t i = 0; i < fifo->count; i++) {
		sums[i].device_faults += fifo->sums[i].device_faults;
		sums[i].host_faults += fifo->sums[i].host_faults;
		sums[i].pages_in += fifo->sums[i].pages_in;
		sums[i].pages_out += fifo->sums[i].pages_out;
	}
	return 0;
}

const struct um_curve_model_ops um_curve_fifo = {
	.evict = "fifo",
	.bytes_a_unit_and_memory = sizeof(struct link),
	.create = fifo_create,
	.destroy = fifo_destroy,
	.touch = fifo_touch,
	.leave = fifo_leave,
	.finish = fifo_finish,
};
