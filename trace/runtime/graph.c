#include "graph.h"
#include "fat_binary.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u

static struct um_graph *all;
static uint64_t last_number;
static struct um_node *by_address[BUCKETS], *by_number[BUCKETS];

/* --- nodes by their handles and numbers --- */

static struct um_node **address_bucket(const void *node)
{
	return &by_address[um_bucket(node, BUCKETS)];
}

/* Copies of a node, which have its number, shall not share a bucket. */
static struct um_node **number_bucket(const struct um_graph *graph, uint64_t number)
{
	return &by_number[(um_bucket(graph, BUCKETS) + number) % BUCKETS];
}

static void index_add(struct um_node *node)
{
	struct um_node **address = address_bucket(node);
	struct um_node **number = number_bucket(node->graph, node->number);

	node->same_address = *address;
	*address = node;
	node->same_number = *number;
	*number = node;
}

static void index_remove(struct um_node *node)
{
	struct um_node **address = address_bucket(node);
	struct um_node **number = number_bucket(node->graph, node->number);

	while (*address != node)
		address = &(*address)->same_address;
	*address = node->same_address;
	while (*number != node)
		number = &(*number)->same_number;
	*number = node->same_number;
}

struct um_node *um_node_find(hipGraphNode_t handle)
{
	struct um_node *node = *address_bucket(handle);

	while (node && (hipGraphNode_t)node != handle)
		node = node->same_address;
	return node;
}

struct um_node *um_node_numbered(const struct um_graph *graph, uint64_t number)
{
	struct um_node *node = *number_bucket(graph, number);

	while (node && (node->graph != graph || node->number != number))
		node = node->same_number;
	return node;
}

void um_graph_number_as(struct um_graph *graph, const struct um_graph *other)
{
	const struct um_node *as = other->first;

	for (struct um_node *node = graph->first; node; node = node->next, as = as->next) {
		index_remove(node);
		node->number = as->number;
		index_add(node);
	}
}

/* --- graphs --- */

struct um_graph *um_graph_new(bool inner)
{
	struct um_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->inner = inner;
	graph->last = &graph->first;
	graph->next = all;
	all = graph;
	return graph;
}

static void node_free(struct um_node *node)
{
	if (node->number)
		index_remove(node);
	um_node_clear(node);
	free(node->before);
	free(node);
}

void um_graph_free(struct um_graph *graph)
{
	struct um_graph **link = &all;

	if (!graph)
		return;
	while (*link != graph)
		link = &(*link)->next;
	*link = graph->next;
	while (graph->first) {
		struct um_node *node = graph->first;

		graph->first = node->next;
		node_free(node);
	}
	free(graph);
}

struct um_graph *um_graph_find(hipGraph_t handle)
{
	for (struct um_graph *graph = all; graph; graph = graph->next)
		if ((hipGraph_t)graph == handle)
			return graph;
	return NULL;
}

/* `node` may be anything. */
static bool holds(const struct um_graph *graph, struct um_node *node)
{
	const struct um_node *known = um_node_find((hipGraphNode_t)node);

	return known && known->graph == graph;
}

/* --- who waits for whom --- */

bool um_node_waits_for(const struct um_node *node, const struct um_node *before)
{
	for (size_t i = 0; i < node->before_count; i++)
		if (node->before[i] == before)
			return true;
	return false;
}

hipError_t um_node_wait(struct um_node *node, struct um_node *before)
{
	if (before == node || before->graph != node->graph || um_node_waits_for(node, before))
		return hipErrorInvalidValue;
	void *grown = realloc(node->before, (node->before_count + 1) * sizeof(*node->before));

	if (!grown)
		return hipErrorOutOfMemory;
	node->before = grown;
	node->before[node->before_count++] = before;
	return hipSuccess;
}

bool um_node_wait_no_more(struct um_node *node, struct um_node *before)
{
	size_t at = 0;

	while (at < node->before_count && node->before[at] != before)
		at++;
	if (at == node->before_count)
		return false;
	node->before_count--;
	memmove(node->before + at, node->before + at + 1,
		(node->before_count - at) * sizeof(*node->before));
	return true;
}

