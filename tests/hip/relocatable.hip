/* Two units with -fgpu-rdc: functions, variables, classes and templates across them. */
#include "relocatable.h"

static __device__ int own = 1000;

static __global__ void unit(int *data)
{
	square four(4);
	const shape &any = four;

	data[threadIdx.x] = scaled(threadIdx.x) + own;
	atomicAdd(&counter, 1);
	if (threadIdx.x == 63) {
		data[0] = any.area();
		data[1] = choose(true)(5);
		data[2] = choose(false)(6);
		total += 1;
	}
}

int main()
{
	int *data = managed<int>(64);
	int count;

	run_other(data);
	printf("the other unit: %d\n", data[63]);
	LAUNCH(fill<int><<<1, 64>>>(data, 7));
	printf("a template of both: %d\n", data[63]);
	LAUNCH(unit<<<1, 64>>>(data));
	printf("a function and a constant: %d\n", data[63]);
	printf("a virtual function: %d\n", data[0]);
	printf("function pointers: %d %d\n", data[1], data[2]);
	HIP_CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
	printf("a variable: %d\n", count);
	printf("a managed variable: %d\n", total);
	return 0;
}
