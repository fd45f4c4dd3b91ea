#include "ingest_private.h"

#include <stdlib.h>
#include <string.h>

/* libstdc++ (the Itanium C++ ABI's <cxxabi.h>). */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* Bytes of the UTF-8 character at `text` (RFC 3629, section 4), 0 if it is none. */
static size_t character_bytes(const unsigned char *text, size_t left)
{
	static const struct {
		unsigned char first, last; /* of the leading byte */
		unsigned char low, high;   /* of the second */
		unsigned char bytes;
	} forms[] = {
		{0x20, 0x7e, 0, 0, 1},	     {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t bytes = forms[i].bytes;

		if (text[0] < forms[i].first || text[0] > forms[i].last || bytes > left)
			continue;
		if (bytes > 1 && (text[1] < forms[i].low || text[1] > forms[i].high))
			return 0;
		for (size_t j = 2; j < bytes; j++)
			if (text[j] < 0x80 || text[j] > 0xbf)
				return 0;
		return bytes;
	}
	return 0;
}

static void copy_clean(const char *text, size_t length, char out[UM_INGEST_TEXT])
{
	size_t used = 0;

	for (size_t i = 0; i < length;) {
		size_t bytes = character_bytes((const unsigned char *)text + i, length - i);

		if (used + (bytes ? bytes : 1) >= UM_INGEST_TEXT)
			break;
		if (bytes == 0)
			out[used++] = '?';
		for (size_t j = 0; j < bytes; j++)
			out[used++] = text[i + j];
		i += bytes ? bytes : 1;
	}
	out[used] = '\0';
}

bool um_ingest_text(const char **at, const char *end, char out[UM_INGEST_TEXT])
{
	const char *stop = memchr(*at, '\0', (size_t)(end - *at));

	if (!stop)
		return false;
	copy_clean(*at, (size_t)(stop - *at), out);
	*at = stop + 1;
	return true;
}

void um_ingest_field(const char *field, size_t capacity, char out[UM_INGEST_TEXT])
{
	copy_clean(field, strnlen(field, capacity), out);
}

char *um_ingest_demangle(const char *symbol)
{
	int status;
	char *name = strncmp(symbol, "_Z", 2) ? NULL : __cxa_demangle(symbol, NULL, NULL, &status);

	return name ? name : strdup(symbol);
}
