/*
 * One kernel on memory of five kinds, four of which HIP did not allocate: it adds 1 to each of
 *   large      P pages of malloc, which are a mapping of their own; the host has written them all
 *   small      64 ints of malloc, in the heap
 *   on_stack   64 ints on main's stack
 *   global     64 ints, a variable of the program
 *   managed    M pages of hipMallocManaged
 * N launches in all, each of P * 1024 lanes; a lane adds to one int of `large`, the first 64 to the
 * other four, and each of the first M * 1024 to `managed`.
 *
 * On AMD hardware this takes HSA_XNACK=1 and a kernel with HMM.
 *
 * What its trace must show, with L = N * (P * 1024 + M * 1024 + 3 * 64):
 *   without umtrace --pageable
 *     launch     M * 1024 reads and as many writes; loss 'outside' of 2 * (P * 1024 + 3 * 64)
 *   with it
 *     launch     L / N reads, L / N writes, no loss 'outside'
 *     large      an allocation of kind pageable without a name and flags; it holds at least P pages
 *                (the kernel joins mappings), of which the first P + 1 that are touched are
 *                consecutive: malloc's header lies before them, so that the ints begin 16 bytes into
 *                the first page and end 16 bytes into the last
 *     small      in '[heap]', flags 1;  on_stack  in '[stack]', flags 2
 *     global     in a mapping of the program or, since it is not initialised, in the one behind it
 *     lines      of the large buffer: 64 a page but for the last, which has 1
 *     before the first launch the host has written all pages of the five; before the others nothing
 *
 * Under driver amdgpu_svm with XNACK on, 2 MiB pages, N = 1:
 *     heap, stack    stay on the host: their lines are read and written remotely
 *     large          migrates in as many pieces as blocks of 2 MiB it lies in
 */
#include "kernel_common.h"

#define PAGE_INTS  1024
#define SMALL_INTS 64

struct places {
	int *large, *small, *on_stack, *global, *managed;
	long large_ints, managed_ints;
};

static int global[SMALL_INTS] __attribute__((aligned(SMALL_INTS * sizeof(int))));

__global__ void add_one(struct places places)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < places.large_ints)
		places.large[i]++;
	if (i < places.managed_ints)
		places.managed[i]++;
	if (i >= SMALL_INTS)
		return;
	places.small[i]++;
	places.on_stack[i]++;
	places.global[i]++;
}

static long count_wrong(const int *values, long count, long launches)
{
	long wrong = 0;

	for (long i = 0; i < count; i++)
		wrong += values[i] != i + launches;
	return wrong;
}

static void count_up(int *values, long count)
{
	for (long i = 0; i < count; i++)
		values[i] = i;
}

int main(int argc, char **argv)
{
	long pages = 1024, managed_pages = 16, launches = 1;
	const struct option_row rows[] = {
		{"pages", "COUNT", "of the large buffer, at least 64 (default 1024)", &pages, nullptr,
		 nullptr},
		{"managed-pages", "COUNT", "of managed memory (default 16)", &managed_pages, nullptr,
		 nullptr},
		{"launches", "COUNT", "(default 1)", &launches, nullptr, nullptr},
	};
	parse_options(argc, argv, "Kernels on memory that HIP did not allocate.", rows, 3);
	if (pages < 64 || managed_pages > pages) {
		fprintf(stderr, "--pages: at least 64, and as many as --managed-pages\n");
		return 2;
	}

	int on_stack[SMALL_INTS] __attribute__((aligned(SMALL_INTS * sizeof(int))));
	struct places places = {};
	places.large_ints = pages * PAGE_INTS;
	places.managed_ints = managed_pages * PAGE_INTS;
	places.large = (int *)malloc(places.large_ints * sizeof(int));
	places.small = (int *)aligned_alloc(SMALL_INTS * sizeof(int), SMALL_INTS * sizeof(int));
	places.on_stack = on_stack;
	places.global = global;
	HIP_CHECK(hipMallocManaged(&places.managed, places.managed_ints * sizeof(int),
				   hipMemAttachGlobal));
	if (!places.large || !places.small) {
		fprintf(stderr, "stack_and_heap: out of memory\n");
		return 1;
	}
	count_up(places.large, places.large_ints);
	count_up(places.small, SMALL_INTS);
	count_up(on_stack, SMALL_INTS);
	count_up(global, SMALL_INTS);
	count_up(places.managed, places.managed_ints);

	for (long i = 0; i < launches; i++)
		add_one<<<pages * PAGE_INTS / 256, 256>>>(places);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());

	long wrong = count_wrong(places.large, places.large_ints, launches) +
		     count_wrong(places.small, SMALL_INTS, launches) +
		     count_wrong(on_stack, SMALL_INTS, launches) +
		     count_wrong(global, SMALL_INTS, launches) +
		     count_wrong(places.managed, places.managed_ints, launches);
	HIP_CHECK(hipFree(places.managed));
	free(places.small);
	free(places.large);
	return report("stack_and_heap", wrong);
}
