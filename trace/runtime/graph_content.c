#include "graph_content.h"

static hipError_t set_from_symbol(struct um_node *node, const struct um_content *c)
{
	char *from;
	hipError_t error = um_variable_part(&from, c->line.symbol, c->line.bytes, c->line.offset);

	return error ? error
		     : um_node_set_copy_1d(node, c->line.to, from, c->line.bytes, c->line.kind);
}

static hipError_t set_to_symbol(struct um_node *node, const struct um_content *c)
{
	char *to;
	hipError_t error = um_variable_part(&to, c->line.symbol, c->line.bytes, c->line.offset);

	return error ? error
		     : um_node_set_copy_1d(node, to, c->line.from, c->line.bytes, c->line.kind);
}

static hipError_t set_child(struct um_node *node, hipGraph_t handle)
{
	const struct um_graph *graph = um_graph_find(handle);

	return graph && graph != node->graph ? um_node_set_child(node, graph)
					     : hipErrorInvalidValue;
}

/* A copy may become one of another shape. */
static bool fits(hipGraphNodeType is, hipGraphNodeType wanted)
{
	bool is_copy = is == hipGraphNodeTypeMemcpy || is == hipGraphNodeTypeMemcpy1D;
	bool want_copy = wanted == hipGraphNodeTypeMemcpy || wanted == hipGraphNodeTypeMemcpy1D;

	return is == wanted || (is_copy && want_copy);
}

hipError_t um_content_set(struct um_node *node, const struct um_content *c)
{
	if (!node || !fits(node->type, c->type))
		return hipErrorInvalidValue;
	switch (c->type) {
	case hipGraphNodeTypeKernel:
		return um_node_set_kernel(node, c->kernel);
	case hipGraphNodeTypeMemcpy:
		return um_node_set_copy(node, c->copy);
	case hipGraphNodeTypeMemcpy1D:
		return um_node_set_copy_1d(node, c->line.to, c->line.from, c->line.bytes,
					   c->line.kind);
	case hipGraphNodeTypeMemcpyFromSymbol:
		return set_from_symbol(node, c);
	case hipGraphNodeTypeMemcpyToSymbol:
		return set_to_symbol(node, c);
	case hipGraphNodeTypeMemset:
		return um_node_set_fill(node, c->fill);
	case hipGraphNodeTypeHost:
		return um_node_set_host(node, c->host);
	case hipGraphNodeTypeGraph:
		return set_child(node, c->child);
	case hipGraphNodeTypeWaitEvent:
	case hipGraphNodeTypeEventRecord:
		return um_node_set_event(node, c->event);
	default:
		return hipSuccess; /* an empty one */
	}
}
