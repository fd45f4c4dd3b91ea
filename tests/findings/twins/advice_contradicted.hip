/*
 * A table is told to prefer the device, and, before anything touches it, the host. Corrected: the host at once.
 *
 * Finding: advice-without-effect
 * Trace: --xnack=on
 * Traffic: exact
 * Expect: .verdict == "no_effect" and (.because | contains("advice_contradicted.hip:32 says otherwise"))
 */
#include "twin.h"

/* Of each 10 pages the first 4. */
static __global__ void read_some(const int *table, int *sums, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	long page = i / 1024;

	if (i < n && page % 10 < 4)
		sums[i] = table[i];
}

int main(int argc, char **argv)
{
	const long n = 1 << 19, bytes = n * sizeof(int);
	bool corrected = is_corrected(argc, argv);
	int device = 0, *sums;

	int *table = alloc_managed(n);
	HIP_CHECK(hipMalloc(&sums, bytes));
	if (!corrected)
		HIP_CHECK(hipMemAdvise(table, bytes, hipMemAdviseSetPreferredLocation,
				       device)); /* FINDING */
	HIP_CHECK(hipMemAdvise(table, bytes, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
	host_fill(table, n, 0);
	read_some<<<groups(n), LANES>>>(table, sums, n);
	HIP_CHECK(hipDeviceSynchronize());
	for (long i = 0; i < n; i++)
		table[i]++;
	long wrong = host_wrong(table, n, 1);
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(table));
	return report("advice_contradicted", wrong);
}
