#include "source_package.h"

#include "source_image.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS_MAX   16u /* kinds of sections in an index */
#define ADDRESS_BYTES 8u

/* Columns of an index, by their numbers in its first row; those of before DWARF 5 where they differ. */
enum column {
	COLUMN_INFO = 1,
	COLUMN_ABBREV = 3,
	COLUMN_FILES = 4,     /* .debug_line: names of files only */
	COLUMN_LOCATIONS = 5, /* .debug_loclists, before: .debug_loc */
	COLUMN_STR_OFFSETS = 6,
	COLUMN_RANGES = 8, /* .debug_rnglists; before: none */
};

struct index {
	struct um_bytes section;
	unsigned version; /* 2, or 5 */
	uint32_t columns, units, slots;
};

/* A unit that was taken out. */
struct taken {
	struct taken *next;
	char *image;
	Elf *elf;
	Dwarf *dwarf;
	uint64_t id;
	bool is_good;
	Dwarf_Die unit;
};

struct um_source_package {
	int file;
	Elf *elf;
	struct index index;
	struct taken *taken;
};

/* --- the index --- */

static bool is_power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

/* Behind the header: signatures (8 bytes a slot), rows (4 a slot), columns, offsets, sizes. */
static bool read_index(struct index *index, struct um_bytes section)
{
	uint64_t version = um_bytes_u32(section, 0);

	*index = (struct index){.section = section,
				.version = version == 2 ? 2 : (unsigned)(version & 0xffff),
				.columns = um_bytes_u32(section, 4),
				.units = um_bytes_u32(section, 8),
				.slots = um_bytes_u32(section, 12)};
	uint64_t bytes = 16 + 12ull * index->slots + 4ull * index->columns +
			 8ull * index->columns * index->units;

	return (index->version == 2 || index->version == 5) && index->columns <= COLUMNS_MAX &&
	       is_power_of_two(index->slots) && bytes <= section.bytes;
}

/* The row of a unit, from 1; 0: it is not there. Searched as the format says. */
static uint32_t find_row(const struct index *index, uint64_t id)
{
	uint64_t mask = index->slots - 1, at = id & mask, step = (id >> 32 & mask) | 1;

	for (uint32_t tries = 0; tries < index->slots; tries++, at = (at + step) & mask) {
		uint32_t row = um_bytes_u32(index->section, 16 + 8ull * index->slots + 4 * at);

		if (row == 0)
			return 0;
		if (um_bytes_u64(index->section, 16 + 8 * at) == id)
			return row <= index->units ? row : 0;
	}
	return 0;
}

/* What the unit has of a section; nothing where it has none. */
static struct um_bytes contribution(const struct um_source_package *package, uint32_t row,
				    enum column wanted, const char *section)
{
	const struct index *index = &package->index;
	uint64_t names = 16 + 12ull * index->slots;
	uint64_t offsets = names + 4ull * index->columns;
	uint64_t lengths = offsets + 4ull * index->columns * index->units;

	for (uint32_t i = 0; i < index->columns; i++) {
		uint64_t at = 4ull * ((row - 1) * (uint64_t)index->columns + i);

		if (um_bytes_u32(index->section, names + 4ull * i) == (uint32_t)wanted)
			return um_bytes_part(um_elf_section(package->elf, section),
					     um_bytes_u32(index->section, offsets + at),
					     um_bytes_u32(index->section, lengths + at));
	}
	return (struct um_bytes){NULL, 0};
}

struct um_source_package *um_source_package_open(const char *path)
{
	struct um_source_package *package = calloc(1, sizeof(*package));
	char name[PATH_MAX];
	int bytes = snprintf(name, sizeof(name), "%s.dwp", path);

	if (!package)
		return NULL;
	package->file = bytes > 0 && (size_t)bytes < sizeof(name)
				? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
				: -1;
	if (package->file >= 0)
		package->elf = elf_begin(package->file, ELF_C_READ_MMAP, NULL);
	if (package->elf && um_elf_is_ours(package->elf) &&
	    read_index(&package->index, um_elf_section(package->elf, ".debug_cu_index")))
		return package;
	um_source_package_close(package);
	return NULL;
}

void um_source_package_close(struct um_source_package *package)
{
	if (!package)
		return;
	for (struct taken *taken = package->taken, *next; taken; taken = next) {
		next = taken->next;
		if (taken->dwarf)
			dwarf_end(taken->dwarf);
		elf_end(taken->elf);
		free(taken->image);
		free(taken);
	}
	elf_end(package->elf);
	if (package->file >= 0)
		close(package->file);
	free(package);
}

/* --- what the skeleton's file has for the unit --- */

