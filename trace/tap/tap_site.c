/*
 * Places in the program. Objects are looked up with dl_iterate_phdr(), whose lock is not held while a library's constructors run, as that
 * of dladdr() is: a constructor that calls CUDA must not wait for a thread that waits for it.
 */
#include "tap.h"
#include "tap_apply.h"
#include "tap_map.h"
#include "../spool/program_text.h"
#include "../spool/spool_site.h"
#include "../spool/spool_variable.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define MODULES		512u
#define MODULE_NAME_MAX 1024u

struct module {
	uintptr_t first, last; /* of its code */
	uintptr_t base;
	char name[MODULE_NAME_MAX]; /* "" is the program */
};

/* NVIDIA's libraries and the tap: their frames say nothing about the program. */
static struct range {
	uintptr_t first, last;
	uintptr_t base;
} hidden[8];
static size_t hidden_count;

static struct um_stack_table stacks;
static struct um_site_table sites;
static struct module *modules;
static size_t module_count;

/* --- modules --- */

struct lookup {
	uintptr_t address;
	struct module *out;
	uintptr_t base; /* of data: the object's */
	const char *name;
};

static bool covers(const struct dl_phdr_info *object, uintptr_t address, struct range *range)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = object->dlpi_phdr + i;
		uintptr_t first = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    address - first >= segment->p_memsz)
			continue;
		*range = (struct range){first, first + segment->p_memsz - 1, object->dlpi_addr};
		return true;
	}
	return false;
}

static int match(struct dl_phdr_info *object, size_t bytes, void *context)
{
	struct lookup *lookup = context;
	struct range range;

	(void)bytes;
	if (!covers(object, lookup->address, &range))
		return 0;
	struct module *out = lookup->out;

	out->first = range.first;
	out->last = range.last;
	out->base = object->dlpi_addr;
	out->name[0] = '\0';
	if (object->dlpi_name)
		memccpy(out->name, object->dlpi_name, '\0', sizeof(out->name) - 1);
	return 1;
}

/* The same of any of its segments: data. */
static int match_data(struct dl_phdr_info *object, size_t bytes, void *context)
{
	struct lookup *lookup = context;

	(void)bytes;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = object->dlpi_phdr + i;

		if (segment->p_type != PT_LOAD ||
		    lookup->address - (object->dlpi_addr + segment->p_vaddr) >= segment->p_memsz)
			continue;
		lookup->base = object->dlpi_addr;
		lookup->name = object->dlpi_name;
		return 1;
	}
	return 0;
}

/* NULL: no object lies there, or there are too many. */
static const struct module *find_module(uintptr_t address)
{
	for (size_t i = 0; i < module_count; i++)
		if (address >= modules[i].first && address <= modules[i].last)
			return modules + i;
	if (!modules || module_count == MODULES)
		return NULL;
	struct lookup lookup = {.address = address, .out = modules + module_count};

	if (!dl_iterate_phdr(match, &lookup))
		return NULL;
	return modules + module_count++;
}

/* --- hidden frames --- */

static void hide(const void *function)
{
	static struct module found; /* at start, by one thread */
	struct lookup lookup = {.address = (uintptr_t)function, .out = &found};

	if (function && hidden_count < sizeof(hidden) / sizeof(*hidden) &&
	    dl_iterate_phdr(match, &lookup))
		hidden[hidden_count++] = (struct range){found.first, found.last, found.base};
}

static bool is_hidden(uintptr_t address)
{
	for (size_t i = 0; i < hidden_count; i++)
		if (address >= hidden[i].first && address <= hidden[i].last)
			return true;
	return false;
}

static const void *code_of(const void *function_pointer)
{
	const void *code;

	memcpy(&code, function_pointer, sizeof(code));
	return code;
}

/* CUDA's runtime called the driver, so that it is loaded; it may lie in the program itself, though. */
static int note_runtime(struct dl_phdr_info *object, size_t bytes, void *first)
{
	const char *slash = strrchr(object->dlpi_name ? object->dlpi_name : "", '/');

	(void)bytes;
	if (!slash || strncmp(slash + 1, "libcudart.so", 12) != 0)
		return 0;
	for (unsigned i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X)
			*(uintptr_t *)first = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
	return 1;
}

