/*
 * What Kokkos hands to a tool, as its public C interface has it (kokkos, core/src/impl/
 * Kokkos_Profiling_C_Interface.h, version 20240906; names of the functions: Kokkos_Profiling.cpp): the
 * layouts that are passed by value, in our own words. Strings end with a NUL and live as long as the call.
 */
#ifndef UM_KOKKOS_ABI_H
#define UM_KOKKOS_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A memory space: "Host", "HIPManaged", "CudaUVM", ... */
struct um_kokkos_space {
	char name[64];
};

/* What a tool may do with Kokkos. */
struct um_kokkos_actions {
	void (*fence)(uint32_t device);
	void (*later[31])(void);
};

/* Kokkos sets the first to true: it waits for the device before and after it calls the tool. */
struct um_kokkos_settings {
	bool requires_global_fencing;
	bool later[255];
};

/* A value of a tuning variable. */
struct um_kokkos_value {
	size_t type;
	union {
		int64_t integer;
		double real;
		char text[64];
	} value;
	void *about;
};

struct um_kokkos_goal {
	size_t type;
	int goal;
};

/*
 * The functions that Kokkos looks for in a tool, kokkosp_NAME, with their parameters: those that this tool
 * makes something of, and the others, with how their parameters are handed on.
 */
#define UM_KOKKOS_HEARD(_)                                                                         \
	_(init_library, (int sequence, uint64_t version, uint32_t devices, void *about))           \
	_(request_tool_settings, (uint32_t version, struct um_kokkos_settings * settings))         \
	_(begin_parallel_for, (const char *name, uint32_t device, uint64_t *id))                   \
	_(end_parallel_for, (uint64_t id))                                                         \
	_(begin_parallel_reduce, (const char *name, uint32_t device, uint64_t *id))                \
	_(end_parallel_reduce, (uint64_t id))                                                      \
	_(begin_parallel_scan, (const char *name, uint32_t device, uint64_t *id))                  \
	_(end_parallel_scan, (uint64_t id))                                                        \
	_(begin_fence, (const char *name, uint32_t device, uint64_t *id))                          \
	_(end_fence, (uint64_t id))                                                                \
	_(push_profile_region, (const char *name))                                                 \
	_(pop_profile_region, (void))                                                              \
	_(create_profile_section, (const char *name, uint32_t *id))                                \
	_(start_profile_section, (uint32_t id))                                                    \
	_(stop_profile_section, (uint32_t id))                                                     \
	_(destroy_profile_section, (uint32_t id))                                                  \
	_(profile_event, (const char *name))                                                       \
	_(allocate_data,                                                                           \
	  (struct um_kokkos_space space, const char *label, const void *pointer, uint64_t bytes))  \
	_(deallocate_data,                                                                         \
	  (struct um_kokkos_space space, const char *label, const void *pointer, uint64_t bytes))  \
	_(begin_deep_copy, (struct um_kokkos_space to_space, const char *to_label, const void *to, \
			    struct um_kokkos_space from_space, const char *from_label,             \
			    const void *from, uint64_t bytes))                                     \
	_(end_deep_copy, (void))
#define UM_KOKKOS_HANDED_ON(_)                                                                     \
	_(finalize_library, (void), ())                                                            \
	_(parse_args, (int count, char **words), (count, words))                                   \
	_(print_help, (char *program), (program))                                                  \
	_(provide_tool_programming_interface, (uint32_t count, struct um_kokkos_actions actions),  \
	  (count, actions))                                                                        \
	_(dual_view_sync, (const char *label, const void *pointer, bool to_device),                \
	  (label, pointer, to_device))                                                             \
	_(dual_view_modify, (const char *label, const void *pointer, bool on_device),              \
	  (label, pointer, on_device))                                                             \
	_(declare_metadata, (const char *key, const char *value), (key, value))                    \
	_(declare_output_type, (const char *name, size_t id, void *about), (name, id, about))      \
	_(declare_input_type, (const char *name, size_t id, void *about), (name, id, about))       \
	_(request_values,                                                                          \
	  (size_t context, size_t inputs, const struct um_kokkos_value *input, size_t outputs,     \
	   struct um_kokkos_value *output),                                                        \
	  (context, inputs, input, outputs, output))                                               \
	_(begin_context, (size_t context), (context))                                              \
	_(end_context, (size_t context, struct um_kokkos_value value), (context, value))           \
	_(declare_optimization_goal, (size_t context, struct um_kokkos_goal goal), (context, goal))

#endif
