#include "api_fixture.h"

static void test_the_default_machine(void **state)
{
	(void)state;
	hipDeviceProp_t p;
	int count, version;
	size_t total;

	assert_ok(hipInit(0));
	assert_hip(hipInit(1), hipErrorInvalidValue);
	assert_ok(hipGetDeviceCount(&count));
	assert_int_equal(count, 1);
	assert_ok(hipRuntimeGetVersion(&version));
	assert_int_equal(version, 50221153);
	assert_ok(hipGetDeviceProperties(&p, 0));
	assert_string_equal(p.name, "AMD Instinct MI250X");
	assert_string_equal(p.gcnArchName, "gfx90a:sramecc+:xnack-");
	assert_int_equal(p.major, 9);
	assert_int_equal(p.minor, 0);
	assert_int_equal(p.gcnArch, 910);
	assert_int_equal(p.totalGlobalMem, 64ull << 30);
	assert_int_equal(p.multiProcessorCount, 110);
	assert_int_equal(p.warpSize, 64);
	assert_int_equal(p.maxThreadsPerBlock, 1024);
	assert_int_equal(p.sharedMemPerBlock, 65536);
	assert_int_equal(p.managedMemory, 1);
	assert_int_equal(p.pageableMemoryAccess, 0);
	assert_int_equal(p.directManagedMemAccessFromHost, 0);
	assert_ok(hipDeviceTotalMem(&total, 0));
	assert_int_equal(total, p.totalGlobalMem);
}

static int attribute(hipDeviceAttribute_t which)
{
	int value = -99;

	assert_ok(hipDeviceGetAttribute(&value, which, 0));
	return value;
}

static void test_attributes(void **state)
{
	(void)state;
	int value;

	assert_int_equal(attribute(hipDeviceAttributeWarpSize), 64);
	assert_int_equal(attribute(hipDeviceAttributeMultiprocessorCount), 110);
	assert_int_equal(attribute(hipDeviceAttributeComputeCapabilityMajor), 9);
	assert_int_equal(attribute(hipDeviceAttributeConcurrentManagedAccess), 1);
	assert_int_equal(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock), 65536);
	assert_int_equal(attribute(hipDeviceAttributeMaxBlockDimZ), 1024);
	assert_int_equal(attribute(hipDeviceAttributeTotalGlobalMem), 2147483647);
	assert_int_equal(attribute(hipDeviceAttributeIsLargeBar), 1);
	assert_hip(hipDeviceGetAttribute(&value, hipDeviceAttributeName, 0), hipErrorInvalidValue);
	assert_hip(hipDeviceGetAttribute(&value, 5000, 0), hipErrorInvalidValue);
	assert_hip(hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, 0),
		   hipErrorInvalidValue);
	assert_hip(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1),
		   hipErrorInvalidDevice);
}

/* Every attribute is answered or refused: none is forgotten but those that are no number. */
static void test_no_attribute_is_forgotten(void **state)
{
	(void)state;
	const int not_numbers[] = {
		hipDeviceAttributeLuid,
		hipDeviceAttributeName,
		hipDeviceAttributeUuid,
		hipDeviceAttributeArch,
		hipDeviceAttributeGcnArchName,
		hipDeviceAttributeHdpMemFlushCntl,
		hipDeviceAttributeHdpRegFlushCntl,
	};
	size_t refused = 0;
	int value;

	for (int a = 0; a <= hipDeviceAttributeMemoryPoolsSupported; a++)
		refused += hipDeviceGetAttribute(&value, a, 0) != hipSuccess;
	for (int a = hipDeviceAttributeAmdSpecificBegin; a <= hipDeviceAttributeFineGrainSupport;
	     a++)
		refused += hipDeviceGetAttribute(&value, a, 0) != hipSuccess;
	assert_int_equal(refused, sizeof(not_numbers) / sizeof(*not_numbers));
	for (size_t i = 0; i < refused; i++)
		assert_hip(hipDeviceGetAttribute(&value, not_numbers[i], 0), hipErrorInvalidValue);
}

static void test_choice(void **state)
{
	(void)state;
	hipDeviceProp_t wanted = {0};
	int device = 9;

	assert_ok(hipSetDevice(0));
	assert_hip(hipSetDevice(1), hipErrorInvalidDevice);
	assert_hip(hipSetDevice(-1), hipErrorInvalidDevice);
	assert_ok(hipGetDevice(&device));
	assert_int_equal(device, 0);
	assert_ok(hipChooseDevice(&device, &wanted));
	assert_int_equal(device, 0);
	assert_hip(hipGetDevice(NULL), hipErrorInvalidValue);
	assert_hip(hipGetDeviceProperties(&wanted, 4), hipErrorInvalidDevice);
	assert_hip(hipDeviceGet(&device, 1), hipErrorInvalidDevice);
}

