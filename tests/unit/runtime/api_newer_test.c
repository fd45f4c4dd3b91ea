/*
 * Functions that came after HIP 5.2, and what HIP 6 and 7 pass by other numbers and layouts. The tests
 * are in the order of HIP's versions: a function that only newer headers declare tells the runtime
 * which they are, and it stays so.
 */
#include "api_fixture.h"
#include "trace/runtime/api_newer.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- with the headers of HIP 5 --- */

static void test_errors(void **state)
{
	(void)state;
	const char *text;
	void *memory;

	assert_ok(hipDrvGetErrorName(hipErrorNotFound, &text));
	assert_string_equal(text, "hipErrorNotFound");
	assert_ok(hipDrvGetErrorString(hipErrorNotFound, &text));
	assert_string_equal(text, "named symbol not found");
	assert_hip(hipDrvGetErrorName(hipErrorNotFound, NULL), hipErrorInvalidValue);
	/* The last call's result, where hipGetLastError() would keep the error. */
	assert_ok(hipMalloc(&memory, 8));
	assert_hip(hipExtGetLastError(), hipSuccess);
	assert_hip(hipGetLastError(), hipSuccess);
	assert_hip(hipFree((char *)memory + 1), hipErrorInvalidValue);
	assert_hip(hipExtGetLastError(), hipErrorInvalidValue);
	assert_ok(hipFree(memory));
}

static void test_devices_as_5_has_them(void **state)
{
	(void)state;
	hipDeviceProp_t properties, same;
	int device = -1;

	assert_ok(hipGetDeviceProperties(&properties, 0));
	assert_ok(hipGetDevicePropertiesR0000(&same, 0));
	assert_memory_equal(&properties, &same, sizeof(same));
	assert_ok(hipChooseDeviceR0000(&device, &same));
	assert_int_equal(device, 0);
	assert_hip(hipDeviceSetLimit(hipLimitPrintfFifoSize, 1 << 20), hipErrorUnsupportedLimit);
	assert_hip(hipDeviceSetLimit(hipLimitMallocHeapSize, 1 << 20), hipErrorNotSupported);
}

static void test_pointers_as_5_has_them(void **state)
{
	(void)state;
	hipPointerAttribute_t attributes;
	void *memory;
	int local = 1;

	assert_ok(hipMallocManaged(&memory, 100, hipMemAttachGlobal));
	assert_ok(hipPointerGetAttributes(&attributes, memory));
	assert_int_equal(attributes.memoryType, hipMemoryTypeDevice);
	assert_hip(hipPointerGetAttributes(&attributes, &local), hipErrorInvalidValue);
	assert_ok(hipFree(memory));
}

static void test_pointer_set_attribute(void **state)
{
	(void)state;
	unsigned one = 1, two = 2;
	void *memory;

	assert_ok(hipMalloc(&memory, 100));
	assert_ok(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
	assert_hip(hipPointerSetAttribute(&two, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory),
		   hipErrorInvalidValue);
	assert_hip(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_MAPPED, memory),
		   hipErrorInvalidValue);
	assert_hip(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, &one),
		   hipErrorInvalidDevicePointer);
	assert_ok(hipFree(memory));
}

static void test_streams_and_events(void **state)
{
	(void)state;
	unsigned long long id = 0;
	hipStream_t stream;
	hipEvent_t event;
	int device = -1;

	assert_ok(hipStreamCreate(&stream));
	assert_ok(hipStreamGetDevice(stream, &device));
	assert_int_equal(device, 0);
	assert_hip(hipStreamGetDevice(stream, NULL), hipErrorInvalidValue);
	assert_ok(hipStreamGetId(stream, &id));
	assert_true(id > 0);
	assert_ok(hipEventCreate(&event));
	assert_ok(hipEventRecordWithFlags(event, stream, 0));
	assert_ok(hipEventQuery(event));
	assert_hip(hipEventRecordWithFlags(event, stream, 2), hipErrorInvalidValue);
	assert_ok(hipEventDestroy(event));
	assert_ok(hipStreamDestroy(stream));
}

