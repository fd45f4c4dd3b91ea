#include "api_fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(hipGetErrorName(hipSuccess), "hipSuccess");
	assert_string_equal(hipGetErrorString(hipSuccess), "no error");
	assert_string_equal(hipGetErrorName(hipErrorMemoryAllocation), "hipErrorOutOfMemory");
	assert_string_equal(hipGetErrorString(hipErrorOutOfMemory), "out of memory");
	assert_string_equal(hipGetErrorName(hipErrorNoBinaryForGpu), "hipErrorNoBinaryForGpu");
	assert_string_equal(hipGetErrorName(hipErrorGraphExecUpdateFailure),
			    "hipErrorGraphExecUpdateFailure");
	assert_string_equal(hipGetErrorName(hipErrorTbd), "hipErrorTbd");
	assert_string_equal(hipGetErrorName((hipError_t)123456), "hipErrorUnknown");
	assert_string_equal(hipGetErrorString((hipError_t)-1), "unknown error");
}

static void test_last_error(void **state)
{
	(void)state;
	int count;

	hipGetLastError();
	assert_hip(hipMalloc(NULL, 4), hipErrorInvalidValue);
	assert_ok(hipGetDeviceCount(&count)); /* a success does not hide it */
	assert_hip(hipPeekAtLastError(), hipErrorInvalidValue);
	assert_hip(hipGetLastError(), hipErrorInvalidValue);
	assert_ok(hipGetLastError());
	assert_hip(hipMalloc(NULL, 4), hipErrorInvalidValue);
	assert_hip(hipSetDevice(7), hipErrorInvalidDevice);
	assert_hip(hipGetLastError(), hipErrorInvalidDevice);
}

static void *last_error_of_thread(void *unused)
{
	(void)unused;
	hipError_t first = hipGetLastError();

	return first || hipSetDevice(-1) != hipErrorInvalidDevice ? (void *)1 : NULL;
}

static void test_threads_have_their_own(void **state)
{
	(void)state;
	pthread_t thread;
	void *failed;

	hipGetLastError();
	assert_hip(hipMalloc(NULL, 4), hipErrorInvalidValue);
	assert_int_equal(pthread_create(&thread, NULL, last_error_of_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_hip(hipGetLastError(), hipErrorInvalidValue);
}

static void call_refused(void)
{
	void *memory = NULL;

	assert_hip(hipIpcCloseMemHandle(memory), hipErrorNotSupported);
	assert_hip(hipIpcCloseMemHandle(memory), hipErrorNotSupported);
}

static void test_refusal_is_said_once(void **state)
{
	(void)state;
	char *said = stderr_of(call_refused);

	assert_string_equal(said, "umtrace: hipIpcCloseMemHandle is not supported without a GPU "
				  "(hipErrorNotSupported): memory of the emulated device belongs "
				  "to one process\n");
	assert_hip(hipGetLastError(), hipErrorNotSupported);
	free(said);
}

/* HIP works in the child of a fork, with memory of its own. */
static int use_as_child(void)
{
	int *p;

	if (hipMallocManaged((void **)&p, 4, hipMemAttachGlobal))
		return 1;
	*p = 4;
	return hipMemset(p, 0, 4) || *p || hipFree(p) ? 2 : 0;
}

static void test_fork(void **state)
{
	(void)state;
	int *p, status;

	assert_ok(hipMallocManaged((void **)&p, 4, hipMemAttachGlobal));
	*p = 6;
	pid_t child = fork();

	if (!child)
		_exit(use_as_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(*p, 6);
	assert_ok(hipFree(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_last_error),
		cmocka_unit_test(test_threads_have_their_own),
		cmocka_unit_test(test_refusal_is_said_once),
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
