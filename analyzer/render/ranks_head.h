/* What a group of ranks is of. A part of render_ranks_text.c. */
#ifndef UM_RANKS_HEAD_H
#define UM_RANKS_HEAD_H

#include "render_ranks.h"

/* What the files are together, where they are of several kinds or not all are shown. */
void um_render_ranks_opening(FILE *out, const struct um_ranks *);
/* UM_ENOMEM. */
int um_render_ranks_head(FILE *out, const struct um_ranks *, const struct um_rank_group *);
/* "rank 3 (node1)", or without a rank its file. */
void um_put_rank(FILE *out, const struct um_rank_group *, size_t at);

#endif
