/*
 * A table that kernels sweep over again and again stays with the host, by advice: the link never rests.
 * Corrected: without the advice, and prefetched, it crosses the link once.
 *
 * Finding: link-saturated
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "of these bytes for this").value) == 64 * 2097152
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19, launches = 64;
	bool corrected = is_corrected(argc, argv);
	int *sums, last, device = 0;

	int *table = alloc_managed(n); /* FINDING */
	if (!corrected) {
		HIP_CHECK(hipMemAdvise(table, n * sizeof(int), hipMemAdviseSetPreferredLocation,
				       hipCpuDeviceId));
		HIP_CHECK(hipMemAdvise(table, n * sizeof(int), hipMemAdviseSetAccessedBy, device));
	}
	host_fill(table, n, 1);
	HIP_CHECK(hipMalloc(&sums, n * sizeof(int)));
	if (corrected)
		HIP_CHECK(hipMemPrefetchAsync(table, n * sizeof(int), device, 0));
	for (long i = 0; i < launches; i++)
		gather<<<groups(n), LANES>>>(table, sums, n, 1);
	HIP_CHECK(hipMemcpy(&last, sums + n - 1, sizeof(last), hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(table));
	return report("link_saturated", last != 1);
}
