/*
 * libumtrace_kokkos.so: the tool that Kokkos loads in a program which umtrace started
 * (KOKKOS_TOOLS_LIBS). Labels of data become names of memory, labels of parallel work, fences, copies,
 * regions and sections become ranges: whatever is launched within one belongs to it.
 *
 * Kokkos loads one tool, the first of the list. What the user had in the variable stands behind it: it is
 * loaded here in the same way and called with everything, as if this one were not there, and so are its
 * answers Kokkos's. By itself this tool asks for no fences, so that the program runs as without it.
 */
#include "kokkos_abi.h"
#include "trace/names/umtrace.h"
#include "trace/spool/spool_environment.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>

#define NAME_MAX_BYTES 1024

#define DECLARE(name, parameters, ...)                                                             \
	__attribute__((visibility("default"))) void kokkosp_##name parameters;
UM_KOKKOS_HEARD(DECLARE)
UM_KOKKOS_HANDED_ON(DECLARE)

/* --- the user's own tool --- */

#define NEXT_POINTER(name, parameters, ...) void(*name) parameters;
static struct {
	UM_KOKKOS_HEARD(NEXT_POINTER)
	UM_KOKKOS_HANDED_ON(NEXT_POINTER)
	bool is_there;
} next; /* NULL: it has no such function */

#define NEXT(name, ...)                                                                            \
	do {                                                                                       \
		if (next.name)                                                                     \
			next.name(__VA_ARGS__);                                                    \
	} while (0)

static void find_functions(void *library)
{
	void *symbol;

#define FIND(name, ...)                                                                            \
	symbol = dlsym(library, "kokkosp_" #name);                                                 \
	memcpy(&next.name, &symbol, sizeof(symbol));
	UM_KOKKOS_HEARD(FIND)
	UM_KOKKOS_HANDED_ON(FIND)
	next.is_there = true;
}

/* The first of the list, as Kokkos does it, in its words where it cannot be. */
static void load_next(const char *list)
{
	char path[PATH_MAX];
	size_t bytes = strcspn(list, ";");

	if (bytes == 0 || bytes >= sizeof(path))
		return;
	memcpy(path, list, bytes);
	path[bytes] = '\0';
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (library)
		find_functions(library);
	else
		fprintf(stderr,
			"Error: Unable to load KokkosP library: %s\ndlopen(%s, RTLD_NOW | "
			"RTLD_GLOBAL) failed with %s\n",
			path, path, dlerror());
}

/* What umtrace put into the environment goes, so that the user's tool finds what it would without. */
static void take_over(void)
{
	static const char *const variables[] = UM_KOKKOS_VARIABLES;
	char path[PATH_MAX] = "";
	Dl_info own;

	if (!dladdr((const void *)(uintptr_t)&kokkosp_init_library, &own) || !own.dli_fname)
		return;
	memccpy(path, own.dli_fname, '\0', sizeof(path) - 1);
	size_t bytes = strlen(path);

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *list = getenv(variables[i]);

		if (!list || strncmp(list, path, bytes) != 0)
			continue;
		bool has_more = list[bytes] == ';';

		um_environment_remove_first(variables[i], path);
		if (has_more && !next.is_there)
			load_next(getenv(variables[i]));
	}
}

/* --- what is told --- */

static void push(const char *name)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->range_push(name);
}

static void pop(void)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->range_pop();
}

void kokkosp_init_library(int sequence, uint64_t version, uint32_t devices, void *about)
{
	take_over();
	NEXT(init_library, sequence, version, devices, about);
}

/* Behind a tool of the user's that does not say, Kokkos's own choice stands. */
void kokkosp_request_tool_settings(uint32_t version, struct um_kokkos_settings *settings)
{
	if (!next.is_there)
		settings->requires_global_fencing = false;
	NEXT(request_tool_settings, version, settings);
}

