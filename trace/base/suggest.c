#include "suggest.h"

#include <stdint.h>
#include <string.h>

enum { LENGTH_MAX = 40 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein, where two neighbours swapped count as one edit. Both at most LENGTH_MAX long. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][LENGTH_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1, row[j]);
		}
		unsigned *oldest = before;
		before = above;
		above = row;
		row = oldest;
	}
	return above[b_length];
}

const char *um_suggest(const char *text, const char *const *names, size_t count, size_t stride)
{
	const char *best = NULL;
	size_t text_length = strlen(text);
	unsigned best_distance = UINT32_MAX;

	if (text_length > LENGTH_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *name = *(const char *const *)((const char *)names + i * stride);
		size_t length = name ? strlen(name) : LENGTH_MAX + 1;

		if (length > LENGTH_MAX)
			continue;
		unsigned edits = distance(text, text_length, name, length);
		if (edits < best_distance && edits <= 1 + length / 3 && edits < length) {
			best = name;
			best_distance = edits;
		}
	}
	return best;
}
