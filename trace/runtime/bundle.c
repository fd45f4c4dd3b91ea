/*
 * The offload bundle as clang-offload-bundler writes it ("Bundled Code Object File Layout",
 * clang/docs/ClangOffloadBundler.rst): magic, number of entries, then for each entry the offset and
 * size of its image, the length of its target and the target. Little endian, unaligned.
 */
#include "module.h"

#include "trace/base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAGIC	    "__CLANG_OFFLOAD_BUNDLE__"
#define MAGIC_BYTES 24u
/* More than any toolchain writes; they bound what is read where the size is not known. */
#define MAX_ENTRIES	 256u
#define MAX_TARGET_BYTES 256u

struct cursor {
	const unsigned char *start;
	size_t bytes, at;
};

static bool take(void *out, struct cursor *cursor, size_t bytes)
{
	if (cursor->bytes - cursor->at < bytes)
		return false;
	memcpy(out, cursor->start + cursor->at, bytes);
	cursor->at += bytes;
	return true;
}

/* False where the entry does not lie within the bundle. */
static bool read_entry(struct um_bundle_entry *out, struct cursor *cursor)
{
	uint64_t offset, bytes, length;

	if (!take(&offset, cursor, 8) || !take(&bytes, cursor, 8) || !take(&length, cursor, 8))
		return false;
	if (length > MAX_TARGET_BYTES || cursor->bytes - cursor->at < length)
		return false;
	if (offset > cursor->bytes || bytes > cursor->bytes - offset ||
	    offset > UINTPTR_MAX - (uintptr_t)cursor->start ||
	    bytes > UINTPTR_MAX - (uintptr_t)cursor->start - offset)
		return false;
	out->target = (const char *)cursor->start + cursor->at;
	out->target_length = (size_t)length;
	out->image = cursor->start + offset;
	out->image_bytes = (size_t)bytes;
	cursor->at += (size_t)length;
	return true;
}

static bool same_target(const struct um_bundle_entry *entry, const char *target)
{
	return strlen(target) == entry->target_length &&
	       !memcmp(entry->target, target, entry->target_length);
}

struct target_list {
	char text[512];
	size_t used;
};

static void list_target(struct target_list *list, const struct um_bundle_entry *entry)
{
	/* Bytes of a damaged file must not reach a terminal. */
	if (list->used)
		list->used += (size_t)snprintf(list->text + list->used,
					       sizeof(list->text) - list->used, ", ");
	for (size_t i = 0; i < entry->target_length && list->used + 4 < sizeof(list->text); i++) {
		unsigned char c = (unsigned char)entry->target[i];

		list->text[list->used++] = c >= 0x20 && c < 0x7f ? (char)c : '?';
	}
	list->text[list->used] = 0;
}

int um_bundle_find(struct um_bundle_entry *out, const void *bundle, size_t bytes,
		   const char *target)
{
	struct cursor cursor = {bundle, bytes, 0};
	struct target_list list = {0};
	char magic[MAGIC_BYTES];
	uint64_t entries;

	if (!take(magic, &cursor, MAGIC_BYTES) || memcmp(magic, MAGIC, MAGIC_BYTES))
		return um_fail(UM_EFORMAT, "not an offload bundle");
	if (!take(&entries, &cursor, 8) || entries > MAX_ENTRIES)
		return um_fail(UM_EFORMAT, "damaged offload bundle: no sensible number of entries");
	for (uint64_t i = 0; i < entries; i++) {
		struct um_bundle_entry entry;

		if (!read_entry(&entry, &cursor))
			return um_fail(UM_EFORMAT, "damaged offload bundle: entry %llu of %llu",
				       (unsigned long long)i + 1, (unsigned long long)entries);
		if (same_target(&entry, target)) {
			*out = entry;
			return 0;
		}
		if (list.used + 8 < sizeof(list.text))
			list_target(&list, &entry);
	}
	return um_fail(UM_ENOENT, "no code for %s in it, only for %s", target,
		       list.used ? list.text : "nothing");
}
