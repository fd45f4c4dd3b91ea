/*
 * What we use of CUPTI's and CUDA's binary interfaces, in our own words: numbers, and the parts of
 * structures that are read. umtrace builds without CUDA; tests/unit/tap/cupti_abi_test.c holds every
 * line against NVIDIA's headers where they are installed.
 *
 * Sources: cupti_activity.h, cupti_callbacks.h, cupti_driver_cbid.h, generated_cuda_meta.h, cuda.h of
 * CUDA 13.0; for CUDA 12 cupti_activity_deprecated.h. Records of activity only grew at their ends from
 * CUDA 12.0 to 13.0, so that what is read here lies in the same place in all of them.
 */
#ifndef UM_CUPTI_ABI_H
#define UM_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* --- results --- */

enum um_cupti_result {
	UM_CUPTI_SUCCESS = 0,
	UM_CUPTI_NOT_COMPATIBLE = 14,
	UM_CUPTI_UM_NOT_SUPPORTED = 28,
	UM_CUPTI_UM_NOT_SUPPORTED_ON_DEVICE = 29,
	UM_CUPTI_UM_NOT_SUPPORTED_WITHOUT_P2P = 30,
	UM_CUPTI_UM_NOT_SUPPORTED_WITH_MPS = 31,
	UM_CUPTI_VIRTUALIZED_DEVICE = 33,
	UM_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	UM_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	UM_CUPTI_VIRTUALIZED_INSUFFICIENT_PRIVILEGES = 40,
	UM_CUPTI_CONFIDENTIAL_COMPUTING = 41,
};

/* cuptiGetVersion(): a count up to CUDA 12.9, from 13.0 on xxyyzz (cupti_version.h). */
#define UM_CUPTI_VERSION_12_0 19u
#define UM_CUPTI_VERSION_13_0 130000u
#define UM_CUPTI_VERSION_14_0 140000u

/* --- callbacks --- */

enum um_cupti_domain {
	UM_CUPTI_DRIVER_API = 1,
	UM_CUPTI_RUNTIME_API = 2,
	UM_CUPTI_RESOURCE = 3,
	UM_CUPTI_NVTX = 5,
	UM_CUPTI_STATE = 6,
};
enum um_cupti_resource {
	UM_CUPTI_CONTEXT_CREATED = 1,
	UM_CUPTI_CONTEXT_DESTROY_STARTING = 2,
};
enum um_cupti_state { UM_CUPTI_FATAL_ERROR = 1 };

enum um_cupti_site { UM_CUPTI_ENTER = 0, UM_CUPTI_EXIT = 1 };

struct um_cupti_call {
	uint32_t site; /* enum um_cupti_site */
	const char *function;
	const void *params;
	const void *result; /* CUresult, at exit */
	const char *symbol; /* launches: the kernel's mangled name */
	void *context;
	uint32_t context_id;
	uint64_t *correlation_data; /* ours, from enter to exit */
	uint32_t correlation;
};

struct um_cupti_resource_data {
	void *context;
	void *stream;
	void *descriptor;
};

struct um_cupti_nvtx_data {
	const char *function;
	const void *params;
	const void *result;
};

struct um_cupti_state_data {
	uint32_t result;
	const char *message; /* may be NULL */
};

struct um_cupti_subscriber_params {
	size_t bytes;
	const char *name;
	char *other_name;
	size_t other_bytes;
};
#define UM_CUPTI_OTHER_NAME_BYTES 64

/* --- activity --- */

enum um_cupti_kind {
	UM_CUPTI_MEMCPY = 1,
	UM_CUPTI_MEMSET = 2,
	UM_CUPTI_CONCURRENT_KERNEL = 10,
	UM_CUPTI_MEMCPY_PEER = 22,
	UM_CUPTI_UNIFIED_MEMORY = 25,
};
#define UM_CUPTI_FLUSH_FORCED 1u

struct um_cupti_activity {
	uint32_t kind;
};

struct um_cupti_kernel {
	uint32_t kind;
	uint32_t unused_1[3];
	uint64_t start;
	uint64_t end;
	uint64_t completed;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t static_shared_bytes;
	uint32_t dynamic_shared_bytes;
	uint32_t unused_2[2];
	uint32_t correlation;
	uint64_t unused_3;
	const char *name; /* mangled; lasts as long as the module */
	uint64_t unused_4[4];
	uint64_t graph_node; /* 0: launched by itself */
};

