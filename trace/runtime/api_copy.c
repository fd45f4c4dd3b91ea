/* hipMemcpy and its relatives that copy rows of bytes. */
#include "copy.h"
#include "hip6_translate.h"

static hipError_t linear(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
	return um_copy_run(&(struct um_copy){
		.to = {to, bytes, bytes},
		.from = {from, bytes, bytes},
		.extent = {bytes, 1, 1},
		.kind = kind,
	});
}

static hipError_t linear_on(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
			    hipStream_t stream, bool async)
{
	return um_copy_run(&(struct um_copy){
		.to = {to, bytes, bytes},
		.from = {from, bytes, bytes},
		.extent = {bytes, 1, 1},
		.kind = kind,
		.stream = stream,
		.async = async,
	});
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
	UM_ENTER();
	return um_leave(linear(to, from, bytes, kind));
}

hipError_t hipMemcpy_spt(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
	UM_ENTER();
	return um_leave(linear_on(to, from, bytes, kind, hipStreamPerThread, false));
}

hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
			       hipStream_t stream)
{
	UM_ENTER();
	return um_leave(linear_on(to, from, bytes, kind, stream, false));
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
			  hipStream_t stream)
{
	UM_ENTER();
	return um_leave(linear_on(to, from, bytes, kind, stream, true));
}

hipError_t hipMemcpyAsync_spt(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
			      hipStream_t stream)
{
	UM_ENTER();
	return um_leave(
		linear_on(to, from, bytes, kind, stream ? stream : hipStreamPerThread, true));
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t bytes)
{
	UM_ENTER();
	return um_leave(linear(to, from, bytes, hipMemcpyHostToDevice));
}

hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes)
{
	UM_ENTER();
	return um_leave(linear(to, from, bytes, hipMemcpyDeviceToHost));
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes)
{
	UM_ENTER();
	return um_leave(linear(to, from, bytes, hipMemcpyDeviceToDevice));
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(linear_on(to, from, bytes, hipMemcpyHostToDevice, stream, true));
}

hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(linear_on(to, from, bytes, hipMemcpyDeviceToHost, stream, true));
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
			      hipStream_t stream)
{
	UM_ENTER();
	return um_leave(linear_on(to, from, bytes, hipMemcpyDeviceToDevice, stream, true));
}

static hipError_t peer(void *to, int to_device, const void *from, int from_device, size_t bytes,
		       hipStream_t stream, bool async)
{
	if (to_device < 0 || (uint32_t)to_device >= um_device_count() || from_device < 0 ||
	    (uint32_t)from_device >= um_device_count())
		return hipErrorInvalidDevice;
	return linear_on(to, from, bytes, hipMemcpyDeviceToDevice, stream, async);
}

hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
	UM_ENTER();
	return um_leave(peer(to, to_device, from, from_device, bytes, NULL, false));
}

hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
			      size_t bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(peer(to, to_device, from, from_device, bytes, stream, true));
}

/* --- rows --- */

struct rows {
	void *to;
	size_t to_pitch;
	const void *from;
	size_t from_pitch, width, height;
	hipMemcpyKind kind;
};

static hipError_t copy_rows(const struct rows *r, hipStream_t stream, bool async)
{
	if (r->width > r->to_pitch || r->width > r->from_pitch)
		return hipErrorInvalidPitchValue;
	return um_copy_run(&(struct um_copy){
		.to = {r->to, r->to_pitch, 0},
		.from = {r->from, r->from_pitch, 0},
		.extent = {r->width, r->height, 1},
		.kind = r->kind,
		.stream = stream,
		.async = async,
	});
}

hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		       size_t height, hipMemcpyKind kind)
{
	struct rows rows = {to, to_pitch, from, from_pitch, width, height, kind};

	UM_ENTER();
	return um_leave(copy_rows(&rows, NULL, false));
}

hipError_t hipMemcpy2D_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			   size_t width, size_t height, hipMemcpyKind kind)
{
	struct rows rows = {to, to_pitch, from, from_pitch, width, height, kind};

	UM_ENTER();
	return um_leave(copy_rows(&rows, hipStreamPerThread, false));
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			    size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream)
{
	struct rows rows = {to, to_pitch, from, from_pitch, width, height, kind};

	UM_ENTER();
	return um_leave(copy_rows(&rows, stream, true));
}

/* --- boxes --- */

static const void *place(const void *start, size_t x, size_t y, size_t z, size_t pitch,
			 size_t slice)
{
	return start ? (const char *)start + z * slice + y * pitch + x : NULL;
}

