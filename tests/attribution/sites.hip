/*
 * Calls HIP from a place of every kind. A line that shows in a stack has a tag behind it, by which
 * run.sh knows it; the golden files have the stack of each call and the names. Exits with 0 where the sums are right.
 */
#include "sites.h"

#include <memory>
#include <vector>

__global__ void scale(float *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] *= 2;
}

template <typename T> __global__ void fill(T *data, int n, T value)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] = value;
}

struct grid {
	float *cells;
	float *edges[2];
};

static float *global_pointer;
namespace um
{
static struct {
	grid grids[2];
} state;
} // namespace um

/* On the heap: known by the pointers that the stack has. */
class solver
{
      public:
	__attribute__((noinline)) void setup()
	{
		CHECK(hipMallocManaged(&cells, 4096)); // in:solver-cells
		CHECK(hipMallocManaged(&edges[1], 4096)); // in:solver-edges
	}

      private:
	long id = 0;
	float *cells = nullptr, *edges[2] = {};
};

static __attribute__((noinline)) void set_up(solver &of, grid *g, std::vector<float *> &list)
{
	of.setup(); // in:set_up
	CHECK(hipMallocManaged(&g->edges[0], 4096)); // in:heap-member
	CHECK(hipMallocManaged(&list[2], 4096)); // in:vector-element
}
__managed__ float managed_variable[1024];

/* Inlined at -O2, and as good as seen at -O0. */
static inline float *make(std::size_t n)
{
	float *made;
	CHECK(hipMallocManaged(&made, n * sizeof(float))); // in:make
	return made;
}

__attribute__((noinline)) static void out_parameter(float **out, std::size_t n)
{
	CHECK(hipMallocManaged(out, n * sizeof(float))); // in:out_parameter
}

template <typename T> __attribute__((noinline)) static void fill_all(T *data, int n)
{
	fill<T><<<(n + 63) / 64, 64>>>(data, n, T(1)); // in:fill_all
	CHECK(hipGetLastError());
}

static __attribute__((noinline)) void recurse(int depth, float *data)
{
	if (depth > 0)
		recurse(depth - 1, data); // in:recurse
	else
		CHECK(hipMemset(data, 0, 256)); // in:recurse-end
	__asm__ volatile("" ::: "memory");
}

static void allocate_all(grid *g, float **local)
{
	CHECK(hipMallocManaged(local, 4096));	     // alloc:parameter
	CHECK(hipMallocManaged(&g->cells, 4096));    // alloc:member
	CHECK(hipMallocManaged(&g->edges[1], 4096)); // alloc:element
	CHECK(hipMallocManaged(&global_pointer, 4096)); // alloc:global
	CHECK(hipMallocManaged(&um::state.grids[1].cells, 4096)); // alloc:namespace
	global_pointer[0] = 1;
}

int main()
{
	grid g = {};
	float *local, *through, *many[2];
	hipStream_t stream;
	hipEvent_t event;

	allocate_all(&g, &local); // main:allocate_all
	float *made = make(1024); // main:make
	out_parameter(&through, 1024); // main:out_parameter
	for (int i = 0; i < 2; i++)
		CHECK(hipMalloc(&many[i], 4096)); // main:many
	float *library = library_make(1024); // main:library_make
	auto of = std::make_unique<solver>();
	auto heap_grid = std::make_unique<grid>();
	std::vector<float *> list(4);
	set_up(*of, heap_grid.get(), list); // main:set_up
	CHECK(hipStreamCreate(&stream)); // main:stream
	CHECK(hipEventCreate(&event));
	{
		std::vector<float, um::allocator<float>> vector(1024); // main:vector
		um::buffer raii(1024); // main:raii
		CHECK(hipMemAdvise(raii.data, 4096, hipMemAdviseSetReadMostly, 0)); // main:advise
		CHECK(hipMemPrefetchAsync(raii.data, 4096, 0, stream)); // main:prefetch
		fill_all(vector.data(), 1024); // main:fill_all
		hipLaunchKernelGGL(scale, dim3(16), dim3(64), 0, stream, vector.data(), // main:ggl
				   1024);
		CHECK(hipEventRecord(event, stream)); // main:record
		CHECK(hipEventSynchronize(event)); // main:event
		CHECK(hipStreamSynchronize(stream)); // main:stream_sync
		CHECK(hipDeviceSynchronize()); // main:sync
		if (vector[7] != 2)
			return 1;
	} // main:end
	recurse(3, made); // main:recurse
	CHECK(hipMemcpy(made, local, 512, hipMemcpyDefault)); // main:copy
	CHECK(hipMemcpyAsync(made, local, 512, hipMemcpyDefault, stream)); // main:copy_async
	library_step(library, 1024); // main:library_step
	scale<<<16, 64>>>(through, 1024); // main:scale
	CHECK(hipStreamDestroy(stream)); // main:destroy
	for (float *pointer : {local, g.cells, g.edges[1], made, through, many[0], many[1]})
		CHECK(hipFree(pointer)); // main:free
	return 0;
}
