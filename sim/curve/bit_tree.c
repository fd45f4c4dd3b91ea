#include "bit_tree.h"

#include "trace/base/error.h"

#include <stdlib.h>

int um_bit_tree_init(struct um_bit_tree *tree, uint32_t limit)
{
	size_t words[UM_BIT_TREE_LEVELS], all = 0, below = limit ? limit : 1;
	uint64_t *memory;

	tree->levels = 0;
	do {
		below = (below + 63) / 64;
		words[tree->levels++] = below;
		all += below;
	} while (below > 1);
	memory = calloc(all, sizeof(*memory));
	tree->level[0] = memory;
	if (!memory)
		return um_fail(UM_ENOMEM, "no memory for a set of %u", limit);
	for (unsigned i = 1; i < tree->levels; i++)
		tree->level[i] = tree->level[i - 1] + words[i - 1];
	return 0;
}

void um_bit_tree_fini(struct um_bit_tree *tree)
{
	free(tree->level[0]);
	tree->level[0] = NULL;
}
