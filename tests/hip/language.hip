/* What kernels are written with beyond loads and stores: vectors, half, bits, structs by value,
 * recursion, function pointers, virtual calls made on the device, local arrays, memcpy and memset.
 */
#include "hip_test.h"

#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>

__global__ void vectors(float4 *data, int2 *pairs)
{
	int i = threadIdx.x;
	float4 v = data[i];
	v.x += v.y * v.z;
	v.w = -v.w;
	data[i] = v * make_float4(2, 2, 2, 2);
	pairs[i] = make_int2(pairs[i].y, pairs[i].x);
}

static long check_vectors()
{
	float4 *data = managed<float4>(64);
	int2 *pairs = managed<int2>(64);
	for (int i = 0; i < 64; i++) {
		data[i] = make_float4(i, 2, 3, 4);
		pairs[i] = make_int2(i, -i);
	}
	LAUNCH(vectors<<<1, 64>>>(data, pairs));
	long wrong = 0;
	for (int i = 0; i < 64; i++)
		wrong += data[i].x != 2 * (i + 6) || data[i].y != 4 || data[i].w != -8 ||
			 pairs[i].x != -i || pairs[i].y != i;
	return wrong;
}

__global__ void halves(__half *data, float *out)
{
	int i = threadIdx.x;
	data[i] = __hadd(data[i], __float2half(0.5f));
	out[i] = __half2float(__hmul(data[i], data[i]));
}

static long check_halves()
{
	__half *data = managed<__half>(64);
	float *out = managed<float>(64);
	for (int i = 0; i < 64; i++)
		data[i] = __float2half(i / 4.0f);
	LAUNCH(halves<<<1, 64>>>(data, out));
	long wrong = 0;
	for (int i = 0; i < 64; i++) {
		float exact = (i / 4.0f + 0.5f) * (i / 4.0f + 0.5f);
		float error = out[i] - exact;
		wrong += !(error <= exact * 0.001f && -error <= exact * 0.001f);
	}
	return wrong;
}

__global__ void bits(unsigned *out, unsigned x)
{
	out[0] = __popc(x);
	out[1] = __clz(x);
	out[2] = __ffs(x);
	out[3] = __brev(x);
	out[4] = __umulhi(x, 0x10000u);
	out[5] = __popcll((unsigned long long)x << 20 | x);
	out[6] = __mul24(3, 5);
	out[7] = __float_as_uint(1.0f);
	out[8] = __byte_perm(0x03020100u, 0x07060504u, 0x5140u);
}

static long check_bits()
{
	unsigned *out = managed<unsigned>(9);
	LAUNCH(bits<<<1, 1>>>(out, 0x00f01200u));
	const unsigned wanted[9] = {6,	8,  10,		 0x00480f00u, 0x000000f0u,
				    12, 15, 0x3f800000u, 0x05010400u};
	long wrong = 0;
	for (int i = 0; i < 9; i++)
		wrong += out[i] != wanted[i];
	return wrong;
}

struct large {
	int values[40];
	double factor;
};

__global__ void by_value(struct large arguments, char flag, double *out, short offset)
{
	out[threadIdx.x] = arguments.values[threadIdx.x] * arguments.factor + flag + offset;
}

static long check_by_value()
{
	double *out = managed<double>(40);
	struct large arguments;
	for (int i = 0; i < 40; i++)
		arguments.values[i] = i * i;
	arguments.factor = 0.25;
	LAUNCH(by_value<<<1, 40>>>(arguments, 3, out, -7));
	long wrong = 0;
	for (int i = 0; i < 40; i++)
		wrong += out[i] != i * i * 0.25 - 4;
	return wrong;
}

__device__ int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int twice(int x)
{
	return 2 * x;
}

__device__ int square(int x)
{
	return x * x;
}

struct animal {
	__device__ virtual int legs() const
	{
		return 4;
	}
};

struct bird : animal {
	__device__ int legs() const override
	{
		return 2;
	}
};

__global__ void calls(int *out)
{
	int (*functions[2])(int) = {twice, square};
	bird b;
	animal a;
	const animal *which = threadIdx.x % 2 ? (const animal *)&b : &a;
	out[threadIdx.x] = fibonacci(threadIdx.x % 12) + functions[threadIdx.x % 2](threadIdx.x) +
			   which->legs();
}

static long check_calls()
{
	const int fibonacci_of[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
	int *out = managed<int>(64);
	LAUNCH(calls<<<1, 64>>>(out));
	long wrong = 0;
	for (int i = 0; i < 64; i++)
		wrong += out[i] != fibonacci_of[i % 12] + (i % 2 ? i * i + 2 : 2 * i + 4);
	return wrong;
}

__global__ void blocks(int *to, const int *from)
{
	int mine[16], *target = to + 16 * threadIdx.x;
	memcpy(mine, from + 16 * threadIdx.x, sizeof(mine));
	for (int i = 0; i < 8; i++) {
		int keep = mine[i];
		mine[i] = mine[15 - i];
		mine[15 - i] = keep;
	}
	memset(target, 0x7f, sizeof(mine));
	for (unsigned i = threadIdx.x % 2; i < 16; i += 2)
		target[i] = mine[i];
}

static long check_blocks()
{
	int *from = managed<int>(16 * 32), *to = managed<int>(16 * 32);
	for (int i = 0; i < 16 * 32; i++)
		from[i] = i;
	LAUNCH(blocks<<<1, 32>>>(to, from));
	long wrong = 0;
	for (int lane = 0; lane < 32; lane++)
		for (int i = 0; i < 16; i++)
			wrong += to[16 * lane + i] !=
				 (i % 2 == lane % 2 ? 16 * lane + 15 - i : 0x7f7f7f7f);
	return wrong;
}

__global__ void complex_numbers(hipDoubleComplex *data)
{
	int i = threadIdx.x;
	data[i] = hipCmul(data[i], data[i]);
}

static long check_complex()
{
	hipDoubleComplex *data = managed<hipDoubleComplex>(32);
	for (int i = 0; i < 32; i++)
		data[i] = make_hipDoubleComplex(i, 1);
	LAUNCH(complex_numbers<<<1, 32>>>(data));
	long wrong = 0;
	for (int i = 0; i < 32; i++)
		wrong += data[i].x != i * i - 1 || data[i].y != 2 * i;
	return wrong;
}

__global__ void shapes(int *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	int z = blockIdx.z * blockDim.z + threadIdx.z;
	int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
	out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

static long check_shapes()
{
	int *out = managed<int>(15 * 8 * 6);
	LAUNCH(shapes<<<dim3(3, 4, 2), dim3(5, 2, 3)>>>(out));
	long wrong = 0;
	for (int z = 0; z < 6; z++)
		for (int y = 0; y < 8; y++)
			for (int x = 0; x < 15; x++)
				wrong += out[(z * 8 + y) * 15 + x] != x + 100 * y + 10000 * z;
	return wrong;
}

int main()
{
	verdict("vectors", check_vectors());
	verdict("half", check_halves());
	verdict("bits", check_bits());
	verdict("structs by value", check_by_value());
	verdict("calls", check_calls());
	verdict("blocks", check_blocks());
	verdict("complex", check_complex());
	verdict("three dimensions", check_shapes());
	return 0;
}
