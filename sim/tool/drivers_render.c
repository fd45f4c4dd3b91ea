#include "policy_render.h"

#include "sim/driver/evict.h"
#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <jansson.h>

/* ---------------------------------------------------------------- text */

static const struct um_text_column parameter_columns[] = {{"parameter", UM_ALIGN_LEFT},
							  {"default", UM_ALIGN_RIGHT},
							  {"can be", UM_ALIGN_LEFT},
							  {"what it is", UM_ALIGN_LEFT},
							  {NULL, 0}};

static void put_page_sizes(FILE *out, const struct um_driver_ops *ops)
{
	char text[32];

	fputs("  page sizes:", out);
	for (size_t i = 0; ops->page_bytes && ops->page_bytes[i]; i++)
		fprintf(out, "%s %s", i ? "," : "",
			um_format_bytes(text, sizeof(text), ops->page_bytes[i]));
	fprintf(out, ops->page_bytes ? "; default %s\n" : " %s, fixed\n",
		um_format_bytes(text, sizeof(text), ops->default_page_bytes));
}

static int put_parameters(FILE *out, const struct um_param *params)
{
	struct um_text_table *table;
	char range[128];
	int error;

	if (!params || !params->name)
		return 0;
	error = um_text_table_create(&table, parameter_columns);
	if (error)
		return error;
	for (; params->name; params++) {
		um_text_table_cell(table, "%s", params->name);
		um_text_table_cell(table, "%s", params->default_text);
		um_text_table_cell(table, "%s", um_param_range_text(range, sizeof(range), params));
		um_text_table_cell(table, "%s", params->help);
	}
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

static const char *own_order(const struct um_driver_ops *ops)
{
	return ops->evict ? ops->evict->name : "nothing";
}

static const struct um_text_column order_columns[] = {
	{"evict", UM_ALIGN_LEFT}, {"who leaves a device that is full", UM_ALIGN_LEFT}, {NULL, 0}};

static int put_orders(FILE *out)
{
	size_t count;
	const struct um_evict_ops *const *orders = um_evict_registry(&count);
	struct um_text_table *table;
	int error = um_text_table_create(&table, order_columns);

	if (error)
		return error;
	fputs("\neviction orders; another than the driver's own is hypothetical\n", out);
	for (size_t i = 0; i < count; i++) {
		um_text_table_cell(table, "%s", orders[i]->name);
		um_text_table_cell(table, "%s", orders[i]->summary);
	}
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

int um_drivers_render_text(FILE *out)
{
	size_t count;
	const struct um_driver_ops *const *drivers = um_driver_registry(&count);
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		fprintf(out, "%s%s: %s\n  %s\n", i ? "\n" : "", drivers[i]->name,
			drivers[i]->summary, drivers[i]->validated);
		put_page_sizes(out, drivers[i]);
		fprintf(out, "  evict: %s\n", own_order(drivers[i]));
		error = put_parameters(out, drivers[i]->params);
	}
	if (!error)
		error = put_orders(out);
	if (!error && fflush(out) != 0)
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

/* ---------------------------------------------------------------- JSON */

static json_t *sizes_json(const uint64_t *page_bytes)
{
	json_t *array = json_array();

	for (; page_bytes && *page_bytes; page_bytes++)
		json_array_append_new(array, json_integer((json_int_t)*page_bytes));
	return array;
}

static json_t *parameters_json(const struct um_param *params)
{
	json_t *array = json_array();
	char range[128];

	for (; params && params->name; params++)
		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:s, s:s}", "name", params->name,
						"default", params->default_text, "range",
						um_param_range_text(range, sizeof(range), params),
						"help", params->help));
	return array;
}

/* Those that a policy may name for it. */
static json_t *orders_json(const struct um_driver_ops *ops)
{
	size_t count;
	const struct um_evict_ops *const *orders = um_evict_registry(&count);
	json_t *array = json_array();

	for (size_t i = 0; ops->evict && i < count; i++)
		json_array_append_new(array, json_pack("{s:s, s:s, s:b}", "name", orders[i]->name,
						       "summary", orders[i]->summary,
						       "hypothetical", orders[i] != ops->evict));
	return array;
}

int um_drivers_render_json(FILE *out)
{
	size_t count;
	const struct um_driver_ops *const *drivers = um_driver_registry(&count);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:o, s:I, s:s?, s:o, s:o}", "name",
					 drivers[i]->name, "summary", drivers[i]->summary,
					 "validated", drivers[i]->validated, "page_bytes",
					 sizes_json(drivers[i]->page_bytes), "default_page_bytes",
					 (json_int_t)drivers[i]->default_page_bytes, "evict",
					 drivers[i]->evict ? drivers[i]->evict->name : NULL,
					 "evict_orders", orders_json(drivers[i]), "parameters",
					 parameters_json(drivers[i]->params)));
	if (json_array_size(array) != count) {
		json_decref(array);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	int failed = json_dumpf(array, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
	json_decref(array);
	return failed ? um_fail_errno(UM_EIO, "writing") : 0;
}
