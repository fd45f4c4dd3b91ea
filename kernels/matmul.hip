/*
 * C = A B by tiles in LDS, A of M x K, B of K x N, row-major floats.
 *
 * What its trace must show (T = 16, the tile; pages(X) = ceil(bytes of X / 4096)):
 *   host, before  pages(A) and pages(B) written; C is never touched by the host before
 *   launch        ceil(M / T) * ceil(N / T) groups of T x T lanes;
 *                 M K ceil(N / T) + K N ceil(M / T) reads, M N writes; static LDS 2 T T floats;
 *                 A and B only read, C only written; accesses of LDS are in none of these
 *   host, after   pages(C) read: the check's own A and B are ordinary memory
 *
 * Under driver `demand` at 4 KiB: pages(A) + pages(B) + pages(C) device faults,
 * 4096 (pages(A) + pages(B)) bytes to the device (C is born there), 4096 pages(C) back.
 * --prefetch    A and B come by prefetch: pages(C) device faults
 * --advise      A and B are read-mostly, C prefers the device: the same bytes
 * --copies      no managed memory: hipMalloc and hipMemcpy, 4 (M K + K N) bytes to the device and
 *               4 M N back
 *
 * Under driver `amdgpu_svm`, each of the three at most 2 MiB: with XNACK 3 device faults
 * (--prefetch 1, --advise 3: read-mostly does nothing) and the same bytes. Without: no fault, no
 * migration, all lines of A and B read and of C written remotely; --prefetch: A and B move, C stays
 * remote. --copies: the same.
 *
 * Entries are small integers, so that sums are exact in any order and the check is for equality.
 */
#include "kernel_common.h"

#include <vector>

#define TILE 16

__global__ void matmul(const float *__restrict__ a, const float *__restrict__ b,
		       float *__restrict__ c, int m, int n, int k)
{
	__shared__ float tile_a[TILE][TILE];
	__shared__ float tile_b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y;
	int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
	float sum = 0;
	for (int step = 0; step < k; step += TILE) {
		tile_a[y][x] = row < m && step + x < k ? a[(size_t)row * k + step + x] : 0;
		tile_b[y][x] = step + y < k && column < n ? b[(size_t)(step + y) * n + column] : 0;
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += tile_a[y][i] * tile_b[i][x];
		__syncthreads();
	}
	if (row < m && column < n)
		c[(size_t)row * n + column] = sum;
}

struct shape {
	long m, n, k;
};

struct matrices {
	float *a, *b, *c;
	size_t a_bytes, b_bytes, c_bytes;
};

static void launch(const struct matrices *x, const struct shape *shape)
{
	dim3 groups((shape->n + TILE - 1) / TILE, (shape->m + TILE - 1) / TILE);
	matmul<<<groups, dim3(TILE, TILE)>>>(x->a, x->b, x->c, shape->m, shape->n, shape->k);
	HIP_CHECK(hipGetLastError());
}

static void run_managed(const struct shape *shape, const std::vector<float> &a,
			const std::vector<float> &b, std::vector<float> &c, bool advise,
			bool prefetch)
{
	struct matrices x = {nullptr, nullptr, nullptr, a.size() * 4, b.size() * 4, c.size() * 4};
	int device;
	HIP_CHECK(hipGetDevice(&device));
	HIP_CHECK(hipMallocManaged(&x.a, x.a_bytes, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&x.b, x.b_bytes, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&x.c, x.c_bytes, hipMemAttachGlobal));
	if (advise) {
		give_advice(x.a, x.a_bytes, "read-mostly", device);
		give_advice(x.b, x.b_bytes, "read-mostly", device);
		give_advice(x.c, x.c_bytes, "preferred-device", device);
	}
	memcpy(x.a, a.data(), x.a_bytes);
	memcpy(x.b, b.data(), x.b_bytes);
	if (prefetch) {
		HIP_CHECK(hipMemPrefetchAsync(x.a, x.a_bytes, device, 0));
		HIP_CHECK(hipMemPrefetchAsync(x.b, x.b_bytes, device, 0));
	}
	launch(&x, shape);
	HIP_CHECK(hipDeviceSynchronize());
	memcpy(c.data(), x.c, x.c_bytes);
	HIP_CHECK(hipFree(x.a));
	HIP_CHECK(hipFree(x.b));
	HIP_CHECK(hipFree(x.c));
}

