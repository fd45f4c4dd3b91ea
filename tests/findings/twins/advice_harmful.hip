/*
 * Memory that only kernels use, again and again, is advised to stay with the host. Corrected: without the
 * advice it is on the device from the start.
 *
 * Finding: advice-harmful
 * Trace: --xnack=on
 * Expect: .changes[0].saved_bytes > 0
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19, launches = 8;
	bool corrected = is_corrected(argc, argv);

	int *data = alloc_managed(n);
	if (!corrected)
		HIP_CHECK(hipMemAdvise(data, n * sizeof(int), hipMemAdviseSetPreferredLocation,
				       hipCpuDeviceId)); /* FINDING */
	HIP_CHECK(hipMemset(data, 0, n * sizeof(int)));
	for (long i = 0; i < launches; i++)
		add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, launches);
	HIP_CHECK(hipFree(data));
	return report("advice_harmful", wrong);
}
