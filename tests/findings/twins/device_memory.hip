/*
 * A field that the host never sees is managed memory, and faults block after block. Corrected: it is
 * device memory.
 *
 * Finding: device-memory-would-do
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "allocated").value) == 33554432
 * Traffic: exact
 */
#include "twin.h"

static __global__ void fill(int *data, long n, int value)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] = value;
}

int main(int argc, char **argv)
{
	const long n = 8 << 20;
	bool corrected = is_corrected(argc, argv);
	int *data;

	if (corrected)
		HIP_CHECK(hipMalloc(&data, n * sizeof(int)));
	else
		data = alloc_managed(n); /* FINDING */
	fill<<<groups(n), LANES>>>(data, n, 1);
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipDeviceSynchronize());
	int last;
	HIP_CHECK(hipMemcpy(&last, data + n - 1, sizeof(last), hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(data));
	return report("device_memory", last != 2);
}
