/* Graphs that programs build: their nodes, their edges, what a launch does and in which order. */
#include "api_fixture.h"

#include <stdint.h>

static char count_stub;
static void **code;

#define COUNT 64u

static int set_up(void **state)
{
	(void)state;
	code = register_code_object(OUR_TARGET);
	__hipRegisterFunction(code, &scale_stub, NULL, "_Z5scalePfj", 0, NULL, NULL, NULL, NULL,
			      NULL);
	__hipRegisterFunction(code, &count_stub, NULL, "_Z5countv", 0, NULL, NULL, NULL, NULL,
			      NULL);
	__hipRegisterVar(code, &counter_variable, NULL, "counter", 0, sizeof(int), 0, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unregister_code_object(code);
	return 0;
}

static float *numbers(void)
{
	float *data;

	assert_ok(hipMallocManaged((void **)&data, COUNT * sizeof(*data), hipMemAttachGlobal));
	for (unsigned i = 0; i < COUNT; i++)
		data[i] = 1;
	return data;
}

static hipGraphNode_t scale_node(hipGraph_t graph, const hipGraphNode_t *before, size_t count,
				 float *data)
{
	unsigned elements = COUNT;
	void *args[] = {&data, &elements};
	hipKernelNodeParams params = {
		.func = &scale_stub,
		.gridDim = {1, 1, 1},
		.blockDim = {COUNT, 1, 1},
		.kernelParams = args,
	};
	hipGraphNode_t node = NULL;

	assert_ok(hipGraphAddKernelNode(&node, graph, before, count, &params));
	return node;
}

static hipGraphExec_t ready(hipGraph_t graph)
{
	hipGraphExec_t exec = NULL;

	assert_ok(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	return exec;
}

static void launch(hipGraphExec_t exec)
{
	assert_ok(hipGraphLaunch(exec, NULL));
	assert_ok(hipDeviceSynchronize());
}

static char order[8];

static void note(void *what)
{
	strcat(order, what);
}

static hipHostNodeParams note_params(const char *what)
{
	return (hipHostNodeParams){note, (void *)(uintptr_t)what};
}

static hipGraphNode_t note_node(hipGraph_t graph, const hipGraphNode_t *before, size_t count,
				const char *what)
{
	hipHostNodeParams params = note_params(what);
	hipGraphNode_t node = NULL;

	assert_ok(hipGraphAddHostNode(&node, graph, before, count, &params));
	return node;
}

static void test_work_in_order(void **state)
{
	(void)state;
	float *data = numbers(), back[COUNT] = {0};
	hipMemsetParams zero = {.dst = data, .elementSize = 4, .height = 1, .width = 2};
	hipGraphNode_t fill, scale, copy;
	hipGraph_t graph;

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddMemsetNode(&fill, graph, NULL, 0, &zero));
	scale = scale_node(graph, &fill, 1, data);
	assert_ok(hipGraphAddMemcpyNode1D(&copy, graph, &scale, 1, back, data, sizeof(back),
					  hipMemcpyDeviceToHost));
	hipGraphExec_t exec = ready(graph);

	assert_ok(hipGraphDestroy(graph)); /* the executable is a copy */
	launch(exec);
	assert_true(back[0] == 0 && back[1] == 0 && back[2] == 2 && back[63] == 2);
	launch(exec);
	assert_true(back[1] == 0 && back[2] == 4);
	assert_ok(hipGraphExecDestroy(exec));
	assert_hip(hipGraphExecDestroy(exec), hipErrorInvalidValue);
	assert_hip(hipGraphLaunch(exec, NULL), hipErrorInvalidValue);
	assert_ok(hipFree(data));
}

static void test_each_waits_for_those_before(void **state)
{
	(void)state;
	hipGraph_t graph;
	hipGraphNode_t a, b, c, d;

	assert_ok(hipGraphCreate(&graph, 0));
	a = note_node(graph, NULL, 0, "a");
	b = note_node(graph, NULL, 0, "b");
	c = note_node(graph, &a, 1, "c");
	assert_ok(hipGraphAddEmptyNode(&d, graph, (hipGraphNode_t[]){b, c}, 2));
	assert_ok(hipGraphAddDependencies(graph, &b, &a, 1)); /* a waits for b, added later */
	hipGraphExec_t exec = ready(graph);

	order[0] = '\0';
	launch(exec);
	assert_string_equal(order, "bac");
	assert_ok(hipGraphAddDependencies(graph, &d, &b, 1)); /* in a ring */
	assert_hip(hipGraphInstantiate(&exec, graph, NULL, NULL, 0), hipErrorInvalidValue);
	assert_ok(hipGraphRemoveDependencies(graph, &d, &b, 1));
	assert_hip(hipGraphRemoveDependencies(graph, &d, &b, 1), hipErrorInvalidValue);
	assert_ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	assert_ok(hipGraphExecDestroy(exec));
	assert_hip(hipGraphInstantiateWithFlags(&exec, graph, 64), hipErrorInvalidValue);
	assert_ok(hipGraphDestroy(graph));
	assert_hip(hipGraphDestroy(graph), hipErrorInvalidValue);
}

static void test_edges(void **state)
{
	(void)state;
	hipGraph_t graph;
	hipGraphNode_t a, b, c, list[4], from[4], to[4];
	size_t count;
	hipGraphNodeType type;

	assert_ok(hipGraphCreate(&graph, 0));
	a = note_node(graph, NULL, 0, "a");
	b = note_node(graph, &a, 1, "b");
	c = note_node(graph, (hipGraphNode_t[]){a, b}, 2, "c");
	assert_ok(hipGraphGetNodes(graph, NULL, &count));
	assert_int_equal(count, 3);
	count = 4;
	assert_ok(hipGraphGetNodes(graph, list, &count));
	assert_int_equal(count, 3);
	assert_true(list[0] == a && list[1] == b && list[2] == c && !list[3]);
	count = 1;
	assert_ok(hipGraphGetRootNodes(graph, list, &count));
	assert_int_equal(count, 1);
	assert_ptr_equal(list[0], a);
	count = 4;
	assert_ok(hipGraphGetEdges(graph, from, to, &count));
	assert_int_equal(count, 3);
	assert_true(from[0] == a && to[0] == b && from[2] == b && to[2] == c);
	count = 4;
	assert_ok(hipGraphNodeGetDependencies(c, list, &count));
	assert_int_equal(count, 2);
	count = 4;
	assert_ok(hipGraphNodeGetDependentNodes(a, list, &count));
	assert_int_equal(count, 2);
	assert_ok(hipGraphNodeGetType(b, &type));
	assert_int_equal(type, hipGraphNodeTypeHost);
	assert_ok(hipGraphDestroyNode(b));
	assert_hip(hipGraphNodeGetType(b, &type), hipErrorInvalidValue);
	assert_ok(hipGraphGetEdges(graph, NULL, NULL, &count));
	assert_int_equal(count, 1);
	assert_hip(hipGraphGetEdges(graph, from, NULL, &count), hipErrorInvalidValue);
	assert_hip(hipGraphAddDependencies(graph, &a, &c, 1), hipErrorInvalidValue); /* twice */
	assert_hip(hipGraphAddDependencies(graph, &a, &a, 1), hipErrorInvalidValue);
	assert_hip(hipGraphGetNodes(NULL, list, &count), hipErrorInvalidValue);
	assert_ok(hipGraphDestroy(graph));
}

static void test_clone(void **state)
{
	(void)state;
	float *data = numbers();
	hipGraph_t graph, copy;
	hipGraphNode_t node, found;

	assert_ok(hipGraphCreate(&graph, 0));
	node = scale_node(graph, NULL, 0, data);
	assert_ok(hipGraphClone(&copy, graph));
	assert_ok(hipGraphNodeFindInClone(&found, node, copy));
	assert_ptr_not_equal(found, node);
	assert_hip(hipGraphNodeFindInClone(&found, node, NULL), hipErrorInvalidValue);
	assert_ok(hipGraphDestroy(graph));
	hipGraphExec_t exec = ready(copy);

	launch(exec);
	assert_true(data[5] == 2);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(copy));
	assert_hip(hipGraphClone(&copy, graph), hipErrorInvalidValue);
	assert_ok(hipFree(data));
}

