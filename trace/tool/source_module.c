#include "source_module.h"

#include "source_package.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_FOLDER "/usr/lib/debug" /* gdb's and the distributions' */
#define MAX_UNITS    (1u << 22)
#define MAX_OVERLAP  64 /* units that are tried, where their addresses overlap */

/* --- files --- */

static void read_build_id(Elf *elf, char text[2 * UM_BUILD_ID_BYTES + 1])
{
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);

	text[0] = '\0';
	for (ssize_t i = 0; bytes <= UM_BUILD_ID_BYTES && i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
}

static Elf *open_elf(const char *path, int *file)
{
	*file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return *file >= 0 ? elf_begin(*file, ELF_C_READ_MMAP, NULL) : NULL;
}

static bool has_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && header.sh_type != SHT_NOBITS && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

static bool has_debug_info(Elf *elf)
{
	return has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info");
}

/* Takes the file if it is this module's: of the same build id. */
static bool take_debug_file(struct um_source_module *module, const char *path)
{
	char build_id[2 * UM_BUILD_ID_BYTES + 1] = "";
	int file;
	Elf *elf = open_elf(path, &file);

	if (elf)
		read_build_id(elf, build_id);
	if (elf && strcmp(build_id, module->build_id) == 0 && has_debug_info(elf)) {
		module->debug_elf = elf;
		module->debug_file = file;
		return true;
	}
	elf_end(elf);
	if (file >= 0)
		close(file);
	return false;
}

static bool find_debug_file(struct um_source_module *module, const char *path)
{
	char debug[PATH_MAX];
	GElf_Word crc;
	const char *link = dwelf_elf_gnu_debuglink(module->elf, &crc);
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) : 0;
	static const char *const beside[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_FOLDER "%.*s/%s"};

	snprintf(debug, sizeof(debug), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", module->build_id,
		 strlen(module->build_id) > 2 ? module->build_id + 2 : "");
	if (*module->build_id && take_debug_file(module, debug))
		return true;
	if (!link || !*link || strchr(link, '/'))
		return false;
	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		int bytes = snprintf(debug, sizeof(debug), beside[i], folder, path, link);

		if (bytes > 0 && (size_t)bytes < sizeof(debug) && take_debug_file(module, debug))
			return true;
	}
	return false;
}

/* Nobody looks for a line of the C library, and its file of them takes a third of a second. */
static bool is_system_library(const char *path)
{
	static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

/* --- units --- */

static bool add_unit(struct um_source_module *module, size_t *capacity,
		     const struct um_source_unit *unit)
{
	if (module->unit_count == *capacity) {
		size_t wanted = *capacity ? 2 * *capacity : 64;
		void *grown = wanted <= MAX_UNITS
				      ? reallocarray(module->units, wanted, sizeof(*unit))
				      : NULL;

		if (!grown)
			return false;
		module->units = grown;
		*capacity = wanted;
	}
	module->units[module->unit_count++] = *unit;
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct um_source_unit *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* The linker puts what nobody calls at 0. */
static bool add_ranges(struct um_source_module *module, size_t *capacity,
		       struct um_source_unit *unit)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(&unit->unit, at, &base, &start, &end)) > 0) {
		unit->start = start;
		unit->end = end;
		if (start != 0 && start < end && !add_unit(module, capacity, unit))
			return false;
	}
	return true;
}

/* Every unit is asked: clang writes no .debug_aranges, the index of units by address. */
static void read_units(struct um_source_module *module)
{
	size_t capacity = 0;
	struct um_source_unit unit = {0};
	Dwarf_Die split;
	Dwarf_CU *cu = NULL;
	uint8_t type;

	while (dwarf_get_units(module->dwarf, cu, &cu, NULL, &type, &unit.unit, &split) == 0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		unit.code = unit.unit;
		if (type == DW_UT_skeleton && split.addr)
			unit.code = split;
		else if (type == DW_UT_skeleton)
			um_source_package_unit(module->package, &unit.unit, &unit.code);
		if (!add_ranges(module, &capacity, &unit))
			break;
	}
	if (module->unit_count)
		qsort(module->units, module->unit_count, sizeof(*module->units), compare);
}

const struct um_source_unit *um_source_module_unit(const struct um_source_module *module,
						   uint64_t address)
{
	size_t low = 0, high = module->unit_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module->units[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t tries = 0; low > 0 && tries < MAX_OVERLAP; tries++)
		if (address < module->units[--low].end)
			return module->units + low;
	return NULL;
}

/* --- */

static bool has_skeletons(const struct um_source_module *module)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	while (dwarf_get_units(module->dwarf, cu, &cu, NULL, &type, NULL, NULL) == 0)
		if (type == DW_UT_skeleton)
			return true;
	return false;
}

static struct um_source_package *open_package(const struct um_source_module *module,
					      const char *path)
{
	char debug[PATH_MAX], own[64];
	ssize_t bytes;

	if (!has_skeletons(module))
		return NULL;
	struct um_source_package *package = um_source_package_open(path);

	if (package || module->debug_file < 0)
		return package;
	/* Beside the file that has the debug information. */
	snprintf(own, sizeof(own), "/proc/self/fd/%d", module->debug_file);
	bytes = readlink(own, debug, sizeof(debug) - 1);
	if (bytes <= 0)
		return NULL;
	debug[bytes] = '\0';
	return um_source_package_open(debug);
}

void um_source_module_open(struct um_source_module *module, const char *path)
{
	*module = (struct um_source_module){.debug_file = -1};
	elf_version(EV_CURRENT);
	module->elf = open_elf(path, &module->file);
	if (!module->elf || elf_kind(module->elf) != ELF_K_ELF)
		return;
	read_build_id(module->elf, module->build_id);
	if (has_debug_info(module->elf))
		module->dwarf = dwarf_begin(module->file, DWARF_C_READ);
	else if (!is_system_library(path) && find_debug_file(module, path))
		module->dwarf = dwarf_begin(module->debug_file, DWARF_C_READ);
	if (!module->debug_elf)
		module->debug_elf = module->elf;
	if (module->dwarf) {
		module->package = open_package(module, path);
		read_units(module);
	}
}

void um_source_module_close(struct um_source_module *module)
{
	free(module->units);
	free(module->globals);
	um_source_package_close(module->package);
	if (module->dwarf)
		dwarf_end(module->dwarf);
	if (module->debug_elf != module->elf)
		elf_end(module->debug_elf);
	elf_end(module->elf);
	if (module->debug_file >= 0)
		close(module->debug_file);
	if (module->file >= 0)
		close(module->file);
}
