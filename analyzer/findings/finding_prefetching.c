/* A prefetch where there is none: before which launches, as code and as rules. */
#include "finding_draft.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond so many launches a rule is for all of a kernel's. */
#define NTH_MOST 4

/* A kernel that brings pages of the group itself. */
struct bringer {
	const char *kernel;
	int device; /* of these launches: another device's are another one */
	const struct um_fact_op *first;
	uint32_t launches, bringing; /* of this name, on any device; of these, on this one */
	uint32_t nth[NTH_MOST];	     /* which, from 1 */
};

struct bringers {
	struct bringer *items;
	size_t count;
};

/* What a device reached before it could have been there already, had it been prefetched then. */
static bool was_devices(const struct um_facts *facts, const struct um_fact_use *use)
{
	const struct um_fact_allocation *allocation = &facts->allocations[use->allocation];
	size_t index = (size_t)(use - facts->uses), before = SIZE_MAX;

	for (size_t i = 0; i < allocation->use_count && allocation->uses[i] < index; i++)
		before = allocation->uses[i];
	return before != SIZE_MAX &&
	       um_facts_toucher(&facts->ops[facts->uses[before].op]) == UM_TOUCHED_BY_DEVICE;
}

static bool is_brought(const struct um_facts *facts, const struct um_fact_use *use)
{
	if (use->faulted_in || use->device_faults)
		return true;
	return use->remote && !was_devices(facts, use);
}

static const struct um_fact_use *use_of(const struct um_facts *facts, const struct um_fact_op *op,
					const struct um_fact_group *group)
{
	for (size_t i = op->first_use; i < op->first_use + op->use_count; i++)
		for (size_t j = 0; j < group->count; j++)
			if (&facts->allocations[facts->uses[i].allocation] == group->members[j] &&
			    is_brought(facts, &facts->uses[i]))
				return &facts->uses[i];
	return NULL;
}

/* Counts a launch; NULL: out of memory. */
static struct bringer *pass_launch(struct bringers *bringers, const struct um_fact_op *op)
{
	struct bringer *found = NULL;
	uint32_t before = 0;

	for (size_t i = 0; i < bringers->count; i++) {
		struct bringer *one = &bringers->items[i];

		if (strcmp(one->kernel, op->kernel) != 0)
			continue;
		before = one->launches++;
		if (one->device == um_op_device(op))
			found = one;
	}
	if (found)
		return found;
	found = um_query_append(&bringers->items, &bringers->count, sizeof(*found));
	if (found)
		*found = (struct bringer){
			.kernel = op->kernel, .device = um_op_device(op), .launches = before + 1};
	return found;
}

static bool is_on_others_too(const struct bringers *bringers, const struct bringer *bringer)
{
	for (size_t i = 0; i < bringers->count; i++)
		if (&bringers->items[i] != bringer &&
		    strcmp(bringers->items[i].kernel, bringer->kernel) == 0)
			return true;
	return false;
}

static int find_bringers(struct bringers *bringers, const struct um_finding_draft *draft)
{
	const struct um_facts *facts = draft->facts;

	for (size_t i = 0; i < facts->op_count; i++) {
		const struct um_fact_op *op = &facts->ops[i];
		struct bringer *bringer;

		if (op->kind != UM_OP_LAUNCH || !op->kernel || op->result)
			continue;
		bringer = pass_launch(bringers, op);
		if (!bringer)
			return UM_ENOMEM;
		if (!use_of(facts, op, draft->group))
			continue;
		if (!bringer->bringing)
			bringer->first = op;
		if (bringer->bringing < NTH_MOST)
			bringer->nth[bringer->bringing] = bringer->launches;
		bringer->bringing++;
	}
	return 0;
}

