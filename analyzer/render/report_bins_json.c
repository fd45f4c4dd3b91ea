#include "report_json.h"

#include <stdlib.h>

bool um_report_set(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) == 0;
}

bool um_report_push(json_t *array, int64_t value)
{
	return json_array_append_new(array, json_integer(value)) == 0;
}

json_t *um_report_bins_json(const struct um_bins *bins)
{
	json_t *array = json_array();
	size_t count = bins ? um_bins_count(bins) : 0, before = 0;
	int64_t *values = calloc(count + 1, sizeof(*values));
	bool ok = array && values;

	if (ok && bins)
		um_bins_read(bins, values);
	for (size_t i = 0; i < count && ok; i++) {
		if (!values[i])
			continue;
		ok = um_report_push(array, (int64_t)(i - before)) &&
		     um_report_push(array, values[i]);
		before = i;
	}
	free(values);
	if (ok)
		return array;
	json_decref(array);
	return NULL;
}

json_t *um_report_repeats_json(const int64_t *values, size_t count)
{
	json_t *array = json_array();
	bool ok = array != NULL;

	for (size_t i = 0, next; i < count && ok; i = next) {
		for (next = i + 1; next < count && values[next] == values[i];)
			next++;
		ok = um_report_push(array, (int64_t)(next - i)) && um_report_push(array, values[i]);
	}
	if (ok)
		return array;
	json_decref(array);
	return NULL;
}
