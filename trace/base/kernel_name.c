#include "kernel_name.h"

#include <string.h>

/* The '(' before the arguments: not that of "(anonymous namespace)", nor one within <...>. */
static size_t length_to_arguments(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t at = 0;
	unsigned depth = 0;

	while (name[at]) {
		if (strncmp(name + at, anonymous, sizeof(anonymous) - 1) == 0) {
			at += sizeof(anonymous) - 1;
			continue;
		}
		if (name[at] == '(' && depth == 0)
			break;
		depth += name[at] == '<';
		depth -= name[at] == '>' && depth > 0;
		at++;
	}
	return at;
}

/* Without a trailing <...>. */
static size_t length_to_template(const char *name, size_t length)
{
	size_t at = length;
	unsigned depth = 0;

	if (length == 0 || name[length - 1] != '>')
		return length;
	while (at > 0) {
		at--;
		depth += name[at] == '>';
		depth -= name[at] == '<';
		if (depth == 0)
			return at;
	}
	return length;
}

struct um_kernel_name um_kernel_name(const char *demangled)
{
	/* A template's signature begins with its return type, which is void for a kernel. */
	struct um_kernel_name name = {
		.start = strncmp(demangled, "void ", 5) == 0 ? demangled + 5 : demangled,
	};

	name.length = length_to_arguments(name.start);
	name.bare_length = length_to_template(name.start, name.length);
	return name;
}
