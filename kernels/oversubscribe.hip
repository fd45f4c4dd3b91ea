/*
 * Passes over more memory than the device has, page by page, in an order by option:
 *   cyclic   0, 1, ..., P - 1 in each pass
 *   sweep    the same, but every other pass backwards
 *   strided  0, 16, 32, ..., then 1, 17, 33, ..., to the end, in each pass
 *   random   P pages drawn with replacement, others in each pass (a fixed generator)
 * One group of 64 lanes; lane l adds the pass's number, from 1, to the first word of line l.
 *
 * The footprint is --bytes, or --percent of what hipMemGetInfo() calls the device's memory: under
 * `umtrace --memory=4MiB`, 4 MiB.
 *
 * What its trace must show, with P pages, s passes:
 *   host, before  P pages written
 *   launches      one a pass, 64 P reads and 64 P writes; all 64 lines of each page that it touches
 *   stream        each page of the pass's order read, then written
 *   host, after   P pages read
 *
 * Under driver `demand` at 4 KiB with room for M pages, in fault order:
 *   M >= P   P device faults, all in the first pass (random: of the pages drawn), and P back at the
 *            end
 *   M < P    cyclic, strided   s P device faults: what a pass needs next has always just left
 *            sweep, P >= 2 M   P + (s - 1) (P - M): each pass begins with the M that are there
 *            each brings 4096 bytes and sends as many back, at the end for the M pages left
 * At 64 KiB, P and M multiples of 16 and M <= P - 16: cyclic s P / 16 faults, strided s P: the
 * sixteenfold bytes.
 *
 * Under driver `amdgpu_svm` with no more than 64 MiB of device memory, memory is given up by ranges
 * of 2 MiB, Q of them, of which it holds N < Q:
 *   XNACK on   cyclic s Q device faults; sweep, Q >= 2 N: Q + (s - 1) (Q - N); strided 16 s Q;
 *              random: as first in, first out has it; each brings 2 MiB and in the end as many have
 *              gone. --prefetch moves the last range first: N faults fewer, Q moves more
 *   XNACK off  no fault, no migration; 64 s P lines read and as many written remotely; --prefetch:
 *              all of it comes, Q - N ranges leave, and they are accessed remotely
 */
#include "kernel_common.h"

#include <vector>

#define PAGE_WORDS 1024
#define PAGE_LINES 64
#define LINE_WORDS (PAGE_WORDS / PAGE_LINES)
#define STRIDE	   16

enum pattern { CYCLIC, SWEEP, STRIDED, RANDOM };
static const char *const pattern_names[] = {"cyclic", "sweep", "strided", "random"};

/* The finaliser of MurmurHash3 (public domain, Austin Appleby). */
static __host__ __device__ inline unsigned mix(unsigned x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bu;
	x ^= x >> 13;
	x *= 0xc2b2ae35u;
	return x ^ x >> 16;
}

/* The i-th page of pages 0, 16, ..., 1, 17, ...: the first `pages % 16` columns have one more. */
static __host__ __device__ inline unsigned strided_page(unsigned i, unsigned pages)
{
	unsigned short_column = pages / STRIDE, long_columns = pages % STRIDE;
	unsigned in_long = long_columns * (short_column + 1);
	if (i < in_long)
		return i % (short_column + 1) * STRIDE + i / (short_column + 1);
	i -= in_long;
	return i % short_column * STRIDE + long_columns + i / short_column;
}

static __host__ __device__ inline unsigned page_of(enum pattern pattern, unsigned i, unsigned pass,
						   unsigned pages)
{
	switch (pattern) {
	case SWEEP:
		return pass % 2 ? pages - 1 - i : i;
	case STRIDED:
		return strided_page(i, pages);
	case RANDOM:
		return mix(pass * pages + i) % pages;
	case CYCLIC:
		break;
	}
	return i;
}

__global__ void pass_over(unsigned *data, unsigned pages, enum pattern pattern, unsigned pass)
{
	for (unsigned i = 0; i < pages; i++) {
		size_t page = page_of(pattern, i, pass, pages);
		data[page * PAGE_WORDS + threadIdx.x * LINE_WORDS] += pass + 1;
	}
}

static unsigned value_at(size_t page, unsigned line)
{
	return (unsigned)(page * 7 + line);
}

static size_t footprint_of(long percent, long bytes)
{
	size_t left, total;
	if (!percent)
		return bytes;
	HIP_CHECK(hipMemGetInfo(&left, &total));
	return (size_t)((double)total * percent / 100);
}

static long count_wrong(const unsigned *data, unsigned pages, enum pattern pattern, unsigned passes)
{
	std::vector<unsigned> added(pages);
	for (unsigned pass = 0; pass < passes; pass++)
		for (unsigned i = 0; i < pages; i++)
			added[page_of(pattern, i, pass, pages)] += pass + 1;
	long wrong = 0;
	for (size_t page = 0; page < pages; page++)
		for (unsigned line = 0; line < PAGE_LINES; line++)
			wrong += data[page * PAGE_WORDS + line * LINE_WORDS] !=
				 value_at(page, line) + added[page];
	return wrong;
}

int main(int argc, char **argv)
{
	long bytes = 4 << 20, percent = 0, passes = 3;
	bool prefetch = false;
	const char *name = "cyclic", *advice = nullptr;
	const struct option_row rows[] = {
		{"bytes", "COUNT", "footprint, whole pages of 4096 (default 4194304)", &bytes,
		 nullptr, nullptr},
		{"percent", "COUNT", "footprint in percent of the device's memory instead",
		 &percent, nullptr, nullptr},
		{"passes", "COUNT", "times over all of it (default 3)", &passes, nullptr, nullptr},
		{"pattern", "NAME", "cyclic, sweep, strided, random (default cyclic)", nullptr,
		 nullptr, &name},
		{"prefetch", nullptr, "prefetch all of it to the GPU first", nullptr, &prefetch,
		 nullptr},
		{"advise", "LIST", ADVICE_CHOICES, nullptr, nullptr, &advice},
	};
	parse_options(argc, argv, "Passes over more memory than the device has.", rows, 6);
	enum pattern pattern = (enum pattern)choice_of("pattern", name, pattern_names, 4);
	size_t pages = footprint_of(percent, bytes) / 4096;
	if (pages < STRIDE || pages > 1u << 31) {
		fprintf(stderr, "oversubscribe: a footprint of %zu pages, 16 to 2^31 work\n",
			pages);
		return 2;
	}

	unsigned *data;
	int device;
	HIP_CHECK(hipGetDevice(&device));
	HIP_CHECK(hipMallocManaged(&data, pages * 4096, hipMemAttachGlobal));
	give_advice(data, pages * 4096, advice, device);
	for (size_t page = 0; page < pages; page++)
		for (unsigned line = 0; line < PAGE_LINES; line++)
			data[page * PAGE_WORDS + line * LINE_WORDS] = value_at(page, line);
	if (prefetch)
		HIP_CHECK(hipMemPrefetchAsync(data, pages * 4096, device, 0));
	for (long pass = 0; pass < passes; pass++)
		pass_over<<<1, PAGE_LINES>>>(data, pages, pattern, pass);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = count_wrong(data, pages, pattern, passes);
	HIP_CHECK(hipFree(data));
	return report("oversubscribe", wrong);
}
