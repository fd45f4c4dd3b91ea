/*
 * The access stream as a trace holds it: bytes after zstd, and what decoding costs, zstd included,
 * beside a bare loop over the same pages as an array of u32 (the least that any reader of them
 * does). CPU time. Limit: 100 M touches/s.
 */
#include "bench_clock.h"

#include "trace/db/trace_db.h"
#include "trace/spool/access_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOUCHES_MAX (1u << 23)
#define RUNS_MAX    1024
#define TIMES	    7

struct bench {
	uint32_t *pages;
	size_t touches;
	struct um_access_chunk_row *chunks;
	size_t chunk_count, payload_bytes, packed_bytes;
	/* while a pattern is made */
	struct um_stream_encoder encoder;
	unsigned char payload[UM_STREAM_PAYLOAD_MAX];
	volatile uint64_t sink;
};

static void check(int error)
{
	if (error) {
		fprintf(stderr, "stream_bench: error %d\n", error);
		exit(1);
	}
}

static void end_chunk(struct bench *bench)
{
	um_stream_finish(&bench->encoder);
	bench->chunks = realloc(bench->chunks, (bench->chunk_count + 1) * sizeof(*bench->chunks));
	if (!bench->chunks)
		exit(1);
	struct um_access_chunk_row *row = &bench->chunks[bench->chunk_count++];
	*row = (struct um_access_chunk_row){.touches = (int64_t)bench->encoder.touches};
	check(um_db_chunk_pack(row, bench->payload, bench->encoder.used));
	bench->payload_bytes += bench->encoder.used;
	bench->packed_bytes += row->data.bytes;
	um_stream_encoder_init(&bench->encoder, bench->payload);
}

static void touch(struct bench *bench, uint64_t group, uint32_t allocation, uint32_t page)
{
	bench->pages[bench->touches++] = page;
	if (um_stream_put(&bench->encoder, group, allocation, page, false))
		return;
	end_chunk(bench);
	um_stream_put(&bench->encoder, group, allocation, page, false);
}

/* --- patterns --- */

/* 1 GiB, 1024 bytes a group: one page for four groups. */
static void sweep(struct bench *bench)
{
	for (uint64_t group = 0; group < 1u << 20; group++)
		touch(bench, group, 1, (uint32_t)(group / 4));
}

/* Over 256 MiB. */
static void random_pages(struct bench *bench)
{
	uint64_t x = 88172645463325252ull;

	for (uint32_t i = 0; i < 1u << 20; i++) {
		x ^= x << 13; /* Marsaglia's xorshift */
		x ^= x >> 7;
		x ^= x << 17;
		touch(bench, i / 256, 1, (uint32_t)(x >> 40) % 65536);
	}
}

/* 1024 x 1024 floats in tiles of 16 x 16: a row of the matrix is a page. */
static void matmul(struct bench *bench)
{
	for (uint32_t group = 0; group < 64 * 64; group++)
		for (uint32_t tile = 0; tile < 64; tile++) {
			for (uint32_t row = 0; row < 16; row++)
				touch(bench, group, 1, group / 64 * 16 + row);
			for (uint32_t row = 0; row < 16; row++)
				touch(bench, group, 2, tile * 16 + row);
		}
}

/* Seven points of a grid of 512^3 floats: planes are 256 pages apart. */
static void stencil(struct bench *bench)
{
	for (uint64_t group = 0; group < 1u << 19; group++) {
		uint32_t page = 256 + (uint32_t)(group / 4 % (254 * 256));

		touch(bench, group, 1, page);
		touch(bench, group, 1, page - 256);
		touch(bench, group, 1, page + 256);
		touch(bench, group, 2, page);
	}
}

/* --- measuring --- */

static void bare_loop(void *context)
{
	struct bench *bench = context;
	uint64_t sum = 0;

	for (size_t i = 0; i < bench->touches; i++)
		sum += bench->pages[i];
	bench->sink = sum;
}

static uint64_t sum_of(const struct um_access_run *run)
{
	uint64_t steps = run->count - 1;

	return (uint64_t)run->first_page * run->count +
	       (uint64_t)((int64_t)run->stride * (int64_t)(steps * run->count / 2));
}

static void decode(void *context)
{
	static struct um_access_run run[RUNS_MAX];
	struct bench *bench = context;
	struct um_stream_decoder *decoder;
	uint64_t sum = 0;
	long runs;

	check(um_stream_decoder_create(&decoder, NULL, 0));
	for (size_t i = 0; i < bench->chunk_count; i++) {
		unsigned char *payload;

		check(um_db_chunk_payload(&bench->chunks[i], &payload));
		um_stream_decoder_reset(decoder, payload, (size_t)bench->chunks[i].payload_bytes);
		while ((runs = um_stream_decode(decoder, run, RUNS_MAX)) > 0)
			for (long r = 0; r < runs; r++)
				sum += sum_of(&run[r]);
		check((int)runs);
		free(payload);
	}
	um_stream_decoder_destroy(decoder);
	bench->sink = sum;
}

static void clear(struct bench *bench)
{
	for (size_t i = 0; i < bench->chunk_count; i++)
		free((void *)(uintptr_t)bench->chunks[i].data.data);
	bench->chunk_count = bench->touches = bench->payload_bytes = bench->packed_bytes = 0;
	um_stream_encoder_init(&bench->encoder, bench->payload);
}

static void measure(struct bench *bench, const char *name, void (*pattern)(struct bench *))
{
	clear(bench);
	double start = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);
	pattern(bench);
	end_chunk(bench);
	double made = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	double loop = bench_best_cpu_s(bare_loop, bench, TIMES);
	uint64_t expected = bench->sink;
	double decoded = bench_best_cpu_s(decode, bench, TIMES);
	if (bench->sink != expected) {
		fprintf(stderr, "stream_bench: %s decodes to other pages\n", name);
		exit(1);
	}
	printf("%-8s %8zu touches  %8zu bytes, %8zu after zstd  encode and pack %5.1f M/s  decode "
	       "%6.1f M touches/s  %5.1f x a bare loop over u32\n",
	       name, bench->touches, bench->payload_bytes, bench->packed_bytes,
	       (double)bench->touches / made / 1e6, (double)bench->touches / decoded / 1e6,
	       decoded / loop);
}

int main(void)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (!bench || !(bench->pages = malloc((TOUCHES_MAX + 64) * sizeof(*bench->pages))))
		return 1;
	measure(bench, "sweep", sweep);
	measure(bench, "random", random_pages);
	measure(bench, "matmul", matmul);
	measure(bench, "stencil", stencil);
	clear(bench);
	free(bench->chunks);
	free(bench->pages);
	free(bench);
	return 0;
}
