/*
 * The functions that do what others do under another name: for the driver API, on a stream, for
 * programs built with per-thread default streams (_spt), of old. Each gets one call that shows what it
 * does; the rules are tested where the first of them is.
 */
#include "api_fixture.h"
#include "trace/runtime/hip_mangled.h"

#include <hip/hiprtc.h>
#include <stdint.h>

hipChannelFormatDesc hipCreateChannelDesc(int, int, int, int, hipChannelFormatKind);
hipError_t hipEventRecord_spt(hipEvent_t, hipStream_t);

/* --- memory --- */

static void test_host_memory(void **state)
{
	(void)state;
	void *memory;

	assert_ok(hipHostAlloc(&memory, 100, hipHostMallocMapped));
	memset(memory, 1, 100);
	assert_ok(hipFreeHost(memory));
	assert_hip(hipFreeHost(memory), hipErrorInvalidValue);
	assert_ok(hipMallocHost(&memory, 100));
	assert_ok(hipFreeHost(memory));
	assert_ok(hipMemAllocHost(&memory, 100));
	assert_ok(hipHostFree(memory));
}

static void test_device_memory(void **state)
{
	(void)state;
	hipDeviceptr_t memory;
	size_t pitch;

	assert_ok(hipMemAllocPitch(&memory, &pitch, 100, 3, 4));
	assert_int_equal(pitch, 128);
	assert_ok(hipFree(memory));
	assert_hip(hipMemAllocPitch(&memory, &pitch, 100, 3, 5), hipErrorInvalidValue);
	assert_ok(hipExtMallocWithFlags(&memory, 100, hipDeviceMallocFinegrained));
	assert_ok(hipFree(memory));
	assert_ok(hipExtMallocWithFlags(&memory, 8, hipMallocSignalMemory));
	assert_ok(hipFree(memory));
	assert_hip(hipExtMallocWithFlags(&memory, 9, hipMallocSignalMemory), hipErrorInvalidValue);
	assert_hip(hipExtMallocWithFlags(&memory, 8, 77), hipErrorInvalidValue);
}

static void test_pointer_attributes(void **state)
{
	(void)state;
	hipPointer_attribute wanted[] = {HIP_POINTER_ATTRIBUTE_IS_MANAGED,
					 HIP_POINTER_ATTRIBUTE_RANGE_SIZE};
	bool managed = false;
	size_t bytes = 0;
	void *data[] = {&managed, &bytes}, *memory;

	assert_ok(hipMallocManaged(&memory, 100, hipMemAttachGlobal));
	assert_ok(hipDrvPointerGetAttributes(2, wanted, data, memory));
	assert_true(managed && bytes == 100);
	assert_hip(hipDrvPointerGetAttributes(2, wanted, NULL, memory), hipErrorInvalidValue);
	assert_ok(hipFree(memory));
}

/* --- copies and fills: each moves one more letter --- */

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
static char *device;

static void expect(const char *wanted)
{
	char back[32] = "";

	assert_ok(hipMemcpyDtoH(back, device, strlen(wanted)));
	assert_string_equal(back, wanted);
}

static void with_device_memory(void (*test)(void))
{
	assert_ok(hipMalloc((void **)&device, 4096));
	test();
	assert_ok(hipFree(device));
}

static void *source(size_t at)
{
	return (void *)(uintptr_t)(letters + at);
}

static void copy_lines(void)
{
	char back[4] = "";

	assert_ok(hipMemcpyHtoD(device, source(0), 2));
	assert_ok(hipMemcpyHtoDAsync(device + 2, source(2), 2, NULL));
	assert_ok(hipMemcpyDtoD(device + 4, device, 2));
	assert_ok(hipMemcpyDtoDAsync(device + 6, device + 2, 2, NULL));
	expect("abcdabcd");
	assert_ok(hipMemcpyDtoHAsync(back, device + 1, 3, NULL));
	assert_string_equal(back, "bcd");
	assert_ok(hipMemcpyPeerAsync(device, 0, device + 2, 0, 2, NULL));
	expect("cdcdabcd");
	assert_hip(hipMemcpyPeerAsync(device, 0, device + 2, 5, 2, NULL), hipErrorInvalidDevice);
	assert_ok(hipMemcpy_spt(device, letters + 4, 2, hipMemcpyHostToDevice));
	assert_ok(hipMemcpyAsync_spt(device + 2, letters + 6, 2, hipMemcpyHostToDevice, NULL));
	expect("efghabcd");
}

