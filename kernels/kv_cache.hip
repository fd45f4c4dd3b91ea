/*
 * Decoding with a paged cache of keys and values, as inference servers have it: cohorts of sequences take
 * turns, each sequence's tokens lie in blocks that a table names, and blocks are given out when they are
 * needed. While one cohort decodes, the others' caches are idle; --offload sends them to the host when
 * their turn ends, and back when it begins.
 *
 * Attention is over integers: a token's key and value are W words each, and sequence s at length L puts out,
 * for each of its W words, the sum over its L tokens of key * value.
 *
 * What its trace must show, with C cohorts of S sequences, R rounds, G tokens a turn, blocks of B tokens of
 * q = 8 W bytes (G a multiple of B, B q of 4096), P = S G q / 4096 pages that a cohort grows by in a turn:
 *   allocations   cache (C R P pages), table (C S R G / B words) and output (C S W words), all managed
 *   host          table: a word of each sequence written where its cohort's blocks are full, so before
 *                 each of C R G / B steps; output read at the end; the cache never
 *   launches      2 C R G: `append` of S W reads (the table) and 2 S W writes, `attend` of 3 S W L reads (a
 *                 word of table, key and value for each token) and S W writes, L from 1 to R G
 *   cache pages   append: S, those of one token; attend: S ceil(L q / 4096)
 *   prefetches    with --offload, of single blocks: S r G / B of them back to the device before turn r of
 *                 each cohort, r from 1; and after turn r, but of the last round, S (r + 1) G / B to the host
 *
 * Under driver `demand`, 4 KiB, room for all, a table of one page:
 *   device faults  cache C R P, once each (it comes without data), and none more with --offload; table
 *                  C R G / B, since the host's writing takes it away each time; host faults for it one
 *                  less
 *   cache bytes    none; with --offload C P (1 + .. + R - 1) pages each way, by prefetch
 * With room for one cohort's cache, table and output: without --offload each turn from the R + 1st on evicts
 * what the others left; with it only cohorts are evicted whose last turn is over, R P pages each.
 */
#include "kernel_common.h"

#include <vector>

struct cache {
	long cohorts, sequences, rounds, turn, block, width;
	bool offload;
	int device;
	unsigned *data, *table, *output;
	long given; /* blocks */
};

static long table_width(const struct cache *cache)
{
	return cache->rounds * cache->turn / cache->block;
}

static size_t block_words(const struct cache *cache)
{
	return cache->block * 2 * cache->width;
}

__host__ __device__ static inline unsigned key_at(long sequence, long token, long word)
{
	return (unsigned)(sequence * 131 + token * 17 + word);
}

__host__ __device__ static inline unsigned value_at(long sequence, long token, long word)
{
	return (unsigned)(sequence * 29 + token * 7 + word * 3);
}

/* A block of lanes for each sequence; `table` is of its cohort's first. */
__global__ void append(unsigned *data, const unsigned *table, long table_words, long first,
		       long token, long block, long width)
{
	long sequence = blockIdx.x, word = threadIdx.x;
	size_t place =
		(size_t)table[sequence * table_words + token / block] * block + token % block;
	unsigned *to = data + place * 2 * width;

	to[word] = key_at(first + sequence, token, word);
	to[width + word] = value_at(first + sequence, token, word);
}

__global__ void attend(const unsigned *data, const unsigned *table, long table_words, long length,
		       long block, long width, unsigned *output)
{
	long sequence = blockIdx.x, word = threadIdx.x;
	unsigned sum = 0;

	for (long token = 0; token < length; token++) {
		size_t place = (size_t)table[sequence * table_words + token / block] * block +
			       token % block;
		const unsigned *from = data + place * 2 * width;
		sum += from[word] * from[width + word];
	}
	output[sequence * width + word] = sum;
}

static unsigned *table_of(const struct cache *cache, long cohort)
{
	return cache->table + cohort * cache->sequences * table_width(cache);
}

static void give_blocks(struct cache *cache, long cohort, long index)
{
	unsigned *table = table_of(cache, cohort);

	for (long sequence = 0; sequence < cache->sequences; sequence++)
		table[sequence * table_width(cache) + index] = (unsigned)cache->given++;
}

