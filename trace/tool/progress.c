#include "progress.h"

#include "trace/base/units.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000ull
#define STEP_NS	 250000000ull
/* Back to the first column; erase to the end of the line (ECMA-48, EL). */
#define REWRITE "\r\033[K"

uint64_t um_progress_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void um_progress_init(struct um_progress *progress, bool quiet)
{
	*progress = (struct um_progress){
		.on = !quiet && isatty(STDERR_FILENO),
		.start_ns = um_progress_now_ns(),
	};
}

static bool is_due(struct um_progress *progress)
{
	uint64_t now = progress->on ? um_progress_now_ns() : 0;

	if (!progress->on || now - progress->start_ns < FIRST_NS ||
	    now - progress->last_ns < STEP_NS)
		return false;
	progress->last_ns = now;
	progress->shown = true;
	return true;
}

void um_progress_trace(struct um_progress *progress, const struct um_ingest_totals *totals)
{
	char ops[32], launches[32], bytes[32];

	if (!is_due(progress))
		return;
	fprintf(stderr, REWRITE "umtrace: %.1f s, operations %s, launches %s, %s of records",
		(double)(progress->last_ns - progress->start_ns) / 1e9,
		um_format_count(ops, sizeof(ops), totals->ops),
		um_format_count(launches, sizeof(launches), totals->launches),
		um_format_bytes(bytes, sizeof(bytes), totals->bytes));
}

void um_progress_model(void *context, uint64_t done, uint64_t all)
{
	struct um_progress *progress = context;

	if (is_due(progress))
		fprintf(stderr, REWRITE "umtrace: driver model, %.0f %% of the operations",
			all ? 100.0 * (double)done / (double)all : 100.0);
}

void um_progress_import(struct um_progress *progress, const char *name, uint64_t done, uint64_t all)
{
	if (is_due(progress))
		fprintf(stderr, REWRITE "umtrace: %s, %.0f %%", name,
			all ? 100.0 * (double)done / (double)all : 100.0);
}

void um_progress_sorting(struct um_progress *progress, const char *name)
{
	if (is_due(progress))
		fprintf(stderr,
			REWRITE "umtrace: %s is read; finding whose its records are, %.0f s", name,
			(double)(progress->last_ns - progress->start_ns) / 1e9);
}

void um_progress_clear(struct um_progress *progress)
{
	if (progress->shown)
		fputs(REWRITE, stderr);
	progress->shown = false;
}