static void test_kernel_params(void **state)
{
	(void)state;
	float *data = numbers(), *other = numbers();
	hipKernelNodeParams params, got;
	hipGraph_t graph;

	assert_ok(hipGraphCreate(&graph, 0));
	hipGraphNode_t node = scale_node(graph, NULL, 0, data);
	hipGraphExec_t exec = ready(graph);

	assert_ok(hipGraphKernelNodeGetParams(node, &got));
	assert_ptr_equal(got.func, &scale_stub);
	assert_int_equal(got.blockDim.x, COUNT);
	assert_ptr_equal(*(float **)got.kernelParams[0], data);
	params = got;
	params.kernelParams = (void *[]){&other, got.kernelParams[1]};
	assert_ok(hipGraphExecKernelNodeSetParams(exec, node, &params));
	launch(exec);
	assert_true(data[0] == 1 && other[0] == 2);
	assert_ok(hipGraphKernelNodeSetParams(node, &params));
	assert_ok(hipGraphKernelNodeGetParams(node, &got));
	assert_ptr_equal(*(float **)got.kernelParams[0], other);
	params.blockDim.x = 4096;
	assert_hip(hipGraphKernelNodeSetParams(node, &params), hipErrorInvalidConfiguration);
	params = got;
	params.func = &params;
	assert_hip(hipGraphKernelNodeSetParams(node, &params), hipErrorInvalidDeviceFunction);
	assert_hip(hipGraphKernelNodeSetParams(node, NULL), hipErrorInvalidValue);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipFree(data));
	assert_ok(hipFree(other));
}

