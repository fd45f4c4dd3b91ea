/* Units in a row, the one that came (or was used) first at the front: what fifo and lru keep. */
#ifndef UM_EVICT_LIST_H
#define UM_EVICT_LIST_H

#include "evict.h"
#include "evict_units.h"

struct um_evict_link {
	uint32_t older, younger; /* UM_NOT_IN_LIST: of no unit that is in it */
};
#define UM_NOT_IN_LIST UINT32_MAX

struct um_evict_list {
	struct um_evict_order base;
	struct um_evict_units all;
	/* Of a unit, by number; that of UM_NO_UNIT is the list's end: older than it is the youngest. */
	struct um_evict_link *links;
	uint32_t linked; /* numbers below have a link */
	uint32_t capacity;
};

int um_evict_list_create(struct um_evict_order **out, const struct um_evict_ops *);
void um_evict_list_destroy(struct um_evict_order *);
int um_evict_list_arrived(struct um_evict_order *, const struct um_page_range *unit);
void um_evict_list_left(struct um_evict_order *, um_alloc_id, um_page first_page);
void um_evict_list_ahead(const struct um_evict_order *, um_alloc_id, um_page first_page);
/* The oldest. */
bool um_evict_list_victim(struct um_evict_order *, struct um_page_range *unit);

static inline void um_evict_list_unlink(struct um_evict_link *links, uint32_t number)
{
	struct um_evict_link link = links[number];

	links[link.older].younger = link.younger;
	links[link.younger].older = link.older;
}

static inline void um_evict_list_append(struct um_evict_link *links, uint32_t number)
{
	uint32_t youngest = links[UM_NO_UNIT].older;

	links[number] = (struct um_evict_link){youngest, UM_NO_UNIT};
	links[youngest].younger = number;
	links[UM_NO_UNIT].older = number;
}

#endif
