/*
 * A table of which a kernel needs two fifths, whole lines, once the host has filled it. Corrected: it stays with the host.
 *
 * Finding: host-preferred
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "moved, both ways").value) == 2 * 2097152
 * Traffic: exact
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
	const long n = 1 << 19, rounds = 1;
	bool corrected = is_corrected(argc, argv);
	int *sums;

	int *table = alloc_managed(n); /* FINDING */
	if (corrected)
		HIP_CHECK(hipMemAdvise(table, n * sizeof(int), hipMemAdviseSetPreferredLocation,
				       hipCpuDeviceId));
	HIP_CHECK(hipMalloc(&sums, n * sizeof(int)));
	host_fill(table, n, 0);
	for (long round = 0; round < rounds; round++) {
		read_some<<<groups(n), LANES>>>(table, sums, n);
		HIP_CHECK(hipDeviceSynchronize());
		for (long i = 0; i < n; i++)
			table[i]++;
	}
	long wrong = host_wrong(table, n, rounds);
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(table));
	return report("host_preferred", wrong);
}
