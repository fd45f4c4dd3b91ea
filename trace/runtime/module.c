#include "module.h"

#include "trace/base/error.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_MASK 4095ul

struct um_module {
	struct um_module *next;
	void *library; /* of dlopen */
	char *lds;
	uint64_t lds_bytes;
	uintptr_t start, end; /* of its segments, in whole pages */
};

static struct um_module *all;

/*
 * A name for descriptor `file` that no dlopen was given before: glibc takes a name that it knows
 * for the library that it loaded then. Each bit of a serial number is spelt "/" or "/.".
 */
static void unique_path(char *path, size_t capacity, int file)
{
	static unsigned serial;
	size_t used = (size_t)snprintf(path, capacity, "/proc/self/fd");

	for (unsigned bits = serial++; bits; bits >>= 1)
		used += (size_t)snprintf(path + used, capacity - used, bits & 1 ? "/." : "/");
	snprintf(path + used, capacity - used, "/%d", file);
}

static int write_all(int file, const char *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(file, bytes, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return um_fail_errno(UM_EIO, "cannot store a code object");
		bytes += written;
		count -= (size_t)written;
	}
	return 0;
}

static int open_image(void **library, const void *image, size_t bytes)
{
	char path[128];
	int file = memfd_create("umtrace-code", MFD_CLOEXEC);

	if (file < 0)
		return um_fail_errno(UM_EIO, "cannot store a code object");
	int error = write_all(file, image, bytes);

	if (!error) {
		unique_path(path, sizeof(path), file);
		*library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!*library)
			error = um_fail(UM_EFORMAT, "cannot load a code object: %s", dlerror());
	}
	close(file);
	return error;
}

/* The machine of an ELF image, 0 if it is none. */
static unsigned elf_machine(const void *image, size_t bytes)
{
	const Elf64_Ehdr *header = image;

	if (bytes < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	return header->e_machine;
}

/* Linkers put the section headers last; they end the file where its size is not known. */
static size_t elf_bytes(const void *image, size_t bytes)
{
	const Elf64_Ehdr *header = image;

	if (bytes != SIZE_MAX)
		return bytes;
	return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

/* A bundle with an entry for us, or a code object of ours by itself. */
static int find_image(struct um_bundle_entry *out, const void *data, size_t bytes)
{
	unsigned machine = elf_machine(data, bytes);

	if (!machine)
		return um_bundle_find(out, data, bytes, UM_TARGET);
	if (machine != EM_X86_64)
		return um_fail(UM_ENOENT, "it is a code object for another machine (ELF %u)",
			       machine);
	out->image = data;
	out->image_bytes = elf_bytes(data, bytes);
	return 0;
}

static void find_lds(struct um_module *module)
{
	char *start = dlsym(module->library, "__start_um_lds");
	char *stop = dlsym(module->library, "__stop_um_lds");

	if (!start || !stop)
		return;
	module->lds = start;
	module->lds_bytes = (uint64_t)(stop - start);
}

/* Where its segments lie. Not dladdr(): a thread that loads a library may wait for our lock. */
static void find_extent(struct um_module *module, const void *image)
{
	const Elf64_Ehdr *header = image;
	const Elf64_Phdr *segment = (const void *)((const char *)image + header->e_phoff);
	struct link_map *map;

	if (dlinfo(module->library, RTLD_DI_LINKMAP, &map))
		return;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uintptr_t start = map->l_addr + segment[i].p_vaddr;
		uintptr_t end = (start + segment[i].p_memsz + PAGE_MASK) & ~(uintptr_t)PAGE_MASK;

		if (segment[i].p_type != PT_LOAD)
			continue;
		start &= ~(uintptr_t)PAGE_MASK;
		module->start = module->end && module->start < start ? module->start : start;
		module->end = module->end > end ? module->end : end;
	}
}

int um_module_load(struct um_module **out, const void *bundle, size_t bytes)
{
	struct um_bundle_entry entry;
	int error = find_image(&entry, bundle, bytes);

	if (error)
		return error;
	if (elf_machine(entry.image, entry.image_bytes) != EM_X86_64)
		return um_fail(UM_EFORMAT, "its entry for %s is not an x86-64 library", UM_TARGET);
	struct um_module *module = calloc(1, sizeof(*module));

	if (!module)
		return um_fail(UM_ENOMEM, "out of memory");
	error = open_image(&module->library, entry.image, entry.image_bytes);
	if (error) {
		free(module);
		return error;
	}
	find_lds(module);
	find_extent(module, entry.image);
	module->next = all;
	all = module;
	*out = module;
	return 0;
}

void um_module_unload(struct um_module *module)
{
	struct um_module **link = &all;

	if (!module)
		return;
	while (*link != module)
		link = &(*link)->next;
	*link = module->next;
	dlclose(module->library);
	free(module);
}

static void *entry_of(const struct um_module *module, const char *prefix, const char *mangled)
{
	char name[4096];
	int length = snprintf(name, sizeof(name), "%s.%s", prefix, mangled);

	return length < (int)sizeof(name) ? dlsym(module->library, name) : NULL;
}

/* A code object made by hand may not say it: then it is everything. */
static uint64_t lds_bytes_of(const struct um_module *module, const char *mangled)
{
	const unsigned *bytes = entry_of(module, "um_lds_bytes", mangled);

	return bytes ? *bytes : module->lds_bytes;
}

static void find_arguments(struct um_kernel *kernel)
{
	const unsigned *offsets = entry_of(kernel->module, "um_arguments", kernel->name);
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!offsets || !dladdr1(offsets, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    symbol->st_size < sizeof(*offsets))
		return;
	kernel->argument_offsets = offsets;
	kernel->argument_count = (unsigned)(symbol->st_size / sizeof(*offsets) - 1) / 2;
	kernel->argument_bytes = offsets + kernel->argument_count + 1;
}

int um_module_kernel(struct um_kernel *out, struct um_module *module, const char *mangled)
{
	struct um_kernel kernel = {.name = mangled, .module = module};

	*(void **)&kernel.hooked = entry_of(module, "um_hooked", mangled);
	*(void **)&kernel.plain = entry_of(module, "um_plain", mangled);
	*(void **)&kernel.group = entry_of(module, "um_group", mangled);
	if (!kernel.hooked && !kernel.plain)
		return um_fail(UM_ENOENT, "no kernel %s in the code object", mangled);
	kernel.lds_bytes = lds_bytes_of(module, mangled);
	find_arguments(&kernel);
	*out = kernel;
	return 0;
}

/* dlsym also finds what the code object needs, such as this library. */
static bool is_own(const struct um_module *module, const Dl_info *info)
{
	struct link_map *map;

	return !dlinfo(module->library, RTLD_DI_LINKMAP, &map) &&
	       map->l_addr == (ElfW(Addr))info->dli_fbase;
}

/* The hash of System V ABI's symbol tables. */
static uint32_t elf_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

/* What the code object itself defines. NULL: it does not, or has no table (lld writes one). */
static const ElfW(Sym) * find_symbol(const struct link_map *map, const char *name)
{
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	const uint32_t *table = NULL; /* buckets, chains, then both of them */

	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SYMTAB)
			symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRTAB)
			names = (const char *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_HASH)
			table = (const uint32_t *)entry->d_un.d_ptr;
	if (!symbols || !names || !table || !table[0])
		return NULL;
	for (uint32_t i = table[2 + elf_hash(name) % table[0]]; i; i = table[2 + table[0] + i])
		if (symbols[i].st_shndx != SHN_UNDEF && !strcmp(names + symbols[i].st_name, name))
			return &symbols[i];
	return NULL;
}

