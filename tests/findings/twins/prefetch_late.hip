/*
 * What the second kernel needs is prefetched when the first has ended, although it was there before.
 * Corrected: before the first, on a stream of its own.
 *
 * Finding: prefetch-late
 * Trace: --machine=h200
 * Expect: (.evidence[] | select(.label == "moved by the prefetches").value) == 8388608
 * Traffic: exact
 */
#include "twin.h"

static __global__ void count(int *counter, int times)
{
	for (int i = 0; i < times; i++)
		atomicAdd(counter, 1);
}

int main(int argc, char **argv)
{
	const long n = 2 << 20;
	bool corrected = is_corrected(argc, argv);
	int device = 0, *counter;
	hipStream_t aside;

	int *data = alloc_managed(n);
	HIP_CHECK(hipMalloc(&counter, sizeof(int)));
	HIP_CHECK(hipMemset(counter, 0, sizeof(int)));
	HIP_CHECK(hipStreamCreateWithFlags(&aside, hipStreamNonBlocking));
	host_fill(data, n, 1);
	if (corrected)
		HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, aside));
	count<<<256, LANES>>>(counter, 64);
	HIP_CHECK(hipDeviceSynchronize());
	if (!corrected)
		HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, aside)); /* FINDING */
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 2);
	HIP_CHECK(hipStreamDestroy(aside));
	HIP_CHECK(hipFree(counter));
	HIP_CHECK(hipFree(data));
	return report("prefetch_late", wrong);
}
