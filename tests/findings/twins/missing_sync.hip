/*
 * The host reads what a kernel writes and has not waited for it. Corrected: it has. The pages are moved
 * before the kernel and stay with the host's copy, so that nothing else is to be found.
 *
 * Finding: missing-sync
 * Trace: --xnack=on --host-sync
 * Expect: .verdict == "fault" and .certain and (.evidence[0].value == 16) and .kernels == ["add"]
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 16 * 1024;
	bool corrected = is_corrected(argc, argv);
	int device = 0;

	int *data = alloc_managed(n);
	host_fill(data, n, 1);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, 0));
	add<<<groups(n), LANES>>>(data, n, 1);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), hipCpuDeviceId, 0));
	if (corrected)
		HIP_CHECK(hipDeviceSynchronize());
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += data[i]; /* FINDING */
	HIP_CHECK(hipDeviceSynchronize());
	HIP_CHECK(hipFree(data));
	return report("missing_sync", sum != 2 * n);
}
