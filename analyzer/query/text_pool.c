#include "text_pool.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct text {
	struct text *next;
	char bytes[];
};

struct um_text_pool {
	struct text *first;
};

int um_text_pool_create(struct um_text_pool **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

void um_text_pool_destroy(struct um_text_pool *pool)
{
	if (!pool)
		return;
	while (pool->first) {
		struct text *next = pool->first->next;
		free(pool->first);
		pool->first = next;
	}
	free(pool);
}

int um_text_pool_keep(struct um_text_pool *pool, const char **text)
{
	if (!*text)
		return 0;
	size_t bytes = strlen(*text) + 1;
	struct text *kept = malloc(sizeof(*kept) + bytes);
	if (!kept)
		return um_fail(UM_ENOMEM, "out of memory");
	memcpy(kept->bytes, *text, bytes);
	kept->next = pool->first;
	pool->first = kept;
	*text = kept->bytes;
	return 0;
}
