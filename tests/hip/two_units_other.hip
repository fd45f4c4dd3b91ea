#include "two_units.h"

static __global__ void same_name(int *data)
{
	data[threadIdx.x] = 2;
}

__global__ void shared_kernel(int *data, int amount)
{
	data[threadIdx.x] += amount;
}

void run_other(int *data)
{
	LAUNCH(same_name<<<1, 64>>>(data));
}

void run_global(int *data, int amount)
{
	LAUNCH(shared_kernel<<<1, 64>>>(data, amount));
}
