/* Atomic operations of every type that HIP has them for, and of every scope. */
#include "hip_test.h"

enum { LANES = 64 };

template <typename T> struct cells {
	T sum, sum_system, less, low, high, last, wave, system, stored, loaded;
};

template <typename T> __global__ void numbers(cells<T> *c)
{
	T mine = (T)threadIdx.x;
	atomicAdd(&c->sum, mine);
	atomicAdd_system(&c->sum_system, mine);
	atomicSub(&c->less, (T)1);
	atomicMin(&c->low, mine);
	atomicMax(&c->high, mine);
	atomicExch(&c->last, (T)7);
	__hip_atomic_fetch_add(&c->wave, mine, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT);
	__hip_atomic_fetch_add(&c->system, mine, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
	__hip_atomic_store(&c->stored, (T)4, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
	c->loaded = __hip_atomic_load(&c->stored, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}

template <typename T> static void check_numbers(const char *name)
{
	const T sum = LANES * (LANES - 1) / 2 + 3;
	cells<T> *c = managed<cells<T>>(1);
	*c = {3, 3, 100, 3, 3, 3, 3, 3, 3, 3};
	LAUNCH(numbers<<<1, LANES>>>(c));
	verdict(name, (c->sum != sum) + (c->sum_system != sum) + (c->less != 100 - LANES) +
			      (c->low != 0) + (c->high != LANES - 1) + (c->last != 7) +
			      (c->wave != sum) + (c->system != sum) + (c->loaded != 4));
}

template <typename T> __global__ void bits(T *p)
{
	atomicAnd(&p[0], (T) ~((T)1 << threadIdx.x % 8));
	atomicOr(&p[1], (T)1 << threadIdx.x % 30);
	atomicXor(&p[2], (T)1 << threadIdx.x % 24);
	atomicCAS(&p[3], (T)0, (T)5);
	atomicAnd_system(&p[4], (T)12);
	atomicCAS_system(&p[5], (T)0, (T)3);
}

template <typename T> static void check_bits(const char *name)
{
	T *p = managed<T>(6);
	for (int i = 0; i < 6; i++)
		p[i] = i == 0 ? (T)-1 : i == 4 ? 9 : 0;
	LAUNCH(bits<<<1, LANES>>>(p));
	/* Bits 0 to 15 three times, 16 to 23 twice. */
	verdict(name, (p[0] != (T) ~(T)0xff) + (p[1] != 0x3fffffff) + (p[2] != 0xffff) +
			      (p[3] != 5) + (p[4] != 8) + (p[5] != 3));
}

struct reals {
	float unsafe, safe, of_lds;
	double unsafe_wide, safe_wide, of_lds_wide;
	unsigned up, down, plain;
};

__global__ void add_reals(reals *r)
{
	__shared__ float sum;
	__shared__ double wide;

	unsafeAtomicAdd(&r->unsafe, 1.5f);
	unsafeAtomicAdd(&r->unsafe_wide, 2.5);
	safeAtomicAdd(&r->safe, 1.0f);
	safeAtomicAdd(&r->safe_wide, 1.0);
	atomicInc(&r->up, 10);
	atomicDec(&r->down, 5);
	__atomic_fetch_add(&r->plain, 1, __ATOMIC_RELAXED);
	if (!threadIdx.x)
		sum = 0, wide = 0;
	__syncthreads();
	atomicAdd(&sum, 1.0f);
	atomicAdd(&wide, 1.0);
	__syncthreads();
	r->of_lds = sum;
	r->of_lds_wide = wide;
}

int main()
{
	check_numbers<int>("int");
	check_numbers<unsigned>("unsigned");
	check_numbers<unsigned long>("unsigned long");
	check_numbers<unsigned long long>("unsigned long long");
	check_numbers<float>("float");
	check_numbers<double>("double");
	check_bits<int>("bits of int");
	check_bits<unsigned>("bits of unsigned");
	check_bits<unsigned long>("bits of unsigned long");
	check_bits<unsigned long long>("bits of unsigned long long");

	reals *r = managed<reals>(1);
	*r = {};
	r->down = 3;
	LAUNCH(add_reals<<<1, LANES>>>(r));
	verdict("unsafe", (r->unsafe != 96) + (r->unsafe_wide != 160));
	verdict("safe", (r->safe != 64) + (r->safe_wide != 64));
	verdict("LDS", (r->of_lds != 64) + (r->of_lds_wide != 64));
	verdict("counters", (r->up != 64 % 11) + (r->down != 5) + (r->plain != 64));
	return 0;
}
