/* Streams, events, asynchronous copies and memset, pinned memory, a callback. */
#include "hip_test.h"

__global__ void add(int *data, int n, int amount)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] += amount;
}

static void on_done(hipStream_t, hipError_t status, void *context)
{
	*(int *)context = status == hipSuccess ? 1 : -1;
}

int main()
{
	const int n = 3000;
	const size_t bytes = n * sizeof(int);
	int *pinned, *device, called = 0;
	hipStream_t first, second;
	hipEvent_t start, copied, end;
	HIP_CHECK(hipHostMalloc((void **)&pinned, bytes, hipHostMallocDefault));
	HIP_CHECK(hipMalloc((void **)&device, bytes));
	HIP_CHECK(hipStreamCreate(&first));
	HIP_CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
	HIP_CHECK(hipEventCreate(&start));
	HIP_CHECK(hipEventCreateWithFlags(&copied, hipEventDisableTiming));
	HIP_CHECK(hipEventCreate(&end));
	for (int i = 0; i < n; i++)
		pinned[i] = i;

	HIP_CHECK(hipEventRecord(start, first));
	HIP_CHECK(hipMemcpyAsync(device, pinned, bytes, hipMemcpyHostToDevice, first));
	HIP_CHECK(hipEventRecord(copied, first));
	HIP_CHECK(hipStreamWaitEvent(second, copied, 0));
	add<<<(n + 63) / 64, 64, 0, second>>>(device, n, 5);
	HIP_CHECK(hipMemcpyAsync(pinned, device, bytes, hipMemcpyDeviceToHost, second));
	HIP_CHECK(hipEventRecord(end, second));
	HIP_CHECK(hipStreamAddCallback(second, on_done, &called, 0));
	HIP_CHECK(hipStreamSynchronize(second));
	HIP_CHECK(hipEventSynchronize(end));
	long wrong = 0;
	for (int i = 0; i < n; i++)
		wrong += pinned[i] != i + 5;
	float milliseconds = -1;
	HIP_CHECK(hipEventElapsedTime(&milliseconds, start, end));
	verdict("copies", wrong);
	verdict("event time", !(milliseconds >= 0));
	verdict("callback", called != 1);
	printf("stream idle: %s\n", hipGetErrorName(hipStreamQuery(first)));

	HIP_CHECK(hipMemsetAsync(device, 0x11, bytes, first));
	HIP_CHECK(hipMemcpy(pinned, device, bytes, hipMemcpyDefault));
	HIP_CHECK(hipStreamSynchronize(first));
	HIP_CHECK(hipMemcpy(pinned, device, bytes, hipMemcpyDeviceToHost));
	wrong = 0;
	for (int i = 0; i < n; i++)
		wrong += pinned[i] != 0x11111111;
	verdict("memset", wrong);
	HIP_CHECK(hipEventDestroy(start));
	HIP_CHECK(hipEventDestroy(copied));
	HIP_CHECK(hipEventDestroy(end));
	HIP_CHECK(hipStreamDestroy(first));
	HIP_CHECK(hipStreamDestroy(second));
	HIP_CHECK(hipHostFree(pinned));
	HIP_CHECK(hipFree(device));
	return 0;
}
