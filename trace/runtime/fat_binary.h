/*
 * What the host half of a program registers: fat binaries, and what each holds for the device. The
 * code object of one is loaded when something of it is first used, so that a program whose code
 * does not run here still starts.
 */
#ifndef UM_FAT_BINARY_H
#define UM_FAT_BINARY_H

#include "api.h"

struct um_fat_binary;

/* `bundle` NULL: whatever was registered is no fat binary. NULL when out of memory. */
struct um_fat_binary *um_fat_add(const void *bundle);
/* Unloads it and forgets its kernels and variables. */
void um_fat_remove(struct um_fat_binary *);
/* Loads it at most once. The error is said at most once: hipErrorNoBinaryForGpu,
 * hipErrorInvalidImage. */
hipError_t um_fat_module(struct um_module **out, struct um_fat_binary *);

/* --- what it holds; strings are the program's and stay --- */

/* False when out of memory. */
bool um_function_add(struct um_fat_binary *, const void *host_stub, const char *name);
void um_function_forget_fat(const struct um_fat_binary *);
bool um_variable_add(struct um_fat_binary *, const void *host, const char *name);
/* Makes the memory of a __managed__ variable and points the program's *pointer at it. */
hipError_t um_variable_add_managed(struct um_fat_binary *, void **pointer, const void *initial,
				   const char *name, uint64_t bytes);
/* Points the code object's own pointers to managed variables at their memory. */
void um_variable_bind(const struct um_fat_binary *, struct um_module *);
void um_variable_forget_fat(const struct um_fat_binary *);

/* A bucket of `count` for things that are found by address. */
static inline unsigned um_bucket(const void *address, unsigned count)
{
	return (unsigned)(((uintptr_t)address >> 3) * 0x9e3779b97f4a7c15u >> 40) % count;
}

#endif
