#include "api_fixture.h"

#include <stdio.h>
#include <unistd.h>

/* Addresses that stand for the host half of the program: stubs of kernels, shadows of variables. */
static char count_stub, fail_stub, missing_stub, foreign_stub;
static int counter_shadow, absent_shadow;
static float factors_shadow[4];
static int *managed_pointer;
static void **registered, **foreign;

static void register_kernel(void **handle, void *stub, const char *name)
{
	__hipRegisterFunction(handle, stub, NULL, name, (unsigned)-1, NULL, NULL, NULL, NULL, NULL);
}

static int set_up_group(void **state)
{
	static int managed_start = 30;

	(void)state;
	registered = register_code_object(OUR_TARGET);
	register_kernel(registered, &scale_stub, "_Z5scalePfj");
	register_kernel(registered, &count_stub, "_Z5countv");
	register_kernel(registered, &fail_stub, "_Z4failv");
	register_kernel(registered, &missing_stub, "_Z7missingv");
	__hipRegisterVar(registered, &counter_shadow, NULL, "counter", 0, 4, 0, 0);
	__hipRegisterVar(registered, factors_shadow, NULL, "factors", 0, 16, 0, 0);
	__hipRegisterVar(registered, &absent_shadow, NULL, "absent", 0, 4, 0, 0);
	__hipRegisterManagedVar(registered, (void **)&managed_pointer, &managed_start,
				"managed_number", 4, 4);
	foreign = register_code_object("hip-amdgcn-amd-amdhsa--gfx90a");
	register_kernel(foreign, &foreign_stub, "_Z5scalePfj");
	return 0;
}

static int tear_down_group(void **state)
{
	(void)state;
	unregister_code_object(registered);
	unregister_code_object(foreign);
	return 0;
}

static void test_launch(void **state)
{
	(void)state;
	unsigned count = 1000;
	float *data;
	void *args[] = {&data, &count};

	assert_ok(hipMallocManaged((void **)&data, count * 4, hipMemAttachGlobal));
	for (unsigned i = 0; i < count; i++)
		data[i] = (float)i;
	assert_ok(hipLaunchKernel(&scale_stub, (dim3){16, 1, 1}, (dim3){64, 1, 1}, args, 0, NULL));
	assert_ok(hipDeviceSynchronize());
	for (unsigned i = 0; i < count; i++)
		assert_true(data[i] == 2.0f * (float)i);
	assert_ok(hipFree(data));
}

/* The configuration of <<<>>> waits on a stack, innermost first. */
static void test_configurations(void **state)
{
	(void)state;
	dim3 grid, block;
	size_t lds_bytes;
	hipStream_t stream;

	assert_ok(__hipPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, NULL));
	assert_ok(__hipPushCallConfiguration((dim3){8, 1, 1}, (dim3){9, 1, 1}, 0,
					     hipStreamPerThread));
	assert_ok(__hipPopCallConfiguration(&grid, &block, &lds_bytes, &stream));
	assert_int_equal(grid.x, 8);
	assert_ptr_equal(stream, hipStreamPerThread);
	assert_ok(__hipPopCallConfiguration(&grid, &block, &lds_bytes, &stream));
	assert_int_equal(grid.z, 3);
	assert_int_equal(block.y, 5);
	assert_int_equal(lds_bytes, 7);
	assert_hip(__hipPopCallConfiguration(&grid, &block, &lds_bytes, &stream),
		   hipErrorMissingConfiguration);
}

