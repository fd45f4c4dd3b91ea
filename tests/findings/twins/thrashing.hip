/*
 * Passes over twice what the device holds: each evicts what the next one needs first. Corrected: it
 * stays with the host.
 *
 * Finding: thrashing
 * Trace: --xnack=on --memory=16MiB
 * Expect: (.evidence[] | select(.label == "used at once, at most").value) == 33554432
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 8 << 20, passes = 3;
	bool corrected = is_corrected(argc, argv);

	int *data = alloc_managed(n); /* FINDING */
	if (corrected)
		HIP_CHECK(hipMemAdvise(data, n * sizeof(int), hipMemAdviseSetPreferredLocation,
				       hipCpuDeviceId));
	host_fill(data, n, 1);
	for (long pass = 0; pass < passes; pass++)
		add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 1 + passes);
	HIP_CHECK(hipFree(data));
	return report("thrashing", wrong);
}
