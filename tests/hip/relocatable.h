#include "hip_test.h"

/* Device code that one unit has and both use (-fgpu-rdc). */
extern __device__ int counter;
extern __constant__ int factor;
extern __managed__ int total;
__device__ int scaled(int value);

struct shape {
	__device__ virtual int area() const = 0;
};
struct square final : shape {
	int side;
	__device__ explicit square(int side);
	__device__ int area() const override;
};

typedef int (*operation)(int);
__device__ operation choose(bool negative);

/* In both units. */
template <typename T> __global__ void fill(T *data, T value)
{
	data[threadIdx.x] = value;
}

void run_other(int *data);