static void called(void *data)
{
	++*(int *)data;
}

static void called_with_status(hipStream_t stream, hipError_t status, void *data)
{
	(void)stream;
	*(int *)data += status == hipSuccess ? 10 : 1000;
}

static void test_per_thread_streams(void **state)
{
	(void)state;
	unsigned char *memory, two[4];
	int calls = 0, value = 7;

	assert_ok(hipMallocManaged((void **)&memory, 64, hipMemAttachGlobal));
	assert_ok(hipMemsetAsync_spt(memory, 1, 64, NULL));
	assert_ok(hipMemset2DAsync_spt(memory, 8, 2, 2, 2, NULL));
	assert_int_equal(memory[9], 2);
	assert_int_equal(memory[10], 1);
	assert_ok(hipMemset3DAsync_spt((hipPitchedPtr){memory, 8, 8, 2}, 3, (hipExtent){1, 1, 2},
				       NULL));
	assert_int_equal(memory[16], 3);
	assert_ok(hipMemcpy2DAsync_spt(two, 2, memory, 8, 2, 2, hipMemcpyDeviceToHost, NULL));
	assert_int_equal(two[3], 2);
	hipMemcpy3DParms copy = {.srcPtr = {memory, 8, 8, 1},
				 .dstPtr = {two, 4, 4, 1},
				 .extent = {4, 1, 1},
				 .kind = hipMemcpyDeviceToHost};

	assert_ok(hipMemcpy3DAsync_spt(&copy, NULL));
	assert_int_equal(two[0], 3);
	assert_ok(hipMemcpyToSymbolAsync_spt(&counter_variable, &value, sizeof(value), 0,
					     hipMemcpyHostToDevice, NULL));
	value = 0;
	assert_ok(hipMemcpyFromSymbolAsync_spt(&value, &counter_variable, sizeof(value), 0,
					       hipMemcpyDeviceToHost, NULL));
	assert_int_equal(value, 7);
	assert_ok(hipLaunchHostFunc_spt(NULL, called, &calls));
	assert_ok(hipStreamAddCallback_spt(NULL, called_with_status, &calls, 0));
	assert_int_equal(calls, 11);
	assert_ok(hipFree(memory));
}

