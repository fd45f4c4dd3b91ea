/* printf in kernels: in the order of the launches, of the groups and of the lanes, whole lines. */
#include "hip_test.h"

__global__ void lines(int launch)
{
	if (threadIdx.x < 2)
		printf("launch %d group %u lane %u\n", launch, (unsigned)blockIdx.x,
		       (unsigned)threadIdx.x);
}

__global__ void formats()
{
	const char *text = "a string";
	printf("%5d|%-5d|%05d|%x|%#o\n", 42, 42, 42, 255u, 8u);
	printf("%.3f|%10.2e|%g\n", 3.14159, 12345.678, 0.5f);
	printf("%s|%c|%%|%lu|%lld\n", text, 'x', 1ul << 40, -(1ll << 40));
	printf("%*d|%.*f\n", 6, 42, 1, 2.25);
	printf("no arguments\n");
}

int main()
{
	puts("before");
	fflush(stdout);
	lines<<<2, 64>>>(1);
	lines<<<1, 64>>>(2);
	formats<<<1, 1>>>();
	HIP_CHECK(hipDeviceSynchronize());
	puts("after");
	return 0;
}