static bool base_of(Dwarf_Die *skeleton, unsigned attribute, unsigned older, Dwarf_Word *base)
{
	Dwarf_Attribute at;

	return dwarf_formudata(dwarf_attr(skeleton, attribute, &at), base) == 0 ||
	       dwarf_formudata(dwarf_attr(skeleton, older, &at), base) == 0;
}

/* Without a base in the unit itself libdw counts from the section's start: there its part goes. */
static struct um_bytes from_base(Elf *elf, const char *section, Dwarf_Die *skeleton,
				 unsigned attribute, unsigned older)
{
	struct um_bytes all = um_elf_section(elf, section);
	Dwarf_Word base = 0;

	if (!base_of(skeleton, attribute, older, &base) || base > all.bytes)
		return (struct um_bytes){NULL, 0};
	return um_bytes_part(all, base, all.bytes - base);
}

/*
 * Before DWARF 5 ranges stand in the skeleton's file and count from the unit's lowest address, of which
 * libdw knows nothing here: so it is added. Pairs; (0, 0) ends a list, (-1, base) sets another base.
 */
static void add_base(char *ranges, size_t bytes, uint64_t low)
{
	uint64_t base = low, pair[2];

	for (size_t at = 0; at + sizeof(pair) <= bytes; at += sizeof(pair)) {
		memcpy(pair, ranges + at, sizeof(pair));
		if (pair[0] == UINT64_MAX || (pair[0] == 0 && pair[1] == 0)) {
			base = pair[0] ? 0 : low;
			continue;
		}
		pair[0] += base;
		pair[1] += base;
		memcpy(ranges + at, pair, sizeof(pair));
	}
}

static char *older_ranges(Elf *elf, Dwarf_Die *skeleton, struct um_bytes *ranges)
{
	Dwarf_Addr low = 0;

	*ranges = from_base(elf, ".debug_ranges", skeleton, DW_AT_GNU_ranges_base,
			    DW_AT_GNU_ranges_base);
	char *copy = ranges->bytes ? malloc(ranges->bytes) : NULL;

	if (copy) {
		memcpy(copy, ranges->data, ranges->bytes);
		if (dwarf_lowpc(skeleton, &low) == 0)
			add_base(copy, ranges->bytes, low);
	}
	*ranges = (struct um_bytes){copy, copy ? ranges->bytes : 0};
	return copy;
}

/*
 * From DWARF 5 on lists of ranges and of locations may count from there too: so each is made to begin with
 * that base. A table of offsets stands before them, behind a header (7.28, 7.29); lists follow in its order.
 */
#define LISTS_HEADER_BYTES 12u
#define LISTS_MAX_BYTES	   (256u << 20)

static uint64_t end_of_list(struct um_bytes lists, uint32_t count, uint32_t number, uint64_t from)
{
	uint64_t next =
		number + 1 < count
			? LISTS_HEADER_BYTES +
				  um_bytes_u32(lists, LISTS_HEADER_BYTES + 4ull * (number + 1))
			: lists.bytes;

	return next > from && next <= lists.bytes ? next : lists.bytes;
}

static struct um_bytes list_of(struct um_bytes lists, uint32_t count, uint32_t number)
{
	uint64_t from = LISTS_HEADER_BYTES +
			(uint64_t)um_bytes_u32(lists, LISTS_HEADER_BYTES + 4ull * number);

	return um_bytes_part(lists, from, end_of_list(lists, count, number, from) - from);
}

/* `entry`: what the entry that sets a base begins with. malloc'ed; NULL: they stay as they are. */
static char *lists_with_base(struct um_bytes *lists, char entry, uint64_t low)
{
	uint32_t count = um_bytes_u32(*lists, 8);
	uint64_t table_end = LISTS_HEADER_BYTES + 4ull * count, bytes = table_end, at = table_end;

	if (!low || table_end > lists->bytes)
		return NULL;
	for (uint32_t i = 0; i < count && bytes < LISTS_MAX_BYTES; i++)
		bytes += 1 + sizeof(low) + list_of(*lists, count, i).bytes;
	char *copy = bytes < LISTS_MAX_BYTES ? malloc(bytes) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, lists->data, table_end);
	memcpy(copy, &(uint32_t){(uint32_t)bytes - 4}, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++) {
		struct um_bytes list = list_of(*lists, count, i);

		memcpy(copy + LISTS_HEADER_BYTES + 4ull * i,
		       &(uint32_t){(uint32_t)(at - LISTS_HEADER_BYTES)}, sizeof(uint32_t));
		copy[at] = entry;
		memcpy(copy + at + 1, &low, sizeof(low));
		if (list.bytes)
			memcpy(copy + at + 1 + sizeof(low), list.data, list.bytes);
		at += 1 + sizeof(low) + list.bytes;
	}
	*lists = (struct um_bytes){copy, bytes};
	return copy;
}

/* --- a unit --- */

