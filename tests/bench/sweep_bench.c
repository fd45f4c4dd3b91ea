/*
 * 64 configurations of a sweep in one pass beside one configuration, which is the floor: what 64 of them
 * would take at best if each were run alone is 64 times that. Once with a cache that keeps the whole trace
 * as decoded, once with one that keeps a small part, so that simulations have to stay near each other.
 */
#include "bench_clock.h"
#include "sim/sweep/sweep.h"
#include "tests/unit/sim/trace_fixture.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define POINTS	    64
#define PAGES	    16384
#define GROUPS	    128
#define LAUNCHES    8
#define LIMIT_TIMES 24 /* what POINTS configurations in one pass may take, in times of one */
#define SMALL_CACHE (UINT64_C(1) << 20)

static void put_trace(struct trace_fixture *fx)
{
	int64_t data = fx_alloc(fx, "managed", (int64_t)PAGES * PAGE);
	uint64_t x = 1;

	fx_host(fx, data, 0, PAGES, UM_TOUCH_WRITTEN);
	for (int launch = 0; launch < LAUNCHES; launch++) {
		um_db_begin(fx->db);
		fx_launch(fx, "k", GROUPS, 0);
		for (uint64_t group = 0; group < GROUPS; group++)
			for (int i = 0; i < PAGES / GROUPS * 2; i++) {
				x = x * 6364136223846793005u + 1442695040888963407u;
				fx_touch(fx, group, data, (int64_t)(x >> 33) % PAGES, false);
			}
		fx_launch_end(fx);
		um_db_commit(fx->db);
	}
}

static int take_result(void *context, size_t point, const struct um_sweep_result *result)
{
	(void)point;
	*(uint64_t *)context += result->totals.bytes_to_device;
	if (result->error)
		fprintf(stderr, "%s\n", result->message);
	return result->error;
}

struct took {
	double processor_s, wall_s;
};

/* The best of several where it is short. */
static struct took run(struct um_sweep sweep)
{
	struct took best = {1e30, 1e30};

	for (int i = 0; i < (sweep.count == 1 ? 5 : 1); i++) {
		double processor = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID), wall = bench_now_s();
		uint64_t bytes = 0;

		sweep.context = &bytes;
		if (um_sweep_run(&sweep)) {
			fprintf(stderr, "sweep_bench: %s\n", um_error_message());
			exit(1);
		}
		processor = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - processor;
		wall = bench_now_s() - wall;
		best.processor_s = processor < best.processor_s ? processor : best.processor_s;
		best.wall_s = wall < best.wall_s ? wall : best.wall_s;
	}
	return best;
}

static void compare(struct um_sweep sweep, const char *name)
{
	struct um_sweep first = sweep;
	struct rusage usage;

	/* The middle of what is swept. */
	first.points += POINTS / 2;
	first.count = 1;
	struct took one = run(first), all = run(sweep);

	getrusage(RUSAGE_SELF, &usage);
	printf("%-26s %2u threads  one %6.1f ms, %d in one pass %8.1f ms: %5.1f times; of a "
	       "processor %6.1f and %8.1f ms: %5.1f times, %4.2f of what %d times would be; peak "
	       "%ld MiB\n",
	       name, sweep.threads, one.wall_s * 1e3, POINTS, all.wall_s * 1e3,
	       all.wall_s / one.wall_s, one.processor_s * 1e3, all.processor_s * 1e3,
	       all.processor_s / one.processor_s, LIMIT_TIMES * one.processor_s / all.processor_s,
	       LIMIT_TIMES, usage.ru_maxrss / 1024);
	fflush(stdout);
}

static struct um_policy policies[POINTS];
static struct um_sweep_point points[POINTS];

/* Memory for `least` to `least` and a half of the pages. */
static void put_points(const struct trace_fixture *fx, double least)
{
	for (int i = 0; i < POINTS; i++) {
		policies[i] = fx->policy;
		policies[i].memory_bytes =
			(uint64_t)((least + 0.5 * i / POINTS) * PAGES) * (uint64_t)PAGE;
		points[i] = (struct um_sweep_point){&policies[i], &fx->machine};
	}
}

int main(void)
{
	static struct trace_fixture fx;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct um_sweep sweep = {.points = points, .count = POINTS, .result = take_result};

	fx_open(&fx);
	put_trace(&fx);
	sweep.trace_path = fx.path;
	put_points(&fx, 1);
	sweep.threads = 1;
	compare(sweep, "all fits");
	sweep.threads = processors > 1 ? (unsigned)processors : 1;
	compare(sweep, "all fits");
	put_points(&fx, 0.5);
	compare(sweep, "half to all fits");
	sweep.cache_bytes = SMALL_CACHE;
	compare(sweep, "the same, 1 MiB of cache");
	fx_close(&fx);
	return 0;
}
