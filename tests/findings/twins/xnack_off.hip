/*
 * Two arrays of managed memory without XNACK, of which neither is advised or prefetched: both are read over
 * the link, launch after launch. Corrected: they are prefetched before the first launch, as a program must that
 * is to run without XNACK.
 *
 * Finding: xnack-off
 * Trace: --xnack=off
 * Expect: (.changes[0].policy == "driver: {xnack: on}\n") and (.evidence[] | select(.label == "over the link in place").value) > 0
 */
#include "twin.h"

static __global__ void sum_up(const int *a, const int *b, int *sums, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sums[i] += a[i] + b[n - 1 - i];
}

int main(int argc, char **argv)
{
	const long n = 1 << 20, launches = 32;
	bool corrected = is_corrected(argc, argv);
	int *sums, last, device = 0;

	int *a = alloc_managed(n); /* FINDING */
	int *b = alloc_managed(n);
	host_fill(a, n, 1);
	host_fill(b, n, 2);
	HIP_CHECK(hipMalloc(&sums, n * sizeof(int)));
	HIP_CHECK(hipMemset(sums, 0, n * sizeof(int)));
	if (corrected) {
		HIP_CHECK(hipMemPrefetchAsync(a, n * sizeof(int), device, 0));
		HIP_CHECK(hipMemPrefetchAsync(b, n * sizeof(int), device, 0));
	}
	for (long i = 0; i < launches; i++)
		sum_up<<<groups(n), LANES>>>(a, b, sums, n);
	HIP_CHECK(hipMemcpy(&last, sums + n - 1, sizeof(last), hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(b));
	HIP_CHECK(hipFree(a));
	return report("xnack_off", last != 3 * launches);
}