/* As far as the addresses go that this unit uses: the section has those of all units. */
static struct um_bytes addresses_of(Elf *elf, Dwarf_Die *skeleton, unsigned version)
{
	struct um_bytes all = um_elf_section(elf, ".debug_addr");
	struct um_bytes part =
		from_base(elf, ".debug_addr", skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base);
	/* DWARF 5: its length stands 8 bytes before, and counts from 4 bytes before. */
	uint64_t header = all.bytes - part.bytes;

	if (version < 5 || header < 8 || !part.bytes)
		return part;
	uint64_t length = um_bytes_u32(all, header - 8);

	return length >= 4 && length - 4 <= part.bytes ? um_bytes_part(part, 0, length - 4) : part;
}

/* malloc'ed; NULL without memory. */
static char *make_image(struct um_source_package *package, uint32_t row, Dwarf_Die *skeleton,
			unsigned version, size_t *bytes)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(skeleton->cu));
	struct um_bytes offsets =
		contribution(package, row, COLUMN_STR_OFFSETS, ".debug_str_offsets.dwo");
	struct um_strings strings = {0};
	struct um_bytes ranges, locations;
	char *copy, *copied_locations = NULL, *image = NULL;
	Dwarf_Addr low = 0;

	locations = contribution(package, row, COLUMN_LOCATIONS,
				 version >= 5 ? ".debug_loclists.dwo" : ".debug_loc.dwo");
	if (version >= 5) {
		ranges = contribution(package, row, COLUMN_RANGES, ".debug_rnglists.dwo");
		if (dwarf_lowpc(skeleton, &low) != 0)
			low = 0;
		copy = lists_with_base(&ranges, DW_RLE_base_address, low);
		copied_locations = lists_with_base(&locations, DW_LLE_base_address, low);
	} else {
		copy = older_ranges(elf, skeleton, &ranges);
	}
	if (um_strings_of(&strings, um_elf_section(package->elf, ".debug_str.dwo"), offsets,
			  version >= 5 ? 8 : 0)) {
		const struct um_image_section sections[] = {
			{".debug_info", contribution(package, row, COLUMN_INFO, ".debug_info.dwo")},
			{".debug_abbrev",
			 contribution(package, row, COLUMN_ABBREV, ".debug_abbrev.dwo")},
			{".debug_line",
			 contribution(package, row, COLUMN_FILES, ".debug_line.dwo")},
			{".debug_str", strings.text},
			{".debug_str_offsets", strings.offsets},
			{".debug_addr", addresses_of(elf, skeleton, version)},
			{version >= 5 ? ".debug_rnglists" : ".debug_ranges", ranges},
			{version >= 5 ? ".debug_loclists" : ".debug_loc", locations},
		};

		image = um_image_create(sections, sizeof(sections) / sizeof(*sections), bytes);
	}
	um_strings_free(&strings);
	free(copied_locations);
	free(copy);
	return image;
}

static const struct taken *take(struct um_source_package *package, uint64_t id, char *image,
				size_t bytes)
{
	struct taken *taken = calloc(1, sizeof(*taken));
	Dwarf_CU *cu = NULL;
	uint8_t type;

	if (!taken) {
		free(image);
		return NULL;
	}
	*taken = (struct taken){package->taken, image, elf_memory(image, bytes), .id = id};
	package->taken = taken;
	if (taken->elf)
		taken->dwarf = dwarf_begin_elf(taken->elf, DWARF_C_READ, NULL);
	taken->is_good =
		taken->dwarf &&
		dwarf_get_units(taken->dwarf, NULL, &cu, NULL, &type, &taken->unit, NULL) == 0 &&
		type == DW_UT_split_compile;
	return taken;
}

static const struct taken *find_taken(const struct um_source_package *package, uint64_t id)
{
	const struct taken *taken = package->taken;

	while (taken && taken->id != id)
		taken = taken->next;
	return taken;
}

bool um_source_package_unit(struct um_source_package *package, Dwarf_Die *skeleton, Dwarf_Die *unit)
{
	Dwarf_Half version = 0;
	uint64_t id = 0;
	uint8_t address_bytes = 0, offset_bytes = 0;
	size_t bytes = 0;

	if (!package ||
	    dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, &id, &address_bytes,
			  &offset_bytes) != 0 ||
	    address_bytes != ADDRESS_BYTES || offset_bytes != 4 ||
	    (version >= 5) != (package->index.version == 5))
		return false;
	const struct taken *taken = find_taken(package, id);
	uint32_t row = taken ? 0 : find_row(&package->index, id);
	char *image = row ? make_image(package, row, skeleton, version, &bytes) : NULL;

	if (image)
		taken = take(package, id, image, bytes);
	if (!taken || !taken->is_good)
		return false;
	*unit = taken->unit;
	return true;
}
