/* What a pointer in a code object points to, by the symbols and relocations of its file. */
#include "rtc.h"

#include <elf.h>
#include <string.h>

struct file {
	const char *start;
	size_t bytes;
};

/* NULL where it is not all there. */
static const void *part(const struct file *file, uint64_t offset, uint64_t bytes)
{
	return offset <= file->bytes && bytes <= file->bytes - offset ? file->start + offset : NULL;
}

static const Elf64_Shdr *section(const struct file *file, unsigned number)
{
	const Elf64_Ehdr *header = part(file, 0, sizeof(*header));

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) || number >= header->e_shnum ||
	    header->e_shoff % _Alignof(Elf64_Shdr))
		return NULL;
	return part(file, header->e_shoff + number * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

struct table {
	const void *entry;
	size_t count;
	unsigned link; /* the section that it refers to */
};

/* The n-th section of that type as a table; false if there is none. */
static bool find_table(struct table *out, const struct file *file, unsigned type, unsigned nth,
		       size_t entry_bytes)
{
	const Elf64_Shdr *s;

	for (unsigned i = 0; (s = section(file, i)); i++) {
		if (s->sh_type != type || nth--)
			continue;
		out->entry = part(file, s->sh_offset, s->sh_size);
		out->count = s->sh_size / entry_bytes;
		out->link = s->sh_link;
		return out->entry && s->sh_offset % 8 == 0;
	}
	return false;
}

static const char *text(const struct file *file, unsigned section_number, uint32_t offset)
{
	const Elf64_Shdr *s = section(file, section_number);
	const char *strings = s ? part(file, s->sh_offset, s->sh_size) : NULL;

	if (!strings || offset >= s->sh_size || !memchr(strings + offset, 0, s->sh_size - offset))
		return NULL;
	return strings + offset;
}

static bool find_variable(uint64_t *out, const struct file *file, const char *name)
{
	struct table symbols;

	if (!find_table(&symbols, file, SHT_DYNSYM, 0, sizeof(Elf64_Sym)))
		return false;
	for (size_t i = 0; i < symbols.count; i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)symbols.entry + i;
		const char *its = text(file, symbols.link, symbol->st_name);

		if (!its || strcmp(its, name))
			continue;
		*out = symbol->st_value;
		return true;
	}
	return false;
}

/* Of a function or a variable; a name that other files see before one that they do not. */
static const char *name_at(const struct file *file, uint64_t address)
{
	static const unsigned types[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct table symbols;

	for (unsigned t = 0; t < 2; t++) {
		if (!find_table(&symbols, file, types[t], 0, sizeof(Elf64_Sym)))
			continue;
		for (size_t i = 0; i < symbols.count; i++) {
			const Elf64_Sym *symbol = (const Elf64_Sym *)symbols.entry + i;
			unsigned type = ELF64_ST_TYPE(symbol->st_info);

			if (symbol->st_value == address && symbol->st_shndx != SHN_UNDEF &&
			    (type == STT_FUNC || type == STT_OBJECT))
				return text(file, symbols.link, symbol->st_name);
		}
	}
	return NULL;
}

static const char *name_by_relocation(const struct file *file, unsigned symbols_section,
				      const Elf64_Rela *r)
{
	const Elf64_Shdr *s = section(file, symbols_section);
	uint64_t number = ELF64_R_SYM(r->r_info);
	const Elf64_Sym *symbol;

	if (ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE)
		return name_at(file, (uint64_t)r->r_addend);
	if (ELF64_R_TYPE(r->r_info) != R_X86_64_64 || !s || s->sh_offset % 8 ||
	    number >= s->sh_size / sizeof(*symbol))
		return NULL;
	symbol = part(file, s->sh_offset + number * sizeof(*symbol), sizeof(*symbol));
	return symbol ? text(file, s->sh_link, symbol->st_name) : NULL;
}

static const char *pointee(const struct file *file, uint64_t variable)
{
	struct table relocations;

	for (unsigned nth = 0; find_table(&relocations, file, SHT_RELA, nth, sizeof(Elf64_Rela));
	     nth++)
		for (size_t i = 0; i < relocations.count; i++) {
			const Elf64_Rela *r = (const Elf64_Rela *)relocations.entry + i;

			if (r->r_offset == variable)
				return name_by_relocation(file, relocations.link, r);
		}
	return NULL;
}

char *um_rtc_pointee(const void *elf, size_t bytes, const char *variable)
{
	const struct file file = {elf, bytes};
	const char *name = NULL;
	uint64_t address;

	if (find_variable(&address, &file, variable))
		name = pointee(&file, address);
	return name ? strdup(name) : NULL;
}