static struct um_box pitched_box(const hipPitchedPtr *memory, const struct hipPos *at)
{
	size_t slice = memory->pitch * memory->ysize;

	return (struct um_box){place(memory->ptr, at->x, at->y, at->z, memory->pitch, slice),
			       memory->pitch, slice};
}

hipError_t um_copy_of_params(struct um_copy *out, const hipMemcpy3DParms *p)
{
	if (p->srcArray || p->dstArray)
		return um_refuse_part("hipMemcpy3D of arrays");
	out->to = pitched_box(&p->dstPtr, &p->dstPos);
	out->from = pitched_box(&p->srcPtr, &p->srcPos);
	out->extent = (struct um_extent){p->extent.width, p->extent.height, p->extent.depth};
	out->kind = p->kind;
	return hipSuccess;
}

static hipError_t copy_3d(const hipMemcpy3DParms *p, hipStream_t stream, bool async)
{
	struct um_copy copy = {.stream = stream, .async = async};

	if (!p)
		return hipErrorInvalidValue;
	hipError_t error = um_copy_of_params(&copy, p);

	return error ? error : um_copy_run(&copy);
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms *p)
{
	UM_ENTER();
	return um_leave(copy_3d(p, NULL, false));
}

hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms *p)
{
	UM_ENTER();
	return um_leave(copy_3d(p, hipStreamPerThread, false));
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *p, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(copy_3d(p, stream, true));
}

/* One side of a copy of the driver API; start NULL where it is an array, which is refused. */
struct side {
	hipMemoryType type;
	const void *host, *device;
	size_t x, y, z, pitch, height;
};

static struct um_box side_box(const struct side *s, const struct um_extent *extent)
{
	size_t pitch = s->pitch ? s->pitch : extent->width_bytes;
	size_t slice = pitch * (s->height ? s->height : extent->height);
	const void *start = s->type == hipMemoryTypeHost ? s->host : s->device;

	return (struct um_box){place(start, s->x, s->y, s->z, pitch, slice), pitch, slice};
}

static hipError_t copy_sides(const struct side *to, const struct side *from,
			     struct um_extent extent, hipStream_t stream, bool async)
{
	if (to->type == hipMemoryTypeArray || from->type == hipMemoryTypeArray)
		return um_refuse_part("hipDrvMemcpy of arrays");
	return um_copy_run(&(struct um_copy){
		.to = side_box(to, &extent),
		.from = side_box(from, &extent),
		.extent = extent,
		.kind = hipMemcpyDefault,
		.stream = stream,
		.async = async,
	});
}

static hipError_t copy_param_2d(const hip_Memcpy2D *c, hipStream_t stream, bool async)
{
	if (!c)
		return hipErrorInvalidValue;
	struct side from = {um_to_memory_type(c->srcMemoryType),
			    c->srcHost,
			    c->srcDevice,
			    c->srcXInBytes,
			    c->srcY,
			    0,
			    c->srcPitch,
			    0};
	struct side to = {um_to_memory_type(c->dstMemoryType),
			  c->dstHost,
			  c->dstDevice,
			  c->dstXInBytes,
			  c->dstY,
			  0,
			  c->dstPitch,
			  0};

	return copy_sides(&to, &from, (struct um_extent){c->WidthInBytes, c->Height, 1}, stream,
			  async);
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D *c)
{
	UM_ENTER();
	return um_leave(copy_param_2d(c, NULL, false));
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *c, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(copy_param_2d(c, stream, true));
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *c)
{
	UM_ENTER();
	return um_leave(copy_param_2d(c, NULL, false));
}

static hipError_t copy_drv_3d(const HIP_MEMCPY3D *params, hipStream_t stream, bool async)
{
	struct um_memcpy_3d_6 c;

	if (!params)
		return hipErrorInvalidValue;
	um_to_memcpy_3d(&c, params);
	struct side from = {um_to_memory_type(c.srcMemoryType),
			    c.srcHost,
			    c.srcDevice,
			    c.srcXInBytes,
			    c.srcY,
			    c.srcZ,
			    c.srcPitch,
			    c.srcHeight};
	struct side to = {um_to_memory_type(c.dstMemoryType),
			  c.dstHost,
			  c.dstDevice,
			  c.dstXInBytes,
			  c.dstY,
			  c.dstZ,
			  c.dstPitch,
			  c.dstHeight};

	return copy_sides(&to, &from, (struct um_extent){c.WidthInBytes, c.Height, c.Depth}, stream,
			  async);
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *c)
{
	UM_ENTER();
	return um_leave(copy_drv_3d(c, NULL, false));
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *c, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(copy_drv_3d(c, stream, true));
}
