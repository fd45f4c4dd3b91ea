/*
 * One launch that sweeps its data `sweeps` times, as a persistent kernel does: the groups stay, the
 * data goes past them. Each group has a part of its own (n / groups elements), so that no group
 * waits for another.
 *
 * What its trace must show, with P = n * 4 / 4096 pages, s sweeps, and each group's part a whole
 * number of pages, more than the stream's filter holds:
 *   launch   s * n reads and as many writes; one run of P pages, all lines read and written
 *   stream   each group's pages in order, read and written, s times over: 2 * s * P touches in all
 *
 * Under driver `demand` at 4 KiB with room for P / 2 pages and one group, evicting in fault order:
 * s * P device faults: every sweep finds that the sweep before has pushed its pages out. With room
 * for all of it: P.
 *
 * Under driver `amdgpu_svm`, n * 4 at most 2 MiB (one range, one block): with XNACK 1 device fault,
 * the bytes once each way. With room for less than all of it: 1 device fault that device memory is
 * refused to, no migration, 64 P lines read and 64 P written remotely. So without XNACK, with no
 * fault.
 */
#include "kernel_common.h"

__global__ void persistent(unsigned *data, long part, long sweeps)
{
	unsigned *mine = data + blockIdx.x * part;
	for (long sweep = 0; sweep < sweeps; sweep++)
		for (long i = threadIdx.x; i < part; i += blockDim.x)
			mine[i] = mine[i] * 3 + 1;
}

int main(int argc, char **argv)
{
	long n = 1 << 20, groups = 1, lanes = 256, sweeps = 4;
	const struct option_row rows[] = {
		{"n", "COUNT", "integers, a multiple of groups (default 1048576)", &n, nullptr,
		 nullptr},
		{"sweeps", "COUNT", "times over the data (default 4)", &sweeps, nullptr, nullptr},
		{"groups", "COUNT", "work-groups (default 1)", &groups, nullptr, nullptr},
		{"lanes", "COUNT", "lanes of a group, at most 1024 (default 256)", &lanes, nullptr,
		 nullptr},
	};
	parse_options(argc, argv, "One launch that sweeps its data several times.", rows, 4);
	if (n % groups) {
		fprintf(stderr, "persistent: n must be a multiple of groups\n");
		return 2;
	}

	unsigned *data;
	HIP_CHECK(hipMallocManaged(&data, n * sizeof(*data), hipMemAttachGlobal));
	for (long i = 0; i < n; i++)
		data[i] = (unsigned)i;
	persistent<<<groups, lanes>>>(data, n / groups, sweeps);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	/* s times x -> 3x + 1 is x -> factor x + offset. */
	unsigned factor = 1, offset = 0;
	for (long sweep = 0; sweep < sweeps; sweep++) {
		factor *= 3;
		offset = offset * 3 + 1;
	}
	long wrong = 0;
	for (long i = 0; i < n; i++)
		wrong += data[i] != factor * (unsigned)i + offset;
	HIP_CHECK(hipFree(data));
	return report("persistent", wrong);
}