static void test_pci(void **state)
{
	(void)state;
	char text[32];
	int device = 5;

	assert_ok(hipDeviceGetPCIBusId(text, sizeof(text), 0));
	assert_string_equal(text, "0000:01:00.0");
	assert_ok(hipDeviceGetByPCIBusId(&device, text));
	assert_int_equal(device, 0);
	assert_hip(hipDeviceGetByPCIBusId(&device, "0000:02:00.0"), hipErrorInvalidValue);
	assert_hip(hipDeviceGetByPCIBusId(&device, "nonsense"), hipErrorInvalidValue);
	assert_hip(hipDeviceGetPCIBusId(text, 4, 0), hipErrorInvalidValue);
}

static void test_peers(void **state)
{
	(void)state;
	int can = 5;

	assert_ok(hipDeviceCanAccessPeer(&can, 0, 0));
	assert_int_equal(can, 0);
	assert_hip(hipDeviceCanAccessPeer(&can, 0, 1), hipErrorInvalidDevice);
	assert_hip(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
	assert_hip(hipDeviceDisablePeerAccess(0), hipErrorInvalidDevice);
}

static void test_settings(void **state)
{
	(void)state;
	hipSharedMemConfig shared;
	hipFuncCache_t cache;
	unsigned flags;
	size_t limit;

	assert_ok(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
	assert_true(limit > 0);
	assert_hip(hipDeviceGetLimit(&limit, hipLimitPrintfFifoSize), hipErrorUnsupportedLimit);
	assert_ok(hipDeviceSetCacheConfig(hipFuncCachePreferL1));
	assert_ok(hipDeviceGetCacheConfig(&cache));
	assert_ok(hipDeviceGetSharedMemConfig(&shared));
	assert_ok(hipSetDeviceFlags(hipDeviceScheduleYield));
	assert_ok(hipGetDeviceFlags(&flags));
	assert_int_equal(flags, hipDeviceScheduleYield);
	assert_hip(hipSetDeviceFlags(hipDeviceScheduleYield | hipDeviceScheduleSpin),
		   hipErrorInvalidValue);
	assert_hip(hipSetDeviceFlags(0x100), hipErrorInvalidValue);
}

static void test_contexts(void **state)
{
	(void)state;
	hipCtx_t first, current;
	int device;

	assert_ok(hipDevicePrimaryCtxRetain(&first, 0));
	assert_ok(hipCtxGetCurrent(&current));
	assert_ptr_equal(first, current);
	assert_ok(hipCtxPushCurrent(first));
	assert_ok(hipCtxGetDevice(&device));
	assert_int_equal(device, 0);
	assert_ok(hipCtxPopCurrent(&current));
	assert_ptr_equal(first, current);
	assert_hip(hipCtxPopCurrent(&current), hipErrorInvalidContext);
	assert_hip(hipCtxSetCurrent((hipCtx_t)&device), hipErrorInvalidContext);
	assert_ok(hipCtxSynchronize());
	assert_ok(hipDevicePrimaryCtxRelease(0));
}

/* Conversions of half precision, against values known from IEEE 754. */
float __gnu_h2f_ieee(unsigned short);
unsigned short __gnu_f2h_ieee(float);

static void test_halves(void **state)
{
	(void)state;
	static const struct {
		float value;
		unsigned short half;
	} known[] = {
		{0.0f, 0x0000},	    {-0.0f, 0x8000},	{1.0f, 0x3c00},	      {-2.0f, 0xc000},
		{65504.0f, 0x7bff}, {0x1p-14f, 0x0400}, {0x1p-24f, 0x0001},   {0x1.8p-24f, 0x0002},
		{1e6f, 0x7c00},	    {0x1p-26f, 0x0000}, {65519.996f, 0x7bff}, {65520.0f, 0x7c00},
		{0.1f, 0x2e66},	    {0x1p-25f, 0x0000}, {0x1.002p0f, 0x3c00}, {0x1.006p0f, 0x3c02},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_int_equal(__gnu_f2h_ieee(known[i].value), known[i].half);
	for (unsigned half = 0; half < 0x10000; half++) {
		float value = __gnu_h2f_ieee((unsigned short)half);

		if (value == value) /* every half survives the way there and back */
			assert_int_equal(__gnu_f2h_ieee(value), half);
		else
			assert_int_equal(__gnu_f2h_ieee(value) & 0x7e00, 0x7e00);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(hipApiName(1), "__hipPopCallConfiguration");
	assert_string_equal(hipApiName(0xffff), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_default_machine),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_no_attribute_is_forgotten),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_pci),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
