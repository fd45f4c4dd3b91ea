#include "api_fixture.h"

#include <stdint.h>

#define GIB (1ull << 30)

static void test_device_memory(void **state)
{
	(void)state;
	void *p = NULL, *q = &p;
	size_t free_before, free_now, total;

	assert_ok(hipMemGetInfo(&free_before, &total));
	assert_int_equal(total, 64 * GIB);
	assert_ok(hipMalloc(&p, 1 << 20));
	assert_non_null(p);
	assert_ok(hipMemGetInfo(&free_now, NULL));
	assert_int_equal(free_before - free_now, 1 << 20);
	assert_ok(hipFree(p));
	assert_ok(hipMemGetInfo(&free_now, NULL));
	assert_int_equal(free_now, free_before);
	assert_ok(hipMalloc(&p, 2)); /* in whole pages: hip-tests, Unit_hipMemGetInfo_* */
	assert_ok(hipMemGetInfo(&free_now, NULL));
	assert_int_equal(free_before - free_now, 4096);
	assert_ok(hipFree(p));
	assert_ok(hipMalloc(&q, 0));
	assert_null(q);
	assert_hip(hipMalloc(NULL, 4), hipErrorInvalidValue);
	assert_hip(hipMemGetInfo(NULL, NULL), hipErrorInvalidValue);
	assert_hip(hipMalloc(&p, 65 * GIB), hipErrorOutOfMemory);
	assert_null(p);
	assert_hip(hipMalloc(&p, SIZE_MAX), hipErrorOutOfMemory);
}

static void test_frees(void **state)
{
	(void)state;
	int on_stack = 0;
	char *p, *pinned, *managed;

	assert_ok(hipFree(NULL));
	assert_ok(hipHostFree(NULL));
	assert_hip(hipFree(&on_stack), hipErrorInvalidValue);
	assert_ok(hipMalloc((void **)&p, 100));
	assert_hip(hipFree(p + 1), hipErrorInvalidValue);
	assert_hip(hipHostFree(p), hipErrorInvalidValue);
	assert_ok(hipFree(p));
	assert_hip(hipFree(p), hipErrorInvalidValue); /* twice */
	assert_ok(hipHostMalloc((void **)&pinned, 100, hipHostMallocDefault));
	assert_ok(hipMallocManaged((void **)&managed, 100, hipMemAttachGlobal));
	assert_hip(hipHostFree(managed), hipErrorInvalidValue);
	assert_ok(hipHostFree(pinned));
	assert_hip(hipHostFree(pinned), hipErrorInvalidValue);
	assert_ok(hipFree(managed));
}

/* "flags must be either hipMemAttachGlobal or hipMemAttachHost" */
static void test_managed_flags(void **state)
{
	(void)state;
	const unsigned wrong[] = {0, hipMemAttachSingle, hipMemAttachGlobal | hipMemAttachHost, 8};
	int *p = NULL;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_hip(hipMallocManaged((void **)&p, 4, wrong[i]), hipErrorInvalidValue);
	assert_hip(hipMallocManaged((void **)&p, 0, hipMemAttachGlobal), hipErrorInvalidValue);
	assert_hip(hipMallocManaged(NULL, 4, hipMemAttachGlobal), hipErrorInvalidValue);
	assert_ok(hipMallocManaged((void **)&p, 4, hipMemAttachHost));
	assert_int_equal(*p, 0);
	*p = 3;
	assert_ok(hipFree(p));
}

static void test_host_memory(void **state)
{
	(void)state;
	const unsigned flags = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent;
	unsigned told;
	void *p, *device;

	assert_hip(hipHostMalloc(&p, 4, 0x8), hipErrorInvalidValue);
	assert_hip(hipHostMalloc(&p, 4, hipHostMallocCoherent | hipHostMallocNonCoherent),
		   hipErrorInvalidValue);
	assert_ok(hipHostMalloc(&p, 4096, flags));
	assert_ok(hipHostGetFlags(&told, p));
	assert_int_equal(told, flags);
	assert_ok(hipHostGetDevicePointer(&device, p, 0));
	assert_ptr_equal(device, p);
	assert_hip(hipHostGetDevicePointer(&device, p, 1), hipErrorInvalidValue);
	assert_hip(hipHostGetDevicePointer(&device, &told, 0), hipErrorInvalidValue);
	assert_hip(hipHostGetFlags(&told, &told), hipErrorInvalidValue);
	assert_ok(hipHostFree(p));
	assert_hip(hipHostGetFlags(&told, p), hipErrorInvalidValue);
}

static void test_register(void **state)
{
	(void)state;
	static char memory[10000];
	hipPointerAttribute_t attributes;
	unsigned flags;
	void *device;

	assert_ok(hipHostRegister(memory + 100, 5000, hipHostRegisterMapped));
	assert_hip(hipHostRegister(memory, 200, 0), hipErrorHostMemoryAlreadyRegistered);
	assert_hip(hipHostRegister(memory, 0, 0), hipErrorInvalidValue);
	assert_hip(hipHostRegister(NULL, 100, 0), hipErrorInvalidValue);
	assert_hip(hipHostRegister(memory, 100, 0x40), hipErrorInvalidValue);
	assert_ok(hipHostGetFlags(&flags, memory + 200));
	assert_int_equal(flags, hipHostRegisterMapped);
	assert_ok(hipHostGetDevicePointer(&device, memory + 150, 0));
	assert_ptr_equal(device, memory + 150);
	assert_ok(hipPointerGetAttributes(&attributes, memory + 100));
	assert_int_equal(attributes.memoryType, hipMemoryTypeHost);
	assert_hip(hipHostUnregister(memory + 101), hipErrorHostMemoryNotRegistered);
	assert_ok(hipHostUnregister(memory + 100));
	assert_hip(hipHostUnregister(memory + 100), hipErrorHostMemoryNotRegistered);
	assert_hip(hipPointerGetAttributes(&attributes, memory + 100), hipErrorInvalidValue);
}

