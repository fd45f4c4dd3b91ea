#include "program_text.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#define SCAN_MAX_BYTES (256ul << 20)

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));

struct scan {
	const char *const *texts;
	size_t count;
	uint64_t head[UM_PROGRAM_TEXTS_MAX]; /* the first bytes of each */
	unsigned found;
	const char *own;
	bool (*is_hidden)(uintptr_t base);
	size_t budget;
};

/* Like strncmp(), of everything that is mapped, whatever the compiler says of its parts. */
__attribute__((no_sanitize("address"))) static bool is_at(const char *at, const char *end,
							  const char *text)
{
	for (; at < end && *at == *text; at++, text++)
		if (!*text)
			return true;
	return false;
}

__attribute__((no_sanitize("address"))) static void search(struct scan *scan, const char *start,
							   size_t bytes)
{
	const char *end = start + bytes;

	for (const char *at = start; end - at >= (ptrdiff_t)sizeof(uint64_t); at++) {
		uint64_t word = *(const unaligned_word *)at;

		for (size_t i = 0; i < scan->count; i++)
			if (word == scan->head[i] && is_at(at, end, scan->texts[i]))
				scan->found |= 1u << i;
		if (scan->found & 1)
			return;
	}
}

static void search_segment(struct scan *scan, const struct dl_phdr_info *object,
			   const ElfW(Phdr) * segment)
{
	if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R) || segment->p_flags & PF_W)
		return;
	if (segment->p_filesz > scan->budget) {
		scan->found |= 1;
		return;
	}
	scan->budget -= segment->p_filesz;
	search(scan, (const char *)(object->dlpi_addr + segment->p_vaddr), segment->p_filesz);
}

static bool is_beside(const char *own, const char *name)
{
	const char *own_slash = own ? strrchr(own, '/') : NULL;
	const char *slash = name ? strrchr(name, '/') : NULL;

	return own_slash && slash && slash - name == own_slash - own &&
	       memcmp(name, own, (size_t)(slash - name)) == 0;
}

static int object_has(struct dl_phdr_info *object, size_t bytes, void *context)
{
	struct scan *scan = context;

	(void)bytes;
	if ((scan->is_hidden && scan->is_hidden(object->dlpi_addr)) ||
	    is_beside(scan->own, object->dlpi_name))
		return 0;
	for (unsigned i = 0; i < object->dlpi_phnum && !(scan->found & 1); i++)
		search_segment(scan, object, object->dlpi_phdr + i);
	return scan->found & 1;
}

unsigned um_program_texts(const char *const *texts, size_t count, const char *own,
			  bool (*is_hidden)(uintptr_t base))
{
	struct scan scan = {
		.texts = texts,
		.count = count,
		.own = own,
		.is_hidden = is_hidden,
		.budget = SCAN_MAX_BYTES,
	};

	for (size_t i = 0; i < count; i++)
		memcpy(&scan.head[i], texts[i], sizeof(scan.head[i]));
	dl_iterate_phdr(object_has, &scan);
	return scan.found;
}
