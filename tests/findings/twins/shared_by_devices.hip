/*
 * Two devices work on a half each of what the driver moves whole. Corrected: each half is told to stay with its
 * device.
 *
 * Finding: shared-by-devices
 * Trace: --xnack=on --machine=mi250x_4gcd
 * Traffic: exact
 * Expect: (.evidence | map({(.label): .value}) | add) as $e | $e.devices == 2 and $e["pages that several of them touch"] == 0 and $e["blocks that the driver moves, with such pages or with pages of several"] == 1 and (.changes[0].policy | contains("preferred_location: gpu1"))
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long half = 1 << 14, rounds = 200, bytes = half * sizeof(int);
	bool corrected = is_corrected(argc, argv);

	int *data = alloc_managed(2 * half); /* FINDING */
	host_fill(data, 2 * half, 1);
	for (int device = 0; device < 2 && corrected; device++) {
		HIP_CHECK(hipSetDevice(device));
		HIP_CHECK(hipMemAdvise(data + device * half, bytes, hipMemAdviseSetPreferredLocation, device));
	}
	for (long round = 0; round < rounds; round++)
		for (int device = 0; device < 2; device++) {
			HIP_CHECK(hipSetDevice(device));
			add<<<groups(half), LANES>>>(data + device * half, half, 1);
			HIP_CHECK(hipDeviceSynchronize());
		}
	long wrong = host_wrong(data, 2 * half, 1 + rounds);
	HIP_CHECK(hipFree(data));
	return report("shared_by_devices", wrong);
}
