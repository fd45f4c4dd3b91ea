/*
 * Stands in for Kokkos's core in what it does with tools (kokkos, Kokkos_Profiling.cpp, 4.x; with OLD_KOKKOS
 * the one variable of 3.6): which variable it reads and when, how it loads the first library of the list,
 * the order in which it calls, and when it waits for the device around a call. C and C++.
 */
#ifndef KOKKOS_LIKE_H
#define KOKKOS_LIKE_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	char name[64];
} k_space;
typedef struct {
	bool requires_global_fencing, padding[255];
} k_settings;
typedef struct {
	void (*fence)(uint32_t);
	void (*padding[31])(void);
} k_actions;

static struct {
	void (*init)(int, uint64_t, uint32_t, void *);
	void (*finalize)(void);
	void (*settings)(uint32_t, k_settings *);
	void (*actions)(uint32_t, k_actions);
	void (*begin_for)(const char *, uint32_t, uint64_t *);
	void (*end_for)(uint64_t);
	void (*begin_reduce)(const char *, uint32_t, uint64_t *);
	void (*end_reduce)(uint64_t);
	void (*begin_fence)(const char *, uint32_t, uint64_t *);
	void (*end_fence)(uint64_t);
	void (*push)(const char *);
	void (*pop)(void);
	void (*create)(const char *, uint32_t *);
	void (*start)(uint32_t);
	void (*stop)(uint32_t);
	void (*destroy)(uint32_t);
	void (*event)(const char *);
	void (*allocate)(k_space, const char *, const void *, uint64_t);
	void (*deallocate)(k_space, const char *, const void *, uint64_t);
	void (*begin_copy)(k_space, const char *, const void *, k_space, const char *, const void *,
			   uint64_t);
	void (*end_copy)(void);
	void (*metadata)(const char *, const char *);
} k_tool;
static k_settings k_needs;
static char k_libraries[4096];

static void k_look_up(void *library, const char *name, void *pointer)
{
	void *symbol = dlsym(library, name);

	memcpy(pointer, &symbol, sizeof(symbol));
}

/* Kokkos::initialize(), up to where it starts its back ends. */
static inline void k_read_environment(void)
{
#ifdef OLD_KOKKOS
	const char *list = getenv("KOKKOS_PROFILE_LIBRARY");
#else
	const char *list = getenv("KOKKOS_TOOLS_LIBS"), *older = getenv("KOKKOS_PROFILE_LIBRARY");

	if (older)
		fprintf(stderr, "KOKKOS_PROFILE_LIBRARY is deprecated\n");
	if (older && list && strcmp(older, list) != 0)
		abort();
	list = list ? list : older;
#endif
	if (list)
		snprintf(k_libraries, sizeof(k_libraries), "%s", list);
}

/* And from there on. */
static inline void k_load_tool(void)
{
	k_actions actions = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(k_libraries, ";"), k_libraries);
	void *library = *path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;

	if (*path && !library)
		fprintf(stderr,
			"Error: Unable to load KokkosP library: %s\ndlopen(%s, RTLD_NOW | RTLD_GLOBAL) "
			"failed with %s\n",
			path, path, dlerror());
	if (!library)
		return;
	k_look_up(library, "kokkosp_init_library", &k_tool.init);
	k_look_up(library, "kokkosp_finalize_library", &k_tool.finalize);
	k_look_up(library, "kokkosp_request_tool_settings", &k_tool.settings);
	k_look_up(library, "kokkosp_provide_tool_programming_interface", &k_tool.actions);
	k_look_up(library, "kokkosp_begin_parallel_for", &k_tool.begin_for);
	k_look_up(library, "kokkosp_end_parallel_for", &k_tool.end_for);
	k_look_up(library, "kokkosp_begin_parallel_reduce", &k_tool.begin_reduce);
	k_look_up(library, "kokkosp_end_parallel_reduce", &k_tool.end_reduce);
	k_look_up(library, "kokkosp_begin_fence", &k_tool.begin_fence);
	k_look_up(library, "kokkosp_end_fence", &k_tool.end_fence);
	k_look_up(library, "kokkosp_push_profile_region", &k_tool.push);
	k_look_up(library, "kokkosp_pop_profile_region", &k_tool.pop);
	k_look_up(library, "kokkosp_create_profile_section", &k_tool.create);
	k_look_up(library, "kokkosp_start_profile_section", &k_tool.start);
	k_look_up(library, "kokkosp_stop_profile_section", &k_tool.stop);
	k_look_up(library, "kokkosp_destroy_profile_section", &k_tool.destroy);
	k_look_up(library, "kokkosp_profile_event", &k_tool.event);
	k_look_up(library, "kokkosp_allocate_data", &k_tool.allocate);
	k_look_up(library, "kokkosp_deallocate_data", &k_tool.deallocate);
	k_look_up(library, "kokkosp_begin_deep_copy", &k_tool.begin_copy);
	k_look_up(library, "kokkosp_end_deep_copy", &k_tool.end_copy);
	k_look_up(library, "kokkosp_declare_metadata", &k_tool.metadata);
	if (k_tool.init)
		k_tool.init(0, 20240906, 0, NULL);
	k_needs.requires_global_fencing = true;
	if (k_tool.settings)
		k_tool.settings(1, &k_needs);
	if (k_tool.actions)
		k_tool.actions(1, actions);
	if (k_tool.metadata)
		k_tool.metadata("Kokkos Version", "4.4.1");
}

/* Where a tool wants it, Kokkos waits for the device before it calls. */
static inline void k_wait(const void *callback)
{
	if (callback && k_needs.requires_global_fencing)
		printf("waits for the device\n");
}
#define K_CALL(function, ...)                                                                      \
	do {                                                                                       \
		k_wait((const void *)(uintptr_t)k_tool.function);                                  \
		if (k_tool.function)                                                               \
			k_tool.function(__VA_ARGS__);                                              \
	} while (0)
/* These never make it wait. */
#define K_TELL(function, ...)                                                                      \
	do {                                                                                       \
		if (k_tool.function)                                                               \
			k_tool.function(__VA_ARGS__);                                              \
	} while (0)

static inline k_space k_space_of(const char *name)
{
	k_space space;

	memset(&space, 0, sizeof(space));
	snprintf(space.name, sizeof(space.name), "%s", name);
	return space;
}

static inline void k_finalize(void)
{
	K_TELL(finalize);
}

#endif
