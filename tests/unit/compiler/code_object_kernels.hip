// Kernels of code_object_test.c: each shows one thing that umhipcc must do to device code.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#include <cassert>

#include "code_object_kernels.h"

struct empty {
};
struct copied {
	int value;
	__host__ __device__ explicit copied(int v) : value(v)
	{
	}
	__host__ __device__ copied(const copied &other) : value(other.value)
	{
	}
};

__device__ int counter;
__constant__ float factors[4];
__managed__ int managed_number;

template <typename T> __global__ void modify(T *data)
{
	data[threadIdx.x] *= 2;
}
template __global__ void modify<float>(float *);

extern "C" {

__global__ void sizes(char *c, short *s, long *l, float4 *f, forty_bytes *b)
{
	c[0] = 1;
	s[0] = 2;
	l[0] = 3;
	f[1] = f[0];
	b[1] = b[0];
}

__global__ void atomics(int *i, unsigned *u, double *d, float *f)
{
	atomicAdd(i, 1);
	atomicCAS(i, 1, 2);
	*u += atomicExch(i, 3) - 2;
	atomicInc(u, 7);
	atomicAdd(d, 1.5);
	atomicAdd(f, 0.5f);
}

__global__ void quiet(forty_bytes value, int n, int *out)
{
	__shared__ int fixed[64];
	extern __shared__ int dynamic[];
	int own[10];

	for (int i = 0; i < n; i++)
		own[i] = value.a[(i + 3) % 10] + (int)threadIdx.x;
	fixed[n] = own[n / 2];
	__syncthreads();
	dynamic[n] = fixed[n] + 1;
	counter += dynamic[n] + (int)factors[n & 3];
	out[0] = counter;
}

__global__ void clear(int *out, int n)
{
	for (int i = 0; i < 8; i++)
		out[i] = 0;
	for (int i = 8; i < n; i++)
		out[i] = 0;
}

__global__ void copy(char *to, const char *from, int n)
{
	memcpy(to, from, n);
}

__global__ void managed()
{
	managed_number = 5;
}

__global__ void polite(volatile int *v)
{
	v[0] = v[1];
	v[0] = v[1];
}

__global__ void in_one_buffer(char c, forty_bytes b, empty, small s, float4 f4, bool yes,
			      double *out)
{
	*out = c + b.a[0] + s.i + f4.x + yes;
}

__global__ void parameters(three_floats f3, empty, forty_bytes b, char c, __half h, float4 f4,
			   double2 d2, double *out, mixed m, small s, bool yes, _Float16 q,
			   copied object, int &reference, long long ll, uint2 u2, double4 d4)
{
	*out++ = f3.x;
	*out++ = f3.y;
	*out++ = f3.z;
	*out++ = b.a[0];
	*out++ = b.a[9];
	*out++ = c;
	*out++ = __half2float(h);
	*out++ = f4.x;
	*out++ = f4.w;
	*out++ = d2.y;
	*out++ = m.a;
	*out++ = m.b;
	*out++ = s.c;
	*out++ = s.i;
	*out++ = yes;
	*out++ = (float)q;
	*out++ = object.value;
	*out++ = reference;
	*out++ = ll;
	*out++ = u2.y;
	*out++ = d4.x;
	*out++ = d4.w;
}

__global__ void arms(int which, int value, int *out)
{
	int a;

	if (which)
		a = __shfl(value, 1);
	else
		a = __shfl(value, 1);
	out[0] = __shfl(a, 2);
}

__global__ void loop(int n, int *out)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i & 1)
			sum += __shfl(i, 3);
		else
			sum -= __shfl(i, 4);
		if (sum > 1000)
			break;
	}
	out[0] = __shfl(sum, 5);
}

__global__ void barrier_last(int *out)
{
	out[0] = 1;
	__syncthreads();
}

__global__ void wait_for(volatile int *flag)
{
	while (!*flag)
		;
}

__global__ void lock(int *word)
{
	while (atomicCAS(word, 0, 1))
		;
}

__global__ void in_step(int *out)
{
	__shared__ int s[64];
	volatile int *v = s;
	unsigned t = threadIdx.x;

	s[t] = out[t];
	__syncthreads();
	v[t] += v[t + 2];
	__threadfence_block();
	out[t] = v[t];
}

/* Each lane has cells of its own; the compiler must not keep them in registers. */
#define MEMORY asm volatile("" ::: "memory")
__global__ void alone(int *out)
{
	extern __shared__ int dynamic[];
	__shared__ int s[64];
	__shared__ small cell[64];
	unsigned t = threadIdx.x;

	s[t] = out[0];
	cell[t].c = 1;
	dynamic[2 * t] = 3;
	MEMORY;
	cell[t].i = s[t] + cell[t].c;
	dynamic[2 * t + 1] = dynamic[2 * t];
	MEMORY;
	s[t] += cell[t].i + dynamic[2 * t + 1];
	MEMORY;
	out[0] = s[t];
}

/* Reads what another lane stored, stores what another read, and so again after a barrier. */
__global__ void neighbours(int *out)
{
	__shared__ int s[64], other[64];
	unsigned t = threadIdx.x;

	s[t] = out[0];
	MEMORY;
	other[t] = s[t + 2];
	s[t] = 5;
	__syncthreads();
	out[0] = s[t + 1] + other[t];
	s[t + 3] = 1;
}

/* One lane writes what all read. */
__global__ void told(int *out)
{
	__shared__ int chosen;

	if (threadIdx.x == 0)
		chosen = out[0];
	out[0] = chosen + 1;
}

__global__ void fails(int how)
{
	assert(how != 1);
	if (how == 2)
		abort();
}

__global__ void inside(int *out)
{
	int *block = (int *)malloc(16);

	block[0] = 3;
	out[0] = block[0];
	free(block);
}
}

// Kernels have code only where the host could launch them.
void launch_all(double *d, int *i)
{
	modify<float><<<1, 1>>>((float *)d);
	sizes<<<1, 1>>>((char *)d, nullptr, nullptr, nullptr, nullptr);
	parameters<<<1, 1>>>({}, {}, {}, 0, 0, {}, {}, d, {}, {}, true, (_Float16)0, copied(1), *i,
			     0, {}, {});
}
