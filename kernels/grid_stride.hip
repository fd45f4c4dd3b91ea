/*
 * Fewer lanes than elements: lane i of S = groups * lanes adds one to elements i, i + S, i + 2 S
 * and so on.
 *
 * What its trace must show, with n a multiple of S and of 1024, P = n * 4 / 4096 pages:
 *   launch   n reads, n writes; one run of P pages, all lines read and written
 *   stream   group g's k-th page is (g * lanes + k * S) * 4 / 4096, read, then written: each group
 *            has 2 * n / S touches where S * 4 is a multiple of 4096, P * 2 * (4096 / (4 * lanes))
 *            in all where lanes * 4 divides 4096
 *
 * Under driver `demand` at 4 KiB: P device faults, 4096 P bytes to the device, as many back.
 */
#include "kernel_common.h"

__global__ void grid_stride(int *__restrict__ data, long n)
{
	long stride = (long)gridDim.x * blockDim.x;
	for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
		data[i] += 1;
}

int main(int argc, char **argv)
{
	long n = 1 << 22, groups = 64, lanes = 256;
	const struct option_row rows[] = {
		{"n", "COUNT", "integers (default 4194304)", &n, nullptr, nullptr},
		{"groups", "COUNT", "work-groups (default 64)", &groups, nullptr, nullptr},
		{"lanes", "COUNT", "lanes of a group, at most 1024 (default 256)", &lanes, nullptr,
		 nullptr},
	};
	parse_options(argc, argv, "A grid-stride loop.", rows, 3);

	int *data;
	HIP_CHECK(hipMallocManaged(&data, n * sizeof(*data), hipMemAttachGlobal));
	for (long i = 0; i < n; i++)
		data[i] = (int)(i % 1021);
	grid_stride<<<groups, lanes>>>(data, n);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = 0;
	for (long i = 0; i < n; i++)
		wrong += data[i] != (int)(i % 1021) + 1;
	HIP_CHECK(hipFree(data));
	return report("grid_stride", wrong);
}
