/*
 * Limit: when a library is unloaded and another takes its addresses, places in the new one are
 * taken for those of the old one.
 */
#include "tracer_site.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_SLOTS 1024u
#define MAX_SLOTS   (1u << 21) /* half of them are filled at most */
#define SYMBOL_MAX  8192u      /* mangled names of templates are long; a longer one is cut */

struct slot {
	uintptr_t address; /* 0: empty */
	uint32_t site;
};

/* From mmap: it grows within HIP calls, and the program's malloc may be what calls us. */
static struct slot *slots;
static uint32_t slot_count, site_count;

static struct slot *find_slot(struct slot *table, uint32_t count, uintptr_t address)
{
	uint32_t at = (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 32);

	while (table[at & (count - 1)].address && table[at & (count - 1)].address != address)
		at++;
	return table + (at & (count - 1));
}

static bool grow(void)
{
	uint32_t count = slot_count ? 2 * slot_count : FIRST_SLOTS;

	if (count > MAX_SLOTS)
		return false;
	struct slot *table = mmap(NULL, count * sizeof(*table), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (table == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < slot_count; i++)
		if (slots[i].address)
			*find_slot(table, count, slots[i].address) = slots[i];
	if (slots)
		munmap(slots, slot_count * sizeof(*slots));
	slots = table;
	slot_count = count;
	return true;
}

uint32_t um_site_intern(const void *return_address, bool *is_new)
{
	uintptr_t address = (uintptr_t)return_address;

	*is_new = false;
	if (!address)
		return 0;
	if (slots) {
		const struct slot *known = find_slot(slots, slot_count, address);

		if (known->address)
			return known->site;
	}
	if (site_count >= slot_count / 2 && !grow())
		return 0;
	*find_slot(slots, slot_count, address) = (struct slot){address, ++site_count};
	*is_new = true;
	return site_count;
}

/* The program itself has no name in the link map; other names may be relative to a former cwd. */
static void module_path(char path[PATH_MAX], const struct link_map *map, const char *name)
{
	if (map && !*map->l_name) {
		ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);

		if (bytes > 0) {
			path[bytes] = '\0';
			return;
		}
	}
	if (*name == '/' || !realpath(name, path))
		memccpy(path, name, '\0', PATH_MAX - 1);
	path[PATH_MAX - 1] = '\0';
}

const struct um_record_site *um_site_describe(uint32_t site, const void *return_address)
{
	static _Alignas(8) char buffer[sizeof(struct um_record_site) + PATH_MAX + SYMBOL_MAX + 8];
	struct um_record_site *record = (struct um_record_site *)buffer;
	struct link_map *map = NULL;
	Dl_info info = {.dli_fname = NULL};
	/* The call is before the address that it returns to, which may be another function's. */
	bool known = dladdr1((const char *)return_address - 1, &info, (void **)&map,
			     RTLD_DL_LINKMAP) != 0;
	const char *symbol = known && info.dli_sname ? info.dli_sname : "";
	size_t symbol_bytes = strnlen(symbol, SYMBOL_MAX - 1);

	memset(buffer, 0, sizeof(*record) + 1);
	if (known)
		module_path(record->text, map, info.dli_fname);
	char *end = record->text + strlen(record->text) + 1;

	memcpy(end, symbol, symbol_bytes);
	end += symbol_bytes;
	memset(end, 0, 8); /* the terminator, and padding to 8 */
	end++;
	record->header.bytes = ((uint32_t)(end - buffer) + 7) & ~7u;
	record->header.kind = UM_RECORD_SITE;
	record->site = site;
	record->offset = (uint64_t)((uintptr_t)return_address - (map ? map->l_addr : 0));
	return record;
}