static void test_lines(void **state)
{
	(void)state;
	with_device_memory(copy_lines);
}

/* Two rows of two letters, eight apart, become four in a row. */
static void copy_boxes(void)
{
	hip_Memcpy2D flat = {
		.srcMemoryType = hipMemoryTypeHost,
		.srcHost = letters,
		.srcPitch = 8,
		.dstMemoryType = hipMemoryTypeDevice,
		.dstDevice = device,
		.dstPitch = 2,
		.WidthInBytes = 2,
		.Height = 2,
	};
	HIP_MEMCPY3D deep = {
		.srcMemoryType = hipMemoryTypeHost,
		.srcHost = letters + 1,
		.srcPitch = 8,
		.dstMemoryType = hipMemoryTypeDevice,
		.dstDevice = device,
		.dstPitch = 2,
		.WidthInBytes = 2,
		.Height = 2,
		.Depth = 1,
	};
	hipMemcpy3DParms box = {
		.srcPtr = {source(2), 8, 8, 2},
		.dstPtr = {device, 2, 2, 2},
		.extent = {2, 2, 1},
		.kind = hipMemcpyHostToDevice,
	};

	assert_ok(hipMemcpyParam2DAsync(&flat, NULL));
	expect("abij");
	assert_ok(hipDrvMemcpy3DAsync(&deep, NULL));
	expect("bcjk");
	assert_ok(hipDrvMemcpy2DUnaligned(&flat));
	expect("abij");
	assert_ok(hipMemcpy3DAsync(&box, NULL));
	expect("cdkl");
	box.srcPtr.ptr = source(3);
	assert_ok(hipMemcpy3D_spt(&box));
	expect("delm");
	assert_ok(hipMemcpy2DAsync(device, 2, letters, 8, 2, 2, hipMemcpyHostToDevice, NULL));
	expect("abij");
	assert_ok(hipMemcpy2D_spt(device, 2, letters + 1, 8, 2, 2, hipMemcpyHostToDevice));
	expect("bcjk");
	assert_hip(hipMemcpy2DAsync(device, 1, letters, 8, 2, 2, hipMemcpyHostToDevice, NULL),
		   hipErrorInvalidPitchValue);
}

static void test_boxes(void **state)
{
	(void)state;
	with_device_memory(copy_boxes);
}

static void fill_boxes(void)
{
	hipPitchedPtr box = {device, 4, 4, 2};

	assert_ok(hipMemset(device, '.', 8));
	assert_ok(hipMemset2DAsync(device, 4, 'a', 2, 2, NULL));
	expect("aa..aa..");
	assert_ok(hipMemset2D_spt(device, 4, 'b', 1, 2));
	expect("ba..ba..");
	assert_ok(hipMemset3D(box, 'c', (hipExtent){3, 1, 1}));
	expect("ccc.ba..");
	assert_ok(hipMemset3DAsync(box, 'd', (hipExtent){1, 2, 1}, NULL));
	expect("dcc.da..");
	assert_ok(hipMemset3D_spt(box, 'e', (hipExtent){1, 1, 1}));
	expect("ecc.da..");
	assert_hip(hipMemset3D(box, 'c', (hipExtent){5, 1, 1}), hipErrorInvalidValue);
}

static void fill_lines(void)
{
	assert_ok(hipMemset_spt(device, 'a', 8));
	assert_ok(hipMemsetD8(device, 'b', 2));
	assert_ok(hipMemsetD8Async(device + 2, 'c', 1, NULL));
	assert_ok(hipMemsetD16Async(device + 4, 'd' | 'e' << 8, 2, NULL));
	expect("bbcadede");
}

