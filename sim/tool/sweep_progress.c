/* How far a sweep is, and how long it will take if it goes on so. */
#include "sweep_command.h"

#include "trace/base/units.h"

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

void um_sweep_progress_start(struct um_sweep_progress *progress, bool is_shown, const char *name,
			     size_t done, size_t all)
{
	*progress = (struct um_sweep_progress){
		.is_shown = is_shown,
		.name = name,
		.done = done,
		.all = all,
		.from = all ? (double)done / (double)all : 0,
	};
	clock_gettime(CLOCK_MONOTONIC, &progress->start);
}

/* part: of those that are run now, from 0 to 1. */
void um_sweep_progress_show(struct um_sweep_progress *progress, double part)
{
	double seconds = seconds_since(&progress->start);
	double all = progress->from + (1 - progress->from) * part;
	char left[32];

	if (!progress->is_shown)
		return;
	fprintf(stderr, "\r\033[K%s: %zu of %zu done, %.0f %%", progress->name, progress->done,
		progress->all, all * 100);
	/* What took a moment says little of what comes. */
	if (part > 0 && part < 1 && seconds > 0.5)
		fprintf(stderr, ", about %s left",
			um_format_duration(left, sizeof(left),
					   (uint64_t)(seconds * (1 - part) / part * 1e9)));
	fflush(stderr);
}

void um_sweep_progress_clear(struct um_sweep_progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
}
