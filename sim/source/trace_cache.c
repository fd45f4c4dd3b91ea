#include "trace_cache.h"

#include "trace/base/error.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS_MIN 64

enum state { LOADING, READY, FAILED };

struct um_cached {
	struct um_cached_key key;
	enum state state;
	uint32_t users;
	void *value;
	um_cached_free_fn free_value;
	size_t bytes;
	struct um_cached *next;		 /* of its bucket */
	struct um_cached *newer, *older; /* among those that nobody uses */
};

struct um_trace_cache {
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	struct um_cached **buckets; /* as many as a power of two */
	size_t bucket_count, count;
	struct um_cached *newest, *oldest; /* that nobody uses */
	uint64_t unused_bytes, limit_bytes, held_bytes, loaded_bytes;
};

int um_trace_cache_create(struct um_trace_cache **out, uint64_t unused_bytes)
{
	struct um_trace_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->buckets = calloc(BUCKETS_MIN, sizeof(struct um_cached *));
	if (!cache || !cache->buckets) {
		free(cache);
		return um_fail(UM_ENOMEM, "no memory to read a trace");
	}
	cache->bucket_count = BUCKETS_MIN;
	cache->limit_bytes = unused_bytes;
	pthread_mutex_init(&cache->lock, NULL);
	pthread_cond_init(&cache->loaded, NULL);
	*out = cache;
	return 0;
}

uint64_t um_trace_cache_limit(const struct um_trace_cache *cache)
{
	return cache->limit_bytes;
}

/* --- the table --- */

static struct um_cached **bucket_of(const struct um_trace_cache *cache, struct um_cached_key key)
{
	uint64_t hash = ((uint64_t)key.id * 7 + (uint64_t)key.kind) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 29 ^ (uint64_t)key.number) * 0xbf58476d1ce4e5b9u;
	return &cache->buckets[(hash >> 32) & (cache->bucket_count - 1)];
}

static struct um_cached *find(const struct um_trace_cache *cache, struct um_cached_key key)
{
	struct um_cached *entry = *bucket_of(cache, key);

	while (entry && (entry->key.kind != key.kind || entry->key.id != key.id ||
			 entry->key.number != key.number))
		entry = entry->next;
	return entry;
}

