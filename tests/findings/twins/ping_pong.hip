/*
 * Host and device add to the same pages in turn, which move each time. Corrected: they stay with the
 * host, and the device reaches them over the link.
 *
 * Finding: ping-pong
 * Trace: --xnack=on
 * Expect: .concerned_bytes == 8 * 2097152
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19, rounds = 4;
	bool corrected = is_corrected(argc, argv);

	int *data = alloc_managed(n); /* FINDING */
	if (corrected)
		HIP_CHECK(hipMemAdvise(data, n * sizeof(int), hipMemAdviseSetPreferredLocation,
				       hipCpuDeviceId));
	host_fill(data, n, 1);
	for (long round = 0; round < rounds; round++) {
		add<<<groups(n), LANES>>>(data, n, 2);
		HIP_CHECK(hipDeviceSynchronize());
		for (long i = 0; i < n; i++)
			data[i] += 1;
	}
	long wrong = host_wrong(data, n, 1 + 3 * rounds);
	HIP_CHECK(hipFree(data));
	return report("ping_pong", wrong);
}
