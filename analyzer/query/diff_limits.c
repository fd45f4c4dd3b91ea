#include "diff_limits.h"

#include "trace/base/error.h"
#include "trace/base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const groups[] = {
	[UM_DIFF_COUNT] = "counts",
	[UM_DIFF_BYTES] = "bytes",
	[UM_DIFF_NS] = "time",
};
#define GROUPS (sizeof(groups) / sizeof(*groups))

void um_diff_limits_init(struct um_diff_limits *limits)
{
	limits->any = false;
	for (int i = 0; i < UM_DIFF_QUANTITIES; i++)
		limits->limit[i] = -1;
}

static int unknown(const char *name)
{
	const char *names[UM_DIFF_QUANTITIES + GROUPS], *meant;
	char list[700];
	size_t used = 0;

	for (size_t i = 0; i < GROUPS; i++)
		names[i] = groups[i];
	for (size_t i = 0; i < UM_DIFF_QUANTITIES; i++)
		names[GROUPS + i] = um_diff_quantities[i].name;
	for (size_t i = 0; i < GROUPS + UM_DIFF_QUANTITIES && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	meant = um_suggest(name, names, GROUPS + UM_DIFF_QUANTITIES, sizeof(*names));
	if (meant)
		return um_fail(UM_EINVAL, "--max-change: no figure \"%s\": did you mean \"%s\"?",
			       name, meant);
	return um_fail(UM_EINVAL, "--max-change: no figure \"%s\"; there are %s", name, list);
}

static int set(struct um_diff_limits *limits, const char *name, double limit)
{
	bool any = false;

	for (int i = 0; i < UM_DIFF_QUANTITIES; i++) {
		const struct um_diff_quantity_info *info = &um_diff_quantities[i];

		if (strcmp(info->name, name) != 0 && strcmp(groups[info->unit], name) != 0)
			continue;
		limits->limit[i] = limit;
		any = true;
	}
	limits->any |= any;
	return any ? 0 : unknown(name);
}

static int parse_one(struct um_diff_limits *limits, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[48], *end = NULL;
	double percent = 0;

	if (equals && equals - text < (long)sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
		percent = strtod(equals + 1, &end);
	}
	if (!end || end == equals + 1 || strcmp(end, "%") != 0 || !isfinite(percent) || percent < 0)
		return um_fail(UM_EINVAL,
			       "--max-change: \"%.60s\" is no limit: it takes a figure and a "
			       "percentage, bytes=1%%",
			       text);
	return set(limits, name, percent / 100);
}

int um_diff_limits_parse(struct um_diff_limits *limits, const char *text)
{
	char *copy = strdup(text), *rest = copy, *one;
	int error = copy ? 0 : um_fail(UM_ENOMEM, "out of memory");

	while (!error && (one = strsep(&rest, ",")))
		error = parse_one(limits, one);
	free(copy);
	return error;
}

static bool is_compared(const struct um_diff *diff, int quantity)
{
	return !diff->why_not[quantity] && diff->totals[UM_DIFF_A].value[quantity] != UM_NULL &&
	       diff->totals[UM_DIFF_B].value[quantity] != UM_NULL;
}

long um_diff_limits_hold(const struct um_diff_limits *limits, const struct um_diff *diff,
			 um_diff_beyond_fn beyond, void *context)
{
	long count = 0, compared = 0;

	for (int i = 0; i < UM_DIFF_QUANTITIES; i++) {
		int64_t a = diff->totals[UM_DIFF_A].value[i], b = diff->totals[UM_DIFF_B].value[i];
		double change = fabs((double)b - (double)a);

		if (limits->limit[i] < 0 || !is_compared(diff, i))
			continue;
		compared++;
		if (change <= limits->limit[i] * fabs((double)a))
			continue;
		beyond(context, (enum um_diff_quantity)i, a, b, limits->limit[i]);
		count++;
	}
	return compared
		       ? count
		       : um_fail(UM_ECHECK,
				 "--max-change: none of its figures can be compared in these files");
}
