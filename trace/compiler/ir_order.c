/*
 * Lanes that part at a branch meet again because the runtime lets the wave operation at the lowest
 * address go first (device/device_abi.h). So a block that joins paths lies behind all of them, and
 * what follows a loop behind the loop: blocks are put in topological order, loops as one, and the
 * code generator is kept from another order.
 */
#include "ir_device.h"

#include "ir_names.h"

#include <llvm-c/Support.h>

#include <stdlib.h>
#include <string.h>

struct graph {
	unsigned count;
	LLVMBasicBlockRef *blocks;
	unsigned *first, *next; /* successors of b: next[first[b]] .. next[first[b + 1] - 1] */
	unsigned *region;	/* 0: placed; else the part of the function that is being ordered */
	unsigned *order;
	unsigned order_count, regions;
	/* Tarjan's strongly connected components */
	unsigned *index, *low, *stack;
	bool *stacked;
	unsigned stack_count, visited;
};

static unsigned number_of(const struct graph *g, LLVMBasicBlockRef block)
{
	unsigned b = 0;

	while (g->blocks[b] != block)
		b++;
	return b;
}

struct component {
	unsigned *members;
	unsigned count;
};

struct components {
	struct component *items; /* successors before predecessors */
	unsigned count;
};

static void close_component(struct graph *g, unsigned b, struct components *out)
{
	struct component *c = &out->items[out->count++];
	unsigned from = g->stack_count;

	do
		g->stacked[g->stack[--from]] = false;
	while (g->stack[from] != b);
	c->count = g->stack_count - from;
	c->members = malloc(c->count * sizeof *c->members);
	if (c->members)
		memcpy(c->members, g->stack + from, c->count * sizeof *c->members);
	else
		c->count = 0;
	g->stack_count = from;
}

/* Edges back to `head` do not count: they make the loop that is being ordered. */
static void visit(struct graph *g, unsigned b, unsigned region, unsigned head,
		  struct components *out)
{
	g->index[b] = g->low[b] = ++g->visited;
	g->stack[g->stack_count++] = b;
	g->stacked[b] = true;
	/* The last successor first, so that the first comes first in the order. */
	for (unsigned e = g->first[b + 1]; e-- > g->first[b];) {
		unsigned s = g->next[e];

		if (g->region[s] != region || s == head)
			continue;
		if (!g->index[s]) {
			visit(g, s, region, head, out);
			if (g->low[s] < g->low[b])
				g->low[b] = g->low[s];
		} else if (g->stacked[s] && g->index[s] < g->low[b]) {
			g->low[b] = g->index[s];
		}
	}
	if (g->low[b] == g->index[b])
		close_component(g, b, out);
}

static void order_region(struct graph *g, unsigned head, const unsigned *members, unsigned count);

/* The block of a loop where control enters it: the one visited first. */
static unsigned entry_of(const struct graph *g, const struct component *c)
{
	unsigned entry = c->members[0];

	for (unsigned i = 1; i < c->count; i++)
		if (g->index[c->members[i]] < g->index[entry])
			entry = c->members[i];
	return entry;
}

static void place(struct graph *g, const struct component *c)
{
	if (c->count == 1) {
		g->region[c->members[0]] = 0;
		g->order[g->order_count++] = c->members[0];
	} else if (c->count) {
		order_region(g, entry_of(g, c), c->members, c->count);
	}
}

static void order_region(struct graph *g, unsigned head, const unsigned *members, unsigned count)
{
	struct components parts = {calloc(count + 1u, sizeof *parts.items), 0};
	unsigned region = ++g->regions;

	if (!parts.items)
		return;
	for (unsigned i = 0; i < count; i++) {
		g->region[members[i]] = region;
		g->index[members[i]] = 0;
	}
	visit(g, head, region, head, &parts);
	for (unsigned i = parts.count; i-- > 0;)
		place(g, &parts.items[i]);
	for (unsigned i = 0; i < parts.count; i++)
		free(parts.items[i].members);
	free(parts.items);
}

static bool make_graph(struct graph *g, LLVMValueRef function)
{
	unsigned count = LLVMCountBasicBlocks(function), edges = 0;

	*g = (struct graph){.count = count};
	g->blocks = calloc(count, sizeof *g->blocks);
	g->first = calloc(count + 1u, sizeof *g->first);
	UM_IR_FOR_EACH_BLOCK(b, function)
	edges += LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(b));
	g->next = calloc(edges + 1u, sizeof *g->next);
	g->region = calloc(count, sizeof *g->region);
	g->order = calloc(count, sizeof *g->order);
	g->index = calloc(count, sizeof *g->index);
	g->low = calloc(count, sizeof *g->low);
	g->stack = calloc(count, sizeof *g->stack);
	g->stacked = calloc(count, sizeof *g->stacked);
	if (!g->blocks || !g->first || !g->next || !g->region || !g->order || !g->index ||
	    !g->low || !g->stack || !g->stacked)
		return false;
	LLVMGetBasicBlocks(function, g->blocks);
	edges = 0;
	for (unsigned b = 0; b < count; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(g->blocks[b]);

		g->first[b] = edges;
		for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
			g->next[edges++] = number_of(g, LLVMGetSuccessor(end, s));
	}
	g->first[count] = edges;
	return true;
}

static void free_graph(struct graph *g)
{
	void *const parts[] = {g->blocks, g->first, g->next,  g->region, g->order,
			       g->index,  g->low,   g->stack, g->stacked};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
}

static void order_function(LLVMValueRef function)
{
	struct graph g;

	if (make_graph(&g, function)) {
		unsigned *all = calloc(g.count, sizeof *all);

		for (unsigned b = 0; all && b < g.count; b++)
			all[b] = b;
		if (all)
			order_region(&g, 0, all, g.count);
		free(all);
		for (unsigned i = 1; i < g.order_count; i++)
			LLVMMoveBasicBlockAfter(g.blocks[g.order[i]], g.blocks[g.order[i - 1]]);
	}
	free_graph(&g);
}

/* A barrier does not count: lanes that wait there are not among those that meet. */
static bool has_wave_operations(LLVMModuleRef module)
{
	static const char *const names[] = {"um_wave_ballot", "um_wave_read", "um_wave_active",
					    "um_wave_sync"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (LLVMGetNamedFunction(module, names[i]))
			return true;
	return false;
}

static void keep_order(void)
{
	static const char *const switches[] = {
		"umhipcc",
		"-disable-block-placement",
		"-disable-branch-fold",
		"-disable-tail-duplicate",
		"-disable-early-taildup",
	};

	LLVMParseCommandLineOptions(sizeof switches / sizeof *switches, switches, NULL);
}

void um_ir_order(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	if (LLVMCountBasicBlocks(f) > 2)
		order_function(f);
}

void um_ir_keep_order(LLVMModuleRef module)
{
	if (has_wave_operations(module))
		keep_order();
}
