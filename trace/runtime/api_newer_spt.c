/*
 * What HIP 5.3 and later make of the functions of the same names where a source is compiled for a
 * default stream of each thread (-fgpu-default-stream=per-thread).
 */
#include "api_newer.h"

static hipStream_t own(hipStream_t stream)
{
	return stream ? stream : hipStreamPerThread;
}

hipError_t hipMemsetAsync_spt(void *to, int value, size_t bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(hipMemsetAsync(to, value, bytes, own(stream)));
}

hipError_t hipMemset2DAsync_spt(void *to, size_t pitch, int value, size_t width, size_t height,
				hipStream_t stream)
{
	UM_ENTER();
	return um_leave(hipMemset2DAsync(to, pitch, value, width, height, own(stream)));
}

hipError_t hipMemset3DAsync_spt(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(hipMemset3DAsync(to, value, extent, own(stream)));
}

hipError_t hipMemcpy2DAsync_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch,
				size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(
		hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, own(stream)));
}

hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms *p, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(hipMemcpy3DAsync(p, own(stream)));
}

hipError_t hipMemcpyToSymbolAsync_spt(const void *symbol, const void *from, size_t bytes,
				      size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(hipMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, own(stream)));
}

hipError_t hipMemcpyFromSymbolAsync_spt(void *to, const void *symbol, size_t bytes, size_t offset,
					hipMemcpyKind kind, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(hipMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, own(stream)));
}

hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(hipGraphLaunch(exec, own(stream)));
}

hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode)
{
	UM_ENTER();
	return um_leave(hipStreamBeginCapture(own(stream), mode));
}

hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *graph)
{
	UM_ENTER();
	return um_leave(hipStreamEndCapture(own(stream), graph));
}

hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus *status)
{
	UM_ENTER();
	return um_leave(hipStreamIsCapturing(own(stream), status));
}

hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream, hipStreamCaptureStatus *status,
				       unsigned long long *id)
{
	UM_ENTER();
	return um_leave(hipStreamGetCaptureInfo(own(stream), status, id));
}

hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, hipStreamCaptureStatus *status,
					  unsigned long long *id, hipGraph_t *graph,
					  const hipGraphNode_t **nodes, size_t *count)
{
	UM_ENTER();
	return um_leave(hipStreamGetCaptureInfo_v2(own(stream), status, id, graph, nodes, count));
}

hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t function, void *data,
				    unsigned flags)
{
	UM_ENTER();
	return um_leave(hipStreamAddCallback(own(stream), function, data, flags));
}

hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void *data)
{
	UM_ENTER();
	return um_leave(hipLaunchHostFunc(own(stream), function, data));
}