static void test_arguments_in_one_buffer(void **state)
{
	(void)state;
	struct {
		float *data;
		unsigned count;
	} buffer = {numbers(), COUNT};
	size_t bytes = sizeof(buffer);
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, HIP_LAUNCH_PARAM_END};
	hipKernelNodeParams params = {
		.func = &scale_stub,
		.gridDim = {1, 1, 1},
		.blockDim = {COUNT, 1, 1},
		.extra = extra,
	};
	float *data = buffer.data;
	hipGraphNode_t node;
	hipGraph_t graph;

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddKernelNode(&node, graph, NULL, 0, &params));
	buffer.data = NULL; /* they were copied */
	hipGraphExec_t exec = ready(graph);

	launch(exec);
	assert_true(data[9] == 2);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipFree(data));
}

static void test_copies(void **state)
{
	(void)state;
	char to[16] = "", from[16] = "0123456789", other[16] = "abcdefghi";
	hipMemcpy3DParms box =
				 {
					 .srcPtr = {from, 4, 4, 2},
					 .dstPtr = {to, 8, 8, 2},
					 .extent = {4, 2, 1},
					 .kind = hipMemcpyHostToHost,
				 },
			 got;
	hipGraphNode_t node, line;
	hipGraph_t graph;

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
	assert_ok(hipGraphMemcpyNodeGetParams(node, &got));
	assert_ptr_equal(got.srcPtr.ptr, from);
	hipGraphExec_t exec = ready(graph);

	launch(exec);
	assert_memory_equal(to, "0123\0\0\0\0004567", 12);
	box.srcPtr.ptr = other;
	assert_ok(hipGraphExecMemcpyNodeSetParams(exec, node, &box));
	launch(exec);
	assert_memory_equal(to, "abcd\0\0\0\0efgh", 12);
	assert_ok(hipGraphMemcpyNodeSetParams(node, &box));
	assert_ok(hipGraphMemcpyNodeGetParams(node, &got));
	assert_ptr_equal(got.srcPtr.ptr, other);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(
		hipGraphAddMemcpyNode1D(&line, graph, &node, 1, to, from, 3, hipMemcpyHostToHost));
	assert_ok(hipGraphMemcpyNodeSetParams1D(line, to, from + 1, 2, hipMemcpyHostToHost));
	exec = ready(graph);
	assert_ok(hipGraphExecMemcpyNodeSetParams1D(exec, line, to, from + 5, 2,
						    hipMemcpyHostToHost));
	launch(exec);
	assert_memory_equal(to, "56cd", 4);
	assert_hip(hipGraphAddMemcpyNode1D(&line, graph, NULL, 0, to, NULL, 3, hipMemcpyHostToHost),
		   hipErrorInvalidValue);
	assert_hip(hipGraphAddMemcpyNode1D(&line, graph, NULL, 0, to, from, 3, (hipMemcpyKind)9),
		   hipErrorInvalidMemcpyDirection);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
}

