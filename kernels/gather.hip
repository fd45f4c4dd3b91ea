/*
 * Looks rows up in a large table, as an embedding does: few lines of each page are read.
 *
 * Rows are W words, R of them, both powers of two; G lookups, a power of two, at most R. rev_k(i)
 * is i with its k bits reversed. Lookup i reads
 *   uniform    row rev_log2(R)(i): no row twice, the same number of each page
 *   skewed     by Zipf's law: the row of rank r (from 0) is rev_log2(R)(r), and it is looked up as
 *              often as r + 1 weighs 1 / (r + 1) in 1 + 1/2 + ... + 1/R: lookup i falls on the
 *              rank where the sum passes (rev_log2(G)(i) + 1/2) / G of it
 *   clustered  64 rows that follow each other (G and R at least 64), then 64 others: row
 *              64 rev_log2(R/64)(i / 64) + i % 64
 *
 * What its trace must show, with T = 4 W R / 4096 pages of the table, I = 4 G / 4096 of the
 * indices, O = 4 W G / 4096 of the result, W from 16 to 1024:
 *   host, before  T and I pages written
 *   launch        2 W G reads, W G writes
 *     uniform     min(G, T) pages of the table, W G / 16 lines, as many requests
 *     clustered   W G / 1024 pages of the table, all 64 lines (W G a multiple of 1024)
 *     skewed      fewer pages than lookups
 *   host, after   O pages read
 *
 * Under driver `demand` at 4 KiB: as many device faults for the table as pages are read, 4096 bytes
 * each: uniform fetches max(1, 4096 / (4 W)) times what is used while G <= T. At 64 KiB uniform
 * faults min(G, T / 16) times for 64 KiB each.
 * --advise=preferred-host, or accessed-by: 64 bytes a line and no more.
 *
 * Under driver `amdgpu_svm`, the table at most 2 MiB (one block): with XNACK 1 device fault brings
 * all of it, whatever the pattern; with advice as above it maps it, and 64 bytes a line cross the
 * link. So without XNACK, with no fault. At 64 KiB, with XNACK: as demand.
 */
#include "kernel_common.h"

#include <algorithm>
#include <vector>

#define CLUSTER_BITS 6

__global__ void gather(const unsigned *__restrict__ table, const unsigned *__restrict__ indices,
		       unsigned *__restrict__ result, long words, long width)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < words)
		result[i] = table[indices[i / width] * width + i % width];
}

static unsigned value_at(unsigned long i)
{
	return (unsigned)i * 2654435761u ^ (unsigned)(i >> 7);
}

/* --- which rows --- */

static int log2_of(unsigned long power)
{
	return __builtin_ctzl(power);
}

static unsigned long reverse_bits(unsigned long value, int bits)
{
	unsigned long reversed = 0;
	for (int bit = 0; bit < bits; bit++)
		reversed |= (value >> bit & 1) << (bits - 1 - bit);
	return reversed;
}

static std::vector<unsigned> uniform_rows(long lookups, long rows)
{
	std::vector<unsigned> chosen(lookups);
	for (long i = 0; i < lookups; i++)
		chosen[i] = reverse_bits(i, log2_of(rows));
	return chosen;
}

static std::vector<unsigned> skewed_rows(long lookups, long rows)
{
	std::vector<unsigned> chosen(lookups);
	std::vector<double> sums(rows);
	double sum = 0;
	for (long rank = 0; rank < rows; rank++)
		sums[rank] = sum += 1.0 / (rank + 1);
	for (long i = 0; i < lookups; i++) {
		double at = (reverse_bits(i, log2_of(lookups)) + 0.5) / lookups * sum;
		long rank = std::upper_bound(sums.begin(), sums.end() - 1, at) - sums.begin();
		chosen[i] = reverse_bits(rank, log2_of(rows));
	}
	return chosen;
}

static std::vector<unsigned> clustered_rows(long lookups, long rows)
{
	std::vector<unsigned> chosen(lookups);
	const long cluster = 1 << CLUSTER_BITS;
	for (long i = 0; i < lookups; i++)
		chosen[i] = cluster * reverse_bits(i / cluster, log2_of(rows) - CLUSTER_BITS) +
			    i % cluster;
	return chosen;
}

static const char *const pattern_names[] = {"uniform", "skewed", "clustered"};
static std::vector<unsigned> (*const patterns[])(long, long) = {uniform_rows, skewed_rows,
								clustered_rows};

static bool is_power(long value)
{
	return (value & (value - 1)) == 0;
}

static void check_shape(long rows, long lookups, long width)
{
	if (is_power(rows) && is_power(lookups) && is_power(width) && lookups <= rows &&
	    lookups >= 1 << CLUSTER_BITS && rows * width <= 1l << 32)
		return;
	fprintf(stderr, "gather: rows, lookups and width are powers of two, lookups from 64 to "
			"rows, rows * width at most 2^32\n");
	exit(2);
}

int main(int argc, char **argv)
{
	long rows = 1 << 16, lookups = 1 << 12, width = 16;
	bool prefetch = false;
	const char *pattern = "uniform", *advice = nullptr;
	const struct option_row options[] = {
		{"rows", "COUNT", "of the table (default 65536)", &rows, nullptr, nullptr},
		{"lookups", "COUNT", "rows read (default 4096)", &lookups, nullptr, nullptr},
		{"width", "COUNT", "words of a row (default 16, one line)", &width, nullptr,
		 nullptr},
		{"pattern", "NAME", "uniform, skewed, clustered (default uniform)", nullptr,
		 nullptr, &pattern},
		{"prefetch", nullptr, "prefetch the table to the GPU", nullptr, &prefetch, nullptr},
		{"advise", "LIST", "for the table: " ADVICE_CHOICES, nullptr, nullptr, &advice},
	};
	parse_options(argc, argv, "Looks rows up in a large table.", options, 6);
	int chosen = choice_of("pattern", pattern, pattern_names, 3);
	check_shape(rows, lookups, width);

	const unsigned lanes = 256;
	unsigned long table_words = rows * width, words = lookups * width;
	unsigned *table, *indices, *result;
	int device;
	HIP_CHECK(hipGetDevice(&device));
	HIP_CHECK(hipMallocManaged(&table, table_words * 4, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&indices, lookups * 4, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&result, words * 4, hipMemAttachGlobal));
	give_advice(table, table_words * 4, advice, device);
	for (unsigned long i = 0; i < table_words; i++)
		table[i] = value_at(i);
	std::vector<unsigned> from = patterns[chosen](lookups, rows);
	memcpy(indices, from.data(), lookups * 4);
	if (prefetch)
		HIP_CHECK(hipMemPrefetchAsync(table, table_words * 4, device, 0));
	gather<<<(words + lanes - 1) / lanes, lanes>>>(table, indices, result, words, width);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = 0;
	for (unsigned long i = 0; i < words; i++)
		wrong += result[i] != value_at((unsigned long)from[i / width] * width + i % width);
	HIP_CHECK(hipFree(result));
	HIP_CHECK(hipFree(indices));
	HIP_CHECK(hipFree(table));
	return report("gather", wrong);
}
