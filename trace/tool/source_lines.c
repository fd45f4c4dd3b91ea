#include "source_lines.h"

#include "elf_symbols.h"
#include "runtime_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILD_ID_BYTES 32 /* 20 as a rule, of SHA-1 */

struct module {
	struct module *next;
	int file;
	Elf *elf;     /* NULL: none */
	Dwarf *dwarf; /* NULL: none */
	struct um_elf_symbols *symbols;
	bool has_read_symbols;
	char build_id[2 * BUILD_ID_BYTES + 1]; /* "": none */
	char path[];
};

struct um_source_lines {
	struct module *modules;
};

struct um_source_lines *um_source_lines_create(void)
{
	return calloc(1, sizeof(struct um_source_lines));
}

void um_source_lines_destroy(struct um_source_lines *lines)
{
	if (!lines)
		return;
	for (struct module *module = lines->modules, *next; module; module = next) {
		next = module->next;
		if (module->dwarf)
			dwarf_end(module->dwarf);
		um_elf_symbols_destroy(module->symbols);
		elf_end(module->elf);
		if (module->file >= 0)
			close(module->file);
		free(module);
	}
	free(lines);
}

static void read_build_id(struct module *module)
{
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(module->elf, &id);

	for (ssize_t i = 0; bytes <= BUILD_ID_BYTES && i < bytes; i++)
		snprintf(module->build_id + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
}

static struct module *open_module(struct um_source_lines *lines, const char *path)
{
	struct module *module;

	for (module = lines->modules; module; module = module->next)
		if (strcmp(module->path, path) == 0)
			return module;
	module = malloc(sizeof(*module) + strlen(path) + 1);
	if (!module)
		return NULL;
	*module = (struct module){.next = lines->modules, .file = open(path, O_RDONLY | O_CLOEXEC)};
	strcpy(module->path, path);
	if (module->file >= 0) {
		elf_version(EV_CURRENT);
		module->elf = elf_begin(module->file, ELF_C_READ_MMAP, NULL);
		module->dwarf = dwarf_begin(module->file, DWARF_C_READ);
	}
	if (module->elf)
		read_build_id(module);
	lines->modules = module;
	return module;
}

/* Every unit is asked: clang writes no .debug_aranges, the index of units by address. */
static bool find_unit(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die sub;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, unit, &sub) == 0)
		if (type == DW_UT_compile && dwarf_haspc(unit, address) == 1)
			return true;
	return false;
}

static bool is_function(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_subprogram || dwarf_tag(die) == DW_TAG_inlined_subroutine;
}

/* Where the inlined function was called: a line of the frame around it. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *inlined, struct um_source_frame *around)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
		around->line = (uint32_t)line;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
		around->file = dwarf_filesrc(files, file, NULL, NULL);
}

/* scopes: from the innermost block outwards. */
static size_t fill_functions(Dwarf_Die *unit, Dwarf_Die *scopes, int count,
			     struct um_source_frame *frames, size_t capacity)
{
	size_t used = 0;

	for (int i = 0; i < count && used < capacity; i++) {
		if (!is_function(&scopes[i]))
			continue;
		frames[used].function = dwarf_diename(&scopes[i]);
		frames[used].inlined = dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine;
		if (!frames[used].inlined)
			return used + 1;
		if (++used < capacity)
			call_site(unit, &scopes[i], &frames[used]);
	}
	return used;
}

static size_t find_functions(Dwarf_Die *unit, Dwarf_Addr address, struct um_source_frame *frames,
			     size_t capacity)
{
	Dwarf_Die *at = NULL, *scopes = NULL;
	size_t used = 0;

	/* getscopes follows an inlined function to its definition; getscopes_die, to its caller. */
	if (dwarf_getscopes(unit, address, &at) > 0) {
		int count = dwarf_getscopes_die(at, &scopes);

		if (count > 0)
			used = fill_functions(unit, scopes, count, frames, capacity);
	}
	free(at);
	free(scopes);
	return used;
}

static bool is_wrapper(const struct um_source_frame *frame)
{
	return (frame->file && um_is_runtime_file(frame->file)) ||
	       (frame->function && um_is_runtime_function(frame->function, frame->file));
}

/* HIP's headers and CUDA's wrap some calls in templates: the caller is who called. */
static size_t skip_wrappers(struct um_source_frame *frames, size_t count)
{
	size_t wrappers = 0;

	while (wrappers + 1 < count && frames[wrappers].inlined && is_wrapper(&frames[wrappers]))
		wrappers++;
	memmove(frames, frames + wrappers, (count - wrappers) * sizeof(*frames));
	return count - wrappers;
}

size_t um_source_lines_find(struct um_source_lines *lines, const char *path,
			    uint64_t return_address, struct um_source_frame *frames,
			    size_t capacity)
{
	struct module *module = open_module(lines, path);
	Dwarf_Addr address = return_address - 1; /* within the call */
	Dwarf_Die unit;
	Dwarf_Line *line;
	int number = 0;

	if (capacity == 0 || !module || !module->dwarf || !find_unit(module->dwarf, address, &unit))
		return 0;
	memset(frames, 0, capacity * sizeof(*frames));
	line = dwarf_getsrc_die(&unit, address);
	if (line && dwarf_lineno(line, &number) == 0) {
		frames[0].file = dwarf_linesrc(line, NULL, NULL);
		frames[0].line = (uint32_t)number;
	}
	size_t used = find_functions(&unit, address, frames, capacity);
	if (used == 0)
		return frames[0].file ? 1 : 0;
	return skip_wrappers(frames, used);
}

const char *um_source_lines_build_id(struct um_source_lines *lines, const char *path)
{
	const struct module *module = open_module(lines, path);

	return module && *module->build_id ? module->build_id : NULL;
}

const char *um_source_lines_symbol(struct um_source_lines *lines, const char *path,
				   uint64_t return_address)
{
	struct module *module = open_module(lines, path);

	if (!module || !module->elf)
		return NULL;
	if (!module->has_read_symbols)
		module->symbols = um_elf_symbols_create(module->elf);
	module->has_read_symbols = true;
	return um_elf_symbols_find(module->symbols, return_address - 1);
}
