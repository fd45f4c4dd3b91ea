/*
 * Fragmentation of a device's memory against what the program asks for: a request that does not fit although as
 * many bytes are free, since they are parts of blocks that smaller allocations keep. The device allocations
 * of the program are placed again in program order by the rules of the allocator below hipMalloc()
 * (placement.h). What is not placed is said with the finding: of managed memory nothing, since a driver evicts
 * it where device memory is asked for; and the parts that an allocator of the program hands out of a block of
 * hipMalloc()'s: the block is placed, holes within it are the program's. What hipMallocAsync() returns is placed as
 * hipMalloc()'s is (an assumption: what a pool keeps for later is not known).
 *
 * What would mend it is replayed by the same rules: the allocations of one line as one, which holds the most
 * that they have at once. Only a line is named with which every request of the program fits.
 */
#include "finding_draft.h"
#include "placement.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

/* Whose blocks are how large, and who says so. */
static const struct allocator {
	const char *driver;
	uint64_t block_bytes;
	const char *source;
} allocators[] = {
	{"amdgpu_svm", 2 * MIB, "ROCr's rules (amd_memory_region.cpp, simple_heap.h)"},
	{"nvidia_uvm", 2 * MIB,
	 "blocks of 2 MiB (cuMemGetAllocationGranularity()); that requests are put into the "
	 "smallest hole is an assumption"},
};

/* An allocation or a free, in program order. */
struct event {
	int64_t op;
	size_t allocation; /* index into facts->allocations */
	bool is_free;
};

struct events {
	struct event *items;
	size_t count;
};

/* A request that does not fit, and the memory then. */
struct failure {
	bool is_one;
	size_t allocation;
	uint64_t free_bytes, free_block_bytes;
};

struct search {
	struct um_finding_draft *draft;
	const struct allocator *allocator;
	struct events events;
	int64_t device;
	struct failure failure;
	uint64_t *unused_bytes; /* by allocation: in the blocks that it held then */
	uint64_t best_unused_bytes;
	const struct um_fact_allocation *best; /* the first of the line; NULL: none so far */
};

static int64_t device_of(const struct um_fact_allocation *allocation)
{
	return allocation->device == UM_NULL ? 0 : allocation->device;
}

/* --- events --- */

