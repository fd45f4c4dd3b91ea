/*
 * Code objects: the fat binaries that a program registers, and what is in them. A bundle
 * (__CLANG_OFFLOAD_BUNDLE__) is read with every offset checked; its x86-64 entry is loaded from a
 * memfd under a name never used before (dlopen of a reused /proc/self/fd/N returns the old
 * library).
 */
#ifndef UM_MODULE_H
#define UM_MODULE_H

#include "exec.h"

#include <stdbool.h>
#include <stddef.h>

struct um_module;

/* The target of the entry that this runtime runs. */
#define UM_TARGET "hip-x86_64-unknown-linux-gnu"

struct um_bundle_entry {
	const char *target; /* not NUL-terminated */
	size_t target_length;
	const void *image;
	size_t image_bytes;
};

/*
 * Finds entry `target` in a bundle. `bytes` bounds every read (SIZE_MAX where unknown, as for a
 * registered fat binary). UM_EFORMAT: not a bundle; UM_ENOENT: no such entry (message lists those
 * there).
 */
int um_bundle_find(struct um_bundle_entry *out, const void *bundle, size_t bytes,
		   const char *target);

struct um_kernel {
	const char *name; /* mangled */
	um_kernel_entry hooked, plain;
	um_group_entry group; /* NULL: its lanes may wait */
	struct um_module *module;
	uint64_t lds_bytes; /* of static LDS that it has itself */
	/* Where its arguments begin in one buffer, then where they end; NULL: not known. */
	const unsigned *argument_offsets;
	const unsigned *argument_bytes; /* of each; likewise */
	unsigned argument_count;
};

int um_module_load(struct um_module **out, const void *bundle, size_t bytes);
void um_module_unload(struct um_module *);
/* UM_ENOENT. */
int um_module_kernel(struct um_kernel *out, struct um_module *, const char *mangled);
int um_module_symbol(void **address, uint64_t *bytes, struct um_module *, const char *name);
/* Whether a code object that is loaded holds `address`: a variable of it. */
bool um_module_holds(const void *address);
/* Whether it is in the memory of a code object, by their bounds alone: also for a signal handler. */
bool um_module_runs(const void *address);
/*
 * Narrows [*start, *end) around the address to where no code object is, in whole pages. False: one
 * holds the address, and *start and *end are its own.
 */
bool um_module_avoid(uintptr_t address, uintptr_t *start, uintptr_t *end);
/* The static LDS of all its kernels; *start is NULL where the code object has none. */
void um_module_lds(const struct um_module *, char **start, uint64_t *bytes);

#endif
