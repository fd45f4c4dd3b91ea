/* Values of a trace as JSON; NULL where there is no memory. */
#ifndef UM_RENDER_JSON_H
#define UM_RENDER_JSON_H

#include <jansson.h>
#include <stdint.h>

/* Any bytes: those that are no UTF-8 become '?'. */
json_t *um_text_json(const char *text);
/* NULL is null. */
json_t *um_nullable_text_json(const char *text);
/* UM_NULL is null. */
json_t *um_integer_json(int64_t value);

#endif
