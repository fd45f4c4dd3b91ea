/* Times for benchmarks: the best of several runs, since the others were disturbed. */
#ifndef UM_BENCH_CLOCK_H
#define UM_BENCH_CLOCK_H

#include <time.h>

static inline double bench_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds of the fastest of `times` calls. */
static inline double bench_best_s(void (*call)(void *), void *context, int times)
{
	double best = 1e99;

	for (int i = 0; i < times; i++) {
		double start = bench_now_s();
		double took;

		call(context);
		took = bench_now_s() - start;
		best = took < best ? took : best;
	}
	return best;
}

#endif
