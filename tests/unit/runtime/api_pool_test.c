/* Memory pools: what their attributes say while memory comes and goes. */
#include "api_fixture.h"

#include <stdint.h>

static const hipMemPoolProps local = {
	.allocType = hipMemAllocationTypePinned,
	.location = {hipMemLocationTypeDevice, 0},
};

static uint64_t figure(hipMemPool_t pool, hipMemPoolAttr attribute)
{
	uint64_t value = 77;

	assert_ok(hipMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static void test_current_pool(void **state)
{
	(void)state;
	hipMemPool_t whole, pool, own;

	assert_ok(hipDeviceGetDefaultMemPool(&whole, 0));
	assert_ok(hipDeviceGetMemPool(&pool, 0));
	assert_ptr_equal(pool, whole);
	assert_ok(hipMemPoolCreate(&own, &local));
	assert_ok(hipDeviceSetMemPool(0, own));
	assert_ok(hipDeviceGetMemPool(&pool, 0));
	assert_ptr_equal(pool, own);
	assert_ok(hipMemPoolDestroy(own));
	assert_ok(hipDeviceGetMemPool(&pool, 0)); /* the default takes its place */
	assert_ptr_equal(pool, whole);
	assert_hip(hipDeviceSetMemPool(0, own), hipErrorInvalidValue);
	assert_hip(hipDeviceSetMemPool(7, whole), hipErrorInvalidDevice);
	assert_hip(hipDeviceGetMemPool(&pool, -1), hipErrorInvalidDevice);
	assert_hip(hipDeviceGetMemPool(NULL, 0), hipErrorInvalidValue);
	assert_hip(hipDeviceGetDefaultMemPool(&pool, 7), hipErrorInvalidDevice);
	assert_hip(hipDeviceGetDefaultMemPool(NULL, 0), hipErrorInvalidValue);
	assert_hip(hipMemPoolDestroy(whole), hipErrorInvalidValue);
	assert_hip(hipMemPoolDestroy(NULL), hipErrorInvalidValue);
}

static void test_figures(void **state)
{
	(void)state;
	hipMemPool_t pool;
	void *first, *second;
	uint64_t threshold = 6000, zero = 0;

	assert_ok(hipMemPoolCreate(&pool, &local));
	assert_ok(hipMallocFromPoolAsync(&first, 4096, pool, NULL));
	assert_ok(hipMallocFromPoolAsync(&second, 8192, pool, NULL));
	assert_int_equal(figure(pool, hipMemPoolAttrUsedMemCurrent), 12288);
	assert_ok(hipFreeAsync(second, NULL));
	assert_int_equal(figure(pool, hipMemPoolAttrUsedMemCurrent), 4096);
	assert_int_equal(figure(pool, hipMemPoolAttrUsedMemHigh), 12288);
	/* What is above the threshold goes back when somebody synchronises. */
	assert_int_equal(figure(pool, hipMemPoolAttrReservedMemCurrent), 12288);
	assert_ok(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
	assert_ok(hipStreamSynchronize(NULL));
	assert_int_equal(figure(pool, hipMemPoolAttrReservedMemCurrent), 6000);
	assert_ok(hipMemPoolTrimTo(pool, 0));
	assert_int_equal(figure(pool, hipMemPoolAttrReservedMemCurrent), 4096);
	assert_int_equal(figure(pool, hipMemPoolAttrReservedMemHigh), 12288);
	assert_ok(hipMemPoolSetAttribute(pool, hipMemPoolAttrReservedMemHigh, &zero));
	assert_ok(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &zero));
	assert_int_equal(figure(pool, hipMemPoolAttrUsedMemHigh), 4096);
	assert_hip(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &threshold),
		   hipErrorInvalidValue);
	assert_hip(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &zero),
		   hipErrorInvalidValue);
	assert_ok(hipMemPoolDestroy(pool)); /* goes with its last memory */
	assert_hip(hipMemPoolTrimTo(pool, 0), hipErrorInvalidValue);
	assert_ok(hipMemset(first, 1, 4096));
	assert_ok(hipFreeAsync(first, NULL));
}

