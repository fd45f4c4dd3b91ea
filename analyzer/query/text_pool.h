/*
 * Strings that live as long as the struct they are shown in: rows of a database do not keep them.
 */
#ifndef UM_TEXT_POOL_H
#define UM_TEXT_POOL_H

struct um_text_pool;

int um_text_pool_create(struct um_text_pool **out);
void um_text_pool_destroy(struct um_text_pool *); /* NULL is legal */
/* Replaces *text, which may be NULL, by a copy that the pool owns. UM_ENOMEM. */
int um_text_pool_keep(struct um_text_pool *, const char **text);

#endif
