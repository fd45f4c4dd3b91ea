/*
 * Limit: when a library is unloaded and another takes its addresses, places in the new one are
 * taken for those of the old one.
 */
#include "spool_site.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_SLOTS 1024u
#define MAX_SLOTS   (1u << 21) /* half of them are filled at most */

struct um_site_slot {
	uintptr_t address; /* 0: empty */
	uint32_t parent;
	uint32_t site;
};

static struct um_site_slot *find_slot(struct um_site_slot *table, uint32_t count, uint32_t parent,
				      uintptr_t address)
{
	uint32_t at =
		(uint32_t)(((address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15ull) >> 32);

	for (;; at++) {
		struct um_site_slot *slot = table + (at & (count - 1));

		if (!slot->address || (slot->address == address && slot->parent == parent))
			return slot;
	}
}

/* From mmap: it grows within the program's calls, and its malloc may be what calls us. */
static bool grow(struct um_site_table *sites)
{
	uint32_t count = sites->slot_count ? 2 * sites->slot_count : FIRST_SLOTS;

	if (count > MAX_SLOTS)
		return false;
	struct um_site_slot *table = mmap(NULL, count * sizeof(*table), PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct um_site_slot *old = sites->slots;

	if (table == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < sites->slot_count; i++)
		if (old[i].address)
			*find_slot(table, count, old[i].parent, old[i].address) = old[i];
	if (old)
		munmap(sites->slots, sites->slot_count * sizeof(*old));
	sites->slots = table;
	sites->slot_count = count;
	return true;
}

uint32_t um_site_intern(struct um_site_table *sites, uint32_t parent, const void *return_address,
			bool *is_new)
{
	uintptr_t address = (uintptr_t)return_address;

	*is_new = false;
	if (!address)
		return 0;
	if (sites->slots) {
		const struct um_site_slot *known =
			find_slot(sites->slots, sites->slot_count, parent, address);

		if (known->address)
			return known->site;
	}
	if (sites->site_count >= sites->slot_count / 2 && !grow(sites))
		return 0;
	*find_slot(sites->slots, sites->slot_count, parent, address) =
		(struct um_site_slot){address, parent, ++sites->site_count};
	*is_new = true;
	return sites->site_count;
}

void um_site_module_path(char path[PATH_MAX], const char *name)
{
	if (!*name) {
		ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);

		path[bytes > 0 ? bytes : 0] = '\0';
		return;
	}
	if (*name == '/' || !realpath(name, path))
		memccpy(path, name, '\0', PATH_MAX - 1);
	path[PATH_MAX - 1] = '\0';
}

const struct um_record_site *um_site_record(uint32_t site, uint32_t parent, uint64_t offset,
					    const char *module, const char *symbol)
{
	static _Alignas(8) char buffer[UM_SITE_RECORD_MAX];
	struct um_record_site *record = (struct um_record_site *)buffer;
	size_t module_bytes = strnlen(module, PATH_MAX - 1);
	size_t symbol_bytes = strnlen(symbol, UM_SITE_SYMBOL_MAX - 1);
	char *at = record->text;

	memcpy(at, module, module_bytes);
	at += module_bytes;
	*at++ = '\0';
	memcpy(at, symbol, symbol_bytes);
	at += symbol_bytes;
	memset(at, 0, 8); /* the terminator, and padding to 8 */
	at++;
	record->header.bytes = ((uint32_t)(at - buffer) + 7) & ~7u;
	record->header.kind = UM_RECORD_SITE;
	record->site = site;
	record->parent = parent;
	record->offset = offset;
	return record;
}