static void test_symbols(void **state)
{
	(void)state;
	int five = 5, nine = 9, got = 0, other = 0;
	hipGraphNode_t to, from;
	hipGraph_t graph;

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, &counter_variable, &nine,
						sizeof(int), 0, hipMemcpyHostToDevice));
	assert_ok(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, &got, &counter_variable,
						  sizeof(int), 0, hipMemcpyDeviceToHost));
	hipGraphExec_t exec = ready(graph);

	launch(exec);
	assert_int_equal(got, 9);
	assert_ok(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, &counter_variable, &five,
							  sizeof(int), 0, hipMemcpyHostToDevice));
	assert_ok(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, &other, &counter_variable,
							    sizeof(int), 0, hipMemcpyDeviceToHost));
	launch(exec);
	assert_int_equal(other, 5);
	assert_ok(hipGraphMemcpyNodeSetParamsToSymbol(to, &counter_variable, &five, sizeof(int), 0,
						      hipMemcpyHostToDevice));
	assert_ok(hipGraphMemcpyNodeSetParamsFromSymbol(from, &other, &counter_variable,
							sizeof(int), 0, hipMemcpyDeviceToHost));
	assert_hip(hipGraphMemcpyNodeSetParamsToSymbol(to, &counter_variable, &five, 8, 0,
						       hipMemcpyHostToDevice),
		   hipErrorInvalidValue);
	assert_hip(hipGraphMemcpyNodeSetParamsFromSymbol(from, &other, &graph, 4, 0,
							 hipMemcpyDeviceToHost),
		   hipErrorInvalidSymbol);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
}

static void test_fills(void **state)
{
	(void)state;
	unsigned char *data = (unsigned char *)numbers();
	hipMemsetParams params = {.dst = data,
				  .elementSize = 2,
				  .height = 2,
				  .pitch = 8,
				  .value = 0x0102,
				  .width = 2},
			got;
	hipGraphNode_t node;
	hipGraph_t graph;

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddMemsetNode(&node, graph, NULL, 0, &params));
	hipGraphExec_t exec = ready(graph);

	launch(exec);
	assert_int_equal(data[0], 2);
	assert_int_equal(data[1], 1);
	assert_int_equal(data[8], 2);
	assert_int_equal(data[4], 0); /* 1.0f, as it was */
	assert_ok(hipGraphMemsetNodeGetParams(node, &got));
	assert_int_equal(got.value, 0x0102);
	params.value = 0x0304;
	assert_ok(hipGraphExecMemsetNodeSetParams(exec, node, &params));
	launch(exec);
	assert_int_equal(data[0], 4);
	assert_ok(hipGraphMemsetNodeSetParams(node, &params));
	params.elementSize = 3;
	assert_hip(hipGraphMemsetNodeSetParams(node, &params), hipErrorInvalidValue);
	params.elementSize = 1;
	params.dst = &params;
	assert_hip(hipGraphMemsetNodeSetParams(node, &params), hipErrorInvalidValue);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipFree(data));
}

static void test_host_functions(void **state)
{
	(void)state;
	hipHostNodeParams params = note_params("x"), got;
	hipGraph_t graph;

	assert_ok(hipGraphCreate(&graph, 0));
	hipGraphNode_t node = note_node(graph, NULL, 0, "y");
	hipGraphExec_t exec = ready(graph);

	assert_ok(hipGraphExecHostNodeSetParams(exec, node, &params));
	order[0] = '\0';
	launch(exec);
	assert_string_equal(order, "x");
	assert_ok(hipGraphHostNodeSetParams(node, &params));
	assert_ok(hipGraphHostNodeGetParams(node, &got));
	assert_ptr_equal(got.userData, params.userData);
	params.fn = NULL;
	assert_hip(hipGraphHostNodeSetParams(node, &params), hipErrorInvalidValue);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
}

