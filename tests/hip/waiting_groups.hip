/* Groups that wait for each other: a queue of tickets, and a chain in which each group needs the
 * one before. On a GPU all of them are resident; here they must get turns. */
#include "hip_test.h"

__global__ void chain(int *flags, int *values)
{
	int group = gridDim.x - 1 - blockIdx.x; /* the last group starts the chain */
	if (threadIdx.x)
		return;
	if (group)
		while (__hip_atomic_load(&flags[group - 1], __ATOMIC_ACQUIRE,
					 __HIP_MEMORY_SCOPE_AGENT) == 0)
			;
	values[group] = group ? values[group - 1] + group : 1;
	__hip_atomic_store(&flags[group], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

__global__ void last_one_adds(const int *in, int *parts, unsigned *done, int *total)
{
	__shared__ bool last;
	if (threadIdx.x == 0) {
		int sum = 0;
		for (int i = 0; i < 64; i++)
			sum += in[blockIdx.x * 64 + i];
		parts[blockIdx.x] = sum;
		__threadfence();
		last = atomicAdd(done, 1u) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && threadIdx.x == 0)
		for (unsigned g = 0; g < gridDim.x; g++)
			*total += parts[g];
}

int main()
{
	int *flags = managed<int>(8), *values = managed<int>(8);
	for (int i = 0; i < 8; i++)
		flags[i] = values[i] = 0;
	LAUNCH(chain<<<8, 32>>>(flags, values));
	verdict("chain", values[7] != 29);

	int *in = managed<int>(640), *parts = managed<int>(10), *total = managed<int>(1);
	unsigned *done = managed<unsigned>(1);
	*done = 0;
	*total = 0;
	for (int i = 0; i < 640; i++)
		in[i] = i;
	LAUNCH(last_one_adds<<<10, 32>>>(in, parts, done, total));
	verdict("last one adds", *total != 640 * 639 / 2);
	return 0;
}
