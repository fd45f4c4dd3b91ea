/*
 * A vector that grows without moving: a range of addresses is reserved once, and memory is mapped behind
 * what is there already when it is needed (hipMemAddressReserve, hipMemCreate, hipMemMap,
 * hipMemSetAccess). The GPU appends to it what the CPU writes into a managed buffer, chunk by chunk.
 *
 * What its trace must show, with C chunks of b bytes (a multiple of the granularity, 2 MiB where
 * hipMemGetAllocationGranularity() recommends that; n = b / 4 words, P = b / 4096 pages):
 *   allocations   one managed of b bytes; C of kind device of b bytes, each where the one before ends. The
 *                 range itself is none: addresses are no memory
 *   host          P pages of the buffer written before each append
 *   launches      C appends of n reads and n writes: P pages of the buffer read, P of the new chunk
 *                 written. Then one sum over all chunks: C n reads, one launch that crosses them
 *   frees         each chunk's, when it is unmapped; --shrink=K: the last K before the sum, and then the
 *                 sum is of C - K
 *
 * Under any driver the chunks are device memory and do not migrate. Under `demand`, 4 KiB: C P device faults
 * and C - 1 times P host faults for the buffer, 1 fault each way for the page of the sum.
 * Not for NVIDIA: CUDA has these calls in its driver API only.
 */
#include "kernel_common.h"

#include <vector>

__global__ void append(const unsigned *__restrict__ from, unsigned *__restrict__ to, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] = from[i] * 2;
}

/* One block: each lane its share, then a tree of sums. */
__global__ void sum_all(const unsigned *data, long n, unsigned long *out)
{
	__shared__ unsigned long part[256];
	unsigned long sum = 0;

	for (long i = threadIdx.x; i < n; i += blockDim.x)
		sum += data[i];
	part[threadIdx.x] = sum;
	__syncthreads();
	for (unsigned half = blockDim.x / 2; half; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*out = part[0];
}

struct vector {
	hipMemAllocationProp properties;
	char *start;
	size_t chunk_bytes, reserved_bytes;
	std::vector<hipMemGenericAllocationHandle_t> chunks;
};

static void open_vector(struct vector *v, int device, size_t wanted_bytes, long capacity)
{
	size_t granularity;

	v->properties = {};
	v->properties.type = hipMemAllocationTypePinned;
	v->properties.location = {hipMemLocationTypeDevice, device};
	HIP_CHECK(hipMemGetAllocationGranularity(&granularity, &v->properties,
						 hipMemAllocationGranularityRecommended));
	v->chunk_bytes = (wanted_bytes + granularity - 1) / granularity * granularity;
	v->reserved_bytes = v->chunk_bytes * capacity;
	HIP_CHECK(hipMemAddressReserve((void **)&v->start, v->reserved_bytes, 0, nullptr, 0));
}

static unsigned *grow(struct vector *v)
{
	hipMemGenericAllocationHandle_t chunk;
	char *end = v->start + v->chunks.size() * v->chunk_bytes;
	hipMemAccessDesc access = {};

	access.location = v->properties.location;
	access.flags = hipMemAccessFlagsProtReadWrite;
	HIP_CHECK(hipMemCreate(&chunk, v->chunk_bytes, &v->properties, 0));
	HIP_CHECK(hipMemMap(end, v->chunk_bytes, 0, chunk, 0));
	HIP_CHECK(hipMemSetAccess(end, v->chunk_bytes, &access, 1));
	v->chunks.push_back(chunk);
	return (unsigned *)end;
}

static void shrink(struct vector *v)
{
	char *last = v->start + (v->chunks.size() - 1) * v->chunk_bytes;

	HIP_CHECK(hipMemUnmap(last, v->chunk_bytes));
	HIP_CHECK(hipMemRelease(v->chunks.back()));
	v->chunks.pop_back();
}

static void close_vector(struct vector *v)
{
	while (!v->chunks.empty())
		shrink(v);
	HIP_CHECK(hipMemAddressFree(v->start, v->reserved_bytes));
}

static unsigned value_at(long chunk, long i)
{
	return (unsigned)(i % 509 + chunk);
}

static void append_chunk(struct vector *v, unsigned *buffer, long chunk)
{
	const unsigned lanes = 256;
	long n = v->chunk_bytes / 4;

	for (long i = 0; i < n; i++)
		buffer[i] = value_at(chunk, i);
	append<<<(n + lanes - 1) / lanes, lanes>>>(buffer, grow(v), n);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
}

static unsigned long sum_of(const struct vector *v, unsigned long *sum)
{
	sum_all<<<1, 256>>>((unsigned *)v->start, v->chunks.size() * v->chunk_bytes / 4, sum);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	return *sum;
}

static unsigned long expected_of(const struct vector *v)
{
	unsigned long sum = 0;

	for (size_t chunk = 0; chunk < v->chunks.size(); chunk++)
		for (size_t i = 0; i < v->chunk_bytes / 4; i++)
			sum += value_at(chunk, i) * 2;
	return sum;
}

int main(int argc, char **argv)
{
	long chunks = 4, chunk_bytes = 1, dropped = 0;
	const char *fewer = "0";
	const struct option_row rows[] = {
		{"chunks", "COUNT", "that the vector grows by (default 4)", &chunks, nullptr,
		 nullptr},
		{"chunk-bytes", "BYTES", "of one, rounded up (default: what is recommended)",
		 &chunk_bytes, nullptr, nullptr},
		{"shrink", "COUNT", "chunks given back before the sum (default 0)", nullptr,
		 nullptr, &fewer},
	};
	parse_options(argc, argv, "A vector that grows by mapping memory behind its end.", rows, 3);
	dropped = strtol(fewer, nullptr, 0);
	if (dropped < 0 || dropped >= chunks) {
		fprintf(stderr, "vmm: --shrink must leave a chunk\n");
		return 2;
	}
	int device;
	HIP_CHECK(hipGetDevice(&device));
	struct vector v = {};
	open_vector(&v, device, chunk_bytes, chunks);
	unsigned *buffer;
	unsigned long *sum;
	HIP_CHECK(hipMallocManaged(&buffer, v.chunk_bytes, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&sum, sizeof(*sum), hipMemAttachGlobal));
	for (long chunk = 0; chunk < chunks; chunk++)
		append_chunk(&v, buffer, chunk);
	for (long i = 0; i < dropped; i++)
		shrink(&v);
	long wrong = sum_of(&v, sum) != expected_of(&v);
	HIP_CHECK(hipFree(sum));
	HIP_CHECK(hipFree(buffer));
	close_vector(&v);
	return report("vmm", wrong);
}
