/*
 * Code for GPUs stands in section .hip_fatbin as offload bundles (clang/docs/ClangOffloadBundler.rst): magic, number
 * of entries, then for each entry the offset and size of its image, the length of its target and the target.
 * Compressed bundles begin with "CCOB".
 */
#include "doctor_program.h"

#include "trace/base/error.h"
#include "trace/tool/program.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAGIC	    "__CLANG_OFFLOAD_BUNDLE__"
#define MAGIC_BYTES 24u
#define ENTRIES_MAX 256u

/* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+" is "gfx90a:xnack+"; the host's entry is none. */
static void add_target(struct um_doctor_program *program, const char *target, size_t length)
{
	char name[48];
	const char *gfx = memmem(target, length, "gfx", 3);
	bool is_x86 = memmem(target, length, "hip-x86_64", 10) != NULL;

	if (gfx)
		snprintf(name, sizeof(name), "%.*s", (int)(target + length - gfx), gfx);
	else if (is_x86)
		snprintf(name, sizeof(name), "x86_64");
	else
		return;
	for (size_t i = 0; i < program->target_count; i++)
		if (strcmp(program->targets[i], name) == 0)
			return;
	for (const char *at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			return;
	if (program->target_count < UM_DOCTOR_TARGETS)
		strcpy(program->targets[program->target_count++], name);
}

static bool take(uint64_t *out, const unsigned char *data, size_t bytes, size_t *at)
{
	if (bytes - *at < sizeof(*out))
		return false;
	memcpy(out, data + *at, sizeof(*out));
	*at += sizeof(*out);
	return true;
}

static void read_bundle(struct um_doctor_program *program, const unsigned char *data, size_t bytes)
{
	uint64_t entries, offset, size, length;
	size_t at = MAGIC_BYTES;

	if (!take(&entries, data, bytes, &at) || entries > ENTRIES_MAX)
		return;
	for (uint64_t i = 0; i < entries; i++) {
		if (!take(&offset, data, bytes, &at) || !take(&size, data, bytes, &at) ||
		    !take(&length, data, bytes, &at) || length > bytes - at)
			return;
		add_target(program, (const char *)data + at, (size_t)length);
		at += (size_t)length;
	}
}

/* Bundles stand one behind another, each at a page or so. */
static void read_bundles(struct um_doctor_program *program, const unsigned char *data, size_t bytes)
{
	const unsigned char *at = data, *end = data + bytes;

	program->is_compressed |=
		bytes >= 4 && memmem(data, bytes < 8192 ? bytes : 8192, "CCOB", 4);
	while ((at = memmem(at, (size_t)(end - at), MAGIC, MAGIC_BYTES))) {
		read_bundle(program, at, (size_t)(end - at));
		at += MAGIC_BYTES;
	}
}

static void read_needed(struct um_doctor_program *program, Elf *elf, Elf_Scn *section,
			const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; data && i < count; i++) {
		GElf_Dyn entry;

		if (!gelf_getdyn(data, (int)i, &entry) || entry.d_tag != DT_NEEDED)
			continue;
		const char *name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
		if (name && strncmp(name, "libamdhip64.so", 14) == 0)
			snprintf(program->hip, sizeof(program->hip), "%s", name);
		if (name && (strncmp(name, "libcudart.so", 12) == 0 ||
			     strncmp(name, "libcuda.so", 10) == 0))
			snprintf(program->cuda, sizeof(program->cuda), "%s", name);
	}
}

static void read_section(struct um_doctor_program *program, Elf *elf, Elf_Scn *section,
			 size_t names)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return;
	const char *name = elf_strptr(elf, names, header.sh_name);
	if (header.sh_type == SHT_DYNAMIC)
		read_needed(program, elf, section, &header);
	if (!name)
		return;
	if (strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0)
		program->has_cuda_code = true;
	Elf_Data *data = strcmp(name, ".hip_fatbin") == 0 ? elf_rawdata(section, NULL) : NULL;
	if (data && data->d_buf)
		read_bundles(program, data->d_buf, data->d_size);
}

int um_doctor_program_read(struct um_doctor_program *program, const char *path)
{
	size_t names;

	*program = (struct um_doctor_program){.path = path};
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return um_fail_errno(UM_EIO, "%s", path);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(file, ELF_C_READ, NULL);
	program->is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	if (program->is_elf && elf_getshdrstrndx(elf, &names) == 0)
		for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
			read_section(program, elf, section, names);
	program->is_static = program->is_elf && um_program_is_static(path);
	elf_end(elf);
	close(file);
	return 0;
}