static void put_rule(FILE *out, const char *on, int device, const char *kernel, uint32_t nth,
		     bool own, unsigned ahead)
{
	fprintf(out, "  - on: %s\n    to: gpu%d\n    before: %s\n", on, device, kernel);
	if (nth)
		fprintf(out, "    nth: %u\n", nth);
	if (ahead)
		fprintf(out, "    ahead: %u\n", ahead);
	fprintf(out, "    stream: %s\n", own ? "own" : "kernel");
}

/*
 * One for every launch, or for each of a few. No rule means the launches of one device: of many there, the first
 * few.
 */
static int put_rules(FILE *out, struct um_finding_draft *draft, const struct bringer *bringer,
		     bool on_others_too, const char *on, bool own, unsigned ahead)
{
	const char *kernel = um_finding_quote(draft->out, bringer->kernel);

	if (!kernel)
		return UM_ENOMEM;
	if (!on_others_too &&
	    (bringer->bringing == bringer->launches || bringer->bringing > NTH_MOST)) {
		put_rule(out, on, bringer->device, kernel, 0, own, ahead);
		return 0;
	}
	for (uint32_t i = 0; i < bringer->bringing && i < NTH_MOST; i++)
		put_rule(out, on, bringer->device, kernel, bringer->nth[i], own, ahead);
	return 0;
}

/* `text` is malloc'ed. */
static int write_rules(char **text, struct um_finding_draft *draft, const struct bringers *bringers,
		       bool own, unsigned ahead)
{
	size_t bytes, selectors = 0;
	const char **on = NULL;
	FILE *out = open_memstream(text, &bytes);
	int error = 0;

	if (!out)
		return um_fail(UM_ENOMEM, "out of memory");
	error = um_finding_selectors(draft->out, draft->facts, draft->group, &on, &selectors);
	fputs("prefetch:\n", out);
	for (size_t i = 0; i < bringers->count && !error; i++)
		for (size_t j = 0; j < selectors && !error && bringers->items[i].bringing; j++)
			error = put_rules(out, draft, &bringers->items[i],
					  is_on_others_too(bringers, &bringers->items[i]), on[j],
					  own, ahead);
	free(on);
	return fclose(out) == 0 || error ? error : um_fail(UM_ENOMEM, "out of memory");
}

static const struct bringer *first_bringer(const struct bringers *bringers)
{
	const struct bringer *first = NULL;

	for (size_t i = 0; i < bringers->count; i++)
		if (bringers->items[i].bringing &&
		    (!first || bringers->items[i].first->op < first->first->op))
			first = &bringers->items[i];
	return first;
}

static const char *code_of(struct um_finding_draft *draft, const struct bringer *first, bool own,
			   unsigned ahead)
{
	const char *what = um_group_pointer_and_bytes(draft);
	const char *device = um_device_code(draft, first->device);
	const char *stream = own			 ? "a stream of its own"
			     : first->first->stream == 0 ? "0"
							 : "stream";
	const char *when = ahead ? " one launch earlier" : "";

	if (!what || !device)
		return NULL;
	if (own)
		return um_finding_text(draft->out,
				       "hipMemPrefetchAsync(%s, %s, prefetch_stream); "
				       "// before %s%s, on %s",
				       what, device, first->kernel, when, stream);
	return um_finding_text(draft->out, "hipMemPrefetchAsync(%s, %s, %s); // before %s%s", what,
			       device, stream, first->kernel, when);
}

int um_change_prefetch(struct um_finding_draft *draft, bool own, unsigned ahead)
{
	struct bringers bringers = {0};
	const struct bringer *first;
	struct um_finding_place at;
	char *text = NULL;
	int error = find_bringers(&bringers, draft);

	first = first_bringer(&bringers);
	if (!error && first) {
		error = write_rules(&text, draft, &bringers, own, ahead);
		at = um_facts_place(draft->facts, first->first);
		if (!error)
			error = um_finding_change(draft->out, draft->finding, &at,
						  code_of(draft, first, own, ahead),
						  um_finding_text(draft->out, "%s", text), NULL);
	}
	free(text);
	free(bringers.items);
	return error;
}
