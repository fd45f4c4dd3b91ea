/*
 * Without XNACK nothing moves by itself: eight launches reach the same pages over the link. Corrected:
 * they are prefetched before the first.
 *
 * Finding: device-preferred
 * Trace: --xnack=off
 * Expect: (.evidence[] | select(.label == "over the link in place").value) == 8 * 2 * 2097152
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19, launches = 8;
	bool corrected = is_corrected(argc, argv);
	int device = 0;

	int *data = alloc_managed(n); /* FINDING */
	host_fill(data, n, 1);
	for (long i = 0; i < launches; i++) {
		if (corrected && i == 0)
			HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, 0));
		add<<<groups(n), LANES>>>(data, n, 1);
	}
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 1 + launches);
	HIP_CHECK(hipFree(data));
	return report("device_preferred", wrong);
}
