/* A treap: a search tree by address and a heap by random priorities, so that no order hurts it. */
#include "tap_memory.h"
#include "tap_map.h"

#include <stddef.h>

#define MAX_BLOCKS (1u << 22)

struct node {
	struct um_tap_block block;
	uint32_t priority;
	uint32_t left, right; /* 0: none */
};

static struct node *nodes; /* the first is not used */
static uint32_t root, node_count, free_nodes;
static uint32_t random_state = 2463534242u;

/* xorshift32 (Marsaglia 2003). */
static uint32_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

static uint32_t new_node(const struct um_tap_block *block)
{
	uint32_t node = free_nodes;

	if (!nodes)
		nodes = um_tap_reserve_memory(MAX_BLOCKS * sizeof(*nodes));
	if (!nodes || (!node && node_count + 1 >= MAX_BLOCKS))
		return 0;
	if (node)
		free_nodes = nodes[node].right;
	else
		node = ++node_count;
	nodes[node] = (struct node){.block = *block, .priority = next_random()};
	return node;
}

static void drop_node(uint32_t node)
{
	nodes[node].right = free_nodes;
	free_nodes = node;
}

/* Into those before the address and those from it on. */
static void split(uint32_t tree, uint64_t address, uint32_t *left, uint32_t *right)
{
	while (tree) {
		if (nodes[tree].block.address < address) {
			*left = tree;
			left = &nodes[tree].right;
			tree = *left;
		} else {
			*right = tree;
			right = &nodes[tree].left;
			tree = *right;
		}
	}
	*left = 0;
	*right = 0;
}

static uint32_t join(uint32_t left, uint32_t right)
{
	uint32_t tree, *at = &tree;

	while (left && right) {
		if (nodes[left].priority > nodes[right].priority) {
			*at = left;
			at = &nodes[left].right;
			left = *at;
		} else {
			*at = right;
			at = &nodes[right].left;
			right = *at;
		}
	}
	*at = left ? left : right;
	return tree;
}

/* The last one that begins at or before the address. */
static uint32_t floor_of(uint64_t address)
{
	uint32_t best = 0;

	for (uint32_t at = root; at;) {
		if (nodes[at].block.address <= address) {
			best = at;
			at = nodes[at].right;
		} else {
			at = nodes[at].left;
		}
	}
	return best;
}

static void remove_at(uint64_t address)
{
	uint32_t before, here, after;

	split(root, address, &before, &after);
	split(after, address + 1, &here, &after);
	root = join(before, after);
	if (here)
		drop_node(here);
}

/* A block of no bytes occupies its address. */
static uint64_t last_of(const struct um_tap_block *block)
{
	return block->address + (block->bytes ? block->bytes - 1 : 0);
}

bool um_tap_memory_add(const struct um_tap_block *block)
{
	uint32_t before, after, node;

	for (uint32_t old = floor_of(last_of(block));
	     old && last_of(&nodes[old].block) >= block->address; old = floor_of(last_of(block)))
		remove_at(nodes[old].block.address);
	node = new_node(block);
	if (!node)
		return false;
	split(root, block->address, &before, &after);
	root = join(join(before, node), after);
	return true;
}

const struct um_tap_block *um_tap_memory_find(uint64_t address)
{
	uint32_t node = floor_of(address);

	return node && address <= last_of(&nodes[node].block) ? &nodes[node].block : NULL;
}

bool um_tap_memory_remove(uint64_t address, struct um_tap_block *removed)
{
	uint32_t node = floor_of(address);

	if (!node || nodes[node].block.address != address)
		return false;
	*removed = nodes[node].block;
	remove_at(address);
	return true;
}
