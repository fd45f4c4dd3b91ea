/*
 * Data are attached to the stream of their only kernel, which lets no host wait for less here: host and device
 * touch managed memory at any time. Corrected: without.
 *
 * Finding: advice-without-effect
 * Trace: --xnack=on
 * Expect: .verdict == "no_effect" and (.title | startswith("attaching ")) and (.changes[0].code | contains("hipStreamAttachMemAsync"))
 */
#include "twin.h"

int main(int argc, char **argv)
{
	const long n = 1 << 19;
	bool corrected = is_corrected(argc, argv);
	int device = 0;
	hipStream_t stream;

	HIP_CHECK(hipStreamCreate(&stream));
	int *data = alloc_managed(n);
	if (!corrected)
		HIP_CHECK(hipStreamAttachMemAsync(stream, data, 0, hipMemAttachSingle)); /* FINDING */
	host_fill(data, n, 1);
	HIP_CHECK(hipMemPrefetchAsync(data, n * sizeof(int), device, stream));
	add<<<groups(n), LANES, 0, stream>>>(data, n, 1);
	HIP_CHECK(hipStreamSynchronize(stream));
	long wrong = host_wrong(data, n, 2);
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	return report("attach_without_effect", wrong);
}
