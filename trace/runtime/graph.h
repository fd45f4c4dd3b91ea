/*
 * Graphs: nodes that stand for work, and which of them wait for which. Nodes are kept in the order
 * in which they were added; a launch runs each as soon as all are done that it waits for, of several
 * the one that was added first, on one stream. A graph that is instantiated is a copy; its nodes keep
 * the numbers of those that they were copied from.
 */
#ifndef UM_GRAPH_H
#define UM_GRAPH_H

#include "copy.h"

struct um_graph;

/* What a kernel node launches: the arguments are copies. */
struct um_node_kernel {
	struct um_launch_request launch;
	void *stub; /* that the program named it by, or its hipFunction_t */
	char *bytes;
};

struct um_node_copy {
	struct um_copy copy;
	hipMemcpy3DParms params; /* of hipGraphAddMemcpyNode() */
};

struct um_node_fill {
	struct um_fill fill;
	hipMemsetParams params;
};

struct um_node {
	struct um_node *next;	      /* of its graph */
	struct um_node *same_address; /* of the bucket that um_node_find() looks in */
	struct um_node *same_number;  /* likewise, of um_node_numbered() */
	struct um_graph *graph;
	uint64_t number; /* copies keep it */
	hipGraphNodeType type;
	struct um_node **before; /* that it waits for; owned */
	size_t before_count;
	size_t waits; /* of those, how many are not done: while a launch orders them */
	union {
		struct um_node_kernel kernel;
		struct um_node_copy copy;
		struct um_node_fill fill;
		hipHostNodeParams host;
		struct um_graph *child; /* owned */
		hipEvent_t event;
	};
};

struct um_graph {
	struct um_graph *next; /* of all; its handle is valid */
	struct um_node *first, **last;
	size_t count;
	bool inner; /* a child's, or that of an executable: not the program's to destroy */
};

/* NULL when out of memory. */
struct um_graph *um_graph_new(bool inner);
void um_graph_free(struct um_graph *);
/* NULL when out of memory, or with a node that cannot be copied. */
struct um_graph *um_graph_copy(const struct um_graph *, bool inner);
/* NULL if there is no such graph, or node. */
struct um_graph *um_graph_find(hipGraph_t);
struct um_node *um_node_find(hipGraphNode_t);
struct um_node *um_node_numbered(const struct um_graph *, uint64_t number);
/* Gives the nodes of one graph, in order, the numbers of another's, which has as many. */
void um_graph_number_as(struct um_graph *, const struct um_graph *other);
/*
 * Adds a node without content that waits for `before`. hipErrorInvalidValue: one of those is not of
 * the graph, or stands there twice.
 */
hipError_t um_node_add(struct um_node **out, struct um_graph *, hipGraphNodeType,
		       struct um_node *const *before, size_t count);
/* Also out of what waits for it. */
void um_node_remove(struct um_node *);
hipError_t um_node_wait(struct um_node *, struct um_node *before);
/* False: it did not wait for that. */
bool um_node_wait_no_more(struct um_node *, struct um_node *before);
bool um_node_waits_for(const struct um_node *, const struct um_node *before);
/*
 * All nodes, each behind those that it waits for; graph->count of them. hipErrorInvalidValue where
 * some wait for each other. The array is the caller's.
 */
hipError_t um_graph_order(struct um_node ***out, struct um_graph *);

/* --- what nodes do (graph_node.c) --- */

/* Frees what a node owns. */
void um_node_clear(struct um_node *);
/* Gives an empty node of its type what `from` does. False when out of memory. */
bool um_node_copy_content(struct um_node *, const struct um_node *from);
/* Runs it in the order of `stream`. */
hipError_t um_node_run(const struct um_node *, hipStream_t stream);
hipError_t um_graph_run(struct um_graph *, hipStream_t stream);

/* Each checks the parameters, and takes them in place of those that it has. */
hipError_t um_node_set_kernel(struct um_node *, const hipKernelNodeParams *);
hipError_t um_node_set_launch(struct um_node *, const struct um_launch_request *, void *stub);
hipError_t um_node_set_copy(struct um_node *, const hipMemcpy3DParms *);
hipError_t um_node_set_copy_1d(struct um_node *, void *to, const void *from, size_t bytes,
			       hipMemcpyKind);
hipError_t um_node_set_fill(struct um_node *, const hipMemsetParams *);
hipError_t um_node_set_host(struct um_node *, const hipHostNodeParams *);
hipError_t um_node_set_child(struct um_node *, const struct um_graph *);
hipError_t um_node_set_event(struct um_node *, hipEvent_t);

#endif
