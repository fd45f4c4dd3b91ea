#include "api.h"
#include "tracer_site.h"

uint32_t um_site(void)
{
	if (!um_thread.site && um_thread.caller && um_tracer_on())
		um_thread.site = um_tracer_site(um_thread.caller);
	return um_thread.site;
}

struct um_record_op um_op(enum um_op_kind kind, uint32_t stream)
{
	return (struct um_record_op){
		.kind = (uint16_t)kind,
		.stream = stream,
		.site = um_site(),
		.device = um_thread.device,
	};
}

struct um_record_op um_stream_op(enum um_op_kind kind, const struct um_stream *stream)
{
	struct um_record_op op = um_op(kind, stream->id);

	op.device = stream->device;
	return op;
}

void um_op_target(struct um_record_op *op, const void *address, uint64_t bytes)
{
	const struct um_allocation *allocation = um_memory_find(address);

	op->bytes = bytes;
	if (!allocation)
		return;
	op->allocation = allocation->id;
	op->offset = (uintptr_t)address - (uintptr_t)um_memory_start(allocation);
}

void um_op_source(struct um_record_op *op, const void *address)
{
	const struct um_allocation *allocation = um_memory_find(address);

	if (!allocation)
		return;
	op->source_allocation = allocation->id;
	op->source_offset = (uintptr_t)address - (uintptr_t)um_memory_start(allocation);
}
