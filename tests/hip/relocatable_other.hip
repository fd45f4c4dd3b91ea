#include "relocatable.h"

__device__ int counter = 100;
__constant__ int factor;
__managed__ int total = 7;

static __device__ int own = 2;
static __shared__ int shared[64];

__device__ int scaled(int value)
{
	return value * factor + own;
}

__device__ square::square(int side) : side(side)
{
}

__device__ int square::area() const
{
	return side * side;
}

static __device__ int negated(int value)
{
	return -value;
}

static __device__ int same(int value)
{
	return value;
}

__device__ operation choose(bool negative)
{
	return negative ? negated : same;
}

/* Of a name that the other unit has as well. */
static __global__ void unit(int *data)
{
	shared[threadIdx.x] = own;
	__syncthreads();
	data[threadIdx.x] += shared[63 - threadIdx.x];
}

void run_other(int *data)
{
	int three = 3;
	HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &three, sizeof three));
	LAUNCH(fill<int><<<1, 64>>>(data, 40));
	LAUNCH(unit<<<1, 64>>>(data));
}
