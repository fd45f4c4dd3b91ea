/*
 * Pieces that are kept, each beside one that is not: half of a block of device memory stays behind for each.
 * Corrected: what is kept are parts of one allocation.
 *
 * Finding: fragmentation
 * Trace: --memory=24MiB
 * Expect: .verdict == "fault" and (.is_certain | not) and (.evidence | map({(.label): .value}) | add) as $e | $e["the request"] == 12582912 and $e["free then"] == 16777216 and $e["of it in whole blocks"] == 8388608 and $e["unused in blocks of this line's"] == 8388608
 */
#include "twin.h"

static __global__ void set(int *data, long n, int value)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] = value;
}

static long wrong_on_device(const int *data, long n, int value)
{
	static int copy[3 << 20];

	HIP_CHECK(hipMemcpy(copy, data, n * sizeof(int), hipMemcpyDeviceToHost));
	return host_wrong(copy, n, value);
}

int main(int argc, char **argv)
{
	const long pieces = 8, n = 1 << 18, large = 3 << 20;
	bool corrected = is_corrected(argc, argv);
	int *kept[pieces], *scratch[pieces], *pool, *all;
	long wrong = 0;

	if (corrected)
		HIP_CHECK(hipMalloc(&pool, pieces * n * sizeof(int)));
	for (long i = 0; i < pieces; i++) {
		HIP_CHECK(hipMalloc(&scratch[i], n * sizeof(int)));
		if (corrected)
			kept[i] = pool + i * n;
		else
			HIP_CHECK(hipMalloc(&kept[i], n * sizeof(int))); /* FINDING */
		set<<<groups(n), LANES>>>(scratch[i], n, (int)i);
		HIP_CHECK(hipMemcpy(kept[i], scratch[i], n * sizeof(int), hipMemcpyDeviceToDevice));
	}
	for (long i = 0; i < pieces; i++)
		HIP_CHECK(hipFree(scratch[i]));
	HIP_CHECK(hipMalloc(&all, large * sizeof(int)));
	set<<<groups(large), LANES>>>(all, large, 7);
	wrong += wrong_on_device(all, large, 7);
	for (long i = 0; i < pieces; i++)
		wrong += wrong_on_device(kept[i], n, (int)i);
	for (long i = 0; i < pieces && !corrected; i++)
		HIP_CHECK(hipFree(kept[i]));
	if (corrected)
		HIP_CHECK(hipFree(pool));
	HIP_CHECK(hipFree(all));
	return report("fragmentation", wrong);
}
