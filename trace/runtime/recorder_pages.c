#include "recorder_pages.h"
#include "arena.h"
#include "lazy_map.h"
#include "pageable.h"
#include "trace/base/error.h"
#include "tracer.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS    64u
#define RUNS_AT_ONCE 1024u /* 40 KiB, well below UM_SPOOL_RECORD_MAX */

/* Touched pages of one allocation: first and last, by number. */
struct extent {
	uint32_t allocation;
	uint32_t first, last;
};

/* What a touched page costs here, with its owner in the arena. */
_Static_assert(sizeof(struct um_page) + sizeof(struct extent) + sizeof(uint32_t) <= 200,
	       "bytes of a touched page");

_Static_assert(UM_PAGEABLE_PAGES_END <= UINT64_C(1) + ~UM_PAGE_FLAGS,
	       "flags beside a page's number");

struct um_page *um_pages;

static uint64_t *touched; /* bit by page */
static uint64_t *words;	  /* bit by word of `touched` that is not 0 */
static struct extent *extents;
static struct {
	uint32_t allocation, first_page;
} last_owner;
static uint64_t pages_end; /* how many there can be: a multiple of WORD_BITS squared */

static union {
	struct um_record_pages record;
	unsigned char
		bytes[sizeof(struct um_record_pages) + RUNS_AT_ONCE * sizeof(struct um_page_run)];
} out;

int um_pages_init(void)
{
	if (!pages_end)
		pages_end = um_pageable ? UM_PAGEABLE_PAGES_END : UM_ARENA_PAGES;
	if (!um_pages)
		um_pages = um_lazy_map(pages_end * sizeof(*um_pages));
	if (!touched)
		touched = um_lazy_map(pages_end / 8);
	if (!words)
		words = um_lazy_map(pages_end / WORD_BITS / 8);
	if (!extents)
		extents = um_lazy_map(pages_end * sizeof(*extents));
	if (um_pages && touched && words && extents)
		return 0;
	return um_fail_errno(UM_ENOMEM, "cannot map the records of pages");
}

/* The allocation that has the page, 0 for none, and the number of its first page. */
static uint32_t owner_of(uint32_t number, uint32_t *first_page)
{
	uint32_t owner;

	if (number >= UM_ARENA_PAGES)
		return um_pageable_touch(number, first_page);
	owner = um_arena.page_owner[number];
	if (owner && owner != last_owner.allocation) {
		last_owner.allocation = owner;
		last_owner.first_page = (uint32_t)(um_arena_by_id(owner)->offset >> UM_PAGE_SHIFT);
	}
	*first_page = last_owner.first_page;
	return owner;
}

bool um_page_touch(uint32_t number, bool written_first)
{
	struct um_page *page = &um_pages[number];
	uint32_t word = number / WORD_BITS, first_page;
	uint32_t owner = owner_of(number, &first_page);

	if (!owner)
		return false;
	page->allocation = owner;
	page->first_page = first_page | (written_first ? UM_PAGE_WRITTEN_FIRST : 0);
	touched[word] |= UINT64_C(1) << number % WORD_BITS;
	words[word / WORD_BITS] |= UINT64_C(1) << word % WORD_BITS;
	return true;
}

/* --- at the end of a launch --- */

static uint32_t find_extents(void)
{
	uint32_t count = 0;

	for (uint32_t w = 0; w < pages_end / WORD_BITS / WORD_BITS; w++)
		for (uint64_t rest = words[w]; rest; rest &= rest - 1) {
			uint32_t word = w * WORD_BITS + (uint32_t)__builtin_ctzll(rest);

			for (uint64_t bits = touched[word]; bits; bits &= bits - 1) {
				uint32_t at = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
				uint32_t owner = um_pages[at].allocation;

				if (!count || extents[count - 1].allocation != owner)
					extents[count++] = (struct extent){owner, at, at};
				extents[count - 1].last = at;
			}
		}
	return count;
}

static int by_allocation(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

static void send(uint32_t op)
{
	if (!out.record.runs)
		return;
	out.record.header.kind = UM_RECORD_PAGES;
	out.record.header.bytes =
		(uint32_t)(sizeof(out.record) + out.record.runs * sizeof(struct um_page_run));
	out.record.op = op;
	um_tracer_put(&out.record.header);
	out.record.runs = 0;
}

static uint32_t touch_of(const struct um_page *page)
{
	return (page->lines_read ? UM_TOUCH_READ : 0) |
	       (page->lines_written ? UM_TOUCH_WRITTEN : 0) |
	       (page->first_page & UM_PAGE_WRITTEN_FIRST ? UM_TOUCH_WRITTEN_FIRST : 0) |
	       (page->first_page & UM_PAGE_ATOMIC_FLOAT ? UM_TOUCH_ATOMIC_FLOAT : 0) |
	       (page->first_page & UM_PAGE_ATOMIC_HARDWARE ? UM_TOUCH_ATOMIC_HARDWARE : 0);
}

static bool continues(const struct um_page_run *run, const struct um_page_run *next)
{
	return run->allocation == next->allocation &&
	       run->first_page + run->pages == next->first_page && run->touch == next->touch &&
	       run->lines_read == next->lines_read && run->lines_written == next->lines_written &&
	       run->requests == next->requests && run->atomics == next->atomics;
}

static void add(uint32_t op, const struct um_page *page, uint32_t number)
{
	struct um_page_run run = {
		.allocation = page->allocation,
		.first_page = number - (page->first_page & ~UM_PAGE_FLAGS),
		.pages = 1,
		.touch = touch_of(page),
		.lines_read = page->lines_read,
		.lines_written = page->lines_written,
		.requests = page->requests,
		.atomics = page->atomics,
	};

	if (out.record.runs && continues(&out.record.run[out.record.runs - 1], &run)) {
		out.record.run[out.record.runs - 1].pages++;
		return;
	}
	if (out.record.runs == RUNS_AT_ONCE)
		send(op);
	out.record.run[out.record.runs++] = run;
}

static uint64_t send_extent(uint32_t op, const struct extent *extent)
{
	uint64_t lines = 0;

	for (uint32_t word = extent->first / WORD_BITS; word <= extent->last / WORD_BITS; word++)
		for (uint64_t bits = touched[word]; bits; bits &= bits - 1) {
			uint32_t at = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
			struct um_page *page = &um_pages[at];

			/* the first and the last word may hold pages of its neighbours */
			if (page->allocation != extent->allocation)
				continue;
			lines += (unsigned)__builtin_popcountll(page->lines_read) +
				 (unsigned)__builtin_popcountll(page->lines_written);
			add(op, page, at);
			memset(page, 0, sizeof(*page));
		}
	return lines;
}

static void forget(uint32_t extent_count)
{
	for (uint32_t i = 0; i < extent_count; i++)
		for (uint32_t word = extents[i].first / WORD_BITS;
		     word <= extents[i].last / WORD_BITS; word++) {
			touched[word] = 0;
			words[word / WORD_BITS] = 0;
		}
	last_owner.allocation = 0;
}

uint64_t um_pages_send(uint32_t op)
{
	uint32_t count = find_extents();
	uint64_t lines = 0;

	qsort(extents, count, sizeof(*extents), by_allocation);
	for (uint32_t i = 0; i < count; i++)
		lines += send_extent(op, &extents[i]);
	send(op);
	forget(count);
	return lines;
}
