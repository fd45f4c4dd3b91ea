#include "tracer_site.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

const struct um_record_site *um_site_describe(uint32_t site, const void *return_address)
{
	static char path[PATH_MAX];
	struct link_map *map = NULL;
	Dl_info info = {.dli_fname = NULL};
	/* The call is before the address that it returns to, which may be another function's. */
	bool known = dladdr1((const char *)return_address - 1, &info, (void **)&map,
			     RTLD_DL_LINKMAP) != 0;
	const char *symbol = known && info.dli_sname ? info.dli_sname : "";

	path[0] = '\0';
	if (known)
		um_site_module_path(path, map && !*map->l_name ? "" : info.dli_fname);
	return um_site_record(site, 0, (uintptr_t)return_address - (map ? map->l_addr : 0), path,
			      symbol);
}
