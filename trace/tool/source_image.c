#include "source_image.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parts --- */

struct um_bytes um_bytes_part(struct um_bytes of, uint64_t at, uint64_t bytes)
{
	if (at > of.bytes || bytes > of.bytes - at)
		return (struct um_bytes){NULL, 0};
	return (struct um_bytes){of.data + at, (size_t)bytes};
}

uint32_t um_bytes_u32(struct um_bytes of, uint64_t at)
{
	struct um_bytes part = um_bytes_part(of, at, sizeof(uint32_t));
	uint32_t value = 0;

	if (part.data)
		memcpy(&value, part.data, sizeof(value));
	return value;
}

uint64_t um_bytes_u64(struct um_bytes of, uint64_t at)
{
	return um_bytes_u32(of, at) | (uint64_t)um_bytes_u32(of, at + 4) << 32;
}

/* --- sections --- */

bool um_elf_is_ours(Elf *elf)
{
	GElf_Ehdr header;

	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

static Elf_Scn *find_section(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, header)
					   ? elf_strptr(elf, names, header->sh_name)
					   : NULL;

		if (name && header->sh_type != SHT_NOBITS && strcmp(name, wanted) == 0)
			return section;
	}
	return NULL;
}

struct um_bytes um_elf_section(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, name, &header);

	if (section && header.sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		section = NULL;
	const Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	return data && data->d_buf ? (struct um_bytes){data->d_buf, data->d_size}
				   : (struct um_bytes){NULL, 0};
}

/* --- strings --- */

/* Of each but its end is known, a string of 0 bytes that all others fall back to. */
static uint32_t copy_string(FILE *out, struct um_bytes text, uint64_t at, uint64_t room)
{
	long here = ftell(out);
	size_t bytes = at < text.bytes ? strnlen(text.data + at, text.bytes - at) : 0;

	if (bytes == 0 || here < 0 || (uint64_t)here + bytes >= room)
		return 0;
	fwrite(text.data + at, 1, bytes, out);
	fputc('\0', out);
	return (uint32_t)here;
}

/* Where all units' strings would not do for this one's, its table repeats itself. */
static uint64_t most_bytes(struct um_bytes text)
{
	uint64_t most = 2 * (uint64_t)text.bytes + 4096;

	return most < UINT32_MAX ? most : UINT32_MAX;
}

bool um_strings_of(struct um_strings *strings, struct um_bytes text, struct um_bytes offsets,
		   size_t header_bytes)
{
	char *copied = NULL, *table = offsets.bytes ? malloc(offsets.bytes) : NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&copied, &bytes);

	*strings = (struct um_strings){0};
	if (!out || (offsets.bytes && !table)) {
		free(table);
		if (out)
			fclose(out);
		free(copied);
		return false;
	}
	if (table)
		memcpy(table, offsets.data, offsets.bytes);
	fputc('\0', out);
	for (size_t at = header_bytes; at + 4 <= offsets.bytes; at += 4) {
		uint32_t offset =
			copy_string(out, text, um_bytes_u32(offsets, at), most_bytes(text));

		memcpy(table + at, &offset, sizeof(offset));
	}
	bool good = fclose(out) == 0;

	strings->text = (struct um_bytes){copied, good ? bytes : 0};
	strings->offsets = (struct um_bytes){table, offsets.bytes};
	if (!good)
		um_strings_free(strings);
	return good;
}

void um_strings_free(struct um_strings *strings)
{
	free((char *)strings->text.data);
	free((char *)strings->offsets.data);
	*strings = (struct um_strings){0};
}

/* --- images --- */

#define SECTIONS_MAX 16u

struct layout {
	Elf64_Shdr header[SECTIONS_MAX + 2]; /* none, the sections, the names */
	char names[512];
	size_t name_bytes, bytes;
};

static void lay_out(struct layout *layout, size_t number, const char *name, size_t bytes)
{
	Elf64_Shdr *header = &layout->header[number]; /* of what is empty: SHT_NULL */
	size_t name_bytes = strlen(name) + 1;

	*header = (Elf64_Shdr){.sh_name = (Elf64_Word)layout->name_bytes,
			       .sh_type = SHT_PROGBITS,
			       .sh_offset = layout->bytes,
			       .sh_size = bytes,
			       .sh_addralign = 1};
	memcpy(layout->names + layout->name_bytes, name, name_bytes);
	layout->name_bytes += name_bytes;
	layout->bytes += (bytes + 7) & ~(size_t)7;
}

char *um_image_create(const struct um_image_section *sections, size_t count, size_t *bytes)
{
	struct layout layout = {.name_bytes = 1};
	size_t headers = count + 2;
	Elf64_Ehdr file = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = sizeof(file),
			   .e_ehsize = sizeof(file),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = (Elf64_Half)headers,
			   .e_shstrndx = (Elf64_Half)(headers - 1)};

	layout.bytes = sizeof(file) + headers * sizeof(Elf64_Shdr);
	for (size_t i = 0; i < count; i++)
		if (sections[i].content.bytes)
			lay_out(&layout, i + 1, sections[i].name, sections[i].content.bytes);
	lay_out(&layout, headers - 1, ".shstrtab", sizeof(layout.names));
	layout.header[headers - 1].sh_type = SHT_STRTAB;
	char *image = calloc(1, layout.bytes);

	if (!image)
		return NULL;
	memcpy(image, &file, sizeof(file));
	memcpy(image + sizeof(file), layout.header, headers * sizeof(Elf64_Shdr));
	for (size_t i = 0; i < count; i++)
		if (sections[i].content.bytes)
			memcpy(image + layout.header[i + 1].sh_offset, sections[i].content.data,
			       sections[i].content.bytes);
	memcpy(image + layout.header[headers - 1].sh_offset, layout.names, sizeof(layout.names));
	*bytes = layout.bytes;
	return image;
}
