/* Graphs that are ready to run: copies, so that what becomes of the original does not matter. */
#include "api_newer.h"
#include "capture.h"
#include "graph_content.h"
#include "hip6_translate.h"

#include <stdlib.h>

struct um_graph_exec {
	struct um_graph_exec *next;
	struct um_graph *graph;
};

static struct um_graph_exec *all;

static struct um_graph_exec *find(hipGraphExec_t handle)
{
	for (struct um_graph_exec *exec = all; exec; exec = exec->next)
		if ((hipGraphExec_t)exec == handle)
			return exec;
	return NULL;
}

static hipError_t make(hipGraphExec_t *out, const struct um_graph *graph)
{
	struct um_graph_exec *exec = calloc(1, sizeof(*exec));

	if (exec)
		exec->graph = um_graph_copy(graph, true);
	if (!exec || !exec->graph) {
		free(exec);
		return hipErrorOutOfMemory;
	}
	exec->next = all;
	all = exec;
	*out = (hipGraphExec_t)exec;
	return hipSuccess;
}

/* Nodes that wait for each other are an error, here at the latest. */
static hipError_t instantiate(hipGraphExec_t *out, hipGraph_t handle)
{
	struct um_graph *graph = um_graph_find(handle);
	struct um_node **order;

	if (!out || !graph)
		return hipErrorInvalidValue;
	hipError_t error = um_graph_order(&order, graph);

	if (error)
		return error;
	free(order);
	return make(out, graph);
}

hipError_t hipGraphInstantiate(hipGraphExec_t *out, hipGraph_t graph, hipGraphNode_t *error_node,
			       char *log, size_t log_bytes)
{
	if (error_node)
		*error_node = NULL;
	if (log && log_bytes)
		*log = '\0';
	UM_ENTER();
	return um_leave(instantiate(out, graph));
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *out, hipGraph_t graph,
					unsigned long long flags)
{
	UM_ENTER();
	/* The flag is about memory that graphs allocate, and HIP 5.2 has no such nodes. */
	return um_leave(flags & ~(unsigned long long)hipGraphInstantiateFlagAutoFreeOnLaunch
				? hipErrorInvalidValue
				: instantiate(out, graph));
}

/* There is nothing to bring to a device before a launch. */
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream)
{
	struct um_stream *found;

	UM_ENTER();
	hipError_t error = um_stream_find(&found, stream);

	return um_leave(error || find(exec) ? error : hipErrorInvalidValue);
}

static hipError_t launch(hipGraphExec_t handle, hipStream_t stream)
{
	const struct um_graph_exec *exec = find(handle);
	bool captures;

	if (!exec)
		return hipErrorInvalidValue;
	hipError_t error = um_capture_asks(&captures, stream, true);

	if (error)
		return error;
	return captures ? um_capture_graph(stream, exec->graph) : um_graph_run(exec->graph, stream);
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(launch(exec, stream));
}

static hipError_t destroy(hipGraphExec_t handle)
{
	struct um_graph_exec *exec = find(handle);
	struct um_graph_exec **link = &all;

	if (!exec)
		return hipErrorInvalidValue;
	while (*link != exec)
		link = &(*link)->next;
	*link = exec->next;
	um_graph_free(exec->graph);
	free(exec);
	return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec)
{
	UM_ENTER();
	return um_leave(destroy(exec));
}

/* --- changes --- */

/* Node by node in the order in which they were added, as AMD's and NVIDIA's do. */
static hipGraphExecUpdateResult compare_node(const struct um_node *is, const struct um_node *wanted)
{
	if (is->type != wanted->type)
		return hipGraphExecUpdateErrorNodeTypeChanged;
	if (is->before_count != wanted->before_count)
		return hipGraphExecUpdateErrorTopologyChanged;
	if (is->type == hipGraphNodeTypeKernel &&
	    is->kernel.launch.function != wanted->kernel.launch.function)
		return hipGraphExecUpdateErrorFunctionChanged;
	return hipGraphExecUpdateSuccess;
}

