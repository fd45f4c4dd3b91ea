#include "sweep_axis.h"

#include "sweep_range.h"

#include "sim/driver/driver.h"
#include "sim/policy/policy.h"
#include "trace/base/error.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

/* ---------------------------------------------------------------- one value */

/* 64KiB and 65536B are one value, if not one text. */
static int is_same(const char *a, const char *b)
{
	uint64_t left, right;

	if (strcmp(a, b) == 0)
		return 1;
	return um_parse_bytes(a, &left) == 0 && um_parse_bytes(b, &right) == 0 && left == right;
}

static int check_new(const struct um_sweep_axis *axis, const char *text)
{
	for (size_t i = 0; i < axis->count; i++)
		if (is_same(axis->values[i].text, text))
			return um_fail(
				UM_EINVAL, "--vary %s: %s stands there twice%s%s%s", axis->key,
				text, strcmp(axis->values[i].text, text) ? " (as " : "",
				strcmp(axis->values[i].text, text) ? axis->values[i].text : "",
				strcmp(axis->values[i].text, text) ? ")" : "");
	return 0;
}

static int add_value(struct um_sweep_axis *axis, const char *text)
{
	struct um_sweep_value value = {strdup(text), NULL}, *grown;
	size_t capacity = axis->capacity ? 2 * axis->capacity : 16;

	if (axis->count == UM_SWEEP_VALUES_MAX) {
		free(value.text);
		return um_fail(UM_EINVAL, "--vary %s: more than %d values", axis->key,
			       UM_SWEEP_VALUES_MAX);
	}
	if (!value.text || asprintf(&value.source, "--vary %s=%s", axis->key, text) < 0) {
		free(value.text);
		return out_of_memory();
	}
	if (axis->count == axis->capacity) {
		grown = reallocarray(axis->values, capacity, sizeof(*grown));
		if (!grown) {
			free(value.text);
			free(value.source);
			return out_of_memory();
		}
		axis->values = grown;
		axis->capacity = capacity;
	}
	axis->values[axis->count++] = value;
	return 0;
}

/* ---------------------------------------------------------------- the key */

static const struct um_param *find_param(const struct um_driver_ops *ops, const char *name)
{
	for (const struct um_param *param = ops->params; param && param->name; param++)
		if (strcmp(param->name, name) == 0)
			return param;
	return NULL;
}

/* What no driver has is meant otherwise; the name nearest to it. */
static int unknown_param(const char *name)
{
	const struct um_driver_ops *const *drivers;
	const char *meant = NULL;
	size_t count;

	drivers = um_driver_registry(&count);
	for (size_t i = 0; i < count && !meant; i++) {
		size_t params = 0;

		while (drivers[i]->params && drivers[i]->params[params].name)
			params++;
		if (params)
			meant = um_suggest(name, &drivers[i]->params->name, params,
					   sizeof(*drivers[i]->params));
	}
	return um_fail(UM_EINVAL, "--vary driver.%s: no driver has \"%s\"%s%s%s", name, name,
		       meant ? ": did you mean \"" : "; umsim policy drivers lists what they have",
		       meant ? meant : "", meant ? "\"?" : "");
}

/* Whether any driver takes the value: which it will be depends on the others that are varied. */
static int check_param(const char *source, const char *name, const char *text)
{
	const struct um_driver_ops *const *drivers;
	struct um_param_value value;
	char message[512] = "";
	size_t count;

	drivers = um_driver_registry(&count);
	for (size_t i = 0; i < count; i++) {
		const struct um_param *param = find_param(drivers[i], name);

		if (param && um_param_parse(&value, param, text) == 0)
			return 0;
		if (param)
			snprintf(message, sizeof(message), "%s", um_error_message());
	}
	return *message ? um_fail(UM_EINVAL, "%s: %s", source, message) : unknown_param(name);
}

static int check_value(const char *key, const struct um_sweep_value *value)
{
	struct um_policy_value over[2] = {{key, value->text, value->source}};
	size_t count = 1;
	struct um_policy *policy;
	int error;

	if (strncmp(key, "driver.", 7) == 0 && strcmp(key, "driver.name") != 0)
		return check_param(value->source, key + 7, value->text);
	/* A seed is of the order that draws; the driver has a page size: the one that takes most. */
	if (strcmp(key, "evict_seed") == 0)
		over[count++] = (struct um_policy_value){"evict", "random", value->source};
	error = um_policy_load_with(&policy, NULL, over, count);
	if (!error)
		um_policy_destroy(policy);
	return error;
}

static int check_values(const struct um_sweep_axis *axis)
{
	int error = 0;

	for (size_t i = 0; i < axis->count && !error; i++)
		error = check_value(axis->key, &axis->values[i]);
	return error;
}

/* ---------------------------------------------------------------- the text */

static int split_list(struct um_sweep_axis *axis, const char *list)
{
	int error = 0;

	for (const char *at = list; at && !error;) {
		const char *comma = strchr(at, ',');
		size_t length = comma ? (size_t)(comma - at) : strlen(at);
		char *text = strndup(at, length);

		if (!text)
			return out_of_memory();
		error = length ? check_new(axis, text)
			       : um_fail(UM_EINVAL, "--vary %s=%s: a value is empty", axis->key,
					 list);
		if (!error)
			error = add_value(axis, text);
		free(text);
		at = comma ? comma + 1 : NULL;
	}
	return error;
}

static int take_step(void *context, const char *text)
{
	struct um_sweep_axis *axis = context;
	int error = check_new(axis, text);

	return error ? error : add_value(axis, text);
}

static int read_values(struct um_sweep_axis *axis, const char *text)
{
	char what[256];

	if (!*text)
		return um_fail(UM_EINVAL, "--vary %s=: which values?", axis->key);
	if (!strstr(text, "..") || strchr(text, ',') || strncmp(text, "..", 2) == 0 ||
	    strstr(text, "../"))
		return split_list(axis, text);
	snprintf(what, sizeof(what), "--vary %s=%.100s", axis->key, text);
	return um_sweep_range_parse(text, what, take_step, axis);
}

int um_sweep_axis_parse(struct um_sweep_axis *out, const char *text)
{
	const char *equals = strchr(text, '=');
	int error;

	*out = (struct um_sweep_axis){0};
	if (!equals || equals == text)
		return um_fail(UM_EINVAL,
			       "--vary %.100s: what is varied is written as KEY=VALUE,VALUE or "
			       "KEY=FIRST..LAST/STEPS",
			       text);
	out->key = strndup(text, (size_t)(equals - text));
	if (!out->key)
		return out_of_memory();
	error = read_values(out, equals + 1);
	if (!error)
		error = check_values(out);
	if (error)
		um_sweep_axis_fini(out);
	return error;
}

void um_sweep_axis_fini(struct um_sweep_axis *axis)
{
	for (size_t i = 0; i < axis->count; i++) {
		free(axis->values[i].text);
		free(axis->values[i].source);
	}
	free(axis->values);
	free(axis->key);
	*axis = (struct um_sweep_axis){0};
}
