/* Launches and calls that cannot be: the error comes where HIP's documentation has it. */
#include "hip_test.h"

__global__ void nothing()
{
}

int main()
{
	nothing<<<1, 2048>>>();
	printf("2048 lanes: %s\n", hipGetErrorName(hipGetLastError()));
	nothing<<<0, 64>>>();
	printf("no group: %s\n", hipGetErrorName(hipGetLastError()));
	nothing<<<1, 64, 1 << 20>>>();
	printf("1 MiB of LDS: %s\n", hipGetLastError() == hipSuccess ? "accepted" : "refused");
	printf("after: %s\n", hipGetErrorName(hipGetLastError()));
	printf("no such device: %s\n", hipGetErrorName(hipSetDevice(1000)));
	void *memory, *other = NULL;
	printf("too much: %s\n", hipGetErrorName(hipMalloc(&memory, 1ull << 50)));
	printf("null: %s\n", hipGetErrorName(hipMalloc(NULL, 16)));
	printf("copy kind: %s\n",
	       hipGetErrorName(hipMemcpy(&memory, &other, sizeof(other), (hipMemcpyKind)77)));
	(void)hipGetLastError();
	LAUNCH(nothing<<<1, 64>>>());
	puts("still works");
	return 0;
}
