#include "api_fixture.h"

#include <pthread.h>

static void test_streams(void **state)
{
	(void)state;
	hipStream_t plain, free_running, urgent;
	unsigned flags;
	int priority, least, greatest;

	assert_ok(hipStreamCreate(&plain));
	assert_ok(hipStreamCreateWithFlags(&free_running, hipStreamNonBlocking));
	assert_ok(hipDeviceGetStreamPriorityRange(&least, &greatest));
	assert_true(greatest < least);
	assert_ok(hipStreamCreateWithPriority(&urgent, hipStreamDefault, -100));
	assert_ok(hipStreamGetPriority(urgent, &priority));
	assert_int_equal(priority, greatest);
	assert_ok(hipStreamGetFlags(free_running, &flags));
	assert_int_equal(flags, hipStreamNonBlocking);
	assert_ok(hipStreamGetFlags(NULL, &flags));
	assert_int_equal(flags, hipStreamDefault);
	assert_ok(hipStreamQuery(plain));
	assert_ok(hipStreamSynchronize(plain));
	assert_ok(hipStreamSynchronize(NULL));
	assert_ok(hipStreamDestroy(plain));
	assert_hip(hipStreamDestroy(plain), hipErrorInvalidHandle);
	assert_hip(hipStreamSynchronize(plain), hipErrorInvalidHandle);
	assert_hip(hipStreamQuery(plain), hipErrorInvalidHandle);
	assert_hip(hipStreamDestroy(NULL), hipErrorInvalidHandle);
	assert_hip(hipStreamDestroy(hipStreamPerThread), hipErrorInvalidHandle);
	assert_hip(hipStreamCreateWithFlags(&plain, 2), hipErrorInvalidValue);
	assert_hip(hipStreamCreate(NULL), hipErrorInvalidValue);
	assert_ok(hipStreamDestroy(free_running));
	assert_ok(hipStreamDestroy(urgent));
}

static void *use_own_stream(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)hipStreamSynchronize(hipStreamPerThread);
}

static void test_stream_of_thread(void **state)
{
	(void)state;
	pthread_t thread;
	void *result;

	assert_ok(hipStreamSynchronize(hipStreamPerThread));
	assert_ok(hipStreamQuery_spt(NULL));
	assert_int_equal(pthread_create(&thread, NULL, use_own_stream, NULL), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ok((hipError_t)(intptr_t)result);
}

static int calls;

static void count_status(hipStream_t stream, hipError_t status, void *data)
{
	assert_null(stream);
	assert_ok(status);
	calls += *(int *)data;
}

static void count_plain(void *data)
{
	void *p;

	assert_ok(hipMalloc(&p, 16)); /* a call within a call */
	assert_ok(hipFree(p));
	calls += *(int *)data;
}

static void test_callbacks(void **state)
{
	(void)state;
	int step = 3;

	calls = 0;
	assert_ok(hipStreamAddCallback(NULL, count_status, &step, 0));
	assert_int_equal(calls, 3);
	assert_ok(hipLaunchHostFunc(NULL, count_plain, &step));
	assert_int_equal(calls, 6);
	assert_hip(hipStreamAddCallback(NULL, NULL, NULL, 0), hipErrorInvalidValue);
	assert_hip(hipStreamAddCallback(NULL, count_status, NULL, 1), hipErrorInvalidValue);
}

static void test_events(void **state)
{
	(void)state;
	hipEvent_t start, stop, untimed;
	float ms = -1;

	assert_ok(hipEventCreate(&start));
	assert_ok(hipEventCreate(&stop));
	assert_ok(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
	assert_ok(hipEventQuery(start)); /* never recorded: complete */
	assert_ok(hipEventSynchronize(start));
	assert_hip(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle);
	assert_ok(hipEventRecord(start, NULL));
	assert_ok(hipEventRecord(stop, NULL));
	assert_ok(hipEventRecord(untimed, NULL));
	assert_ok(hipEventElapsedTime(&ms, start, stop));
	assert_true(ms > 0);
	assert_ok(hipEventElapsedTime(&ms, stop, start));
	assert_true(ms < 0);
	assert_ok(hipEventElapsedTime(&ms, start, start));
	assert_true(ms == 0); /* an event to itself: hip-tests, Unit_hipEvent */
	assert_hip(hipEventElapsedTime(&ms, start, untimed), hipErrorInvalidHandle);
	assert_hip(hipEventElapsedTime(NULL, start, stop), hipErrorInvalidValue);
	assert_ok(hipStreamWaitEvent(NULL, stop, 0));
	assert_hip(hipStreamWaitEvent(NULL, stop, 1), hipErrorInvalidValue);
	assert_ok(hipEventDestroy(stop));
	assert_hip(hipEventDestroy(stop), hipErrorInvalidHandle);
	assert_hip(hipEventRecord(stop, NULL), hipErrorInvalidHandle);
	assert_hip(hipStreamWaitEvent(NULL, stop, 0), hipErrorInvalidHandle);
	assert_hip(hipEventRecord(start, (hipStream_t)&ms), hipErrorInvalidHandle);
	assert_ok(hipEventDestroy(start));
	assert_ok(hipEventDestroy(untimed));
}

static void test_event_flags(void **state)
{
	(void)state;
	hipEvent_t event;

	assert_hip(hipEventCreateWithFlags(&event, 0x10), hipErrorInvalidValue);
	assert_hip(
		hipEventCreateWithFlags(&event, hipEventReleaseToDevice | hipEventReleaseToSystem),
		hipErrorInvalidValue);
	assert_hip(hipEventCreateWithFlags(&event, hipEventInterprocess), hipErrorInvalidValue);
	assert_hip(hipEventCreate(NULL), hipErrorInvalidValue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),	    cmocka_unit_test(test_stream_of_thread),
		cmocka_unit_test(test_callbacks),   cmocka_unit_test(test_events),
		cmocka_unit_test(test_event_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
