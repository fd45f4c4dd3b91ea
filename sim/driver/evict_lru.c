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

static void renew(struct um_evict_link *links, uint32_t number)
{
	if (number == links[UM_NO_UNIT].older)
		return;
	um_evict_list_unlink(links, number);
	um_evict_list_append(links, number);
}

/* Some units are larger than a page, or the page is in none. */
static void renew_all(struct um_evict_list *list, const struct um_page_range *pages)
{
	um_page page = pages->first_page, end = pages->first_page + pages->pages;

	while (page < end) {
		uint32_t number = um_evict_units_next(&list->all, pages->allocation, &page, end);

		if (!number)
			break;
		renew(list->links, number);
	}
}

static void lru_touched(struct um_evict_order *order, const struct um_page_range *pages)
{
	struct um_evict_list *list = (struct um_evict_list *)order;
	uint32_t number = pages->pages == 1 ? um_evict_units_number(&list->all, pages->allocation,
								    pages->first_page)
					    : UM_NO_UNIT;

	if (number && list->links[number].older != UM_NOT_IN_LIST)
		renew(list->links, number);
	else
		renew_all(list, pages);
}

const struct um_evict_ops um_evict_lru = {
	.name = "lru",
	.summary = "the least recently used unit first, hits counted",
	.hypothetical = "a driver sees no hits",
	.create = lru_create,
	.destroy = um_evict_list_destroy,
	.arrived = um_evict_list_arrived,
	.touched = lru_touched,
	.ahead = um_evict_list_ahead,
	.left = um_evict_list_left,
	.victim = um_evict_list_victim,
};
