/*
 * ELF files in memory, of sections taken from others; and parts of such sections. Files come from anyone:
 * what lies outside of a part is nothing, and reads as 0.
 */
#ifndef UM_SOURCE_IMAGE_H
#define UM_SOURCE_IMAGE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_bytes {
	const char *data; /* somebody else's */
	size_t bytes;
};

struct um_bytes um_bytes_part(struct um_bytes, uint64_t at, uint64_t bytes);
uint32_t um_bytes_u32(struct um_bytes, uint64_t at);
uint64_t um_bytes_u64(struct um_bytes, uint64_t at);

/* Of 64 bits, little endian, as all that is read here. */
bool um_elf_is_ours(Elf *);
/* What the section has, uncompressed; nothing where there is none. Lives as long as the file. */
struct um_bytes um_elf_section(Elf *, const char *name);

/*
 * The strings that one unit's table of offsets (4 bytes each, behind a header) names of a section that many
 * units share, and the table that names them here.
 */
struct um_strings {
	struct um_bytes text, offsets;
};
/* False without memory. */
bool um_strings_of(struct um_strings *, struct um_bytes text, struct um_bytes offsets,
		   size_t header_bytes);
void um_strings_free(struct um_strings *);

struct um_image_section {
	const char *name;
	struct um_bytes content;
};

/* malloc'ed; NULL without memory. */
char *um_image_create(const struct um_image_section *, size_t count, size_t *bytes);

#endif