static void run_copies(const struct shape *shape, const std::vector<float> &a,
		       const std::vector<float> &b, std::vector<float> &c)
{
	struct matrices x = {nullptr, nullptr, nullptr, a.size() * 4, b.size() * 4, c.size() * 4};
	HIP_CHECK(hipMalloc(&x.a, x.a_bytes));
	HIP_CHECK(hipMalloc(&x.b, x.b_bytes));
	HIP_CHECK(hipMalloc(&x.c, x.c_bytes));
	HIP_CHECK(hipMemcpy(x.a, a.data(), x.a_bytes, hipMemcpyHostToDevice));
	HIP_CHECK(hipMemcpy(x.b, b.data(), x.b_bytes, hipMemcpyHostToDevice));
	launch(&x, shape);
	HIP_CHECK(hipMemcpy(c.data(), x.c, x.c_bytes, hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(x.a));
	HIP_CHECK(hipFree(x.b));
	HIP_CHECK(hipFree(x.c));
}

static std::vector<float> small_integers(size_t count, unsigned seed)
{
	std::vector<float> values(count);
	for (float &value : values) {
		seed = seed * 1664525u + 1013904223u; /* Numerical Recipes' generator */
		value = (float)(int)(seed >> 29) - 3.0f;
	}
	return values;
}

static std::vector<float> multiply_on_cpu(const struct shape *shape, const std::vector<float> &a,
					  const std::vector<float> &b)
{
	std::vector<float> c(shape->m * shape->n);
	for (long i = 0; i < shape->m; i++)
		for (long p = 0; p < shape->k; p++) {
			float left = a[i * shape->k + p];
			const float *from = &b[p * shape->n];
			float *to = &c[i * shape->n];
			for (long j = 0; j < shape->n; j++)
				to[j] += left * from[j];
		}
	return c;
}

int main(int argc, char **argv)
{
	struct shape shape = {256, 256, 256};
	bool advise = false, prefetch = false, copies = false;
	const struct option_row rows[] = {
		{"m", "COUNT", "rows of A and C (default 256)", &shape.m, nullptr, nullptr},
		{"n", "COUNT", "columns of B and C (default 256)", &shape.n, nullptr, nullptr},
		{"k", "COUNT", "columns of A, rows of B (default 256)", &shape.k, nullptr, nullptr},
		{"advise", nullptr, "A and B read-mostly, C preferred on the GPU", nullptr, &advise,
		 nullptr},
		{"prefetch", nullptr, "prefetch A and B before the launch", nullptr, &prefetch,
		 nullptr},
		{"copies", nullptr, "device memory and explicit copies instead", nullptr, &copies,
		 nullptr},
	};
	parse_options(argc, argv, "C = A B by tiles.", rows, 6);
	if (copies && (advise || prefetch)) {
		fprintf(stderr, "matmul: --copies has no managed memory to advise or prefetch\n");
		return 2;
	}

	std::vector<float> a = small_integers(shape.m * shape.k, 1);
	std::vector<float> b = small_integers(shape.k * shape.n, 2);
	std::vector<float> c(shape.m * shape.n);
	if (copies)
		run_copies(&shape, a, b, c);
	else
		run_managed(&shape, a, b, c, advise, prefetch);
	std::vector<float> expected = multiply_on_cpu(&shape, a, b);
	long wrong = 0;
	for (size_t i = 0; i < c.size(); i++)
		wrong += c[i] != expected[i];
	return report("matmul", wrong);
}
