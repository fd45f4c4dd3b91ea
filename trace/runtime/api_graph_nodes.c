/* Nodes of graphs: adding them, and what they are to do. */
#include "graph_content.h"
#include "hip6_translate.h"

static hipError_t fill_node(hipGraphNode_t *out, struct um_node *node,
			    const struct um_content *content)
{
	hipError_t error = um_content_set(node, content);

	if (error)
		um_node_remove(node);
	else
		*out = (hipGraphNode_t)node;
	return error;
}

static hipError_t add(hipGraphNode_t *out, hipGraph_t handle, const hipGraphNode_t *before,
		      size_t count, const struct um_content *content)
{
	struct um_graph *graph = um_graph_find(handle);
	struct um_node *node;

	if (!out || !graph || (count && !before))
		return hipErrorInvalidValue;
	hipError_t error =
		um_node_add(&node, graph, content->type, (struct um_node *const *)before, count);

	return error ? error : fill_node(out, node, content);
}

static hipError_t set(hipGraphNode_t node, const struct um_content *content)
{
	return um_content_set(um_node_find(node), content);
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t *out, hipGraph_t graph,
				 const hipGraphNode_t *before, size_t count,
				 const hipKernelNodeParams *params)
{
	struct um_content content = {.type = hipGraphNodeTypeKernel, .kernel = params};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *params)
{
	struct um_content content = {.type = hipGraphNodeTypeKernel, .kernel = params};

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *out, hipGraph_t graph,
				 const hipGraphNode_t *before, size_t count,
				 const hipMemcpy3DParms *params)
{
	struct um_content content = {.type = hipGraphNodeTypeMemcpy, .copy = params};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *params)
{
	struct um_content content = {.type = hipGraphNodeTypeMemcpy, .copy = params};

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t *out, hipGraph_t graph,
				 const hipGraphNode_t *before, size_t count,
				 const hipMemsetParams *params)
{
	hipMemsetParams kept;
	struct um_content content = {.type = hipGraphNodeTypeMemset,
				     .fill = um_to_memset_params(&kept, params)};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *params)
{
	hipMemsetParams kept;
	struct um_content content = {.type = hipGraphNodeTypeMemset,
				     .fill = um_to_memset_params(&kept, params)};

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddHostNode(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before,
			       size_t count, const hipHostNodeParams *params)
{
	struct um_content content = {.type = hipGraphNodeTypeHost, .host = params};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *params)
{
	struct um_content content = {.type = hipGraphNodeTypeHost, .host = params};

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *out, hipGraph_t graph,
				   const hipGraphNode_t *before, size_t count, void *to,
				   const void *from, size_t bytes, hipMemcpyKind kind)
{
	struct um_content content = UM_CONTENT_LINE(hipGraphNodeTypeMemcpy1D, .to = to,
						    .from = from, .bytes = bytes, .kind = kind);

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from,
					 size_t bytes, hipMemcpyKind kind)
{
	struct um_content content = UM_CONTENT_LINE(hipGraphNodeTypeMemcpy1D, .to = to,
						    .from = from, .bytes = bytes, .kind = kind);

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *out, hipGraph_t graph,
					   const hipGraphNode_t *before, size_t count, void *to,
					   const void *symbol, size_t bytes, size_t offset,
					   hipMemcpyKind kind)
{
	struct um_content content =
		UM_CONTENT_LINE(hipGraphNodeTypeMemcpyFromSymbol, .to = to, .symbol = symbol,
				.bytes = bytes, .offset = offset, .kind = kind);

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *to, const void *symbol,
						 size_t bytes, size_t offset, hipMemcpyKind kind)
{
	struct um_content content =
		UM_CONTENT_LINE(hipGraphNodeTypeMemcpyFromSymbol, .to = to, .symbol = symbol,
				.bytes = bytes, .offset = offset, .kind = kind);

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *out, hipGraph_t graph,
					 const hipGraphNode_t *before, size_t count,
					 const void *symbol, const void *from, size_t bytes,
					 size_t offset, hipMemcpyKind kind)
{
	struct um_content content =
		UM_CONTENT_LINE(hipGraphNodeTypeMemcpyToSymbol, .symbol = symbol, .from = from,
				.bytes = bytes, .offset = offset, .kind = kind);

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void *symbol,
					       const void *from, size_t bytes, size_t offset,
					       hipMemcpyKind kind)
{
	struct um_content content =
		UM_CONTENT_LINE(hipGraphNodeTypeMemcpyToSymbol, .symbol = symbol, .from = from,
				.bytes = bytes, .offset = offset, .kind = kind);

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *out, hipGraph_t graph,
				     const hipGraphNode_t *before, size_t count, hipGraph_t child)
{
	struct um_content content = {.type = hipGraphNodeTypeGraph, .child = child};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before,
				size_t count)
{
	struct um_content content = {.type = hipGraphNodeTypeEmpty};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *out, hipGraph_t graph,
				      const hipGraphNode_t *before, size_t count, hipEvent_t event)
{
	struct um_content content = {.type = hipGraphNodeTypeEventRecord, .event = event};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
	struct um_content content = {.type = hipGraphNodeTypeEventRecord, .event = event};

	UM_ENTER();
	return um_leave(set(node, &content));
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *out, hipGraph_t graph,
				    const hipGraphNode_t *before, size_t count, hipEvent_t event)
{
	struct um_content content = {.type = hipGraphNodeTypeWaitEvent, .event = event};

	UM_ENTER();
	return um_leave(add(out, graph, before, count, &content));
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
	struct um_content content = {.type = hipGraphNodeTypeWaitEvent, .event = event};

	UM_ENTER();
	return um_leave(set(node, &content));
}

/* --- what they do --- */

/* NULL if it is none of that type. */
static const struct um_node *find(hipGraphNode_t handle, hipGraphNodeType type)
{
	const struct um_node *node = um_node_find(handle);

	return node && node->type == type ? node : NULL;
}

static hipError_t get_kernel(hipKernelNodeParams *out, const struct um_node *node)
{
	if (!out || !node)
		return hipErrorInvalidValue;
	*out = (hipKernelNodeParams){
		.func = node->kernel.stub,
		.gridDim = node->kernel.launch.grid,
		.blockDim = node->kernel.launch.block,
		.kernelParams = node->kernel.launch.args,
		.sharedMemBytes = (unsigned)node->kernel.launch.lds_bytes,
	};
	return hipSuccess;
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *out)
{
	UM_ENTER();
	return um_leave(get_kernel(out, find(node, hipGraphNodeTypeKernel)));
}

static hipError_t get_copy(hipMemcpy3DParms *out, const struct um_node *node)
{
	if (!out || !node)
		return hipErrorInvalidValue;
	*out = node->copy.params;
	return hipSuccess;
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *out)
{
	UM_ENTER();
	return um_leave(get_copy(out, find(node, hipGraphNodeTypeMemcpy)));
}

static hipError_t get_fill(hipMemsetParams *out, const struct um_node *node)
{
	if (!out || !node)
		return hipErrorInvalidValue;
	um_from_memset_params(out, &node->fill.params);
	return hipSuccess;
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *out)
{
	UM_ENTER();
	return um_leave(get_fill(out, find(node, hipGraphNodeTypeMemset)));
}

static hipError_t get_host(hipHostNodeParams *out, const struct um_node *node)
{
	if (!out || !node)
		return hipErrorInvalidValue;
	*out = node->host;
	return hipSuccess;
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *out)
{
	UM_ENTER();
	return um_leave(get_host(out, find(node, hipGraphNodeTypeHost)));
}

static hipError_t get_child(hipGraph_t *out, const struct um_node *node)
{
	if (!out || !node)
		return hipErrorInvalidValue;
	*out = (hipGraph_t)node->child;
	return hipSuccess;
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *out)
{
	UM_ENTER();
	return um_leave(get_child(out, find(node, hipGraphNodeTypeGraph)));
}

static hipError_t get_event(hipEvent_t *out, const struct um_node *node)
{
	if (!out || !node)
		return hipErrorInvalidValue;
	*out = node->event;
	return hipSuccess;
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *out)
{
	UM_ENTER();
	return um_leave(get_event(out, find(node, hipGraphNodeTypeEventRecord)));
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *out)
{
	UM_ENTER();
	return um_leave(get_event(out, find(node, hipGraphNodeTypeWaitEvent)));
}
