/* What the nodes of graphs do, by type. */
#include "graph.h"
#include "capture.h"

#include <stdlib.h>
#include <string.h>

/* --- kernels --- */

static void clear_kernel(struct um_node *node)
{
	free(node->kernel.launch.args);
	free(node->kernel.bytes);
	memset(&node->kernel, 0, sizeof(node->kernel));
}

/* Copies the arguments into one buffer, whose layout the kernel's code object has. */
static hipError_t keep_arguments(struct um_node_kernel *out, const struct um_kernel *kernel,
				 void **args)
{
	unsigned count = kernel->argument_count;

	if (!kernel->argument_offsets)
		return um_refuse_part("a kernel in a graph with an argument passed by reference");
	if (count && !args)
		return hipErrorInvalidValue;
	out->launch.args = calloc(count + 1u, sizeof(void *));
	out->bytes = calloc(1, kernel->argument_offsets[count] + 1u);
	if (!out->launch.args || !out->bytes)
		return hipErrorOutOfMemory;
	for (unsigned i = 0; i < count; i++) {
		out->launch.args[i] = out->bytes + kernel->argument_offsets[i];
		memcpy(out->launch.args[i], args[i], kernel->argument_bytes[i]);
	}
	return hipSuccess;
}

hipError_t um_node_set_launch(struct um_node *node, const struct um_launch_request *launch,
			      void *stub)
{
	struct um_node made = {.kernel = {.launch = *launch, .stub = stub}};
	struct um_kernel kernel;

	if (!um_function_valid(launch->function)) /* its module may have been unloaded */
		return hipErrorInvalidDeviceFunction;
	hipError_t error = um_launch_check(launch);

	if (error)
		return error;
	um_function_kernel(&kernel, launch->function);
	made.kernel.launch.args = NULL;
	error = keep_arguments(&made.kernel, &kernel, launch->args);
	if (error) {
		clear_kernel(&made);
		return error;
	}
	clear_kernel(node);
	node->kernel = made.kernel;
	return hipSuccess;
}

hipError_t um_node_set_kernel(struct um_node *node, const hipKernelNodeParams *params)
{
	if (!params)
		return hipErrorInvalidValue;
	struct um_launch_request launch = {
		.function = params->func,
		.grid = params->gridDim,
		.block = params->blockDim,
		.lds_bytes = params->sharedMemBytes,
		.args = params->kernelParams,
	};
	hipError_t error = um_function_valid(launch.function)
				   ? hipSuccess
				   : um_function_find(&launch.function, params->func);

	if (!error && params->extra)
		error = um_launch_unpack(&launch, params->extra);
	if (error)
		return error;
	error = um_node_set_launch(node, &launch, params->func);
	if (params->extra)
		free(launch.args);
	return error;
}

static bool copy_kernel(struct um_node *node, const struct um_node *from)
{
	return !um_node_set_launch(node, &from->kernel.launch, from->kernel.stub);
}

static hipError_t run_kernel(const struct um_node *node, hipStream_t stream)
{
	struct um_launch_request launch = node->kernel.launch;

	launch.stream = stream;
	return um_function_valid(launch.function) ? um_launch_run(&launch)
						  : hipErrorInvalidDeviceFunction;
}

/* --- copies and fills --- */

hipError_t um_node_set_copy(struct um_node *node, const hipMemcpy3DParms *params)
{
	struct um_node_copy made = {.copy = {.async = true}};

	if (!params)
		return hipErrorInvalidValue;
	hipError_t error = um_copy_of_params(&made.copy, params);

	if (!error)
		error = um_copy_check(&made.copy);
	if (error)
		return error;
	made.params = *params;
	node->copy = made;
	return hipSuccess;
}

hipError_t um_node_set_copy_1d(struct um_node *node, void *to, const void *from, size_t bytes,
			       hipMemcpyKind kind)
{
	struct um_node_copy made = {
		.copy = {.to = {to, bytes, bytes},
			 .from = {from, bytes, bytes},
			 .extent = {bytes, 1, 1},
			 .kind = kind,
			 .async = true},
	};
	hipError_t error = bytes ? um_copy_check(&made.copy) : hipErrorInvalidValue;

	if (error)
		return error;
	um_copy_params(&made.params, &made.copy);
	node->copy = made;
	return hipSuccess;
}

static bool copy_copy(struct um_node *node, const struct um_node *from)
{
	node->copy = from->copy;
	return true;
}

static hipError_t run_copy(const struct um_node *node, hipStream_t stream)
{
	struct um_copy copy = node->copy.copy;

	copy.stream = stream;
	return um_copy_run(&copy);
}

