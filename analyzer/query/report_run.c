#include "report_run.h"

#include "placed.h"
#include "trace/base/error.h"
#include "trace/db/stacks.h"

#include <stdlib.h>

static int add_placed(const struct um_placed *placed, void *context)
{
	struct um_report_run *run = context;
	int error = um_timeline_add(&run->timeline, placed);

	return error ? error : um_heatmaps_add(&run->heat, placed);
}

static int load_spans(struct um_report_run *run, struct um_db *db, const char *const *skip_frames,
		      size_t most)
{
	struct um_stacks *stacks;
	int error = um_stacks_load(&stacks, db, skip_frames);

	if (error)
		return error;
	error = um_spans_load(&run->spans, &run->axis, db, stacks, most);
	um_stacks_destroy(stacks);
	return error;
}

static int load_charts(struct um_report_run *run, struct um_db *db, const char *const *skip_frames,
		       const struct um_report_detail *detail)
{
	enum um_axis_kind kind = UM_AXIS_TIME;
	int error = run->is_replayed ? 0 : um_axis_find_kind(&kind, db);

	if (!error)
		error = um_axis_load(&run->axis, kind, db, detail->bins);
	if (error)
		return error;
	um_timeline_init(&run->timeline, &run->axis, run->summary);
	um_heatmaps_init(&run->heat, &run->axis, run->summary, detail->columns);
	error = um_placed_each(&run->axis, db, add_placed, run, &run->unplaced);
	if (!error)
		error = um_occupancy_load(&run->occupancy, &run->axis, db);
	return error ? error : load_spans(run, db, skip_frames, detail->spans);
}

int um_report_run_load(struct um_report_run **out, struct um_db *db, struct um_db *replay,
		       const char *const *skip_frames, const struct um_report_detail *detail)
{
	const struct um_summary_choice choice = {.skip_frames = skip_frames};
	struct um_report_run *run = calloc(1, sizeof(*run));
	int error = run ? um_summary_load(&run->summary, db, &choice)
			: um_fail(UM_ENOMEM, "out of memory");

	if (!error) {
		run->is_replayed = replay != NULL;
		error = load_charts(run, replay ? replay : db, skip_frames, detail);
	}
	if (error)
		um_report_run_destroy(run);
	else
		*out = run;
	return error;
}

void um_report_run_destroy(struct um_report_run *run)
{
	if (!run)
		return;
	um_timeline_fini(&run->timeline);
	um_heatmaps_fini(&run->heat);
	um_occupancy_fini(&run->occupancy);
	um_spans_fini(&run->spans);
	um_summary_destroy(run->summary);
	free(run);
}
