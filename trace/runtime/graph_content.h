/*
 * What a call says that a node is to do, whichever of the calls it is: hipGraphAdd...Node() makes a
 * node of it, hipGraph...NodeSetParams() and hipGraphExec...NodeSetParams() change one.
 */
#ifndef UM_GRAPH_CONTENT_H
#define UM_GRAPH_CONTENT_H

#include "graph.h"

struct um_content {
	hipGraphNodeType type;
	union {
		const hipKernelNodeParams *kernel;
		const hipMemcpy3DParms *copy;
		const hipMemsetParams *fill;
		const hipHostNodeParams *host;
		hipGraph_t child;
		hipEvent_t event;
		struct {
			void *to;
			const void *from;
			const void *symbol; /* in place of one of them */
			size_t bytes, offset;
			hipMemcpyKind kind;
		} line; /* a copy of one piece */
	};
};

/* hipErrorInvalidValue where the node has another type, too. */
hipError_t um_content_set(struct um_node *, const struct um_content *);

#define UM_CONTENT_LINE(what, ...)                                                                 \
	{                                                                                          \
		.type = (what), .line = { __VA_ARGS__ }                                            \
	}

#endif