/* MEMCPY and MEMSET alike. */
struct um_cupti_copy {
	uint32_t kind;
	uint32_t unused_1;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
};

struct um_cupti_peer_copy {
	uint32_t kind;
	uint32_t unused_1;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t unused_2[4];
	uint32_t correlation;
};

/* The first 64 bytes of all layouts since CUDA 7.0. */
struct um_cupti_unified {
	uint32_t kind;
	uint32_t counter; /* enum um_cupti_counter */
	uint64_t value;
	uint64_t start;
	uint64_t end;
	uint64_t address;
	uint32_t source;
	uint32_t destination;
	uint32_t stream;
	uint32_t process;
	uint32_t flags;
	uint32_t unused_1;
};

enum um_cupti_counter {
	UM_CUPTI_BYTES_HTOD = 1,
	UM_CUPTI_BYTES_DTOH = 2,
	UM_CUPTI_CPU_FAULT = 3,
	UM_CUPTI_GPU_FAULT = 4,
	UM_CUPTI_THRASHING = 5,
	UM_CUPTI_THROTTLING = 6,
	UM_CUPTI_REMOTE_MAP = 7,
	UM_CUPTI_BYTES_DTOD = 8,
};
enum um_cupti_access {
	UM_CUPTI_ACCESS_READ = 1,
	UM_CUPTI_ACCESS_WRITE = 2,
	UM_CUPTI_ACCESS_ATOMIC = 3,
	UM_CUPTI_ACCESS_PREFETCH = 4,
};
enum um_cupti_migration {
	UM_CUPTI_MIGRATION_USER = 1,
	UM_CUPTI_MIGRATION_COHERENCE = 2,
	UM_CUPTI_MIGRATION_PREFETCH = 3,
	UM_CUPTI_MIGRATION_EVICTION = 4,
	UM_CUPTI_MIGRATION_ACCESS_COUNTERS = 5,
};
enum um_cupti_remote_map {
	UM_CUPTI_MAP_COHERENCE = 1,
	UM_CUPTI_MAP_THRASHING = 2,
	UM_CUPTI_MAP_POLICY = 3,
	UM_CUPTI_MAP_OUT_OF_MEMORY = 4,
	UM_CUPTI_MAP_EVICTION = 5,
};
#define UM_CUPTI_IN_CPU 1u /* flags of thrashing and throttling */

struct um_cupti_counter_config {
	uint32_t scope; /* ignored since CUDA 7.0, and so is the device */
	uint32_t counter;
	uint32_t device;
	uint32_t enable;
};
#define UM_CUPTI_SCOPE_SINGLE_DEVICE 1u

/* --- the driver's functions that are followed, by number --- */

