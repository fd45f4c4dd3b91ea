/* Kernels that touch what is not theirs: the launch fails, the program goes on. */
#include "hip_test.h"

__global__ void put(int *data, int value)
{
	data[threadIdx.x] = value;
}

/* How the launch ends; the device is usable afterwards. */
static const char *outcome(int *data)
{
	put<<<1, 64>>>(data, 7);
	hipError_t error = hipDeviceSynchronize();
	const char *name = hipGetErrorName(error);
	if (error != hipSuccess) {
		bool same = hipStreamSynchronize(NULL) == error;
		printf("stays so: %s\n", same ? "yes" : "no");
		(void)hipDeviceReset();
		(void)hipGetLastError();
	}
	return name;
}

int main()
{
	int *freed, *device;
	printf("null: %s\n", outcome(NULL));
	HIP_CHECK(hipMalloc((void **)&freed, 4096));
	HIP_CHECK(hipFree(freed));
	printf("freed: %s\n", outcome(freed));
	HIP_CHECK(hipMalloc((void **)&device, 64 * sizeof(int)));
	printf("far beyond: %s\n", outcome(device + (1 << 20)));
	HIP_CHECK(hipMalloc((void **)&device, 64 * sizeof(int)));
	printf("its own: %s\n", outcome(device));
	return 0;
}
