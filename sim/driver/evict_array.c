#include "evict_array.h"

#include "trace/base/error.h"

#include <stdlib.h>

void um_evict_array_fini(struct um_evict_array *array)
{
	um_evict_units_fini(&array->all);
	free(array->numbers);
}

static int grow(struct um_evict_array *array)
{
	uint32_t capacity = array->capacity ? array->capacity * 2 : 1024;
	uint32_t *grown = realloc(array->numbers, (size_t)capacity * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for an eviction order of %u units", capacity);
	array->numbers = grown;
	array->capacity = capacity;
	return 0;
}

int um_evict_array_add(struct um_evict_array *array, const struct um_page_range *unit)
{
	uint32_t number;
	int error = array->count == array->capacity ? grow(array) : 0;

	if (!error)
		error = um_evict_units_add(&array->all, unit, &number);
	if (!error)
		um_evict_put(array, array->count++, number);
	return error;
}

void um_evict_array_remove_last(struct um_evict_array *array)
{
	um_evict_units_remove(&array->all, array->numbers[--array->count]);
}
