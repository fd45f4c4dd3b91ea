/* Shuffles, ballots and votes, for any wave size; in branches, too. */
#include "hip_test.h"

struct results {
	int down, up, butterfly, broadcast, half_width, any, all, inside;
	unsigned long long ballot, odd;
	float real;
	double wide;
};

__global__ void wave(results *out)
{
	int lane = threadIdx.x % warpSize;
	results r = {};
	r.down = __shfl_down(lane, 3);
	r.up = __shfl_up(lane, 2);
	r.butterfly = __shfl_xor(lane, 5);
	r.broadcast = __shfl((int)threadIdx.x, 7);
	r.half_width = __shfl_down(lane, 1, 16);
	r.any = __any(lane == 11);
	r.all = __all(lane >= 0);
	r.ballot = __ballot(lane % 3 == 0);
	r.real = __shfl(lane * 0.5f, warpSize - 1);
	r.wide = __shfl(lane * 0.25, 1);
	if (lane % 2)
		r.odd = __ballot(1);
	else
		r.inside = __popcll(__ballot(lane < 8));
	out[threadIdx.x] = r;
}

__global__ void sum(const int *in, int *out)
{
	int value = in[blockIdx.x * blockDim.x + threadIdx.x];
	for (int step = warpSize / 2; step; step /= 2)
		value += __shfl_down(value, step);
	if (threadIdx.x % warpSize == 0)
		atomicAdd(out, value);
}

/* The first lane of a wave takes a number for all, the others have none before the shuffle. */
#pragma clang diagnostic ignored "-Wsometimes-uninitialized"
__global__ void queue(int *next, int *out)
{
	int mine;
	if (threadIdx.x % warpSize == 0)
		mine = atomicAdd(next, 1);
	out[threadIdx.x] = __shfl(mine, 0);
}

static unsigned long long lanes_where(int width, int modulus, int rest)
{
	unsigned long long mask = 0;
	for (int i = 0; i < width; i++)
		if (i % modulus == rest)
			mask |= 1ull << i;
	return mask;
}

static long count_wrong(const results *r, int thread, int width)
{
	int lane = thread % width, first = thread - lane;
	long wrong = 0;
	wrong += r->down != (lane + 3 < width ? lane + 3 : lane);
	wrong += r->up != (lane >= 2 ? lane - 2 : lane);
	wrong += r->butterfly != (lane ^ 5);
	wrong += r->broadcast != first + 7;
	wrong += r->half_width != (lane % 16 < 15 ? lane + 1 : lane);
	wrong += !r->any + !r->all;
	wrong += r->ballot != lanes_where(width, 3, 0);
	wrong += r->real != (width - 1) * 0.5f;
	wrong += r->wide != 0.25;
	wrong += lane % 2 ? r->odd != lanes_where(width, 2, 1) : r->inside != 4;
	return wrong;
}

int main()
{
	int device, width;
	HIP_CHECK(hipGetDevice(&device));
	HIP_CHECK(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, device));
	results *r = managed<results>(256);
	LAUNCH(wave<<<1, 256>>>(r));
	long wrong = 0;
	for (int i = 0; i < 256; i++)
		wrong += count_wrong(&r[i], i, width);
	verdict("wave", wrong);

	int *in = managed<int>(1024), *total = managed<int>(1);
	*total = 0;
	for (int i = 0; i < 1024; i++)
		in[i] = i;
	LAUNCH(sum<<<4, 256>>>(in, total));
	verdict("sum", *total != 1024 * 1023 / 2);

	*total = 0;
	LAUNCH(queue<<<1, 256>>>(total, in));
	wrong = *total != 256 / width;
	for (int i = 0; i < 256; i++)
		wrong += in[i] != i / width;
	verdict("queue", wrong);
	return 0;
}
