/*
 * cupti_abi.h against NVIDIA's headers: every number and every field that the tap reads, and that the
 * records of CUDA 12 have them in the same place. Nothing here runs: it compiles or it does not.
 */
#include "trace/tap/cupti_abi.h"

#include <cuda.h>
#include <cupti.h>
#include <generated_nvtx_meta.h>

#if CUPTI_API_VERSION < 130000
#error "this test is for the headers of CUDA 13"
#endif

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
/* The field lies where theirs does, and is as wide. */
#define FIELD(our_type, our_field, their_type, their_field)                                        \
	_Static_assert(offsetof(struct our_type, our_field) ==                                     \
				       offsetof(their_type, their_field) &&                        \
			       sizeof(((struct our_type *)0)->our_field) ==                        \
				       sizeof(((their_type *)0)->their_field),                     \
		       #our_type "." #our_field)
/* Of three fields that are an array here. */
#define FIELDS_3(our_type, our_field, their_type, first, second, third)                            \
	_Static_assert(offsetof(struct our_type, our_field) == offsetof(their_type, first) &&      \
			       offsetof(struct our_type, our_field) + 4 ==                         \
				       offsetof(their_type, second) &&                             \
			       offsetof(struct our_type, our_field) + 8 ==                         \
				       offsetof(their_type, third),                                \
		       #our_type "." #our_field)

/* --- results, domains, kinds --- */

SAME(UM_CUPTI_SUCCESS, CUPTI_SUCCESS);
SAME(UM_CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
SAME(UM_CUPTI_UM_NOT_SUPPORTED, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED);
SAME(UM_CUPTI_UM_NOT_SUPPORTED_ON_DEVICE, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE);
SAME(UM_CUPTI_UM_NOT_SUPPORTED_WITHOUT_P2P,
     CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES);
SAME(UM_CUPTI_UM_NOT_SUPPORTED_WITH_MPS, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS);
SAME(UM_CUPTI_VIRTUALIZED_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME(UM_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(UM_CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(UM_CUPTI_VIRTUALIZED_INSUFFICIENT_PRIVILEGES,
     CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(UM_CUPTI_CONFIDENTIAL_COMPUTING, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);

SAME(UM_CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(UM_CUPTI_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME(UM_CUPTI_NVTX, CUPTI_CB_DOMAIN_NVTX);
SAME(UM_CUPTI_STATE, CUPTI_CB_DOMAIN_STATE);
SAME(UM_CUPTI_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME(UM_CUPTI_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(UM_CUPTI_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
SAME(UM_CUPTI_ENTER, CUPTI_API_ENTER);
SAME(UM_CUPTI_EXIT, CUPTI_API_EXIT);

SAME(UM_CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(UM_CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(UM_CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(UM_CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(UM_CUPTI_UNIFIED_MEMORY, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME(UM_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(UM_CUPTI_SCOPE_SINGLE_DEVICE,
     CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE);

#define COUNTER(ours, theirs)                                                                      \
	SAME(UM_CUPTI_##ours, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##theirs)
COUNTER(BYTES_HTOD, BYTES_TRANSFER_HTOD);
COUNTER(BYTES_DTOH, BYTES_TRANSFER_DTOH);
COUNTER(CPU_FAULT, CPU_PAGE_FAULT_COUNT);
COUNTER(GPU_FAULT, GPU_PAGE_FAULT);
COUNTER(THRASHING, THRASHING);
COUNTER(THROTTLING, THROTTLING);
COUNTER(REMOTE_MAP, REMOTE_MAP);
COUNTER(BYTES_DTOD, BYTES_TRANSFER_DTOD);
#define ACCESS(name) SAME(UM_CUPTI_ACCESS_##name, CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_##name)
ACCESS(READ);
ACCESS(WRITE);
ACCESS(ATOMIC);
ACCESS(PREFETCH);
#define MIGRATION(name)                                                                            \
	SAME(UM_CUPTI_MIGRATION_##name, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_##name)
MIGRATION(USER);
MIGRATION(COHERENCE);
MIGRATION(PREFETCH);
MIGRATION(EVICTION);
MIGRATION(ACCESS_COUNTERS);
#define MAP(name) SAME(UM_CUPTI_MAP_##name, CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_##name)
MAP(COHERENCE);
MAP(THRASHING);
MAP(POLICY);
MAP(OUT_OF_MEMORY);
MAP(EVICTION);
SAME(UM_CUPTI_IN_CPU, CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU);
SAME(UM_CUPTI_IN_CPU, CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU);

/* --- structures of callbacks --- */

FIELD(um_cupti_call, site, CUpti_CallbackData, callbackSite);
FIELD(um_cupti_call, function, CUpti_CallbackData, functionName);
FIELD(um_cupti_call, params, CUpti_CallbackData, functionParams);
FIELD(um_cupti_call, result, CUpti_CallbackData, functionReturnValue);
FIELD(um_cupti_call, symbol, CUpti_CallbackData, symbolName);
FIELD(um_cupti_call, context, CUpti_CallbackData, context);
FIELD(um_cupti_call, context_id, CUpti_CallbackData, contextUid);
FIELD(um_cupti_call, correlation_data, CUpti_CallbackData, correlationData);
FIELD(um_cupti_call, correlation, CUpti_CallbackData, correlationId);
FIELD(um_cupti_resource_data, context, CUpti_ResourceData, context);
FIELD(um_cupti_nvtx_data, function, CUpti_NvtxData, functionName);
FIELD(um_cupti_nvtx_data, params, CUpti_NvtxData, functionParams);
FIELD(um_cupti_nvtx_data, result, CUpti_NvtxData, functionReturnValue);
FIELD(um_cupti_state_data, result, CUpti_StateData, notification.result);
FIELD(um_cupti_state_data, message, CUpti_StateData, notification.message);
FIELD(um_cupti_subscriber_params, bytes, CUpti_SubscriberParams, structSize);
FIELD(um_cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
FIELD(um_cupti_subscriber_params, other_name, CUpti_SubscriberParams, oldSubscriberName);
FIELD(um_cupti_subscriber_params, other_bytes, CUpti_SubscriberParams, oldSubscriberSize);
SAME(sizeof(struct um_cupti_subscriber_params), CUpti_SubscriberParams_STRUCT_SIZE);
SAME(UM_CUPTI_OTHER_NAME_BYTES, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);

/* --- records of activity, of each version since CUDA 12.0 --- */

FIELD(um_cupti_activity, kind, CUpti_Activity, kind);

#define KERNEL(type)                                                                               \
	FIELD(um_cupti_kernel, start, type, start);                                                \
	FIELD(um_cupti_kernel, end, type, end);                                                    \
	FIELD(um_cupti_kernel, device, type, deviceId);                                            \
	FIELDS_3(um_cupti_kernel, grid, type, gridX, gridY, gridZ);                                \
	FIELDS_3(um_cupti_kernel, block, type, blockX, blockY, blockZ);                            \
	FIELD(um_cupti_kernel, static_shared_bytes, type, staticSharedMemory);                     \
	FIELD(um_cupti_kernel, dynamic_shared_bytes, type, dynamicSharedMemory);                   \
	FIELD(um_cupti_kernel, correlation, type, correlationId);                                  \
	FIELD(um_cupti_kernel, name, type, name);                                                  \
	FIELD(um_cupti_kernel, graph_node, type, graphNodeId)
KERNEL(CUpti_ActivityKernel8);
KERNEL(CUpti_ActivityKernel9);
KERNEL(CUpti_ActivityKernel10);

#define COPY(type)                                                                                 \
	FIELD(um_cupti_copy, bytes, type, bytes);                                                  \
	FIELD(um_cupti_copy, start, type, start);                                                  \
	FIELD(um_cupti_copy, end, type, end);                                                      \
	FIELD(um_cupti_copy, device, type, deviceId);                                              \
	FIELD(um_cupti_copy, correlation, type, correlationId)
COPY(CUpti_ActivityMemcpy5);
COPY(CUpti_ActivityMemcpy6);
COPY(CUpti_ActivityMemset4);

FIELD(um_cupti_peer_copy, start, CUpti_ActivityMemcpyPtoP4, start);
FIELD(um_cupti_peer_copy, end, CUpti_ActivityMemcpyPtoP4, end);
FIELD(um_cupti_peer_copy, device, CUpti_ActivityMemcpyPtoP4, deviceId);
FIELD(um_cupti_peer_copy, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);

#define UNIFIED(type)                                                                              \
	FIELD(um_cupti_unified, counter, type, counterKind);                                       \
	FIELD(um_cupti_unified, value, type, value);                                               \
	FIELD(um_cupti_unified, start, type, start);                                               \
	FIELD(um_cupti_unified, end, type, end);                                                   \
	FIELD(um_cupti_unified, address, type, address);                                           \
	FIELD(um_cupti_unified, source, type, srcId);                                              \
	FIELD(um_cupti_unified, destination, type, dstId);                                         \
	FIELD(um_cupti_unified, process, type, processId);                                         \
	FIELD(um_cupti_unified, flags, type, flags);                                               \
	_Static_assert(sizeof(struct um_cupti_unified) <= sizeof(type), #type)
UNIFIED(CUpti_ActivityUnifiedMemoryCounter2);
UNIFIED(CUpti_ActivityUnifiedMemoryCounter3);

FIELD(um_cupti_counter_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
FIELD(um_cupti_counter_config, counter, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
FIELD(um_cupti_counter_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
FIELD(um_cupti_counter_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
SAME(sizeof(struct um_cupti_counter_config), sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));

/* --- the driver's calls --- */

#define CALL(ours, theirs) SAME(UM_CUDA_##ours, CUPTI_DRIVER_TRACE_CBID_cu##theirs)
CALL(CTX_SYNCHRONIZE, CtxSynchronize);
CALL(FREE_HOST, MemFreeHost);
CALL(HOST_ALLOC_1, MemHostAlloc);
CALL(EVENT_RECORD, EventRecord);
CALL(EVENT_SYNCHRONIZE, EventSynchronize);
CALL(EVENT_DESTROY_1, EventDestroy);
CALL(STREAM_CREATE, StreamCreate);
CALL(STREAM_SYNCHRONIZE, StreamSynchronize);
CALL(STREAM_DESTROY_1, StreamDestroy);
CALL(LAUNCH, Launch);
CALL(LAUNCH_GRID, LaunchGrid);
CALL(LAUNCH_GRID_ASYNC, LaunchGridAsync);
CALL(MODULE_GET_GLOBAL, ModuleGetGlobal_v2);
CALL(ALLOC, MemAlloc_v2);
CALL(ALLOC_PITCH, MemAllocPitch_v2);
CALL(FREE, MemFree_v2);
CALL(HOST_ALLOC, MemHostAlloc_v2);
CALL(ALLOC_HOST, MemAllocHost_v2);
CALL(STREAM_WAIT_EVENT, StreamWaitEvent);
CALL(HOST_REGISTER_1, MemHostRegister);
CALL(HOST_UNREGISTER, MemHostUnregister);
CALL(LAUNCH_KERNEL, LaunchKernel);
CALL(PROFILER_START, ProfilerStart);
CALL(PROFILER_STOP, ProfilerStop);
CALL(EVENT_DESTROY, EventDestroy_v2);
CALL(STREAM_DESTROY, StreamDestroy_v2);
CALL(STREAM_CREATE_WITH_PRIORITY, StreamCreateWithPriority);
CALL(ALLOC_MANAGED, MemAllocManaged);
CALL(STREAM_ATTACH, StreamAttachMemAsync);
CALL(STREAM_ATTACH_PTSZ, StreamAttachMemAsync_ptsz);
CALL(HOST_REGISTER, MemHostRegister_v2);
CALL(STREAM_WAIT_EVENT_PTSZ, StreamWaitEvent_ptsz);
CALL(STREAM_SYNCHRONIZE_PTSZ, StreamSynchronize_ptsz);
CALL(EVENT_RECORD_PTSZ, EventRecord_ptsz);
CALL(LAUNCH_KERNEL_PTSZ, LaunchKernel_ptsz);
CALL(ADVISE_1, MemAdvise);
CALL(PREFETCH_1, MemPrefetchAsync);
CALL(PREFETCH_1_PTSZ, MemPrefetchAsync_ptsz);
CALL(LAUNCH_COOPERATIVE, LaunchCooperativeKernel);
CALL(LAUNCH_COOPERATIVE_PTSZ, LaunchCooperativeKernel_ptsz);
CALL(LAUNCH_COOPERATIVE_MULTI, LaunchCooperativeKernelMultiDevice);
CALL(BEGIN_CAPTURE_1, StreamBeginCapture);
CALL(BEGIN_CAPTURE_1_PTSZ, StreamBeginCapture_ptsz);
CALL(END_CAPTURE, StreamEndCapture);
CALL(END_CAPTURE_PTSZ, StreamEndCapture_ptsz);
CALL(GRAPH_LAUNCH, GraphLaunch);
CALL(GRAPH_LAUNCH_PTSZ, GraphLaunch_ptsz);
CALL(BEGIN_CAPTURE, StreamBeginCapture_v2);
CALL(BEGIN_CAPTURE_PTSZ, StreamBeginCapture_v2_ptsz);
CALL(EVENT_RECORD_WITH_FLAGS, EventRecordWithFlags);
CALL(EVENT_RECORD_WITH_FLAGS_PTSZ, EventRecordWithFlags_ptsz);
CALL(ALLOC_ASYNC, MemAllocAsync);
CALL(ALLOC_ASYNC_PTSZ, MemAllocAsync_ptsz);
CALL(FREE_ASYNC, MemFreeAsync);
CALL(FREE_ASYNC_PTSZ, MemFreeAsync_ptsz);
CALL(POOL_CREATE, MemPoolCreate);
CALL(POOL_DESTROY, MemPoolDestroy);
CALL(ALLOC_FROM_POOL, MemAllocFromPoolAsync);
CALL(ALLOC_FROM_POOL_PTSZ, MemAllocFromPoolAsync_ptsz);
CALL(LAUNCH_KERNEL_EX, LaunchKernelEx);
CALL(LAUNCH_KERNEL_EX_PTSZ, LaunchKernelEx_ptsz);
CALL(LIBRARY_GET_GLOBAL, LibraryGetGlobal);
CALL(LIBRARY_GET_MANAGED, LibraryGetManaged);
CALL(ADVISE, MemAdvise_v2);
CALL(PREFETCH, MemPrefetchAsync_v2);
CALL(PREFETCH_PTSZ, MemPrefetchAsync_v2_ptsz);
CALL(BEGIN_CAPTURE_TO_GRAPH, StreamBeginCaptureToGraph);
CALL(BEGIN_CAPTURE_TO_GRAPH_PTSZ, StreamBeginCaptureToGraph_ptsz);
CALL(GREEN_STREAM_CREATE, GreenCtxStreamCreate);
CALL(COPY_BATCH_1, MemcpyBatchAsync);
CALL(COPY_BATCH_1_PTSZ, MemcpyBatchAsync_ptsz);
CALL(COPY_3D_BATCH_1, Memcpy3DBatchAsync);
CALL(COPY_3D_BATCH_1_PTSZ, Memcpy3DBatchAsync_ptsz);
CALL(PREFETCH_BATCH, MemPrefetchBatchAsync);
CALL(PREFETCH_BATCH_PTSZ, MemPrefetchBatchAsync_ptsz);
CALL(DISCARD_BATCH, MemDiscardBatchAsync);
CALL(DISCARD_BATCH_PTSZ, MemDiscardBatchAsync_ptsz);
CALL(DISCARD_AND_PREFETCH, MemDiscardAndPrefetchBatchAsync);
CALL(DISCARD_AND_PREFETCH_PTSZ, MemDiscardAndPrefetchBatchAsync_ptsz);
CALL(COPY_BATCH, MemcpyBatchAsync_v2);
CALL(COPY_BATCH_PTSZ, MemcpyBatchAsync_v2_ptsz);
CALL(COPY_3D_BATCH, Memcpy3DBatchAsync_v2);
CALL(COPY_3D_BATCH_PTSZ, Memcpy3DBatchAsync_v2_ptsz);
CALL(CTX_SYNCHRONIZE_2, CtxSynchronize_v2);

/* Copies and memsets: synchronous, _ptds, Async and Async_ptsz. */
#define FAMILY(ours, name, version)                                                                \
	CALL(ours, name##version);                                                                 \
	CALL(ours##_PTDS, name##version##_ptds);                                                   \
	CALL(ours##_ASYNC, name##Async##version);                                                  \
	CALL(ours##_ASYNC_PTSZ, name##Async##version##_ptsz)
FAMILY(COPY, Memcpy, );
FAMILY(COPY_HTOD, MemcpyHtoD, _v2);
FAMILY(COPY_DTOH, MemcpyDtoH, _v2);
FAMILY(COPY_DTOD, MemcpyDtoD, _v2);
FAMILY(COPY_PEER, MemcpyPeer, );
FAMILY(COPY_2D, Memcpy2D, _v2);
FAMILY(COPY_3D, Memcpy3D, _v2);
FAMILY(COPY_3D_PEER, Memcpy3DPeer, );
CALL(COPY_2D_UNALIGNED, Memcpy2DUnaligned_v2);
CALL(COPY_2D_UNALIGNED_PTDS, Memcpy2DUnaligned_v2_ptds);

#define MEMSETS(ours, name)                                                                        \
	CALL(ours, name##_v2);                                                                     \
	CALL(ours##_PTDS, name##_v2_ptds);                                                         \
	CALL(ours##_ASYNC, name##Async);                                                           \
	CALL(ours##_ASYNC_PTSZ, name##Async_ptsz)
MEMSETS(MEMSET_D8, MemsetD8);
MEMSETS(MEMSET_D16, MemsetD16);
MEMSETS(MEMSET_D32, MemsetD32);
MEMSETS(MEMSET_2D8, MemsetD2D8);
MEMSETS(MEMSET_2D16, MemsetD2D16);
MEMSETS(MEMSET_2D32, MemsetD2D32);

/* --- their params --- */

#define PARAM(ours, our_field, function, field)                                                    \
	FIELD(um_params_##ours, our_field, cu##function##_params, field)

PARAM(alloc, address, MemAllocManaged, dptr);
PARAM(alloc, bytes, MemAllocManaged, bytesize);
PARAM(alloc, flags, MemAllocManaged, flags);
PARAM(alloc, address, MemAlloc_v2, dptr);
PARAM(alloc, bytes, MemAlloc_v2, bytesize);
PARAM(alloc, address, MemHostAlloc, pp);
PARAM(alloc, bytes, MemHostAlloc, bytesize);
PARAM(alloc, flags, MemHostAlloc, Flags);
PARAM(alloc, address, MemAllocHost_v2, pp);
PARAM(alloc, bytes, MemAllocHost_v2, bytesize);
PARAM(alloc_pitch, address, MemAllocPitch_v2, dptr);
PARAM(alloc_pitch, pitch, MemAllocPitch_v2, pPitch);
PARAM(alloc_pitch, width_bytes, MemAllocPitch_v2, WidthInBytes);
PARAM(alloc_pitch, height, MemAllocPitch_v2, Height);
PARAM(alloc_async, address, MemAllocAsync, dptr);
PARAM(alloc_async, bytes, MemAllocAsync, bytesize);
PARAM(alloc_async, stream, MemAllocAsync, hStream);
PARAM(alloc_async, stream, MemAllocAsync_ptsz, hStream);
PARAM(alloc_from_pool, address, MemAllocFromPoolAsync, dptr);
PARAM(alloc_from_pool, bytes, MemAllocFromPoolAsync, bytesize);
PARAM(alloc_from_pool, pool, MemAllocFromPoolAsync, pool);
PARAM(alloc_from_pool, stream, MemAllocFromPoolAsync, hStream);
PARAM(free, address, MemFree_v2, dptr);
PARAM(free, address, MemFreeHost, p);
PARAM(free, address, MemHostUnregister, p);
PARAM(free_async, address, MemFreeAsync, dptr);
PARAM(free_async, stream, MemFreeAsync, hStream);
PARAM(register, address, MemHostRegister_v2, p);
PARAM(register, bytes, MemHostRegister_v2, bytesize);
PARAM(register, flags, MemHostRegister_v2, Flags);
PARAM(register, address, MemHostRegister, p);
PARAM(register, bytes, MemHostRegister, bytesize);
PARAM(register, flags, MemHostRegister, Flags);
#define GLOBAL(function, module_field)                                                             \
	PARAM(global, address, function, dptr);                                                    \
	PARAM(global, bytes, function, bytes);                                                     \
	PARAM(global, module, function, module_field);                                             \
	PARAM(global, name, function, name)
GLOBAL(ModuleGetGlobal_v2, hmod);
GLOBAL(LibraryGetGlobal, library);
GLOBAL(LibraryGetManaged, library);
PARAM(pool_create, pool, MemPoolCreate, pool);
PARAM(pool_create, props, MemPoolCreate, poolProps);
PARAM(pool, pool, MemPoolDestroy, pool);
FIELD(um_cuda_pool_props, type, CUmemPoolProps, allocType);
SAME(UM_CUDA_POOL_MANAGED, CU_MEM_ALLOCATION_TYPE_MANAGED);

PARAM(advise_1, address, MemAdvise, devPtr);
PARAM(advise_1, bytes, MemAdvise, count);
PARAM(advise_1, advice, MemAdvise, advice);
PARAM(advise_1, device, MemAdvise, device);
PARAM(advise, address, MemAdvise_v2, devPtr);
PARAM(advise, bytes, MemAdvise_v2, count);
PARAM(advise, advice, MemAdvise_v2, advice);
PARAM(advise, location, MemAdvise_v2, location);
PARAM(prefetch_1, address, MemPrefetchAsync, devPtr);
PARAM(prefetch_1, bytes, MemPrefetchAsync, count);
PARAM(prefetch_1, device, MemPrefetchAsync, dstDevice);
PARAM(prefetch_1, stream, MemPrefetchAsync, hStream);
PARAM(prefetch, address, MemPrefetchAsync_v2, devPtr);
PARAM(prefetch, bytes, MemPrefetchAsync_v2, count);
PARAM(prefetch, location, MemPrefetchAsync_v2, location);
PARAM(prefetch, stream, MemPrefetchAsync_v2, hStream);
#define PREFETCH_BATCH(function)                                                                   \
	PARAM(prefetch_batch, address, function, dptrs);                                           \
	PARAM(prefetch_batch, bytes, function, sizes);                                             \
	PARAM(prefetch_batch, count, function, count);                                             \
	PARAM(prefetch_batch, location, function, prefetchLocs);                                   \
	PARAM(prefetch_batch, location_first, function, prefetchLocIdxs);                          \
	PARAM(prefetch_batch, locations, function, numPrefetchLocs);                               \
	PARAM(prefetch_batch, stream, function, hStream)
PREFETCH_BATCH(MemPrefetchBatchAsync);
PREFETCH_BATCH(MemDiscardAndPrefetchBatchAsync);
PARAM(discard_batch, stream, MemDiscardBatchAsync, hStream);
PARAM(attach, stream, StreamAttachMemAsync, hStream);
PARAM(attach, address, StreamAttachMemAsync, dptr);
PARAM(attach, bytes, StreamAttachMemAsync, length);
PARAM(attach, flags, StreamAttachMemAsync, flags);
FIELD(um_cuda_location, type, CUmemLocation, type);
FIELD(um_cuda_location, id, CUmemLocation, id);
SAME(UM_CUDA_LOCATION_NONE, CU_MEM_LOCATION_TYPE_NONE);
SAME(UM_CUDA_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(UM_CUDA_LOCATION_HOST, CU_MEM_LOCATION_TYPE_HOST);
SAME(UM_CUDA_LOCATION_HOST_NUMA, CU_MEM_LOCATION_TYPE_HOST_NUMA);
SAME(UM_CUDA_LOCATION_HOST_NUMA_CURRENT, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);

#define LAUNCH(call)                                                                               \
	PARAM(launch, function, call, f);                                                          \
	FIELDS_3(um_params_launch, grid, cu##call##_params, gridDimX, gridDimY, gridDimZ);         \
	FIELDS_3(um_params_launch, block, cu##call##_params, blockDimX, blockDimY, blockDimZ);     \
	PARAM(launch, shared_bytes, call, sharedMemBytes);                                         \
	PARAM(launch, stream, call, hStream)
LAUNCH(LaunchKernel);
LAUNCH(LaunchKernel_ptsz);
LAUNCH(LaunchCooperativeKernel);
LAUNCH(LaunchCooperativeKernel_ptsz);
PARAM(launch_ex, config, LaunchKernelEx, config);
PARAM(launch_ex, function, LaunchKernelEx, f);
FIELDS_3(um_cuda_launch_config, grid, CUlaunchConfig, gridDimX, gridDimY, gridDimZ);
FIELDS_3(um_cuda_launch_config, block, CUlaunchConfig, blockDimX, blockDimY, blockDimZ);
FIELD(um_cuda_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
FIELD(um_cuda_launch_config, stream, CUlaunchConfig, hStream);
PARAM(launch_multi, launch, LaunchCooperativeKernelMultiDevice, launchParamsList);
PARAM(launch_multi, count, LaunchCooperativeKernelMultiDevice, numDevices);
FIELDS_3(um_cuda_launch_one, grid, CUDA_LAUNCH_PARAMS, gridDimX, gridDimY, gridDimZ);
FIELDS_3(um_cuda_launch_one, block, CUDA_LAUNCH_PARAMS, blockDimX, blockDimY, blockDimZ);
FIELD(um_cuda_launch_one, shared_bytes, CUDA_LAUNCH_PARAMS, sharedMemBytes);
FIELD(um_cuda_launch_one, stream, CUDA_LAUNCH_PARAMS, hStream);
SAME(sizeof(struct um_cuda_launch_one), sizeof(CUDA_LAUNCH_PARAMS));
PARAM(launch_grid, width, LaunchGridAsync, grid_width);
PARAM(launch_grid, height, LaunchGridAsync, grid_height);
PARAM(launch_grid, stream, LaunchGridAsync, hStream);
PARAM(launch_grid, width, LaunchGrid, grid_width);
PARAM(launch_grid, height, LaunchGrid, grid_height);
PARAM(graph_launch, stream, GraphLaunch, hStream);

#define COPY_PARAMS(function, target_field, source_field)                                          \
	PARAM(copy, target, function, target_field);                                               \
	PARAM(copy, source, function, source_field);                                               \
	PARAM(copy, bytes, function, ByteCount)
COPY_PARAMS(Memcpy, dst, src);
COPY_PARAMS(MemcpyAsync, dst, src);
COPY_PARAMS(MemcpyHtoD_v2, dstDevice, srcHost);
COPY_PARAMS(MemcpyHtoDAsync_v2, dstDevice, srcHost);
COPY_PARAMS(MemcpyDtoH_v2, dstHost, srcDevice);
COPY_PARAMS(MemcpyDtoHAsync_v2, dstHost, srcDevice);
COPY_PARAMS(MemcpyDtoD_v2, dstDevice, srcDevice);
COPY_PARAMS(MemcpyDtoDAsync_v2, dstDevice, srcDevice);
PARAM(copy, stream, MemcpyAsync, hStream);
PARAM(copy, stream, MemcpyHtoDAsync_v2, hStream);
PARAM(copy, stream, MemcpyDtoHAsync_v2, hStream);
PARAM(copy, stream, MemcpyDtoDAsync_v2, hStream);
PARAM(copy_peer, target, MemcpyPeerAsync, dstDevice);
PARAM(copy_peer, source, MemcpyPeerAsync, srcDevice);
PARAM(copy_peer, bytes, MemcpyPeerAsync, ByteCount);
PARAM(copy_peer, stream, MemcpyPeerAsync, hStream);
#define BATCH(ours, function)                                                                      \
	PARAM(ours, target, function, dsts);                                                       \
	PARAM(ours, source, function, srcs);                                                       \
	PARAM(ours, bytes, function, sizes);                                                       \
	PARAM(ours, count, function, count);                                                       \
	PARAM(ours, stream, function, hStream)
BATCH(copy_batch_1, MemcpyBatchAsync);
BATCH(copy_batch, MemcpyBatchAsync_v2);
PARAM(copy_box, box, Memcpy2D_v2, pCopy);
PARAM(copy_box, stream, Memcpy2DAsync_v2, hStream);
PARAM(copy_box, box, Memcpy3D_v2, pCopy);
PARAM(copy_box, stream, Memcpy3DAsync_v2, hStream);
PARAM(copy_box, box, Memcpy3DPeer, pCopy);
PARAM(copy_box, stream, Memcpy3DPeerAsync, hStream);
#define BOX(ours, theirs)                                                                          \
	FIELD(ours, source_x, theirs, srcXInBytes);                                                \
	FIELD(ours, source_y, theirs, srcY);                                                       \
	FIELD(ours, source_type, theirs, srcMemoryType);                                           \
	FIELD(ours, source_host, theirs, srcHost);                                                 \
	FIELD(ours, source_device, theirs, srcDevice);                                             \
	FIELD(ours, source_pitch, theirs, srcPitch);                                               \
	FIELD(ours, target_x, theirs, dstXInBytes);                                                \
	FIELD(ours, target_y, theirs, dstY);                                                       \
	FIELD(ours, target_type, theirs, dstMemoryType);                                           \
	FIELD(ours, target_host, theirs, dstHost);                                                 \
	FIELD(ours, target_device, theirs, dstDevice);                                             \
	FIELD(ours, target_pitch, theirs, dstPitch);                                               \
	FIELD(ours, width_bytes, theirs, WidthInBytes);                                            \
	FIELD(ours, height, theirs, Height)
#define BOX_3D(theirs)                                                                             \
	BOX(um_cuda_copy_3d, theirs);                                                              \
	FIELD(um_cuda_copy_3d, source_z, theirs, srcZ);                                            \
	FIELD(um_cuda_copy_3d, source_height, theirs, srcHeight);                                  \
	FIELD(um_cuda_copy_3d, target_z, theirs, dstZ);                                            \
	FIELD(um_cuda_copy_3d, target_height, theirs, dstHeight);                                  \
	FIELD(um_cuda_copy_3d, depth, theirs, Depth)
BOX(um_cuda_copy_2d, CUDA_MEMCPY2D);
BOX_3D(CUDA_MEMCPY3D);
BOX_3D(CUDA_MEMCPY3D_PEER);
SAME(UM_CUDA_MEMORY_HOST, CU_MEMORYTYPE_HOST);
SAME(UM_CUDA_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME(UM_CUDA_MEMORY_ARRAY, CU_MEMORYTYPE_ARRAY);
SAME(UM_CUDA_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED);

#define MEMSET(ours, function, value_field)                                                        \
	PARAM(ours, target, function##Async, dstDevice);                                           \
	PARAM(ours, value, function##Async, value_field);                                          \
	PARAM(ours, count, function##Async, N);                                                    \
	PARAM(ours, stream, function##Async, hStream);                                             \
	PARAM(ours, count, function##_v2, N)
MEMSET(memset_8, MemsetD8, uc);
MEMSET(memset_16, MemsetD16, us);
MEMSET(memset_32, MemsetD32, ui);
#define MEMSET_2D(ours, function, value_field)                                                     \
	PARAM(ours, target, function##Async, dstDevice);                                           \
	PARAM(ours, pitch, function##Async, dstPitch);                                             \
	PARAM(ours, value, function##Async, value_field);                                          \
	PARAM(ours, width, function##Async, Width);                                                \
	PARAM(ours, height, function##Async, Height);                                              \
	PARAM(ours, stream, function##Async, hStream)
MEMSET_2D(memset_2d8, MemsetD2D8, uc);
MEMSET_2D(memset_2d16, MemsetD2D16, us);
MEMSET_2D(memset_2d32, MemsetD2D32, ui);

PARAM(stream, stream, StreamSynchronize, hStream);
PARAM(stream, stream, StreamDestroy_v2, hStream);
PARAM(event, event, EventSynchronize, hEvent);
PARAM(event, event, EventDestroy_v2, hEvent);
PARAM(event_record, event, EventRecord, hEvent);
PARAM(event_record, stream, EventRecord, hStream);
PARAM(event_record, stream, EventRecordWithFlags, hStream);
PARAM(stream_wait, stream, StreamWaitEvent, hStream);
PARAM(stream_wait, event, StreamWaitEvent, hEvent);
PARAM(stream_create, stream, StreamCreate, phStream);
PARAM(stream_create, flags, StreamCreate, Flags);
PARAM(stream_create, stream, StreamCreateWithPriority, phStream);
PARAM(stream_create, flags, StreamCreateWithPriority, flags);
PARAM(green_stream_create, stream, GreenCtxStreamCreate, phStream);
PARAM(green_stream_create, flags, GreenCtxStreamCreate, flags);
SAME(UM_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(UM_CUDA_POINTER_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(UM_CUDA_POINTER_RANGE_START, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME(UM_CUDA_POINTER_RANGE_BYTES, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME(UM_CUDA_STREAM_CAPTURING, CU_STREAM_CAPTURE_STATUS_ACTIVE);

#define ATTRIBUTE(ours, theirs) SAME(UM_CUDA_##ours, CU_DEVICE_ATTRIBUTE_##theirs)
ATTRIBUTE(WARP_SIZE, WARP_SIZE);
ATTRIBUTE(CLOCK_KHZ, CLOCK_RATE);
ATTRIBUTE(MULTIPROCESSORS, MULTIPROCESSOR_COUNT);
ATTRIBUTE(MEMORY_CLOCK_KHZ, MEMORY_CLOCK_RATE);
ATTRIBUTE(MEMORY_BUS_BITS, GLOBAL_MEMORY_BUS_WIDTH);
ATTRIBUTE(L2_BYTES, L2_CACHE_SIZE);
ATTRIBUTE(CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MAJOR);
ATTRIBUTE(CAPABILITY_MINOR, COMPUTE_CAPABILITY_MINOR);

/* --- NVTX --- */

#define NVTX(ours, theirs) SAME(UM_NVTX_##ours, CUPTI_CBID_NVTX_nvtx##theirs)
NVTX(MARK_A, MarkA);
NVTX(MARK_W, MarkW);
NVTX(MARK_EX, MarkEx);
NVTX(DOMAIN_MARK_EX, DomainMarkEx);
NVTX(RANGE_START_A, RangeStartA);
NVTX(RANGE_START_W, RangeStartW);
NVTX(RANGE_START_EX, RangeStartEx);
NVTX(RANGE_END, RangeEnd);
NVTX(RANGE_PUSH_A, RangePushA);
NVTX(RANGE_PUSH_W, RangePushW);
NVTX(RANGE_PUSH_EX, RangePushEx);
NVTX(RANGE_POP, RangePop);
NVTX(DOMAIN_RANGE_START_EX, DomainRangeStartEx);
NVTX(DOMAIN_RANGE_END, DomainRangeEnd);
NVTX(DOMAIN_RANGE_PUSH_EX, DomainRangePushEx);
NVTX(DOMAIN_RANGE_POP, DomainRangePop);
NVTX(DOMAIN_REGISTER_STRING_A, DomainRegisterStringA);
NVTX(DOMAIN_REGISTER_STRING_W, DomainRegisterStringW);
NVTX(DOMAIN_CREATE_A, DomainCreateA);
NVTX(DOMAIN_CREATE_W, DomainCreateW);
FIELD(um_params_nvtx_text, text, nvtxMarkA_params, message);
FIELD(um_params_nvtx_text, text, nvtxMarkEx_params, eventAttrib);
FIELD(um_params_nvtx_domain_text, text, nvtxDomainMarkEx_params, core.eventAttrib);
FIELD(um_params_nvtx_text, text, nvtxRangePushA_params, message);
FIELD(um_params_nvtx_text, text, nvtxRangeStartEx_params, eventAttrib);
FIELD(um_params_nvtx_text, text, nvtxDomainCreateA_params, name);
FIELD(um_params_nvtx_id, id, nvtxRangeEnd_params, id);
FIELD(um_params_nvtx_domain, domain, nvtxDomainRangePop_params, domain);
FIELD(um_params_nvtx_domain_text, domain, nvtxDomainRangePushEx_params, domain);
FIELD(um_params_nvtx_domain_text, text, nvtxDomainRangePushEx_params, core);
FIELD(um_params_nvtx_domain_text, text, nvtxDomainRegisterStringA_params, string);
FIELD(um_params_nvtx_domain_id, id, nvtxDomainRangeEnd_params, core);
FIELD(um_nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
FIELD(um_nvtx_attributes, message, nvtxEventAttributes_t, message);
SAME(UM_NVTX_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(UM_NVTX_UNICODE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(UM_NVTX_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);

int main(void)
{
	return 0;
}