static int in_order(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static int add_event(struct events *events, int64_t op, size_t allocation, bool is_free)
{
	struct event *added = um_query_append(&events->items, &events->count, sizeof(*added));

	if (!added)
		return UM_ENOMEM;
	*added = (struct event){op, allocation, is_free};
	return 0;
}

/* Of one device; what was there from the start has no op. */
static int list_events(struct events *events, const struct um_facts *facts, int64_t device)
{
	int error = 0;

	for (size_t i = 0; i < facts->allocation_count && !error; i++) {
		const struct um_fact_allocation *one = &facts->allocations[i];

		if (one->kind != UM_ALLOCATION_DEVICE || one->bytes <= 0 ||
		    device_of(one) != device)
			continue;
		error = add_event(events, one->op == UM_NULL ? -1 : one->op, i, false);
		if (!error && one->freed_op != UM_NULL)
			error = add_event(events, one->freed_op, i, true);
	}
	if (!error && events->count)
		qsort(events->items, events->count, sizeof(*events->items), in_order);
	return error;
}

/* --- placing --- */

/* Allocations that are one, from the first of them to the end of the last. */
struct pool {
	bool *members; /* by allocation */
	uint64_t bytes;
	struct um_placed_memory *placed;
	size_t live, to_come;
};

struct placing {
	const struct search *search;
	struct pool *pool; /* NULL: as it is */
	struct um_placement *placement;
	struct um_placed_memory **placed; /* by allocation */
	struct failure failure;
};

static const struct um_fact_allocation *allocation_of(const struct placing *placing, size_t index)
{
	return &placing->search->draft->facts->allocations[index];
}

static int put(struct placing *placing, size_t allocation, uint64_t bytes,
	       struct um_placed_memory **out)
{
	uint64_t memory = placing->search->draft->facts->memory_bytes;
	int error = um_placement_put(placing->placement, bytes, out);

	if (!error && !*out)
		placing->failure = (struct failure){
			true, allocation, memory - um_placement_asked_bytes(placing->placement),
			memory - um_placement_held_bytes(placing->placement)};
	return error;
}

static int put_part(struct placing *placing, size_t allocation)
{
	struct pool *pool = placing->pool;

	pool->to_come--;
	pool->live++;
	return pool->placed ? 0 : put(placing, allocation, pool->bytes, &pool->placed);
}

static void end_part(struct placing *placing)
{
	struct pool *pool = placing->pool;

	if (--pool->live || pool->to_come)
		return;
	um_placement_remove(placing->placement, pool->placed);
	pool->placed = NULL;
}

static int pass(struct placing *placing, const struct event *event)
{
	struct pool *pool = placing->pool;
	bool is_part = pool && pool->members[event->allocation];

	if (!event->is_free)
		return is_part ? put_part(placing, event->allocation)
			       : put(placing, event->allocation,
				     (uint64_t)allocation_of(placing, event->allocation)->bytes,
				     &placing->placed[event->allocation]);
	if (is_part) {
		end_part(placing);
		return 0;
	}
	um_placement_remove(placing->placement, placing->placed[event->allocation]);
	placing->placed[event->allocation] = NULL;
	return 0;
}

/* All until one does not fit. */
static int place_all(struct placing *placing)
{
	const struct events *events = &placing->search->events;
	int error = 0;

	for (size_t i = 0; i < events->count && !error && !placing->failure.is_one; i++)
		error = pass(placing, &events->items[i]);
	return error;
}

static int placing_init(struct placing *placing, const struct search *search, struct pool *pool)
{
	const struct um_facts *facts = search->draft->facts;

	*placing = (struct placing){
		.search = search,
		.pool = pool,
		.placed = calloc(facts->allocation_count + 1, sizeof(*placing->placed)),
	};
	if (!placing->placed)
		return um_fail(UM_ENOMEM, "out of memory");
	return um_placement_create(&placing->placement, facts->memory_bytes,
				   search->allocator->block_bytes);
}

static void placing_fini(struct placing *placing)
{
	size_t count = placing->search->draft->facts->allocation_count;

	for (size_t i = 0; placing->placement && i < count; i++)
		um_placement_remove(placing->placement, placing->placed[i]);
	if (placing->placement && placing->pool)
		um_placement_remove(placing->placement, placing->pool->placed);
	um_placement_destroy(placing->placement);
	free(placing->placed);
}

/* --- as it is --- */

static int place_as_it_is(struct search *search)
{
	struct placing placing;
	size_t count = search->draft->facts->allocation_count;
	int error = placing_init(&placing, search, NULL);

	if (!error)
		error = place_all(&placing);
	search->failure = placing.failure;
	for (size_t i = 0; i < count && !error; i++)
		search->unused_bytes[i] =
			placing.placed[i]
				? um_placement_unused_bytes(placing.placement, placing.placed[i])
				: 0;
	placing_fini(&placing);
	return error;
}

/* --- with the allocations of one line as one --- */

static uint64_t most_at_once(const struct search *search, const bool *members)
{
	const struct um_fact_allocation *all = search->draft->facts->allocations;
	uint64_t now = 0, most = 0;

	for (size_t i = 0; i < search->events.count; i++) {
		const struct event *event = &search->events.items[i];
		uint64_t bytes = (uint64_t)all[event->allocation].bytes;

		if (!members[event->allocation])
			continue;
		now = event->is_free ? now - bytes : now + bytes;
		most = now > most ? now : most;
	}
	return most;
}

static int would_fit(const struct search *search, const struct um_fact_group *group, bool *fits,
		     uint64_t *bytes)
{
	const struct um_facts *facts = search->draft->facts;
	struct pool pool = {
		.members = calloc(facts->allocation_count + 1, sizeof(*pool.members)),
		.to_come = group->count,
	};
	struct placing placing;
	int error;

	if (!pool.members)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < group->count; i++)
		pool.members[group->members[i] - facts->allocations] = true;
	pool.bytes = most_at_once(search, pool.members);
	error = placing_init(&placing, search, &pool);
	if (!error)
		error = place_all(&placing);
	*fits = !placing.failure.is_one;
	*bytes = pool.bytes;
	placing_fini(&placing);
	free(pool.members);
	return error;
}

