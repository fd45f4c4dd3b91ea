#include "copy.h"
#include "capture.h"
#include "device_clock.h"

#include <string.h>

static uint64_t bytes_of(const struct um_extent *extent)
{
	return (uint64_t)extent->width_bytes * extent->height * extent->depth;
}

/* From the first byte to the last; UINT64_MAX where that overflows. */
static uint64_t span_of(const struct um_box *box, const struct um_extent *extent)
{
	unsigned __int128 span = (unsigned __int128)(extent->depth - 1) * box->slice +
				 (unsigned __int128)(extent->height - 1) * box->pitch +
				 extent->width_bytes;

	return span > UINT64_MAX ? UINT64_MAX : (uint64_t)span;
}

static hipError_t check_box(const struct um_box *box, const struct um_extent *extent)
{
	if (!box->start)
		return hipErrorInvalidValue;
	if ((extent->height > 1 || extent->depth > 1) && box->pitch < extent->width_bytes)
		return hipErrorInvalidPitchValue;
	const struct um_allocation *allocation = um_memory_find(box->start);

	/* What is not HIP's is the program's own memory, of which nothing is known. */
	if (!allocation && um_memory_is_free(box->start))
		return hipErrorInvalidValue;
	if (allocation && !um_memory_holds(allocation, box->start, span_of(box, extent)))
		return hipErrorInvalidValue;
	return hipSuccess;
}

hipError_t um_copy_check(const struct um_copy *copy)
{
	if ((unsigned)copy->kind > hipMemcpyDefault)
		return hipErrorInvalidMemcpyDirection;
	hipError_t error = check_box(&copy->to, &copy->extent);

	return error ? error : check_box(&copy->from, &copy->extent);
}

/* --- as graphs describe them --- */

static hipPitchedPtr pitched(const struct um_box *box, const struct um_extent *extent)
{
	return (hipPitchedPtr){
		.ptr = (void *)(uintptr_t)box->start,
		.pitch = box->pitch,
		.xsize = extent->width_bytes,
		.ysize = box->slice && box->pitch ? box->slice / box->pitch : extent->height,
	};
}

void um_copy_params(hipMemcpy3DParms *out, const struct um_copy *copy)
{
	*out = (hipMemcpy3DParms){
		.srcPtr = pitched(&copy->from, &copy->extent),
		.dstPtr = pitched(&copy->to, &copy->extent),
		.extent = {copy->extent.width_bytes, copy->extent.height, copy->extent.depth},
		.kind = copy->kind,
	};
}

void um_fill_params(hipMemsetParams *out, const struct um_fill *fill)
{
	*out = (hipMemsetParams){
		.dst = (void *)(uintptr_t)fill->to.start,
		.elementSize = fill->value_bytes,
		.height = fill->extent.height * fill->extent.depth,
		.pitch = fill->to.pitch,
		.value = fill->value,
		.width = fill->extent.width_bytes / fill->value_bytes,
	};
}

/* --- the work --- */

static bool is_solid(const struct um_box *box, const struct um_extent *extent)
{
	return (extent->height == 1 || box->pitch == extent->width_bytes) &&
	       (extent->depth == 1 || box->slice == box->pitch * extent->height);
}

static void move(const struct um_copy *copy)
{
	const struct um_extent *extent = &copy->extent;
	char *to = um_memory_own(copy->to.start);
	const char *from = um_memory_own(copy->from.start);

	if (is_solid(&copy->to, extent) && is_solid(&copy->from, extent)) {
		memmove(to, from, bytes_of(extent));
		return;
	}
	for (size_t z = 0; z < extent->depth; z++)
		for (size_t y = 0; y < extent->height; y++)
			memmove(to + z * copy->to.slice + y * copy->to.pitch,
				from + z * copy->from.slice + y * copy->from.pitch,
				extent->width_bytes);
}

/* *captures: the work is not to be done now. */
static hipError_t start(struct um_stream **on, bool *captures, hipStream_t stream, bool async)
{
	hipError_t error = um_stream_find(on, stream);

	if (!error)
		error = um_capture_asks(captures, stream, async);
	return error || *captures ? error : um_device_error();
}

hipError_t um_copy_run(const struct um_copy *copy)
{
	struct um_stream *stream;
	bool captures = false;
	hipError_t error = start(&stream, &captures, copy->stream, copy->async);

	if (error)
		return error;
	if (!bytes_of(&copy->extent))
		return hipSuccess;
	if (captures)
		return um_capture_copy(copy);
	error = um_copy_check(copy);
	if (error)
		return error;
	struct um_record_op op = um_stream_op(UM_OP_COPY, stream);

	um_op_target(&op, copy->to.start, bytes_of(&copy->extent));
	um_op_source(&op, copy->from.start);
	op.flags = copy->async ? UM_OP_ASYNC : 0;
	op.value = (uint32_t)copy->kind;
	um_tracer_op_begin(&op);
	move(copy);
	um_tracer_op_end(&op, hipSuccess);
	um_clock_copy(stream, copy->to.start, copy->from.start, bytes_of(&copy->extent),
		      !copy->async);
	return hipSuccess;
}

static void fill_row(char *row, size_t bytes, uint32_t value, unsigned value_bytes)
{
	if (value_bytes == 1) {
		memset(row, (int)value, bytes);
		return;
	}
	for (size_t at = 0; at < bytes; at += value_bytes)
		memcpy(row + at, &value, value_bytes); /* little endian: its low bytes */
}

static void fill(const struct um_fill *request)
{
	const struct um_extent *extent = &request->extent;
	char *to = um_memory_own(request->to.start);

	if (is_solid(&request->to, extent)) {
		fill_row(to, bytes_of(extent), request->value, request->value_bytes);
		return;
	}
	for (size_t z = 0; z < extent->depth; z++)
		for (size_t y = 0; y < extent->height; y++)
			fill_row(to + z * request->to.slice + y * request->to.pitch,
				 extent->width_bytes, request->value, request->value_bytes);
}

/* Unlike a copy, a fill is only for memory that the device knows. */
hipError_t um_fill_check(const struct um_fill *request)
{
	if (!um_memory_find(request->to.start) && !um_module_holds(request->to.start))
		return hipErrorInvalidValue;
	return check_box(&request->to, &request->extent);
}

hipError_t um_fill_run(const struct um_fill *request)
{
	struct um_stream *stream;
	bool captures = false;
	hipError_t error = start(&stream, &captures, request->stream, request->async);

	if (error)
		return error;
	if (!bytes_of(&request->extent))
		return hipSuccess;
	if (captures)
		return um_capture_fill(request);
	error = um_fill_check(request);
	if (error)
		return error;
	struct um_record_op op = um_stream_op(UM_OP_MEMSET, stream);

	um_op_target(&op, request->to.start, bytes_of(&request->extent));
	op.flags = request->async ? UM_OP_ASYNC : 0;
	op.value = request->value;
	um_tracer_op_begin(&op);
	fill(request);
	um_tracer_op_end(&op, hipSuccess);
	um_clock_fill(stream, bytes_of(&request->extent));
	return hipSuccess;
}
