/*
 * What a call costs at the bottom of stacks of two depths: calls.sh runs it by itself and traced. Prints
 * "KIND DEPTH ns", the least of some rounds.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#define ROUNDS 5
#define CHECK(call)                                                                                \
	do {                                                                                       \
		if ((call) != hipSuccess)                                                          \
			exit(1);                                                                   \
	} while (0)

__global__ void nothing()
{
}

static void launch()
{
	nothing<<<1, 1>>>();
}

static void allocate()
{
	void *memory;

	CHECK(hipMalloc(&memory, 4096));
	CHECK(hipFree(memory));
}

/* Not a loop, and no call that another replaces. */
static __attribute__((noinline)) void descend(int depth, void (*call)())
{
	if (depth == 0)
		call();
	else
		descend(depth - 1, call);
	__asm__ volatile("");
}

static double now_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(const char *kind, int depth, void (*call)(), int calls)
{
	double least = 1e18;

	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns();

		for (int i = 0; i < calls; i++)
			descend(depth, call);
		double each = (now_ns() - start) / calls;
		least = each < least ? each : least;
	}
	printf("%s %d %.0f\n", kind, depth, least);
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 20000;

	for (int depth : {2, 32}) {
		measure("launch", depth, launch, calls);
		measure("hipMalloc+hipFree", depth, allocate, calls / 4);
	}
	return 0;
}