/* With params of the same structure unless said otherwise; _ptsz, _ptds: the stream 0 is the thread's. */
enum um_cuda_call {
	UM_CUDA_CTX_SYNCHRONIZE = 17,
	UM_CUDA_FREE_HOST = 38,
	UM_CUDA_HOST_ALLOC_1 = 39,
	UM_CUDA_EVENT_RECORD = 119,
	UM_CUDA_EVENT_SYNCHRONIZE = 121,
	UM_CUDA_EVENT_DESTROY_1 = 122,
	UM_CUDA_STREAM_CREATE = 124,
	UM_CUDA_STREAM_SYNCHRONIZE = 126,
	UM_CUDA_STREAM_DESTROY_1 = 127,
	UM_CUDA_LAUNCH = 115,
	UM_CUDA_LAUNCH_GRID = 116,
	UM_CUDA_LAUNCH_GRID_ASYNC = 117,
	UM_CUDA_MEMSET_D8_ASYNC = 216,
	UM_CUDA_MEMSET_D16_ASYNC = 218,
	UM_CUDA_MEMSET_D32_ASYNC = 220,
	UM_CUDA_MEMSET_2D8_ASYNC = 222,
	UM_CUDA_MEMSET_2D16_ASYNC = 224,
	UM_CUDA_MEMSET_2D32_ASYNC = 226,
	UM_CUDA_MODULE_GET_GLOBAL = 241,
	UM_CUDA_ALLOC = 243,
	UM_CUDA_ALLOC_PITCH = 244,
	UM_CUDA_FREE = 245,
	UM_CUDA_MEMSET_D8 = 249,
	UM_CUDA_MEMSET_D16 = 250,
	UM_CUDA_MEMSET_D32 = 251,
	UM_CUDA_MEMSET_2D8 = 252,
	UM_CUDA_MEMSET_2D16 = 253,
	UM_CUDA_MEMSET_2D32 = 254,
	UM_CUDA_HOST_ALLOC = 271, /* params as 39 */
	UM_CUDA_COPY_HTOD = 276,
	UM_CUDA_COPY_HTOD_ASYNC = 277,
	UM_CUDA_COPY_DTOH = 278,
	UM_CUDA_COPY_DTOH_ASYNC = 279,
	UM_CUDA_COPY_DTOD = 280,
	UM_CUDA_COPY_DTOD_ASYNC = 281,
	UM_CUDA_COPY_2D = 287,
	UM_CUDA_COPY_2D_UNALIGNED = 288,
	UM_CUDA_COPY_2D_ASYNC = 289,
	UM_CUDA_COPY_3D = 290,
	UM_CUDA_COPY_3D_ASYNC = 291,
	UM_CUDA_ALLOC_HOST = 294,
	UM_CUDA_STREAM_WAIT_EVENT = 295,
	UM_CUDA_HOST_REGISTER_1 = 301,
	UM_CUDA_HOST_UNREGISTER = 302,
	UM_CUDA_COPY = 305,
	UM_CUDA_COPY_ASYNC = 306,
	UM_CUDA_LAUNCH_KERNEL = 307,
	UM_CUDA_PROFILER_START = 308,
	UM_CUDA_PROFILER_STOP = 309,
	UM_CUDA_COPY_PEER = 318,
	UM_CUDA_COPY_PEER_ASYNC = 319,
	UM_CUDA_COPY_3D_PEER = 320,
	UM_CUDA_COPY_3D_PEER_ASYNC = 321,
	UM_CUDA_EVENT_DESTROY = 325,
	UM_CUDA_STREAM_DESTROY = 326,
	UM_CUDA_STREAM_CREATE_WITH_PRIORITY = 367,
	UM_CUDA_ALLOC_MANAGED = 371,
	UM_CUDA_STREAM_ATTACH = 377,
	UM_CUDA_HOST_REGISTER = 379,
	UM_CUDA_COPY_HTOD_PTDS = 397,
	UM_CUDA_COPY_DTOH_PTDS = 398,
	UM_CUDA_COPY_DTOD_PTDS = 399,
	UM_CUDA_COPY_2D_PTDS = 405,
	UM_CUDA_COPY_2D_UNALIGNED_PTDS = 406,
	UM_CUDA_COPY_3D_PTDS = 407,
	UM_CUDA_COPY_PTDS = 408,
	UM_CUDA_COPY_PEER_PTDS = 409,
	UM_CUDA_COPY_3D_PEER_PTDS = 410,
	UM_CUDA_MEMSET_D8_PTDS = 411,
	UM_CUDA_MEMSET_D16_PTDS = 412,
	UM_CUDA_MEMSET_D32_PTDS = 413,
	UM_CUDA_MEMSET_2D8_PTDS = 414,
	UM_CUDA_MEMSET_2D16_PTDS = 415,
	UM_CUDA_MEMSET_2D32_PTDS = 416,
	UM_CUDA_COPY_ASYNC_PTSZ = 418,
	UM_CUDA_COPY_HTOD_ASYNC_PTSZ = 421,
	UM_CUDA_COPY_DTOH_ASYNC_PTSZ = 422,
	UM_CUDA_COPY_DTOD_ASYNC_PTSZ = 423,
	UM_CUDA_COPY_2D_ASYNC_PTSZ = 424,
	UM_CUDA_COPY_3D_ASYNC_PTSZ = 425,
	UM_CUDA_COPY_PEER_ASYNC_PTSZ = 426,
	UM_CUDA_COPY_3D_PEER_ASYNC_PTSZ = 427,
	UM_CUDA_MEMSET_D8_ASYNC_PTSZ = 428,
	UM_CUDA_MEMSET_D16_ASYNC_PTSZ = 429,
	UM_CUDA_MEMSET_D32_ASYNC_PTSZ = 430,
	UM_CUDA_MEMSET_2D8_ASYNC_PTSZ = 431,
	UM_CUDA_MEMSET_2D16_ASYNC_PTSZ = 432,
	UM_CUDA_MEMSET_2D32_ASYNC_PTSZ = 433,
	UM_CUDA_STREAM_WAIT_EVENT_PTSZ = 436,
	UM_CUDA_STREAM_ATTACH_PTSZ = 438,
	UM_CUDA_STREAM_SYNCHRONIZE_PTSZ = 440,
	UM_CUDA_EVENT_RECORD_PTSZ = 441,
	UM_CUDA_LAUNCH_KERNEL_PTSZ = 442,
	UM_CUDA_ADVISE_1 = 457,
	UM_CUDA_PREFETCH_1 = 467,
	UM_CUDA_PREFETCH_1_PTSZ = 468,
	UM_CUDA_LAUNCH_COOPERATIVE = 477,
	UM_CUDA_LAUNCH_COOPERATIVE_PTSZ = 478,
	UM_CUDA_LAUNCH_COOPERATIVE_MULTI = 480,
	UM_CUDA_BEGIN_CAPTURE_1 = 495,
	UM_CUDA_BEGIN_CAPTURE_1_PTSZ = 496,
	UM_CUDA_END_CAPTURE = 497,
	UM_CUDA_END_CAPTURE_PTSZ = 498,
	UM_CUDA_GRAPH_LAUNCH = 514,
	UM_CUDA_GRAPH_LAUNCH_PTSZ = 515,
	UM_CUDA_BEGIN_CAPTURE = 539,
	UM_CUDA_BEGIN_CAPTURE_PTSZ = 540,
	UM_CUDA_EVENT_RECORD_WITH_FLAGS = 587,
	UM_CUDA_EVENT_RECORD_WITH_FLAGS_PTSZ = 588,
	UM_CUDA_ALLOC_ASYNC = 598,
	UM_CUDA_ALLOC_ASYNC_PTSZ = 599,
	UM_CUDA_FREE_ASYNC = 600,
	UM_CUDA_FREE_ASYNC_PTSZ = 601,
	UM_CUDA_POOL_CREATE = 607,
	UM_CUDA_POOL_DESTROY = 608,
	UM_CUDA_ALLOC_FROM_POOL = 611,
	UM_CUDA_ALLOC_FROM_POOL_PTSZ = 612,
	UM_CUDA_LAUNCH_KERNEL_EX = 652,
	UM_CUDA_LAUNCH_KERNEL_EX_PTSZ = 653,
	UM_CUDA_LIBRARY_GET_GLOBAL = 684,
	UM_CUDA_LIBRARY_GET_MANAGED = 685,
	UM_CUDA_ADVISE = 715,
	UM_CUDA_PREFETCH = 716,
	UM_CUDA_PREFETCH_PTSZ = 717,
	UM_CUDA_BEGIN_CAPTURE_TO_GRAPH = 720,
	UM_CUDA_BEGIN_CAPTURE_TO_GRAPH_PTSZ = 721,
	UM_CUDA_GREEN_STREAM_CREATE = 758,
	UM_CUDA_COPY_BATCH_1 = 776,
	UM_CUDA_COPY_BATCH_1_PTSZ = 777,
	UM_CUDA_COPY_3D_BATCH_1 = 778,
	UM_CUDA_COPY_3D_BATCH_1_PTSZ = 779,
	UM_CUDA_PREFETCH_BATCH = 784,
	UM_CUDA_PREFETCH_BATCH_PTSZ = 785,
	UM_CUDA_DISCARD_BATCH = 789,
	UM_CUDA_DISCARD_BATCH_PTSZ = 790,
	UM_CUDA_DISCARD_AND_PREFETCH = 791,
	UM_CUDA_DISCARD_AND_PREFETCH_PTSZ = 792,
	UM_CUDA_COPY_BATCH = 796,
	UM_CUDA_COPY_BATCH_PTSZ = 797,
	UM_CUDA_COPY_3D_BATCH = 798,
	UM_CUDA_COPY_3D_BATCH_PTSZ = 799,
	UM_CUDA_CTX_SYNCHRONIZE_2 = 800,
	UM_CUDA_CALLS = 1024 /* numbers beyond are not followed */
};

