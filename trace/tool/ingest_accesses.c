/* Records about what was touched. */
#include "ingest_private.h"

#include "trace/base/error.h"
#include "trace/db/words.h"

#include <stdlib.h>

#define TOUCHES                                                                                    \
	(UM_TOUCH_READ | UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST | UM_TOUCH_LINES_UNKNOWN |      \
	 UM_TOUCH_ATOMIC_FLOAT | UM_TOUCH_ATOMIC_HARDWARE)

static bool is_within(struct um_ingest *ingest, uint32_t allocation, uint64_t first_page,
		      uint64_t pages)
{
	const struct um_known_allocation *known = um_ingest_known(ingest, allocation);

	return known && pages > 0 && first_page + pages <= known->pages;
}

/* An atomic reads and writes, and only one on a floating-point value is told to be of the hardware. */
static bool has_possible_atomics(uint32_t touch)
{
	uint32_t both = UM_TOUCH_READ | UM_TOUCH_WRITTEN;

	if (touch & UM_TOUCH_ATOMIC_HARDWARE && !(touch & UM_TOUCH_ATOMIC_FLOAT))
		return false;
	return !(touch & UM_TOUCH_ATOMIC_FLOAT) || (touch & both) == both;
}

/* Lines and touch tell the same story. */
static bool is_consistent(const struct um_page_run *run)
{
	if (run->touch & ~TOUCHES || !(run->touch & (UM_TOUCH_READ | UM_TOUCH_WRITTEN)) ||
	    !has_possible_atomics(run->touch))
		return false;
	if (run->touch & UM_TOUCH_LINES_UNKNOWN)
		return true;
	return !run->lines_read == !(run->touch & UM_TOUCH_READ) &&
	       !run->lines_written == !(run->touch & UM_TOUCH_WRITTEN);
}

static int insert_run(struct um_ingest *ingest, uint32_t op, const struct um_page_run *run)
{
	bool full = run->requests == UINT32_MAX || run->atomics == UINT32_MAX;
	bool counted = ingest->totals.requests && !(run->touch & UM_TOUCH_LINES_UNKNOWN) && !full;
	struct um_page_access_row row = {
		.op = um_ingest_op_id(ingest, op),
		.allocation = run->allocation,
		.first_page = run->first_page,
		.pages = run->pages,
		.touch = run->touch,
		.lines_read = (int64_t)run->lines_read,
		.lines_written = (int64_t)run->lines_written,
		.requests = counted ? run->requests : UM_NULL,
		.atomics = counted ? run->atomics : UM_NULL,
	};

	if (!is_consistent(run) || !is_within(ingest, run->allocation, run->first_page, run->pages))
		return UM_RECORD_INVALID;
	ingest->totals.uncounted += full;
	return um_ingest_insert(ingest, &um_table_page_access, &row);
}

int um_ingest_pages(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_pages *pages = record;
	uint64_t room = (uint64_t)(end - (const char *)pages->run) / sizeof(pages->run[0]);

	if (pages->op == 0 || pages->op > ingest->last_op || pages->runs > room)
		return UM_RECORD_INVALID;
	for (uint32_t i = 0; i < pages->runs; i++) {
		int result = insert_run(ingest, pages->op, &pages->run[i]);

		if (result == UM_RECORD_INVALID)
			ingest->totals.invalid_rows++;
		else if (result)
			return result;
	}
	return 0;
}

static int insert_host_access(struct um_ingest *ingest, uint32_t op,
			      const struct um_host_access_run *run)
{
	const char *access =
		run->access <= UM_FAULT_WRITE ? um_access_words[run->access].word : NULL;
	struct um_host_access_row row = {
		.op = um_ingest_op_id(ingest, op),
		.allocation = run->allocation,
		.first_page = run->first_page,
		.access = access,
		.pages = run->pages,
		.site = um_or_null(run->site),
		.touch = run->touch,
	};

	if (!access || !is_within(ingest, run->allocation, run->first_page, run->pages) ||
	    (run->site && !um_ingest_known_site(ingest, run->site)))
		return UM_RECORD_INVALID;
	return um_ingest_insert(ingest, &um_table_host_access, &row);
}

int um_ingest_host_access(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_host_access *accesses = record;
	uint64_t room = (uint64_t)(end - (const char *)accesses->run) / sizeof(accesses->run[0]);

	if (accesses->op == 0 || accesses->op > ingest->last_op || accesses->runs > room)
		return UM_RECORD_INVALID;
	for (uint32_t i = 0; i < accesses->runs; i++) {
		int result = insert_host_access(ingest, accesses->op, &accesses->run[i]);

		if (result == UM_RECORD_INVALID)
			ingest->totals.invalid_rows++;
		else if (result)
			return result;
	}
	return 0;
}

static bool is_run_within(struct um_ingest *ingest, const struct um_access_run *run)
{
	int64_t last = run->first_page + (int64_t)run->stride * ((int64_t)run->count - 1);
	int64_t low = last < run->first_page ? last : run->first_page;
	int64_t high = last < run->first_page ? run->first_page : last;

	return is_within(ingest, run->allocation, (uint64_t)low, (uint64_t)(high - low) + 1);
}

/* Decodes it: whoever reads the trace later relies on it. */
static bool is_stream_right(struct um_ingest *ingest, const struct um_record_stream *stream)
{
	struct um_access_run run[256];
	uint64_t touches = 0;
	long runs;

	um_stream_decoder_reset(ingest->decoder, stream->payload, stream->payload_bytes);
	while ((runs = um_stream_decode(ingest->decoder, run, sizeof(run) / sizeof(*run))) > 0)
		for (long i = 0; i < runs; i++) {
			touches += run[i].count;
			if (run[i].group < stream->first_group ||
			    run[i].group > stream->last_group || !is_run_within(ingest, &run[i]))
				return false;
		}
	return runs == 0 && touches == stream->touches && touches > 0;
}

int um_ingest_stream(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_stream *stream = record;

	if (stream->op == 0 || stream->op > ingest->last_op ||
	    stream->payload_bytes > UM_STREAM_PAYLOAD_MAX ||
	    stream->payload_bytes > (size_t)(end - (const char *)stream->payload) ||
	    !is_stream_right(ingest, stream))
		return UM_RECORD_INVALID;
	struct um_access_chunk_row row = {
		.op = um_ingest_op_id(ingest, stream->op),
		.chunk = stream->chunk,
		.first_group = (int64_t)stream->first_group,
		.last_group = (int64_t)stream->last_group,
		.touches = (int64_t)stream->touches,
	};
	int result = um_db_chunk_pack(&row, stream->payload, stream->payload_bytes);
	if (result == 0)
		result = um_ingest_insert(ingest, &um_table_access_chunk, &row);
	free((void *)(uintptr_t)row.data.data);
	return result;
}
