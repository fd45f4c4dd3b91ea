#include "facts.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct um_fact_allocation *um_facts_find_allocation(struct um_facts *facts, int64_t id)
{
	size_t low = 0, high = facts->allocation_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (facts->allocations[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < facts->allocation_count && facts->allocations[low].id == id
		       ? &facts->allocations[low]
		       : NULL;
}

const struct um_fact_allocation *um_facts_allocation(const struct um_facts *facts, int64_t id)
{
	return um_facts_find_allocation((struct um_facts *)facts, id);
}

struct um_fact_op *um_facts_find_op(struct um_facts *facts, int64_t op)
{
	size_t low = 0, high = facts->op_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (facts->ops[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low < facts->op_count && facts->ops[low].op == op ? &facts->ops[low] : NULL;
}

const struct um_fact_op *um_facts_op(const struct um_facts *facts, int64_t op)
{
	return um_facts_find_op((struct um_facts *)facts, op);
}

const struct um_fact_page *um_facts_page(const struct um_fact_allocation *allocation, int64_t page)
{
	static const struct um_fact_page nothing;
	const struct um_fact_block *block;

	if (!allocation->blocks || page < 0 || page >= allocation->page_count)
		return &nothing;
	block = &allocation->blocks[page / UM_FACT_BLOCK_PAGES];
	return block->pages ? &block->pages[page % UM_FACT_BLOCK_PAGES] : &block->all;
}

enum um_toucher um_facts_toucher(const struct um_fact_op *op)
{
	switch (op->kind) {
	case UM_OP_HOST:
		return UM_TOUCHED_BY_HOST;
	case UM_OP_LAUNCH:
	case UM_OP_MEMSET:
	case UM_OP_COPY:
		return UM_TOUCHED_BY_DEVICE;
	default:
		return UM_TOUCHED_BY_NOBODY;
	}
}

int um_op_device(const struct um_fact_op *op)
{
	return op->device > 0 && op->device < UM_DEVICES_MAX ? (int)op->device : 0;
}

/* --- groups --- */

static bool are_alike(const struct um_fact_allocation *a, const struct um_fact_allocation *b)
{
	return a->kind == b->kind && a->at.text && b->at.text &&
	       strcmp(a->at.text, b->at.text) == 0;
}

struct grouping {
	const struct um_fact_allocation **members; /* room for all */
	bool *taken;
};

static void gather(const struct um_facts *facts, const struct grouping *grouping, size_t first,
		   struct um_fact_group *group)
{
	group->count = 0;
	group->bytes = 0;
	for (size_t i = first; i < facts->allocation_count; i++) {
		const struct um_fact_allocation *one = &facts->allocations[i];

		if (grouping->taken[i] ||
		    (i != first && !are_alike(&facts->allocations[first], one)))
			continue;
		grouping->taken[i] = true;
		grouping->members[group->count++] = one;
		group->bytes += one->bytes;
	}
}

int um_facts_groups(const struct um_facts *facts,
		    bool (*wanted)(const struct um_fact_allocation *, void *),
		    int (*call)(const struct um_fact_group *, void *), void *context)
{
	struct grouping grouping = {
		calloc(facts->allocation_count + 1, sizeof(*grouping.members)),
		calloc(facts->allocation_count + 1, sizeof(*grouping.taken)),
	};
	struct um_fact_group group = {.members = grouping.members};
	int error = grouping.members && grouping.taken ? 0 : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; i < facts->allocation_count && !error; i++)
		grouping.taken[i] = !wanted(&facts->allocations[i], context);
	for (size_t i = 0; i < facts->allocation_count && !error; i++) {
		if (grouping.taken[i])
			continue;
		gather(facts, &grouping, i, &group);
		error = call(&group, context);
	}
	free(grouping.members);
	free(grouping.taken);
	return error;
}
