#include "cc_units.h"

#include "cc_bundle.h"
#include "ir_host.h"
#include "trace/base/error.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct finder {
	struct um_cc_units *out;
	const struct um_argv *words; /* of the link line */
	struct um_argv seen;	     /* files */
};

static void add(struct um_cc_units *units, const char *origin, const void *bitcode, size_t bytes,
		bool is_optional)
{
	struct um_code_unit *items = realloc(units->items, (units->count + 1) * sizeof *items);
	void *copy = malloc(bytes + 1);

	if (!items || !copy) {
		fputs("umhipcc: out of memory\n", stderr);
		_exit(1);
	}
	memcpy(copy, bitcode, bytes);
	units->items = items;
	items[units->count++] = (struct um_code_unit){strdup(origin), copy, bytes, is_optional};
}

/* A section has the units of several sources where `ld -r` made the object. */
static int add_section(struct um_cc_units *units, const char *origin, const Elf_Data *data,
		       bool is_optional)
{
	const char *at = data->d_buf;
	size_t left = at ? data->d_size : 0;
	struct um_unit_head head;

	while (left) {
		if (left < sizeof head)
			return um_fail(UM_EFORMAT, "%s: its device code ends early", origin);
		memcpy(&head, at, sizeof head);
		at += sizeof head;
		left -= sizeof head;
		if (head.magic != UM_UNIT_MAGIC || head.bytes > left)
			return um_fail(UM_EFORMAT, "%s: its device code is broken", origin);
		add(units, origin, at, head.bytes, is_optional);
		head.bytes += -head.bytes % sizeof head;
		if (head.bytes > left)
			head.bytes = left;
		at += head.bytes;
		left -= head.bytes;
	}
	return 0;
}

static int add_object(struct um_cc_units *units, Elf *elf, const char *origin, bool is_optional)
{
	Elf_Scn *section = NULL;
	size_t names;
	int error = 0;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		return 0;
	while (!error && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = NULL;
		Elf_Data *data;

		if (gelf_getshdr(section, &header))
			name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, UM_UNIT_SECTION))
			continue;
		data = elf_rawdata(section, NULL);
		if (data)
			error = add_section(units, origin, data, is_optional);
	}
	return error;
}

static int add_archive(struct um_cc_units *units, int file, Elf *archive, const char *path)
{
	Elf_Cmd command = ELF_C_READ_MMAP;
	int error = 0;
	Elf *member;

	while (!error && (member = elf_begin(file, command, archive))) {
		const Elf_Arhdr *header = elf_getarhdr(member);
		char *origin = NULL;

		if (header && asprintf(&origin, "%s(%s)", path, header->ar_name) >= 0)
			error = add_object(units, member, origin, true);
		free(origin);
		command = elf_next(member);
		elf_end(member);
	}
	return error;
}

static bool is_seen(struct finder *f, const char *path)
{
	for (size_t i = 0; i < f->seen.count; i++)
		if (!strcmp(f->seen.items[i], path))
			return true;
	um_argv_push(&f->seen, path);
	return false;
}

/* The name that um_prelude.h gives every object with device code, up to the digit. */
static const char headers_mark[] = "um_hip_headers_";

static unsigned headers_in(const char *bytes, size_t count)
{
	const char *mark = memmem(bytes, count, headers_mark, sizeof headers_mark - 1);
	const char *digit = mark ? mark + sizeof headers_mark - 1 : NULL;

	return digit && digit<bytes + count && * digit> '0' && *digit <= '9'
		       ? (unsigned)(*digit - '0')
		       : 0;
}

static int add_headers(struct finder *f, Elf *elf, const char *origin)
{
	size_t count = 0;
	const char *bytes = elf_rawfile(elf, &count);
	unsigned headers = bytes ? headers_in(bytes, count) : 0;

	if (headers && f->out->headers && headers != f->out->headers)
		return um_fail(UM_EFORMAT,
			       "%s was compiled with the headers of HIP %u, what comes before it "
			       "with those of HIP %u: their types differ, compile all with one",
			       origin, headers, f->out->headers);
	if (headers)
		f->out->headers = headers;
	return 0;
}

