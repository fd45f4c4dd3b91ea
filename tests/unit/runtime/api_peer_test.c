/*
 * The API with four devices: what belongs to a device, and what devices have with each other. A machine of
 * four is what umtrace would play, so the tests run in a child that is attached to a spool.
 */
#include "api_fixture.h"

#include "trace/spool/spool_ring.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICES	     4
#define MEMORY_BYTES (1u << 24)

static const struct um_spool_config config = {
	.requests = 1,
	.host_watch = UM_HOST_WATCH_NONE,
	.devices = DEVICES,
	.compute_units = 3,
	.memory_bytes = MEMORY_BYTES,
	.memory_bytes_per_s = 1000000000,
	.to_device_bytes_per_s = 4000000000,
	.to_host_bytes_per_s = 2000000000,
	.link_latency_ns = 300,
	.launch_ns = 5000,
	.device_name = "Toy",
	.device_arch = "gfx90a",
};

static int open_device(void **state)
{
	(void)state;
	assert_ok(hipSetDevice(0));
	return 0;
}

static void devices_are_counted(void **state)
{
	(void)state;
	int count = 0, device = -1;

	assert_ok(hipGetDeviceCount(&count));
	assert_int_equal(count, DEVICES);
	assert_ok(hipSetDevice(3));
	assert_ok(hipGetDevice(&device));
	assert_int_equal(device, 3);
	assert_hip(hipSetDevice(4), hipErrorInvalidDevice);
	assert_hip(hipSetDevice(-1), hipErrorInvalidDevice);
	assert_ok(hipGetDevice(&device));
	assert_int_equal(device, 3);
}

