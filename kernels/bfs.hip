/*
 * Breadth-first search, a launch for each level, in a graph of compressed rows: what a level touches depends
 * on the data. The graph is a tree in which each node but the leaves has K children, so that every level is
 * known; its nodes are numbered level by level, or, with --shuffle, by a permutation that scatters each
 * level over all pages.
 *
 * What its trace must show, with depth D, N = (K^(D+1) - 1) / (K - 1) nodes, E = N - 1 edges:
 *   host, before  offsets (N + 1 words), targets (E), distances (N), the first word of the first frontier
 *                 and the counter written
 *   launches      D + 1, one a level; level l has K^l nodes in its frontier. Each reads K^l words of the
 *                 frontier, 2 K^l offsets and, but for the leaves, K^(l+1) targets; for each target one
 *                 compare-and-swap of its distance, one atomic addition to the counter and one write into
 *                 the next frontier
 *   in all        3 N + E reads, E writes, 2 E atomics
 *   host          the counter read, then written, after each level
 *   host, after   the distances read
 *
 * Under driver `demand`, 4 KiB, the counter goes back and forth: D device faults and D + 1 host faults for
 * its page (the leaves' launch does not touch it; the host's reading after that one finds it there already:
 * D host faults). Not shuffled, the frontier's pages and those of the targets are read in order, once; with
 * --shuffle a level of 1024 nodes or so touches most pages of the offsets, at 4 bytes or 8 a line.
 */
#include "kernel_common.h"

#include <vector>

#define NOT_SEEN 0xffffffffu

struct graph {
	unsigned *offsets, *targets; /* of node i: targets[offsets[i] .. offsets[i + 1]) */
	long nodes, edges;
};

struct search {
	unsigned *distances;
	unsigned *frontier, *next;
	unsigned *found; /* how many nodes `next` has */
};

__global__ void expand(const unsigned *offsets, const unsigned *targets, const unsigned *frontier,
		       unsigned count, unsigned *distances, unsigned *next, unsigned *found,
		       unsigned level)
{
	unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
	if (lane >= count)
		return;
	unsigned node = frontier[lane], end = offsets[node + 1];
	for (unsigned i = offsets[node]; i < end; i++) {
		unsigned target = targets[i];
		if (atomicCAS(&distances[target], NOT_SEEN, level + 1) == NOT_SEEN)
			next[atomicAdd(found, 1u)] = target;
	}
}

static unsigned *words(long count)
{
	unsigned *memory;

	HIP_CHECK(hipMallocManaged(&memory, count * sizeof(*memory), hipMemAttachGlobal));
	return memory;
}

static long count_nodes(long children, long depth)
{
	long nodes = 1;

	for (long level = 0; level < depth; level++)
		nodes = nodes * children + 1;
	return nodes;
}

/* The node's number: itself, or scattered. The root stays 0. */
static std::vector<unsigned> number_nodes(long nodes, bool shuffle)
{
	std::vector<unsigned> number(nodes);
	unsigned long state = 88172645463325252ul; /* xorshift64 */

	for (long i = 0; i < nodes; i++)
		number[i] = (unsigned)i;
	for (long i = nodes - 1; shuffle && i > 1; i--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		std::swap(number[i], number[1 + state % i]);
	}
	return number;
}

static void make_tree(struct graph *graph, const std::vector<unsigned> &number, long children)
{
	std::vector<unsigned> place(graph->nodes); /* in the order of levels, by number */

	for (long i = 0; i < graph->nodes; i++)
		place[number[i]] = (unsigned)i;
	unsigned edge = 0;
	for (long node = 0; node < graph->nodes; node++) {
		graph->offsets[node] = edge;
		long first = place[node] * children + 1;
		for (long child = first; child < first + children && child < graph->nodes; child++)
			graph->targets[edge++] = number[child];
	}
	graph->offsets[graph->nodes] = edge;
}

/* Returns the number of levels. */
static unsigned run(const struct graph *graph, struct search *search)
{
	const unsigned lanes = 256;
	unsigned count = 1, level = 0;

	search->frontier[0] = 0;
	for (; count; level++) {
		*search->found = 0;
		expand<<<(count + lanes - 1) / lanes, lanes>>>(
			graph->offsets, graph->targets, search->frontier, count, search->distances,
			search->next, search->found, level);
		HIP_CHECK(hipGetLastError());
		HIP_CHECK(hipDeviceSynchronize());
		count = *search->found;
		std::swap(search->frontier, search->next);
	}
	return level;
}

static long count_wrong(const struct search *search, const std::vector<unsigned> &number,
			long children)
{
	long wrong = 0, end = 1;
	unsigned level = 0;

	for (long i = 0; i < (long)number.size(); i++) {
		if (i == end) {
			level++;
			end = end * children + 1;
		}
		wrong += search->distances[number[i]] != level;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	long children = 4, depth = 7;
	bool shuffle = false;
	const struct option_row rows[] = {
		{"children", "COUNT", "of each node, at least 2 (default 4)", &children, nullptr,
		 nullptr},
		{"depth", "COUNT", "levels below the root (default 7)", &depth, nullptr, nullptr},
		{"shuffle", nullptr, "scatter the nodes of a level over the pages", nullptr,
		 &shuffle, nullptr},
	};
	parse_options(argc, argv, "Breadth-first search in a tree, a launch for each level.", rows,
		      3);
	struct graph graph = {};
	graph.nodes = children >= 2 && depth < 30 ? count_nodes(children, depth) : 0;
	if (graph.nodes < 3 || graph.nodes > 1 << 28) {
		fprintf(stderr, "bfs: --children must be 2 or more, the nodes at most 2^28\n");
		return 2;
	}
	graph.edges = graph.nodes - 1;
	graph.offsets = words(graph.nodes + 1);
	graph.targets = words(graph.edges);
	struct search search = {words(graph.nodes), words(graph.nodes), words(graph.nodes),
				words(1)};
	std::vector<unsigned> number = number_nodes(graph.nodes, shuffle);

	make_tree(&graph, number, children);
	memset(search.distances, 0xff, graph.nodes * 4);
	search.distances[0] = 0;
	unsigned levels = run(&graph, &search);
	long wrong = count_wrong(&search, number, children) + (levels != depth + 1);
	for (unsigned *memory : {search.found, search.next, search.frontier, search.distances,
				 graph.targets, graph.offsets})
		HIP_CHECK(hipFree(memory));
	return report("bfs", wrong);
}
