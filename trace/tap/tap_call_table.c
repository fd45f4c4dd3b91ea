#include "tap_call.h"

#define AT(params)   offsetof(struct um_params_##params, stream)
#define NO	     UM_TAP_NO_STREAM
#define IN_CONFIG    UM_TAP_STREAM_IN_CONFIG
#define PER_THREAD   UM_TAP_PER_THREAD
#define ASYNC	     UM_TAP_ASYNC
#define THREAD_ASYNC (UM_TAP_PER_THREAD | UM_TAP_ASYNC)
#define WAITS	     UM_TAP_WAITS
#define THREAD_WAITS (UM_TAP_PER_THREAD | UM_TAP_WAITS)
#define FREES	     UM_TAP_FREES
#define STORES	     UM_TAP_STORES

/* hipMemcpyKind */
enum { TO_DEVICE = 1, TO_HOST = 2, BETWEEN_DEVICES = 3, BY_ADDRESS = 4 };

/* clang-format off */
static const struct um_tap_call_row rows[] = {
	{UM_CUDA_ALLOC_MANAGED, STORES, UM_ALLOCATION_MANAGED, NO, um_tap_alloc},
	{UM_CUDA_ALLOC, STORES, UM_ALLOCATION_DEVICE, NO, um_tap_alloc},
	{UM_CUDA_ALLOC_PITCH, STORES, UM_ALLOCATION_DEVICE, NO, um_tap_alloc_pitch},
	{UM_CUDA_ALLOC_ASYNC, STORES | ASYNC, UM_ALLOCATION_DEVICE, AT(alloc_async), um_tap_alloc_async},
	{UM_CUDA_ALLOC_ASYNC_PTSZ, STORES | THREAD_ASYNC, UM_ALLOCATION_DEVICE, AT(alloc_async), um_tap_alloc_async},
	{UM_CUDA_ALLOC_FROM_POOL, STORES | ASYNC, 0, AT(alloc_from_pool), um_tap_alloc_from_pool},
	{UM_CUDA_ALLOC_FROM_POOL_PTSZ, STORES | THREAD_ASYNC, 0, AT(alloc_from_pool), um_tap_alloc_from_pool},
	{UM_CUDA_ALLOC_HOST, STORES, 0, NO, um_tap_alloc_host},
	{UM_CUDA_HOST_ALLOC_1, STORES, 1, NO, um_tap_alloc_host},
	{UM_CUDA_HOST_ALLOC, STORES, 1, NO, um_tap_alloc_host},
	{UM_CUDA_HOST_REGISTER_1, 0, 0, NO, um_tap_host_register},
	{UM_CUDA_HOST_REGISTER, 0, 0, NO, um_tap_host_register},
	{UM_CUDA_MODULE_GET_GLOBAL, 0, 0, NO, um_tap_global},
	{UM_CUDA_LIBRARY_GET_GLOBAL, 0, 0, NO, um_tap_global},
	{UM_CUDA_LIBRARY_GET_MANAGED, 0, 0, NO, um_tap_global},
	{UM_CUDA_POOL_CREATE, 0, 0, NO, um_tap_pool_create},
	{UM_CUDA_POOL_DESTROY, 0, 0, NO, um_tap_pool_destroy},
	{UM_CUDA_FREE, FREES, 0, NO, um_tap_free},
	{UM_CUDA_FREE_ASYNC, FREES | ASYNC, 0, AT(free_async), um_tap_free},
	{UM_CUDA_FREE_ASYNC_PTSZ, FREES | THREAD_ASYNC, 0, AT(free_async), um_tap_free},
	{UM_CUDA_FREE_HOST, FREES, 0, NO, um_tap_free},
	{UM_CUDA_HOST_UNREGISTER, FREES, 0, NO, um_tap_free},

	{UM_CUDA_ADVISE_1, 0, 0, NO, um_tap_advise_1},
	{UM_CUDA_ADVISE, 0, 0, NO, um_tap_advise},
	{UM_CUDA_PREFETCH_1, ASYNC, 0, AT(prefetch_1), um_tap_prefetch_1},
	{UM_CUDA_PREFETCH_1_PTSZ, THREAD_ASYNC, 0, AT(prefetch_1), um_tap_prefetch_1},
	{UM_CUDA_PREFETCH, ASYNC, 0, AT(prefetch), um_tap_prefetch},
	{UM_CUDA_PREFETCH_PTSZ, THREAD_ASYNC, 0, AT(prefetch), um_tap_prefetch},
	{UM_CUDA_PREFETCH_BATCH, ASYNC, 0, AT(prefetch_batch), um_tap_prefetch_batch},
	{UM_CUDA_PREFETCH_BATCH_PTSZ, THREAD_ASYNC, 0, AT(prefetch_batch), um_tap_prefetch_batch},
	{UM_CUDA_DISCARD_BATCH, ASYNC, 0, AT(discard_batch), um_tap_discard_batch},
	{UM_CUDA_DISCARD_BATCH_PTSZ, THREAD_ASYNC, 0, AT(discard_batch), um_tap_discard_batch},
	{UM_CUDA_DISCARD_AND_PREFETCH, ASYNC, 0, AT(prefetch_batch), um_tap_discard_and_prefetch},
	{UM_CUDA_DISCARD_AND_PREFETCH_PTSZ, THREAD_ASYNC, 0, AT(prefetch_batch), um_tap_discard_and_prefetch},
	{UM_CUDA_STREAM_ATTACH, ASYNC, 0, AT(attach), um_tap_attach},
	{UM_CUDA_STREAM_ATTACH_PTSZ, THREAD_ASYNC, 0, AT(attach), um_tap_attach},

	{UM_CUDA_COPY, 0, BY_ADDRESS, NO, um_tap_copy},
	{UM_CUDA_COPY_PTDS, PER_THREAD, BY_ADDRESS, NO, um_tap_copy},
	{UM_CUDA_COPY_ASYNC, ASYNC, BY_ADDRESS, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_ASYNC_PTSZ, THREAD_ASYNC, BY_ADDRESS, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_HTOD, 0, TO_DEVICE, NO, um_tap_copy},
	{UM_CUDA_COPY_HTOD_PTDS, PER_THREAD, TO_DEVICE, NO, um_tap_copy},
	{UM_CUDA_COPY_HTOD_ASYNC, ASYNC, TO_DEVICE, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_HTOD_ASYNC_PTSZ, THREAD_ASYNC, TO_DEVICE, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_DTOH, 0, TO_HOST, NO, um_tap_copy},
	{UM_CUDA_COPY_DTOH_PTDS, PER_THREAD, TO_HOST, NO, um_tap_copy},
	{UM_CUDA_COPY_DTOH_ASYNC, ASYNC, TO_HOST, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_DTOH_ASYNC_PTSZ, THREAD_ASYNC, TO_HOST, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_DTOD, 0, BETWEEN_DEVICES, NO, um_tap_copy},
	{UM_CUDA_COPY_DTOD_PTDS, PER_THREAD, BETWEEN_DEVICES, NO, um_tap_copy},
	{UM_CUDA_COPY_DTOD_ASYNC, ASYNC, BETWEEN_DEVICES, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_DTOD_ASYNC_PTSZ, THREAD_ASYNC, BETWEEN_DEVICES, AT(copy), um_tap_copy},
	{UM_CUDA_COPY_PEER, 0, BETWEEN_DEVICES, NO, um_tap_copy_peer},
	{UM_CUDA_COPY_PEER_PTDS, PER_THREAD, BETWEEN_DEVICES, NO, um_tap_copy_peer},
	{UM_CUDA_COPY_PEER_ASYNC, ASYNC, BETWEEN_DEVICES, AT(copy_peer), um_tap_copy_peer},
	{UM_CUDA_COPY_PEER_ASYNC_PTSZ, THREAD_ASYNC, BETWEEN_DEVICES, AT(copy_peer), um_tap_copy_peer},
	{UM_CUDA_COPY_2D, 0, 0, NO, um_tap_copy_2d},
	{UM_CUDA_COPY_2D_PTDS, PER_THREAD, 0, NO, um_tap_copy_2d},
	{UM_CUDA_COPY_2D_UNALIGNED, 0, 0, NO, um_tap_copy_2d},
	{UM_CUDA_COPY_2D_UNALIGNED_PTDS, PER_THREAD, 0, NO, um_tap_copy_2d},
	{UM_CUDA_COPY_2D_ASYNC, ASYNC, 0, AT(copy_box), um_tap_copy_2d},
	{UM_CUDA_COPY_2D_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(copy_box), um_tap_copy_2d},
	{UM_CUDA_COPY_3D, 0, 0, NO, um_tap_copy_3d},
	{UM_CUDA_COPY_3D_PTDS, PER_THREAD, 0, NO, um_tap_copy_3d},
	{UM_CUDA_COPY_3D_ASYNC, ASYNC, 0, AT(copy_box), um_tap_copy_3d},
	{UM_CUDA_COPY_3D_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(copy_box), um_tap_copy_3d},
	{UM_CUDA_COPY_3D_PEER, 0, 0, NO, um_tap_copy_3d},
	{UM_CUDA_COPY_3D_PEER_PTDS, PER_THREAD, 0, NO, um_tap_copy_3d},
	{UM_CUDA_COPY_3D_PEER_ASYNC, ASYNC, 0, AT(copy_box), um_tap_copy_3d},
	{UM_CUDA_COPY_3D_PEER_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(copy_box), um_tap_copy_3d},
	{UM_CUDA_COPY_BATCH_1, ASYNC, BY_ADDRESS, AT(copy_batch_1), um_tap_copy_batch},
	{UM_CUDA_COPY_BATCH_1_PTSZ, THREAD_ASYNC, BY_ADDRESS, AT(copy_batch_1), um_tap_copy_batch},
	{UM_CUDA_COPY_BATCH, ASYNC, BY_ADDRESS, AT(copy_batch), um_tap_copy_batch},
	{UM_CUDA_COPY_BATCH_PTSZ, THREAD_ASYNC, BY_ADDRESS, AT(copy_batch), um_tap_copy_batch},
	{UM_CUDA_COPY_3D_BATCH_1, ASYNC, 0, NO, um_tap_copy_3d_batch},
	{UM_CUDA_COPY_3D_BATCH_1_PTSZ, THREAD_ASYNC, 0, NO, um_tap_copy_3d_batch},
	{UM_CUDA_COPY_3D_BATCH, ASYNC, 0, NO, um_tap_copy_3d_batch},
	{UM_CUDA_COPY_3D_BATCH_PTSZ, THREAD_ASYNC, 0, NO, um_tap_copy_3d_batch},

	{UM_CUDA_MEMSET_D8, 0, 0, NO, um_tap_memset_8},
	{UM_CUDA_MEMSET_D8_PTDS, PER_THREAD, 0, NO, um_tap_memset_8},
	{UM_CUDA_MEMSET_D8_ASYNC, ASYNC, 0, AT(memset_8), um_tap_memset_8},
	{UM_CUDA_MEMSET_D8_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(memset_8), um_tap_memset_8},
	{UM_CUDA_MEMSET_D16, 0, 0, NO, um_tap_memset_16},
	{UM_CUDA_MEMSET_D16_PTDS, PER_THREAD, 0, NO, um_tap_memset_16},
	{UM_CUDA_MEMSET_D16_ASYNC, ASYNC, 0, AT(memset_16), um_tap_memset_16},
	{UM_CUDA_MEMSET_D16_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(memset_16), um_tap_memset_16},
	{UM_CUDA_MEMSET_D32, 0, 0, NO, um_tap_memset_32},
	{UM_CUDA_MEMSET_D32_PTDS, PER_THREAD, 0, NO, um_tap_memset_32},
	{UM_CUDA_MEMSET_D32_ASYNC, ASYNC, 0, AT(memset_32), um_tap_memset_32},
	{UM_CUDA_MEMSET_D32_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(memset_32), um_tap_memset_32},
	{UM_CUDA_MEMSET_2D8, 0, 0, NO, um_tap_memset_2d8},
	{UM_CUDA_MEMSET_2D8_PTDS, PER_THREAD, 0, NO, um_tap_memset_2d8},
	{UM_CUDA_MEMSET_2D8_ASYNC, ASYNC, 0, AT(memset_2d8), um_tap_memset_2d8},
	{UM_CUDA_MEMSET_2D8_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(memset_2d8), um_tap_memset_2d8},
	{UM_CUDA_MEMSET_2D16, 0, 0, NO, um_tap_memset_2d16},
	{UM_CUDA_MEMSET_2D16_PTDS, PER_THREAD, 0, NO, um_tap_memset_2d16},
	{UM_CUDA_MEMSET_2D16_ASYNC, ASYNC, 0, AT(memset_2d16), um_tap_memset_2d16},
	{UM_CUDA_MEMSET_2D16_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(memset_2d16), um_tap_memset_2d16},
	{UM_CUDA_MEMSET_2D32, 0, 0, NO, um_tap_memset_2d32},
	{UM_CUDA_MEMSET_2D32_PTDS, PER_THREAD, 0, NO, um_tap_memset_2d32},
	{UM_CUDA_MEMSET_2D32_ASYNC, ASYNC, 0, AT(memset_2d32), um_tap_memset_2d32},
	{UM_CUDA_MEMSET_2D32_ASYNC_PTSZ, THREAD_ASYNC, 0, AT(memset_2d32), um_tap_memset_2d32},

	{UM_CUDA_LAUNCH_KERNEL, ASYNC, 0, AT(launch), um_tap_launch},
	{UM_CUDA_LAUNCH_KERNEL_PTSZ, THREAD_ASYNC, 0, AT(launch), um_tap_launch},
	{UM_CUDA_LAUNCH_COOPERATIVE, ASYNC, 0, AT(launch), um_tap_launch},
	{UM_CUDA_LAUNCH_COOPERATIVE_PTSZ, THREAD_ASYNC, 0, AT(launch), um_tap_launch},
	{UM_CUDA_LAUNCH_KERNEL_EX, ASYNC, 0, IN_CONFIG, um_tap_launch_ex},
	{UM_CUDA_LAUNCH_KERNEL_EX_PTSZ, THREAD_ASYNC, 0, IN_CONFIG, um_tap_launch_ex},
	{UM_CUDA_LAUNCH_COOPERATIVE_MULTI, ASYNC, 0, NO, um_tap_launch_multi},
	{UM_CUDA_LAUNCH, ASYNC, 0, NO, um_tap_launch_one},
	{UM_CUDA_LAUNCH_GRID, ASYNC, 0, NO, um_tap_launch_grid},
	{UM_CUDA_LAUNCH_GRID_ASYNC, ASYNC, 0, AT(launch_grid), um_tap_launch_grid},
	{UM_CUDA_GRAPH_LAUNCH, ASYNC, 0, AT(graph_launch), um_tap_graph_launch},
	{UM_CUDA_GRAPH_LAUNCH_PTSZ, THREAD_ASYNC, 0, AT(graph_launch), um_tap_graph_launch},

	{UM_CUDA_CTX_SYNCHRONIZE, WAITS, 0, NO, um_tap_sync_device},
	{UM_CUDA_CTX_SYNCHRONIZE_2, WAITS, 0, NO, um_tap_sync_device},
	{UM_CUDA_STREAM_SYNCHRONIZE, WAITS, 0, AT(stream), um_tap_sync_stream},
	{UM_CUDA_STREAM_SYNCHRONIZE_PTSZ, THREAD_WAITS, 0, AT(stream), um_tap_sync_stream},
	{UM_CUDA_EVENT_SYNCHRONIZE, WAITS, 0, NO, um_tap_event_sync},
	{UM_CUDA_EVENT_RECORD, ASYNC, 0, AT(event_record), um_tap_event_record},
	{UM_CUDA_EVENT_RECORD_PTSZ, THREAD_ASYNC, 0, AT(event_record), um_tap_event_record},
	{UM_CUDA_EVENT_RECORD_WITH_FLAGS, ASYNC, 0, AT(event_record), um_tap_event_record},
	{UM_CUDA_EVENT_RECORD_WITH_FLAGS_PTSZ, THREAD_ASYNC, 0, AT(event_record), um_tap_event_record},
	{UM_CUDA_EVENT_DESTROY_1, 0, 0, NO, um_tap_event_destroy},
	{UM_CUDA_EVENT_DESTROY, 0, 0, NO, um_tap_event_destroy},
	{UM_CUDA_STREAM_WAIT_EVENT, ASYNC, 0, AT(stream_wait), um_tap_stream_wait},
	{UM_CUDA_STREAM_WAIT_EVENT_PTSZ, THREAD_ASYNC, 0, AT(stream_wait), um_tap_stream_wait},
	{UM_CUDA_STREAM_CREATE, 0, 0, NO, um_tap_stream_create},
	{UM_CUDA_STREAM_CREATE_WITH_PRIORITY, 0, 0, NO, um_tap_stream_create},
	{UM_CUDA_GREEN_STREAM_CREATE, 0, 1, NO, um_tap_stream_create},
	{UM_CUDA_STREAM_DESTROY_1, 0, 0, NO, um_tap_stream_destroy},
	{UM_CUDA_STREAM_DESTROY, 0, 0, NO, um_tap_stream_destroy},

	{UM_CUDA_PROFILER_START, 0, 1, NO, um_tap_profiler},
	{UM_CUDA_PROFILER_STOP, 0, 0, NO, um_tap_profiler},

	{UM_CUDA_BEGIN_CAPTURE_1, 0, 1, NO, um_tap_capture},
	{UM_CUDA_BEGIN_CAPTURE_1_PTSZ, 0, 1, NO, um_tap_capture},
	{UM_CUDA_BEGIN_CAPTURE, 0, 1, NO, um_tap_capture},
	{UM_CUDA_BEGIN_CAPTURE_PTSZ, 0, 1, NO, um_tap_capture},
	{UM_CUDA_BEGIN_CAPTURE_TO_GRAPH, 0, 1, NO, um_tap_capture},
	{UM_CUDA_BEGIN_CAPTURE_TO_GRAPH_PTSZ, 0, 1, NO, um_tap_capture},
	{UM_CUDA_END_CAPTURE, 0, 0, NO, um_tap_capture},
	{UM_CUDA_END_CAPTURE_PTSZ, 0, 0, NO, um_tap_capture},
};
/* clang-format on */
#define ROWS (sizeof(rows) / sizeof(*rows))

static uint16_t row_of[UM_CUDA_CALLS]; /* from 1 */

const struct um_tap_call_row *um_tap_call_next(const struct um_tap_call_row *row)
{
	const struct um_tap_call_row *next = row ? row + 1 : rows;

	if (next == rows + ROWS)
		return NULL;
	row_of[next->number] = (uint16_t)(next - rows + 1);
	return next;
}

const struct um_tap_call_row *um_tap_call_row(uint32_t number)
{
	uint16_t at = number < UM_CUDA_CALLS ? row_of[number] : 0;

	return at ? rows + at - 1 : NULL;
}