static void test_fills(void **state)
{
	(void)state;
	with_device_memory(fill_boxes);
	with_device_memory(fill_lines);
}

static int counter(void)
{
	int value = -1;

	assert_ok(hipMemcpyFromSymbol(&value, &counter_variable, 4, 0, hipMemcpyDeviceToHost));
	return value;
}

static void test_symbols(void **state)
{
	(void)state;
	int seven = 7, eight = 8, value = 0;

	assert_ok(hipMemcpyToSymbolAsync(&counter_variable, &seven, 4, 0, hipMemcpyHostToDevice,
					 NULL));
	assert_int_equal(counter(), 7);
	assert_ok(hipMemcpyToSymbol_spt(&counter_variable, &eight, 4, 0, hipMemcpyHostToDevice));
	assert_int_equal(counter(), 8);
	assert_ok(hipMemcpyFromSymbolAsync(&value, &counter_variable, 4, 0, hipMemcpyDeviceToHost,
					   NULL));
	assert_int_equal(value, 8);
	value = 0;
	assert_ok(hipMemcpyFromSymbol_spt(&value, &counter_variable, 4, 0, hipMemcpyDeviceToHost));
	assert_int_equal(value, 8);
}

/* --- launches --- */

static float *data;

static void test_launches(void **state)
{
	(void)state;
	const dim3 grid = {1, 1, 1}, block = {64, 1, 1};
	hipEvent_t start, stop;
	float ms = 0;
	unsigned count = 64;
	void *args[] = {&data, &count};

	assert_ok(hipMallocManaged((void **)&data, 256, hipMemAttachGlobal));
	data[5] = 1;
	assert_ok(hipEventCreate(&start));
	assert_ok(hipEventCreate(&stop));
	assert_ok(hipExtLaunchKernel(&scale_stub, grid, block, args, 0, NULL, start, stop, 0));
	assert_ok(hipEventElapsedTime(&ms, start, stop));
	assert_true(ms > 0);
	assert_ok(hipLaunchKernel_spt(&scale_stub, grid, block, args, 0, NULL));
	assert_ok(hipLaunchCooperativeKernel_spt(&scale_stub, grid, block, args, 0, NULL));
	assert_true(data[5] == 8);
	/* hip_impl::hipLaunchKernelGGLImpl: _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv */
	assert_ok(um_launch_ggl((uintptr_t)&scale_stub, &grid, &block, 0, NULL, args));
	assert_true(data[5] == 16);
	assert_ok(hipEventDestroy(start));
	assert_ok(hipEventDestroy(stop));
	assert_ok(hipFree(data));
}

static hipModule_t load_module(void)
{
	size_t bytes;
	void *image = read_code_object(&bytes), *bundle = make_bundle(OUR_TARGET, image, bytes);
	hipModule_t module;

	assert_ok(hipModuleLoadData(&module, bundle));
	free(image);
	free(bundle);
	return module;
}

static void launch_items(hipFunction_t function)
{
	unsigned count = 64;
	void *args[] = {&data, &count};

	assert_ok(hipMallocManaged((void **)&data, 256, hipMemAttachGlobal));
	data[5] = 1;
	/* _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j */
	assert_ok(um_ext_module_launch(function, 64, 1, 1, 64, 1, 1, 0, NULL, args, NULL, NULL,
				       NULL, 0));
	/* _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_ */
	assert_ok(um_hcc_module_launch(function, 64, 1, 1, 64, 1, 1, 0, NULL, args, NULL, NULL,
				       NULL));
	assert_true(data[5] == 4);
	assert_hip(
		um_hcc_module_launch(function, 65, 1, 1, 64, 1, 1, 0, NULL, args, NULL, NULL, NULL),
		hipErrorInvalidConfiguration);
	assert_ok(hipFree(data));
}

