/*
 * Amounts spread over bins of equal width: so many bytes from here to there. Adding one costs the same
 * however many bins it spans. What is read are integers that add up to the total, exactly.
 */
#ifndef UM_BINS_H
#define UM_BINS_H

#include <stddef.h>
#include <stdint.h>

struct um_bins;

/* `count` of 1 and more. UM_ENOMEM. */
int um_bins_create(struct um_bins **out, size_t count);
void um_bins_destroy(struct um_bins *); /* NULL is legal */
size_t um_bins_count(const struct um_bins *);
/* What was added, together; INT64_MAX where that is more than 64 bits (a damaged file's). */
int64_t um_bins_total(const struct um_bins *);
/*
 * Spreads `amount` evenly over [start, end), in bins from 0 to the count; what lies beyond goes to the
 * first or the last bin, an empty interval to the bin that it lies in. Amounts below 1 are nothing.
 */
void um_bins_add(struct um_bins *, double start, double end, int64_t amount);
/*
 * The bins, rounded so that their sums from the first on are off by less than 1; `out` has room for the
 * count. Their sum is the total.
 */
void um_bins_read(const struct um_bins *, int64_t *out);

#endif
