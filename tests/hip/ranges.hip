/*
 * Ranges of roctx: nested, of two threads at once, started in one and ended in the other, left open,
 * with names of any bytes. What the host and a kernel do in each is in tests/cli/umtrace_ranges.sh.
 */
#include "hip_test.h"

#include <roctracer/roctx.h>

#include <string>
#include <thread>

#define PAGE_WORDS 1024

__global__ void add_one(int *data)
{
	data[threadIdx.x * PAGE_WORDS] += 1;
}

/* The first word of pages [from, to). */
static void write_pages(int *data, int from, int to)
{
	for (int page = from; page < to; page++)
		data[page * PAGE_WORDS] = page;
}

static void launch(int *data)
{
	LAUNCH(add_one<<<1, 2>>>(data));
	HIP_CHECK(hipDeviceSynchronize());
}

/* Host accesses on both sides of a range's beginning and end, with no call of HIP between. */
static void host_and_kernel(int *data)
{
	write_pages(data, 0, 1);
	roctxRangePush("host");
	write_pages(data, 1, 3);
	roctxRangePop();
	write_pages(data, 3, 6);
	roctxRangePush("kernel");
	launch(data);
	roctxRangePop();
}

static void nested(int *data)
{
	int outer = roctxRangePushA("outer");
	int inner = roctxRangePushA("inner");

	launch(data);
	roctxMark("moment");
	int inner_end = roctxRangePop(), outer_end = roctxRangePop(), none = roctxRangePop();

	printf("levels: %d %d, %d %d, %d\n", outer, inner, inner_end, outer_end, none);
}

/* The other thread's stack is its own, and it ends what this one started. */
static void two_threads()
{
	roctx_range_id_t first = roctxRangeStart("across"), second = roctxRangeStart("second");

	roctxRangePush("mine");
	std::thread([first] {
		printf("level of another thread: %d\n", roctxRangePush("theirs"));
		roctxRangeStop(first);
		roctxRangePop();
	}).join();
	roctxRangeStop(second);
	roctxRangeStop(second + 1000); /* none of that id */
	printf("level of this one: %d, ids differ: %d\n", roctxRangePop(), first != second);
}

int main()
{
	int *data = managed<int>(8 * PAGE_WORDS);

	printf("version %u.%u\n", roctx_version_major(), roctx_version_minor());
	host_and_kernel(data);
	nested(data);
	two_threads();
	roctxRangePush("");
	roctxRangePop();
	roctxRangePush("caf\xe9 \"<&>\n");
	roctxRangePop();
	roctxRangePush(std::string(2000, 'x').c_str());
	roctxRangePop();
	HIP_CHECK(hipFree(data));
	roctxRangePush("never ended");
	verdict("ranges", 0);
	return 0;
}
