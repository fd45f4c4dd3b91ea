#include "recorder_stream.h"
#include "trace/spool/access_stream.h"
#include "tracer.h"

#include <string.h>

uint64_t um_stream_emissions;

static struct um_stream_encoder encoder;
static uint64_t group;
static union {
	struct um_record_stream record;
	unsigned char bytes[sizeof(struct um_record_stream) + UM_STREAM_PAYLOAD_MAX];
} out;

_Static_assert(UM_STREAM_PAYLOAD_MAX % 8 == 0, "padding stays inside");

static void send(void)
{
	uint32_t padded;

	um_stream_finish(&encoder);
	if (!encoder.touches)
		return;
	padded = ((uint32_t)encoder.used + 7u) & ~7u;
	memset(out.record.payload + encoder.used, 0, padded - encoder.used);
	out.record.header.kind = UM_RECORD_STREAM;
	out.record.header.bytes = (uint32_t)sizeof(out.record) + padded;
	out.record.first_group = encoder.first_group;
	out.record.last_group = encoder.last_group;
	out.record.touches = encoder.touches;
	out.record.payload_bytes = (uint32_t)encoder.used;
	um_tracer_put(&out.record.header);
	out.record.chunk++;
}

void um_stream_begin(uint32_t op)
{
	out.record.op = op;
	out.record.chunk = 0;
	um_stream_emissions = 0;
	um_stream_encoder_init(&encoder, out.record.payload);
}

void um_stream_group(uint64_t linear_group)
{
	group = linear_group;
	um_stream_emissions += UM_STREAM_FILTER_PAGES;
}

void um_stream_emit(struct um_page *page, uint32_t number, bool write)
{
	uint32_t in_allocation = number - (page->first_page & ~UM_PAGE_FLAGS);

	page->emitted[write] = ++um_stream_emissions;
	if (um_stream_put(&encoder, group, page->allocation, in_allocation, write))
		return;
	send();
	um_stream_encoder_init(&encoder, out.record.payload);
	um_stream_put(&encoder, group, page->allocation, in_allocation, write);
}

void um_stream_end(void)
{
	send();
}
