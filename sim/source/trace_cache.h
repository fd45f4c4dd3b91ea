/*
 * What has been read and decoded of a trace, once for all who replay it: batches of operations,
 * kernels, page accesses, chunks of the access stream. An entry is made by whoever asks first, is
 * only read from then on, and stays while it is in use; of those that nobody uses the ones used
 * last are kept, up to a number of bytes. Any number of threads.
 */
#ifndef UM_TRACE_CACHE_H
#define UM_TRACE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* Of a sweep: some 10 M runs of touches. An assumption: what a small machine has to spare. */
#define UM_TRACE_CACHE_BYTES (UINT64_C(256) << 20)

struct um_trace_cache;
/* unused_bytes: of what nobody uses; 0: it goes at once. UM_ENOMEM. */
int um_trace_cache_create(struct um_trace_cache **out, uint64_t unused_bytes);
/* Nobody uses anything of it any more. NULL is legal. */
void um_trace_cache_destroy(struct um_trace_cache *);
uint64_t um_trace_cache_limit(const struct um_trace_cache *);

enum um_cached_kind {
	UM_CACHED_CHECK,
	UM_CACHED_OPS,
	UM_CACHED_ALLOCATION,
	UM_CACHED_KERNEL,
	UM_CACHED_PAGES,
	UM_CACHED_INDEX,
	UM_CACHED_CHUNK,
};

struct um_cached_key {
	enum um_cached_kind kind;
	int64_t id, number;
};

/* An entry, in use by whoever took it. */
struct um_cached;
/* Makes what the entry holds; *bytes: about how much that is. 0 or UM_E*. */
typedef int (*um_cached_load_fn)(void *context, void **value, size_t *bytes);
typedef void (*um_cached_free_fn)(void *value);
/*
 * The entry, loaded if it is not there; whoever asks meanwhile waits. What load() fails with, or
 * UM_ENOMEM. *out is left alone then.
 */
int um_trace_cache_take(struct um_trace_cache *, struct um_cached_key, um_cached_load_fn load,
			void *context, um_cached_free_fn free_value, struct um_cached **out);
const void *um_cached_value(const struct um_cached *);
struct um_cached_key um_cached_key_of(const struct um_cached *);
size_t um_cached_bytes(const struct um_cached *);
/* NULL is legal. */
void um_trace_cache_leave(struct um_trace_cache *, struct um_cached *);
/* How many bytes have been loaded so far, and of what is there now how many. */
uint64_t um_trace_cache_loaded(struct um_trace_cache *);
uint64_t um_trace_cache_held(struct um_trace_cache *);

#endif
