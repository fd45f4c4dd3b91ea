#include "heatmap.h"

#include "allocation_rank.h"

enum { PAGE_BYTES = 4096, PAGE_LINES = 64 };

static void init_map(struct um_heatmap *map, const struct um_summary *summary, int64_t allocation)
{
	for (size_t i = 0; i < summary->allocation_count; i++)
		if (summary->allocations[i].allocation == allocation)
			map->pages = (summary->allocations[i].bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	map->allocation = allocation;
	map->pages = map->pages > 0 ? map->pages : 1;
	map->pages_a_row = (map->pages - 1) / UM_HEATMAP_ROWS_MAX + 1;
	map->rows = (size_t)((map->pages - 1) / map->pages_a_row + 1);
}

void um_heatmaps_init(struct um_heatmaps *heat, const struct um_axis *axis,
		      const struct um_summary *summary, size_t columns)
{
	int64_t foremost[UM_HEATMAPS_MAX];

	*heat = (struct um_heatmaps){.axis = *axis};
	heat->axis.bins = um_axis_columns(axis, columns);
	heat->count = um_allocation_rank(summary, foremost, UM_HEATMAPS_MAX);
	for (size_t i = 0; i < heat->count; i++)
		init_map(&heat->maps[i], summary, foremost[i]);
}

void um_heatmaps_fini(struct um_heatmaps *heat)
{
	for (size_t i = 0; i < heat->count; i++)
		for (size_t layer = 0; layer < UM_HEAT_LAYERS; layer++)
			for (size_t row = 0; row < heat->maps[i].rows; row++)
				um_bins_destroy(heat->maps[i].cells[layer][row]);
}

static struct um_heatmap *find(struct um_heatmaps *heat, int64_t allocation)
{
	for (size_t i = 0; i < heat->count; i++)
		if (heat->maps[i].allocation == allocation)
			return &heat->maps[i];
	return NULL;
}

static int add_cell(struct um_heatmaps *heat, struct um_bins **cell, const struct um_placed *event,
		    int64_t amount)
{
	int error = *cell ? 0 : um_bins_create(cell, heat->axis.bins);

	if (!error)
		um_bins_add(*cell, um_axis_position(&heat->axis, event->start),
			    um_axis_position(&heat->axis, event->end), amount);
	return error;
}

/* Lines count in the row that they lie in; of faults each row has its share by pages, the last the rest. */
static int add_layer(struct um_heatmaps *heat, struct um_heatmap *map, enum um_heat_layer layer,
		     const struct um_placed *event)
{
	int64_t first = event->first_page, end, left = event->faults;
	int error = 0;

	if (first < 0 || event->pages < 1 || first >= map->pages)
		return 0;
	end = event->pages < map->pages - first ? first + event->pages : map->pages;
	for (int64_t page = first, next; page < end && !error; page = next) {
		int64_t row = page / map->pages_a_row, amount;

		next = (row + 1) * map->pages_a_row;
		next = next < end ? next : end;
		amount = (next - page) * PAGE_LINES;
		if (layer == UM_HEAT_FAULTS) {
			amount = next == end
					 ? left
					 : (int64_t)((double)event->faults * (double)(next - page) /
						     (double)(end - first));
			left -= amount;
		}
		if (amount > 0)
			error = add_cell(heat, &map->cells[layer][row], event, amount);
	}
	return error;
}

static int add_transfer(struct um_heatmaps *heat, struct um_heatmap *map,
			const struct um_placed *event)
{
	int error = 0;

	if (event->cause == UM_TRAFFIC_REMOTE_ACCESS)
		return add_layer(heat, map, UM_HEAT_REMOTE, event);
	if (event->bytes_to_device > 0 || event->bytes_between > 0)
		error = add_layer(heat, map, UM_HEAT_TO_DEVICE, event);
	if (!error && event->bytes_to_host > 0)
		error = add_layer(heat, map, UM_HEAT_TO_HOST, event);
	return error;
}

int um_heatmaps_add(struct um_heatmaps *heat, const struct um_placed *event)
{
	struct um_heatmap *map = find(heat, event->allocation);

	if (!map)
		return 0;
	switch (event->kind) {
	case UM_PLACED_TRANSFER:
		return add_transfer(heat, map, event);
	case UM_PLACED_FAULT:
		return add_layer(heat, map, UM_HEAT_FAULTS, event);
	default:
		return add_layer(heat, map,
				 event->is_host ? UM_HEAT_HOST_TOUCH : UM_HEAT_KERNEL_TOUCH, event);
	}
}

int64_t um_heatmap_total(const struct um_heatmap *map, enum um_heat_layer layer)
{
	int64_t total = 0;

	for (size_t row = 0; row < map->rows; row++)
		if (map->cells[layer][row] &&
		    __builtin_add_overflow(total, um_bins_total(map->cells[layer][row]), &total))
			return INT64_MAX;
	return total;
}
