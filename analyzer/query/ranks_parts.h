/* The parts that ranks.c puts together: not for the users of ranks.h. */
#ifndef UM_RANKS_PARTS_H
#define UM_RANKS_PARTS_H

#include "ranks.h"
#include "text_pool.h"

/* --- kinds (ranks_kind.c) --- */

/* Finds, or begins, the group that the file belongs to. NULL: UM_ENOMEM. */
struct um_rank_group *um_ranks_group(struct um_ranks *, const struct um_summary *);

/* --- figures (ranks_extent.c) --- */

void um_extent_init(struct um_extent *);
/* UM_NULL is not known, and adds nothing. */
void um_extent_add(struct um_extent *, int64_t value, size_t at);
/* Medians and outliers, of the sorted ranks. UM_ENOMEM. */
int um_ranks_compare(struct um_rank_group *);

/* --- kernels and allocations (ranks_items.c) --- */

/* Adds those of a file. UM_ENOMEM. */
int um_ranks_add_items(struct um_rank_group *, const struct um_summary *, size_t file,
		       struct um_text_pool *);
/* After the last file: `place` has for each file where its rank stands. */
void um_ranks_finish_items(struct um_rank_group *, const size_t *place);
void um_ranks_free_items(struct um_ranks_items *);

/* a + b; UM_NULL where one is not known or there is no room. */
int64_t um_ranks_sum(int64_t a, int64_t b);

#endif
