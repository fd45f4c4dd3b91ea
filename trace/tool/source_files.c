#include "source_files.h"

#include "elf_symbols.h"
#include "trace/db/runtime_frames.h"
#include "source_function.h"
#include "source_module.h"
#include "source_variable.h"

#include <dwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INLINED 32 /* frames of one address */

/* What was found of an address. */
struct known {
	uint64_t address;
	size_t count;
	size_t left_out;		 /* before them: HIP's own */
	struct um_source_scopes *scopes; /* once a variable was asked for */
	bool has_scopes;
	struct um_source_frame frame[];
};

struct file {
	struct file *next;
	struct um_source_module module;
	struct um_elf_symbols *symbols;
	bool has_read_symbols;
	void *known; /* a tree of struct known, by tsearch() */
	char path[];
};

struct um_source_files {
	struct file *files;
};

struct um_source_files *um_source_files_create(void)
{
	return calloc(1, sizeof(struct um_source_files));
}

static void forget(void *known)
{
	struct known *entry = known;

	um_source_scopes_destroy(entry->scopes);
	for (size_t i = 0; i < entry->count; i++)
		free((char *)entry->frame[i].function);
	free(entry);
}

void um_source_files_destroy(struct um_source_files *lines)
{
	if (!lines)
		return;
	for (struct file *file = lines->files, *next; file; file = next) {
		next = file->next;
		tdestroy(file->known, forget);
		um_elf_symbols_destroy(file->symbols);
		um_source_module_close(&file->module);
		free(file);
	}
	free(lines);
}

static struct file *open_file(struct um_source_files *lines, const char *path)
{
	struct file *file;

	for (file = lines->files; file; file = file->next)
		if (strcmp(file->path, path) == 0)
			return file;
	file = malloc(sizeof(*file) + strlen(path) + 1);
	if (!file)
		return NULL;
	*file = (struct file){.next = lines->files};
	strcpy(file->path, path);
	um_source_module_open(&file->module, path);
	lines->files = file;
	return file;
}

static const char *symbol_at(struct file *file, Dwarf_Addr address)
{
	if (!file->module.debug_elf)
		return NULL;
	if (!file->has_read_symbols)
		file->symbols = um_elf_symbols_create(file->module.debug_elf);
	file->has_read_symbols = true;
	return um_elf_symbols_find(file->symbols, address);
}

static bool is_function(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_subprogram || dwarf_tag(die) == DW_TAG_inlined_subroutine;
}

/* The names of files stand with a split unit, or with its skeleton. */
static bool read_file_names(const struct um_source_unit *unit, Dwarf_Files **files, size_t *count)
{
	Dwarf_Die of_lines = unit->unit, of_code = unit->code;

	return dwarf_getsrcfiles(&of_code, files, count) == 0 ||
	       dwarf_getsrcfiles(&of_lines, files, count) == 0;
}

/* Where the inlined function was called: a line of the frame around it. */
static void call_site(const struct um_source_unit *unit, Dwarf_Die *inlined,
		      struct um_source_frame *around)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
		around->line = (uint32_t)line;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
	    read_file_names(unit, &files, &count) && file < count)
		around->file = dwarf_filesrc(files, file, NULL, NULL);
}

/* malloc'ed; NULL: not known. An inlined function's names are those of its origin. */
static char *function_name(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_diename(function);
	Dwarf_Attribute *linkage = dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute);

	if (!linkage)
		linkage = dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute);
	return name ? um_source_function_name(name, linkage ? dwarf_formstring(linkage) : NULL)
		    : NULL;
}

/* scopes: from the innermost block outwards. */
static size_t fill_functions(const struct um_source_unit *unit, Dwarf_Die *scopes, int count,
			     struct um_source_frame *frames, size_t capacity)
{
	size_t used = 0;

	for (int i = 0; i < count && used < capacity; i++) {
		if (!is_function(&scopes[i]))
			continue;
		frames[used].function = function_name(&scopes[i]);
		frames[used].inlined = dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine;
		if (!frames[used].inlined)
			return used + 1;
		if (++used < capacity)
			call_site(unit, &scopes[i], &frames[used]);
	}
	return used;
}

static size_t find_functions(const struct um_source_unit *unit, Dwarf_Addr address,
			     struct um_source_frame *frames, size_t capacity)
{
	Dwarf_Die of_code = unit->code, *at = NULL, *scopes = NULL;
	size_t used = 0;

