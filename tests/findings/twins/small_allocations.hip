/*
 * Each node of a list is an allocation of its own. Corrected: they are parts of one, which is prefetched.
 *
 * Finding: small-allocations
 * Trace: --xnack=on
 * Expect: (.evidence[] | select(.label == "allocations").value) == 256 and (.evidence[] | select(.label == "asked for").value) == 256 * 64
 */
#include "twin.h"

static __global__ void add_to_nodes(int *const *nodes, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		nodes[i][0] += 1;
}

int main(int argc, char **argv)
{
	const long count = 256, ints = 16;
	bool corrected = is_corrected(argc, argv);
	int *nodes[count], **on_device, *pool = NULL, device = 0;

	HIP_CHECK(hipMalloc(&on_device, sizeof(nodes)));
	if (corrected)
		pool = alloc_managed(count * ints);
	for (long i = 0; i < count; i++) {
		if (corrected)
			nodes[i] = pool + i * ints;
		else
			HIP_CHECK(hipMallocManaged(&nodes[i], ints * sizeof(int), 1)); /* FINDING */
		nodes[i][0] = 1;
	}
	HIP_CHECK(hipMemcpy(on_device, nodes, sizeof(nodes), hipMemcpyHostToDevice));
	if (corrected)
		HIP_CHECK(hipMemPrefetchAsync(pool, count * ints * sizeof(int), device, 0));
	add_to_nodes<<<groups(count), LANES>>>(on_device, count);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = 0;
	for (long i = 0; i < count; i++)
		wrong += nodes[i][0] != 2;
	for (long i = 0; i < count && !corrected; i++)
		HIP_CHECK(hipFree(nodes[i]));
	if (corrected)
		HIP_CHECK(hipFree(pool));
	HIP_CHECK(hipFree(on_device));
	return report("small_allocations", wrong);
}
