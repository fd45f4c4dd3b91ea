/* The text: one criterion after another, a letter for its kind ('a' is the first), its value, NUL. */
#include "selection.h"

#include "trace/base/error.h"
#include "trace/base/kernel_name.h"

#include <fnmatch.h>
#include <string.h>

/* Names that are longer are held against patterns as far as that. */
#define NAME_BYTES 4096u

const char *const um_criterion_names[UM_CRITERIA] = {
	[UM_SELECT_KERNELS] = "kernels",
	[UM_SELECT_EXCLUDE_KERNELS] = "exclude-kernels",
	[UM_SELECT_LAUNCHES] = "launches",
	[UM_SELECT_RANGES] = "ranges",
	[UM_SELECT_PROFILE_FROM_START] = "profile-from-start",
};

/* --- numbers --- */

/* Digits up to `end`, at least 1. */
static bool parse_number(const char *text, const char *end, uint64_t *out)
{
	uint64_t number = 0;

	if (text == end)
		return false;
	for (; text < end; text++)
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
			return false;
	*out = number;
	return number > 0;
}

bool um_selection_launches(const char *value, uint64_t *first, uint64_t *last)
{
	const char *dots = strstr(value, ".."), *end = value + strlen(value);

	*first = 1;
	*last = UINT64_MAX;
	if (!dots) {
		bool is_number = parse_number(value, end, first);

		*last = *first;
		return is_number;
	}
	if (dots == value && dots + 2 == end)
		return false;
	return (dots == value || parse_number(value, dots, first)) &&
	       (dots + 2 == end || parse_number(dots + 2, end, last)) && *first <= *last;
}

/* --- what was asked for --- */

/* What is wrong with a pattern; NULL: nothing. */
static const char *fault_of(const char *pattern)
{
	const char *bracket = NULL;

	if (!*pattern)
		return "the pattern is empty";
	for (const char *at = pattern; *at; at++) {
		if (*at == '\\') {
			if (!*++at)
				return "the pattern ends with a '\\' that quotes nothing";
		} else if (*at == '[' && !bracket) {
			bracket = at;
		} else if (*at == ']' && bracket && at > bracket + 1) {
			bracket = NULL;
		}
	}
	return bracket ? "the pattern has a '[' without its ']' (\\[ is the character)" : NULL;
}

static int check(enum um_criterion criterion, const char *value)
{
	const char *option = um_criterion_names[criterion], *fault;
	uint64_t first, last;

	switch (criterion) {
	case UM_SELECT_LAUNCHES:
		if (um_selection_launches(value, &first, &last))
			return 0;
		return um_fail(
			UM_EINVAL,
			"--%s: '%s' is no range of numbers from 1 on: 10..20, 10.., ..20 or 10",
			option, value);
	case UM_SELECT_PROFILE_FROM_START:
		return strcmp(value, "off") == 0
			       ? 0
			       : um_fail(UM_EINVAL, "--%s: '%s' is not off", option, value);
	default:
		fault = fault_of(value);
		return fault ? um_fail(UM_EINVAL, "--%s: '%s': %s", option, value, fault) : 0;
	}
}

int um_selection_add(char text[UM_SELECTION_BYTES], enum um_criterion criterion, const char *value)
{
	const char *at = NULL, *known;
	enum um_criterion other;
	size_t used = 0, bytes = strlen(value) + 2;
	int error = check(criterion, value);

	if (error)
		return error;
	while (um_selection_next(text, &at, &other, &known))
		used = (size_t)(known - text) + strlen(known) + 1;
	if (used + bytes + 1 > UM_SELECTION_BYTES)
		return um_fail(UM_ELIMIT, "--%s: what selects launches is longer than %u bytes",
			       um_criterion_names[criterion], UM_SELECTION_BYTES);
	text[used] = (char)('a' + criterion);
	memcpy(text + used + 1, value, bytes - 1);
	text[used + bytes] = '\0';
	return 0;
}

bool um_selection_next(const char *text, const char **at, enum um_criterion *criterion,
		       const char **value)
{
	const char *item = *at ? *at + strlen(*at) + 1 : text;

	if (*item < 'a' || *item >= 'a' + UM_CRITERIA)
		return false;
	*at = item;
	*criterion = (enum um_criterion)(*item - 'a');
	*value = item + 1;
	return true;
}

bool um_selection_has(const char *text, enum um_criterion wanted)
{
	const char *at = NULL, *value;
	enum um_criterion criterion;

	while (um_selection_next(text, &at, &criterion, &value))
		if (criterion == wanted)
			return true;
	return false;
}

/* --- what holds --- */

static bool part_matches(const char *pattern, const char *text, size_t length)
{
	char part[NAME_BYTES];

	if (length >= sizeof(part))
		length = sizeof(part) - 1;
	memcpy(part, text, length);
	part[length] = '\0';
	return fnmatch(pattern, part, 0) == 0;
}

bool um_selection_is_kernel(const char *pattern, const char *demangled)
{
	struct um_kernel_name name = um_kernel_name(demangled);

	return fnmatch(pattern, demangled, 0) == 0 ||
	       part_matches(pattern, name.start, name.length) ||
	       part_matches(pattern, name.start, name.bare_length);
}

bool um_selection_takes_kernel(const char *text, const char *demangled)
{
	const char *at = NULL, *value;
	enum um_criterion criterion;
	bool asked = false, named = false, excluded = false;

	while (um_selection_next(text, &at, &criterion, &value)) {
		asked |= criterion == UM_SELECT_KERNELS;
		if (criterion == UM_SELECT_KERNELS)
			named = named || um_selection_is_kernel(value, demangled);
		if (criterion == UM_SELECT_EXCLUDE_KERNELS)
			excluded = excluded || um_selection_is_kernel(value, demangled);
	}
	return (named || !asked) && !excluded;
}

bool um_selection_takes_launch(const char *text, uint64_t of_run, uint64_t of_kernel)
{
	uint64_t number = um_selection_has(text, UM_SELECT_KERNELS) ? of_kernel : of_run;
	uint64_t first, last;
	const char *at = NULL, *value;
	enum um_criterion criterion;
	bool asked = false;

	while (um_selection_next(text, &at, &criterion, &value)) {
		if (criterion != UM_SELECT_LAUNCHES)
			continue;
		asked = true;
		if (um_selection_launches(value, &first, &last) && number >= first &&
		    number <= last)
			return true;
	}
	return !asked;
}

bool um_selection_takes_range(const char *text, const char *name)
{
	const char *at = NULL, *value;
	enum um_criterion criterion;

	while (um_selection_next(text, &at, &criterion, &value))
		if (criterion == UM_SELECT_RANGES && fnmatch(value, name, 0) == 0)
			return true;
	return false;
}
