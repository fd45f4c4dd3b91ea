#include "apply_keys.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* More places than a trace has; a larger number is damage. */
#define SITES_MAX (INT64_C(1) << 26)

struct loading {
	struct um_occurrences *all;
	uint32_t allocations;
	int64_t *parents;
};

static int add(struct um_occurrences *all, const struct um_occurrence *added)
{
	if (all->count == all->capacity) {
		size_t capacity = all->capacity ? 2 * all->capacity : 256;
		struct um_occurrence *grown =
			reallocarray(all->items, capacity, sizeof(*all->items));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory");
		all->items = grown;
		all->capacity = capacity;
	}
	all->items[all->count++] = *added;
	return 0;
}

/* --- sites --- */

static int note_parent(const void *row, void *context)
{
	const struct um_site_row *site = row;
	struct loading *loading = context;

	if (site->site > 0 && site->site < loading->all->site_count && site->parent != UM_NULL)
		loading->parents[site->site] = site->parent;
	return 0;
}

/* By number, and a parent's is below its own. */
static int hash_site(const void *row, void *context)
{
	const struct um_frame_row *frame = row;
	struct loading *loading = context;
	struct um_occurrences *all = loading->all;

	if (frame->site <= 0 || frame->site >= all->site_count)
		return 0;
	int64_t parent = loading->parents[frame->site];

	if (parent >= frame->site)
		return um_fail(UM_EFORMAT, "site %lld is called from a later one",
			       (long long)frame->site);
	all->site_hashes[frame->site] = um_apply_site_hash(
		um_occurrences_site(all, parent), frame->module, (uint64_t)frame->offset_bytes);
	return 0;
}

static int load_sites(struct loading *loading, struct um_db *trace)
{
	struct um_occurrences *all = loading->all;
	int64_t last = 0;
	int error = um_db_integer(trace, "SELECT MAX(site) FROM site WHERE ?1 = 0", 0, &last);

	if (error || last == UM_NULL)
		return error;
	if (last < 0 || last >= SITES_MAX)
		return um_fail(UM_EFORMAT, "%s: no trace has %lld sites", um_db_path(trace),
			       (long long)last);
	all->site_count = last + 1;
	all->site_hashes = calloc((size_t)all->site_count, sizeof(*all->site_hashes));
	loading->parents = calloc((size_t)all->site_count, sizeof(*loading->parents));
	if (!all->site_hashes || !loading->parents)
		return um_fail(UM_ENOMEM, "out of memory");
	error = um_db_each(trace, &um_table_site, NULL, 0, note_parent, loading);
	return error ? error
		     : um_db_each(trace, &um_table_frame, "depth = ?", 0, hash_site, loading);
}

uint64_t um_occurrences_site(const struct um_occurrences *all, int64_t site)
{
	return site > 0 && site < all->site_count ? all->site_hashes[site] : 0;
}

/* --- what happened --- */

static int add_allocation(const void *row, void *context)
{
	const struct um_allocation_row *allocation = row;
	struct loading *loading = context;
	struct um_occurrence added = {
		.kind = UM_APPLY_ALLOCATION,
		.hash = um_occurrences_site(loading->all, allocation->site),
		.allocation_place = loading->allocations++,
		.op = allocation->op == UM_NULL ? 0 : allocation->op,
		.row = allocation->allocation,
	};

	/* Nobody asks for pageable memory. */
	if (strcmp(allocation->kind, "pageable") == 0)
		return 0;
	if (!added.hash && allocation->name)
		added.hash = um_apply_text_hash(allocation->name);
	return added.hash ? add(loading->all, &added) : 0;
}

static int add_name(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct loading *loading = context;
	const struct um_occurrence added = {
		.kind = UM_APPLY_NAME,
		.hash = um_occurrences_site(loading->all, op->site),
		.op = op->op,
		.row = op->op,
	};

	return added.hash ? add(loading->all, &added) : 0;
}

static int add_launch(const void *row, void *context)
{
	const struct um_kernel_row *kernel = row;
	struct loading *loading = context;
	const struct um_occurrence added = {
		.kind = UM_APPLY_LAUNCH,
		.hash = um_apply_text_hash(kernel->symbol ? kernel->symbol : kernel->name),
		.op = kernel->op,
		.row = kernel->op,
	};

	return add(loading->all, &added);
}

static int compare(const void *left, const void *right)
{
	const struct um_occurrence *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static void number(struct um_occurrences *all)
{
	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), compare);
	for (size_t i = 0; i < all->count; i++) {
		const struct um_occurrence *before = i ? &all->items[i - 1] : NULL;

		all->items[i].nth = before && before->kind == all->items[i].kind &&
						    before->hash == all->items[i].hash
					    ? before->nth + 1
					    : 1;
	}
}

int um_occurrences_load(struct um_occurrences *all, struct um_db *trace)
{
	struct loading loading = {.all = all};

	*all = (struct um_occurrences){0};
	int error = load_sites(&loading, trace);

	if (!error)
		error = um_db_each(trace, &um_table_allocation, NULL, 0, add_allocation, &loading);
	if (!error)
		error = um_db_each(trace, &um_table_op, "kind = 'name' AND op > ?", INT64_MIN,
				   add_name, &loading);
	if (!error)
		error = um_db_each(trace, &um_table_kernel, NULL, 0, add_launch, &loading);
	free(loading.parents);
	if (!error)
		number(all);
	return error;
}

void um_occurrences_fini(struct um_occurrences *all)
{
	free(all->items);
	free(all->site_hashes);
	*all = (struct um_occurrences){0};
}
