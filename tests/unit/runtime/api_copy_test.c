#include "api_fixture.h"

static char *device; /* 64 KiB */

static int set_up(void **state)
{
	(void)state;
	return hipMalloc((void **)&device, 65536) != hipSuccess;
}

static int tear_down(void **state)
{
	(void)state;
	return hipFree(device) != hipSuccess;
}

static void test_linear(void **state)
{
	(void)state;
	char out[64] = "", in[64] = "to the device and back";

	assert_ok(hipMemcpy(device, in, 64, hipMemcpyHostToDevice));
	assert_ok(hipMemcpyAsync(device + 100, device, 64, hipMemcpyDeviceToDevice, NULL));
	assert_ok(hipMemcpyWithStream(out, device + 100, 64, hipMemcpyDeviceToHost, NULL));
	assert_string_equal(out, in);
	memset(out, 0, sizeof(out));
	assert_ok(hipMemcpyDtoH(out, device, 64));
	assert_string_equal(out, in);
	assert_ok(hipMemcpyPeer(device + 300, 0, device, 0, 64));
	assert_ok(hipMemcpy_spt(out, device + 300, 64, hipMemcpyDefault));
	assert_string_equal(out, in);
}

static void test_linear_errors(void **state)
{
	(void)state;
	char host[16];

	assert_ok(hipMemcpy(NULL, NULL, 0, hipMemcpyDefault));
	assert_hip(hipMemcpy(NULL, host, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
	assert_hip(hipMemcpy(device, NULL, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
	assert_hip(hipMemcpy(device, host, 16, 5), hipErrorInvalidMemcpyDirection);
	assert_hip(hipMemcpy(device, host, 16, -1), hipErrorInvalidMemcpyDirection);
	assert_hip(hipMemcpy(device + 65530, host, 16, hipMemcpyHostToDevice),
		   hipErrorInvalidValue);
	assert_hip(hipMemcpy(host, device + 65530, 16, hipMemcpyDeviceToHost),
		   hipErrorInvalidValue);
	assert_hip(hipMemcpyAsync(device, host, 16, hipMemcpyDefault, (hipStream_t)host),
		   hipErrorInvalidHandle);
	assert_hip(hipMemcpyPeer(device, 0, device, 3, 16), hipErrorInvalidDevice);
}

static void test_rows(void **state)
{
	(void)state;
	char in[4][10], out[4][7];

	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 10; x++)
			in[y][x] = (char)(10 * y + x);
	memset(out, -1, sizeof(out));
	assert_ok(hipMemset(device, 0, 4 * 128));
	assert_ok(hipMemcpy2D(device, 128, in, 10, 5, 4, hipMemcpyHostToDevice));
	assert_ok(hipMemcpy2D(out, 7, device, 128, 6, 4, hipMemcpyDeviceToHost));
	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 7; x++)
			assert_int_equal(out[y][x], x < 5 ? 10 * y + x : x == 5 ? 0 : -1);
	assert_hip(hipMemcpy2D(device, 4, in, 10, 5, 4, hipMemcpyHostToDevice),
		   hipErrorInvalidPitchValue);
	assert_hip(hipMemcpy2D(device + 65536 - 128, 128, in, 10, 5, 4, hipMemcpyHostToDevice),
		   hipErrorInvalidValue);
	assert_hip(hipMemcpy2D(device, SIZE_MAX / 2, in, 10, 5, 4, hipMemcpyHostToDevice),
		   hipErrorInvalidValue);
}

static void test_boxes(void **state)
{
	(void)state;
	char in[2][3][4], out[2][3][4];
	hipMemcpy3DParms there = {
		.srcPtr = {in, 4, 4, 3},
		.dstPtr = {device, 16, 4, 5},
		.dstPos = {1, 1, 1},
		.extent = {4, 3, 2},
		.kind = hipMemcpyHostToDevice,
	};
	hipMemcpy3DParms back = {
		.srcPtr = {device, 16, 4, 5},
		.srcPos = {1, 1, 1},
		.dstPtr = {out, 4, 4, 3},
		.extent = {4, 3, 2},
		.kind = hipMemcpyDeviceToHost,
	};
	unsigned char one;

	for (size_t i = 0; i < sizeof(in); i++)
		((char *)in)[i] = (char)(i + 1);
	memset(out, 0, sizeof(out));
	assert_ok(hipMemset(device, 0xee, 65536));
	assert_ok(hipMemcpy3D(&there));
	assert_ok(hipMemcpy3D(&back));
	assert_memory_equal(in, out, sizeof(in));
	/* row 1 of layer 1 begins at (1 * 5 + 1) * 16 + 1 */
	assert_ok(hipMemcpy(&one, device + 97, 1, hipMemcpyDeviceToHost));
	assert_int_equal(one, 1);
	assert_ok(hipMemcpy(&one, device + 96, 1, hipMemcpyDeviceToHost));
	assert_int_equal(one, 0xee);
	there.dstArray = (hipArray_t)in;
	assert_hip(hipMemcpy3D(&there), hipErrorNotSupported);
	assert_hip(hipMemcpy3D(NULL), hipErrorInvalidValue);
}

static void test_driver_copies(void **state)
{
	(void)state;
	char in[3][8], out[3][8] = {{0}};
	hip_Memcpy2D there = {
		.srcMemoryType = hipMemoryTypeHost,
		.srcHost = in,
		.srcPitch = 8,
		.srcXInBytes = 2,
		.dstMemoryType = hipMemoryTypeDevice,
		.dstDevice = device,
		.dstPitch = 32,
		.WidthInBytes = 6,
		.Height = 3,
	};
	HIP_MEMCPY3D back = {
		.srcMemoryType = hipMemoryTypeDevice,
		.srcDevice = device,
		.srcPitch = 32,
		.dstMemoryType = hipMemoryTypeHost,
		.dstHost = out,
		.dstPitch = 8,
		.WidthInBytes = 6,
		.Height = 3,
		.Depth = 1,
	};

	for (size_t i = 0; i < sizeof(in); i++)
		((char *)in)[i] = (char)(i + 1);
	assert_ok(hipMemcpyParam2D(&there));
	assert_ok(hipDrvMemcpy3D(&back));
	for (int y = 0; y < 3; y++)
		assert_memory_equal(out[y], in[y] + 2, 6);
	there.dstMemoryType = hipMemoryTypeArray;
	assert_hip(hipMemcpyParam2D(&there), hipErrorNotSupported);
}

static void test_fill(void **state)
{
	(void)state;
	unsigned short halves[4];
	unsigned words[4];
	unsigned char bytes[32];
	int on_stack;

	assert_ok(hipMemsetD16(device, 0x1234, 4));
	assert_ok(hipMemcpy(halves, device, 8, hipMemcpyDefault));
	assert_int_equal(halves[3], 0x1234);
	assert_ok(hipMemsetD32Async(device, (int)0xdeadbeef, 4, NULL));
	assert_ok(hipMemcpy(words, device, 16, hipMemcpyDefault));
	assert_int_equal(words[3], 0xdeadbeef);
	assert_ok(hipMemset(device, 0x1ff, 32)); /* the low byte counts */
	assert_ok(hipMemset2D(device, 8, 0, 4, 4));
	assert_ok(hipMemcpy(bytes, device, 32, hipMemcpyDefault));
	for (int i = 0; i < 32; i++)
		assert_int_equal(bytes[i], i % 8 < 4 ? 0 : 0xff);
	assert_hip(hipMemset(&on_stack, 0, 4), hipErrorInvalidValue);
	assert_hip(hipMemset(device, 0, 65537), hipErrorInvalidValue);
	assert_hip(hipMemsetD32(device, 0, SIZE_MAX / 2), hipErrorInvalidValue);
	assert_hip(hipMemset(NULL, 0, 1), hipErrorInvalidValue);
	assert_ok(hipStreamWriteValue32(NULL, device + 4, 77, 0));
	assert_ok(hipMemcpy(words, device, 8, hipMemcpyDefault));
	assert_int_equal(words[1], 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_linear, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_linear_errors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_boxes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_driver_copies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fill, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
