#include "trace/base/error.h"
#include "trace/spool/access_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct touch {
	uint64_t group;
	uint32_t allocation, page;
	bool write;
};

struct touches {
	struct touch *touch;
	size_t count, capacity;
};

static void add(struct touches *list, uint64_t group, uint32_t allocation, uint32_t page,
		bool write)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 1024;
		list->touch = realloc(list->touch, list->capacity * sizeof(*list->touch));
		assert_non_null(list->touch);
	}
	list->touch[list->count++] = (struct touch){group, allocation, page, write};
}

/* splitmix64: the same numbers everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

struct check {
	struct um_stream_encoder encoder;
	unsigned char payload[UM_STREAM_PAYLOAD_MAX];
	const struct touches *expected;
	size_t checked, chunks, bytes;
};

static void check_touch(struct check *check, const struct um_access_run *run, uint32_t i)
{
	const struct touch *expected = &check->expected->touch[check->checked++];

	assert_int_equal(run->group, expected->group);
	assert_int_equal(run->allocation, expected->allocation);
	assert_int_equal((uint32_t)(run->first_page + (int64_t)run->stride * i), expected->page);
	assert_int_equal(run->write, expected->write);
}

/* Ends the chunk and checks that it holds the touches behind those checked so far. */
static void check_chunk(struct check *check)
{
	struct um_stream_encoder *encoder = &check->encoder;
	struct um_stream_decoder *decoder;
	struct um_access_run run[7];
	size_t start = check->checked;
	long runs;

	um_stream_finish(encoder);
	assert_true(encoder->used <= UM_STREAM_PAYLOAD_MAX);
	assert_int_equal(um_stream_decoder_create(&decoder, check->payload, encoder->used), 0);
	while ((runs = um_stream_decode(decoder, run, 7)) > 0)
		for (long r = 0; r < runs; r++)
			for (uint32_t i = 0; i < run[r].count; i++)
				check_touch(check, &run[r], i);
	assert_int_equal(runs, 0);
	assert_int_equal(check->checked - start, encoder->touches);
	um_stream_decoder_destroy(decoder);

	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = start; i < check->checked; i++) {
		uint64_t group = check->expected->touch[i].group;

		first = group < first ? group : first;
		last = group > last ? group : last;
	}
	assert_int_equal(encoder->first_group, first);
	assert_int_equal(encoder->last_group, last);
	check->chunks++;
	check->bytes += encoder->used;
	um_stream_encoder_init(encoder, check->payload);
}

/* Encodes, decodes, compares; returns bytes, and the chunks if asked. */
static size_t round_trip(struct touches *list, size_t *chunks)
{
	struct check *check = calloc(1, sizeof(*check));

	assert_non_null(check);
	check->expected = list;
	um_stream_encoder_init(&check->encoder, check->payload);
	for (size_t i = 0; i < list->count; i++) {
		const struct touch *t = &list->touch[i];

		if (um_stream_put(&check->encoder, t->group, t->allocation, t->page, t->write))
			continue;
		check_chunk(check);
		assert_true(
			um_stream_put(&check->encoder, t->group, t->allocation, t->page, t->write));
	}
	check_chunk(check);
	assert_int_equal(check->checked, list->count);
	size_t bytes = check->bytes;
	if (chunks)
		*chunks = check->chunks;
	free(check);
	free(list->touch);
	return bytes;
}

static void sweep_takes_two_bytes_a_group(void **state)
{
	struct touches list = {0};

	(void)state;
	for (uint32_t group = 0; group < 1 << 16; group++)
		add(&list, group, 1, group / 4, true);
	assert_in_range(round_trip(&list, NULL), 1, 2 * (1 << 16) + 64);
}

static void strided_groups_are_one_run_each(void **state)
{
	struct touches list = {0};

	(void)state;
	for (uint32_t group = 0; group < 100; group++)
		for (uint32_t i = 0; i < 1000; i++)
			add(&list, group, 3, group + i * 100, false);
	/* group, head, far delta, stride, count */
	assert_in_range(round_trip(&list, NULL), 1, 100 * 12);
}

static void random_touches_take_three_bytes(void **state)
{
	struct touches list = {0};
	uint64_t seed = 1;

	(void)state;
	for (uint32_t i = 0; i < 1 << 18; i++)
		add(&list, i >> 8, 1, (uint32_t)(next_random(&seed) % 65536), false);
	assert_in_range(round_trip(&list, NULL), 1, 3.1 * (1 << 18));
}

static void extremes_survive(void **state)
{
	static const uint32_t pages[] = {0,	     UINT32_MAX,
					 0,	     1,
					 UINT32_MAX, UINT32_MAX - 1,
					 0,	     1u << 31,
					 0,	     (1u << 31) - 1,
					 UINT32_MAX, 7,
					 519,	     520,
					 1,	     131591,
					 262923,     0};
	static const uint64_t groups[] = {0, 1, 15, 31, 32, UINT64_MAX, 0, 1ull << 63, 3, 2, 1};
	struct touches list = {0};

	(void)state;
	for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++)
		for (size_t p = 0; p < sizeof(pages) / sizeof(*pages); p++)
			add(&list, groups[g], p % 3 ? UINT32_MAX : 0, pages[p], p % 5 == 0);
	round_trip(&list, NULL);
}

static void equal_pages_are_kept(void **state)
{
	struct touches list = {0};

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		add(&list, 5, 1, 42, false);
	round_trip(&list, NULL);
}

static void a_chunk_closes_at_its_last_allocation(void **state)
{
	struct touches list = {0};
	size_t chunks;

	(void)state;
	for (uint32_t i = 0; i < 2 * UM_STREAM_ALLOCATIONS; i++)
		add(&list, 0, 1000 + i, i, true);
	round_trip(&list, &chunks);
	assert_int_equal(chunks, 2);
}