static void ask_about(hipFunction_t function)
{
	int groups, other, grid, lanes;

	assert_ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&groups, function, 64, 0));
	assert_int_equal(groups, 32);
	assert_ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&other, function, 64,
									      0, 0));
	assert_int_equal(other, groups);
	assert_ok(hipModuleOccupancyMaxPotentialBlockSize(&grid, &lanes, function, 0, 0));
	assert_int_equal(lanes, 1024);
	assert_ok(hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &lanes, function, 0, 256,
								   0));
	assert_int_equal(lanes, 256);
	assert_hip(hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &lanes, function, 0, 256,
								    9),
		   hipErrorInvalidValue);
	assert_ok(hipFuncGetAttribute(&other, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
	assert_int_equal(other, 1024);
	assert_hip(hipFuncGetAttribute(NULL, HIP_FUNC_ATTRIBUTE_NUM_REGS, function),
		   hipErrorInvalidValue);
}

static void test_functions(void **state)
{
	(void)state;
	hipModule_t module = load_module();
	hipFunction_t function;
	int groups;

	assert_ok(hipModuleGetFunction(&function, module, "_Z5scalePfj"));
	launch_items(function);
	ask_about(function);
	assert_ok(hipModuleUnload(module));
	assert_ok(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&groups, &scale_stub, 1024,
									0, 0));
	assert_int_equal(groups, 2);
	assert_ok(hipFuncSetAttribute(&scale_stub, hipFuncAttributeMaxDynamicSharedMemorySize,
				      65536));
	assert_hip(
		hipFuncSetAttribute(&scale_stub, hipFuncAttributeMaxDynamicSharedMemorySize, 65537),
		hipErrorInvalidValue);
	assert_ok(hipFuncSetCacheConfig(&scale_stub, hipFuncCachePreferL1));
	assert_hip(hipFuncSetCacheConfig(NULL, hipFuncCachePreferL1),
		   hipErrorInvalidDeviceFunction);
	assert_ok(hipFuncSetSharedMemConfig(&scale_stub, hipSharedMemBankSizeFourByte));
	assert_hip(hipFuncSetSharedMemConfig(NULL, hipSharedMemBankSizeFourByte),
		   hipErrorInvalidDeviceFunction);
}

/* On one device each, of which there is one. */
static void test_several_devices(void **state)
{
	(void)state;
	unsigned count = 64;
	void *args[] = {&data, &count};
	hipStream_t stream;

	assert_ok(hipStreamCreate(&stream));
	assert_ok(hipMallocManaged((void **)&data, 256, hipMemAttachGlobal));
	data[5] = 1;
	hipLaunchParams list[] = {
		{&scale_stub, {1, 1, 1}, {64, 1, 1}, args, 0, stream},
		{&scale_stub, {1, 1, 1}, {64, 1, 1}, args, 0, stream},
	};

	assert_ok(hipLaunchCooperativeKernelMultiDevice(list, 1, 0));
	assert_ok(hipExtLaunchMultiKernelMultiDevice(list, 1, 0));
	assert_true(data[5] == 4);
	assert_hip(hipExtLaunchMultiKernelMultiDevice(list, 2, 0), hipErrorInvalidValue);
	assert_hip(hipExtLaunchMultiKernelMultiDevice(NULL, 1, 0), hipErrorInvalidValue);
	list[0].stream = NULL;
	assert_hip(hipLaunchCooperativeKernelMultiDevice(list, 1, 0), hipErrorInvalidHandle);
	assert_ok(hipFree(data));
	assert_ok(hipStreamDestroy(stream));
}

/* --- devices and contexts --- */