static void access_is_enabled_one_way(void **state)
{
	(void)state;
	int can = -1;

	assert_ok(hipDeviceCanAccessPeer(&can, 0, 1));
	assert_int_equal(can, 1);
	assert_ok(hipDeviceCanAccessPeer(&can, 2, 2));
	assert_int_equal(can, 0);
	assert_hip(hipDeviceCanAccessPeer(&can, 0, 4), hipErrorInvalidDevice);
	assert_hip(hipDeviceCanAccessPeer(&can, -1, 0), hipErrorInvalidDevice);

	assert_hip(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
	assert_ok(hipDeviceEnablePeerAccess(1, 0));
	assert_hip(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
	assert_ok(hipDeviceEnablePeerAccess(3, 0));
	assert_hip(hipDeviceEnablePeerAccess(2, 1), hipErrorInvalidValue);
	assert_hip(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
	assert_hip(hipDeviceEnablePeerAccess(4, 0), hipErrorInvalidDevice);
	assert_hip(hipDeviceDisablePeerAccess(-1), hipErrorInvalidDevice);

	/* The other way is another one's. */
	assert_ok(hipSetDevice(1));
	assert_hip(hipDeviceDisablePeerAccess(0), hipErrorPeerAccessNotEnabled);
	assert_ok(hipDeviceEnablePeerAccess(0, 0));
	assert_ok(hipDeviceDisablePeerAccess(0));
	assert_hip(hipDeviceDisablePeerAccess(0), hipErrorPeerAccessNotEnabled);

	assert_ok(hipSetDevice(0));
	assert_ok(hipDeviceReset());
	assert_hip(hipDeviceDisablePeerAccess(3), hipErrorPeerAccessNotEnabled);
}

static size_t free_bytes(int device)
{
	size_t left, total;

	assert_ok(hipSetDevice(device));
	assert_ok(hipMemGetInfo(&left, &total));
	assert_int_equal(total, MEMORY_BYTES);
	return left;
}

static int device_of(const void *memory)
{
	hipPointerAttribute_t attributes;

	assert_ok(hipPointerGetAttributes(&attributes, memory));
	return attributes.device;
}

static void each_has_memory_of_its_own(void **state)
{
	(void)state;
	void *first, *second, *third;

	assert_ok(hipSetDevice(1));
	assert_ok(hipMalloc(&first, MEMORY_BYTES - 4096));
	assert_hip(hipMalloc(&second, 8192), hipErrorOutOfMemory);
	assert_ok(hipSetDevice(2));
	assert_ok(hipMalloc(&second, 8192));
	assert_int_equal(device_of(first), 1);
	assert_int_equal(device_of(second), 2);
	assert_int_equal(free_bytes(1), 4096);
	assert_int_equal(free_bytes(2), MEMORY_BYTES - 8192);
	assert_int_equal(free_bytes(0), MEMORY_BYTES);

	/* A pool's memory is its device's, whichever is current. */
	hipMemPool_t pool;
	assert_ok(hipDeviceGetDefaultMemPool(&pool, 3));
	assert_ok(hipMallocFromPoolAsync(&third, 4096, pool, NULL));
	assert_int_equal(device_of(third), 3);
	assert_int_equal(free_bytes(3), MEMORY_BYTES - 4096);

	/* Any device may free, and a reset is one device's. */
	assert_ok(hipSetDevice(0));
	assert_ok(hipFree(first));
	assert_int_equal(free_bytes(1), MEMORY_BYTES);
	assert_ok(hipSetDevice(2));
	assert_ok(hipDeviceReset());
	assert_int_equal(free_bytes(2), MEMORY_BYTES);
	assert_int_equal(free_bytes(3), MEMORY_BYTES - 4096);
	assert_hip(hipFree(second), hipErrorInvalidValue);
	assert_ok(hipFreeAsync(third, NULL));
}

static void copies_go_from_one_to_another(void **state)
{
	(void)state;
	char *here, *there, text[8] = "peers";
	hipStream_t stream;

	assert_ok(hipMalloc((void **)&here, 4096));
	assert_ok(hipSetDevice(1));
	assert_ok(hipMalloc((void **)&there, 4096));
	assert_ok(hipStreamCreate(&stream));
	assert_ok(hipMemcpy(here, text, sizeof(text), hipMemcpyHostToDevice));
	assert_ok(hipMemcpyPeer(there, 1, here, 0, sizeof(text)));
	assert_ok(hipMemcpyPeerAsync(there + 8, 1, there, 1, sizeof(text), stream));
	assert_ok(hipMemcpyPeerAsync(here + 8, 0, there + 8, 1, sizeof(text), stream));
	assert_ok(hipStreamSynchronize(stream));
	memset(text, 0, sizeof(text));
	assert_ok(hipMemcpy(text, here + 8, sizeof(text), hipMemcpyDeviceToHost));
	assert_string_equal(text, "peers");
	assert_hip(hipMemcpyPeer(there, 4, here, 0, 8), hipErrorInvalidDevice);
	assert_hip(hipMemcpyPeer(there, 1, here, -1, 8), hipErrorInvalidDevice);
	assert_hip(hipMemcpyPeer(there + 4090, 1, here, 0, 8), hipErrorInvalidValue);
	assert_ok(hipStreamDestroy(stream));
	assert_ok(hipFree(there));
	assert_ok(hipFree(here));
}

static void events_are_of_their_device(void **state)
{
	(void)state;
	hipEvent_t here, there;
	hipStream_t stream;
	float ms;

	assert_ok(hipEventCreate(&here));
	assert_ok(hipEventRecord(here, NULL));
	assert_ok(hipSetDevice(1));
	assert_ok(hipStreamCreate(&stream));
	assert_ok(hipEventCreate(&there));
	assert_hip(hipEventRecord(here, stream), hipErrorInvalidHandle);
	assert_hip(hipEventRecord(here, NULL), hipErrorInvalidHandle);
	assert_ok(hipEventRecord(there, stream));
	assert_hip(hipEventElapsedTime(&ms, here, there), hipErrorInvalidHandle);
	/* But any stream may wait for them, and any device ask. */
	assert_ok(hipStreamWaitEvent(stream, here, 0));
	assert_ok(hipSetDevice(2));
	assert_ok(hipEventQuery(here));
	assert_ok(hipEventSynchronize(there));
	assert_ok(hipEventDestroy(there));
	assert_ok(hipEventDestroy(here));
	assert_ok(hipStreamDestroy(stream));
}

/* Times of the machine's figures: 8 MiB set take 8 ms of one device's memory, and no other's time. */
static void null_streams_do_not_wait_for_each_other(void **state)
{
	(void)state;
	void *memory[2];
	hipEvent_t start, end;
	float ms;

	for (int device = 0; device < 2; device++) {
		assert_ok(hipSetDevice(device));
		assert_ok(hipMalloc(&memory[device], 8 << 20));
	}
	assert_ok(hipEventCreate(&start));
	assert_ok(hipEventCreate(&end));
	assert_ok(hipDeviceSynchronize());
	assert_ok(hipEventRecord(start, NULL));
	assert_ok(hipSetDevice(0));
	assert_ok(hipMemsetAsync(memory[0], 1, 8 << 20, NULL));
	assert_ok(hipSetDevice(1));
	assert_ok(hipDeviceSynchronize()); /* for device 1, which has nothing to do */
	assert_ok(hipEventRecord(end, NULL));
	assert_ok(hipEventElapsedTime(&ms, start, end));
	assert_true(ms < 1);
	assert_ok(hipSetDevice(0));
	assert_ok(hipDeviceSynchronize());
	assert_ok(hipSetDevice(1));
	assert_ok(hipEventRecord(end, NULL));
	assert_ok(hipEventElapsedTime(&ms, start, end));
	assert_true(ms > 8);
	assert_ok(hipEventDestroy(start));
	assert_ok(hipEventDestroy(end));
	assert_ok(hipFree(memory[0]));
	assert_ok(hipFree(memory[1]));
}

static void advice_names_any_device(void **state)
{
	(void)state;
	void *memory;
	int device = 9, accessed[4];

	assert_ok(hipMallocManaged(&memory, 8192, hipMemAttachGlobal));
	assert_ok(hipMemAdvise(memory, 8192, hipMemAdviseSetPreferredLocation, 2));
	assert_ok(hipMemAdvise(memory, 8192, hipMemAdviseSetAccessedBy, 3));
	assert_ok(hipMemAdvise(memory, 8192, hipMemAdviseSetAccessedBy, 1));
	assert_hip(hipMemAdvise(memory, 8192, hipMemAdviseSetAccessedBy, 4), hipErrorInvalidDevice);
	assert_ok(hipMemPrefetchAsync(memory, 8192, 1, NULL));
	assert_hip(hipMemPrefetchAsync(memory, 8192, 4, NULL), hipErrorInvalidDevice);
	assert_ok(hipMemRangeGetAttribute(&device, sizeof(device),
					  hipMemRangeAttributePreferredLocation, memory, 8192));
	assert_int_equal(device, 2);
	assert_ok(hipMemRangeGetAttribute(&device, sizeof(device),
					  hipMemRangeAttributeLastPrefetchLocation, memory, 8192));
	assert_int_equal(device, 1);
	assert_ok(hipMemRangeGetAttribute(accessed, sizeof(accessed),
					  hipMemRangeAttributeAccessedBy, memory, 8192));
	assert_int_equal(accessed[0], 1);
	assert_int_equal(accessed[1], 3);
	assert_int_equal(accessed[2], hipInvalidDeviceId);
	assert_ok(hipFree(memory));
}

/* --- the machine that is played --- */

static int play(const char *program)
{
	struct um_spool_reader *reader;
	char variable[4200];
	char *argv[] = {strdup(program), (char[]){"played"}, NULL};
	char *environment[] = {variable, NULL};
	const struct um_record *record;
	int status = 0, error = 0;
	pid_t child;

	if (um_spool_create(&reader, NULL, UM_SPOOL_DEFAULT_BYTES, &config))
		return 1;
	snprintf(variable, sizeof(variable), "UMTRACE_SPOOL=%s", um_spool_path(reader));
	if (posix_spawn(&child, program, NULL, NULL, argv, environment))
		return 1;
	while (waitpid(child, &status, WNOHANG) == 0) {
		um_spool_wait(reader, 20);
		do
			record = um_spool_next(reader, &error);
		while (record);
	}
	um_spool_destroy(reader);
	free(argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(devices_are_counted, open_device),
		cmocka_unit_test_setup(access_is_enabled_one_way, open_device),
		cmocka_unit_test_setup(each_has_memory_of_its_own, open_device),
		cmocka_unit_test_setup(copies_go_from_one_to_another, open_device),
		cmocka_unit_test_setup(events_are_of_their_device, open_device),
		cmocka_unit_test_setup(null_streams_do_not_wait_for_each_other, open_device),
		cmocka_unit_test_setup(advice_names_any_device, open_device),
	};

	return argc == 1 ? play(argv[0]) : cmocka_run_group_tests(tests, NULL, NULL);
}