/* By address, which any library's tables allow, and then by name. */
static const ElfW(Sym) * find_variable(const struct um_module *module, const char *name)
{
	const ElfW(Sym) *symbol = NULL;
	struct link_map *map;
	Dl_info info;
	void *found = dlsym(module->library, name);

	if (!found || !dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !is_own(module, &info))
		return NULL;
	/* The end of the section before a variable is a symbol, too, and may have its address. */
	if ((!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) &&
	    !dlinfo(module->library, RTLD_DI_LINKMAP, &map))
		symbol = find_symbol(map, name);
	return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT ? symbol : NULL;
}

int um_module_symbol(void **address, uint64_t *bytes, struct um_module *module, const char *name)
{
	const ElfW(Sym) *symbol = find_variable(module, name);

	if (!symbol)
		return um_fail(UM_ENOENT, "no variable %s in the code object", name);
	*address = dlsym(module->library, name);
	*bytes = symbol->st_size;
	return 0;
}

bool um_module_holds(const void *address)
{
	Dl_info info;

	if (!dladdr(address, &info))
		return false;
	for (const struct um_module *module = all; module; module = module->next)
		if (is_own(module, &info))
			return true;
	return false;
}

bool um_module_runs(const void *address)
{
	for (const struct um_module *module = all; module; module = module->next)
		if ((uintptr_t)address - module->start < module->end - module->start)
			return true;
	return false;
}

bool um_module_avoid(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
	for (const struct um_module *module = all; module; module = module->next) {
		if (address - module->start < module->end - module->start) {
			*start = module->start;
			*end = module->end;
			return false;
		}
		if (module->end <= address && module->end > *start)
			*start = module->end;
		if (module->start > address && module->start < *end)
			*end = module->start;
	}
	return true;
}

void um_module_lds(const struct um_module *module, char **start, uint64_t *bytes)
{
	*start = module->lds;
	*bytes = module->lds_bytes;
}
