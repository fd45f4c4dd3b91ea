/*
 * lru: the unit that was accessed least recently leaves first. To come is an access, a prefetch too.
 * What no driver can do: hits do not reach it.
 */
#include "evict_list.h"

static int lru_create(struct um_evict_order **out, const struct um_evict_choice *choice,
		      um_device_id device)
{
	(void)device;
	return um_evict_list_create(out, choice->ops);
}

static void lru_touched(struct um_evict_order *order, const struct um_page_range *pages)
{
	struct um_evict_list *list = (struct um_evict_list *)order;
	um_page page = pages->first_page, end = pages->first_page + pages->pages;

	while (page < end) {
		uint32_t number = um_evict_units_next(&list->all, pages->allocation, &page, end);

		if (!number)
			break;
		um_evict_list_renew(list, number);
	}
}

const struct um_evict_ops um_evict_lru = {
	.name = "lru",
	.summary = "the least recently used unit first, hits counted",
	.hypothetical = "a driver sees no hits",
	.create = lru_create,
	.destroy = um_evict_list_destroy,
	.arrived = um_evict_list_arrived,
	.touched = lru_touched,
	.left = um_evict_list_left,
	.victim = um_evict_list_victim,
};
