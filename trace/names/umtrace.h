/*
 * umtrace.h: what a program can tell umtrace. One header, C99 or C++11, host code; nothing to link with
 * (with glibc before 2.34: -ldl). The program may call all of it whether or not umtrace records it,
 * without a GPU or on one of NVIDIA's: where nobody records, a call costs a load and a branch. Any
 * thread may call, at any time.
 *
 * Names of memory, for pools that carve one block (RMM, Umpire, a caching allocator):
 *
 *	void *pool_allocate(size_t bytes, const char *what)
 *	{
 *		void *part = ...;
 *		um_name(part, bytes, what);
 *		return part;
 *	}
 *	void pool_free(void *part)
 *	{
 *		um_unname(part);
 *		...
 *	}
 *
 * `umanalyze summary` then shows what happened to each name's pages, and a policy's
 * `on: {name: "kv"}` means them.
 */
#ifndef UMTRACE_H
#define UMTRACE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a recorder has, found by name in the program; later versions append to it. Not for programs,
 * which call the functions below.
 */
struct um_trace_hooks {
	size_t bytes; /* of this struct in the recorder */
	int (*recording)(void);
	void (*name)(const void *pointer, size_t bytes, const char *name);
	void (*unname)(const void *pointer);
	void (*range_push)(const char *name);
	void (*range_pop)(void);
	uint64_t (*range_start)(const char *name);
	void (*range_stop)(uint64_t id);
	void (*label)(const void *pointer, size_t bytes, const char *name);
	void (*unlabel)(const void *pointer);
};
#define UM_TRACE_HOOKS_TAP "um_trace_hooks_tap_1" /* on NVIDIA's GPUs */
#define UM_TRACE_HOOKS_CPU "um_trace_hooks_cpu_1" /* without a GPU */

static inline const struct um_trace_hooks *um_trace_ask(const char *recorder)
{
	const struct um_trace_hooks *(*ask)(void);
	void *symbol = dlsym(NULL /* RTLD_DEFAULT, also in strict C */, recorder);

	if (!symbol)
		return NULL;
	memcpy(&ask, &symbol, sizeof(ask));
	return ask();
}

/*
 * NULL: nobody records. That is settled for good unless umtrace started the program and its recorder
 * has still to come, with the first call of CUDA; the variable is looked at first, as it goes away
 * only after the recorder can be found.
 */
static inline const struct um_trace_hooks *um_trace_find(void)
{
	static const struct um_trace_hooks nobody = {0,	   NULL, NULL, NULL, NULL,
						     NULL, NULL, NULL, NULL, NULL};
	static const struct um_trace_hooks *found; /* of this source file */
	const struct um_trace_hooks *hooks = __atomic_load_n(&found, __ATOMIC_ACQUIRE);

	if (!hooks) {
		const char *started = getenv("UMTRACE_SPOOL");

		hooks = um_trace_ask(UM_TRACE_HOOKS_TAP);
		if (!hooks)
			hooks = um_trace_ask(UM_TRACE_HOOKS_CPU);
		if (!hooks && started)
			return NULL;
		hooks = hooks ? hooks : &nobody;
		__atomic_store_n(&found, hooks, __ATOMIC_RELEASE);
	}
	return hooks->bytes ? hooks : NULL;
}

/* 1 while somebody records what this process does, else 0 (also in the child of a fork). */
static inline int um_recording(void)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	return hooks ? hooks->recording() : 0;
}

/*
 * Names `bytes` bytes of memory from HIP or CUDA, of whatever kind: all of an allocation, whose name
 * this then is (over that of a variable which debug information has), or a part of one. 0 bytes: from
 * there to the allocation's end. A name is any text of less than 512 bytes; longer ones are cut, bytes
 * that are no printable UTF-8 are shown as '?'.
 *
 * Parts may lie within parts. A part ends with um_unname(), with its allocation, or when the very same
 * bytes, or some of them and some beyond, are named again.
 *
 * Of a length beyond the allocation's end, what there is gets the name; a pointer to other memory is left
 * alone. Both do nothing to the program: the trace counts them (table `loss`, kind 'name') and has the
 * call (`umanalyze ops --failed`).
 */
static inline void um_name(const void *pointer, size_t bytes, const char *name)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->name(pointer, bytes, name);
}

/*
 * The part that begins there has been given back, and another may be named at its place; of several,
 * the smallest. NULL is legal.
 */
static inline void um_unname(const void *pointer)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->unname(pointer);
}

/* A range of this thread, as roctxRangePush() and nvtxRangePush() begin it; they may lie in each other. */
static inline void um_range_push(const char *name)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->range_push(name);
}

/* Ends the range that this thread pushed last; without one, nothing. */
static inline void um_range_pop(void)
{
	const struct um_trace_hooks *hooks = um_trace_find();

	if (hooks)
		hooks->range_pop();
}

#ifdef __cplusplus
}
#endif

#endif
