#include "recorder.h"
#include "arena.h"
#include "pageable.h"
#include "recorder_pages.h"
#include "recorder_stream.h"
#include "window.h"

#include <emmintrin.h>
#include <string.h>

#define TILES_PER_WAVE (UM_WAVE_LANES / UM_WINDOW_TILE)
#define TILE_MASK      ((1u << UM_WINDOW_TILE) - 1)
/* While there is no arena, every access is outside. */
#define NO_ARENA (UINTPTR_MAX / 2 + 1)
#define NO_GROUP UINT64_MAX

bool um_recorder_requests = true;

static struct {
	uint32_t op;
	uint64_t group;
	uint64_t request_stamp; /* of the wave and instruction that are looked at */
	struct um_launch_totals totals;
} recorder;

/* One row of a wave, as bits by lane. */
struct row {
	uint32_t entry[TILES_PER_WAVE]; /* of the first lane of each tile */
	uint64_t valid;			/* lanes that have this row */
	uint64_t repeats;		/* lanes with the line of the lane before them */
};

/* --- sixteen lanes at a time: SSE2, which every x86-64 has --- */

static __m128i load(const uint32_t *from)
{
	return _mm_loadu_si128((const __m128i *)from);
}

/* Narrows four vectors of 32-bit truth values to 16 bits. */
static uint32_t mask16(const __m128i truth[4])
{
	__m128i low = _mm_packs_epi32(truth[0], truth[1]);
	__m128i high = _mm_packs_epi32(truth[2], truth[3]);

	return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

static uint32_t equal_to_previous(const uint32_t *entries)
{
	__m128i truth[4];

	for (int i = 0; i < 4; i++)
		truth[i] = _mm_cmpeq_epi32(load(entries + 4 * i), load(entries + 4 * i - 1));
	return mask16(truth);
}

static uint32_t equal_to(const uint32_t *entries, uint32_t value)
{
	__m128i truth[4];

	for (int i = 0; i < 4; i++)
		truth[i] = _mm_cmpeq_epi32(load(entries + 4 * i), _mm_set1_epi32((int)value));
	return mask16(truth);
}

static uint32_t above(const uint32_t *values, uint32_t limit)
{
	__m128i truth[4];

	for (int i = 0; i < 4; i++)
		truth[i] = _mm_cmpgt_epi32(load(values + 4 * i), _mm_set1_epi32((int)limit));
	return mask16(truth);
}

/* --- one line --- */

static inline void count_request(struct um_page *page, uint64_t bit, unsigned kind)
{
	if (page->request_stamp != recorder.request_stamp) {
		page->request_stamp = recorder.request_stamp;
		page->request_lines = 0;
	}
	if (page->request_lines & bit)
		return;
	page->request_lines |= bit;
	page->requests += page->requests != UINT32_MAX;
	if (kind >= UM_ACCESS_ATOMIC)
		page->atomics += page->atomics != UINT32_MAX;
}

/* `lanes` of a wave access the line with one instruction. False: no allocation there. */
static inline bool touch_line(uint32_t line, unsigned kind)
{
	uint32_t number = line / UM_PAGE_LINES;
	uint64_t bit = UINT64_C(1) << line % UM_PAGE_LINES;
	struct um_page *page = &um_pages[number];

	if (__builtin_expect(!page->allocation, 0) &&
	    !um_page_touch(number, kind == UM_ACCESS_WRITE))
		return false;
	if (kind != UM_ACCESS_WRITE)
		page->lines_read |= bit;
	if (kind != UM_ACCESS_READ)
		page->lines_written |= bit;
	if (kind >= UM_ACCESS_ATOMIC_FLOAT)
		page->first_page |= kind == UM_ACCESS_ATOMIC_HARDWARE
					    ? UM_PAGE_ATOMIC_FLOAT | UM_PAGE_ATOMIC_HARDWARE
					    : UM_PAGE_ATOMIC_FLOAT;
	if (um_recorder_requests)
		count_request(page, bit, kind);
	um_stream_touch(page, number, kind != UM_ACCESS_READ);
	return true;
}

/* --- one row of a wave --- */

static inline uint32_t entry_of(const struct row *row, unsigned lane)
{
	return row->entry[lane / UM_WINDOW_TILE] + lane % UM_WINDOW_TILE;
}

void um_recorder_count(unsigned kind, uint64_t accesses, uint64_t bytes)
{
	struct um_launch_totals *totals = &recorder.totals;

	if (!bytes)
		return;
	if (kind >= UM_ACCESS_ATOMIC)
		totals->atomics += accesses;
	if (kind == UM_ACCESS_READ)
		totals->reads += accesses;
	if (kind == UM_ACCESS_WRITE)
		totals->writes += accesses;
	if (kind != UM_ACCESS_WRITE)
		totals->bytes_read += accesses * bytes;
	if (kind != UM_ACCESS_READ)
		totals->bytes_written += accesses * bytes;
}

void um_recorder_outside(void)
{
	recorder.totals.outside++;
}

static inline void touch_lanes(const struct row *row, uint64_t lanes, unsigned kind)
{
	for (uint64_t rest = lanes; rest; rest &= rest - 1) {
		uint32_t line = um_window.line[entry_of(row, (unsigned)__builtin_ctzll(rest))];

		if (!touch_line(line, kind))
			um_recorder_outside();
	}
}

/* Lanes with one descriptor: of neighbours on one line only the first is looked at. */
static void record_alike(const struct row *row, uint64_t lanes, unsigned descriptor)
{
	uint64_t firsts = lanes & ~(row->repeats & lanes << 1);

	recorder.request_stamp++;
	um_recorder_count(UM_ACCESS_KIND(descriptor), (uint64_t)__builtin_popcountll(lanes),
			  UM_ACCESS_BYTES(descriptor));
	switch (UM_ACCESS_KIND(descriptor)) {
	case UM_ACCESS_READ:
		touch_lanes(row, firsts, UM_ACCESS_READ);
		break;
	case UM_ACCESS_WRITE:
		touch_lanes(row, firsts, UM_ACCESS_WRITE);
		break;
	case UM_ACCESS_ATOMIC:
		touch_lanes(row, firsts, UM_ACCESS_ATOMIC);
		break;
	default:
		touch_lanes(row, firsts, UM_ACCESS_KIND(descriptor));
	}
}

static uint64_t lanes_with(const struct row *row, uint64_t lanes, unsigned descriptor)
{
	uint64_t with = 0;

	for (unsigned tile = 0; tile < TILES_PER_WAVE; tile++)
		if (lanes >> tile * UM_WINDOW_TILE & TILE_MASK)
			with |= (uint64_t)equal_to(&um_window.descriptor[row->entry[tile]],
						   descriptor)
				<< tile * UM_WINDOW_TILE;
	return with & lanes;
}

/* Instruction by instruction, as a wave executes the arms of a branch; usually there is one. */
static void record_row(const struct row *row)
{
	for (uint64_t rest = row->valid; rest;) {
		unsigned first = (unsigned)__builtin_ctzll(rest);
		unsigned descriptor = um_window.descriptor[entry_of(row, first)];
		uint64_t alike = lanes_with(row, rest, descriptor);

		record_alike(row, alike, descriptor);
		rest &= ~alike;
	}
}

/* --- the window --- */

struct depth {
	uint32_t least, most; /* rows of a tile's lanes */
};

static uint32_t measure(struct depth *depth, uint32_t *counts)
{
	uint32_t tiles = (um_window.lanes + UM_WINDOW_TILE - 1) / UM_WINDOW_TILE;
	uint32_t most = 0;

	for (uint32_t tile = 0; tile < tiles; tile++) {
		struct depth d = {UINT32_MAX, 0};

		for (uint32_t i = tile * UM_WINDOW_TILE; i < (tile + 1) * UM_WINDOW_TILE; i++) {
			counts[i] = um_window_count(i);
			d.least = counts[i] < d.least ? counts[i] : d.least;
			d.most = counts[i] > d.most ? counts[i] : d.most;
		}
		depth[tile] = d;
		most = d.most > most ? d.most : most;
	}
	return most;
}

static void add_tile(struct row *row, unsigned place, const struct depth *depth,
		     const uint32_t *counts, uint32_t tile, uint32_t number)
{
	uint32_t entry = um_window.start[tile * UM_WINDOW_TILE] + number * UM_WINDOW_TILE;
	uint64_t valid = TILE_MASK;

	row->entry[place] = entry;
	if (number >= depth[tile].most)
		return;
	if (number >= depth[tile].least)
		valid = above(counts + tile * UM_WINDOW_TILE, number);
	row->valid |= valid << place * UM_WINDOW_TILE;
	/* bit 0 compares with an entry of another tile */
	row->repeats |= (uint64_t)(equal_to_previous(&um_window.line[entry]) & ~1u)
			<< place * UM_WINDOW_TILE;
}

static void record_window(void)
{
	static struct depth depth[UM_WINDOW_TILES];
	static uint32_t counts[UM_GROUP_LANES_MAX];
	uint32_t rows = measure(depth, counts);
	uint32_t tiles = (um_window.lanes + UM_WINDOW_TILE - 1) / UM_WINDOW_TILE;

	for (uint32_t number = 0; number < rows; number++)
		for (uint32_t tile = 0; tile < tiles;) {
			struct row row = {.valid = 0};

			for (unsigned place = 0; place < TILES_PER_WAVE && tile < tiles; place++)
				add_tile(&row, place, depth, counts, tile++, number);
			if (row.valid)
				record_row(&row);
		}
}

int um_recorder_begin(uint32_t op, uint32_t lanes_per_group)
{
	int error = op ? um_pages_init() : 0;

	if (!error)
		error = um_pageable_begin(op);
	if (error)
		return error;
	um_window.base = um_arena.span ? (uintptr_t)um_arena.base : NO_ARENA;
	um_window_shape(lanes_per_group);
	memset(&recorder, 0, sizeof(recorder));
	recorder.op = op;
	recorder.group = NO_GROUP;
	um_stream_begin(op);
	return 0;
}

void um_recorder_group_begin(uint64_t linear_group)
{
	if (linear_group == recorder.group)
		return;
	recorder.group = linear_group;
	um_stream_group(linear_group);
}

void um_recorder_flush(void)
{
	um_window_lane(um_window.lane); /* puts the cursor of the lane that ran last in its place */
	if (recorder.op)
		record_window();
	um_window_clear();
}

void um_recorder_end(struct um_launch_totals *totals)
{
	if (recorder.op) {
		um_recorder_flush();
		recorder.totals.lines = um_pages_send(recorder.op);
		um_stream_end();
	}
	um_pageable_end();
	if (totals)
		*totals = recorder.totals;
}
