#include "evict_list.h"

#include "trace/base/error.h"

#include <stdlib.h>

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

static void append(struct um_evict_list *list, uint32_t number)
{
	list->links[number] = (struct um_evict_link){list->youngest, UM_NO_UNIT};
	*(list->youngest ? &list->links[list->youngest].younger : &list->oldest) = number;
	list->youngest = number;
}

static void unlink_unit(struct um_evict_list *list, uint32_t number)
{
	struct um_evict_link link = list->links[number];

	*(link.older ? &list->links[link.older].younger : &list->oldest) = link.younger;
	*(link.younger ? &list->links[link.younger].older : &list->youngest) = link.older;
}

static int grow_links(struct um_evict_list *list)
{
	struct um_evict_link *grown =
		realloc(list->links, (size_t)list->all.capacity * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %u units",
			       list->all.capacity);
	list->links = grown;
	list->capacity = list->all.capacity;
	return 0;
}

int um_evict_list_arrived(struct um_evict_order *order, const struct um_page_range *unit)
{
	struct um_evict_list *list = (struct um_evict_list *)order;
	uint32_t number;
	int error = um_evict_units_add(&list->all, unit, &number);

	if (!error && list->capacity < list->all.capacity)
		error = grow_links(list);
	if (!error)
		append(list, number);
	return error;
}

void um_evict_list_renew(struct um_evict_list *list, uint32_t number)
{
	if (number == list->youngest)
		return;
	unlink_unit(list, number);
	append(list, number);
}

void um_evict_list_left(struct um_evict_order *order, um_alloc_id id, um_page first_page)
{
	struct um_evict_list *list = (struct um_evict_list *)order;
	uint32_t number = um_evict_units_begun(&list->all, id, first_page);

	if (!number)
		return;
	unlink_unit(list, number);
	um_evict_units_remove(&list->all, number);
}

bool um_evict_list_victim(struct um_evict_order *order, struct um_page_range *unit)
{
	const struct um_evict_list *list = (const struct um_evict_list *)order;

	if (list->oldest)
		*unit = list->all.pages[list->oldest];
	return list->oldest;
}
