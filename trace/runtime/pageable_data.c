#include "pageable_data.h"

#include "hostwatch_pagemap.h"
#include "lazy_map.h"
#include "trace/base/error.h"
#include "tracer.h"

#include <string.h>

#define WORD_BITS    64u
#define RUNS_AT_ONCE 1024u

static struct {
	uint64_t *has_data;   /* bit by place */
	uint32_t *looked_in;  /* by block: the launch */
	uint32_t launch;      /* a number of our own, from 1 */
	bool pagemap_is_open; /* or was tried, in this launch */
	struct um_watch_fd pagemap;
} data = {.pagemap = {.fd = -1}};

static union {
	struct um_record_pages record;
	unsigned char
		bytes[sizeof(struct um_record_pages) + RUNS_AT_ONCE * sizeof(struct um_page_run)];
} out;

int um_pageable_data_init(uint64_t places)
{
	if (!data.has_data)
		data.has_data = um_lazy_map(places / 8);
	if (!data.looked_in)
		data.looked_in =
			um_lazy_map(places / UM_PAGEABLE_BLOCK_PAGES * sizeof(*data.looked_in));
	if (data.has_data && data.looked_in)
		return 0;
	return um_fail_errno(UM_ENOMEM, "cannot map the records of pageable memory");
}

/* --- what is told --- */

static void send(void)
{
	if (!out.record.runs)
		return;
	out.record.op = um_tracer_host_op();
	out.record.header.kind = UM_RECORD_PAGES;
	out.record.header.bytes =
		(uint32_t)(sizeof(out.record) + out.record.runs * sizeof(struct um_page_run));
	um_tracer_put(&out.record.header);
	out.record.runs = 0;
}

static void tell(uint32_t allocation, uint32_t first_page, uint32_t pages)
{
	struct um_page_run *last = out.record.runs ? &out.record.run[out.record.runs - 1] : NULL;

	if (last && last->allocation == allocation &&
	    last->first_page + last->pages == first_page) {
		last->pages += pages;
		return;
	}
	if (out.record.runs == RUNS_AT_ONCE)
		send();
	out.record.run[out.record.runs++] = (struct um_page_run){
		.allocation = allocation,
		.first_page = first_page,
		.pages = pages,
		.touch = UM_TOUCH_WRITTEN | UM_TOUCH_LINES_UNKNOWN,
	};
}

/* --- what is there --- */

static bool test_and_set(uint64_t place)
{
	uint64_t bit = UINT64_C(1) << place % WORD_BITS;
	uint64_t *word = &data.has_data[place / WORD_BITS];
	bool was_set = *word & bit;

	*word |= bit;
	return was_set;
}

static void note_present(const char *start, const char *end, bool written, void *context)
{
	const struct um_pageable_block *block = context;
	uint32_t first = (uint32_t)((start - block->start) >> UM_PAGE_SHIFT);
	uint32_t last = (uint32_t)((end - block->start) >> UM_PAGE_SHIFT);

	(void)written;
	for (uint32_t i = first; i < last; i++)
		if (!test_and_set(block->place + i))
			tell(block->allocation, block->page + i, 1);
}

static bool open_pagemap(void)
{
	if (!data.pagemap_is_open) {
		data.pagemap_is_open = true;
		if (!um_pagemap_open(&data.pagemap))
			data.pagemap.fd = -1;
	}
	return data.pagemap.fd >= 0;
}

void um_pageable_data_look(const struct um_pageable_block *block)
{
	uint32_t *looked_in = &data.looked_in[block->place / UM_PAGEABLE_BLOCK_PAGES];
	/* note_present() takes it as the context of um_pagemap_scan(). */
	void *context = (void *)(uintptr_t)block;

	if (*looked_in == data.launch)
		return;
	*looked_in = data.launch;
	if (!block->is_file && open_pagemap() &&
	    um_pagemap_scan(&data.pagemap, block->start, block->end, note_present, context))
		return;
	/* A file; or nobody can say, and then it must not get lost. */
	note_present(block->start, block->end, true, context);
}

void um_pageable_data_touched(uint64_t place)
{
	test_and_set(place);
}

void um_pageable_data_forget(uint64_t place, uint64_t pages)
{
	uint64_t blocks = pages / UM_PAGEABLE_BLOCK_PAGES;

	memset(data.has_data + place / WORD_BITS, 0, pages / 8);
	memset(data.looked_in + place / UM_PAGEABLE_BLOCK_PAGES, 0,
	       blocks * sizeof(*data.looked_in));
}

void um_pageable_data_begin(void)
{
	data.launch++;
	out.record.runs = 0;
}

void um_pageable_data_end(void)
{
	send();
	if (data.pagemap_is_open)
		um_watch_fd_close(&data.pagemap);
	data.pagemap_is_open = false;
}
