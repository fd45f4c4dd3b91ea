/*
 * Memory that kernels use again and again is advised to stay with the host. Corrected: without the
 * advice it moves to the device once.
 *
 * Finding: advice-harmful
 * Trace: --machine=h200
 * Expect: .saved_bytes != 0
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19, launches = 32;
	bool corrected = is_corrected(argc, argv);

	int *data = alloc_managed(n);
	if (!corrected)
		HIP_CHECK(hipMemAdvise(data, n * sizeof(int), hipMemAdviseSetPreferredLocation,
				       hipCpuDeviceId)); /* FINDING */
	host_fill(data, n, 1);
	for (long i = 0; i < launches; i++)
		add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 1 + launches);
	HIP_CHECK(hipFree(data));
	return report("advice_harmful", wrong);
}
