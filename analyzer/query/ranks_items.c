/* Kernels by name and allocations by name and site, over the files of a group. */
#include "ranks_parts.h"

#include "query.h"
#include "trace/base/error.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What allocations of one key come to in a file. */
struct allocation {
	int64_t count, bytes;
	int64_t device_faults, host_faults;
	int64_t moved_to_device, moved_to_host, evicted;
	int64_t remote_to_device, remote_to_host, copied_to_device, copied_to_host;
	int64_t remote_mappings, traffic;
};

struct kernel {
	int64_t launches, duration_ns, faults;
	int64_t moved_to_device, moved_to_host, remote_to_device, remote_to_host;
	int64_t reads, writes, requests, remote_mappings, traffic;
};

#define KERNEL(member)	   offsetof(struct kernel, member)
#define ALLOCATION(member) offsetof(struct allocation, member)

const struct um_ranks_quantity um_ranks_kernel_quantities[] = {
	{"launches", "launches", "launches", UM_RANKS_COUNT, KERNEL(launches)},
	{"duration_ns", "GPU time", "GPU time", UM_RANKS_NS, KERNEL(duration_ns)},
	{"faults", "faults", "page faults", UM_RANKS_COUNT, KERNEL(faults)},
	{"migrated_to_device_bytes", "moved\nin", "moved in", UM_RANKS_BYTES,
	 KERNEL(moved_to_device)},
	{"migrated_to_host_bytes", "moved\nout", "moved out", UM_RANKS_BYTES,
	 KERNEL(moved_to_host)},
	{"remote_to_device_bytes", "remote\nin", "remote in", UM_RANKS_BYTES,
	 KERNEL(remote_to_device)},
	{"remote_to_host_bytes", "remote\nout", "remote out", UM_RANKS_BYTES,
	 KERNEL(remote_to_host)},
	{"reads", NULL, "reads", UM_RANKS_COUNT, KERNEL(reads)},
	{"writes", NULL, "writes", UM_RANKS_COUNT, KERNEL(writes)},
	{"requests", NULL, "requests", UM_RANKS_COUNT, KERNEL(requests)},
	{"remote_mappings", "remote\nmaps", "remote maps", UM_RANKS_COUNT, KERNEL(remote_mappings)},
	{"traffic_bytes", NULL, "traffic", UM_RANKS_BYTES, KERNEL(traffic)},
	{0},
};

const struct um_ranks_quantity um_ranks_allocation_quantities[] = {
	{"count", "number", "number", UM_RANKS_COUNT, ALLOCATION(count)},
	{"bytes", "bytes", "bytes", UM_RANKS_BYTES, ALLOCATION(bytes)},
	{"device_faults", "GPU\nfaults", "page faults of the GPU", UM_RANKS_COUNT,
	 ALLOCATION(device_faults)},
	{"host_faults", "host\nfaults", "page faults of the host", UM_RANKS_COUNT,
	 ALLOCATION(host_faults)},
	{"migrated_to_device_bytes", "moved\nin", "moved in", UM_RANKS_BYTES,
	 ALLOCATION(moved_to_device)},
	{"migrated_to_host_bytes", "moved\nout", "moved out", UM_RANKS_BYTES,
	 ALLOCATION(moved_to_host)},
	{"evicted_bytes", NULL, "evicted", UM_RANKS_BYTES, ALLOCATION(evicted)},
	{"remote_to_device_bytes", "remote\nin", "remote in", UM_RANKS_BYTES,
	 ALLOCATION(remote_to_device)},
	{"remote_to_host_bytes", "remote\nout", "remote out", UM_RANKS_BYTES,
	 ALLOCATION(remote_to_host)},
	{"copied_to_device_bytes", "copied\nin", "copied in", UM_RANKS_BYTES,
	 ALLOCATION(copied_to_device)},
	{"copied_to_host_bytes", "copied\nout", "copied out", UM_RANKS_BYTES,
	 ALLOCATION(copied_to_host)},
	{"remote_mappings", "remote\nmaps", "remote maps", UM_RANKS_COUNT,
	 ALLOCATION(remote_mappings)},
	{"traffic_bytes", NULL, "traffic", UM_RANKS_BYTES, ALLOCATION(traffic)},
	{0},
};