/* Mixed runs, strides, groups and allocations, over many chunk ends. */
static void mixtures_survive(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct touches list = {0};
		uint64_t random = seed, group = 0;

		while (list.count < 100000) {
			uint64_t r = next_random(&random);
			uint32_t count = (uint32_t)(r % 5 ? r >> 8 & 7 : r >> 8 & 255);
			int64_t page = (int64_t)(next_random(&random) >> (32 + r % 16));
			int64_t stride = (int64_t)(r >> 20 & 63) - 31;
			uint32_t allocation = (uint32_t)(r >> 32 & (seed % 4 ? 7 : 1023));

			group += r % 7 ? 0 : (r >> 50 & 31) - 8;
			for (uint32_t i = 0; i < count; i++, page += stride)
				add(&list, group, allocation, (uint32_t)page, r >> 60 & 1);
		}
		round_trip(&list, NULL);
	}
}

static void an_empty_chunk_is_empty(void **state)
{
	static unsigned char payload[UM_STREAM_PAYLOAD_MAX];
	struct um_stream_encoder encoder;

	(void)state;
	um_stream_encoder_init(&encoder, payload);
	um_stream_finish(&encoder);
	assert_int_equal(encoder.used, 0);
	assert_int_equal(encoder.touches, 0);
}

static long decode_all(const unsigned char *bytes, size_t count)
{
	struct um_stream_decoder *decoder;
	struct um_access_run run[16];
	/* Exactly as long as the payload, so that the sanitizer sees a byte too far. */
	unsigned char *copy = malloc(count ? count : 1);
	long total = 0, runs;

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	assert_int_equal(um_stream_decoder_create(&decoder, copy, count), 0);
	while ((runs = um_stream_decode(decoder, run, 16)) > 0) {
		total += runs;
		for (long i = 0; i < runs; i++) {
			int64_t last = run[i].first_page +
				       (int64_t)run[i].stride * ((int64_t)run[i].count - 1);

			assert_true(run[i].count >= 1);
			assert_true(last >= 0 && last <= UINT32_MAX);
		}
	}
	if (runs < 0)
		assert_int_equal(um_stream_decode(decoder, run, 16), 0);
	um_stream_decoder_destroy(decoder);
	free(copy);
	return runs < 0 ? runs : total;
}

static void damage_is_an_error(void **state)
{
	static const struct {
		const char *bytes;
		size_t count;
	} damaged[] = {
		/* a run before any allocation */
		{"\x00", 1},
		/* a place beyond the list */
		{"\x08\x01", 2},
		/* no id behind a new place */
		{"\x08\x00", 2},
		/* a cut-off id */
		{"\x08\x80\x00", 3},
		/* an id of more than 32 bits */
		{"\x08\x10\xff\xff\xff\xff\x00", 7},
		/* no step behind a group */
		{"\xff", 1},
		/* a varint of 65 bits */
		{"\xff\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11},
		/* page -1 */
		{"\x18\x01\x00", 3},
		/* a cut-off u8, u16, u24 */
		{"\x88\x01\x00", 3},
		{"\xc8\x00\x01\x00", 4},
		{"\xd8\x00\x00\x01\x00", 5},
		/* a page beyond 32 bits */
		{"\xe8\x20\x80\x80\x80\x80\x01\x00", 8},
		/* 2^32 touches */
		{"\x0a\x0f\xff\xff\xff\xfe\x01\x00", 8},
		/* a run that leaves the allocation downwards */
		{"\x0e\x00\x01\x01\x00", 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++)
		assert_int_equal(
			decode_all((const unsigned char *)damaged[i].bytes, damaged[i].count),
			UM_EFORMAT);
	assert_int_equal(decode_all((const unsigned char *)"", 0), 0);
}

/* Every prefix, and random changes, of a chunk that uses each form. */
static void mutations_are_safe(void **state)
{
	static unsigned char payload[UM_STREAM_PAYLOAD_MAX], changed[4096];
	struct um_stream_encoder encoder;
	uint64_t seed = 7;

	(void)state;
	um_stream_encoder_init(&encoder, payload);
	while (encoder.touches < 500) {
		uint64_t r = next_random(&seed);

		for (uint32_t i = 0; i < (r & 3) + 1; i++)
			assert_true(um_stream_put(&encoder, r >> 60, r >> 8 & 3,
						  (uint32_t)(r >> (16 + (r & 15))) / 2 + i,
						  r >> 32 & 1));
	}
	um_stream_finish(&encoder);
	assert_in_range(encoder.used, 1, sizeof(changed));
	for (size_t cut = 0; cut <= encoder.used; cut++) {
		decode_all(payload, cut);
		decode_all(payload + cut, encoder.used - cut);
	}
	for (unsigned round = 0; round < 20000; round++) {
		memcpy(changed, payload, encoder.used);
		for (unsigned i = 0; i < 1 + round % 8; i++)
			changed[next_random(&seed) % encoder.used] =
				(unsigned char)next_random(&seed);
		decode_all(changed, encoder.used);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sweep_takes_two_bytes_a_group),
		cmocka_unit_test(strided_groups_are_one_run_each),
		cmocka_unit_test(random_touches_take_three_bytes),
		cmocka_unit_test(extremes_survive),
		cmocka_unit_test(equal_pages_are_kept),
		cmocka_unit_test(a_chunk_closes_at_its_last_allocation),
		cmocka_unit_test(mixtures_survive),
		cmocka_unit_test(an_empty_chunk_is_empty),
		cmocka_unit_test(damage_is_an_error),
		cmocka_unit_test(mutations_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