/* --- their params --- */

typedef uint64_t um_cuda_pointer; /* CUdeviceptr */

struct um_cuda_location {
	uint32_t type; /* enum um_cuda_location_type */
	int32_t id;
};
enum um_cuda_location_type {
	UM_CUDA_LOCATION_NONE = 0,
	UM_CUDA_LOCATION_DEVICE = 1,
	UM_CUDA_LOCATION_HOST = 2,
	UM_CUDA_LOCATION_HOST_NUMA = 3,
	UM_CUDA_LOCATION_HOST_NUMA_CURRENT = 4,
};

struct um_params_alloc { /* managed and not; host */
	um_cuda_pointer *address;
	size_t bytes;
	uint32_t flags; /* where there are any */
};
/*
 * Functions of CUDA's runtime that store the address of an allocation where their first argument points
 * (cupti_runtime_cbid.h, generated_cuda_runtime_api_meta.h of CUDA 13.0; the numbers are those of 12.0).
 */
enum um_cuda_runtime_call {
	UM_CUDA_RUNTIME_MALLOC = 20,
	UM_CUDA_RUNTIME_MALLOC_PITCH = 21,
	UM_CUDA_RUNTIME_MALLOC_HOST = 25,
	UM_CUDA_RUNTIME_HOST_ALLOC = 27,
	UM_CUDA_RUNTIME_MALLOC_MANAGED = 206,
	UM_CUDA_RUNTIME_MALLOC_ASYNC = 373,
	UM_CUDA_RUNTIME_MALLOC_ASYNC_PTSZ = 374,
	UM_CUDA_RUNTIME_MALLOC_FROM_POOL = 391,
	UM_CUDA_RUNTIME_MALLOC_FROM_POOL_PTSZ = 392,
};
struct um_params_stores { /* the beginning of all of theirs */
	void **pointer;
};

