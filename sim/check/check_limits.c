#include "check_limits.h"

#include "trace/base/error.h"
#include "trace/base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

static bool is_known(const char *name)
{
	for (int i = 0; i < UM_CHECK_QUANTITIES; i++)
		if (um_check_is_named((enum um_check_quantity)i, name))
			return true;
	return false;
}

/* "bytes, records, ..., or one by one bytes_to_device, ...": each group and quantity once. */
static void list_all(char *list, size_t capacity)
{
	size_t used = 0;

	for (int i = 0; i < UM_CHECK_QUANTITIES && used < capacity; i++)
		if (!i ||
		    strcmp(um_check_quantities[i].group, um_check_quantities[i - 1].group) != 0)
			used += (size_t)snprintf(list + used, capacity - used, "%s%s",
						 i ? ", " : "", um_check_quantities[i].group);
	for (int i = 0; i < UM_CHECK_QUANTITIES && used < capacity; i++)
		used += (size_t)snprintf(list + used, capacity - used, "%s%s",
					 i ? ", " : "; one by one ", um_check_quantities[i].name);
}

static int unknown(const char *name)
{
	char list[900];
	size_t stride = sizeof(*um_check_quantities);
	const char *meant =
		um_suggest(name, &um_check_quantities[0].name, UM_CHECK_QUANTITIES, stride);

	list_all(list, sizeof(list));
	if (!meant)
		meant = um_suggest(name, &um_check_quantities[0].group, UM_CHECK_QUANTITIES,
				   stride);
	if (meant)
		return um_fail(UM_EINVAL,
			       "--max-error: no quantity \"%s\": did you mean \"%s\"? There are %s",
			       name, meant, list);
	return um_fail(UM_EINVAL, "--max-error: no quantity \"%s\"; there are %s", name, list);
}

static int read_percent(double *out, const char *text, size_t length)
{
	char number[32], *end;

	if (length < 2 || length >= sizeof(number) || text[length - 1] != '%')
		return UM_EINVAL;
	snprintf(number, sizeof(number), "%.*s", (int)length - 1, text);
	*out = strtod(number, &end) / 100;
	return *end || end == number || !isfinite(*out) || *out < 0 ? UM_EINVAL : 0;
}

/* "15%", or "15%/35%". */
static int read_percents(struct um_check_limit *limit, const char *text, size_t length)
{
	const char *slash = memchr(text, '/', length);
	size_t first = slash ? (size_t)(slash - text) : length;
	int error = read_percent(&limit->limit, text, first);

	limit->ninetieth = INFINITY;
	if (!error && slash)
		error = read_percent(&limit->ninetieth, slash + 1, length - first - 1);
	return error;
}

static int read_one(struct um_check_limits *limits, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	struct um_check_limit *limit = &limits->limits[limits->count];
	size_t name_length = equals ? (size_t)(equals - text) : length;

	if (limits->count == UM_CHECK_LIMITS_MAX)
		return um_fail(UM_EINVAL, "--max-error: more than %d limits", UM_CHECK_LIMITS_MAX);
	if (!equals || name_length >= sizeof(limit->name) ||
	    read_percents(limit, equals + 1, length - name_length - 1))
		return um_fail(UM_EINVAL,
			       "--max-error: \"%.*s\" is no limit: it takes a quantity and a "
			       "percentage, bytes=1%%",
			       (int)length, text);
	snprintf(limit->name, sizeof(limit->name), "%.*s", (int)name_length, text);
	if (!is_known(limit->name))
		return unknown(limit->name);
	limits->count++;
	return 0;
}

int um_check_limits_parse(struct um_check_limits *limits, const char *text)
{
	const char *end = text + strlen(text);
	int error = 0;

	*limits = (struct um_check_limits){0};
	if (end > text && end[-1] == ',')
		return um_fail(UM_EINVAL, "--max-error: nothing behind the last comma");
	do {
		/* A title may have a comma: "remote maps, bytes". */
		size_t name_length = strcspn(text, "=");
		size_t length = name_length + strcspn(text + name_length, ",");

		error = read_one(limits, text, length);
		text += length + 1;
	} while (text < end && !error);
	return error;
}

