/* What kernels ask of the runtime: memory, clocks, an end. The last launch fails, the program does
 * not. */
#include "hip_test.h"

#include <assert.h>

enum { LANES = 32, NUMBERS = 64 };

__global__ void take(int **of)
{
	int *mine = (int *)malloc(NUMBERS * sizeof(*mine));
	for (int i = 0; i < NUMBERS; i++)
		mine[i] = i * threadIdx.x;
	of[threadIdx.x] = mine;
}

__global__ void give_back(int **of, int *sum)
{
	for (int i = 0; i < NUMBERS; i++)
		sum[threadIdx.x] += of[threadIdx.x][i];
	free(of[threadIdx.x]);
}

struct seven {
	int value;
	__device__ seven() : value(7)
	{
	}
};

__global__ void create(int *out)
{
	int *numbers = new int[10];
	memset(numbers, 0, 10 * sizeof(*numbers));
	memcpy(numbers, out, 2 * sizeof(*numbers));
	out[2] = numbers[0] + numbers[1] + numbers[9];
	delete[] numbers;
	seven *s = new seven;
	out[3] = s->value;
	delete s;
}

__global__ void clocks(long long *out)
{
	(void)out;
#ifdef __HIP_DEVICE_COMPILE__ /* HIP 5.2 has wall_clock64() there only */
	out[0] = clock64();
	out[1] = wall_clock64();
	out[2] = clock();
	out[3] = __clock64() - out[0];
	out[4] = wall_clock64() - out[1];
#endif
}

__global__ void claim(int n)
{
	assert(n < 3);
}

int main()
{
	int **of = managed<int *>(LANES), *out = managed<int>(LANES);
	long wrong = 0;
	for (int i = 0; i < LANES; i++)
		out[i] = 0;
	LAUNCH(take<<<1, LANES>>>(of));
	LAUNCH(give_back<<<1, LANES>>>(of, out));
	for (int i = 0; i < LANES; i++)
		wrong += out[i] != i * NUMBERS * (NUMBERS - 1) / 2;
	verdict("memory", wrong);

	out[0] = 5;
	out[1] = 6;
	LAUNCH(create<<<1, 1>>>(out));
	verdict("objects", (out[2] != 11) + (out[3] != 7));

	long long *ticks = managed<long long>(5);
	LAUNCH(clocks<<<1, 1>>>(ticks));
	verdict("clocks", !ticks[2] + (ticks[3] <= 0) + (ticks[4] <= 0));

	LAUNCH(claim<<<1, 4>>>(2));
	claim<<<1, 4>>>(3);
	printf("assert: %s\n", hipGetErrorName(hipDeviceSynchronize()));
	return 0;
}
