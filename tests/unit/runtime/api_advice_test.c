#include "api_fixture.h"

#define PAGE 4096u

static char *memory; /* 16 pages, managed */

static int set_up(void **state)
{
	(void)state;
	return hipMallocManaged((void **)&memory, 16 * PAGE, hipMemAttachGlobal) != hipSuccess;
}

static int tear_down(void **state)
{
	(void)state;
	return hipFree(memory) != hipSuccess;
}

static int attribute(hipMemRangeAttribute which, size_t first_page, size_t pages)
{
	int value = 1234;

	assert_ok(hipMemRangeGetAttribute(&value, sizeof(value), which, memory + first_page * PAGE,
					  pages * PAGE));
	return value;
}

static void test_nothing_said(void **state)
{
	(void)state;
	int devices[2] = {7, 7};

	assert_int_equal(attribute(hipMemRangeAttributeReadMostly, 0, 16), 0);
	assert_int_equal(attribute(hipMemRangeAttributePreferredLocation, 0, 16),
			 hipInvalidDeviceId);
	assert_int_equal(attribute(hipMemRangeAttributeLastPrefetchLocation, 0, 16),
			 hipInvalidDeviceId);
	assert_int_equal(attribute(hipMemRangeAttributeCoherencyMode, 0, 16),
			 hipMemRangeCoherencyModeFineGrain);
	assert_ok(hipMemRangeGetAttribute(devices, sizeof(devices), hipMemRangeAttributeAccessedBy,
					  memory, PAGE));
	assert_int_equal(devices[0], hipInvalidDeviceId);
	assert_int_equal(devices[1], hipInvalidDeviceId);
}

