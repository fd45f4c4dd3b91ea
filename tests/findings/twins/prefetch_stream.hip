/*
 * What the second kernel needs is prefetched on the stream of the first, and waits for it. Corrected: on
 * a stream of its own.
 *
 * Finding: prefetch-stream
 * Trace: --machine=h200
 * Expect: (.evidence[] | select(.label == "moved by the prefetches").value) == 8388608
 * Traffic: exact
 */
#include "twin.h"

/* Every lane in turn: what takes long is the one address. */
static __global__ void count(int *counter, int times)
{
	for (int i = 0; i < times; i++)
		atomicAdd(counter, 1);
}

int main(int argc, char **argv)
{
	const long n = 2 << 20;
	bool corrected = is_corrected(argc, argv);
	int device = 0, *counter;
	hipStream_t aside;

	int *data = alloc_managed(n);
	HIP_CHECK(hipMalloc(&counter, sizeof(int)));
	HIP_CHECK(hipMemset(counter, 0, sizeof(int)));
	HIP_CHECK(hipStreamCreateWithFlags(&aside, hipStreamNonBlocking));
	host_fill(data, n, 1);
	count<<<256, LANES>>>(counter, 64);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device,
				      corrected ? aside : 0)); /* FINDING */
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = host_wrong(data, n, 2);
	HIP_CHECK(hipStreamDestroy(aside));
	HIP_CHECK(hipFree(counter));
	HIP_CHECK(hipFree(data));
	return report("prefetch_stream", wrong);
}
