/* Numbers that were met, as intervals: those of pages or bytes, of which many lie beside each other. */
#ifndef UM_INTERVAL_SET_H
#define UM_INTERVAL_SET_H

#include <stddef.h>
#include <stdint.h>

struct um_interval {
	int64_t start, end; /* start < end */
};

/* Zeroed: empty. */
struct um_interval_set {
	struct um_interval *items;
	size_t count, capacity;
	size_t settled; /* of them from the first on are in order and apart */
};

/* Adds [start, end); nothing where that is empty. UM_ENOMEM. */
int um_interval_set_add(struct um_interval_set *, int64_t start, int64_t end);
/* Brings it in order: from then on items are ascending and apart. */
void um_interval_set_settle(struct um_interval_set *);
/* How many numbers it has. */
int64_t um_interval_set_total(struct um_interval_set *);
/* How many of `set` lie within [start * scale, end * scale) of an interval of `scaled`. */
int64_t um_interval_set_common(struct um_interval_set *set, struct um_interval_set *scaled,
			       int64_t scale);
void um_interval_set_fini(struct um_interval_set *);

#endif
