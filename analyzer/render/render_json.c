#include "render_json.h"

#include "trace/base/text_width.h"
#include "trace/db/trace_db.h"

#include <stdlib.h>
#include <string.h>

/* jansson refuses broken UTF-8, which a program may well have in its arguments or names. */
json_t *um_text_json(const char *text)
{
	json_t *json = json_string(text);

	if (json)
		return json;
	char *clean = strdup(text);
	for (char *at = clean; at && *at;) {
		int columns;
		size_t bytes = um_utf8_next(at, &columns);
		if (columns < 0)
			memset(at, '?', bytes);
		at += bytes;
	}
	json = clean ? json_string(clean) : NULL;
	free(clean);
	return json;
}

json_t *um_nullable_text_json(const char *text)
{
	return text ? um_text_json(text) : json_null();
}

json_t *um_integer_json(int64_t value)
{
	return value == UM_NULL ? json_null() : json_integer(value);
}
