/*
 * What no kernel touches is prefetched too. Corrected: it is not.
 *
 * Finding: prefetch-useless
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "moved in vain").value) == 4194304
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 20;
	bool corrected = is_corrected(argc, argv);
	int device = 0;

	int *data = alloc_managed(n);
	int *spare = alloc_managed(n);
	host_fill(data, n, 1);
	host_fill(spare, n, 1);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, 0));
	if (!corrected)
		HIP_CHECK(hipMemPrefetchAsync(spare, n * sizeof(int), device, 0)); /* FINDING */
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 2);
	HIP_CHECK(hipFree(data));
	HIP_CHECK(hipFree(spare));
	return report("prefetch_useless", wrong);
}
