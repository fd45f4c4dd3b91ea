/* Calls that only the device knows: through tables and pointers, virtual ones of objects that one
 * kernel makes and another uses, closures from the host. */
#include "hip_test.h"

typedef int (*function)(int);

__managed__ int calls = 4;
__managed__ int doubled[16];

__device__ int next(int x)
{
	return x + 1;
}

__device__ int twice(int x)
{
	return x * 2;
}

__device__ function table[2] = {next, twice};
__device__ function chosen = twice;

struct base {
	__device__ virtual int get(int x) const = 0;
	__device__ virtual ~base()
	{
	}
};

struct adds : base {
	int much;
	__device__ explicit adds(int m) : much(m)
	{
	}
	__device__ int get(int x) const override
	{
		return x + much;
	}
};

struct negates : base {
	__device__ int get(int x) const override
	{
		return -x;
	}
};

__global__ void create(base **objects)
{
	objects[0] = new adds(10);
	objects[1] = new negates;
}

__global__ void use(base *const *objects, int *out)
{
	int i = threadIdx.x;
	out[i] = objects[i & 1]->get(i) + table[i >> 1 & 1](3);
	doubled[i] = twice(i);
	atomicAdd(&calls, 1);
}

__global__ void destroy(base **objects)
{
	delete objects[0];
	delete objects[1];
}

__global__ void call(function f, int *out)
{
	*out = f(21);
}

template <typename F> __global__ void each(F f)
{
	f(threadIdx.x);
}

int main()
{
	base **objects = managed<base *>(2);
	int *out = managed<int>(64);
	LAUNCH(create<<<1, 1>>>(objects));
	LAUNCH(use<<<1, 4>>>(objects, out));
	LAUNCH(destroy<<<1, 1>>>(objects));
	verdict("virtual", (out[0] != 14) + (out[1] != 3) + (out[2] != 18) + (out[3] != 3));
	verdict("managed", (calls != 8) + (doubled[3] != 6));

	function f;
	HIP_CHECK(hipMemcpyFromSymbol(&f, HIP_SYMBOL(chosen), sizeof(f)));
	LAUNCH(call<<<1, 1>>>(f, out));
	verdict("pointer", *out != 42);

	LAUNCH(each<<<1, 64>>>([=] __device__(int i) { out[i] = i * i; }));
	verdict("closure", out[63] != 63 * 63);
	return 0;
}
