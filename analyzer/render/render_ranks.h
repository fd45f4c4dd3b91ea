/* A summary over ranks (query/ranks.h) for people and for programs. */
#ifndef UM_RENDER_RANKS_H
#define UM_RENDER_RANKS_H

#include "analyzer/query/ranks.h"

#include <stdio.h>

/* At most `rows` rows of a table, the rest said in a note; 0: all. UM_ENOMEM, UM_EIO. */
int um_render_ranks_text(FILE *out, const struct um_ranks *, size_t rows);
int um_render_ranks_json(FILE *out, const struct um_ranks *);

#endif
