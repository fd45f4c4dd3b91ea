/* Graphs and their edges, as programs make and read them. */
#include "graph.h"
#include "hip6_translate.h"

#include <stdlib.h>

/* A graph of the program's own; NULL if there is no such. */
static struct um_graph *own(hipGraph_t handle)
{
	struct um_graph *graph = um_graph_find(handle);

	return graph && !graph->inner ? graph : NULL;
}

static hipError_t create(hipGraph_t *out, unsigned flags)
{
	if (!out || flags)
		return hipErrorInvalidValue;
	*out = (hipGraph_t)um_graph_new(false);
	return *out ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t hipGraphCreate(hipGraph_t *out, unsigned flags)
{
	UM_ENTER();
	return um_leave(create(out, flags));
}

static hipError_t destroy(hipGraph_t handle)
{
	struct um_graph *graph = own(handle);

	if (!graph)
		return hipErrorInvalidValue;
	um_graph_free(graph);
	return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph)
{
	UM_ENTER();
	return um_leave(destroy(graph));
}

static hipError_t clone(hipGraph_t *out, hipGraph_t handle)
{
	const struct um_graph *graph = um_graph_find(handle);

	if (!out || !graph)
		return hipErrorInvalidValue;
	*out = (hipGraph_t)um_graph_copy(graph, false);
	return *out ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t hipGraphClone(hipGraph_t *out, hipGraph_t graph)
{
	UM_ENTER();
	return um_leave(clone(out, graph));
}

static hipError_t find_in_clone(hipGraphNode_t *out, hipGraphNode_t handle, hipGraph_t cloned)
{
	const struct um_node *node = um_node_find(handle);
	const struct um_graph *graph = um_graph_find(cloned);

	if (!out || !node || !graph)
		return hipErrorInvalidValue;
	*out = (hipGraphNode_t)um_node_numbered(graph, node->number);
	return *out ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t *out, hipGraphNode_t node, hipGraph_t cloned)
{
	UM_ENTER();
	return um_leave(find_in_clone(out, node, cloned));
}

static hipError_t destroy_node(hipGraphNode_t handle)
{
	struct um_node *node = um_node_find(handle);

	if (!node || node->graph->inner)
		return hipErrorInvalidValue;
	um_node_remove(node);
	return hipSuccess;
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node)
{
	UM_ENTER();
	return um_leave(destroy_node(node));
}

static hipError_t get_type(hipGraphNode_t handle, hipGraphNodeType *out)
{
	const struct um_node *node = um_node_find(handle);

	if (!node || !out)
		return hipErrorInvalidValue;
	*out = um_from_node_type(node->type);
	return hipSuccess;
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *out)
{
	UM_ENTER();
	return um_leave(get_type(node, out));
}

/* --- edges --- */

static bool is_of(const struct um_graph *graph, hipGraphNode_t handle)
{
	const struct um_node *node = um_node_find(handle);

	return node && node->graph == graph;
}

static hipError_t change_edge(struct um_node *from, struct um_node *to, bool add)
{
	if (add)
		return um_node_wait(to, from);
	return um_node_wait_no_more(to, from) ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t change_edges(hipGraph_t handle, const hipGraphNode_t *from,
			       const hipGraphNode_t *to, size_t count, bool add)
{
	const struct um_graph *graph = um_graph_find(handle);
	hipError_t error = hipSuccess;

	if (!graph || (count && (!from || !to)))
		return hipErrorInvalidValue;
	for (size_t i = 0; i < count; i++)
		if (!is_of(graph, from[i]) || !is_of(graph, to[i]))
			return hipErrorInvalidValue;
	for (size_t i = 0; i < count && !error; i++)
		error = change_edge((struct um_node *)from[i], (struct um_node *)to[i], add);
	return error;
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from,
				   const hipGraphNode_t *to, size_t count)
{
	UM_ENTER();
	return um_leave(change_edges(graph, from, to, count, true));
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from,
				      const hipGraphNode_t *to, size_t count)
{
	UM_ENTER();
	return um_leave(change_edges(graph, from, to, count, false));
}

/* --- lists, as the header says: without room only their length is told --- */

struct list {
	hipGraphNode_t *node;
	size_t room, count;
};

static void put(struct list *list, const struct um_node *node)
{
	if (list->node && list->count < list->room)
		list->node[list->count] = (hipGraphNode_t)(uintptr_t)node;
	list->count++;
}

/* "If the array is larger than the list the rest is NULL, and *count is how many there are." */
static void finish(const struct list *list, size_t *count)
{
	for (size_t i = list->count; list->node && i < list->room; i++)
		list->node[i] = NULL;
	if (!list->node || list->count < list->room)
		*count = list->count;
}

static hipError_t list_nodes(hipGraph_t handle, hipGraphNode_t *out, size_t *count, bool roots)
{
	const struct um_graph *graph = um_graph_find(handle);

	if (!graph || !count)
		return hipErrorInvalidValue;
	struct list list = {.node = out, .room = *count};

	for (const struct um_node *node = graph->first; node; node = node->next)
		if (!roots || !node->before_count)
			put(&list, node);
	finish(&list, count);
	return hipSuccess;
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *out, size_t *count)
{
	UM_ENTER();
	return um_leave(list_nodes(graph, out, count, false));
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *out, size_t *count)
{
	UM_ENTER();
	return um_leave(list_nodes(graph, out, count, true));
}

static hipError_t get_edges(hipGraph_t handle, hipGraphNode_t *from, hipGraphNode_t *to,
			    size_t *count)
{
	const struct um_graph *graph = um_graph_find(handle);

	if (!graph || !count || !from != !to)
		return hipErrorInvalidValue;
	struct list starts = {.node = from, .room = *count}, ends = {.node = to, .room = *count};

	for (const struct um_node *node = graph->first; node; node = node->next)
		for (size_t i = 0; i < node->before_count; i++) {
			put(&starts, node->before[i]);
			put(&ends, node);
		}
	finish(&starts, count);
	finish(&ends, count);
	return hipSuccess;
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to,
			    size_t *count)
{
	UM_ENTER();
	return um_leave(get_edges(graph, from, to, count));
}

static hipError_t get_neighbours(hipGraphNode_t handle, hipGraphNode_t *out, size_t *count,
				 bool before)
{
	const struct um_node *node = um_node_find(handle);

	if (!node || !count)
		return hipErrorInvalidValue;
	struct list list = {.node = out, .room = *count};

	if (before)
		for (size_t i = 0; i < node->before_count; i++)
			put(&list, node->before[i]);
	else
		for (const struct um_node *n = node->graph->first; n; n = n->next)
			if (um_node_waits_for(n, node))
				put(&list, n);
	finish(&list, count);
	return hipSuccess;
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *out, size_t *count)
{
	UM_ENTER();
	return um_leave(get_neighbours(node, out, count, true));
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *out, size_t *count)
{
	UM_ENTER();
	return um_leave(get_neighbours(node, out, count, false));
}
