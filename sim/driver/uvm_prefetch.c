/* nvidia_uvm: what is brought along with pages that faulted (R7 to R11). */
#include "uvm.h"

#define BIG_PAGES   16u /* 64 KiB */
#define HUGE_LEAVES 32u /* 128 KiB: 515's leaf count (R10) */
#define TREE_WORDS  (UVM_MASK_WORDS + 1)
#define PERCENT	    100u

/* The tree of one service; leaves are the block's pages behind the ghosts. */
struct tree {
	uint64_t leaves[TREE_WORDS];
	uint32_t leaf_count;
	uint32_t ghosts;	 /* before the block's first page */
	struct uvm_region block; /* of the window */
};

/* Pages of the region, less its unaligned ends; empty if it has no aligned `pages`. */
static struct uvm_region aligned_part(struct uvm_region region, uint32_t pages)
{
	struct uvm_region part = {(region.first + pages - 1) / pages * pages,
				  region.end / pages * pages};

	if (part.end <= part.first)
		part = (struct uvm_region){region.end, region.end};
	return part;
}

static uint32_t ghosts_for(struct uvm_region block, uint32_t pages)
{
	struct uvm_region part = aligned_part(block, pages);

	return part.end > part.first && part.first > block.first
		       ? pages - (part.first - block.first)
		       : 0;
}

static uint32_t leaf_count(const struct uvm *uvm, struct uvm_region block)
{
	struct uvm_region huge = aligned_part(block, HUGE_LEAVES);
	uint32_t unit = uvm->version == UVM_515 && huge.end > huge.first ? HUGE_LEAVES : BIG_PAGES;

	return block.end - block.first + ghosts_for(block, unit);
}

static void mark(struct tree *tree, uint32_t first, uint32_t end)
{
	um_bitmap_fill(tree->leaves, first - tree->block.first + tree->ghosts, end - first, true);
}

static bool touches(const struct uvm_mask *mask, uint32_t first, uint32_t end)
{
	return mask && um_bitmap_count(mask->word, first, end - first) > 0;
}

/* One unit of 64 KiB, or what stands for one. */
static void mark_unit(struct tree *tree, uint32_t first, uint32_t end,
		      const struct uvm_mask *faulted, const struct uvm_mask *thrashing)
{
	if (end > first && touches(faulted, first, end) && !touches(thrashing, first, end))
		mark(tree, first, end);
}

static void mark_units(struct tree *tree, const struct uvm_mask *faulted,
		       const struct uvm_mask *thrashing)
{
	struct uvm_region block = tree->block, big = aligned_part(block, BIG_PAGES);

	mark_unit(tree, block.first, big.first, faulted, thrashing);
	for (uint32_t page = big.first; page < big.end; page += BIG_PAGES)
		mark_unit(tree, page, page + BIG_PAGES, faulted, thrashing);
	mark_unit(tree, big.end, block.end, faulted, thrashing);
}

static struct tree plant(const struct uvm *uvm, const struct uvm_block *block,
			 const struct uvm_mask *resident, const struct uvm_mask *faulted,
			 const struct uvm_mask *thrashing)
{
	struct tree tree = {.leaf_count = leaf_count(uvm, block->pages),
			    .ghosts = ghosts_for(block->pages, BIG_PAGES),
			    .block = block->pages};
	struct uvm_mask all = uvm_mask_of(block->pages), marked = uvm_or(*faulted, resident);
	struct uvm_region run = {0, 0};

	marked = uvm_and(marked, &all);
	while (uvm_next_run(&marked, run.end, &run))
		mark(&tree, run.first, run.end);
	mark_units(&tree, faulted, thrashing);
	return tree;
}

/* The largest node above the leaf that is marked densely enough; empty if none is. */
static struct uvm_region dense_node(const struct uvm *uvm, const struct tree *tree, uint32_t leaf)
{
	struct uvm_region dense = {0, 0};

