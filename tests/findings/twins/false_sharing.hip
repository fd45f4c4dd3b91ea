/*
 * The host's counters lie before the device's data, in one unit of what the driver moves. Corrected: the
 * host's part is told to stay.
 *
 * Finding: false-sharing
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "in them pages of the host alone").value) == 128
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long counters = 1 << 17, n = 1 << 18, rounds = 4;
	bool corrected = is_corrected(argc, argv);

	int *block = alloc_managed(counters + n); /* FINDING */
	int *data = block + counters;
	if (corrected)
		HIP_CHECK(hipMemAdvise(block, counters * sizeof(int),
				       hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
	HIP_CHECK(hipMemset(data, 0, n * sizeof(int)));
	host_fill(block, counters, 0);
	for (long round = 0; round < rounds; round++) {
		add<<<groups(n), LANES>>>(data, n, 2);
		HIP_CHECK(hipDeviceSynchronize());
		for (long i = 0; i < counters; i++)
			block[i]++;
	}
	long wrong = host_wrong(block, counters, rounds);
	HIP_CHECK(hipFree(block));
	return report("false_sharing", wrong);
}