static void test_launch_of_old(void **state)
{
	(void)state;
	unsigned count = 3;
	float *data;

	assert_ok(hipMallocManaged((void **)&data, 12, hipMemAttachGlobal));
	data[2] = 5;
	assert_ok(hipConfigureCall((dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, NULL));
	assert_ok(hipSetupArgument(&data, 8, 0));
	assert_ok(hipSetupArgument(&count, 4, 8));
	assert_hip(hipSetupArgument(&count, 4, 5000), hipErrorInvalidValue);
	assert_ok(hipLaunchByPtr(&scale_stub));
	assert_true(data[2] == 10);
	assert_hip(hipLaunchByPtr(&scale_stub), hipErrorMissingConfiguration);
	assert_hip(hipSetupArgument(&count, 4, 0), hipErrorMissingConfiguration);
	assert_ok(hipFree(data));
}

static hipError_t launch_shape(dim3 grid, dim3 block, size_t lds_bytes)
{
	return hipLaunchKernel(&count_stub, grid, block, NULL, lds_bytes, NULL);
}

static void test_shapes(void **state)
{
	(void)state;
	const dim3 one = {1, 1, 1};

	assert_ok(launch_shape(one, one, 0));
	assert_ok(launch_shape(one, (dim3){8, 8, 16}, 65536 - 256));
	assert_hip(launch_shape((dim3){0, 1, 1}, one, 0), hipErrorInvalidConfiguration);
	assert_hip(launch_shape(one, (dim3){1, 0, 1}, 0), hipErrorInvalidConfiguration);
	assert_hip(launch_shape(one, (dim3){1025, 1, 1}, 0), hipErrorInvalidConfiguration);
	assert_hip(launch_shape(one, (dim3){32, 32, 2}, 0), hipErrorInvalidConfiguration);
	assert_hip(launch_shape((dim3){1u << 31, 1, 1}, (dim3){2, 1, 1}, 0),
		   hipErrorInvalidConfiguration);
	assert_hip(launch_shape(one, one, 65537), hipErrorInvalidValue);
	assert_hip(launch_shape(one, one, 65536 - 255), hipErrorInvalidValue); /* static LDS: 256 */
	assert_hip(hipLaunchKernel(&count_stub, one, one, NULL, 0, (hipStream_t)&one),
		   hipErrorInvalidHandle);
	assert_hip(hipLaunchKernel(NULL, one, one, NULL, 0, NULL), hipErrorInvalidDeviceFunction);
	assert_hip(hipLaunchKernel(&one, one, one, NULL, 0, NULL), hipErrorInvalidDeviceFunction);
	assert_hip(hipLaunchKernel(&missing_stub, one, one, NULL, 0, NULL),
		   hipErrorInvalidDeviceFunction);
}

/* 110 compute units of 32 waves hold 220 groups of 1024 lanes; 32 KiB of LDS make that 2 each. */
static void test_cooperative(void **state)
{
	(void)state;
	const dim3 big = {1024, 1, 1}, small = {64, 1, 1};

	assert_ok(hipLaunchCooperativeKernel(&count_stub, (dim3){220, 1, 1}, big, NULL, 0, NULL));
	assert_hip(hipLaunchCooperativeKernel(&count_stub, (dim3){221, 1, 1}, big, NULL, 0, NULL),
		   hipErrorCooperativeLaunchTooLarge);
	assert_hip(hipLaunchCooperativeKernel(&count_stub, (dim3){221, 1, 1}, small, NULL,
					      32768 - 256, NULL),
		   hipErrorCooperativeLaunchTooLarge);
}

static void test_variables(void **state)
{
	(void)state;
	const float doubled[2] = {20, 40};
	hipPointerAttribute_t attributes;
	float out[4];
	int counted;
	size_t bytes;
	void *address;

	assert_ok(hipGetSymbolSize(&bytes, factors_shadow));
	assert_int_equal(bytes, 16);
	assert_ok(hipGetSymbolAddress(&address, factors_shadow));
	assert_ok(hipMemcpyToSymbol(factors_shadow, doubled, 8, 8, hipMemcpyHostToDevice));
	assert_ok(hipMemcpyFromSymbol(out, factors_shadow, 16, 0, hipMemcpyDeviceToHost));
	assert_true(out[0] == 1 && out[1] == 2 && out[2] == 20 && out[3] == 40);
	assert_true(((float *)address)[3] == 40);
	assert_hip(hipMemcpyToSymbol(factors_shadow, doubled, 8, 9, hipMemcpyHostToDevice),
		   hipErrorInvalidValue);
	assert_hip(hipMemcpyToSymbol(factors_shadow, doubled, 8, 0, hipMemcpyDeviceToHost),
		   hipErrorInvalidMemcpyDirection);
	assert_ok(hipPointerGetAttributes(&attributes, address));
	assert_int_equal(attributes.memoryType, hipMemoryTypeDevice);
	assert_ok(hipMemset((float *)address + 2, 0, 8));
	assert_true(((float *)address)[1] == 2 && ((float *)address)[3] == 0);
	assert_hip(hipGetSymbolSize(&bytes, &absent_shadow), hipErrorInvalidSymbol);
	assert_hip(hipGetSymbolSize(&bytes, &bytes), hipErrorInvalidSymbol);

	int before;

	assert_ok(hipMemcpyFromSymbol(&before, &counter_shadow, 4, 0, hipMemcpyDeviceToHost));
	assert_ok(launch_shape((dim3){2, 1, 1}, (dim3){10, 1, 1}, 0));
	assert_ok(hipMemcpyFromSymbol(&counted, &counter_shadow, 4, 0, hipMemcpyDeviceToHost));
	assert_int_equal(counted, before + 20);
}

static void test_managed_variable(void **state)
{
	(void)state;
	hipPointerAttribute_t attributes;
	int before = *managed_pointer;
	void *address;
	size_t bytes;

	assert_true(before >= 30);
	assert_ok(launch_shape((dim3){1, 1, 1}, (dim3){7, 1, 1}, 0));
	assert_int_equal(*managed_pointer, before + 7);
	assert_ok(hipPointerGetAttributes(&attributes, managed_pointer));
	assert_int_equal(attributes.isManaged, 1);
	assert_ok(hipGetSymbolAddress(&address, &managed_pointer));
	assert_ptr_equal(address, managed_pointer);
	assert_ok(hipGetSymbolSize(&bytes, &managed_pointer));
	assert_int_equal(bytes, 4);
	assert_ok(hipDeviceReset()); /* it stays: the program has no way to get it back */
	assert_int_equal(*managed_pointer, before + 7);
}

static void launch_foreign(void)
{
	const dim3 one = {1, 1, 1};

	for (int i = 0; i < 2; i++)
		assert_hip(hipLaunchKernel(&foreign_stub, one, one, NULL, 0, NULL),
			   hipErrorNoBinaryForGpu);
}

static void test_code_for_another_machine(void **state)
{
	(void)state;
	char *said = stderr_of(launch_foreign);
	char *first = strstr(said, "compile it with umhipcc\n");

	assert_non_null(first);
	assert_non_null(strstr(said, "gfx90a"));
	assert_null(strstr(first + 1, "compile it")); /* once */
	free(said);
}

static void launch_failing(void)
{
	const dim3 one = {1, 1, 1};
	void *p;

	assert_hip(hipLaunchKernel(&fail_stub, one, one, NULL, 0, NULL), hipErrorLaunchFailure);
	/* and all that the device is to do from then on */
	assert_hip(hipDeviceSynchronize(), hipErrorLaunchFailure);
	assert_hip(hipStreamQuery(NULL), hipErrorLaunchFailure);
	assert_hip(launch_shape(one, one, 0), hipErrorLaunchFailure);
	assert_ok(hipMalloc(&p, 4));
	assert_hip(hipMemset(p, 0, 4), hipErrorLaunchFailure);
	assert_ok(hipDeviceReset());
	assert_ok(launch_shape(one, one, 0));
	assert_hip(hipGetLastError(), hipErrorLaunchFailure);
}

static void test_failure_stays(void **state)
{
	(void)state;
	char *said = stderr_of(launch_failing);

	assert_non_null(strstr(said, "as asked for"));
	free(said);
}

static void test_attributes_of_kernels(void **state)
{
	(void)state;
	hipFuncAttributes attributes;
	int groups, grid, block;

	assert_ok(hipFuncGetAttributes(&attributes, &scale_stub));
	assert_int_equal(attributes.sharedSizeBytes, 256);
	assert_int_equal(attributes.maxThreadsPerBlock, 1024);
	assert_hip(hipFuncGetAttributes(&attributes, &grid), hipErrorInvalidDeviceFunction);
	assert_ok(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, &scale_stub, 256, 0));
	assert_int_equal(groups, 8);
	assert_ok(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, &scale_stub, 65, 0));
	assert_int_equal(groups, 16); /* two waves each */
	assert_ok(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, &scale_stub, 64, 16128));
	assert_int_equal(groups, 4);
	assert_ok(hipOccupancyMaxPotentialBlockSize(&grid, &block, &scale_stub, 0, 0));
	assert_int_equal(block, 1024);
	assert_int_equal(grid, 220);
	assert_hip(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, &scale_stub, 0, 0),
		   hipErrorInvalidValue);
	assert_string_equal(hipKernelNameRefByPtr(&scale_stub, NULL), "_Z5scalePfj");
}