	for (uint32_t size = 1;; size *= 2) {
		uint32_t first = leaf / size * size;
		uint32_t end = first + size < tree->leaf_count ? first + size : tree->leaf_count;
		uint64_t marked = um_bitmap_count(tree->leaves, first, end - first);

		if (marked * PERCENT > (end - first) * uvm->prefetch_threshold)
			dense = (struct uvm_region){first, end};
		if (size >= tree->leaf_count)
			return dense;
	}
}

/* Pages of the window that the leaves stand for; that it may begin late is the driver's (R10). */
static struct uvm_region pages_of_node(const struct uvm *uvm, const struct tree *tree,
				       struct uvm_region node)
{
	uint32_t pages = tree->block.end - tree->block.first, first, end;

	if (node.first >= tree->ghosts)
		first = node.first - tree->ghosts;
	else
		first = uvm->version == UVM_515 ? 0 : tree->ghosts;
	end = node.end > tree->ghosts ? node.end - tree->ghosts : 0;
	end = end < pages ? end : pages;
	return (struct uvm_region){tree->block.first + first, tree->block.first + end};
}

static struct uvm_mask climb(const struct uvm *uvm, const struct tree *tree,
			     const struct uvm_mask *from)
{
	struct uvm_mask found = {{0}};

	for (uint32_t page = uvm_find(from, 0, true); page < UVM_WINDOW_PAGES;
	     page = uvm_find(from, page + 1, true)) {
		uint32_t leaf = page - tree->block.first + tree->ghosts;
		struct uvm_region node = dense_node(uvm, tree, leaf);
		struct uvm_region pages = pages_of_node(uvm, tree, node);

		if (pages.end > pages.first)
			um_bitmap_fill(found.word, pages.first, pages.end - pages.first, true);
		if (pages.end == tree->block.end && node.end)
			break; /* what is behind the page is in it */
	}
	return found;
}

static bool is_resident_anywhere(const struct uvm *uvm, const struct uvm_block *block)
{
	struct uvm_mask all = uvm_mask_of(block->pages);

	for (uint32_t i = 0; i < uvm_places(uvm); i++) {
		struct uvm_mask here = uvm_and(all, &block->window->place[i].resident);

		if (!uvm_is_empty(&here))
			return true;
	}
	return false;
}

static struct uvm_mask candidates(const struct uvm *uvm, const struct uvm_block *block,
				  um_device_id to, const struct uvm_mask *faulted)
{
	const struct uvm_mask *thrashing = um_uvm_thrash_pages(block);
	um_device_id preferred = block->policy.preferred;
	struct uvm_mask calm = *faulted;
	struct tree tree;

	if (preferred == to && !is_resident_anywhere(uvm, block))
		return uvm_mask_of(block->pages);
	if (uvm->version >= UVM_590 && preferred != UVM_NOBODY && preferred != to)
		return (struct uvm_mask){{0}};
	tree = plant(uvm, block, &block->window->place[uvm_place_of(to)].resident, faulted,
		     thrashing);
	if (thrashing)
		uvm_remove(&calm, thrashing);
	return climb(uvm, &tree, &calm);
}

struct uvm_mask um_uvm_prefetch(struct uvm *uvm, struct uvm_block *block, um_device_id to,
				const struct uvm_mask *faulted)
{
	const struct uvm_place *place = &block->window->place[uvm_place_of(to)];
	const struct uvm_mask *thrashing = um_uvm_thrash_pages(block);
	struct uvm_mask none = {{0}}, along;

	if (!uvm->prefetches)
		return none;
	if (block->last_destination != to) {
		block->last_destination = to;
		block->faults_to_last = 0;
	}
	along = candidates(uvm, block, to, faulted);
	uvm_remove(&along, faulted);
	if (to == UM_HOST) {
		struct uvm_mask kept = uvm_and(place->resident, &place->mapped);

		uvm_remove(&along, &kept);
	}
	if (thrashing)
		uvm_remove(&along, thrashing);
	block->faults_to_last += uvm_count(faulted);
	return block->faults_to_last >= uvm->prefetch_min_faults ? along : none;
}
