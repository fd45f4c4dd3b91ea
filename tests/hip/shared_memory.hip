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
	return 0;
}