struct um_params_alloc_pitch {
	um_cuda_pointer *address;
	size_t *pitch;
	size_t width_bytes;
	size_t height;
	uint32_t element_bytes;
};
struct um_params_alloc_async {
	um_cuda_pointer *address;
	size_t bytes;
	void *stream;
};
struct um_params_alloc_from_pool {
	um_cuda_pointer *address;
	size_t bytes;
	void *pool;
	void *stream;
};
struct um_params_free { /* device, host, unregister */
	um_cuda_pointer address;
};
struct um_params_free_async {
	um_cuda_pointer address;
	void *stream;
};
struct um_params_register {
	um_cuda_pointer address;
	size_t bytes;
	uint32_t flags;
};
struct um_params_global {	  /* of a module or library */
	um_cuda_pointer *address; /* may be NULL, as may be bytes */
	size_t *bytes;
	void *module;
	const char *name;
};
struct um_params_advise_1 {
	um_cuda_pointer address;
	size_t bytes;
	uint32_t advice;
	int32_t device; /* -1 host */
};
struct um_params_advise {
	um_cuda_pointer address;
	size_t bytes;
	uint32_t advice;
	struct um_cuda_location location;
};
struct um_params_prefetch_1 {
	um_cuda_pointer address;
	size_t bytes;
	int32_t device;
	void *stream;
};
struct um_params_prefetch {
	um_cuda_pointer address;
	size_t bytes;
	struct um_cuda_location location;
	uint32_t flags;
	void *stream;
};
struct um_params_prefetch_batch { /* and discard and prefetch */
	um_cuda_pointer *address;
	size_t *bytes;
	size_t count;
	struct um_cuda_location *location;
	size_t *location_first; /* location i is of the ranges from here on */
	size_t locations;
	unsigned long long flags;
	void *stream;
};
struct um_params_discard_batch {
	um_cuda_pointer *address;
	size_t *bytes;
	size_t count;
	unsigned long long flags;
	void *stream;
};
struct um_params_launch { /* cooperative too */
	void *function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	void *stream;
};
struct um_cuda_launch_config {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	void *stream;
};
struct um_params_launch_ex {
	const struct um_cuda_launch_config *config;
	void *function;
};
struct um_cuda_launch_one {
	void *function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	void *stream;
	void **params;
};
struct um_params_launch_multi {
	const struct um_cuda_launch_one *launch;
	uint32_t count;
	uint32_t flags;
};
struct um_params_launch_grid { /* cuLaunch has the function alone */
	void *function;
	int32_t width;
	int32_t height;
	void *stream; /* of the asynchronous one */
};
struct um_params_graph_launch {
	void *graph;
	void *stream;
};
struct um_params_copy { /* whatever the direction */
	um_cuda_pointer target;
	um_cuda_pointer source;
	size_t bytes;
	void *stream; /* of the asynchronous ones */
};
struct um_params_copy_peer {
	um_cuda_pointer target;
	void *target_context;
	um_cuda_pointer source;
	void *source_context;
	size_t bytes;
	void *stream;
};
struct um_params_copy_batch_1 {
	um_cuda_pointer *target;
	um_cuda_pointer *source;
	size_t *bytes;
	size_t count;
	void *attributes;
	size_t *attribute_first;
	size_t attributes_count;
	size_t *failed;
	void *stream;
};
struct um_params_copy_batch {
	um_cuda_pointer *target;
	um_cuda_pointer *source;
	size_t *bytes;
	size_t count;
	void *attributes;
	size_t *attribute_first;
	size_t attributes_count;
	void *stream;
};
enum um_cuda_memory_type {
	UM_CUDA_MEMORY_HOST = 1,
	UM_CUDA_MEMORY_DEVICE = 2,
	UM_CUDA_MEMORY_ARRAY = 3,
	UM_CUDA_MEMORY_UNIFIED = 4,
};
struct um_cuda_copy_2d {
	size_t source_x, source_y;
	uint32_t source_type;
	um_cuda_pointer source_host, source_device;
	void *source_array;
	size_t source_pitch;
	size_t target_x, target_y;
	uint32_t target_type;
	um_cuda_pointer target_host, target_device;
	void *target_array;
	size_t target_pitch;
	size_t width_bytes, height;
};
struct um_cuda_copy_3d { /* of peers too: their contexts are where reserved is */
	size_t source_x, source_y, source_z, source_lod;
	uint32_t source_type;
	um_cuda_pointer source_host, source_device;
	void *source_array, *source_reserved;
	size_t source_pitch, source_height;
	size_t target_x, target_y, target_z, target_lod;
	uint32_t target_type;
	um_cuda_pointer target_host, target_device;
	void *target_array, *target_reserved;
	size_t target_pitch, target_height;
	size_t width_bytes, height, depth;
};
struct um_params_copy_box {
	const void *box; /* um_cuda_copy_2d, um_cuda_copy_3d */
	void *stream;	 /* of the asynchronous ones */
};
struct um_params_memset_8 {
	um_cuda_pointer target;
	uint8_t value;
	size_t count;
	void *stream; /* of the asynchronous ones */
};
struct um_params_memset_16 {
	um_cuda_pointer target;
	uint16_t value;
	size_t count;
	void *stream;
};
struct um_params_memset_32 {
	um_cuda_pointer target;
	uint32_t value;
	size_t count;
	void *stream;
};
struct um_params_memset_2d8 {
	um_cuda_pointer target;
	size_t pitch;
	uint8_t value;
	size_t width, height;
	void *stream;
};
struct um_params_memset_2d16 {
	um_cuda_pointer target;
	size_t pitch;
	uint16_t value;
	size_t width, height;
	void *stream;
};
struct um_params_memset_2d32 {
	um_cuda_pointer target;
	size_t pitch;
	uint32_t value;
	size_t width, height;
	void *stream;
};
struct um_params_context { /* cuCtxSynchronize has none */
	void *context;
};
struct um_params_stream { /* synchronize, destroy */
	void *stream;
};
struct um_params_event { /* synchronize, destroy */
	void *event;
};
struct um_params_event_record {
	void *event;
	void *stream;
};
struct um_params_stream_wait {
	void *stream;
	void *event;
	uint32_t flags;
};
struct um_params_stream_create { /* with a priority or without */
	void **stream;
	uint32_t flags;
};
struct um_params_green_stream_create {
	void **stream;
	void *green_context;
	uint32_t flags;
};
struct um_params_attach {
	void *stream;
	um_cuda_pointer address;
	size_t bytes;
	uint32_t flags;
};
struct um_cuda_pool_props {
	uint32_t type; /* UM_CUDA_POOL_MANAGED */
	uint32_t handles;
	struct um_cuda_location location;
};
#define UM_CUDA_POOL_MANAGED 2u
struct um_params_pool_create {
	void **pool;
	const struct um_cuda_pool_props *props;
};
struct um_params_pool {
	void *pool;
};