static void decode(struct cache *cache, long cohort, long token)
{
	unsigned *table = table_of(cache, cohort);
	long first = cohort * cache->sequences;

	if (token % cache->block == 0)
		give_blocks(cache, cohort, token / cache->block);
	append<<<cache->sequences, cache->width>>>(cache->data, table, table_width(cache), first,
						   token, cache->block, cache->width);
	attend<<<cache->sequences, cache->width>>>(cache->data, table, table_width(cache),
						   token + 1, cache->block, cache->width,
						   cache->output + first * cache->width);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
}

/* All blocks that the cohort's sequences have. The table is asked on the host's side, not in its memory. */
static void move_cohort(const struct cache *cache, long cohort, long tokens, int to)
{
	size_t words = block_words(cache);
	long per_turn = cache->turn / cache->block * cache->sequences;

	for (long turn = 0; turn < tokens / cache->turn; turn++) {
		long first = (turn * cache->cohorts + cohort) * per_turn;
		for (long i = first; i < first + per_turn; i++)
			HIP_CHECK(hipMemPrefetchAsync(cache->data + i * words, words * 4, to, 0));
	}
	HIP_CHECK(hipDeviceSynchronize());
}

static void run_turn(struct cache *cache, long cohort, long round)
{
	long token = round * cache->turn;

	if (cache->offload && round > 0)
		move_cohort(cache, cohort, token, cache->device);
	for (long i = 0; i < cache->turn; i++)
		decode(cache, cohort, token + i);
	if (cache->offload && round < cache->rounds - 1)
		move_cohort(cache, cohort, token + cache->turn, hipCpuDeviceId);
}

static long count_wrong(const struct cache *cache)
{
	long wrong = 0, tokens = cache->rounds * cache->turn;

	for (long sequence = 0; sequence < cache->cohorts * cache->sequences; sequence++)
		for (long word = 0; word < cache->width; word++) {
			unsigned sum = 0;
			for (long token = 0; token < tokens; token++)
				sum += key_at(sequence, token, word) *
				       value_at(sequence, token, word);
			wrong += cache->output[sequence * cache->width + word] != sum;
		}
	return wrong;
}

static unsigned *words(size_t count)
{
	unsigned *memory;

	HIP_CHECK(hipMallocManaged(&memory, count * sizeof(*memory), hipMemAttachGlobal));
	return memory;
}

int main(int argc, char **argv)
{
	struct cache cache = {2, 4, 2, 16, 8, 128, false, 0, nullptr, nullptr, nullptr, 0};
	const char *advice = nullptr;
	const struct option_row rows[] = {
		{"cohorts", "COUNT", "that take turns (default 2)", &cache.cohorts, nullptr,
		 nullptr},
		{"sequences", "COUNT", "of a cohort (default 4)", &cache.sequences, nullptr,
		 nullptr},
		{"rounds", "COUNT", "turns of each cohort (default 2)", &cache.rounds, nullptr,
		 nullptr},
		{"turn", "TOKENS", "a multiple of --block (default 16)", &cache.turn, nullptr,
		 nullptr},
		{"block", "TOKENS", "that a block holds (default 8)", &cache.block, nullptr,
		 nullptr},
		{"width", "WORDS", "of a key and of a value, at most 1024 (default 128)",
		 &cache.width, nullptr, nullptr},
		{"offload", nullptr, "send idle caches to the host, and back", nullptr,
		 &cache.offload, nullptr},
		{"advise", "LIST", "for the cache: " ADVICE_CHOICES, nullptr, nullptr, &advice},
	};
	parse_options(argc, argv, "Decoding with a paged cache of keys and values.", rows, 8);
	if (cache.turn % cache.block || cache.width > 1024) {
		fprintf(stderr, "kv_cache: --turn must be a multiple of --block, --width at most "
				"1024\n");
		return 2;
	}
	long sequences = cache.cohorts * cache.sequences;
	size_t cache_words = sequences * table_width(&cache) * block_words(&cache);
	HIP_CHECK(hipGetDevice(&cache.device));
	cache.data = words(cache_words);
	cache.table = words(sequences * table_width(&cache));
	cache.output = words(sequences * cache.width);
	give_advice(cache.data, cache_words * 4, advice, cache.device);
	for (long round = 0; round < cache.rounds; round++)
		for (long cohort = 0; cohort < cache.cohorts; cohort++)
			run_turn(&cache, cohort, round);
	long wrong = count_wrong(&cache);
	HIP_CHECK(hipFree(cache.output));
	HIP_CHECK(hipFree(cache.table));
	HIP_CHECK(hipFree(cache.data));
	return report("kv_cache", wrong);
}