static hipGraphExecUpdateResult compare(const struct um_node **at, const struct um_graph *is,
					const struct um_graph *wanted)
{
	const struct um_node *a = is->first, *b = wanted->first;

	*at = NULL;
	if (is->count != wanted->count)
		return hipGraphExecUpdateErrorTopologyChanged;
	for (; a; a = a->next, b = b->next) {
		hipGraphExecUpdateResult result = compare_node(a, b);

		*at = b;
		if (result)
			return result;
	}
	return hipGraphExecUpdateSuccess;
}

static hipError_t replace(struct um_graph_exec *exec, const struct um_graph *graph)
{
	struct um_graph *copy = um_graph_copy(graph, true);

	if (!copy)
		return hipErrorOutOfMemory;
	/* Calls go on to name its nodes by those of the graph that it was made from. */
	um_graph_number_as(copy, exec->graph);
	um_graph_free(exec->graph);
	exec->graph = copy;
	return hipSuccess;
}

static hipError_t update(hipGraphExec_t handle, hipGraph_t graph_handle, hipGraphNode_t *error_node,
			 hipGraphExecUpdateResult *result)
{
	struct um_graph_exec *exec = find(handle);
	const struct um_graph *graph = um_graph_find(graph_handle);
	const struct um_node *at;

	if (!exec || !graph || !error_node || !result)
		return hipErrorInvalidValue;
	*result = compare(&at, exec->graph, graph);
	*error_node = *result ? (hipGraphNode_t)(uintptr_t)at : NULL;
	return *result ? hipErrorGraphExecUpdateFailure : replace(exec, graph);
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t *error_node,
			      hipGraphExecUpdateResult *result)
{
	UM_ENTER();
	return um_leave(update(exec, graph, error_node, result));
}

static hipError_t set(hipGraphExec_t handle, hipGraphNode_t node_handle,
		      const struct um_content *content)
{
	const struct um_graph_exec *exec = find(handle);
	const struct um_node *node = um_node_find(node_handle);

	if (!exec || !node)
		return hipErrorInvalidValue;
	return um_content_set(um_node_numbered(exec->graph, node->number), content);
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
					   const hipKernelNodeParams *params)
{
	struct um_content content = {.type = hipGraphNodeTypeKernel, .kernel = params};

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
					   hipMemcpy3DParms *params)
{
	struct um_content content = {.type = hipGraphNodeTypeMemcpy, .copy = params};

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
					   const hipMemsetParams *params)
{
	hipMemsetParams kept;
	struct um_content content = {.type = hipGraphNodeTypeMemset,
				     .fill = um_to_memset_params(&kept, params)};

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
					 const hipHostNodeParams *params)
{
	struct um_content content = {.type = hipGraphNodeTypeHost, .host = params};

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to,
					     const void *from, size_t bytes, hipMemcpyKind kind)
{
	struct um_content content = UM_CONTENT_LINE(hipGraphNodeTypeMemcpy1D, .to = to,
						    .from = from, .bytes = bytes, .kind = kind);

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node,
						     void *to, const void *symbol, size_t bytes,
						     size_t offset, hipMemcpyKind kind)
{
	struct um_content content =
		UM_CONTENT_LINE(hipGraphNodeTypeMemcpyFromSymbol, .to = to, .symbol = symbol,
				.bytes = bytes, .offset = offset, .kind = kind);

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node,
						   const void *symbol, const void *from,
						   size_t bytes, size_t offset, hipMemcpyKind kind)
{
	struct um_content content =
		UM_CONTENT_LINE(hipGraphNodeTypeMemcpyToSymbol, .symbol = symbol, .from = from,
				.bytes = bytes, .offset = offset, .kind = kind);

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
					       hipGraph_t child)
{
	struct um_content content = {.type = hipGraphNodeTypeGraph, .child = child};

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node,
					       hipEvent_t event)
{
	struct um_content content = {.type = hipGraphNodeTypeEventRecord, .event = event};

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node,
					     hipEvent_t event)
{
	struct um_content content = {.type = hipGraphNodeTypeWaitEvent, .event = event};

	UM_ENTER();
	return um_leave(set(exec, node, &content));
}
