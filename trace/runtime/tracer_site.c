#include "tracer_site.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

const struct um_record_site *um_site_describe(uint32_t site, uint32_t parent,
					      const void *return_address)
{
	static char path[PATH_MAX];
	struct dl_find_object found;
	/* The call is before the address that it returns to, which may be another function's. */
	bool known = !_dl_find_object((char *)(uintptr_t)return_address - 1, &found);
	const struct link_map *map = known ? found.dlfo_link_map : NULL;

	path[0] = '\0';
	if (map)
		um_site_module_path(path, map->l_name);
	return um_site_record(site, parent, (uintptr_t)return_address - (map ? map->l_addr : 0),
			      path, "");
}
