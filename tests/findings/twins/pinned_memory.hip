/*
 * Each launch reads a part of the table that no other reads, one line of eight, and the part moves for it.
 * Corrected: the table is pinned memory.
 *
 * Finding: pinned-memory-would-do
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "pages that kernels read, once each").value) == 8192 * 4096
 * Traffic: exact
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 8 << 20, parts = 8, stride = 128, picked = n / parts / stride;
	bool corrected = is_corrected(argc, argv);
	int *data, *sums;

	if (corrected)
		HIP_CHECK(hipHostMalloc(&data, n * sizeof(int), hipHostMallocDefault));
	else
		data = alloc_managed(n); /* FINDING */
	host_fill(data, n, 1);
	HIP_CHECK(hipMalloc(&sums, picked * sizeof(int)));
	for (long part = 0; part < parts; part++)
		gather<<<groups(picked), LANES>>>(data + part * (n / parts), sums, picked, stride);
	HIP_CHECK(hipDeviceSynchronize());
	int last;
	HIP_CHECK(hipMemcpy(&last, sums + picked - 1, sizeof(last), hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(corrected ? hipHostFree(data) : hipFree(data));
	return report("pinned_memory", last != 1);
}
