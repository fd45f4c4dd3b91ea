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

static double run(struct um_sweep sweep, uint64_t *bytes)
{
	double best = 1e30;

	for (int i = 0; i < (sweep.count == 1 ? 5 : 1); i++) {
		double start = bench_now_s();

		*bytes = 0;
		sweep.context = bytes;
		if (um_sweep_run(&sweep)) {
			fprintf(stderr, "sweep_bench: %s\n", um_error_message());
			exit(1);
		}
		if (bench_now_s() - start < best)
			best = bench_now_s() - start;
	}
	return best;
}

static void compare(struct um_sweep sweep, const char *name)
{
	struct um_sweep one = sweep;
	uint64_t bytes;
	struct rusage usage;

	/* The middle of what is swept. */
	one.points += POINTS / 2;
	one.count = 1;
	double floor_s = run(one, &bytes), all_s = run(sweep, &bytes);

	getrusage(RUSAGE_SELF, &usage);
	printf("%-34s %2u threads  one %7.1f ms  %d %8.1f ms  %5.1f times one  peak %ld MiB\n",
	       name, sweep.threads, floor_s * 1e3, POINTS, all_s * 1e3, all_s / floor_s,
	       usage.ru_maxrss / 1024);
}

int main(void)
{
	static struct trace_fixture fx;
	static struct um_policy policies[POINTS];
	static struct um_sweep_point points[POINTS];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	fx_open(&fx);
	put_trace(&fx);
	for (int i = 0; i < POINTS; i++) {
		policies[i] = fx.policy;
		policies[i].memory_bytes = (uint64_t)PAGES * PAGE / 2 * (uint64_t)(i + 65) / 64;
		points[i] = (struct um_sweep_point){&policies[i], &fx.machine};
	}
	struct um_sweep sweep = {.trace_path = fx.path,
				 .points = points,
				 .count = POINTS,
				 .threads = 1,
				 .result = take_result};

	compare(sweep, "half to all of the memory");
	sweep.threads = processors > 1 ? (unsigned)processors : 1;
	compare(sweep, "half to all of the memory");
	sweep.cache_bytes = SMALL_CACHE;
	compare(sweep, "the same, 1 MiB of cache");
	fx_close(&fx);
	return 0;
}