const struct um_ranks_quantity *um_ranks_main_quantity(const struct um_ranks_quantity *table,
						       bool is_timed)
{
	const char *name = is_timed ? "duration_ns" : "traffic_bytes";

	while (table->name && strcmp(table->name, name) != 0)
		table++;
	return table->name ? table : NULL;
}

/* --- finding them --- */

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_keys(const void *a, const void *b)
{
	const struct um_ranks_item *left = a, *right = b;
	int order = compare_texts(left->name, right->name);

	if (!order)
		order = compare_texts(left->site, right->site);
	return order ? order : compare_texts(left->kind, right->kind);
}

static struct um_ranks_item *begin_item(struct um_ranks_items *items,
					const struct um_ranks_item *key, struct um_text_pool *texts)
{
	struct um_ranks_item *item = calloc(1, sizeof(*item)), **place;

	if (!item) {
		um_fail(UM_ENOMEM, "out of memory");
		return NULL;
	}
	*item = *key;
	item->file = SIZE_MAX;
	for (size_t i = 0; i < UM_RANKS_QUANTITIES_MAX; i++)
		um_extent_init(&item->extents[i]);
	if (um_text_pool_keep(texts, &item->name) || um_text_pool_keep(texts, &item->site) ||
	    um_text_pool_keep(texts, &item->kind) ||
	    !(place = um_query_append(&items->items, &items->count, sizeof(*place)))) {
		free(item);
		return NULL;
	}
	*place = item;
	if (tsearch(item, &items->tree, compare_keys))
		return item;
	um_fail(UM_ENOMEM, "out of memory");
	return NULL;
}

static void close_file(struct um_ranks_item *item, const struct um_ranks_quantity *table)
{
	if (item->file == SIZE_MAX)
		return;
	for (size_t i = 0; table[i].name; i++)
		um_extent_add(&item->extents[i], item->current[i], item->file);
	item->ranks++;
	item->file = SIZE_MAX;
}

/* Adds the figures of a row of a file to the item with that key. */
static int add_row(struct um_ranks_items *items, const struct um_ranks_item *key,
		   const struct um_ranks_quantity *table, const void *row, size_t file,
		   struct um_text_pool *texts)
{
	struct um_ranks_item *const *found = tfind(key, &items->tree, compare_keys);
	struct um_ranks_item *item = found ? *found : begin_item(items, key, texts);

	if (!item)
		return UM_ENOMEM;
	bool is_first = item->file != file;
	if (is_first)
		close_file(item, table);
	item->file = file;
	for (size_t i = 0; table[i].name; i++) {
		int64_t value = *(const int64_t *)((const char *)row + table[i].offset);

		item->current[i] = is_first ? value : um_ranks_sum(item->current[i], value);
	}
	return 0;
}

/* --- their figures --- */

/* What is known of them; UM_NULL: nothing. */
static int64_t known_sum(const int64_t *parts, size_t count)
{
	int64_t sum = UM_NULL;

	for (size_t i = 0; i < count; i++)
		if (parts[i] != UM_NULL)
			sum = sum == UM_NULL ? parts[i] : um_ranks_sum(sum, parts[i]);
	return sum;
}

static int add_kernel(struct um_rank_group *group, const struct um_kernel_summary *of, size_t file,
		      struct um_text_pool *texts)
{
	const int64_t parts[] = {of->migrated_to_device_bytes, of->migrated_to_host_bytes,
				 of->remote_to_device_bytes, of->remote_to_host_bytes};
	const struct um_ranks_item key = {.name = of->name};
	const struct kernel row = {
		.launches = of->launches,
		.duration_ns =
			group->is_measured || group->is_simulation ? of->duration_ns : UM_NULL,
		.faults = of->faults,
		.moved_to_device = parts[0],
		.moved_to_host = parts[1],
		.remote_to_device = parts[2],
		.remote_to_host = parts[3],
		.reads = of->reads,
		.writes = of->writes,
		.requests = of->requests,
		.remote_mappings = group->is_measured ? of->remote_mappings : UM_NULL,
		.traffic = known_sum(parts, sizeof(parts) / sizeof(*parts)),
	};

