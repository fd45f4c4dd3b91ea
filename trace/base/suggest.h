/* "did you mean": the nearest of a list of names. */
#ifndef UM_SUGGEST_H
#define UM_SUGGEST_H

#include <stddef.h>

/*
 * The name nearest to `text` among `count` strings that lie `stride` bytes apart, the first at
 * *names (so that the name member of an array of structs serves as well); NULL where none is near
 * enough to be meant (a third of its letters, at least one).
 */
const char *um_suggest(const char *text, const char *const *names, size_t count, size_t stride);

#endif