static void test_contexts(void **state)
{
	(void)state;
	hipCtx_t context;
	int version = 0, active = 0;
	unsigned flags = 7;
	hipFuncCache_t cache;
	hipSharedMemConfig config;

	assert_ok(hipCtxCreate(&context, 0, 0));
	assert_ok(hipCtxGetApiVersion(context, &version));
	assert_true(version > 0);
	assert_ok(hipCtxSetCacheConfig(hipFuncCachePreferNone));
	assert_ok(hipCtxGetCacheConfig(&cache));
	assert_ok(hipCtxSetSharedMemConfig(hipSharedMemBankSizeFourByte));
	assert_ok(hipDeviceSetSharedMemConfig(hipSharedMemBankSizeFourByte));
	assert_ok(hipCtxGetSharedMemConfig(&config));
	assert_int_equal(config, hipSharedMemBankSizeFourByte);
	assert_ok(hipCtxGetFlags(&flags));
	assert_int_equal(flags, 0);
	assert_hip(hipCtxEnablePeerAccess(context, 0), hipErrorInvalidDevice); /* its own */
	assert_hip(hipCtxEnablePeerAccess(NULL, 0), hipErrorInvalidContext);
	assert_hip(hipCtxDisablePeerAccess(context), hipErrorInvalidDevice);
	assert_ok(hipCtxDestroy(context));
	assert_hip(hipCtxDestroy(NULL), hipErrorInvalidValue);
	assert_ok(hipDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 1);
	assert_ok(hipDevicePrimaryCtxReset(0));
	assert_hip(hipDevicePrimaryCtxReset(3), hipErrorInvalidDevice);
	assert_hip(hipDevicePrimaryCtxSetFlags(3, 0), hipErrorInvalidDevice);
}

static void test_devices(void **state)
{
	(void)state;
	int major = 0, minor = 0, value;
	uint32_t type, hops;
	char name[64] = "";
	hipUUID uuid, again;

	assert_ok(hipDeviceComputeCapability(&major, &minor, 0));
	assert_int_equal(major, 9); /* gfx90a */
	assert_ok(hipDeviceGetName(name, sizeof(name), 0));
	assert_string_equal(name, "AMD Instinct MI250X");
	assert_ok(hipDeviceGetUuid(&uuid, 0));
	assert_ok(hipDeviceGetUuid(&again, 0));
	assert_memory_equal(&uuid, &again, sizeof(uuid));
	assert_ok(hipDriverGetVersion(&value));
	assert_true(value > 0);
	assert_hip(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 0),
		   hipErrorInvalidDevice);
	assert_hip(hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops), hipErrorInvalidDevice);
	assert_int_equal(hipGetStreamDeviceId(NULL), 0);
	assert_int_equal(hipGetStreamDeviceId((hipStream_t)&value), -1);
	assert_int_equal(hipCreateChannelDesc(8, 4, 2, 1, hipChannelFormatKindSigned).y, 4);
}

/* --- streams --- */

static void test_per_thread_streams(void **state)
{
	(void)state;
	hipEvent_t event;
	unsigned flags;
	int priority;

	assert_ok(hipStreamSynchronize_spt(NULL));
	assert_ok(hipStreamGetFlags_spt(NULL, &flags));
	assert_int_equal(flags, hipStreamDefault);
	assert_ok(hipStreamGetPriority_spt(NULL, &priority));
	assert_int_equal(priority, 0);
	assert_ok(hipEventCreate(&event));
	assert_ok(hipEventRecord_spt(event, NULL));
	assert_ok(hipStreamWaitEvent_spt(NULL, event, 0));
	assert_ok(hipEventDestroy(event));
}

static void test_values(void **state)
{
	(void)state;
	uint64_t *memory;

	assert_ok(hipExtMallocWithFlags((void **)&memory, 8, hipMallocSignalMemory));
	assert_ok(hipStreamWriteValue64(NULL, memory, 0x500000007, 0));
	assert_ok(
		hipStreamWaitValue64(NULL, memory, 0x500000007, hipStreamWaitValueEq, UINT64_MAX));
	assert_ok(hipStreamWaitValue32(NULL, memory, 6, hipStreamWaitValueGte, UINT32_MAX));
	assert_ok(hipStreamWaitValue32(NULL, memory, 4, hipStreamWaitValueAnd, UINT32_MAX));
	assert_ok(hipStreamWaitValue32(NULL, memory, 8, hipStreamWaitValueNor, UINT32_MAX));
	assert_ok(hipStreamWaitValue32(NULL, memory, 2, hipStreamWaitValueEq, 2));
	assert_hip(hipStreamWaitValue32(NULL, memory, 8, hipStreamWaitValueEq, UINT32_MAX),
		   hipErrorNotSupported); /* only what the program does next could bring it */
	assert_hip(hipStreamWaitValue32(NULL, &memory, 8, hipStreamWaitValueEq, UINT32_MAX),
		   hipErrorInvalidValue);
	assert_hip(hipStreamWaitValue64(NULL, memory, 8, 4, UINT64_MAX), hipErrorInvalidValue);
	assert_hip(hipStreamWriteValue64(NULL, &memory, 8, 0), hipErrorInvalidValue);
	assert_ok(hipFree(memory));
}

