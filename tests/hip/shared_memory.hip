/* Static and dynamic LDS, barriers in loops, several arrays, groups of many shapes. */
#include "hip_test.h"

__global__ void reduce_static(const int *in, int *out)
{
	__shared__ int part[256];
	unsigned lane = threadIdx.x;
	part[lane] = in[blockIdx.x * 256 + lane];
	__syncthreads();
	for (unsigned half = 128; half; half /= 2) {
		if (lane < half)
			part[lane] += part[lane + half];
		__syncthreads();
	}
	if (lane == 0)
		out[blockIdx.x] = part[0];
}

__global__ void reverse_dynamic(double *data)
{
	extern __shared__ double keep[];
	unsigned lane = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
	unsigned lanes = blockDim.x * blockDim.y * blockDim.z;
	double *mine = data + (size_t)lanes * blockIdx.x;
	keep[lane] = mine[lane];
	__syncthreads();
	mine[lane] = keep[lanes - 1 - lane];
}

struct pair {
	float x;
	int y;
};

__global__ void both(pair *out)
{
	__shared__ pair fixed[64];
	extern __shared__ char bytes[];
	pair *moving = (pair *)bytes;
	int lane = threadIdx.x;
	fixed[lane] = {lane * 0.5f, lane};
	moving[63 - lane] = {lane * 2.0f, -lane};
	__syncthreads();
	out[lane] = {fixed[63 - lane].x + moving[lane].x, fixed[63 - lane].y + moving[lane].y};
}

/* Half of the LDS each: no two of them would fit into one group. */
template <int add> __global__ void half_of_lds(int *out)
{
	__shared__ int half[8192];
	int lane = threadIdx.x;
	half[lane * 128 + add] = lane + add;
	__syncthreads();
	out[lane] = half[(63 - lane) * 128 + add];
}

/* Oversteps its array, but not the granule of 512 bytes that a GPU gives it. */
__global__ void to_the_end_of_the_granule(int *out)
{
	__shared__ int few[72];
	int lane = threadIdx.x;
	few[lane] = lane;
	few[lane + 64] = -lane;
	__syncthreads();
	out[lane] = few[63 - lane] + few[127 - lane];
}

template <int add> static long run_half(int *out)
{
	const void *kernel = (const void *)half_of_lds<add>;
	hipFuncAttributes attributes;
	long wrong = 0;

	HIP_CHECK(hipFuncGetAttributes(&attributes, kernel));
	LAUNCH(half_of_lds<add><<<2, 64>>>(out));
	for (int i = 0; i < 64; i++)
		wrong += out[i] != 63 - i + add;
	return wrong + (attributes.sharedSizeBytes != 32768);
}

int main()
{
	int *in = managed<int>(1024), *sums = managed<int>(4);
	for (int i = 0; i < 1024; i++)
		in[i] = i;
	LAUNCH(reduce_static<<<4, 256>>>(in, sums));
	long wrong = 0;
	for (int g = 0; g < 4; g++)
		wrong += sums[g] != 256 * 256 * g + 255 * 128;
	verdict("static", wrong);

	double *data = managed<double>(360);
	for (int i = 0; i < 360; i++)
		data[i] = i;
	LAUNCH(reverse_dynamic<<<3, dim3(10, 4, 3), 120 * sizeof(double)>>>(data));
	wrong = 0;
	for (int i = 0; i < 360; i++)
		wrong += data[i] != i / 120 * 120 + 119 - i % 120;
	verdict("dynamic", wrong);

	pair *out = managed<pair>(64);
	LAUNCH(both<<<1, 64, 64 * sizeof(pair)>>>(out));
	wrong = 0;
	for (int i = 0; i < 64; i++)
		wrong += out[i].x != (63 - i) * 2.5f || out[i].y != 0;
	verdict("both", wrong);

	int *lanes = managed<int>(64);
	verdict("half of it each", run_half<0>(lanes) + run_half<1>(lanes) + run_half<2>(lanes));

	LAUNCH(to_the_end_of_the_granule<<<3, 64>>>(lanes));
	wrong = 0;
	for (int i = 0; i < 64; i++)
		wrong += lanes[i] != 0;
	verdict("granule", wrong);
	return 0;
}
