/*
 * An allocator for PyTorch's CUDAPluggableAllocator that hands out managed memory and names each block for
 * umtrace: "torch 2MiB #3" is the third block of more than 1 and at most 2 MiB. Works in builds of torch for
 * CUDA and for HIP, whose runtime is looked for in the process; README.md says how it is used.
 *
 * The interface is that of torch/csrc/cuda/CUDAPluggableAllocator.h: a function that allocates and one that
 * frees, called with the device's lock of torch's held by none: from any thread.
 */
#include "../umtrace.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define EXPORT	      __attribute__((visibility("default")))
#define CLASSES	      48u /* powers of two from 512 bytes, torch's own granularity */
#define FIRST_CLASS   9u
#define ATTACH_GLOBAL 1u /* cudaMemAttachGlobal, hipMemAttachGlobal */

EXPORT void *um_torch_alloc(ssize_t size, int device, void *stream);
EXPORT void um_torch_free(void *pointer, ssize_t size, int device, void *stream);

struct runtime {
	int (*malloc_managed)(void **pointer, size_t bytes, unsigned flags);
	int (*free)(void *pointer);
	int (*get_device)(int *device);
	int (*set_device)(int device);
};

/* --- the runtime that torch was built for --- */

static bool find(struct runtime *runtime, void *library, const char *prefix)
{
	struct {
		const char *name;
		void *function;
	} functions[] = {
		{"MallocManaged", &runtime->malloc_managed},
		{"Free", &runtime->free},
		{"GetDevice", &runtime->get_device},
		{"SetDevice", &runtime->set_device},
	};
	char name[64];

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, functions[i].name);
		void *symbol = dlsym(library, name);

		if (!symbol)
			return false;
		memcpy(functions[i].function, &symbol, sizeof(symbol));
	}
	return true;
}

/*
 * CUDA's first: under umtrace a program for CUDA has umtrace's HIP runtime in it too. What torch loaded for
 * itself alone is found by its name, what was linked in by the program's own symbols.
 */
static bool find_any(struct runtime *runtime)
{
	static const struct {
		const char *library, *prefix; /* NULL: the program's symbols */
	} places[] = {
		{"libcudart.so.13", "cuda"},
		{"libcudart.so.12", "cuda"},
		{"libcudart.so.11.0", "cuda"},
		{NULL, "cuda"},
		{NULL, "hip"},
		{"libamdhip64.so.7", "hip"},
		{"libamdhip64.so.6", "hip"},
		{"libamdhip64.so.5", "hip"},
		{"libamdhip64.so", "hip"},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		void *library = dlopen(places[i].library, RTLD_LAZY | RTLD_NOLOAD);

		if (library && find(runtime, library, places[i].prefix))
			return true;
	}
	return false;
}

/* NULL: neither is there, which was said. */
static const struct runtime *runtime(void)
{
	static struct runtime found;
	static atomic_int state; /* 0 not looked, 1 found, 2 not there */
	struct runtime looked;

	if (atomic_load(&state) == 0) {
		bool is_there = find_any(&looked);

		if (is_there)
			found = looked; /* whoever looks at the same time finds the same */
		else
			fputs("umtrace's allocator: neither CUDA's nor HIP's runtime is loaded\n",
			      stderr);
		atomic_store(&state, is_there ? 1 : 2);
	}
	return atomic_load(&state) == 1 ? &found : NULL;
}

/* --- names --- */

static unsigned class_of(size_t bytes)
{
	unsigned bits = FIRST_CLASS;

	while (bits < FIRST_CLASS + CLASSES - 1 && (size_t)1 << bits < bytes)
		bits++;
	return bits;
}

static void name(const void *pointer, size_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	static _Atomic unsigned long counts[CLASSES];
	unsigned bits = class_of(bytes);
	unsigned long nth = atomic_fetch_add(&counts[bits - FIRST_CLASS], 1) + 1;
	char text[64];

	snprintf(text, sizeof(text), "torch %lu%s #%lu", 1ul << bits % 10, units[bits / 10], nth);
	um_name(pointer, bytes, text);
}

/* --- the interface --- */

/* The device that is current stays so. Returns what it was; `device` where nothing was changed. */
static int change_device(const struct runtime *with, int device)
{
	int before = device;

	if (with->get_device(&before) != 0 || before == device)
		return device;
	return with->set_device(device) == 0 ? before : device;
}

void *um_torch_alloc(ssize_t size, int device, void *stream)
{
	const struct runtime *with = size > 0 ? runtime() : NULL;
	void *pointer = NULL;

	(void)stream; /* managed memory is there at once, for all streams */
	if (!with)
		return NULL;
	int before = change_device(with, device);

	if (with->malloc_managed(&pointer, (size_t)size, ATTACH_GLOBAL) != 0)
		pointer = NULL;
	if (before != device)
		with->set_device(before);
	if (pointer)
		name(pointer, (size_t)size);
	return pointer;
}

/* The runtime waits until the device needs it no more. */
void um_torch_free(void *pointer, ssize_t size, int device, void *stream)
{
	const struct runtime *with = pointer ? runtime() : NULL;

	(void)size;
	(void)device;
	(void)stream;
	if (!with)
		return;
	um_unname(pointer);
	with->free(pointer);
}
