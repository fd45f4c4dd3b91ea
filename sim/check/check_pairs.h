/* Which launch and which allocation of one program is which of the other's. */
#ifndef UM_CHECK_PAIRS_H
#define UM_CHECK_PAIRS_H

#include "check_segments.h"

/* Places in the first side's list, and in the other's; SIZE_MAX: the other has none. */
struct um_check_pair {
	size_t here, there;
};

struct um_check_pairs {
	struct um_check_pair *pairs; /* every item of the first side's part, in order */
	size_t count, room;
	size_t *only_there; /* of the other's part, what is in no pair */
	size_t only_there_count, only_there_room;
};

/* Launches by their order in the parts. UM_ENOMEM, UM_ELIMIT. */
int um_check_pair_launches(struct um_check_pairs *, const struct um_check_side *here,
			   const struct um_check_part *here_part, const struct um_check_side *there,
			   const struct um_check_part *there_part);
/* Allocations: of those of a kind and size the n-th is the n-th. */
int um_check_pair_allocations(struct um_check_pairs *, const struct um_check_side *here,
			      const struct um_check_part *here_part,
			      const struct um_check_side *there,
			      const struct um_check_part *there_part);
void um_check_pairs_free(struct um_check_pairs *);

#endif
