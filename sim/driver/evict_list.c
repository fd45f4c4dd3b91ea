#include "evict_list.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

int um_evict_list_create(struct um_evict_order **out, const struct um_evict_ops *ops)
{
	struct um_evict_list *list = calloc(1, sizeof(*list));

	if (!list)
		return um_fail(UM_ENOMEM, "no memory for an eviction order");
	list->base.ops = ops;
	*out = &list->base;
	return 0;
}

void um_evict_list_destroy(struct um_evict_order *order)
{
	struct um_evict_list *list = (struct um_evict_list *)order;

	if (!list)
		return;
	um_evict_units_fini(&list->all);
	free(list->links);
	free(list);
}

static int grow_links(struct um_evict_list *list)
{
	uint32_t needed = list->all.capacity, capacity = um_evict_units_room(&list->all);
	struct um_evict_link *grown;

	if (list->capacity < needed) {
		grown = realloc(list->links, (size_t)capacity * sizeof(*grown));
		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for an eviction order of %u pages",
				       capacity);
		list->links = grown;
		list->capacity = capacity;
	}
	memset(list->links + list->linked, 0xff, (needed - list->linked) * sizeof(*list->links));
	if (!list->linked)
		list->links[UM_NO_UNIT] = (struct um_evict_link){UM_NO_UNIT, UM_NO_UNIT};
	list->linked = needed;
	return 0;
}

int um_evict_list_arrived(struct um_evict_order *order, const struct um_page_range *unit)
{
	struct um_evict_list *list = (struct um_evict_list *)order;
	uint32_t number;
	int error = um_evict_units_add(&list->all, unit, &number);

	if (!error && list->linked < list->all.capacity)
		error = grow_links(list);
	if (!error)
		um_evict_list_append(list->links, number);
	return error;
}

void um_evict_list_left(struct um_evict_order *order, um_alloc_id id, um_page first_page)
{
	struct um_evict_list *list = (struct um_evict_list *)order;
	uint32_t number = um_evict_units_begun(&list->all, id, first_page);

	if (!number)
		return;
	um_evict_list_unlink(list->links, number);
	list->links[number].older = UM_NOT_IN_LIST;
	um_evict_units_remove(&list->all, number);
}

bool um_evict_list_victim(struct um_evict_order *order, struct um_page_range *unit)
{
	const struct um_evict_list *list = (const struct um_evict_list *)order;
	uint32_t oldest = list->links ? list->links[UM_NO_UNIT].younger : UM_NO_UNIT;

	if (oldest)
		*unit = um_evict_units_range(&list->all, oldest);
	return oldest;
}

void um_evict_list_ahead(const struct um_evict_order *order, um_alloc_id id, um_page first_page)
{
	const struct um_evict_list *list = (const struct um_evict_list *)order;
	uint32_t number = um_evict_units_number(&list->all, id, first_page);

	if (!number)
		return;
	__builtin_prefetch(&list->links[number], 1);
	__builtin_prefetch(&list->all.pages[number], 1);
}
