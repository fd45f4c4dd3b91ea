/*
 * amdkfd makes no copies of what is advised to be read-mostly. Corrected: without the advice.
 *
 * Finding: advice-without-effect
 * Trace: --xnack=on
 * Expect: .verdict == "no_effect"
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19;
	bool corrected = is_corrected(argc, argv);
	int device = 0;

	int *data = alloc_managed(n);
	if (!corrected)
		HIP_CHECK(hipMemAdvise(data, n * sizeof(int), hipMemAdviseSetReadMostly,
				       device)); /* FINDING */
	host_fill(data, n, 1);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, 0));
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 2);
	HIP_CHECK(hipFree(data));
	return report("advice_without_effect", wrong);
}
