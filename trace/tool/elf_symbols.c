#include "elf_symbols.h"

#include <gelf.h>
#include <stdlib.h>

struct symbol {
	uint64_t start, bytes;
	size_t name;
};

struct um_elf_symbols {
	Elf *elf;
	size_t strings; /* section of the names */
	size_t count;
	struct symbol symbol[]; /* by address */
};

static Elf_Scn *find_section(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type && header->sh_entsize)
			return section;
	return NULL;
}

/* Of two at one address the one that has a size comes last, and is found. */
static int compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static void read_functions(struct um_elf_symbols *symbols, Elf_Data *data, size_t entries)
{
	GElf_Sym entry;

	for (size_t i = 0; i < entries; i++)
		if (gelf_getsym(data, (int)i, &entry) && GELF_ST_TYPE(entry.st_info) == STT_FUNC &&
		    entry.st_shndx != SHN_UNDEF)
			symbols->symbol[symbols->count++] =
				(struct symbol){entry.st_value, entry.st_size, entry.st_name};
	qsort(symbols->symbol, symbols->count, sizeof(symbols->symbol[0]), compare);
}

struct um_elf_symbols *um_elf_symbols_create(Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, SHT_SYMTAB, &header);

	if (!section)
		section = find_section(elf, SHT_DYNSYM, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t entries = data ? data->d_size / header.sh_entsize : 0;
	struct um_elf_symbols *symbols =
		entries ? malloc(sizeof(*symbols) + entries * sizeof(symbols->symbol[0])) : NULL;

	if (!symbols)
		return NULL;
	*symbols = (struct um_elf_symbols){.elf = elf, .strings = header.sh_link};
	read_functions(symbols, data, entries);
	return symbols;
}

void um_elf_symbols_destroy(struct um_elf_symbols *symbols)
{
	free(symbols);
}

const char *um_elf_symbols_find(const struct um_elf_symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols ? symbols->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbol[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct symbol *found = symbols->symbol + low - 1;

	/* Hand-written functions may have no size: they reach to the next. */
	if (found->bytes && address - found->start >= found->bytes)
		return NULL;
	return elf_strptr(symbols->elf, symbols->strings, found->name);
}