static void test_children(void **state)
{
	(void)state;
	hipGraph_t graph, child, other, got;
	hipGraphNode_t node;

	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphCreate(&child, 0));
	note_node(child, NULL, 0, "c");
	assert_ok(hipGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	note_node(graph, &node, 1, "p");
	assert_ok(hipGraphDestroy(child)); /* was copied */
	assert_ok(hipGraphChildGraphNodeGetGraph(node, &got));
	assert_hip(hipGraphDestroy(got), hipErrorInvalidValue); /* belongs to the node */
	hipGraphExec_t exec = ready(graph);

	order[0] = '\0';
	launch(exec);
	assert_string_equal(order, "cp");
	assert_ok(hipGraphCreate(&other, 0));
	note_node(other, NULL, 0, "o");
	assert_ok(hipGraphExecChildGraphNodeSetParams(exec, node, other));
	launch(exec);
	assert_string_equal(order, "cpop");
	assert_hip(hipGraphAddChildGraphNode(&node, graph, NULL, 0, graph), hipErrorInvalidValue);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(other));
	assert_ok(hipGraphDestroy(graph));
}

static void test_events(void **state)
{
	(void)state;
	hipEvent_t start, stop, got;
	hipGraphNode_t record, wait;
	hipGraph_t graph;
	float ms = 0;

	assert_ok(hipEventCreate(&start));
	assert_ok(hipEventCreate(&stop));
	assert_ok(hipEventRecord(start, NULL));
	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphAddEventWaitNode(&wait, graph, NULL, 0, start));
	assert_ok(hipGraphAddEventRecordNode(&record, graph, &wait, 1, start));
	assert_ok(hipGraphEventRecordNodeSetEvent(record, stop));
	assert_ok(hipGraphEventRecordNodeGetEvent(record, &got));
	assert_ptr_equal(got, stop);
	assert_ok(hipGraphEventWaitNodeGetEvent(wait, &got));
	assert_ptr_equal(got, start);
	assert_ok(hipGraphEventWaitNodeSetEvent(wait, start));
	assert_hip(hipGraphEventWaitNodeSetEvent(wait, NULL), hipErrorInvalidHandle);
	assert_hip(hipGraphEventWaitNodeGetEvent(record, &got), hipErrorInvalidValue);
	hipGraphExec_t exec = ready(graph);

	assert_hip(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle);
	launch(exec);
	assert_ok(hipEventElapsedTime(&ms, start, stop));
	assert_true(ms > 0);
	assert_ok(hipGraphExecEventRecordNodeSetEvent(exec, record, start));
	assert_ok(hipGraphExecEventWaitNodeSetEvent(exec, wait, stop));
	launch(exec);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipEventDestroy(start));
	assert_ok(hipEventDestroy(stop));
}

static void test_update(void **state)
{
	(void)state;
	float *data = numbers(), *other = numbers();
	hipGraph_t graph, changed;
	hipGraphNode_t node, error_node;
	hipGraphExecUpdateResult result;

	assert_ok(hipGraphCreate(&graph, 0));
	node = scale_node(graph, NULL, 0, data);
	hipGraphExec_t exec = ready(graph);

	assert_ok(hipGraphCreate(&changed, 0));
	scale_node(changed, NULL, 0, other);
	assert_ok(hipGraphExecUpdate(exec, changed, &error_node, &result));
	assert_int_equal(result, hipGraphExecUpdateSuccess);
	launch(exec);
	assert_true(data[0] == 1 && other[0] == 2);
	hipKernelNodeParams params;

	assert_ok(hipGraphKernelNodeGetParams(node, &params)); /* still names its node */
	assert_ok(hipGraphExecKernelNodeSetParams(exec, node, &params));
	params.func = &count_stub;
	assert_ok(hipGraphNodeGetDependencies(node, NULL, &(size_t){0}));
	note_node(changed, NULL, 0, "n");
	assert_hip(hipGraphExecUpdate(exec, changed, &error_node, &result),
		   hipErrorGraphExecUpdateFailure);
	assert_int_equal(result, hipGraphExecUpdateErrorTopologyChanged);
	assert_ok(hipGraphDestroy(changed));
	assert_ok(hipGraphCreate(&changed, 0));
	node = note_node(changed, NULL, 0, "n");
	assert_hip(hipGraphExecUpdate(exec, changed, &error_node, &result),
		   hipErrorGraphExecUpdateFailure);
	assert_int_equal(result, hipGraphExecUpdateErrorNodeTypeChanged);
	assert_ptr_equal(error_node, node);
	assert_hip(hipGraphExecUpdate(exec, changed, NULL, &result), hipErrorInvalidValue);
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(changed));
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipFree(data));
	assert_ok(hipFree(other));
}

