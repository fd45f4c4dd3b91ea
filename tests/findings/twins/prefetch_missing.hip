/*
 * A kernel brings what the host filled, block after block, by faults. Corrected: it is prefetched.
 *
 * Finding: prefetch-missing
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "moved for them").value) == 8388608
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 2 << 20;
	bool corrected = is_corrected(argc, argv);
	int device = 0;

	int *data = alloc_managed(n); /* FINDING */
	host_fill(data, n, 1);
	if (corrected)
		HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, 0));
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 2);
	HIP_CHECK(hipFree(data));
	return report("prefetch_missing", wrong);
}