static bool is_of_device(const struct um_fact_allocation *allocation, void *context)
{
	const struct search *search = context;

	return allocation->kind == UM_ALLOCATION_DEVICE && allocation->bytes > 0 &&
	       device_of(allocation) == search->device;
}

static uint64_t unused_of(const struct search *search, const struct um_fact_group *group)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < group->count; i++)
		sum += search->unused_bytes[group->members[i] - search->draft->facts->allocations];
	return sum;
}

static int consider(const struct um_fact_group *group, void *context)
{
	struct search *search = context;
	uint64_t unused = unused_of(search, group), bytes;
	bool fits;
	int error;

	if (group->count < 2 || unused <= search->best_unused_bytes)
		return 0;
	error = would_fit(search, group, &fits, &bytes);
	if (error || !fits)
		return error;
	search->best_unused_bytes = unused;
	search->best = group->members[0];
	return 0;
}

/* --- what is said --- */

static int tell_not_placed(struct um_finding_draft *draft)
{
	int64_t managed = 0;

	for (size_t i = 0; i < draft->facts->allocation_count; i++)
		managed += draft->facts->allocations[i].kind == UM_ALLOCATION_MANAGED;
	return um_finding_evidence_text(
		draft->out, draft->finding, "not placed", "inferred",
		"%lld managed allocation%s, which drivers evict; parts that the program hands out "
		"of an allocation",
		(long long)managed, managed == 1 ? "" : "s");
}

static int tell_evidence(struct search *search)
{
	struct um_finding_draft *draft = search->draft;
	const struct failure *failure = &search->failure;
	const struct um_fact_allocation *request = &draft->facts->allocations[failure->allocation];
	const char *slash = request->at.text ? strrchr(request->at.text, '/') : NULL;
	int error = um_draft_accessed(draft, "the request", UM_UNIT_BYTES, request->bytes);
	const struct {
		const char *label;
		uint64_t bytes;
	} memory[] = {
		{"free then", failure->free_bytes},
		{"of it in whole blocks", failure->free_block_bytes},
		{"unused in blocks of this line's", search->best_unused_bytes},
	};

	if (!error)
		error = um_finding_evidence_text(draft->out, draft->finding, "the request's line",
						 draft->facts->accesses, "%s",
						 slash		    ? slash + 1
						 : request->at.text ? request->at.text
								    : "not known");
	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory) && !error; i++)
		error = um_finding_evidence(draft->out, draft->finding, memory[i].label,
					    UM_UNIT_BYTES, (int64_t)memory[i].bytes, "modelled");
	if (!error)
		error = um_draft_accessed(draft, "allocations of this line", UM_UNIT_COUNT,
					  (int64_t)draft->group->count);
	return error ? error : tell_not_placed(draft);
}

static int tell(struct search *search)
{
	struct um_finding_draft *draft = search->draft;
	const struct um_fact_allocation *request =
		&draft->facts->allocations[search->failure.allocation];
	char asked[32], left[32], whole[32];
	int error;

	um_format_bytes(asked, sizeof(asked), (uint64_t)request->bytes);
	um_format_bytes(left, sizeof(left), search->failure.free_bytes);
	um_format_bytes(whole, sizeof(whole), search->failure.free_block_bytes);
	error = um_draft_title(draft, "%s of device memory do not fit where %s are free", asked,
			       left);
	if (!error)
		error = um_draft_because(
			draft,
			"Only %s are free in whole blocks of 2 MiB: %s %s blocks that are not "
			"full. It may be otherwise: placed by %s.",
			whole, draft->finding->subject, um_draft_verb(draft, "keeps", "keep"),
			search->allocator->source);
	return error ? error : tell_evidence(search);
}

