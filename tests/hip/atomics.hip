/* Atomic operations on global memory and LDS, every width. */
#include "hip_test.h"

struct cells {
	int sum, low, high, exchanged;
	unsigned bits_or, bits_and, bits_xor, ring;
	unsigned long long wide, wide_max;
	float real;
	double real_wide;
	int cas;
};

__global__ void touch_all(cells *c)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd(&c->sum, i);
	atomicSub(&c->sum, 1);
	atomicMin(&c->low, -i);
	atomicMax(&c->high, i);
	atomicExch(&c->exchanged, 9);
	atomicOr(&c->bits_or, 1u << i % 32);
	atomicAnd(&c->bits_and, ~(1u << i % 16));
	atomicXor(&c->bits_xor, i);
	atomicInc(&c->ring, 99);
	atomicAdd(&c->wide, 1ull << 33);
	atomicMax(&c->wide_max, (unsigned long long)i << 34);
	atomicAdd(&c->real, 0.5f);
	atomicAdd(&c->real_wide, 0.25);
	for (int seen = c->cas, before;; seen = before) {
		before = atomicCAS(&c->cas, seen, seen + 2);
		if (before == seen)
			break;
	}
}

__global__ void histogram(const int *in, int n, int *bins)
{
	__shared__ int mine[16];
	if (threadIdx.x < 16)
		mine[threadIdx.x] = 0;
	__syncthreads();
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&mine[in[i] % 16], 1);
	__syncthreads();
	if (threadIdx.x < 16)
		atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main()
{
	const int n = 512;
	cells *c = managed<cells>(1);
	*c = {};
	c->bits_and = ~0u;
	LAUNCH(touch_all<<<4, 128>>>(c));
	unsigned bits_xor = 0;
	for (int i = 0; i < n; i++)
		bits_xor ^= i;
	verdict("add", c->sum != n * (n - 1) / 2 - n);
	verdict("min max", (c->low != -(n - 1)) + (c->high != n - 1));
	verdict("exchange", c->exchanged != 9);
	verdict("bits",
		(c->bits_or != ~0u) + (c->bits_and != ~0xffffu) + (c->bits_xor != bits_xor));
	verdict("increment", c->ring != n % 100);
	verdict("64 bits", (c->wide != (unsigned long long)n << 33) +
				   (c->wide_max != (unsigned long long)(n - 1) << 34));
	verdict("floating point", (c->real != n * 0.5f) + (c->real_wide != n * 0.25));
	verdict("compare and swap", c->cas != 2 * n);

	int *in = managed<int>(1000), *bins = managed<int>(16);
	for (int i = 0; i < 1000; i++)
		in[i] = i * i;
	for (int b = 0; b < 16; b++)
		bins[b] = 0;
	LAUNCH(histogram<<<8, 128>>>(in, 1000, bins));
	for (int i = 0; i < 1000; i++)
		bins[in[i] % 16]--;
	long wrong = 0;
	for (int b = 0; b < 16; b++)
		wrong += bins[b] != 0;
	verdict("histogram", wrong);
	return 0;
}