	return add_row(&group->kernels, &key, um_ranks_kernel_quantities, &row, file, texts);
}

/* `count`: how many they are; into the allocations, or the parts of some. */
static int add_allocation(struct um_rank_group *group, struct um_ranks_items *items,
			  const struct um_allocation_summary *of, int64_t count, size_t file,
			  struct um_text_pool *texts)
{
	const int64_t parts[] = {of->migrated_to_device_bytes, of->migrated_to_host_bytes,
				 of->remote_to_device_bytes,   of->remote_to_host_bytes,
				 of->copied_to_device_bytes,   of->copied_to_host_bytes};
	const struct um_ranks_item key = {
		.name = of->name, .site = of->site, .kind = of->kind, .has_line = of->has_line};
	const struct allocation row = {
		.count = count,
		.bytes = of->bytes,
		.device_faults = of->device_faults,
		.host_faults = of->host_faults,
		.moved_to_device = parts[0],
		.moved_to_host = parts[1],
		.evicted = of->evicted_bytes,
		.remote_to_device = parts[2],
		.remote_to_host = parts[3],
		.copied_to_device = parts[4],
		.copied_to_host = parts[5],
		.remote_mappings = group->is_measured ? of->remote_mappings : UM_NULL,
		.traffic = known_sum(parts, sizeof(parts) / sizeof(*parts)),
	};

	return add_row(items, &key, um_ranks_allocation_quantities, &row, file, texts);
}

int um_ranks_add_items(struct um_rank_group *group, const struct um_summary *summary, size_t file,
		       struct um_text_pool *texts)
{
	int error = 0;

	for (size_t i = 0; i < summary->kernel_count && !error; i++)
		error = add_kernel(group, &summary->kernels[i], file, texts);
	for (size_t i = 0; i < summary->allocation_count && !error; i++)
		error = add_allocation(group, &group->allocations, &summary->allocations[i], 1,
				       file, texts);
	/* What lay in no part is the rest of its allocation, which has its row. */
	for (size_t i = 0; i < summary->part_count && !error; i++)
		if (summary->parts[i].of.name)
			error = add_allocation(group, &group->parts, &summary->parts[i].of,
					       summary->parts[i].times, file, texts);
	return error;
}

/* --- the end --- */

struct order {
	size_t main, second;
};

static int most_first(const void *a, const void *b, void *context)
{
	const struct um_ranks_item *left = *(const struct um_ranks_item *const *)a;
	const struct um_ranks_item *right = *(const struct um_ranks_item *const *)b;
	const struct order *order = context;
	const size_t by[] = {order->main, order->second};

	for (size_t i = 0; i < 2; i++) {
		int64_t x = left->extents[by[i]].sum, y = right->extents[by[i]].sum;

		if (x != y)
			return x < y ? 1 : -1;
	}
	return compare_keys(left, right);
}

static void finish(struct um_ranks_items *items, const struct um_ranks_quantity *table,
		   const size_t *place, bool is_timed)
{
	const struct um_ranks_quantity *main = um_ranks_main_quantity(table, is_timed);
	struct order order = {.main = (size_t)(main - table), .second = 1};

	for (size_t i = 0; i < items->count; i++) {
		struct um_ranks_item *item = items->items[i];

		close_file(item, table);
		for (size_t q = 0; table[q].name; q++) {
			item->extents[q].least_at = place[item->extents[q].least_at];
			item->extents[q].most_at = place[item->extents[q].most_at];
		}
	}
	if (items->count)
		qsort_r(items->items, items->count, sizeof(*items->items), most_first, &order);
}

void um_ranks_finish_items(struct um_rank_group *group, const size_t *place)
{
	finish(&group->kernels, um_ranks_kernel_quantities, place,
	       group->is_measured || group->is_simulation);
	finish(&group->allocations, um_ranks_allocation_quantities, place, false);
	finish(&group->parts, um_ranks_allocation_quantities, place, false);
}

static void keep_node(void *node)
{
	(void)node; /* the array has it too */
}

void um_ranks_free_items(struct um_ranks_items *items)
{
	tdestroy(items->tree, keep_node);
	for (size_t i = 0; i < items->count; i++)
		free(items->items[i]);
	free(items->items);
}