static void test_reuse(void **state)
{
	(void)state;
	hipMemPool_t pool;
	int value = 7, no = 0;

	assert_ok(hipDeviceGetDefaultMemPool(&pool, 0));
	assert_ok(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &value));
	assert_int_equal(value, 1);
	assert_ok(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &no));
	assert_ok(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &value));
	assert_int_equal(value, 0);
	assert_ok(hipMemPoolGetAttribute(pool, hipMemPoolReuseFollowEventDependencies, &value));
	assert_int_equal(value, 1);
	assert_hip(hipMemPoolGetAttribute(pool, (hipMemPoolAttr)9, &value), hipErrorInvalidValue);
	assert_hip(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemHigh, NULL),
		   hipErrorInvalidValue);
	assert_hip(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, NULL),
		   hipErrorInvalidValue);
}

static void test_access(void **state)
{
	(void)state;
	hipMemAccessDesc wish = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
	hipMemAccessFlags flags = hipMemAccessFlagsProtNone;
	hipMemPool_t pool;

	assert_ok(hipDeviceGetDefaultMemPool(&pool, 0));
	assert_ok(hipMemPoolGetAccess(&flags, pool, &wish.location));
	assert_int_equal(flags, hipMemAccessFlagsProtReadWrite);
	assert_ok(hipMemPoolSetAccess(pool, &wish, 1));
	assert_hip(hipMemPoolSetAccess(pool, NULL, 1), hipErrorInvalidValue);
	wish.flags = hipMemAccessFlagsProtNone; /* of its own device */
	assert_hip(hipMemPoolSetAccess(pool, &wish, 1), hipErrorInvalidDevice);
	wish.location.id = 9;
	assert_hip(hipMemPoolSetAccess(pool, &wish, 1), hipErrorInvalidDevice);
	assert_hip(hipMemPoolGetAccess(&flags, pool, &wish.location), hipErrorInvalidDevice);
	assert_hip(hipMemPoolGetAccess(NULL, pool, &wish.location), hipErrorInvalidValue);
}

static void test_wrong_use(void **state)
{
	(void)state;
	hipMemPoolProps props = local;
	hipMemPool_t pool;
	void *memory;

	assert_hip(hipMemPoolCreate(NULL, &props), hipErrorInvalidValue);
	assert_hip(hipMemPoolCreate(&pool, NULL), hipErrorInvalidValue);
	props.location.id = 5;
	assert_hip(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
	props = local;
	props.allocType = hipMemAllocationTypeInvalid;
	assert_hip(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
	props = local;
	props.handleTypes = hipMemHandleTypePosixFileDescriptor;
	assert_hip(hipMemPoolCreate(&pool, &props), hipErrorNotSupported);
	assert_ok(hipDeviceGetDefaultMemPool(&pool, 0));
	assert_hip(hipMallocFromPoolAsync(&memory, 16, NULL, NULL), hipErrorInvalidValue);
	assert_hip(hipMallocFromPoolAsync(NULL, 16, pool, NULL), hipErrorInvalidValue);
	assert_hip(hipMallocFromPoolAsync(&memory, 16, pool, (hipStream_t)&props),
		   hipErrorInvalidHandle);
	assert_hip(hipMallocAsync(&memory, 16, (hipStream_t)&props), hipErrorInvalidHandle);
	assert_ok(hipMallocAsync(&memory, 0, NULL));
	assert_null(memory);
	assert_ok(hipMallocAsync(&memory, 16, NULL));
	assert_ok(hipFreeAsync(memory, NULL));
	assert_hip(hipFreeAsync(memory, NULL), hipErrorInvalidValue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_current_pool), cmocka_unit_test(test_figures),
		cmocka_unit_test(test_reuse),	     cmocka_unit_test(test_access),
		cmocka_unit_test(test_wrong_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