static void test_every_advice(void **state)
{
	(void)state;
	int devices[3];

	assert_ok(hipMemAdvise(memory, 16 * PAGE, hipMemAdviseSetReadMostly, 0));
	assert_int_equal(attribute(hipMemRangeAttributeReadMostly, 0, 16), 1);
	assert_ok(hipMemAdvise(memory, 16 * PAGE, hipMemAdviseUnsetReadMostly, 0));
	assert_int_equal(attribute(hipMemRangeAttributeReadMostly, 0, 16), 0);

	assert_ok(
		hipMemAdvise(memory, 16 * PAGE, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
	assert_int_equal(attribute(hipMemRangeAttributePreferredLocation, 0, 16), hipCpuDeviceId);
	assert_ok(hipMemAdvise(memory, 16 * PAGE, hipMemAdviseUnsetPreferredLocation, 0));
	assert_int_equal(attribute(hipMemRangeAttributePreferredLocation, 0, 16),
			 hipInvalidDeviceId);

	assert_ok(hipMemAdvise(memory, 16 * PAGE, hipMemAdviseSetAccessedBy, 0));
	assert_ok(hipMemAdvise(memory, 16 * PAGE, hipMemAdviseSetAccessedBy, hipCpuDeviceId));
	assert_ok(hipMemRangeGetAttribute(devices, sizeof(devices), hipMemRangeAttributeAccessedBy,
					  memory, PAGE));
	assert_int_equal(devices[0], hipCpuDeviceId);
	assert_int_equal(devices[1], 0);
	assert_int_equal(devices[2], hipInvalidDeviceId);
	assert_ok(hipMemAdvise(memory, 16 * PAGE, hipMemAdviseUnsetAccessedBy, hipCpuDeviceId));
	assert_ok(hipMemAdvise(memory, 16 * PAGE, hipMemAdviseUnsetAccessedBy, 0));
	assert_ok(hipMemRangeGetAttribute(devices, sizeof(devices), hipMemRangeAttributeAccessedBy,
					  memory, PAGE));
	assert_int_equal(devices[0], hipInvalidDeviceId);

	assert_ok(hipMemAdvise(memory, 8 * PAGE, hipMemAdviseSetCoarseGrain, 0));
	assert_int_equal(attribute(hipMemRangeAttributeCoherencyMode, 0, 8),
			 hipMemRangeCoherencyModeCoarseGrain);
	assert_int_equal(attribute(hipMemRangeAttributeCoherencyMode, 7, 2),
			 hipMemRangeCoherencyModeIndeterminate);
	assert_ok(hipMemAdvise(memory, 8 * PAGE, hipMemAdviseUnsetCoarseGrain, 0));
	assert_int_equal(attribute(hipMemRangeAttributeCoherencyMode, 0, 16),
			 hipMemRangeCoherencyModeFineGrain);
}

/* Advice covers every page that the range touches; mixed ranges have no location. */
static void test_ranges(void **state)
{
	(void)state;
	assert_ok(hipMemAdvise(memory + PAGE - 1, 2, hipMemAdviseSetPreferredLocation, 0));
	assert_int_equal(attribute(hipMemRangeAttributePreferredLocation, 0, 2), 0);
	assert_int_equal(attribute(hipMemRangeAttributePreferredLocation, 2, 1),
			 hipInvalidDeviceId);
	assert_ok(hipMemAdvise(memory + 2 * PAGE, PAGE, hipMemAdviseSetPreferredLocation,
			       hipCpuDeviceId));
	assert_int_equal(attribute(hipMemRangeAttributePreferredLocation, 1, 2),
			 hipInvalidDeviceId);
	assert_ok(hipMemAdvise(memory, 4 * PAGE, hipMemAdviseSetReadMostly, 0));
	assert_int_equal(attribute(hipMemRangeAttributeReadMostly, 0, 4), 1);
	assert_int_equal(attribute(hipMemRangeAttributeReadMostly, 3, 2), 0);
}

/* Of memory that does not migrate, its coherency alone is told. */
static void test_device_memory(void **state)
{
	const struct {
		unsigned flags;
		int mode;
	} kinds[] = {{hipDeviceMallocDefault, hipMemRangeCoherencyModeCoarseGrain},
		     {hipDeviceMallocFinegrained, hipMemRangeCoherencyModeFineGrain},
		     {hipMallocSignalMemory, hipMemRangeCoherencyModeFineGrain}};
	int value = 7;
	void *device;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		assert_ok(hipExtMallocWithFlags(&device, 8, kinds[i].flags));
		assert_ok(hipMemRangeGetAttribute(&value, sizeof(value),
						  hipMemRangeAttributeCoherencyMode, device, 8));
		assert_int_equal(value, kinds[i].mode);
		assert_hip(hipMemRangeGetAttribute(&value, sizeof(value),
						   hipMemRangeAttributeReadMostly, device, 8),
			   hipErrorInvalidValue);
		assert_hip(hipMemRangeGetAttribute(&value, sizeof(value),
						   hipMemRangeAttributeCoherencyMode, device, 9),
			   hipErrorInvalidValue);
		assert_ok(hipFree(device));
	}
}

static void test_refusals(void **state)
{
	(void)state;
	char *device, outside;

	assert_ok(hipMalloc((void **)&device, PAGE));
	assert_hip(hipMemAdvise(NULL, PAGE, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	assert_hip(hipMemAdvise(memory, 0, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	assert_hip(hipMemAdvise(memory, 16 * PAGE + 1, hipMemAdviseSetReadMostly, 0),
		   hipErrorInvalidValue);
	assert_hip(hipMemAdvise(memory, PAGE, 0, 0), hipErrorInvalidValue);
	assert_hip(hipMemAdvise(memory, PAGE, 7, 0), hipErrorInvalidValue);
	assert_hip(hipMemAdvise(memory, PAGE, hipMemAdviseSetAccessedBy, 1), hipErrorInvalidDevice);
	assert_hip(hipMemAdvise(memory, PAGE, hipMemAdviseSetAccessedBy, -2),
		   hipErrorInvalidDevice);
	assert_hip(hipMemAdvise(device, PAGE, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	assert_hip(hipMemAdvise(&outside, 1, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	assert_hip(hipMemPrefetchAsync(memory, 17 * PAGE, 0, NULL), hipErrorInvalidValue);
	assert_hip(hipMemPrefetchAsync(memory, PAGE, 9, NULL), hipErrorInvalidDevice);
	assert_hip(hipMemPrefetchAsync(memory, PAGE, 0, (hipStream_t)&outside),
		   hipErrorInvalidHandle);
	assert_ok(hipFree(device));
}

static void test_prefetch(void **state)
{
	(void)state;
	assert_ok(hipMemPrefetchAsync(memory, 8 * PAGE, 0, NULL));
	assert_ok(hipMemPrefetchAsync(memory + 8 * PAGE, 8 * PAGE, hipCpuDeviceId, NULL));
	assert_int_equal(attribute(hipMemRangeAttributeLastPrefetchLocation, 0, 8), 0);
	assert_int_equal(attribute(hipMemRangeAttributeLastPrefetchLocation, 8, 8), hipCpuDeviceId);
	assert_int_equal(attribute(hipMemRangeAttributeLastPrefetchLocation, 0, 16),
			 hipInvalidDeviceId);
}

static void test_several_attributes(void **state)
{
	(void)state;
	int read_mostly = 5, preferred = 5;
	void *data[] = {&read_mostly, &preferred};
	size_t bytes[] = {4, 4};
	hipMemRangeAttribute which[] = {hipMemRangeAttributeReadMostly,
					hipMemRangeAttributePreferredLocation};

	assert_ok(hipMemAdvise(memory, PAGE, hipMemAdviseSetPreferredLocation, 0));
	assert_ok(hipMemRangeGetAttributes(data, bytes, which, 2, memory, PAGE));
	assert_int_equal(read_mostly, 0);
	assert_int_equal(preferred, 0);
	bytes[1] = 3;
	assert_hip(hipMemRangeGetAttributes(data, bytes, which, 2, memory, PAGE),
		   hipErrorInvalidValue);
	assert_hip(hipMemRangeGetAttributes(data, bytes, which, 0, memory, PAGE),
		   hipErrorInvalidValue);
	assert_hip(hipMemRangeGetAttribute(&preferred, 4, 99, memory, PAGE), hipErrorInvalidValue);
	assert_hip(hipMemRangeGetAttribute(NULL, 4, which[0], memory, PAGE), hipErrorInvalidValue);
}

static void test_attach(void **state)
{
	(void)state;
	hipStream_t stream;

	assert_ok(hipStreamCreate(&stream));
	assert_ok(hipStreamAttachMemAsync(stream, memory, 0, hipMemAttachSingle));
	assert_ok(hipStreamAttachMemAsync(stream, memory, 16 * PAGE, hipMemAttachGlobal));
	assert_hip(hipStreamAttachMemAsync(stream, memory, 0, 3), hipErrorInvalidValue);
	assert_hip(hipStreamAttachMemAsync(stream, memory, 17 * PAGE, hipMemAttachHost),
		   hipErrorInvalidValue);
	assert_hip(hipStreamAttachMemAsync(stream, NULL, 0, hipMemAttachHost),
		   hipErrorInvalidValue);
	assert_ok(hipStreamDestroy(stream));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_every_advice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ranges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_device_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_prefetch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_several_attributes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_attach, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
