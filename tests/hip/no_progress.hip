/* A launch that waits for what never comes fails and says so, where a GPU would hang. The device is
 * then lost to the program, as after any failed launch. */
#include "hip_test.h"

__global__ void wait_for_ever(int *flag)
{
	while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0)
		;
}

__global__ void fine(int *flag)
{
	*flag = 5;
}

int main()
{
	int *flag = managed<int>(1);
	*flag = 0;
	wait_for_ever<<<2, 64>>>(flag);
	hipError_t launch = hipGetLastError(), later = hipDeviceSynchronize();
	printf("waits for ever: %s\n", hipGetErrorName(launch ? launch : later));
	fine<<<1, 1>>>(flag);
	hipError_t after = hipDeviceSynchronize();
	printf("afterwards: %s\n", hipGetErrorName(after));
	return 0;
}
