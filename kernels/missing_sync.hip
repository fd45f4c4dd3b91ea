/*
 * The CPU reads what the GPU writes before it has waited for it. That is the fault which this program is
 * for: between the launch and hipDeviceSynchronize() nothing orders the host's reads behind the kernel, so
 * that a GPU may give it old values, new ones, or some of each, and one without concurrent managed access
 * ends the program. Where launches complete before they return, as they do under umtrace without a GPU,
 * the values are the new ones and the program ends with "ok": only the trace shows what is missing. The
 * verdict is of the values read after the synchronisation, which hold everywhere.
 *
 * What its trace must show, with P = n * 4 / 4096 pages, n a multiple of 1024:
 *   host, before  P pages written
 *   launch        n reads, n writes; P pages, all lines
 *   host, early   P pages read (--early-pages=K: the first K), by an op between the launch and the
 *                 synchronisation. None with --sync, where the synchronisation comes first
 *   host, after   P pages read
 *   operations    alloc, host, launch, host, sync_device, host, free; --sync: alloc, host, launch,
 *                 sync_device, host, free
 *
 * To find it in any trace: what the host touched (kind 'host') of the pages that a launch wrote, with no
 * synchronisation between the two:
 *   SELECT DISTINCT host.op FROM page_access AS w JOIN op AS launch ON launch.op = w.op
 *   JOIN page_access AS r ON r.allocation = w.allocation AND r.op > w.op JOIN op AS host ON host.op = r.op
 *   WHERE launch.kind = 'launch' AND w.lines_written <> 0 AND host.kind = 'host'
 *   AND r.first_page < w.first_page + w.pages AND w.first_page < r.first_page + r.pages
 *   AND NOT EXISTS (SELECT 1 FROM op AS wait WHERE wait.op BETWEEN launch.op AND host.op
 *                   AND wait.kind IN ('sync_device', 'sync_stream', 'event_sync'));
 * (which stream was waited for it does not ask).
 *
 * Under driver `demand`, 4 KiB: P device faults and P host faults, 4096 P bytes each way. In a replay the
 * host takes no time between its calls: what it reads early it reads before the kernel has begun, without a
 * fault, in its own memory: the old values. All host faults are those of the reading after the
 * synchronisation; with --sync of the first reading.
 */
#include "kernel_common.h"

__global__ void triple(unsigned *data, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] *= 3;
}

static unsigned value_at(long i)
{
	return (unsigned)(i % 1021);
}

/* How many of the first n words are not tripled. */
static long count_old(const unsigned *data, long n)
{
	long old = 0;

	for (long i = 0; i < n; i++)
		old += data[i] != 3 * value_at(i);
	return old;
}

int main(int argc, char **argv)
{
	const long page_words = 4096 / sizeof(unsigned);
	const unsigned lanes = 256;
	long n = 1 << 16, early_pages = 0;
	bool sync = false;
	const struct option_row rows[] = {
		{"n", "COUNT", "words (default 65536)", &n, nullptr, nullptr},
		{"early-pages", "COUNT", "read only so many pages early (default all)",
		 &early_pages, nullptr, nullptr},
		{"sync", nullptr, "wait for the GPU first, as one must", nullptr, &sync, nullptr},
	};
	parse_options(argc, argv, "The CPU reads what a kernel writes, and does not wait for it.",
		      rows, 3);

	unsigned *data;
	HIP_CHECK(hipMallocManaged(&data, n * sizeof(*data), hipMemAttachGlobal));
	for (long i = 0; i < n; i++)
		data[i] = value_at(i);
	triple<<<(n + lanes - 1) / lanes, lanes>>>(data, n);
	HIP_CHECK(hipGetLastError());
	if (sync)
		HIP_CHECK(hipDeviceSynchronize());
	/* Here hipDeviceSynchronize() is missing. */
	long early = early_pages && early_pages * page_words < n ? early_pages * page_words : n;
	long old = count_old(data, early);
	if (!sync)
		HIP_CHECK(hipDeviceSynchronize());
	if (old)
		fprintf(stderr, "missing_sync: %ld of %ld words were read too early\n", old, early);
	long wrong = count_old(data, n);
	HIP_CHECK(hipFree(data));
	return report("missing_sync", wrong);
}
