/* What is asked for on a stream that captures becomes a graph. */
#include "api_fixture.h"

#include <pthread.h>

static void scale(float *data, hipStream_t stream)
{
	unsigned count = 64;
	void *args[] = {&data, &count};

	assert_ok(hipLaunchKernel(&scale_stub, (dim3){1, 1, 1}, (dim3){64, 1, 1}, args, 0, stream));
}

static hipStream_t capturing(hipStreamCaptureMode mode)
{
	hipStream_t stream;

	assert_ok(hipStreamCreate(&stream));
	assert_ok(hipStreamBeginCapture(stream, mode));
	return stream;
}

static hipStreamCaptureStatus status_of(hipStream_t stream)
{
	hipStreamCaptureStatus status;

	assert_ok(hipStreamIsCapturing(stream, &status));
	return status;
}

static size_t nodes_of(hipGraph_t graph)
{
	size_t count;

	assert_ok(hipGraphGetNodes(graph, NULL, &count));
	return count;
}

static void add_one(void *number)
{
	++*(int *)number;
}

static void test_a_stream_is_replayed(void **state)
{
	(void)state;
	float *data, back[64] = {0};
	int calls = 0;
	hipGraph_t graph;
	hipGraphExec_t exec;

	assert_ok(hipMallocManaged((void **)&data, sizeof(back), hipMemAttachGlobal));
	for (int i = 0; i < 64; i++)
		data[i] = 1;
	hipStream_t stream = capturing(hipStreamCaptureModeGlobal);

	assert_ok(hipMemsetAsync(data + 1, 0, 4, stream));
	scale(data, stream);
	scale(data, stream);
	assert_ok(hipLaunchHostFunc(stream, add_one, &calls));
	assert_ok(hipMemcpyAsync(back, data, sizeof(back), hipMemcpyDeviceToHost, stream));
	assert_int_equal(status_of(stream), hipStreamCaptureStatusActive);
	assert_ok(hipStreamEndCapture(stream, &graph));
	assert_int_equal(status_of(stream), hipStreamCaptureStatusNone);
	assert_true(data[0] == 1 && data[1] == 1 && !calls && !back[0]); /* nothing ran */
	assert_int_equal(nodes_of(graph), 5);
	assert_ok(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	assert_ok(hipGraphLaunch(exec, stream));
	assert_ok(hipStreamSynchronize(stream));
	assert_true(back[0] == 4 && back[1] == 0 && calls == 1);
	assert_ok(hipGraphLaunch(exec, stream));
	assert_true(back[0] == 16 && calls == 2);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipStreamDestroy(stream));
	assert_ok(hipFree(data));
}

/* Another stream joins by waiting for an event, and is waited for in turn. */
static void test_fork_and_join(void **state)
{
	(void)state;
	int left = 0, right = 0;
	hipStream_t stream = capturing(hipStreamCaptureModeGlobal), other;
	hipEvent_t fork, join;
	hipGraph_t graph;
	size_t edges;

	assert_ok(hipStreamCreate(&other));
	assert_ok(hipEventCreate(&fork));
	assert_ok(hipEventCreate(&join));
	assert_ok(hipLaunchHostFunc(stream, add_one, &left));
	assert_ok(hipEventRecord(fork, stream));
	assert_ok(hipStreamWaitEvent(other, fork, 0));
	assert_int_equal(status_of(other), hipStreamCaptureStatusActive);
	assert_ok(hipLaunchHostFunc(other, add_one, &right));
	assert_ok(hipLaunchHostFunc(stream, add_one, &left));
	assert_ok(hipEventRecord(join, other));
	assert_ok(hipStreamWaitEvent(stream, join, 0));
	assert_ok(hipLaunchHostFunc(stream, add_one, &left));
	assert_ok(hipStreamEndCapture(stream, &graph));
	assert_int_equal(status_of(other), hipStreamCaptureStatusNone);
	assert_int_equal(nodes_of(graph), 4);
	assert_ok(hipGraphGetEdges(graph, NULL, NULL, &edges));
	assert_int_equal(edges, 4); /* a diamond */
	assert_hip(hipEventQuery(fork), hipErrorCapturedEvent);
	assert_hip(hipStreamWaitEvent(other, fork, 0), hipErrorCapturedEvent);
	assert_ok(hipEventRecord(fork, other)); /* used anew */
	assert_ok(hipEventSynchronize(fork));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipEventDestroy(fork));
	assert_ok(hipEventDestroy(join));
	assert_ok(hipStreamDestroy(other));
	assert_ok(hipStreamDestroy(stream));
}

