/*
 * Allocates as programs do: through CUDA's runtime, through HIP's name for it, through the driver, behind
 * wrappers. Whose each allocation is, names.sh knows.
 */
#include "fake_cuda.h"

#include <stdint.h>
#include <stdlib.h>

#define hipMallocManaged cudaMallocManaged /* as umhipcc --nvidia has it */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		if ((call) != 0)                                                                   \
			exit(1);                                                                   \
	} while (0)

struct grid {
	float *cells;
	float *edges[2];
};

static float *global_pointer;

/* As cuda_runtime.h's template for pointers of any type. */
static inline int malloc_managed(float **pointer, size_t bytes)
{
	return cudaMallocManaged((void **)(void *)pointer, bytes, 1);
}

/* A wrapper's variable says nothing. */
static __attribute__((noinline)) float *checked_alloc(size_t bytes)
{
	void *memory = NULL;

	CHECK(cudaMallocManaged(&memory, bytes, 1));
	return memory;
}

static __attribute__((noinline)) void set_up(struct grid *of)
{
	CHECK(hipMallocManaged((void **)&of->edges[1], 4096, 1));
	__asm__ volatile("" ::"r"(of) : "memory");
}

int main(void)
{
	struct grid local = {0}, *heap = calloc(1, sizeof(*heap));
	float *field;
	uint64_t of_driver;

	CHECK(cuInit(0) || !heap);
	CHECK(malloc_managed(&field, 4096));
	CHECK(hipMallocManaged((void **)&local.cells, 4096, 1));
	CHECK(cudaMallocManaged((void **)&global_pointer, 4096, 1));
	CHECK(cuMemAllocManaged(&of_driver, 4096, 1));
	set_up(heap);
	float *one = checked_alloc(4096);
	float *other = checked_alloc(8192);
	__asm__ volatile("" ::"r"(one), "r"(other), "r"(field), "r"(&local) : "memory");
	free(heap);
	return 0;
}