#define UM_CUDA_STREAM_LEGACY	    ((void *)1)
#define UM_CUDA_STREAM_PER_THREAD   ((void *)2)
#define UM_CUDA_STREAM_NON_BLOCKING 1u

/* --- NVTX (nvToolsExt.h 3, generated_nvtx_meta.h) --- */

enum um_nvtx_call {
	UM_NVTX_MARK_A = 1,
	UM_NVTX_MARK_W = 2,
	UM_NVTX_MARK_EX = 3,
	UM_NVTX_RANGE_START_A = 4,
	UM_NVTX_RANGE_START_W = 5,
	UM_NVTX_RANGE_START_EX = 6,
	UM_NVTX_RANGE_END = 7,
	UM_NVTX_RANGE_PUSH_A = 8,
	UM_NVTX_RANGE_PUSH_W = 9,
	UM_NVTX_RANGE_PUSH_EX = 10,
	UM_NVTX_RANGE_POP = 11,
	UM_NVTX_DOMAIN_MARK_EX = 30,
	UM_NVTX_DOMAIN_RANGE_START_EX = 31,
	UM_NVTX_DOMAIN_RANGE_END = 32,
	UM_NVTX_DOMAIN_RANGE_PUSH_EX = 33,
	UM_NVTX_DOMAIN_RANGE_POP = 34,
	UM_NVTX_DOMAIN_REGISTER_STRING_A = 39,
	UM_NVTX_DOMAIN_REGISTER_STRING_W = 40,
	UM_NVTX_DOMAIN_CREATE_A = 41,
	UM_NVTX_DOMAIN_CREATE_W = 42,
	UM_NVTX_CALLS = 64
};
enum um_nvtx_message { UM_NVTX_ASCII = 1, UM_NVTX_UNICODE = 2, UM_NVTX_REGISTERED = 3 };
struct um_nvtx_attributes {
	uint16_t version;
	uint16_t bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type; /* enum um_nvtx_message */
	const void *message;
};
struct um_params_nvtx_text { /* mark, start, push, domain create */
	const void *text;    /* char, wchar_t or struct um_nvtx_attributes */
};
struct um_params_nvtx_id {
	uint64_t id;
};
struct um_params_nvtx_domain { /* pop */
	void *domain;
};
struct um_params_nvtx_domain_text { /* mark, start, push, register */
	void *domain;
	const void *text;
};
struct um_params_nvtx_domain_id {
	void *domain;
	uint64_t id;
};

/* --- the driver's functions that are called --- */

enum um_cuda_attribute {
	UM_CUDA_WARP_SIZE = 10,
	UM_CUDA_CLOCK_KHZ = 13,
	UM_CUDA_MULTIPROCESSORS = 16,
	UM_CUDA_MEMORY_CLOCK_KHZ = 36,
	UM_CUDA_MEMORY_BUS_BITS = 37,
	UM_CUDA_L2_BYTES = 38,
	UM_CUDA_CAPABILITY_MAJOR = 75,
	UM_CUDA_CAPABILITY_MINOR = 76,
};
#define UM_CUDA_POINTER_IS_MANAGED  8
#define UM_CUDA_POINTER_RANGE_START 11
#define UM_CUDA_POINTER_RANGE_BYTES 12
#define UM_CUDA_ATTACH_GLOBAL	    1u
/* CUmem_range_attribute */
#define UM_CUDA_RANGE_READ_MOSTLY   1
#define UM_CUDA_RANGE_PREFERRED	    2
#define UM_CUDA_RANGE_LAST_PREFETCH 4
#define UM_CUDA_STREAM_CAPTURING    1 /* of cuStreamIsCapturing() */

#endif