static int add_file(struct finder *f, const char *path, const char *origin)
{
	int file, error = 0;
	Elf *elf;

	if (is_seen(f, path))
		return 0;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
	if (elf)
		error = add_headers(f, elf, origin);
	if (!error && elf && elf_kind(elf) == ELF_K_AR)
		error = add_archive(f->out, file, elf, path);
	else if (!error && elf)
		error = add_object(f->out, elf, origin, false);
	elf_end(elf);
	close(file);
	return error;
}

static bool exists(char *path, size_t capacity, const char *folder, const char *name,
		   const char *suffix)
{
	const char *prefix = *name == ':' ? "" : "lib";

	if (*name == ':') {
		suffix = "";
		name++;
	}
	snprintf(path, capacity, "%s/%s%s%s", folder, prefix, name, suffix);
	return !access(path, R_OK);
}

/* Only in the folders of -L: those of the system have no device code of ours. */
static int add_library(struct finder *f, const char *name)
{
	char path[4096];

	for (size_t i = 0; i < f->words->count; i++) {
		const char *word = f->words->items[i];

		if (strncmp(word, "-L", 2))
			continue;
		word = word[2] ? word + 2 : i + 1 < f->words->count ? f->words->items[i + 1] : ".";
		if (exists(path, sizeof path, word, name, ".so"))
			return 0;
		if (exists(path, sizeof path, word, name, ".a"))
			return add_file(f, path, path);
	}
	return 0;
}

/* -Wl,--whole-archive,libx.a,... */
static int add_joined(struct finder *f, const char *words)
{
	char *copy = strdup(words), *rest = copy, *word;
	int error = 0;

	while (!error && (word = strsep(&rest, ",")))
		if (*word && *word != '-')
			error = add_file(f, word, word);
	free(copy);
	return error;
}

static int add_word(struct finder *f, const char *word)
{
	if (!strncmp(word, "-Wl,", 4))
		return add_joined(f, word + 4);
	if (!strncmp(word, "-l", 2))
		return add_library(f, word + 2);
	return *word == '-' ? 0 : add_file(f, word, word);
}

int um_cc_units_find(struct um_cc_units *out, const struct um_cc_args *args, char *const *objects)
{
	struct finder f = {out, &args->link, {0}};
	int error = 0;

	*out = (struct um_cc_units){0};
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < args->input_count && !error; i++)
		if (objects[i])
			error = add_file(&f, objects[i], args->inputs[i].path);
	for (size_t i = 0; i < args->link.count && !error; i++)
		error = add_word(&f, args->link.items[i]);
	um_argv_fini(&f.seen);
	return error;
}

void um_cc_units_fini(struct um_cc_units *units)
{
	for (size_t i = 0; i < units->count; i++) {
		free((char *)units->items[i].origin);
		free((void *)units->items[i].bitcode);
	}
	free(units->items);
	*units = (struct um_cc_units){0};
}

static int link_units(const struct um_cc_units *units, const struct um_code_object_request *request,
		      char *object)
{
	const struct um_bundle_image image = {UM_CODE_OBJECT_TARGET, request->output};
	void *bundle = NULL;
	size_t bytes = 0;
	int error = um_code_units_link(units->items, units->count, request);

	if (!error)
		error = um_bundle_make(&bundle, &bytes, &image, 1);
	if (!error)
		error = um_code_units_fat_binary(bundle, bytes, object);
	free(bundle);
	return error;
}

int um_cc_units_link(const struct um_cc_units *units, const struct um_cc_args *args,
		     const struct um_cc_install *install, const char *folder, char *object)
{
	char output[1200];
	const struct um_code_object_request request = {
		.source = args->output ? args->output : "a.out",
		.level = args->level,
		.folder = folder,
		.number = (unsigned)args->input_count, /* behind those of the sources */
		.install = install,
		.output = output,
	};
	const char *message;

	snprintf(output, sizeof output, "%s/units.so", folder);
	if (!link_units(units, &request, object))
		return 0;
	message = um_error_message();
	fprintf(stderr, "%s%s\n", strstr(message, "error: ") ? "" : "umhipcc: ", message);
	return 1;
}