/* --- modules --- */

/* Arguments as one struct, whose size and place come in any order. */
static void launch_from_buffer(hipFunction_t function, float *data)
{
	struct {
		float *data;
		unsigned count;
	} buffer = {data, 4};
	size_t bytes = sizeof(buffer), little = 8;
	void *args[] = {&buffer.data, &buffer.count};
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_BUFFER_POINTER,
			 &buffer, HIP_LAUNCH_PARAM_END};
	void *nothing[] = {HIP_LAUNCH_PARAM_END};

	data[3] = 16;
	assert_ok(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
	assert_true(data[3] == 32);
	assert_hip(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, args, extra),
		   hipErrorInvalidValue);
	assert_hip(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, nothing),
		   hipErrorInvalidValue);
	extra[1] = &little;
	assert_hip(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra),
		   hipErrorInvalidValue);
}

static void launch_from_module(hipModule_t module)
{
	hipFunction_t function, again;
	hipDeviceptr_t address;
	unsigned count = 4;
	float *data;
	size_t bytes;
	void *args[] = {&data, &count};

	assert_ok(hipMallocManaged((void **)&data, 16, hipMemAttachGlobal));
	data[3] = 8;
	assert_ok(hipModuleGetFunction(&function, module, "_Z5scalePfj"));
	assert_ok(hipModuleGetFunction(&again, module, "_Z5scalePfj"));
	assert_ptr_equal(function, again);
	assert_string_equal(hipKernelNameRef(function), "_Z5scalePfj");
	assert_hip(hipModuleGetFunction(&again, module, "scale"), hipErrorNotFound);
	assert_ok(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
	assert_true(data[3] == 16);
	launch_from_buffer(function, data);
	assert_ok(hipModuleGetGlobal(&address, &bytes, module, "counter"));
	assert_int_equal(bytes, 4);
	assert_int_equal(*(int *)address, 5); /* its own copy, which nobody has counted in */
	assert_hip(hipModuleGetGlobal(&address, &bytes, module, "stdout"), hipErrorNotFound);
	assert_ok(hipModuleUnload(module));
	assert_hip(hipModuleUnload(module), hipErrorInvalidHandle);
	assert_hip(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL),
		   hipErrorInvalidHandle);
	assert_ok(hipFree(data));
}

