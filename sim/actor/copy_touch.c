/*
 * A copy that faults: it goes on when the device has mapped the managed pages that it reads and
 * writes. Pages that are not mapped are touched SIDE_BY_SIDE, each waited for by itself, in no order
 * within WINDOW_PAGES of each other.
 *
 * That copies fault at all, whatever cudaMemcpyKind says, and what moves for it, is measured: an H200
 * (driver 580.159) took copies of 8 MiB and of 4 KiB between managed memory, on the host, on the device
 * or untouched, and pageable, pinned and device memory. The two figures are estimates: with them 8 MiB
 * that the host has come in 384 records and 8 batches, there in 170 to 750 and 5 to 10.
 */
#include "copy_touch.h"

#include <stdlib.h>

#define SIDE_BY_SIDE 24u
#define WINDOW_PAGES 256u
#define STRIDE	     97u /* odd, so that it takes each page of a window once */

struct side {
	struct um_page_range range;
	bool write;
	um_page taken; /* how many have been looked at */
};

struct touch {
	unsigned side;
	um_page page;
};

struct um_copy_touch {
	struct um_simulation_state *state;
	um_device_id device;
	uint32_t op;
	um_event_fn done;
	void *context;
	struct side sides[UM_COPY_SIDES];
	struct touch touches[SIDE_BY_SIDE];
	uint32_t waiting;
};

/* The first page at or behind `page`, and before `end`, that would fault; `end`: none. */
static um_page next_fault(const struct um_copy_touch *touch, const struct side *side, um_page page,
			  um_page end)
{
	while (page < end) {
		enum um_mapping_state map;
		uint32_t place;
		um_page next = um_machine_run_end(touch->state->machine, side->range.allocation,
						  page, end, touch->device, &place, &map);

		if (map == UM_MAP_NONE || (map == UM_MAP_LOCAL_READ && side->write))
			return page;
		page = next;
	}
	return end;
}

static bool faults(const struct um_copy_touch *touch, const struct side *side, um_page page)
{
	return next_fault(touch, side, page, page + 1) == page;
}

/* The n-th page in the order of touching. */
static um_page page_of(const struct side *side, um_page n)
{
	um_page window = n / WINDOW_PAGES * WINDOW_PAGES, rest = n % WINDOW_PAGES;
	bool is_whole = side->range.pages - window >= WINDOW_PAGES;

	return side->range.first_page + window + (is_whole ? rest * STRIDE % WINDOW_PAGES : rest);
}

/* The next page of either side that would fault; false: there is none. */
static bool take_next(struct um_copy_touch *touch, struct touch *next)
{
	for (unsigned i = 0; i < UM_COPY_SIDES; i++) {
		struct side *side = &touch->sides[i];

		while (side->taken < side->range.pages) {
			um_page page = page_of(side, side->taken++);

			if (faults(touch, side, page)) {
				*next = (struct touch){i, page};
				return true;
			}
		}
	}
	return false;
}

static int touch_again(void *context, uint64_t slot);

static int raise_fault(struct um_copy_touch *touch, uint32_t slot)
{
	const struct touch *at = &touch->touches[slot];
	const struct side *side = &touch->sides[at->side];
	struct um_fault fault = {
		.device = touch->device,
		.client = slot % um_machine_spec(touch->state->machine)->compute_units,
		.allocation = side->range.allocation,
		.page = at->page,
		.pages_ahead = 1,
		.access = side->write ? UM_FAULT_WRITE : UM_FAULT_READ,
		.op = touch->op,
	};

	return um_fault_buffers_raise(touch->state->faults, &fault, touch_again, touch, slot);
}

static int finish(struct um_copy_touch *touch)
{
	return touch->done(touch->context, 0);
}

/* The access of that slot tries again. */
static int touch_again(void *context, uint64_t slot)
{
	struct um_copy_touch *touch = context;
	const struct touch *at = &touch->touches[slot];

	if (faults(touch, &touch->sides[at->side], at->page) ||
	    take_next(touch, &touch->touches[slot]))
		return raise_fault(touch, (uint32_t)slot);
	return --touch->waiting ? 0 : finish(touch);
}

static bool has_faults(const struct um_copy_touch *touch)
{
	for (unsigned i = 0; i < UM_COPY_SIDES; i++) {
		const struct um_page_range *range = &touch->sides[i].range;
		um_page end = range->first_page + range->pages;

		if (next_fault(touch, &touch->sides[i], range->first_page, end) < end)
			return true;
	}
	return false;
}

int um_copy_touch_start(struct um_copy_touch **out, const struct um_copy_touch_request *request)
{
	struct um_copy_touch *touch = calloc(1, sizeof(*touch));
	int error = 0;

	*out = touch;
	if (!touch)
		return um_fail(UM_ENOMEM, "no memory for a copy");
	touch->state = request->state;
	touch->device = request->device;
	touch->op = request->op;
	touch->done = request->done;
	touch->context = request->context;
	touch->sides[UM_COPY_SOURCE].range = request->pages[UM_COPY_SOURCE];
	touch->sides[UM_COPY_TARGET].range = request->pages[UM_COPY_TARGET];
	touch->sides[UM_COPY_TARGET].write = true;
	if (!has_faults(touch))
		return finish(touch);
	for (uint32_t slot = 0; slot < SIDE_BY_SIDE && !error; slot++) {
		if (!take_next(touch, &touch->touches[slot]))
			break;
		touch->waiting++;
		error = raise_fault(touch, slot);
	}
	return error;
}

void um_copy_touch_destroy(struct um_copy_touch *touch)
{
	free(touch);
}