static void test_capture_of_the_threads_stream(void **state)
{
	(void)state;
	hipStreamCaptureStatus status;
	unsigned long long id, same;
	hipGraph_t graph, seen;
	hipGraphExec_t exec;
	const hipGraphNode_t *nodes;
	size_t count;
	int calls = 0;

	assert_ok(hipStreamBeginCapture_spt(NULL, hipStreamCaptureModeGlobal));
	assert_ok(hipStreamIsCapturing_spt(NULL, &status));
	assert_int_equal(status, hipStreamCaptureStatusActive);
	assert_ok(hipStreamGetCaptureInfo_spt(NULL, &status, &id));
	assert_ok(hipStreamGetCaptureInfo_v2_spt(NULL, &status, &same, &seen, &nodes, &count));
	assert_int_equal(same, id);
	assert_ok(hipLaunchHostFunc_spt(NULL, called, &calls));
	assert_ok(hipStreamEndCapture_spt(NULL, &graph));
	assert_int_equal(calls, 0);
	assert_ok(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	assert_ok(hipGraphUpload(exec, NULL));
	assert_hip(hipGraphUpload(NULL, NULL), hipErrorInvalidValue);
	assert_ok(hipGraphLaunch_spt(exec, NULL));
	assert_int_equal(calls, 1);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
}

static void test_launches(void **state)
{
	(void)state;
	hipFunction_t function;
	float *memory;
	unsigned count = 4;

	assert_ok(hipMallocManaged((void **)&memory, 4 * sizeof(float), hipMemAttachGlobal));
	for (unsigned i = 0; i < count; i++)
		memory[i] = 1;
	void *arguments[] = {&memory, &count};

	assert_ok(hipGetFuncBySymbol(&function, &scale_stub));
	assert_hip(hipGetFuncBySymbol(&function, &count), hipErrorInvalidDeviceFunction);
	assert_ok(hipModuleLaunchCooperativeKernel(function, 1, 1, 1, 4, 1, 1, 0, NULL, arguments));
	assert_true(memory[3] == 2);
	assert_ok(hipExtModuleLaunchKernel(function, 4, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL,
					   NULL, NULL, 0));
	assert_true(memory[3] == 4);
	assert_ok(hipFree(memory));
}

/* --- with those of HIP 6 --- */

/* As clang placed the members of the public headers of 6.0.2, 6.1.2 and 6.2.2. */
static void test_layouts_of_6(void **state)
{
	(void)state;
	static const struct {
		size_t is, of_6;
	} places[] = {
#define PLACE(member, of_6) {offsetof(struct um_properties_6, member), of_6}
		PLACE(luid, 272),
		PLACE(totalGlobalMem, 288),
		PLACE(memPitch, 312),
		PLACE(clockRate, 348),
		PLACE(major, 360),
		PLACE(textureAlignment, 368),
		PLACE(deviceOverlap, 384),
		PLACE(maxTexture2DGather, 448),
		PLACE(surfaceAlignment, 568),
		PLACE(l2CacheSize, 616),
		PLACE(sharedMemPerMultiprocessor, 640),
		PLACE(managedMemory, 652),
		PLACE(pageableMemoryAccess, 672),
		PLACE(sharedMemPerBlockOptin, 696),
		PLACE(reservedSharedMemPerBlock, 720),
		PLACE(reserved, 780),
		PLACE(gcnArchName, 1160),
		PLACE(arch, 1428),
		PLACE(hdpMemFlushCntl, 1432),
		PLACE(asicRevision, 1468),
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		assert_int_equal(places[i].is, places[i].of_6);
	assert_int_equal(sizeof(struct um_properties_6), 1472);
	assert_int_equal(sizeof(struct um_memcpy_3d_6), 184);
	assert_int_equal(offsetof(struct um_memcpy_3d_6, dstMemoryType), 112);
	assert_int_equal(sizeof(struct um_allocation_prop_6), 32);
	assert_int_equal(offsetof(struct um_allocation_prop_6, location), 8);
}

static void test_properties_of_6(void **state)
{
	(void)state;
	struct um_properties_6 properties;
	hipDeviceProp_t old;
	int device = -1, version;

	assert_ok(hipGetDeviceProperties(&old, 0));
	assert_ok(hipGetDevicePropertiesR0600(&properties, 0));
	assert_string_equal(properties.name, old.name);
	assert_string_equal(properties.gcnArchName, old.gcnArchName);
	assert_int_equal(properties.totalGlobalMem, old.totalGlobalMem);
	assert_int_equal(properties.warpSize, 64);
	assert_int_equal(properties.managedMemory, 1);
	assert_int_equal(properties.unifiedAddressing, 1);
	assert_memory_equal(properties.uuid.bytes, "umtrace-00000000", 16);
	assert_hip(hipGetDevicePropertiesR0600(NULL, 0), hipErrorInvalidValue);
	assert_hip(hipGetDevicePropertiesR0600(&properties, 99), hipErrorInvalidDevice);
	assert_ok(hipChooseDeviceR0600(&device, &properties));
	assert_int_equal(device, 0);
	assert_ok(hipRuntimeGetVersion(&version));
	assert_int_equal(version / 10000000, 6);
}

static void test_pointers_as_6_has_them(void **state)
{
	(void)state;
	const struct {
		hipError_t (*make)(void **, size_t, unsigned);
		hipError_t (*end)(void *);
		unsigned type;
	} kinds[] = {{hipMallocManaged, hipFree, UM_MEMORY_TYPE_6_MANAGED},
		     {hipExtMallocWithFlags, hipFree, UM_MEMORY_TYPE_6_DEVICE},
		     {hipHostMalloc, hipHostFree, UM_MEMORY_TYPE_6_HOST}};
	hipPointerAttribute_t attributes;
	unsigned type;
	int local = 1;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		void *memory;

		assert_ok(kinds[i].make(&memory, 100, i == 0 ? hipMemAttachGlobal : 0));
		assert_ok(hipPointerGetAttributes(&attributes, memory));
		assert_int_equal(attributes.memoryType, kinds[i].type);
		assert_ok(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
		assert_int_equal(type, i == 0 ? UM_MEMORY_TYPE_6_UNIFIED : kinds[i].type);
		assert_ok(kinds[i].end(memory));
	}
	assert_ok(hipPointerGetAttributes(&attributes, &local));
	assert_int_equal(attributes.memoryType, UM_MEMORY_TYPE_6_UNREGISTERED);
	assert_int_equal(attributes.device, hipInvalidDeviceId);
}

static void test_copies_as_6_has_them(void **state)
{
	(void)state;
	char from[4] = "abc", to[4] = "";
	void *memory;
	struct um_memcpy_3d_6 copy = {
		.srcMemoryType = UM_MEMORY_TYPE_6_HOST,
		.srcHost = from,
		.srcPitch = 4,
		.srcHeight = 1,
		.dstMemoryType = UM_MEMORY_TYPE_6_DEVICE,
		.dstPitch = 4,
		.dstHeight = 1,
		.WidthInBytes = 4,
		.Height = 1,
		.Depth = 1,
	};

	assert_ok(hipMalloc(&memory, 4));
	copy.dstDevice = memory;
	assert_ok(hipDrvMemcpy3D((const HIP_MEMCPY3D *)(const void *)&copy));
	assert_ok(hipMemcpyParam2D(&(hip_Memcpy2D){
		.srcMemoryType = (hipMemoryType)UM_MEMORY_TYPE_6_DEVICE,
		.srcDevice = memory,
		.srcPitch = 4,
		.dstMemoryType = (hipMemoryType)UM_MEMORY_TYPE_6_HOST,
		.dstHost = to,
		.dstPitch = 4,
		.WidthInBytes = 4,
		.Height = 1,
	}));
	assert_string_equal(to, "abc");
	assert_ok(hipFree(memory));
}

static void test_node_types_of_6(void **state)
{
	(void)state;
	hipGraph_t graph;
	hipGraphNode_t node;
	hipGraphNodeType type;

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddEmptyNode(&node, graph, NULL, 0));
	assert_ok(hipGraphNodeGetType(node, &type));
	assert_int_equal(type, 5);
	assert_ok(hipGraphDestroy(graph));
}

static void test_allocation_properties_of_6(void **state)
{
	(void)state;
	struct um_allocation_prop_6 wanted = {.type = hipMemAllocationTypePinned,
					      .location = {hipMemLocationTypeDevice, 0}};
	struct um_allocation_prop_6 got;
	hipMemAllocationProp *program = (hipMemAllocationProp *)(void *)&wanted;
	hipMemGenericAllocationHandle_t handle;
	size_t bytes;

	assert_ok(hipMemGetAllocationGranularity(&bytes, program,
						 hipMemAllocationGranularityMinimum));
	assert_ok(hipMemCreate(&handle, bytes, program, 0));
	assert_ok(hipMemGetAllocationPropertiesFromHandle((hipMemAllocationProp *)(void *)&got,
							  handle));
	assert_int_equal(got.type, hipMemAllocationTypePinned);
	assert_int_equal(got.location.type, hipMemLocationTypeDevice);
	assert_ok(hipMemRelease(handle));
}

static void test_functions_by_name(void **state)
{
	(void)state;
	struct um_properties_6 properties;
	hipError_t (*get)(struct um_properties_6 *, int);
	void *found;
	int result = -1;

	assert_ok(hipGetProcAddress("hipGetDeviceProperties", &found, 600, 0, &result));
	assert_int_equal(result, 0);
	memcpy(&get, &found, sizeof(get));
	assert_ok(get(&properties, 0));
	assert_int_equal(properties.warpSize, 64);
	assert_ok(hipGetProcAddress("hipMemcpy", &found, 600, 2, NULL));
	assert_true(found == (void *)(uintptr_t)hipMemcpy_spt);
	assert_hip(hipGetProcAddress("hipNothing", &found, 600, 0, &result), hipErrorInvalidValue);
	assert_int_equal(result, 1);
	assert_hip(hipGetProcAddress("malloc", &found, 600, 0, &result), hipErrorInvalidValue);
}

/* --- with those of HIP 7 --- */

static void test_advice_by_location(void **state)
{
	(void)state;
	const hipMemLocation device = {hipMemLocationTypeDevice, 0};
	const hipMemLocation host = {(hipMemLocationType)UM_LOCATION_7_HOST, 0};
	const hipMemLocation nowhere = {(hipMemLocationType)9, 0};
	void *memory;
	int place = 5;

	assert_ok(hipMallocManaged(&memory, 8192, hipMemAttachGlobal));
	assert_ok(hipMemAdvise_v2(memory, 4096, hipMemAdviseSetPreferredLocation, device));
	assert_ok(hipMemRangeGetAttribute(&place, 4, hipMemRangeAttributePreferredLocation, memory,
					  4096));
	assert_int_equal(place, 0);
	assert_ok(hipMemAdvise_v2(memory, 4096, hipMemAdviseSetReadMostly, nowhere));
	assert_hip(hipMemAdvise_v2(memory, 4096, hipMemAdviseSetAccessedBy, nowhere),
		   hipErrorInvalidValue);
	assert_ok(hipMemPrefetchAsync_v2(memory, 4096, host, 0, NULL));
	assert_ok(hipMemRangeGetAttribute(&place, 4, hipMemRangeAttributeLastPrefetchLocation,
					  memory, 4096));
	assert_int_equal(place, hipCpuDeviceId);
	assert_hip(hipMemPrefetchAsync_v2(memory, 4096, host, 1, NULL), hipErrorInvalidValue);
	assert_ok(hipFree(memory));
}

static void test_memset_node_of_7(void **state)
{
	(void)state;
	unsigned char *memory;
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipGraphNode_t node;
	struct um_memset_params_7 got;

	assert_ok(hipMallocManaged((void **)&memory, 64, hipMemAttachGlobal));
	memset(memory, 0, 64);
	struct um_memset_params_7 params = {
		.dst = memory, .pitch = 8, .value = 5, .elementSize = 1, .width = 3, .height = 2};

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddMemsetNode(&node, graph, NULL, 0,
					(const hipMemsetParams *)(const void *)&params));
	assert_ok(hipGraphMemsetNodeGetParams(node, (hipMemsetParams *)(void *)&got));
	assert_int_equal(got.width, 3);
	assert_int_equal(got.height, 2);
	assert_ok(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	assert_ok(hipGraphLaunch(exec, NULL));
	assert_int_equal(memory[10], 5);
	assert_int_equal(memory[11], 0);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipFree(memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_devices_as_5_has_them),
		cmocka_unit_test(test_pointers_as_5_has_them),
		cmocka_unit_test(test_pointer_set_attribute),
		cmocka_unit_test(test_streams_and_events),
		cmocka_unit_test(test_per_thread_streams),
		cmocka_unit_test(test_capture_of_the_threads_stream),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_layouts_of_6),
		cmocka_unit_test(test_properties_of_6),
		cmocka_unit_test(test_pointers_as_6_has_them),
		cmocka_unit_test(test_copies_as_6_has_them),
		cmocka_unit_test(test_node_types_of_6),
		cmocka_unit_test(test_allocation_properties_of_6),
		cmocka_unit_test(test_functions_by_name),
		cmocka_unit_test(test_advice_by_location),
		cmocka_unit_test(test_memset_node_of_7),
	};

	return cmocka_run_group_tests(tests, set_up_code, tear_down_code);
}