	/* getscopes follows an inlined function to its definition; getscopes_die, to its caller. */
	if (dwarf_getscopes(&of_code, address, &at) > 0) {
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
static size_t count_wrappers(const struct um_source_frame *frames, size_t count)
{
	size_t wrappers = 0;

	while (wrappers + 1 < count && frames[wrappers].inlined && is_wrapper(&frames[wrappers]))
		wrappers++;
	return wrappers;
}

/* `frame` must be zeros. */
static size_t read_frames(const struct um_source_unit *unit, Dwarf_Addr address,
			  struct um_source_frame frame[MAX_INLINED])
{
	Dwarf_Die of_lines = unit->unit;
	Dwarf_Line *line = dwarf_getsrc_die(&of_lines, address);
	int number = 0;

	if (line && dwarf_lineno(line, &number) == 0) {
		frame[0].file = dwarf_linesrc(line, NULL, NULL);
		frame[0].line = (uint32_t)number;
	}
	size_t used = find_functions(unit, address, frame, MAX_INLINED);
	return used == 0 && frame[0].file ? 1 : used;
}

static int compare(const void *left, const void *right)
{
	const struct known *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Where only lines were kept, the symbol names the function that is not inlined. */
static void name_last(struct file *file, Dwarf_Addr address, struct um_source_frame *last)
{
	const char *symbol = last->function || last->inlined ? NULL : symbol_at(file, address);

	if (symbol)
		last->function = um_source_symbol_name(symbol);
}

static struct known *make_known(struct file *file, Dwarf_Addr address,
				struct um_source_frame frame[MAX_INLINED])
{
	const struct um_source_unit *unit = um_source_module_unit(&file->module, address);
	size_t all = unit ? read_frames(unit, address, frame) : 0;
	size_t left_out = count_wrappers(frame, all), count = all - left_out;
	struct known *known = malloc(sizeof(*known) + count * sizeof(*frame));

	if (count)
		name_last(file, address, &frame[all - 1]);
	for (size_t i = 0; i < (known ? left_out : all); i++)
		free((char *)frame[i].function);
	if (!known)
		return NULL;
	*known = (struct known){.address = address, .count = count, .left_out = left_out};
	memcpy(known->frame, frame + left_out, count * sizeof(*frame));
	return known;
}

static struct known *find_known(struct file *file, Dwarf_Addr address)
{
	struct um_source_frame frame[MAX_INLINED] = {0};
	const struct known wanted = {.address = address};
	struct known *const *found = tfind(&wanted, &file->known, compare);

	if (found)
		return *found;
	struct known *known = make_known(file, address, frame);

	if (known && !tsearch(known, &file->known, compare)) {
		forget(known);
		known = NULL;
	}
	return known;
}

size_t um_source_files_find(struct um_source_files *lines, const char *path,
			    uint64_t return_address, struct um_source_frame *frames,
			    size_t capacity)
{
	struct file *file = open_file(lines, path);
	/* The address within the call. */
	const struct known *known = file ? find_known(file, return_address - 1) : NULL;
	size_t count = known ? known->count : 0;

	if (count > capacity)
		count = capacity;
	if (count)
		memcpy(frames, known->frame, count * sizeof(*frames));
	return count;
}

const char *um_source_files_build_id(struct um_source_files *lines, const char *path)
{
	const struct file *file = open_file(lines, path);

	return file && *file->module.build_id ? file->module.build_id : NULL;
}

const char *um_source_files_symbol(struct um_source_files *lines, const char *path,
				   uint64_t return_address)
{
	struct file *file = open_file(lines, path);

	return file ? symbol_at(file, return_address - 1) : NULL;
}

char *um_source_files_variable(struct um_source_files *files, const char *path,
			       uint64_t return_address, const struct um_source_place *place,
			       size_t *depth)
{
	struct file *file = open_file(files, path);
	struct known *known = file ? find_known(file, return_address - 1) : NULL;

	*depth = UM_SOURCE_NOTHING;
	if (known && !known->has_scopes)
		known->scopes = um_source_scopes_create(&file->module, return_address - 1);
	if (known)
		known->has_scopes = true;
	if (!known || !known->scopes)
		return NULL;
	*depth = known->left_out;
	char *name = um_source_variable(known->scopes, place, depth);

	if (*depth != UM_SOURCE_NOTHING)
		*depth -= *depth < known->left_out ? *depth : known->left_out;
	return name;
}

char *um_source_files_global(struct um_source_files *lines, const char *path, uint64_t address)
{
	struct file *file = open_file(lines, path);

	return file ? um_source_global(&file->module, address) : NULL;
}
