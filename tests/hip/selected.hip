/*
 * What umtrace --kernels, --launches, --ranges and --profile-from-start select from
 * (tests/cli/umtrace_selection.sh): in each of 5 steps three kernels, one of them a template in a namespace,
 * of which each touches the pages that the ones before wrote; ranges around steps, around a part of each and
 * on another thread; the profiler's switch on for the steps 2 and 3, and off for one thread after the
 * last. With the argument "all" the switch is left alone.
 */
#pragma clang diagnostic ignored "-Wdeprecated-declarations" /* hipProfilerStart() */
#include "hip_test.h"

#include <roctracer/roctx.h>

#include <string.h>
#include <thread>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			printf("line %d: %s\n", __LINE__, #condition);                             \
	} while (0)
#define PAGES	   48
#define PAGE_WORDS 1024
#define STEPS	   5

namespace heat
{
/* Pages [step, step + 8) and their neighbours, in an order of the step's own. */
template <typename T> __global__ void spread(T *to, const T *from, int step)
{
	int word = (int)(threadIdx.x + blockIdx.x * blockDim.x) * (step + 1) % (8 * PAGE_WORDS);

	to[step * PAGE_WORDS + word] = from[step * PAGE_WORDS + word] + (T)step;
}
} /* namespace heat */

__global__ void copy_back(unsigned *to, const unsigned *from, int step)
{
	int word = (int)(threadIdx.x + blockIdx.x * blockDim.x);

	to[word] = from[word] + step;
}

extern "C" __global__ void sum_up(unsigned *out, const unsigned *data, int words)
{
	for (int i = (int)threadIdx.x; i < words; i += (int)blockDim.x)
		atomicAdd(out, data[i]);
}

struct fields {
	unsigned *a, *b, *sum;
};

static void step(const struct fields *of, int number)
{
	roctxRangePush("spread");
	LAUNCH(heat::spread<unsigned><<<4, 256>>>(of->b, of->a, number));
	roctxRangePop();
	LAUNCH(copy_back<<<8, 256>>>(of->a, of->b, number));
	LAUNCH(sum_up<<<1, 64>>>(of->sum, of->a, 2 * PAGE_WORDS));
	HIP_CHECK(hipDeviceSynchronize());
	of->a[number * PAGE_WORDS] += *of->sum; /* the host, between the steps */
}

static bool leaves_switch;

static void on_another_thread(const struct fields *of)
{
	roctxRangePush("other thread");
	LAUNCH(copy_back<<<1, 64>>>(of->b, of->a, 1));
	HIP_CHECK(hipDeviceSynchronize());
	roctxRangePop();
}

static void paused_for_one_thread(const struct fields *of)
{
	roctx_thread_id_t thread = 0;

	CHECK(roctxGetThreadId(&thread) == 0 && thread != 0);
	CHECK(roctxGetThreadId(nullptr) == -1);
	CHECK(leaves_switch || roctxProfilerPause(thread) == 0);
	LAUNCH(copy_back<<<1, 64>>>(of->b, of->a, 2));
	std::thread(on_another_thread, of).join();
	CHECK(leaves_switch || roctxProfilerResume(thread) == 0);
}

int main(int count, char **words)
{
	leaves_switch = count > 1 && strcmp(words[1], "all") == 0;
	struct fields of;
	roctx_range_id_t all = roctxRangeStart("all steps");

	HIP_CHECK(hipMallocManaged((void **)&of.a, PAGES * PAGE_WORDS * sizeof(unsigned)));
	HIP_CHECK(hipMallocManaged((void **)&of.b, PAGES * PAGE_WORDS * sizeof(unsigned)));
	HIP_CHECK(hipMallocManaged((void **)&of.sum, sizeof(unsigned)));
	HIP_CHECK(hipMemset(of.b, 1, PAGES * PAGE_WORDS * sizeof(unsigned)));
	for (int word = 0; word < PAGES * PAGE_WORDS; word += 16)
		of.a[word] = (unsigned)word;
	for (int number = 0; number < STEPS; number++) {
		char name[32];

		snprintf(name, sizeof(name), "step %d", number);
		if (number == 2 && !leaves_switch)
			HIP_CHECK(hipProfilerStart());
		roctxRangePush(name);
		step(&of, number);
		roctxRangePop();
		if (number == 3 && !leaves_switch)
			HIP_CHECK(hipProfilerStop());
	}
	CHECK(leaves_switch || roctxProfilerResume(0) == 0);
	paused_for_one_thread(&of);
	roctxRangeStop(all);
	printf("sum %u\n", *of.sum);
	HIP_CHECK(hipFree(of.sum));
	HIP_CHECK(hipFree(of.b));
	HIP_CHECK(hipFree(of.a));
	verdict("selected", 0);
	return 0;
}
