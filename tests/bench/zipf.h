/*
 * Touches of Zipf(1.0) over 1 Mi pages: the page of rank k is touched in proportion to 1/k. Which
 * page has which rank is drawn, so that neighbours in rank are no neighbours in memory.
 */
#ifndef UM_BENCH_ZIPF_H
#define UM_BENCH_ZIPF_H

#include <stdint.h>
#include <stdlib.h>

#define ZIPF_PAGES (1u << 20)

struct zipf {
	uint64_t state;
	uint32_t *page_of; /* by rank */
	double *sums;	   /* of 1/k up to a rank */
};

static inline uint64_t bench_splitmix(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static inline void *bench_must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* Pages below `count`, in an order that is drawn; the caller's. */
static inline uint32_t *bench_shuffled(uint32_t count, uint64_t *state)
{
	uint32_t *pages = bench_must(malloc(count * sizeof(*pages)));

	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = (uint32_t)(bench_splitmix(state) % (i + 1));

		pages[i] = pages[other];
		pages[other] = i;
	}
	return pages;
}

static inline void zipf_init(struct zipf *zipf)
{
	double sum = 0;

	zipf->state = 1;
	zipf->page_of = bench_shuffled(ZIPF_PAGES, &zipf->state);
	zipf->sums = bench_must(malloc(ZIPF_PAGES * sizeof(*zipf->sums)));
	for (uint32_t rank = 0; rank < ZIPF_PAGES; rank++)
		zipf->sums[rank] = sum += 1.0 / (rank + 1);
}

static inline void zipf_fini(struct zipf *zipf)
{
	free(zipf->page_of);
	free(zipf->sums);
}

/* The page at whose rank the sum of 1/k first exceeds what was drawn. */
static inline uint32_t zipf_draw(struct zipf *zipf)
{
	double drawn =
		(double)(bench_splitmix(&zipf->state) >> 11) * 0x1p-53 * zipf->sums[ZIPF_PAGES - 1];
	uint32_t low = 0, high = ZIPF_PAGES - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (zipf->sums[middle] < drawn)
			low = middle + 1;
		else
			high = middle;
	}
	return zipf->page_of[low];
}

#endif