const struct um_check_limit *um_check_limit_of(const struct um_check_limits *limits,
					       enum um_check_quantity quantity)
{
	for (size_t i = limits->count; i > 0; i--)
		if (um_check_is_named(quantity, limits->limits[i - 1].name))
			return &limits->limits[i - 1];
	return NULL;
}

/* --- holding --- */

static int nothing_of(const char *name)
{
	return um_fail(UM_ECHECK, "--max-error %s: nothing of it was both predicted and measured",
		       name);
}

static int check_compared(const struct um_check_limits *limits, const struct um_check_row *total)
{
	for (size_t i = 0; i < limits->count; i++) {
		bool is_any = false;

		for (int q = 0; q < UM_CHECK_QUANTITIES; q++)
			is_any = is_any || (um_check_is_named((enum um_check_quantity)q,
							      limits->limits[i].name) &&
					    um_check_is_compared(&total->figures[q]));
		if (!is_any)
			return nothing_of(limits->limits[i].name);
	}
	return 0;
}

static long hold_row(const struct um_check_limits *limits, const struct um_check_row *row,
		     const char *range, um_check_beyond_fn beyond, void *context)
{
	long found = 0;

	for (int i = 0; i < UM_CHECK_QUANTITIES; i++) {
		enum um_check_quantity quantity = (enum um_check_quantity)i;
		const struct um_check_limit *limit = um_check_limit_of(limits, quantity);
		const struct um_check_figure *figure = &row->figures[i];

		if (!limit || !um_check_is_compared(figure) ||
		    !um_check_is_beyond(figure, limit->limit))
			continue;
		beyond(context, range, quantity, figure, limit);
		found++;
	}
	return found;
}

long um_check_limits_hold(const struct um_check_limits *limits,
			  const struct um_check_comparison *comparison, um_check_beyond_fn beyond,
			  void *context)
{
	long found;
	int error = check_compared(limits, &comparison->total);

	if (error)
		return error;
	found = hold_row(limits, &comparison->total, NULL, beyond, context);
	for (size_t i = 0; i < comparison->ranges.count; i++) {
		const struct um_check_row *row = &comparison->ranges.rows[i];

		found += hold_row(limits, row, row->name, beyond, context);
	}
	return found;
}

/* --- of a table --- */

bool um_check_limits_have_ninetieth(const struct um_check_limits *limits)
{
	for (size_t i = 0; i < limits->count; i++)
		if (isfinite(limits->limits[i].ninetieth))
			return true;
	return false;
}

static long hold_quantity(const struct um_check_limit *limit, enum um_check_quantity quantity,
			  const struct um_check_summary *summary, um_check_table_beyond_fn beyond,
			  void *context)
{
	long found = 0;

	if (summary->median > limit->limit) {
		beyond(context, quantity, "median", summary->median, limit->limit);
		found++;
	}
	if (summary->ninetieth > limit->ninetieth) {
		beyond(context, quantity, "90th percentile", summary->ninetieth, limit->ninetieth);
		found++;
	}
	return found;
}

/* Of all quantities that one limit is of, unless a later one is. */
static long hold_limit(const struct um_check_limits *limits, size_t which,
		       const struct um_check_table *table, enum um_check_set set,
		       um_check_table_beyond_fn beyond, void *context)
{
	const struct um_check_limit *limit = &limits->limits[which];
	bool is_any = false;
	long found = 0;

	for (int i = 0; i < UM_CHECK_QUANTITIES; i++) {
		enum um_check_quantity quantity = (enum um_check_quantity)i;
		struct um_check_summary summary;
		int error;

		if (!um_check_is_named(quantity, limit->name))
			continue;
		error = um_check_summarize(&summary, table, set, quantity);
		if (error)
			return error;
		is_any = is_any || summary.count;
		if (summary.count && um_check_limit_of(limits, quantity) == limit)
			found += hold_quantity(limit, quantity, &summary, beyond, context);
	}
	return is_any ? found : nothing_of(limit->name);
}

long um_check_limits_hold_table(const struct um_check_limits *limits,
				const struct um_check_table *table, enum um_check_set set,
				um_check_table_beyond_fn beyond, void *context)
{
	long found = 0;

	for (size_t i = 0; i < limits->count; i++) {
		long here = hold_limit(limits, i, table, set, beyond, context);

		if (here < 0)
			return here;
		found += here;
	}
	return found;
}
