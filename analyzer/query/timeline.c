#include "timeline.h"

#include "allocation_rank.h"
#include "trace/base/error.h"

#include <stdlib.h>

void um_timeline_init(struct um_timeline *timeline, const struct um_axis *axis,
		      const struct um_summary *summary)
{
	*timeline = (struct um_timeline){.axis = *axis};
	timeline->tracked_count =
		um_allocation_rank(summary, timeline->tracked, UM_TIMELINE_TRACKED);
}

void um_timeline_fini(struct um_timeline *timeline)
{
	for (size_t way = 0; way < UM_DIRECTIONS; way++)
		for (size_t cause = 0; cause < UM_TRAFFIC_CAUSES; cause++)
			um_bins_destroy(timeline->bytes[way][cause]);
	for (size_t i = 0; i < 2; i++)
		um_bins_destroy(timeline->faults[i]);
	for (size_t i = 0; i < timeline->tracked_count; i++) {
		um_bins_destroy(timeline->tracked_bytes[i]);
		um_bins_destroy(timeline->tracked_faults[i]);
	}
}

static int add(struct um_timeline *timeline, struct um_bins **bins, const struct um_placed *event,
	       int64_t amount)
{
	const struct um_axis *axis = &timeline->axis;
	int error = 0;

	if (amount < 1)
		return 0;
	if (!*bins)
		error = um_bins_create(bins, axis->bins);
	if (!error)
		um_bins_add(*bins, um_axis_position(axis, event->start),
			    um_axis_position(axis, event->end), amount);
	return error;
}

static size_t rank_of(const struct um_timeline *timeline, int64_t allocation)
{
	size_t rank = 0;

	while (rank < timeline->tracked_count && timeline->tracked[rank] != allocation)
		rank++;
	return rank;
}

static int add_transfer(struct um_timeline *timeline, const struct um_placed *event)
{
	const int64_t ways[UM_DIRECTIONS] = {event->bytes_to_device, event->bytes_to_host,
					     event->bytes_between};
	size_t rank = rank_of(timeline, event->allocation);
	int error = 0;

	for (size_t way = 0; way < UM_DIRECTIONS && !error; way++) {
		if (ways[way] == UM_NULL) {
			timeline->unknown_transfers++;
			continue;
		}
		error = add(timeline, &timeline->bytes[way][event->cause], event, ways[way]);
		if (!error && rank < timeline->tracked_count)
			error = add(timeline, &timeline->tracked_bytes[rank], event, ways[way]);
	}
	return error;
}

int um_timeline_add(struct um_timeline *timeline, const struct um_placed *event)
{
	size_t rank;
	int error;

	if (event->kind == UM_PLACED_TRANSFER)
		return add_transfer(timeline, event);
	if (event->kind != UM_PLACED_FAULT)
		return 0;
	rank = rank_of(timeline, event->allocation);
	error = add(timeline, &timeline->faults[event->is_host], event, event->faults);
	if (!error && rank < timeline->tracked_count)
		error = add(timeline, &timeline->tracked_faults[rank], event, event->faults);
	return error;
}

int um_timeline_foremost(const struct um_timeline *timeline, struct um_bins *const *of,
			 int32_t *out)
{
	size_t bins = timeline->axis.bins;
	int64_t *most = calloc(bins, sizeof(*most)), *one = calloc(bins, sizeof(*one));

	if (!most || !one) {
		free(most);
		free(one);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	for (size_t bin = 0; bin < bins; bin++)
		out[bin] = -1;
	for (size_t rank = 0; rank < timeline->tracked_count; rank++) {
		if (!of[rank])
			continue;
		um_bins_read(of[rank], one);
		for (size_t bin = 0; bin < bins; bin++)
			if (one[bin] > most[bin]) {
				most[bin] = one[bin];
				out[bin] = (int32_t)rank;
			}
	}
	free(most);
	free(one);
	return 0;
}
