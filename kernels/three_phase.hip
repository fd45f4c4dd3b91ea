/*
 * The CPU fills an array, the GPU adds to it, the CPU adds to it again: the same pages needed on
 * both sides in turn, `rounds` times.
 *
 * What its trace must show, with P = n * 4 / 4096 pages, n a multiple of 1024, r rounds:
 *   host, before  P pages written
 *   each round    a launch with n reads and n writes of P pages, all lines; then P pages written
 *                 by the host
 *
 * Under driver `demand` at 4 KiB: r * P device faults, r * P host faults, 4096 * r * P bytes each
 * way. Larger pages divide the faults, not the bytes (P a multiple of the page's pages).
 *
 * Under driver `amdgpu_svm`, with B = n * 4 / 2 MiB blocks, rounded up: with XNACK r * B faults of
 * the device and of the host each, the same bytes, 2 ms (r * B - 1) at least. With room for N < B,
 * at most 64 MiB (ranges of 2 MiB): as many device faults and bytes, r * N host faults. Without
 * XNACK: no fault, no migration, 64 * r * P lines read and as many written remotely.
 */
#include "kernel_common.h"

__global__ void add_on_gpu(int *data, long n, int amount)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] += amount;
}

static void add_on_cpu(int *data, long n, int amount)
{
	for (long i = 0; i < n; i++)
		data[i] += amount;
}

int main(int argc, char **argv)
{
	const unsigned lanes = 256;
	long n = 1 << 20, rounds = 1;
	const struct option_row rows[] = {
		{"n", "COUNT", "integers (default 1048576)", &n, nullptr, nullptr},
		{"rounds", "COUNT", "GPU and CPU phases after the first (default 1)", &rounds,
		 nullptr, nullptr},
	};
	parse_options(argc, argv, "CPU, GPU and CPU again on the same pages.", rows, 2);

	int *data;
	HIP_CHECK(hipMallocManaged(&data, n * sizeof(*data), hipMemAttachGlobal));
	for (long i = 0; i < n; i++)
		data[i] = (int)(i % 1021);
	for (long round = 0; round < rounds; round++) {
		add_on_gpu<<<(n + lanes - 1) / lanes, lanes>>>(data, n, 3);
		HIP_CHECK(hipGetLastError());
		HIP_CHECK(hipDeviceSynchronize());
		add_on_cpu(data, n, 4);
	}
	long wrong = 0;
	for (long i = 0; i < n; i++)
		wrong += data[i] != (int)(i % 1021 + 7 * rounds);
	HIP_CHECK(hipFree(data));
	return report("three_phase", wrong);
}
