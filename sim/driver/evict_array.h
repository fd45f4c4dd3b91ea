/* Units in an array in which each knows its place: what random and belady keep. */
#ifndef UM_EVICT_ARRAY_H
#define UM_EVICT_ARRAY_H

#include "evict_units.h"

struct um_evict_array {
	struct um_evict_units all;
	uint32_t *numbers; /* [0, count) */
	uint32_t count, capacity;
};

void um_evict_array_fini(struct um_evict_array *);
/* Adds the unit at the end. UM_ENOMEM. */
int um_evict_array_add(struct um_evict_array *, const struct um_page_range *);
/* Removes the last; its number is not valid any more. */
void um_evict_array_remove_last(struct um_evict_array *);

static inline struct um_evict_unit *um_evict_at(const struct um_evict_array *array, uint32_t place)
{
	return &array->all.units[array->numbers[place]];
}

static inline void um_evict_put(struct um_evict_array *array, uint32_t place, uint32_t number)
{
	array->numbers[place] = number;
	array->all.units[number].place = place;
}

static inline void um_evict_swap(struct um_evict_array *array, uint32_t a, uint32_t b)
{
	uint32_t number = array->numbers[a];

	um_evict_put(array, a, array->numbers[b]);
	um_evict_put(array, b, number);
}

#endif
