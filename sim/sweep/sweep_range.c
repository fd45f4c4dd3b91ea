#include "sweep_range.h"

#include "sweep_axis.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Bytes in whole pages, which is what memory and page sizes are of. */
#define STEP_BYTES 4096.0

/* What ends of a range can be, the first that takes both. */
struct quantity {
	const char *suffix; /* of the values made */
	bool (*parse)(const char *text, double *out);
	double whole; /* values are rounded down to multiples of it; 0: not */
};

static bool parse_count(const char *text, double *out)
{
	uint64_t value;

	if (um_parse_u64(text, &value))
		return false;
	*out = (double)value;
	return true;
}

static bool parse_multiple(const char *text, double *out)
{
	return um_parse_multiple(text, out) == 0;
}

static bool parse_bytes(const char *text, double *out)
{
	uint64_t value;

	if (um_parse_bytes(text, &value))
		return false;
	*out = (double)value;
	return true;
}

static bool parse_duration(const char *text, double *out)
{
	uint64_t value;

	if (um_parse_duration(text, &value))
		return false;
	*out = (double)value;
	return true;
}

static bool parse_real(const char *text, double *out)
{
	int used = 0;

	return sscanf(text, "%lf%n", out, &used) == 1 && text[used] == '\0' && isfinite(*out);
}

static const struct quantity quantities[] = {
	{"", parse_count, 1},	   {"x", parse_multiple, 0}, {"B", parse_bytes, STEP_BYTES},
	{"ns", parse_duration, 1}, {"", parse_real, 0},
};

static const struct quantity *find_quantity(const char *first, const char *last, double ends[2])
{
	for (size_t i = 0; i < sizeof(quantities) / sizeof(*quantities); i++)
		if (quantities[i].parse(first, &ends[0]) && quantities[i].parse(last, &ends[1]))
			return &quantities[i];
	return NULL;
}

/* 4294967296 bytes are 4GiB to whoever reads them. */
static void write_bytes(char *out, size_t capacity, uint64_t bytes)
{
	static const struct {
		const char *name;
		unsigned shift;
	} units[] = {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}};
	size_t i = 0;

	while (units[i].shift && (bytes == 0 || bytes & ((UINT64_C(1) << units[i].shift) - 1)))
		i++;
	snprintf(out, capacity, "%" PRIu64 "%s", bytes >> units[i].shift, units[i].name);
}

static void write_value(char *out, size_t capacity, const struct quantity *of, double value)
{
	if (of->whole > 0)
		value = floor(value / of->whole) * of->whole;
	if (of->parse == parse_bytes)
		write_bytes(out, capacity, (uint64_t)value);
	else if (of->whole > 0)
		snprintf(out, capacity, "%.0f%s", value, of->suffix);
	else
		snprintf(out, capacity, "%.6g%s", value, of->suffix);
}

struct range {
	char first[64], last[64];
	uint64_t steps;
};

static int split(struct range *out, const char *text, const char *what)
{
	const char *dots = strstr(text, ".."), *slash = strchr(dots, '/');
	size_t first = (size_t)(dots - text),
	       last = slash ? (size_t)(slash - dots) - 2 : strlen(dots + 2);

	if (!slash)
		return um_fail(UM_EINVAL, "%s: in how many steps? FIRST..LAST/STEPS", what);
	if (first >= sizeof(out->first) || last >= sizeof(out->last))
		return um_fail(UM_EINVAL, "%s: is no range", what);
	snprintf(out->first, sizeof(out->first), "%.*s", (int)first, text);
	snprintf(out->last, sizeof(out->last), "%.*s", (int)last, dots + 2);
	if (um_parse_u64(slash + 1, &out->steps))
		return um_fail(UM_EINVAL, "%s: \"%.40s\" is no number of steps", what, slash + 1);
	if (out->steps < 2)
		return um_fail(
			UM_EINVAL,
			"%s: a range has at least 2 steps, its ends; a single value is given "
			"alone",
			what);
	if (out->steps > UM_SWEEP_VALUES_MAX)
		return um_fail(UM_EINVAL, "%s: more than %d values", what, UM_SWEEP_VALUES_MAX);
	return 0;
}

/* Ends that nothing takes: why the first of them is wrong, as bytes have it. */
static int refuse_ends(const struct range *range, const char *what)
{
	double value;
	uint64_t bytes;
	bool has_unit = um_parse_bytes(range->first, &bytes) == 0;
	const char *wrong = has_unit ? range->last : range->first;

	if (!has_unit && !parse_real(range->first, &value))
		um_parse_bytes(range->first, &bytes);
	else
		um_parse_bytes(wrong, &bytes);
	return um_fail(UM_EINVAL, "%s: the ends are not of one kind: %s", what, um_error_message());
}

int um_sweep_range_parse(const char *text, const char *what,
			 int (*take)(void *context, const char *text), void *context)
{
	const struct quantity *quantity;
	struct range range;
	double ends[2];
	char value[64];
	int error = split(&range, text, what);

	if (error)
		return error;
	quantity = find_quantity(range.first, range.last, ends);
	if (!quantity)
		return refuse_ends(&range, what);
	for (uint64_t i = 0; i < range.steps && !error; i++) {
		double part = (double)i / (double)(range.steps - 1);

		write_value(value, sizeof(value), quantity, ends[0] + (ends[1] - ends[0]) * part);
		error = take(context, value);
	}
	return error;
}
