/*
 * Floating-point atomics by instructions of the hardware on memory that is not coarse-grained. On an MI100
 * and an MI200 such an instruction needs a coarse-grained allocation: elsewhere what it does is undefined,
 * without an error (HIP 5.2, amd_hip_unsafe_atomics.h: "in a coarse grain allocation"). Managed and pinned
 * memory are fine-grained unless the program says otherwise. Later devices do them anywhere.
 */
#include "finding_weight.h"

#include "sim/machine/machine.h"

#include <string.h>

/* hip_runtime_api.h 5.2: hipHostMallocNonCoherent. */
#define PINNED_NON_COHERENT 0x80000000

/* Where coarse-grained memory is needed. */
static const char *const archs[] = {"gfx908", "gfx90a", NULL};

static bool needs_coarse_grain(const struct um_facts *facts)
{
	for (size_t i = 0; archs[i] && facts->machine; i++)
		if (strncmp(facts->machine->arch, archs[i], strlen(archs[i])) == 0)
			return true;
	return false;
}

/* Whether all of it was made coarse-grained before it was first used so. Of parts it is not asked. */
static bool is_made_coarse(const struct um_facts *facts,
			   const struct um_fact_allocation *allocation, size_t before)
{
	bool is_coarse =
		allocation->kind == UM_ALLOCATION_PINNED && allocation->flags & PINNED_NON_COHERENT;

	for (size_t i = 0; i < before; i++) {
		const struct um_fact_op *op = &facts->ops[i];

		if (op->kind != UM_OP_ADVISE || op->result || op->allocation != allocation->id ||
		    op->bytes < allocation->bytes)
			continue;
		if (op->advice == UM_ADVICE_COARSE_GRAIN)
			is_coarse = true;
		else if (op->advice == UM_ADVICE_UNSET_COARSE_GRAIN)
			is_coarse = false;
	}
	return is_coarse;
}

static bool is_hardware_use(const struct um_fact_use *use, const struct um_fact_op *op)
{
	return op->kind == UM_OP_LAUNCH && use->hardware_atomics_pages > 0;
}

struct found {
	int64_t launches, pages, requests; /* requests: UM_NULL: not counted */
};

static int look_at_uses(struct um_finding_draft *draft, struct found *found, bool names_kernels)
{
	const struct um_facts *facts = draft->facts;
	int error = 0;

	*found = (struct found){0};
	for (size_t i = 0; i < draft->group->count; i++)
		for (size_t j = 0; j < draft->group->members[i]->use_count && !error; j++) {
			const struct um_fact_use *use =
				&facts->uses[draft->group->members[i]->uses[j]];
			const struct um_fact_op *op = &facts->ops[use->op];

			if (!is_hardware_use(use, op) ||
			    is_made_coarse(facts, draft->group->members[i], use->op))
				continue;
			found->launches++;
			found->pages += use->hardware_atomics_pages;
			found->requests = found->requests == UM_NULL || use->atomics == UM_NULL
						  ? UM_NULL
						  : found->requests + use->atomics;
			if (names_kernels)
				error = um_finding_kernel(draft->out, draft->finding, op->kernel);
		}
	return error;
}

static bool host_touches(const struct um_fact_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i]->host_uses)
			return true;
	return false;
}

static int add_changes(struct um_finding_draft *draft)
{
	const struct um_fact_allocation *first = draft->group->members[0];
	int error = 0;

	if (!host_touches(draft->group))
		error = um_change_allocate_as(draft, "device",
					      um_group_call(draft, "hipMalloc(&%s, %s);"));
	if (!error && first->kind == UM_ALLOCATION_MANAGED)
		error = um_finding_change(
			draft->out, draft->finding, &first->at,
			um_group_call(draft,
				      "hipMemAdvise(%s, %s, hipMemAdviseSetCoarseGrain, device);"),
			NULL, "it is about the result; how caches treat a page is not modelled");
	if (error)
		return error;
	return um_finding_change(draft->out, draft->finding, &first->at,
				 "use safeAtomicAdd(), or leave -munsafe-fp-atomics out", NULL,
				 "it is about the result; which instruction runs is not modelled");
}

static int describe(struct um_finding_draft *draft, const struct found *found)
{
	int error = um_draft_title(
		draft, "%s %s added to by floating-point atomics that need coarse-grained memory",
		draft->finding->subject, um_draft_verb(draft, "is", "are"));

	if (!error)
		error = um_draft_because(
			draft,
			"unsafeAtomicAdd(), and atomicAdd() with -munsafe-fp-atomics, is an "
			"instruction that a %s has for coarse-grained memory alone. On this memory "
			"the sums may be lost, without an error.",
			draft->facts->machine->arch);
	if (!error && found->requests != UM_NULL)
		error = um_draft_accessed(draft, "requests that are atomic", UM_UNIT_COUNT,
					  found->requests);
	if (!error)
		error = um_draft_accessed(draft, "launches with such", UM_UNIT_COUNT,
					  found->launches);
	return error ? error
		     : um_draft_accessed(draft, "pages added to so", UM_UNIT_COUNT, found->pages);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct found found;
	int error;

	draft->group = group;
	error = look_at_uses(draft, &found, false);
	if (error || !found.launches)
		return error;
	error = um_finding_begin(draft);
	if (error)
		return error;
	draft->finding->verdict = UM_FINDING_FAULT;
	draft->finding->concerned_ns = um_launch_time_ns(draft->facts, group);
	draft->finding->concerned_bytes = found.pages * UM_FACT_PAGE_BYTES;
	error = describe(draft, &found);
	if (!error)
		error = look_at_uses(draft, &found, true);
	return error ? error : add_changes(draft);
}

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind != UM_ALLOCATION_DEVICE;
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return needs_coarse_grain(facts) ? um_facts_groups(facts, is_wanted, look_at, &draft) : 0;
}

const struct um_finding_rule um_finding_float_atomics = {
	.name = "float-atomics",
	.help = "floating-point atomics of the hardware on memory that is not coarse-grained",
	.needs = UM_NEEDS_SOME_ACCESSES,
	.find = find,
};