hipError_t um_node_set_fill(struct um_node *node, const hipMemsetParams *params)
{
	if (!params || !params->width || !params->height ||
	    (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
		return hipErrorInvalidValue;
	size_t width_bytes = params->width * params->elementSize;
	struct um_fill fill = {
		.to = {params->dst, params->height > 1 ? params->pitch : width_bytes, 0},
		.extent = {width_bytes, params->height, 1},
		.value = params->value,
		.value_bytes = params->elementSize,
		.async = true,
	};
	hipError_t error = um_fill_check(&fill);

	if (error)
		return error;
	node->fill.fill = fill;
	node->fill.params = *params;
	return hipSuccess;
}

static bool copy_fill(struct um_node *node, const struct um_node *from)
{
	node->fill = from->fill;
	return true;
}

static hipError_t run_fill(const struct um_node *node, hipStream_t stream)
{
	struct um_fill fill = node->fill.fill;

	fill.stream = stream;
	return um_fill_run(&fill);
}

/* --- functions of the host, events --- */

hipError_t um_node_set_host(struct um_node *node, const hipHostNodeParams *params)
{
	if (!params || !params->fn)
		return hipErrorInvalidValue;
	node->host = *params;
	return hipSuccess;
}

static bool copy_host(struct um_node *node, const struct um_node *from)
{
	node->host = from->host;
	return true;
}

static hipError_t run_host(const struct um_node *node, hipStream_t stream)
{
	return um_callback_run(&(struct um_callback){
		.stream = stream, .plain = node->host.fn, .data = node->host.userData});
}

hipError_t um_node_set_event(struct um_node *node, hipEvent_t event)
{
	if (!um_event_valid(event))
		return hipErrorInvalidHandle;
	node->event = event;
	return hipSuccess;
}

static bool copy_event(struct um_node *node, const struct um_node *from)
{
	node->event = from->event;
	return true;
}

static hipError_t run_record(const struct um_node *node, hipStream_t stream)
{
	return um_event_mark(node->event, stream);
}

static hipError_t run_wait(const struct um_node *node, hipStream_t stream)
{
	return um_event_wait(node->event, stream);
}

/* --- graphs in graphs --- */

static void clear_child(struct um_node *node)
{
	um_graph_free(node->child);
	node->child = NULL;
}

hipError_t um_node_set_child(struct um_node *node, const struct um_graph *graph)
{
	struct um_graph *copy = um_graph_copy(graph, true);

	if (!copy)
		return hipErrorOutOfMemory;
	clear_child(node);
	node->child = copy;
	return hipSuccess;
}

static bool copy_child(struct um_node *node, const struct um_node *from)
{
	return !um_node_set_child(node, from->child);
}

static hipError_t run_child(const struct um_node *node, hipStream_t stream)
{
	return um_graph_run(node->child, stream);
}

/* --- all of them --- */

static const struct content {
	void (*clear)(struct um_node *); /* NULL: owns nothing */
	bool (*copy)(struct um_node *, const struct um_node *from);
	hipError_t (*run)(const struct um_node *, hipStream_t);
} contents[hipGraphNodeTypeCount] = {
	[hipGraphNodeTypeKernel] = {clear_kernel, copy_kernel, run_kernel},
	[hipGraphNodeTypeMemcpy] = {NULL, copy_copy, run_copy},
	[hipGraphNodeTypeMemset] = {NULL, copy_fill, run_fill},
	[hipGraphNodeTypeHost] = {NULL, copy_host, run_host},
	[hipGraphNodeTypeGraph] = {clear_child, copy_child, run_child},
	[hipGraphNodeTypeWaitEvent] = {NULL, copy_event, run_wait},
	[hipGraphNodeTypeEventRecord] = {NULL, copy_event, run_record},
	[hipGraphNodeTypeMemcpy1D] = {NULL, copy_copy, run_copy},
	[hipGraphNodeTypeMemcpyFromSymbol] = {NULL, copy_copy, run_copy},
	[hipGraphNodeTypeMemcpyToSymbol] = {NULL, copy_copy, run_copy},
};

void um_node_clear(struct um_node *node)
{
	if (contents[node->type].clear)
		contents[node->type].clear(node);
}

bool um_node_copy_content(struct um_node *node, const struct um_node *from)
{
	const struct content *content = &contents[node->type];

	return !content->copy || content->copy(node, from);
}

hipError_t um_node_run(const struct um_node *node, hipStream_t stream)
{
	const struct content *content = &contents[node->type];

	return content->run ? content->run(node, stream) : hipSuccess;
}

hipError_t um_graph_run(struct um_graph *graph, hipStream_t stream)
{
	struct um_node **order;
	hipError_t error = um_graph_order(&order, graph);

	if (error)
		return error;
	for (size_t i = 0; i < graph->count && !error; i++)
		error = um_node_run(order[i], stream);
	free(order);
	return error;
}