static void test_pitch(void **state)
{
	(void)state;
	hipPitchedPtr box;
	size_t pitch, bytes;
	void *p;

	assert_ok(hipMallocPitch(&p, &pitch, 100, 3));
	assert_int_equal(pitch, 128);
	assert_ok(hipMemPtrGetInfo(p, &bytes));
	assert_int_equal(bytes, 384);
	assert_ok(hipFree(p));
	assert_hip(hipMallocPitch(&p, NULL, 100, 3), hipErrorInvalidValue);
	assert_hip(hipMallocPitch(&p, &pitch, SIZE_MAX / 4, 9), hipErrorOutOfMemory);
	assert_ok(hipMalloc3D(&box, (hipExtent){130, 2, 3}));
	assert_int_equal(box.pitch, 256);
	assert_int_equal(box.xsize, 130);
	assert_int_equal(box.ysize, 2);
	assert_ok(hipMemPtrGetInfo(box.ptr, &bytes));
	assert_int_equal(bytes, 256 * 2 * 3);
	assert_ok(hipFree(box.ptr));
}

static void test_stream_ordered(void **state)
{
	(void)state;
	hipStream_t stream;
	void *p;

	assert_ok(hipStreamCreate(&stream));
	assert_ok(hipMallocAsync(&p, 4096, stream));
	assert_ok(hipFreeAsync(p, stream));
	assert_hip(hipFreeAsync(p, stream), hipErrorInvalidValue);
	assert_hip(hipFreeAsync(NULL, stream), hipErrorInvalidValue);
	assert_hip(hipMallocAsync(&p, 4096, (hipStream_t)&p), hipErrorInvalidHandle);
	assert_ok(hipStreamDestroy(stream));
}

static void test_pointers(void **state)
{
	(void)state;
	char *managed, *device;
	hipPointerAttribute_t a;
	void *start;
	size_t bytes;
	bool is_managed;
	unsigned type;

	assert_ok(hipMallocManaged((void **)&managed, 5000, hipMemAttachGlobal));
	assert_ok(hipMalloc((void **)&device, 5000));
	assert_ok(hipPointerGetAttributes(&a, managed + 10));
	assert_int_equal(a.isManaged, 1);
	assert_ptr_equal(a.hostPointer, managed + 10);
	assert_ptr_equal(a.devicePointer, managed + 10);
	assert_int_equal(a.allocationFlags, hipMemAttachGlobal);
	assert_ok(hipPointerGetAttributes(&a, device));
	assert_int_equal(a.memoryType, hipMemoryTypeDevice);
	assert_int_equal(a.isManaged, 0);
	assert_null(a.hostPointer);
	assert_ok(hipMemGetAddressRange((hipDeviceptr_t *)&start, &bytes, device + 4999));
	assert_ptr_equal(start, device);
	assert_int_equal(bytes, 5000);
	assert_hip(hipMemGetAddressRange((hipDeviceptr_t *)&start, &bytes, device + 5000),
		   hipErrorNotFound);
	assert_ok(hipPointerGetAttribute(&is_managed, HIP_POINTER_ATTRIBUTE_IS_MANAGED, managed));
	assert_true(is_managed);
	assert_ok(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, managed));
	assert_int_equal(type, hipMemoryTypeUnified);
	assert_ok(hipPointerGetAttribute(&start, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
					 managed + 77));
	assert_ptr_equal(start, managed);
	assert_hip(hipPointerGetAttribute(&start, HIP_POINTER_ATTRIBUTE_HOST_POINTER, device),
		   hipErrorInvalidValue);
	assert_hip(hipPointerGetAttribute(&start, HIP_POINTER_ATTRIBUTE_CONTEXT, device),
		   hipErrorNotSupported);
	assert_ok(hipFree(managed));
	assert_ok(hipFree(device));
}

static void allocate_too_much(void)
{
	void *p;

	for (int i = 0; i < 2; i++)
		assert_hip(hipMallocManaged(&p, 1ull << 45, hipMemAttachGlobal),
			   hipErrorOutOfMemory);
}

/* Once, and with both limits: the device's that is played and this host's. */
static void test_more_than_the_host_has(void **state)
{
	(void)state;
	char *said = stderr_of(allocate_too_much);
	char *first = strstr(said, "the device that is played has 64 GiB");

	assert_non_null(first);
	assert_non_null(strstr(first, "this host has"));
	assert_null(strstr(first + 1, "the device that is played"));
	free(said);
}

static void test_reset_frees(void **state)
{
	(void)state;
	void *p;

	assert_ok(hipMalloc(&p, 4096));
	assert_ok(hipDeviceReset());
	assert_hip(hipFree(p), hipErrorInvalidValue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_memory),
		cmocka_unit_test(test_frees),
		cmocka_unit_test(test_managed_flags),
		cmocka_unit_test(test_host_memory),
		cmocka_unit_test(test_register),
		cmocka_unit_test(test_pitch),
		cmocka_unit_test(test_stream_ordered),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_more_than_the_host_has),
		cmocka_unit_test(test_reset_frees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
