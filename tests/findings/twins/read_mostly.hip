/*
 * A table that host and device only read, in turn. Corrected: it is read-mostly, and each has a copy.
 *
 * Finding: read-mostly
 * Trace: --machine=h200
 * Expect: (.evidence[] | select(.label == "launches that read it").value) == 4
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19, rounds = 4;
	bool corrected = is_corrected(argc, argv);
	int *sums;
	long wrong = 0;

	int *table = alloc_managed(n); /* FINDING */
	if (corrected)
		HIP_CHECK(hipMemAdvise(table, n * sizeof(int), hipMemAdviseSetReadMostly, 0));
	HIP_CHECK(hipMalloc(&sums, n * sizeof(int)));
	HIP_CHECK(hipMemset(table, 5, n * sizeof(int)));
	for (long round = 0; round < rounds; round++) {
		gather<<<groups(n), LANES>>>(table, sums, n, 1);
		HIP_CHECK(hipDeviceSynchronize());
		wrong += host_wrong(table, n, 0x05050505);
	}
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(table));
	return report("read_mostly", wrong);
}