static void test_modules(void **state)
{
	(void)state;
	hipModule_t module;
	size_t bytes;
	void *image = read_code_object(&bytes);
	void *bundle = make_bundle(OUR_TARGET, image, bytes);

	assert_ok(hipModuleLoadData(&module, bundle));
	launch_from_module(module);
	assert_ok(hipModuleLoadDataEx(&module, image, 0, NULL, NULL));
	launch_from_module(module);
	assert_ok(hipModuleLoad(&module, UM_TEST_CODE_OBJECT));
	launch_from_module(module);
	free(bundle);
	free(image);
}

static void test_bad_modules(void **state)
{
	(void)state;
	hipModule_t module = NULL;
	char path[] = "/tmp/api_module.XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_hip(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
	assert_hip(hipModuleLoad(&module, path), hipErrorInvalidImage); /* empty */
	assert_int_equal(write(file, "no code object, surely not", 26), 26);
	assert_hip(hipModuleLoad(&module, path), hipErrorInvalidImage);
	assert_hip(hipModuleLoad(&module, NULL), hipErrorInvalidValue);
	assert_hip(hipModuleLoadData(&module, NULL), hipErrorInvalidValue);
	assert_hip(hipModuleUnload(NULL), hipErrorInvalidHandle);
	assert_null(module);
	close(file);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch),
		cmocka_unit_test(test_configurations),
		cmocka_unit_test(test_launch_of_old),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_cooperative),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_managed_variable),
		cmocka_unit_test(test_code_for_another_machine),
		cmocka_unit_test(test_failure_stays),
		cmocka_unit_test(test_attributes_of_kernels),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_bad_modules),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
