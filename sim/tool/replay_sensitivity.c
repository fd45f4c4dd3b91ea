/*
 * Whether what a table says would be otherwise if kernels computed for half or twice as long: that is an
 * estimate (kernel_shape.h), where it was not measured.
 */
#include "replay.h"

#include "sim/source/kernel_times.h"
#include "trace/base/units.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static uint64_t end_at(const struct um_replay *replay, int scale)
{
	return scale < 0   ? replay->end_half_ns
	       : scale > 0 ? replay->end_double_ns
			   : replay->totals.end_ns;
}

/* How many end before this one; those that end at once share a rank. */
static size_t rank_of(const struct um_replay *replays, size_t count, size_t which, int scale)
{
	size_t before = 0;

	for (size_t i = 0; i < count; i++)
		before += end_at(&replays[i], scale) < end_at(&replays[which], scale);
	return before;
}

static bool ranks_alike(const struct um_replay *replays, size_t count, int scale)
{
	for (size_t i = 0; i < count; i++)
		if (rank_of(replays, count, i, scale) != rank_of(replays, count, i, 0))
			return false;
	return true;
}

static const char *first_of(const struct um_replay *replays, size_t count, int scale)
{
	for (size_t i = 0; i < count; i++)
		if (!rank_of(replays, count, i, scale))
			return replays[i].label;
	return "";
}

static void add_ends(struct um_text_table *table, const struct um_replay *replays, size_t count)
{
	char half[32], once[32], twice[32];

	for (size_t i = 0; i < count; i++)
		um_text_table_note(
			table, "  %s: %s at half, %s, %s at double", replays[i].label,
			um_format_duration(half, sizeof(half), end_at(&replays[i], -1)),
			um_format_duration(once, sizeof(once), end_at(&replays[i], 0)),
			um_format_duration(twice, sizeof(twice), end_at(&replays[i], 1)));
}

static void add_ranking(struct um_text_table *table, const struct um_replay *replays, size_t count)
{
	bool half = ranks_alike(replays, count, -1), twice = ranks_alike(replays, count, 1);

	if (count < 2)
		return;
	if (half && twice) {
		um_text_table_note(table, "the ranking by end is the same at half and at double");
		return;
	}
	um_text_table_note(table, "the ranking by end depends on it: %s%s%s it is another",
			   half ? "" : "at half", half || twice ? "" : " and ",
			   twice ? "" : "at double");
	um_text_table_note(table, "  first: %s at half, %s, %s at double",
			   first_of(replays, count, -1), first_of(replays, count, 0),
			   first_of(replays, count, 1));
}

void um_replay_add_sensitivity(struct um_text_table *table, const struct um_replay_run *run)
{
	const struct um_kernel_times *times = run->kernel_times;
	size_t count = um_replay_done(run);

	if (times)
		um_text_table_note(
			table,
			"compute times of kernels measured on %s (%s), where it has them; "
			"else estimated",
			um_kernel_times_device(times), um_kernel_times_path(times));
	if (!run->arguments->sensitivity || !count)
		return;
	um_text_table_note(table, "end, if kernels computed for half or twice as long as estimated "
				  "(by the memory's bandwidth, without caches)");
	add_ends(table, run->replays, count);
	add_ranking(table, run->replays, count);
}

json_t *um_replay_sensitivity_json(const struct um_replay *replay, const struct um_replay_run *run)
{
	if (!run->arguments->sensitivity)
		return json_null();
	return json_pack("{s:I, s:I}", "end_at_half_ns", (json_int_t)replay->end_half_ns,
			 "end_at_double_ns", (json_int_t)replay->end_double_ns);
}
