/* The only list of eviction orders. */
#include "evict.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <string.h>

static const struct um_evict_ops *const orders[] = {&um_evict_fifo, &um_evict_lru, &um_evict_random,
						    &um_evict_belady};

#define ORDERS (sizeof(orders) / sizeof(*orders))

const struct um_evict_ops *const *um_evict_registry(size_t *count)
{
	*count = ORDERS;
	return orders;
}

const struct um_evict_ops *um_evict_find(const char *name)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < ORDERS; i++)
		if (!strcmp(orders[i]->name, name))
			return orders[i];
	for (size_t i = 0; i < ORDERS && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 orders[i]->name);
	um_fail(UM_EINVAL, "no eviction order '%s'; there are: %s", name, names);
	return NULL;
}

int um_evict_create(struct um_evict_order **out, const struct um_evict_choice *chosen,
		    const struct um_evict_ops *own, um_device_id device)
{
	struct um_evict_choice choice = {.ops = own};

	if (chosen)
		choice = *chosen;
	return choice.ops->create(out, &choice, device);
}