static hipError_t wait_for_all(struct um_node *node, struct um_node *const *before, size_t count)
{
	hipError_t error = hipSuccess;

	for (size_t i = 0; i < count && !error; i++)
		error = holds(node->graph, before[i]) ? um_node_wait(node, before[i])
						      : hipErrorInvalidValue;
	return error;
}

/* `number` 0: the next one. */
static hipError_t add_numbered(struct um_node **out, struct um_graph *graph, hipGraphNodeType type,
			       struct um_node *const *before, size_t count, uint64_t number)
{
	struct um_node *node = calloc(1, sizeof(*node));

	if (!node)
		return hipErrorOutOfMemory;
	node->type = type;
	node->graph = graph;
	hipError_t error = wait_for_all(node, before, count);

	if (error) {
		node_free(node);
		return error;
	}
	node->number = number ? number : ++last_number;
	index_add(node);
	*graph->last = node;
	graph->last = &node->next;
	graph->count++;
	*out = node;
	return hipSuccess;
}

hipError_t um_node_add(struct um_node **out, struct um_graph *graph, hipGraphNodeType type,
		       struct um_node *const *before, size_t count)
{
	return add_numbered(out, graph, type, before, count, 0);
}

void um_node_remove(struct um_node *node)
{
	struct um_graph *graph = node->graph;
	struct um_node **link = &graph->first;

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	if (!*link)
		graph->last = link;
	graph->count--;
	for (struct um_node *other = graph->first; other; other = other->next)
		um_node_wait_no_more(other, node);
	node_free(node);
}

/* --- order --- */

static void start_waiting(struct um_graph *graph)
{
	for (struct um_node *node = graph->first; node; node = node->next)
		node->waits = node->before_count;
}

static void done(struct um_graph *graph, const struct um_node *before)
{
	for (struct um_node *node = graph->first; node; node = node->next)
		node->waits -= um_node_waits_for(node, before);
}

/* Waits no more, and was not taken yet. */
static struct um_node *first_ready(struct um_graph *graph)
{
	struct um_node *node = graph->first;

	while (node && node->waits)
		node = node->next;
	return node;
}

/* Where each waits only for nodes added before it, they are in their order already. */
static bool is_ordered(const struct um_graph *graph)
{
	for (const struct um_node *node = graph->first; node; node = node->next)
		for (size_t i = 0; i < node->before_count; i++)
			if (node->before[i]->number > node->number)
				return false;
	return true;
}

static void take_all(struct um_node **order, const struct um_graph *graph)
{
	for (struct um_node *node = graph->first; node; node = node->next)
		*order++ = node;
}

hipError_t um_graph_order(struct um_node ***out, struct um_graph *graph)
{
	struct um_node **order = calloc(graph->count + 1, sizeof(*order));

	if (!order)
		return hipErrorOutOfMemory;
	if (is_ordered(graph)) {
		take_all(order, graph);
		*out = order;
		return hipSuccess;
	}
	start_waiting(graph);
	for (size_t i = 0; i < graph->count; i++) {
		order[i] = first_ready(graph);
		if (!order[i]) {
			free(order);
			return hipErrorInvalidValue;
		}
		order[i]->waits = SIZE_MAX;
		done(graph, order[i]);
	}
	*out = order;
	return hipSuccess;
}

/* --- copies --- */

static bool copy_node(struct um_graph *graph, const struct um_node *from)
{
	struct um_node *node;

	if (add_numbered(&node, graph, from->type, NULL, 0, from->number))
		return false;
	return um_node_copy_content(node, from);
}

static bool copy_edges(struct um_graph *graph, const struct um_node *from)
{
	struct um_node *node = um_node_numbered(graph, from->number);

	for (size_t i = 0; i < from->before_count; i++)
		if (um_node_wait(node, um_node_numbered(graph, from->before[i]->number)))
			return false;
	return true;
}

struct um_graph *um_graph_copy(const struct um_graph *from, bool inner)
{
	struct um_graph *graph = um_graph_new(inner);
	bool whole = graph;

	for (const struct um_node *node = from->first; node && whole; node = node->next)
		whole = copy_node(graph, node);
	for (const struct um_node *node = from->first; node && whole; node = node->next)
		whole = copy_edges(graph, node);
	if (whole)
		return graph;
	um_graph_free(graph);
	return NULL;
}
