/* Units in a row, the one that came (or was used) first at the front: what fifo and lru keep. */
#ifndef UM_EVICT_LIST_H
#define UM_EVICT_LIST_H

#include "evict.h"
#include "evict_units.h"

struct um_evict_list {
	struct um_evict_order base;
	struct um_evict_units all;
	struct um_evict_link *links; /* of a unit, by number */
	uint32_t capacity;
	uint32_t oldest, youngest;
};

struct um_evict_link {
	uint32_t older, younger;
};

int um_evict_list_create(struct um_evict_order **out, const struct um_evict_ops *);
void um_evict_list_destroy(struct um_evict_order *);
int um_evict_list_arrived(struct um_evict_order *, const struct um_page_range *unit);
/* The unit becomes the youngest. */
void um_evict_list_renew(struct um_evict_list *, uint32_t number);
void um_evict_list_left(struct um_evict_order *, um_alloc_id, um_page first_page);
/* The oldest. */
bool um_evict_list_victim(struct um_evict_order *, struct um_page_range *unit);

#endif
