/*
 * A prefetch takes data back to the host between two kernels. Corrected: without it.
 *
 * Finding: prefetch-harmful
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "moved in vain").value) == 8388608
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 2 << 20;
	bool corrected = is_corrected(argc, argv);
	int device = 0;

	int *data = alloc_managed(n);
	host_fill(data, n, 1);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, 0));
	add<<<groups(n), LANES>>>(data, n, 1);
	if (!corrected)
		HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), hipCpuDeviceId,
					      0)); /* FINDING */
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 3);
	HIP_CHECK(hipFree(data));
	return report("prefetch_harmful", wrong);
}
