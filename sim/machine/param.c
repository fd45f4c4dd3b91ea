#include "param.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bound as a policy file would have it. */
static void bound_text(char *buffer, size_t capacity, enum um_param_type type, double bound)
{
	if (type == UM_PARAM_BYTES)
		um_format_bytes(buffer, capacity, (uint64_t)bound);
	else if (type == UM_PARAM_DURATION)
		um_format_duration(buffer, capacity, (uint64_t)bound);
	else
		snprintf(buffer, capacity, "%.10g", bound);
}

static char *choices_text(char *buffer, size_t capacity, const char *const *choices)
{
	size_t used = 0;

	for (size_t i = 0; choices[i] && used < capacity; i++)
		used += (size_t)snprintf(buffer + used, capacity - used, "%s%s", i ? ", " : "",
					 choices[i]);
	return buffer;
}

char *um_param_range_text(char *buffer, size_t capacity, const struct um_param *param)
{
	char least[32], most[32];

	buffer[0] = '\0';
	if (param->type == UM_PARAM_CHOICE)
		return choices_text(buffer, capacity, param->choices);
	if (param->type == UM_PARAM_BOOL) {
		snprintf(buffer, capacity, "on or off");
		return buffer;
	}
	bound_text(least, sizeof(least), param->type, param->minimum);
	bound_text(most, sizeof(most), param->type, param->maximum);
	snprintf(buffer, capacity, "%s to %s", least, most);
	return buffer;
}

static int check_range(const struct um_param *param, const char *text, double value)
{
	char range[128];

	if (value >= param->minimum && value <= param->maximum)
		return 0;
	return um_fail(UM_EINVAL, "%s: %.48s is out of range: it can be %s", param->name, text,
		       um_param_range_text(range, sizeof(range), param));
}

static int parse_bool(struct um_param_value *out, const char *text)
{
	static const struct {
		const char *text;
		uint64_t value;
	} words[] = {{"on", 1}, {"true", 1}, {"yes", 1}, {"off", 0}, {"false", 0}, {"no", 0}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].text, text) == 0) {
			out->integer = words[i].value;
			return 0;
		}
	return um_fail(UM_EINVAL, "%s: \"%.48s\" is neither on nor off", out->param->name, text);
}

static int parse_choice(struct um_param_value *out, const char *text)
{
	const char *const *choices = out->param->choices;
	char list[256];

	for (size_t i = 0; choices[i]; i++)
		if (strcmp(choices[i], text) == 0) {
			out->integer = i;
			return 0;
		}
	return um_fail(UM_EINVAL, "%s: \"%.48s\" is none of %s", out->param->name, text,
		       um_param_range_text(list, sizeof(list), out->param));
}

/* A decimal number; the infinities and hexadecimals of strtod() have no place in a file. */
static int parse_real(struct um_param_value *out, const char *text)
{
	char *end;
	size_t plain = strspn(text, "0123456789.eE+-");

	out->real = strtod(text, &end);
	if (plain == 0 || text[plain] != '\0' || *end != '\0')
		return um_fail(UM_EINVAL, "%s: \"%.48s\" is not a number", out->param->name, text);
	return 0;
}

static int parse_whole(struct um_param_value *out, const char *text)
{
	int error;

	switch (out->param->type) {
	case UM_PARAM_BYTES:
		error = um_parse_bytes(text, &out->integer);
		break;
	case UM_PARAM_DURATION:
		error = um_parse_duration(text, &out->integer);
		break;
	default:
		error = um_parse_u64(text, &out->integer);
		break;
	}
	if (error)
		return um_fail(error, "%s: %s", out->param->name, um_error_message());
	out->real = (double)out->integer;
	return 0;
}

int um_param_parse(struct um_param_value *out, const struct um_param *param, const char *text)
{
	struct um_param_value value = {.param = param};
	int error;

	if (param->type == UM_PARAM_BOOL) {
		error = parse_bool(&value, text);
	} else if (param->type == UM_PARAM_CHOICE) {
		error = parse_choice(&value, text);
	} else {
		error = param->type == UM_PARAM_REAL ? parse_real(&value, text)
						     : parse_whole(&value, text);
		if (!error)
			error = check_range(param, text, value.real);
	}
	if (!error)
		*out = value;
	return error;
}

int um_param_default(struct um_param_value *out, const struct um_param *param)
{
	return um_param_parse(out, param, param->default_text);
}

/* The largest unit of the ladder that divides the value, so that nothing is rounded. */
static char *exact_text(char *buffer, size_t capacity, uint64_t value, const char *const *units,
			uint64_t step)
{
	while (value && units[1] && value % step == 0) {
		value /= step;
		units++;
	}
	snprintf(buffer, capacity, "%" PRIu64 "%s", value, units[0]);
	return buffer;
}

/* The fewest digits that give the same double again. */
static char *real_text(char *buffer, size_t capacity, double value)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buffer, capacity, "%.*g", digits, value);
		if (strtod(buffer, NULL) == value)
			break;
	}
	return buffer;
}

char *um_param_text(char *buffer, size_t capacity, const struct um_param_value *value)
{
	static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
	static const char *const duration_units[] = {"ns", "us", "ms", "s", NULL};
	static const char *const no_units[] = {"", NULL};

	switch (value->param->type) {
	case UM_PARAM_BOOL:
		snprintf(buffer, capacity, "%s", value->integer ? "on" : "off");
		return buffer;
	case UM_PARAM_CHOICE:
		snprintf(buffer, capacity, "%s", value->param->choices[value->integer]);
		return buffer;
	case UM_PARAM_REAL:
		return real_text(buffer, capacity, value->real);
	case UM_PARAM_BYTES:
		return exact_text(buffer, capacity, value->integer, byte_units, 1024);
	case UM_PARAM_DURATION:
		return exact_text(buffer, capacity, value->integer, duration_units, 1000);
	case UM_PARAM_COUNT:
		break;
	}
	return exact_text(buffer, capacity, value->integer, no_units, 1);
}

const struct um_param_value *um_param_find(const struct um_param_value *values,
					   const struct um_param *params, const char *name)
{
	for (size_t i = 0; params && params[i].name; i++)
		if (!strcmp(params[i].name, name))
			return &values[i];
	return NULL;
}
