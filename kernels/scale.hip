/*
 * The CPU writes n floats, the GPU doubles them, the CPU reads them back.
 *
 * What its trace must show, with P = n * 4 / 4096 pages, n a multiple of 1024:
 *   allocation   one, managed, n * 4 bytes
 *   host, before P pages written
 *   launch       n reads, n writes, 4n bytes each way; one run of P pages, all 64 lines read and
 *                written, first access a read; 128 requests a page (64 of reads, 64 of writes)
 *   host, after  P pages read (--host-pages-read=K: the first K)
 * A last page of r bytes has ceil(r / 64) lines, and 2 * ceil(r / 64) requests.
 *
 * Under driver `demand`:
 *   4 KiB                P device faults, 4096 P bytes to the device, as many back
 *   64 KiB               P / 16 device faults, the same bytes (P a multiple of 16)
 *   --prefetch           no device fault, the same bytes
 *   --advise=preferred-host  no migration; 64 P lines read and 64 P lines written remotely
 *
 * Under driver `amdgpu_svm`, with B = n * 4 / 2 MiB blocks, rounded up:
 *   XNACK on             B device faults and B host faults, the same bytes, 2 ms (B - 1) for the
 *                        launch at least; a block comes back whole, however few of its pages the
 *                        host reads
 *   room for N < B blocks, at most 64 MiB: ranges of 2 MiB; the same device faults and bytes, B - N
 *                        evicted and N host faults
 *   XNACK off            no fault, no migration; 64 P lines read and 64 P lines written remotely
 *   --prefetch           no device fault, the same bytes; XNACK off: the queues stop at the
 *                        prefetch and at the host's reading
 *   --advise=preferred-host  as XNACK off, but that with XNACK B device faults map the blocks
 */
#include "kernel_common.h"

__global__ void scale(float *data, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] *= 2.0f;
}

static float value_at(long i)
{
	return (float)(i % 1021);
}

int main(int argc, char **argv)
{
	const long page_floats = 4096 / sizeof(float);
	const unsigned lanes = 256;
	long n = 1 << 20, host_pages = 0;
	bool prefetch = false;
	const char *advice = nullptr;
	const struct option_row rows[] = {
		{"n", "COUNT", "floats (default 1048576)", &n, nullptr, nullptr},
		{"prefetch", nullptr, "prefetch to the GPU before the launch", nullptr, &prefetch,
		 nullptr},
		{"advise", "LIST", ADVICE_CHOICES, nullptr, nullptr, &advice},
		{"host-pages-read", "COUNT", "read only so many pages afterwards (default all)",
		 &host_pages, nullptr, nullptr},
	};
	parse_options(argc, argv, "CPU writes, GPU doubles, CPU reads.", rows, 4);

	int device;
	HIP_CHECK(hipGetDevice(&device));
	float *data;
	size_t bytes = n * sizeof(*data);
	HIP_CHECK(hipMallocManaged(&data, bytes, hipMemAttachGlobal));
	give_advice(data, bytes, advice, device);

	for (long i = 0; i < n; i++)
		data[i] = value_at(i);
	if (prefetch)
		HIP_CHECK(hipMemPrefetchAsync(data, bytes, device, 0));
	scale<<<(n + lanes - 1) / lanes, lanes>>>(data, n);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());

	long wrong = 0;
	long end = host_pages && host_pages * page_floats < n ? host_pages * page_floats : n;
	for (long i = 0; i < end; i++)
		wrong += data[i] != 2.0f * value_at(i);
	HIP_CHECK(hipFree(data));
	return report("scale", wrong);
}