static void test_unjoined(void **state)
{
	(void)state;
	int calls = 0;
	hipStream_t stream = capturing(hipStreamCaptureModeGlobal), other;
	hipEvent_t fork;
	hipGraph_t graph;

	assert_ok(hipStreamCreate(&other));
	assert_ok(hipEventCreate(&fork));
	assert_ok(hipEventRecord(fork, stream));
	assert_ok(hipStreamWaitEvent(other, fork, 0));
	assert_ok(hipLaunchHostFunc(other, add_one, &calls));
	assert_hip(hipStreamEndCapture(other, &graph), hipErrorStreamCaptureUnmatched);
	assert_hip(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
	assert_null(graph);
	assert_ok(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	assert_ok(hipEventRecord(fork, stream));
	assert_ok(hipStreamWaitEvent(other, fork, 0));
	assert_ok(hipLaunchHostFunc(other, add_one, &calls));
	assert_hip(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureUnjoined);
	assert_ok(hipEventDestroy(fork));
	assert_ok(hipStreamDestroy(other));
	assert_ok(hipStreamDestroy(stream));
}

/* Each makes the capture invalid, which its end tells. */
static void test_what_is_forbidden(void **state)
{
	(void)state;
	static const hipError_t expected[] = {
		hipErrorStreamCaptureUnsupported,
		hipErrorStreamCaptureUnsupported,
		hipErrorStreamCaptureImplicit,
		hipErrorStreamCaptureUnsupported,
		hipErrorStreamCaptureUnsupported,
		hipErrorStreamCaptureUnsupported,
		hipErrorCapturedEvent,
		hipErrorStreamCaptureIsolation,
	};
	hipEvent_t event, outside;
	hipGraph_t graph;
	void *memory;

	assert_ok(hipEventCreate(&event));
	assert_ok(hipEventCreate(&outside));
	for (unsigned i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		hipError_t got = hipSuccess;
		hipStream_t stream = capturing(hipStreamCaptureModeGlobal);

		assert_ok(hipEventRecord(event, stream));
		switch (i) {
		case 0:
			got = hipStreamSynchronize(stream);
			break;
		case 1:
			got = hipDeviceSynchronize();
			break;
		case 2:
			got = hipMemcpy(&memory, &event, 1, hipMemcpyHostToHost);
			break;
		case 3:
			got = hipMalloc(&memory, 16);
			break;
		case 4:
			got = hipMallocAsync(&memory, 16, stream);
			break;
		case 5:
			got = hipStreamQuery(stream);
			break;
		case 6:
			got = hipEventSynchronize(event);
			break;
		default:
			got = hipStreamWaitEvent(stream, outside, 0);
		}
		assert_string_equal(hipGetErrorName(got), hipGetErrorName(expected[i]));
		assert_int_equal(status_of(stream), hipStreamCaptureStatusInvalidated);
		assert_hip(hipMemcpyAsync(&memory, &event, 1, hipMemcpyHostToHost, stream),
			   hipErrorStreamCaptureInvalidated);
		assert_hip(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
		assert_ok(hipStreamDestroy(stream));
	}
	assert_ok(hipEventDestroy(event));
	assert_ok(hipEventDestroy(outside));
}

static void test_relaxed(void **state)
{
	(void)state;
	hipStream_t stream = capturing(hipStreamCaptureModeRelaxed);
	hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
	hipGraph_t graph;
	void *memory;

	assert_ok(hipMalloc(&memory, 16));
	assert_ok(hipFree(memory));
	assert_ok(hipStreamEndCapture(stream, &graph));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, hipStreamCaptureModeGlobal);
	assert_ok(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	assert_ok(hipMalloc(&memory, 16)); /* as the thread wishes */
	assert_ok(hipFree(memory));
	assert_ok(hipThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, hipStreamCaptureModeRelaxed);
	assert_ok(hipStreamEndCapture(stream, &graph));
	assert_ok(hipGraphDestroy(graph));
	mode = (hipStreamCaptureMode)3;
	assert_hip(hipThreadExchangeStreamCaptureMode(&mode), hipErrorInvalidValue);
	assert_ok(hipStreamDestroy(stream));
}

static void *end_here(void *stream)
{
	hipGraph_t graph;

	return (void *)(intptr_t)hipStreamEndCapture(stream, &graph);
}

static void test_threads(void **state)
{
	(void)state;
	hipStream_t stream = capturing(hipStreamCaptureModeThreadLocal);
	pthread_t thread;
	hipGraph_t graph;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, end_here, stream), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_hip((hipError_t)(intptr_t)result, hipErrorStreamCaptureWrongThread);
	assert_ok(hipStreamEndCapture(stream, &graph));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipStreamDestroy(stream));
}

static void test_info(void **state)
{
	(void)state;
	int calls = 0;
	hipStreamCaptureStatus status;
	unsigned long long first, second;
	hipStream_t stream = capturing(hipStreamCaptureModeGlobal);
	hipGraph_t graph, ended;
	const hipGraphNode_t *tips;
	hipGraphNode_t tip, extra;
	size_t count;

	assert_ok(hipStreamGetCaptureInfo(stream, &status, &first));
	assert_ok(hipLaunchHostFunc(stream, add_one, &calls));
	assert_ok(hipStreamGetCaptureInfo_v2(stream, &status, &second, &graph, &tips, &count));
	assert_int_equal(status, hipStreamCaptureStatusActive);
	assert_int_equal(first, second);
	assert_int_equal(count, 1);
	tip = tips[0];
	assert_ok(hipGraphAddEmptyNode(&extra, graph, &tip, 1));
	assert_ok(hipStreamUpdateCaptureDependencies(stream, &extra, 1,
						     hipStreamSetCaptureDependencies));
	assert_ok(hipStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &tips, &count));
	assert_int_equal(count, 1);
	assert_ptr_equal(tips[0], extra);
	assert_ok(hipStreamUpdateCaptureDependencies(stream, &tip, 1,
						     hipStreamAddCaptureDependencies));
	assert_ok(hipStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &tips, &count));
	assert_int_equal(count, 2);
	assert_hip(hipStreamUpdateCaptureDependencies(stream, NULL, 1, 0), hipErrorInvalidValue);
	assert_hip(hipStreamUpdateCaptureDependencies(stream, &tip, 1, 7), hipErrorInvalidValue);
	assert_ok(hipStreamEndCapture(stream, &ended));
	assert_ptr_equal(ended, graph);
	assert_hip(hipStreamUpdateCaptureDependencies(stream, &tip, 1, 0), hipErrorIllegalState);
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipStreamDestroy(stream));
}