static int change(struct search *search, uint64_t pool_bytes)
{
	struct um_finding_draft *draft = search->draft;
	const char *code = um_finding_text(
		draft->out,
		"hipMalloc(&pool, %lld); // once; the parts: pool + offset, which um_name() may "
		"name",
		(long long)pool_bytes);

	if (!code)
		return UM_ENOMEM;
	return um_finding_change(draft->out, draft->finding, &draft->group->members[0]->at, code,
				 NULL,
				 "no policy puts allocations together; placed again with this, all "
				 "of the program's requests fit");
}

static int say(const struct um_fact_group *group, void *context)
{
	struct search *search = context;
	struct um_finding_draft *draft = search->draft;
	uint64_t pool_bytes;
	bool fits;
	int error;

	if (group->members[0] != search->best)
		return 0;
	error = would_fit(search, group, &fits, &pool_bytes);
	if (error)
		return error;
	draft->group = group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	draft->finding->verdict = UM_FINDING_FAULT;
	draft->finding->is_certain = false;
	draft->finding->first_op = draft->finding->last_op =
		draft->facts->allocations[search->failure.allocation].op;
	error = tell(search);
	return error ? error : change(search, pool_bytes);
}

static bool fits_by_bytes(const struct search *search)
{
	const struct um_fact_allocation *request =
		&search->draft->facts->allocations[search->failure.allocation];

	return (uint64_t)request->bytes <= search->failure.free_bytes;
}

static int look_at_device(struct search *search)
{
	const struct um_facts *facts = search->draft->facts;
	int error = list_events(&search->events, facts, search->device);

	if (!error)
		error = place_as_it_is(search);
	if (error || !search->failure.is_one || !fits_by_bytes(search))
		return error;
	error = um_facts_groups(facts, is_of_device, consider, search);
	return error || !search->best ? error : um_facts_groups(facts, is_of_device, say, search);
}

static const struct allocator *find_allocator(const struct um_facts *facts)
{
	for (size_t i = 0; facts->policy && i < sizeof(allocators) / sizeof(*allocators); i++)
		if (strcmp(allocators[i].driver, facts->policy->driver->name) == 0)
			return &allocators[i];
	return NULL;
}

static int64_t last_device(const struct um_facts *facts)
{
	int64_t last = -1;

	for (size_t i = 0; i < facts->allocation_count; i++)
		if (facts->allocations[i].kind == UM_ALLOCATION_DEVICE &&
		    device_of(&facts->allocations[i]) > last)
			last = device_of(&facts->allocations[i]);
	return last < UM_DEVICES_MAX ? last : UM_DEVICES_MAX - 1;
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};
	const struct allocator *allocator = find_allocator(facts);
	int error = 0;

	for (int64_t device = 0; allocator && device <= last_device(facts) && !error; device++) {
		struct search search = {
			.draft = &draft,
			.allocator = allocator,
			.device = device,
			.unused_bytes =
				calloc(facts->allocation_count + 1, sizeof(*search.unused_bytes)),
		};

		error = search.unused_bytes ? look_at_device(&search)
					    : um_fail(UM_ENOMEM, "out of memory");
		free(search.unused_bytes);
		free(search.events.items);
	}
	return error;
}

const struct um_finding_rule um_finding_fragmentation = {
	.name = "fragmentation",
	.help = "device memory that is free, but not for what the program asks for",
	.needs = UM_NEEDS_NO_ACCESSES,
	.find = find,
};
