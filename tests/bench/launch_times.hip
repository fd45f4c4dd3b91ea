/*
 * Times of launches, for selection.sh: a few kernels that access memory much and little, each launched as often
 * as the argument says, with the CPU time that each launch took: "KERNEL NUMBER MICROSECONDS".
 */
#include <hip/hip_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LANES  256
#define GROUPS 512
#define WORDS  (LANES * GROUPS)

__global__ void copy(float *to, const float *from)
{
	unsigned i = blockIdx.x * LANES + threadIdx.x;

	to[i] = from[i];
}

__global__ void stencil(float *to, const float *from)
{
	unsigned i = blockIdx.x * LANES + threadIdx.x;
	float sum = 0;

	for (unsigned k = 0; k < 5; k++)
		sum += from[(i + k * LANES) % WORDS];
	to[i] = sum * 0.2f;
}

__global__ void row_sum(float *to, const float *from)
{
	unsigned i = blockIdx.x * LANES + threadIdx.x;
	float sum = 0;

	for (unsigned k = 0; k < 64; k++)
		sum += from[(i + k * 16) % WORDS];
	to[i] = sum;
}

__global__ void compute(float *to, const float *from)
{
	unsigned i = blockIdx.x * LANES + threadIdx.x;
	float value = from[i];

	for (unsigned k = 0; k < 256; k++)
		value = value * 1.0001f + 0.5f;
	to[i] = value;
}

__global__ void tile_sum(float *to, const float *from)
{
	__shared__ float tile[LANES];
	unsigned i = blockIdx.x * LANES + threadIdx.x;

	tile[threadIdx.x] = from[i];
	for (unsigned stride = LANES / 2; stride; stride /= 2) {
		__syncthreads();
		if (threadIdx.x < stride)
			tile[threadIdx.x] += tile[threadIdx.x + stride];
	}
	if (threadIdx.x == 0)
		to[blockIdx.x] = tile[0];
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void time_launch(const char *name, void (*kernel)(float *, const float *), float *data,
			int n)
{
	double start = now_us();

	kernel<<<GROUPS, LANES>>>(data, data + WORDS);
	if (hipDeviceSynchronize() != hipSuccess)
		exit(1);
	printf("%s %d %.1f\n", name, n, now_us() - start);
}

int main(int count, char **words)
{
	int launches = count > 1 ? atoi(words[1]) : 1;
	float *data;

	if (hipMallocManaged((void **)&data, 2 * WORDS * sizeof(float)) != hipSuccess)
		return 1;
	for (int i = 0; i < 2 * WORDS; i++)
		data[i] = (float)i;
	for (int n = 1; n <= launches; n++) {
		time_launch("copy", copy, data, n);
		time_launch("stencil", stencil, data, n);
		time_launch("row_sum", row_sum, data, n);
		time_launch("compute", compute, data, n);
		time_launch("tile_sum", tile_sum, data, n);
	}
	return hipFree(data) != hipSuccess;
}
