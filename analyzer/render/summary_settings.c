#include "summary_settings.h"

#include "sim/driver/driver.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct um_param *params_of(const char *driver)
{
	size_t count;
	const struct um_driver_ops *const *drivers = um_driver_registry(&count);

	for (size_t i = 0; driver && i < count; i++)
		if (strcmp(drivers[i]->name, driver) == 0)
			return drivers[i]->params;
	return NULL;
}

/* "5800ns" is 5.8us. */
static bool is_default(const struct um_param *params, const char *key, const json_t *value)
{
	const char *text = json_string_value(value);
	struct um_param_value is, usual;

	while (params && params->name && strcmp(params->name, key) != 0)
		params++;
	return params && params->name && text && um_param_parse(&is, params, text) == 0 &&
	       um_param_default(&usual, params) == 0 && is.integer == usual.integer &&
	       is.real == usual.real;
}

static void put_one(FILE *out, const char *separator, const char *key, const json_t *value)
{
	char *number = json_is_string(value)
			       ? NULL
			       : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	const char *text = json_is_string(value) ? json_string_value(value) : number;

	fprintf(out, "%s%s %s", separator, key, text ? text : "?");
	free(number);
}

static void put_all(FILE *out, const char *driver, json_t *parameters)
{
	const struct um_param *params = params_of(driver);
	const char *key, *separator = "";
	size_t defaults = 0;
	json_t *value;

	json_object_foreach(parameters, key, value)
	{
		if (is_default(params, key, value)) {
			defaults++;
			continue;
		}
		put_one(out, separator, key, value);
		separator = ", ";
	}
	if (defaults)
		fprintf(out, "%s%zu %s (-f json tells all)", *separator ? "; " : "", defaults,
			defaults == 1 ? "is the model's default" : "are the model's defaults");
}

char *um_summary_settings_text(const char *driver, const char *parameters)
{
	json_t *object = json_loads(parameters, 0, NULL);
	char *text = NULL;
	size_t bytes;
	FILE *out = json_object_size(object) ? open_memstream(&text, &bytes) : NULL;

	if (out) {
		put_all(out, driver, object);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	json_decref(object);
	return text;
}
