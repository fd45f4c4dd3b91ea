/* Times for benchmarks: the best of several runs, since the others were disturbed. */
#ifndef UM_BENCH_CLOCK_H
#define UM_BENCH_CLOCK_H

#include <time.h>

static inline double bench_clock_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline double bench_now_s(void)
{
	return bench_clock_s(CLOCK_MONOTONIC);
}

static inline double bench_best_of_s(clockid_t clock, void (*call)(void *), void *context,
				     int times)
{
	double best = 1e99;

	for (int i = 0; i < times; i++) {
		double start = bench_clock_s(clock);
		double took;

		call(context);
		took = bench_clock_s(clock) - start;
		best = took < best ? took : best;
	}
	return best;
}

/* Seconds of the fastest of `times` calls. */
static inline double bench_best_s(void (*call)(void *), void *context, int times)
{
	return bench_best_of_s(CLOCK_MONOTONIC, call, context, times);
}

/* The same in CPU time of the process: what never waits, where other programs run too. */
static inline double bench_best_cpu_s(void (*call)(void *), void *context, int times)
{
	return bench_best_of_s(CLOCK_PROCESS_CPUTIME_ID, call, context, times);
}

#endif