/* More than any table of theirs has places: each is found, also in a copy, and those that are gone not. */
static void test_many_nodes(void **state)
{
	enum { NODES = 3000 };
	static hipGraphNode_t nodes[NODES];
	hipGraph_t graph, clone;
	hipGraphNode_t found, other;
	hipGraphExec_t exec;
	hipGraphNodeType type;

	(void)state;
	assert_ok(hipGraphCreate(&graph, 0));
	for (int i = 0; i < NODES; i++)
		assert_ok(hipGraphAddEmptyNode(&nodes[i], graph, nodes + i - 1, i > 0));
	assert_ok(hipGraphClone(&clone, graph));
	for (int i = 0; i < NODES; i++) {
		size_t before = 1;

		assert_ok(hipGraphNodeFindInClone(&found, nodes[i], clone));
		assert_ok(hipGraphNodeGetDependencies(found, &other, &before));
		assert_int_equal(before, i > 0);
	}
	for (int i = 0; i < NODES; i += 2)
		assert_ok(hipGraphDestroyNode(nodes[i]));
	for (int i = 0; i < NODES; i += 2) {
		assert_hip(hipGraphNodeGetType(nodes[i], &type), hipErrorInvalidValue);
		assert_ok(hipGraphNodeGetType(nodes[i + 1], &type));
	}
	assert_ok(hipGraphInstantiate(&exec, clone, NULL, NULL, 0));
	assert_ok(hipGraphLaunch(exec, NULL));
	assert_ok(hipGraphExecDestroy(exec));
	assert_ok(hipGraphDestroy(graph));
	assert_hip(hipGraphNodeGetType(nodes[1], &type), hipErrorInvalidValue);
	assert_ok(hipGraphDestroy(clone));
}

static void test_wrong_use(void **state)
{
	(void)state;
	hipHostNodeParams params = note_params("x");
	hipGraph_t graph, other;
	hipGraphNode_t node, foreign;

	assert_hip(hipGraphCreate(NULL, 0), hipErrorInvalidValue);
	assert_hip(hipGraphCreate(&graph, 1), hipErrorInvalidValue);
	assert_ok(hipGraphCreate(&graph, 0));
	assert_ok(hipGraphCreate(&other, 0));
	foreign = note_node(other, NULL, 0, "f");
	assert_hip(hipGraphAddHostNode(&node, graph, &foreign, 1, &params), hipErrorInvalidValue);
	assert_hip(hipGraphAddHostNode(&node, graph, NULL, 1, &params), hipErrorInvalidValue);
	assert_hip(hipGraphAddHostNode(&node, NULL, NULL, 0, &params), hipErrorInvalidValue);
	assert_hip(hipGraphAddHostNode(NULL, graph, NULL, 0, &params), hipErrorInvalidValue);
	assert_hip(hipGraphAddHostNode(&node, graph, NULL, 0, NULL), hipErrorInvalidValue);
	assert_hip(hipGraphAddKernelNode(&node, graph, NULL, 0, NULL), hipErrorInvalidValue);
	assert_hip(hipGraphAddMemsetNode(&node, graph, NULL, 0, NULL), hipErrorInvalidValue);
	assert_hip(hipGraphAddMemcpyNode(&node, graph, NULL, 0, NULL), hipErrorInvalidValue);
	assert_hip(hipGraphAddEventRecordNode(&node, graph, NULL, 0, NULL), hipErrorInvalidHandle);
	size_t count;

	assert_ok(hipGraphGetNodes(graph, NULL, &count));
	assert_int_equal(count, 0); /* none of them left anything behind */
	assert_hip(hipGraphDestroyNode(NULL), hipErrorInvalidValue);
	assert_hip(hipGraphInstantiate(NULL, graph, NULL, NULL, 0), hipErrorInvalidValue);
	assert_ok(hipGraphDestroy(graph));
	assert_ok(hipGraphDestroy(other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_in_order),
		cmocka_unit_test(test_each_waits_for_those_before),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_clone),
		cmocka_unit_test(test_kernel_params),
		cmocka_unit_test(test_arguments_in_one_buffer),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_fills),
		cmocka_unit_test(test_host_functions),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_many_nodes),
		cmocka_unit_test(test_wrong_use),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