/* Without memory for more buckets those that there are grow longer. */
static void grow(struct um_trace_cache *cache)
{
	struct um_cached **old = cache->buckets;
	size_t old_count = cache->bucket_count;
	struct um_cached **grown = calloc(old_count * 2, sizeof(struct um_cached *));

	if (!grown)
		return;
	cache->buckets = grown;
	cache->bucket_count = old_count * 2;
	for (size_t i = 0; i < old_count; i++)
		for (struct um_cached *entry = old[i], *next; entry; entry = next) {
			struct um_cached **bucket = bucket_of(cache, entry->key);

			next = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	free(old);
}

static void insert(struct um_trace_cache *cache, struct um_cached *entry)
{
	struct um_cached **bucket;

	if (++cache->count > cache->bucket_count)
		grow(cache);
	bucket = bucket_of(cache, entry->key);
	entry->next = *bucket;
	*bucket = entry;
}

static void remove_entry(struct um_trace_cache *cache, struct um_cached *entry)
{
	struct um_cached **at = bucket_of(cache, entry->key);

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	cache->count--;
}

/* --- those that nobody uses --- */

static void put_newest(struct um_trace_cache *cache, struct um_cached *entry)
{
	entry->older = cache->newest;
	entry->newer = NULL;
	if (cache->newest)
		cache->newest->newer = entry;
	else
		cache->oldest = entry;
	cache->newest = entry;
	cache->unused_bytes += entry->bytes;
}

static void take_out(struct um_trace_cache *cache, struct um_cached *entry)
{
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		cache->newest = entry->older;
	if (entry->older)
		entry->older->newer = entry->newer;
	else
		cache->oldest = entry->newer;
	cache->unused_bytes -= entry->bytes;
}

/* Takes what is too much out of the table; a list by `next`, to be freed without the lock. */
static struct um_cached *take_excess(struct um_trace_cache *cache)
{
	struct um_cached *excess = NULL;

	while (cache->unused_bytes > cache->limit_bytes) {
		struct um_cached *entry = cache->oldest;

		take_out(cache, entry);
		remove_entry(cache, entry);
		cache->held_bytes -= entry->bytes;
		entry->next = excess;
		excess = entry;
	}
	return excess;
}

static void free_entries(struct um_cached *entry)
{
	while (entry) {
		struct um_cached *next = entry->next;

		if (entry->value)
			entry->free_value(entry->value);
		free(entry);
		entry = next;
	}
}

void um_trace_cache_destroy(struct um_trace_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->bucket_count; i++)
		free_entries(cache->buckets[i]);
	free(cache->buckets);
	pthread_cond_destroy(&cache->loaded);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* --- use --- */

static struct um_cached *make(struct um_trace_cache *cache, struct um_cached_key key,
			      um_cached_free_fn free_value)
{
	struct um_cached *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->key = key;
	entry->state = LOADING;
	entry->users = 1;
	entry->free_value = free_value;
	insert(cache, entry);
	return entry;
}

/* One that is there, once it is loaded; NULL where that failed: this one tries itself. */
static struct um_cached *join(struct um_trace_cache *cache, struct um_cached *entry)
{
	if (entry->state == READY && !entry->users)
		take_out(cache, entry);
	entry->users++;
	while (entry->state == LOADING)
		pthread_cond_wait(&cache->loaded, &cache->lock);
	if (entry->state == READY)
		return entry;
	if (!--entry->users)
		free(entry);
	return NULL;
}

/* Who waits for one that failed has it yet. */
static int load_entry(struct um_trace_cache *cache, struct um_cached *entry, um_cached_load_fn load,
		      void *context)
{
	void *value = NULL;
	size_t bytes = 0;
	int error = load(context, &value, &bytes);

	pthread_mutex_lock(&cache->lock);
	entry->value = value;
	entry->bytes = bytes + sizeof(*entry);
	entry->state = error ? FAILED : READY;
	if (error) {
		remove_entry(cache, entry);
		if (!--entry->users)
			free(entry);
	} else {
		cache->held_bytes += entry->bytes;
		cache->loaded_bytes += entry->bytes;
	}
	pthread_cond_broadcast(&cache->loaded);
	pthread_mutex_unlock(&cache->lock);
	return error;
}

int um_trace_cache_take(struct um_trace_cache *cache, struct um_cached_key key,
			um_cached_load_fn load, void *context, um_cached_free_fn free_value,
			struct um_cached **out)
{
	struct um_cached *entry, *ready = NULL;
	int error;

	pthread_mutex_lock(&cache->lock);
	while (!ready && (entry = find(cache, key)) != NULL)
		ready = join(cache, entry);
	if (ready) {
		pthread_mutex_unlock(&cache->lock);
		*out = ready;
		return 0;
	}
	entry = make(cache, key, free_value);
	pthread_mutex_unlock(&cache->lock);
	if (!entry)
		return um_fail(UM_ENOMEM, "no memory to read a trace");
	error = load_entry(cache, entry, load, context);
	if (!error)
		*out = entry;
	return error;
}

const void *um_cached_value(const struct um_cached *entry)
{
	return entry->value;
}

struct um_cached_key um_cached_key_of(const struct um_cached *entry)
{
	return entry->key;
}

size_t um_cached_bytes(const struct um_cached *entry)
{
	return entry->bytes;
}

void um_trace_cache_leave(struct um_trace_cache *cache, struct um_cached *entry)
{
	struct um_cached *excess = NULL;

	if (!entry)
		return;
	pthread_mutex_lock(&cache->lock);
	if (!--entry->users) {
		put_newest(cache, entry);
		excess = take_excess(cache);
	}
	pthread_mutex_unlock(&cache->lock);
	free_entries(excess);
}

uint64_t um_trace_cache_loaded(struct um_trace_cache *cache)
{
	uint64_t bytes;

	pthread_mutex_lock(&cache->lock);
	bytes = cache->loaded_bytes;
	pthread_mutex_unlock(&cache->lock);
	return bytes;
}

uint64_t um_trace_cache_held(struct um_trace_cache *cache)
{
	uint64_t bytes;

	pthread_mutex_lock(&cache->lock);
	bytes = cache->held_bytes;
	pthread_mutex_unlock(&cache->lock);
	return bytes;
}