static void test_graph_in_a_capture(void **state)
{
	(void)state;
	int calls = 0;
	hipStream_t stream = capturing(hipStreamCaptureModeGlobal);
	hipGraph_t inner, outer;
	hipGraphExec_t exec;

	assert_ok(hipLaunchHostFunc(stream, add_one, &calls));
	assert_ok(hipStreamEndCapture(stream, &inner));
	assert_ok(hipGraphInstantiate(&exec, inner, NULL, NULL, 0));
	assert_ok(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	assert_ok(hipGraphLaunch(exec, stream));
	assert_ok(hipGraphLaunch(exec, stream));
	assert_ok(hipStreamEndCapture(stream, &outer));
	assert_ok(hipGraphExecDestroy(exec));
	assert_int_equal(calls, 0);
	assert_ok(hipGraphInstantiate(&exec, outer, NULL, NULL, 0));
	assert_ok(hipGraphLaunch(exec, NULL));
	assert_int_equal(calls, 2);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(inner));
	assert_ok(hipGraphDestroy(outer));
	assert_ok(hipStreamDestroy(stream));
}

static void test_wrong_use(void **state)
{
	(void)state;
	hipStream_t stream, other = capturing(hipStreamCaptureModeRelaxed);
	hipGraph_t graph;
	hipStreamCaptureStatus status;

	assert_ok(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	assert_hip(hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal),
		   hipErrorStreamCaptureUnsupported);
	assert_hip(hipStreamBeginCapture(stream, (hipStreamCaptureMode)3), hipErrorInvalidValue);
	assert_hip(hipStreamBeginCapture((hipStream_t)&graph, hipStreamCaptureModeGlobal),
		   hipErrorInvalidHandle);
	assert_hip(hipStreamBeginCapture(other, hipStreamCaptureModeGlobal), hipErrorIllegalState);
	assert_hip(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
	assert_hip(hipStreamEndCapture(stream, NULL), hipErrorInvalidValue);
	assert_hip(hipStreamIsCapturing(NULL, &status), hipErrorStreamCaptureImplicit);
	assert_ok(hipStreamDestroy(other)); /* the capture goes with it */
	assert_ok(hipStreamIsCapturing(NULL, &status));
	assert_hip(hipStreamIsCapturing(NULL, NULL), hipErrorInvalidValue);
	assert_ok(hipStreamDestroy(stream));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stream_is_replayed),
		cmocka_unit_test(test_fork_and_join),
		cmocka_unit_test(test_unjoined),
		cmocka_unit_test(test_what_is_forbidden),
		cmocka_unit_test(test_relaxed),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_graph_in_a_capture),
		cmocka_unit_test(test_wrong_use),
	};

	return cmocka_run_group_tests(tests, set_up_code, tear_down_code);
}
