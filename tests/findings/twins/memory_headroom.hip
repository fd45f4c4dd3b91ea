/*
 * Four sweeps over more data than the device has memory for. Corrected: the data are worked on in two halves, one
 * allocated after the other, each of which fits and is moved before its first sweep.
 *
 * Finding: memory-headroom
 * Trace: --xnack=on --memory=24MiB
 * Expect: (.evidence[] | select(.label == "footprint").value) == 33554432 and (.evidence[] | select(.label == "memory of the device").value) == 25165824
 */
#include "twin.h"

static long work_on(long n, long sweeps, bool prefetches)
{
	int device = 0;

	int *data = alloc_managed(n); /* FINDING */
	host_fill(data, n, 1);
	if (prefetches)
		HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, 0));
	for (long i = 0; i < sweeps; i++)
		add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 1 + sweeps);
	HIP_CHECK(hipFree(data));
	return wrong;
}

int main(int argc, char **argv)
{
	const long n = 8 << 20, sweeps = 4;
	bool corrected = is_corrected(argc, argv);
	long wrong = 0;

	for (long part = 0; part < (corrected ? 2 : 1); part++)
		wrong += work_on(corrected ? n / 2 : n, sweeps, corrected);
	return report("memory_headroom", wrong);
}
