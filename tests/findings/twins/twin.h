/*
 * What the twins share. Each is one program with a fault and, as `corrected`, without: matrix.sh says
 * what the head comment of each has to say.
 */
#ifndef TWIN_H
#define TWIN_H

#include "../../../kernels/kernel_common.h"

#define LANES 256

/* Whether it runs as `PROGRAM corrected`, not `PROGRAM faulty`; another word exits 2. */
static inline bool is_corrected(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "corrected") == 0)
		return true;
	if (argc == 2 && strcmp(argv[1], "faulty") == 0)
		return false;
	fprintf(stderr, "usage: %s faulty|corrected\n", argv[0]);
	exit(2);
}

static inline int *alloc_managed(long n)
{
	int *memory;

	HIP_CHECK(hipMallocManaged(&memory, n * sizeof(int), hipMemAttachGlobal));
	return memory;
}

static inline void host_fill(int *data, long n, int value)
{
	for (long i = 0; i < n; i++)
		data[i] = value;
}

static inline long host_wrong(const int *data, long n, int value)
{
	long wrong = 0;

	for (long i = 0; i < n; i++)
		wrong += data[i] != value;
	return wrong;
}

__attribute__((unused)) static __global__ void add(int *data, long n, int amount)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] += amount;
}

/* `stride` apart; sums go to one place a group, which keeps them true. */
__attribute__((unused)) static __global__ void gather(const int *data, int *sums, long n, long stride)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sums[i] = data[i * stride];
}

static inline unsigned groups(long n)
{
	return (unsigned)((n + LANES - 1) / LANES);
}

#endif
