#include "tracer_site.h"

#include "hostwatch_place.h"
#include "policy_apply.h"
#include "tracer.h"
#include "../spool/spool_variable.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

/* The stack that was asked for last; under the lock, like the tables that it is kept in. */
static struct um_stack stack;
static struct um_stack_table stacks;
static struct um_site_table sites;
static bool is_busy;

static const struct link_map *module_of(const void *address)
{
	struct dl_find_object found;

	return _dl_find_object((void *)(uintptr_t)address, &found) ? NULL : found.dlfo_link_map;
}

/* --- sites --- */

const struct um_record_site *um_site_describe(uint32_t site, uint32_t parent,
					      const void *return_address)
{
	static char path[PATH_MAX];
	/* The call is before the address that it returns to, which may be another function's. */
	const struct link_map *map = module_of((const char *)return_address - 1);

	path[0] = '\0';
	if (map)
		um_site_module_path(path, map->l_name);
	return um_site_record(site, parent, (uintptr_t)return_address - (map ? map->l_addr : 0),
			      path, "");
}

static uint32_t put_site(uint32_t parent, const void *address)
{
	bool is_new = false;
	uint32_t site = um_site_intern(&sites, parent, address, &is_new);

	if (is_new) {
		const struct um_record_site *record = um_site_describe(site, parent, address);

		um_policy_site(record);
		um_tracer_put(&record->header);
	}
	return site;
}

/* The site of the frame `first`, 0 being the innermost: from main() inwards. */
static uint32_t put_stack(size_t first)
{
	uint32_t site = 0;

	for (size_t i = stack.frames; i-- > first;) {
		site = put_site(site, (const void *)stack.address_in[i]);
		if (!site)
			return 0;
	}
	return site;
}

static uint32_t find_or_walk(uintptr_t slot)
{
	if (um_stack_find(&stacks, &stack, slot))
		return stack.known_site;
	um_stack_walk(&stack, slot, NULL);
	uint32_t site = put_stack(0);

	um_stack_keep(&stacks, &stack, site);
	return site;
}

uint32_t um_tracer_site(uintptr_t slot)
{
	uint32_t site = 0;

	if (!um_tracer_on() || is_busy)
		return 0;
	is_busy = true;
	site = find_or_walk(slot);
	is_busy = false;
	return site;
}

uint32_t um_tracer_touch_site(uint32_t place)
{
	const void *address[UM_STACK_FRAMES_MAX + 1];
	size_t depth = 0;
	uint32_t site = 0;

	if (!um_tracer_on() || is_busy)
		return 0;
	is_busy = true;
	while (place && depth < sizeof(address) / sizeof(*address))
		address[depth++] = um_touch_address(place, &place);
	while (depth > 0)
		site = put_site(site, address[--depth]);
	is_busy = false;
	return site;
}

/* --- variables --- */

static uint32_t put_frame(const struct um_stack *of, size_t frame)
{
	(void)of; /* it is the one that was asked for last */
	return put_stack(frame);
}

void um_tracer_variable(uint32_t allocation, uintptr_t slot, const void *out)
{
	static struct um_variable variable;
	static char path[PATH_MAX];
	const struct link_map *map = NULL;

	if (!um_tracer_on() || is_busy || !slot)
		return;
	is_busy = true;
	find_or_walk(slot);
	path[0] = '\0';
	if (!um_variable_in_frame(&variable, &stack, 0, out)) {
		map = module_of(out);
		if (map)
			um_site_module_path(path, map->l_name);
		else
			um_variable_search(&variable, &stack, 0, out);
	}
	um_tracer_put(&um_variable_record(&variable, allocation, put_frame, path,
					  (uintptr_t)out - (map ? map->l_addr : 0))
			       ->header);
	is_busy = false;
}
