/* The only list of driver models. */
#include "driver_list.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <string.h>

static const struct um_driver_ops *const drivers[] = {&um_driver_amdgpu_svm, &um_driver_nvidia_uvm,
						      &um_driver_explicit_copy, &um_driver_demand};

#define DRIVERS (sizeof(drivers) / sizeof(*drivers))

const struct um_driver_ops *const *um_driver_registry(size_t *count)
{
	*count = DRIVERS;
	return drivers;
}

const struct um_driver_ops *um_driver_find(const char *name)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < DRIVERS; i++)
		if (!strcmp(drivers[i]->name, name))
			return drivers[i];
	for (size_t i = 0; i < DRIVERS && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 drivers[i]->name);
	um_fail(UM_EINVAL, "no driver model '%s'; there are: %s", name, names);
	return NULL;
}