static void test_compute_unit_masks(void **state)
{
	(void)state;
	uint32_t mask[] = {0xf0, 0}, got[4] = {0};
	hipStream_t stream;

	assert_ok(hipExtStreamCreateWithCUMask(&stream, 2, mask));
	assert_ok(hipExtStreamGetCUMask(stream, 2, got));
	assert_int_equal(got[0], 0xf0);
	assert_ok(hipExtStreamGetCUMask(NULL, 4, got)); /* all 110 of them */
	assert_int_equal(got[2], UINT32_MAX);
	assert_int_equal(got[3], (1 << 14) - 1);
	assert_hip(hipExtStreamGetCUMask(stream, 0, got), hipErrorInvalidValue);
	assert_hip(hipExtStreamCreateWithCUMask(&stream, 0, mask), hipErrorInvalidValue);
	assert_ok(hipStreamDestroy(stream));
}

/* --- hiprtc, as far as it needs no compiler --- */

static void test_hiprtc(void **state)
{
	(void)state;
	const char *text = "", *outside[] = {"../a.h"}, *name;
	hiprtcProgram program = NULL, gone;
	size_t bytes;
	int major, minor;

	assert_int_equal(hiprtcVersion(&major, &minor), HIPRTC_SUCCESS);
	assert_int_equal(hiprtcVersion(NULL, &minor), HIPRTC_ERROR_INVALID_INPUT);
	assert_string_equal(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION),
			    "HIPRTC_ERROR_COMPILATION");
	assert_int_equal(hiprtcCreateProgram(&program, NULL, "a", 0, NULL, NULL),
			 HIPRTC_ERROR_INVALID_INPUT);
	assert_int_equal(hiprtcCreateProgram(&program, text, "a", 1, &text, outside),
			 HIPRTC_ERROR_INVALID_INPUT);
	assert_int_equal(hiprtcCreateProgram(&program, text, NULL, 0, NULL, NULL), HIPRTC_SUCCESS);
	assert_int_equal(hiprtcAddNameExpression(program, NULL), HIPRTC_ERROR_INVALID_INPUT);
	assert_int_equal(hiprtcAddNameExpression(program, "f"), HIPRTC_SUCCESS);
	assert_int_equal(hiprtcGetLoweredName(program, "f", &name),
			 HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
	assert_int_equal(hiprtcGetProgramLogSize(program, &bytes), HIPRTC_SUCCESS);
	assert_int_equal(bytes, 1);
	assert_int_equal(hiprtcGetCodeSize(program, &bytes), HIPRTC_ERROR_INVALID_PROGRAM);
	assert_int_equal(hiprtcCompileProgram(program, -1, NULL), HIPRTC_ERROR_INVALID_INPUT);
	gone = program;
	assert_int_equal(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	assert_int_equal(hiprtcDestroyProgram(&gone), HIPRTC_ERROR_INVALID_PROGRAM);
	assert_int_equal(hiprtcCompileProgram(gone, 0, NULL), HIPRTC_ERROR_INVALID_PROGRAM);
	assert_int_equal(hiprtcGetProgramLog(gone, NULL), HIPRTC_ERROR_INVALID_INPUT);
	assert_int_equal(hiprtcGetCode(gone, NULL), HIPRTC_ERROR_INVALID_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_memory),
		cmocka_unit_test(test_device_memory),
		cmocka_unit_test(test_pointer_attributes),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_boxes),
		cmocka_unit_test(test_fills),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_several_devices),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_per_thread_streams),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_compute_unit_masks),
		cmocka_unit_test(test_hiprtc),
	};

	return cmocka_run_group_tests(tests, set_up_code, tear_down_code);
}
