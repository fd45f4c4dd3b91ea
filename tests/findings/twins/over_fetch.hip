/*
 * A kernel reads one integer of each page, and the pages move whole. Corrected: they stay with the
 * host.
 *
 * Finding: over-fetch
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "of them in lines that kernels touched").value) == 512 * 64
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long stride = 1024, n = 512;
	bool corrected = is_corrected(argc, argv);
	int *sums;

	int *table = alloc_managed(n * stride); /* FINDING */
	if (corrected)
		HIP_CHECK(hipMemAdvise(table, n * stride * sizeof(int),
				       hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
	HIP_CHECK(hipMalloc(&sums, n * sizeof(int)));
	host_fill(table, n * stride, 5);
	gather<<<groups(n), LANES>>>(table, sums, n, stride);
	HIP_CHECK(hipDeviceSynchronize());
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(table));
	return report("over_fetch", 0);
}