void um_tap_site_init(const struct um_cupti *cupti)
{
	uintptr_t runtime = 0;

	modules = um_tap_reserve_memory(MODULES * sizeof(*modules));
	hide((const void *)(uintptr_t)&um_tap_site_init);
	hide(code_of(&cupti->subscribe));
	hide(code_of(&cupti->device_count));
	dl_iterate_phdr(note_runtime, &runtime);
	hide((const void *)runtime);
}

/* --- sites --- */

static bool put_site(uint32_t site, uint32_t parent, uintptr_t address)
{
	static char path[PATH_MAX]; /* under the lock */
	const struct module *module = find_module(address - 1);

	path[0] = '\0';
	if (module)
		um_site_module_path(path, module->name);
	const struct um_record_site *record =
		um_site_record(site, parent, address - (module ? module->base : 0), path, "");

	um_tap_apply_site(record);
	return um_tap_put(&record->header);
}

/* A site that could not be told would be one that nobody knows: room comes first. 0: there is none. */
static uint32_t site_below(uint32_t parent, uintptr_t address)
{
	bool is_new = false;

	if (um_spool_room(um_tap.writer) < 2 * UM_SITE_RECORD_MAX)
		return 0;
	uint32_t site = um_site_intern(&sites, parent, (const void *)address, &is_new);

	if (is_new)
		put_site(site, parent, address);
	return site;
}

__attribute__((noinline)) void um_tap_unwind(struct um_stack *stack)
{
	uintptr_t slot = UM_STACK_OWN_SLOT;

	stack->known_site = 0;
	stack->depth = 0;
	if (!um_tap_lock())
		return;
	um_stack_find(&stacks, stack, slot);
	um_tap_unlock();
	if (!stack->known_site)
		um_stack_walk(stack, slot, is_hidden);
}

uint32_t um_tap_site(const struct um_stack *stack)
{
	uint32_t site = 0;

	if (stack->known_site)
		return stack->known_site;
	for (size_t i = 0; i < stack->depth; i++) {
		site = site_below(site, stack->address_in[stack->frames - 1 - i]);
		if (!site)
			return 0;
	}
	um_stack_keep(&stacks, stack, site);
	return site;
}

size_t um_tap_hidden(const struct um_stack *stack)
{
	size_t count = 0;

	while (count < stack->frames && is_hidden(stack->address_in[count]))
		count++;
	return count;
}

/* The site of the frame `first`, as um_tap_site() tells that of the innermost. */
static uint32_t site_of_frame(const struct um_stack *stack, size_t first)
{
	uint32_t site = 0;

	for (size_t i = stack->frames; i-- > first;) {
		site = site_below(site, stack->address_in[i]);
		if (!site)
			return 0;
	}
	return site;
}

void um_tap_put_variable(const struct um_variable *variable, uint32_t allocation, const void *out)
{
	static char path[PATH_MAX]; /* under the lock */
	struct lookup lookup = {.address = (uintptr_t)out};

	path[0] = '\0';
	if (!variable->in_frame && dl_iterate_phdr(match_data, &lookup))
		um_site_module_path(path, lookup.name ? lookup.name : "");
	um_tap_put(&um_variable_record(variable, allocation, site_of_frame, path,
				       (uintptr_t)out - lookup.base)
			    ->header);
}

/* As if it were a call that returned behind it. */
uint32_t um_tap_site_of_instruction(uint64_t address)
{
	return site_below(0, (uintptr_t)address + 1);
}

/* --- NVTX --- */

static bool is_hidden_object(uintptr_t base)
{
	for (size_t i = 0; i < hidden_count; i++)
		if (hidden[i].base == base)
			return true;
	return false;
}

/* At start, where the driver itself has just called the loader. */
bool um_tap_program_has_nvtx(void)
{
	static const char *const text = "NVTX_INJECTION64_PATH";
	Dl_info own;
	bool is_known = dladdr((const void *)(uintptr_t)&um_tap_site_init, &own) != 0;

	return um_program_texts(&text, 1, is_known ? own.dli_fname : NULL, is_hidden_object) != 0;
}
