#include "source_function.h"

#include "trace/base/kernel_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* libstdc++ (the Itanium C++ ABI's <cxxabi.h>). */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* Of "make<float>": without what is a template's. An operator may have a '<' of its own. */
static size_t bare_length(const char *name)
{
	const char *open = strncmp(name, "operator", 8) == 0 ? NULL : strchr(name, '<');

	return open && open != name ? (size_t)(open - name) : strlen(name);
}

/* Where the scopes begin that end before `at`: outside <>, () and {}, a space comes before them. */
static size_t scope_start(const char *text, size_t at)
{
	unsigned depth = 0;

	for (; at > 0; at--) {
		char c = text[at - 1];

		depth += c == '>' || c == ')' || c == '}';
		if (depth == 0 && (c == ' ' || c == '*' || c == '&'))
			break;
		depth -= depth > 0 && (c == '<' || c == '(' || c == '{');
	}
	return at;
}

static bool begins_a_name(const char *text, size_t at)
{
	return at == 0 || strchr(" *&:", text[at - 1]);
}

/* Of text[0, length): where the last name `bare` begins; `length` if there is none. */
static size_t find_name(const char *text, size_t length, const char *bare, size_t bare_bytes)
{
	for (size_t at = length; at-- > 0;) {
		size_t end = at + bare_bytes;

		if (end <= length && memcmp(text + at, bare, bare_bytes) == 0 &&
		    begins_a_name(text, at) && (end == length || strchr("<[(", text[end])))
			return at;
	}
	return length;
}

static char *scoped_name(const char *signature, const char *name)
{
	size_t bare = bare_length(name);
	size_t length = um_kernel_name(signature).length;

	length += (size_t)(um_kernel_name(signature).start - signature);
	size_t at = find_name(signature, length, name, bare);

	if (bare == 0 || at == length)
		return NULL;
	if (at > 0 && signature[at - 1] == ':')
		at = scope_start(signature, at);
	return strndup(signature + at, length - at);
}

/* Behind the return type, which a template's signature begins with. */
static size_t name_start(const char *signature, size_t length)
{
	const char *word = strstr(signature, "operator");
	size_t end =
		word && word - signature < (ptrdiff_t)length ? (size_t)(word - signature) : length;

	return scope_start(signature, end);
}

char *um_source_symbol_name(const char *symbol)
{
	int status;
	char *signature =
		strncmp(symbol, "_Z", 2) == 0 ? __cxa_demangle(symbol, NULL, NULL, &status) : NULL;

	if (!signature)
		return strdup(symbol);
	struct um_kernel_name name = um_kernel_name(signature);
	size_t at = name_start(name.start, name.length);
	char *scoped = strndup(name.start + at, name.length - at);

	free(signature);
	return scoped;
}

char *um_source_function_name(const char *name, const char *linkage_name)
{
	int status;
	char *signature = linkage_name && strncmp(linkage_name, "_Z", 2) == 0
				  ? __cxa_demangle(linkage_name, NULL, NULL, &status)
				  : NULL;
	char *scoped = signature ? scoped_name(signature, name) : NULL;

	free(signature);
	return scoped ? scoped : strdup(name);
}
