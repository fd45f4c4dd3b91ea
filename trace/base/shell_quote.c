#include "shell_quote.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-+=:,./@%")];
}

static char *quote(char *at, const char *word)
{
	if (is_plain(word))
		return stpcpy(at, word);
	*at++ = '\'';
	for (; *word; word++)
		if (*word == '\'')
			at = stpcpy(at, "'\\''");
		else
			*at++ = *word;
	*at++ = '\'';
	return at;
}

char *um_shell_quote(char *const *words)
{
	size_t bytes = 1;

	for (char *const *word = words; *word; word++)
		bytes += 4 * strlen(*word) + 3;
	char *line = malloc(bytes), *at = line;
	if (!line)
		return NULL;
	for (char *const *word = words; *word; word++) {
		if (word != words)
			*at++ = ' ';
		at = quote(at, *word);
	}
	*at = '\0';
	return line;
}