/* They lie within each other, on one thread: ids are for others. */
#define WORK(kind)                                                                                 \
	void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id)                 \
	{                                                                                          \
		push(name);                                                                        \
		NEXT(begin_##kind, name, device, id);                                              \
	}                                                                                          \
	void kokkosp_end_##kind(uint64_t id)                                                       \
	{                                                                                          \
		NEXT(end_##kind, id);                                                              \
		pop();                                                                             \
	}
WORK(parallel_for)
WORK(parallel_reduce)
WORK(parallel_scan)
WORK(fence)

void kokkosp_push_profile_region(const char *name)
{
	push(name);
	NEXT(push_profile_region, name);
}

void kokkosp_pop_profile_region(void)
{
	NEXT(pop_profile_region);
	pop();
}

void kokkosp_profile_event(const char *name)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->range_stop(hooks->range_start(name));
	NEXT(profile_event, name);
}

void kokkosp_allocate_data(struct um_kokkos_space space, const char *label, const void *pointer,
			   uint64_t bytes)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->label(pointer, bytes, label);
	NEXT(allocate_data, space, label, pointer, bytes);
}

void kokkosp_deallocate_data(struct um_kokkos_space space, const char *label, const void *pointer,
			     uint64_t bytes)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	NEXT(deallocate_data, space, label, pointer, bytes);
	if (hooks)
		hooks->unlabel(pointer);
}

void kokkosp_begin_deep_copy(struct um_kokkos_space to_space, const char *to_label, const void *to,
			     struct um_kokkos_space from_space, const char *from_label,
			     const void *from, uint64_t bytes)
{
	char name[NAME_MAX_BYTES];

	snprintf(name, sizeof(name), "deep_copy: %s = %s", to_label ? to_label : "",
		 from_label ? from_label : "");
	push(name);
	NEXT(begin_deep_copy, to_space, to_label, to, from_space, from_label, from, bytes);
}

void kokkosp_end_deep_copy(void)
{
	NEXT(end_deep_copy);
	pop();
}

/* --- sections, which may begin and end anywhere --- */

struct section {
	struct section *next;
	uint32_t id;
	bool is_open;
	uint64_t range;
	char name[];
};

static pthread_mutex_t sections_lock = PTHREAD_MUTEX_INITIALIZER;
static struct section *sections;

/* Without memory it is none of ours. */
static void add_section(const char *name, uint32_t id)
{
	size_t bytes = strlen(name) + 1;
	struct section *added = malloc(sizeof(*added) + bytes);

	if (!added)
		return;
	*added = (struct section){.next = sections, .id = id};
	memcpy(added->name, name, bytes);
	sections = added;
}

/* Where it hangs; of an unknown one, NULL hangs there. */
static struct section **find_section(uint32_t id)
{
	struct section **link = &sections;

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	return link;
}

static void close_section(struct section *section)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (section && section->is_open && hooks)
		hooks->range_stop(section->range);
	if (section)
		section->is_open = false;
}

static void open_section(struct section *section)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (!section || section->is_open || !hooks)
		return;
	section->range = hooks->range_start(section->name);
	section->is_open = true;
}

void kokkosp_create_profile_section(const char *name, uint32_t *id)
{
	static uint32_t last;

	if (next.create_profile_section)
		next.create_profile_section(name, id);
	pthread_mutex_lock(&sections_lock);
	if (!next.create_profile_section)
		*id = last++;
	add_section(name ? name : "", *id);
	pthread_mutex_unlock(&sections_lock);
}

void kokkosp_start_profile_section(uint32_t id)
{
	pthread_mutex_lock(&sections_lock);
	open_section(*find_section(id));
	pthread_mutex_unlock(&sections_lock);
	NEXT(start_profile_section, id);
}

void kokkosp_stop_profile_section(uint32_t id)
{
	NEXT(stop_profile_section, id);
	pthread_mutex_lock(&sections_lock);
	close_section(*find_section(id));
	pthread_mutex_unlock(&sections_lock);
}

void kokkosp_destroy_profile_section(uint32_t id)
{
	NEXT(destroy_profile_section, id);
	pthread_mutex_lock(&sections_lock);
	struct section **link = find_section(id), *gone = *link;

	if (gone)
		*link = gone->next;
	close_section(gone);
	pthread_mutex_unlock(&sections_lock);
	free(gone);
}

/* --- what is only handed on --- */

#define HAND_ON(name, parameters, arguments)                                                       \
	void kokkosp_##name parameters                                                             \
	{                                                                                          \
		if (next.name)                                                                     \
			next.name arguments;                                                       \
	}
UM_KOKKOS_HANDED_ON(HAND_ON)
