/* A library that allocates and launches for the program. */
#include "sites.h"

__global__ void library_kernel(float *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] += 1;
}

float *library_make(std::size_t n)
{
	float *made = nullptr;
	CHECK(hipMallocManaged(&made, n * sizeof(float))); // in:library_make
	return made;
}

void library_step(float *data, int n)
{
	library_kernel<<<(n + 63) / 64, 64>>>(data, n); // in:library_step
	CHECK(hipGetLastError());
}
