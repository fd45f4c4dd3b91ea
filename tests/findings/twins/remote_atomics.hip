/*
 * A histogram in managed memory without XNACK: each atomic crosses the link. Corrected: it is counted in
 * device memory, and copied.
 *
 * Finding: remote-atomics
 * Trace: --xnack=off
 * Expect: (.evidence[] | select(.label == "requests that are atomic").value) == 1048576 and .kernels == ["count"]
 */
#include "twin.h"

#define BINS 64

static __global__ void count(int *bins, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(&bins[i % BINS * 16], 1);
}

int main(int argc, char **argv)
{
	const long n = 1 << 20;
	const size_t bytes = BINS * 16 * sizeof(int);
	bool corrected = is_corrected(argc, argv);
	int *bins, result[BINS * 16];

	if (corrected)
		HIP_CHECK(hipMalloc(&bins, bytes));
	else
		bins = alloc_managed(BINS * 16); /* FINDING */
	HIP_CHECK(hipMemset(bins, 0, bytes));
	count<<<groups(n), LANES>>>(bins, n);
	HIP_CHECK(hipMemcpy(result, bins, bytes, hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(bins));
	long wrong = 0;
	for (int i = 0; i < BINS; i++)
		wrong += result[i * 16] != n / BINS;
	return report("remote_atomics", wrong);
}
