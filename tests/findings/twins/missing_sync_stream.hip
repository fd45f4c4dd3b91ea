/*
 * The host waits, but for another stream than the one of the kernel. Corrected: an event of the right one
 * is waited for through a third stream, which orders as well. Half of each page is the kernel's, so that
 * it is not certain that both touch the same lines.
 *
 * Finding: missing-sync
 * Trace: --xnack=on
 * Expect: .verdict == "fault" and (.certain | not) and (.evidence[0].value == 16)
 */
#include "twin.h"

#define PAGE_INTS 1024

/* The first half of each page. */
static __global__ void add_to_halves(int *data, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n / 2)
		data[i / (PAGE_INTS / 2) * PAGE_INTS + i % (PAGE_INTS / 2)] += 1;
}

int main(int argc, char **argv)
{
	const long n = 16 * PAGE_INTS;
	bool corrected = is_corrected(argc, argv);
	hipStream_t work, other;
	hipEvent_t done;
	int device = 0;

	HIP_CHECK(hipStreamCreateWithFlags(&work, hipStreamNonBlocking));
	HIP_CHECK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
	HIP_CHECK(hipEventCreate(&done));
	int *data = alloc_managed(n);
	host_fill(data, n, 1);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, work));
	add_to_halves<<<groups(n / 2), LANES, 0, work>>>(data, n); /* FINDING */
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), hipCpuDeviceId, work));
	HIP_CHECK(hipEventRecord(done, work));
	if (corrected)
		HIP_CHECK(hipStreamWaitEvent(other, done, 0));
	HIP_CHECK(hipStreamSynchronize(other));
	long wrong = 0;
	for (long i = 0; i < n; i++)
		wrong += data[i] != 1 + (i % PAGE_INTS < PAGE_INTS / 2);
	HIP_CHECK(hipDeviceSynchronize());
	HIP_CHECK(hipFree(data));
	HIP_CHECK(hipEventDestroy(done));
	HIP_CHECK(hipStreamDestroy(other));
	HIP_CHECK(hipStreamDestroy(work));
	return report("missing_sync_stream", wrong);
}
