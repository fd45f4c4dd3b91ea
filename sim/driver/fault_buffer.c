/*
 * A buffer is a pool of faults. Each is stalled (its access waits), waiting (an entry in the
 * buffer), or both; it is free again when it is neither. The waiting ones are a list, oldest first.
 * The stalled ones hang, page by page, in a hash table of chains, so that done() finds them.
 *
 * Where there is a path, entries come out of its queue whenever somebody looks, as many as have come
 * by then; the first of an access is its fault, those of its other waves are copies.
 */
#include "fault_buffer.h"
#include "fault_queue.h"

#include "sim/probe/probe.h"
#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct pooled_fault {
	struct um_fault fault;
	um_event_fn wake;
	void *context;
	uint64_t argument;
	bool stalled, waiting, has_come;
	uint32_t older, newer; /* while it waits; `newer` is the next free one of a free one */
	uint32_t chain;	       /* the next stalled one of the bucket */
};

/* A stalled access that is about to go on. */
struct released {
	uint64_t number;
	uint32_t index;
};

struct um_fault_buffer {
	struct um_fault_buffers *all;
	um_ns call_at;		      /* the next event of call_driver(); UM_NEVER: none is due */
	struct um_fault_queue *queue; /* NULL: faults are entries at once */

	struct pooled_fault *pool;
	uint32_t capacity; /* a power of two, or 0 */
	uint32_t first_free;
	uint32_t oldest, newest; /* that wait */
	size_t waiting, stalled;
	uint32_t *buckets; /* as many as the capacity */

	struct released *released;
	size_t released_count, released_capacity;
};

struct um_fault_buffers {
	struct um_engine *engine;
	struct um_probe *probe;
	struct um_driver *driver;
	uint64_t raised;
	uint32_t count;
	struct um_fault_buffer buffer[]; /* the host's, then the devices' */
};

int um_fault_buffers_create(struct um_fault_buffers **out, struct um_engine *engine,
			    struct um_probe *probe, uint32_t devices)
{
	uint32_t count = devices + 1;
	struct um_fault_buffers *all = calloc(1, sizeof(*all) + count * sizeof(all->buffer[0]));

	if (!all)
		return um_fail(UM_ENOMEM, "no memory for the fault buffers");
	all->engine = engine;
	all->probe = probe;
	all->count = count;
	for (uint32_t i = 0; i < count; i++)
		all->buffer[i] = (struct um_fault_buffer){.all = all,
							  .call_at = UM_NEVER,
							  .first_free = NONE,
							  .oldest = NONE,
							  .newest = NONE};
	*out = all;
	return 0;
}

void um_fault_buffers_destroy(struct um_fault_buffers *all)
{
	if (!all)
		return;
	for (uint32_t i = 0; i < all->count; i++) {
		free(all->buffer[i].pool);
		free(all->buffer[i].buckets);
		free(all->buffer[i].released);
		um_fault_queue_destroy(all->buffer[i].queue);
	}
	free(all);
}

int um_fault_buffers_attach(struct um_fault_buffers *all, struct um_driver *driver)
{
	struct um_fault_path path = {0};
	int error = 0;

	all->driver = driver;
	if (driver->ops->fault_path)
		driver->ops->fault_path(driver, &path);
	for (uint32_t i = 1; path.entry_ns && i < all->count && !error; i++)
		error = um_fault_queue_create(&all->buffer[i].queue, &path);
	return error;
}

struct um_fault_buffer *um_fault_buffer_of(struct um_fault_buffers *all, um_device_id device)
{
	assert(device >= UM_HOST && device + 1 < (um_device_id)all->count);
	return &all->buffer[device + 1];
}

/* --- the pool --- */

static uint32_t *bucket_of(struct um_fault_buffer *buffer, um_alloc_id id, um_page page)
{
	/* 2^64 divided by the golden ratio: Knuth's multiplicative hashing */
	uint64_t key = ((uint64_t)id << 32 | page) * 0x9e3779b97f4a7c15ull;

	return &buffer->buckets[(key >> 32) & (buffer->capacity - 1)];
}

static void hang(struct um_fault_buffer *buffer, uint32_t index)
{
	const struct um_fault *fault = &buffer->pool[index].fault;
	uint32_t *bucket = bucket_of(buffer, fault->allocation, fault->page);

	buffer->pool[index].chain = *bucket;
	*bucket = index;
}

static int grow(struct um_fault_buffer *buffer)
{
	uint32_t old = buffer->capacity, capacity = old ? old * 2 : 64;
	struct pooled_fault *pool = realloc(buffer->pool, capacity * sizeof(*pool));
	uint32_t *buckets = malloc(capacity * sizeof(*buckets));

	if (pool)
		buffer->pool = pool;
	if (!pool || !buckets) {
		free(buckets);
		return um_fail(UM_ENOMEM, "no memory for %u faults", capacity);
	}
	free(buffer->buckets);
	buffer->buckets = buckets;
	buffer->capacity = capacity;
	for (uint32_t i = 0; i < capacity; i++)
		buckets[i] = NONE;
	for (uint32_t i = 0; i < old; i++)
		if (pool[i].stalled)
			hang(buffer, i);
	for (uint32_t i = old; i < capacity; i++)
		pool[i] = (struct pooled_fault){.newer = i + 1 < capacity ? i + 1 : NONE};
	buffer->first_free = old;
	return 0;
}

static void free_if_over(struct um_fault_buffer *buffer, uint32_t index)
{
	struct pooled_fault *fault = &buffer->pool[index];

	if (fault->stalled || fault->waiting)
		return;
	fault->newer = buffer->first_free;
	buffer->first_free = index;
}

static void enter(struct um_fault_buffer *buffer, uint32_t index)
{
	struct pooled_fault *fault = &buffer->pool[index];

	fault->waiting = true;
	fault->older = buffer->newest;
	fault->newer = NONE;
	if (buffer->newest == NONE)
		buffer->oldest = index;
	else
		buffer->pool[buffer->newest].newer = index;
	buffer->newest = index;
	buffer->waiting++;
}

static void leave(struct um_fault_buffer *buffer, uint32_t index)
{
	struct pooled_fault *fault = &buffer->pool[index];

	if (fault->older == NONE)
		buffer->oldest = fault->newer;
	else
		buffer->pool[fault->older].newer = fault->newer;
	if (fault->newer == NONE)
		buffer->newest = fault->older;
	else
		buffer->pool[fault->newer].older = fault->older;
	fault->waiting = false;
	buffer->waiting--;
}

/* --- raising --- */

/* A free one, with the fault; NONE: there is no memory. */
static uint32_t put_fault(struct um_fault_buffer *buffer, const struct um_fault *fault)
{
	uint32_t index;

	if (buffer->first_free == NONE && grow(buffer))
		return NONE;
	index = buffer->first_free;
	buffer->first_free = buffer->pool[index].newer;
	buffer->pool[index] = (struct pooled_fault){.fault = *fault};
	return index;
}

int um_fault_buffer_receive(struct um_fault_buffer *buffer)
{
	um_ns now = um_engine_now(buffer->all->engine);
	uint32_t index;

	while (buffer->queue && um_fault_queue_next(buffer->queue, now, &index)) {
		struct um_fault fault = buffer->pool[index].fault;

		if (buffer->pool[index].has_come)
			index = put_fault(buffer, &fault);
		if (index == NONE)
			return UM_ENOMEM;
		buffer->pool[index].has_come = true;
		enter(buffer, index);
	}
	return 0;
}

static int call_driver(void *context, uint64_t argument);

/* Calls the driver when the next entry has come, unless a call is due until then. */
static int call_at_next(struct um_fault_buffer *buffer)
{
	struct um_engine *engine = buffer->all->engine;
	um_ns at = buffer->queue ? um_fault_queue_due(buffer->queue) : um_engine_now(engine);

	if (at >= buffer->call_at)
		return 0;
	if (at < um_engine_now(engine))
		at = um_engine_now(engine);
	buffer->call_at = at;
	return um_engine_schedule(engine, at, call_driver, buffer, at);
}

/* An event that an earlier one overtook does nothing. */
static int call_driver(void *context, uint64_t argument)
{
	struct um_fault_buffer *buffer = context;
	struct um_driver *driver = buffer->all->driver;
	int error;

	if (argument != buffer->call_at)
		return 0;
	buffer->call_at = UM_NEVER;
	error = um_fault_buffer_receive(buffer);
	if (error || buffer->waiting)
		return error ? error : driver->ops->on_faults(driver, buffer);
	return buffer->queue ? call_at_next(buffer) : 0;
}

int um_fault_buffers_raise(struct um_fault_buffers *all, const struct um_fault *fault,
			   um_event_fn wake, void *context, uint64_t argument)
{
	struct um_fault_buffer *buffer = um_fault_buffer_of(all, fault->device);
	uint32_t index = put_fault(buffer, fault);
	struct pooled_fault *put;
	bool waits = true;
	int error = 0;

	if (index == NONE)
		return UM_ENOMEM;
	put = &buffer->pool[index];
	put->wake = wake;
	put->context = context;
	put->argument = argument;
	put->stalled = true;
	put->fault.number = ++all->raised;
	put->fault.raised_at = um_engine_now(all->engine) + fault->late_ns;
	buffer->stalled++;
	hang(buffer, index);
	if (buffer->queue)
		error = um_fault_queue_add(buffer->queue, &put->fault, index, &waits);
	else
		enter(buffer, index);
	return error || !waits ? error : call_at_next(buffer);
}

/* --- entries --- */

size_t um_fault_buffer_waiting(const struct um_fault_buffer *buffer)
{
	return buffer->waiting;
}

const struct um_fault *um_fault_buffer_oldest(const struct um_fault_buffer *buffer)
{
	return buffer->waiting ? &buffer->pool[buffer->oldest].fault : NULL;
}

size_t um_fault_buffer_take(struct um_fault_buffer *buffer, struct um_fault *out, size_t most)
{
	size_t count = 0;

	while (count < most && buffer->waiting) {
		uint32_t index = buffer->oldest;

		out[count++] = buffer->pool[index].fault;
		leave(buffer, index);
		free_if_over(buffer, index);
	}
	return count;
}

void um_fault_buffer_flush(struct um_fault_buffer *buffer)
{
	while (buffer->waiting) {
		uint32_t index = buffer->oldest;

		leave(buffer, index);
		free_if_over(buffer, index);
	}
	if (buffer->queue)
		um_fault_queue_reset(buffer->queue, um_engine_now(buffer->all->engine));
}

void um_fault_buffer_report(struct um_fault_buffer *buffer, const struct um_fault *fault,
			    uint64_t faults, uint64_t batch, um_ns done_at)
{
	struct um_fault_row row = {
		.op = fault->op ? fault->op : UM_NULL,
		.device = fault->device,
		.allocation = fault->allocation,
		.first_page = fault->page,
		.pages = 1,
		.faults = (int64_t)faults,
		.access = um_word(um_access_words, fault->access),
		.batch = (int64_t)batch,
		.start_ns = (int64_t)fault->raised_at,
		.end_ns = (int64_t)done_at,
	};

	um_probe_fault(buffer->all->probe, &row);
}

/* --- stalled accesses --- */

static int note_released(struct um_fault_buffer *buffer, uint32_t index)
{
	if (buffer->released_count == buffer->released_capacity) {
		size_t capacity = buffer->released_capacity ? buffer->released_capacity * 2 : 64;
		struct released *grown = realloc(buffer->released, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu stalled accesses", capacity);
		buffer->released = grown;
		buffer->released_capacity = capacity;
	}
	buffer->released[buffer->released_count++] =
		(struct released){buffer->pool[index].fault.number, index};
	return 0;
}

static bool is_on(const struct um_fault *fault, const struct um_page_range *range)
{
	return fault->allocation == range->allocation && fault->page >= range->first_page &&
	       fault->page - range->first_page < range->pages;
}

/* Takes the stalled faults on the pages (NULL: on any) out of a bucket. */
static int unhang(struct um_fault_buffer *buffer, uint32_t *bucket,
		  const struct um_page_range *range)
{
	uint32_t *link = bucket;
	int error = 0;

	while (*link != NONE && !error) {
		struct pooled_fault *fault = &buffer->pool[*link];

		if (range && !is_on(&fault->fault, range)) {
			link = &fault->chain;
			continue;
		}
		error = note_released(buffer, *link);
		fault->stalled = false;
		buffer->stalled--;
		*link = fault->chain;
	}
	return error;
}

static int unhang_all(struct um_fault_buffer *buffer, const struct um_page_range *range)
{
	int error = 0;

	for (uint32_t i = 0; i < buffer->capacity && buffer->stalled && !error; i++)
		error = unhang(buffer, &buffer->buckets[i], range);
	return error;
}

static int unhang_pages(struct um_fault_buffer *buffer, const struct um_page_range *range)
{
	int error = 0;

	for (uint32_t i = 0; i < range->pages && buffer->stalled && !error; i++)
		error = unhang(buffer, bucket_of(buffer, range->allocation, range->first_page + i),
			       range);
	return error;
}

static int compare_released(const void *left, const void *right)
{
	const struct released *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

static int wake_released(struct um_fault_buffer *buffer, um_ns at)
{
	int error = 0;

	if (buffer->released_count > 1)
		qsort(buffer->released, buffer->released_count, sizeof(*buffer->released),
		      compare_released);
	for (size_t i = 0; i < buffer->released_count && !error; i++) {
		const struct pooled_fault *fault = &buffer->pool[buffer->released[i].index];

		error = um_engine_schedule(buffer->all->engine, at, fault->wake, fault->context,
					   fault->argument);
		free_if_over(buffer, buffer->released[i].index);
	}
	buffer->released_count = 0;
	return error;
}

int um_fault_buffer_done(struct um_fault_buffer *buffer, const struct um_page_range *range,
			 um_ns at)
{
	int error = (range->pages < buffer->capacity ? unhang_pages : unhang_all)(buffer, range);

	for (size_t i = 0; i < buffer->released_count; i++)
		if (buffer->pool[buffer->released[i].index].waiting)
			leave(buffer, buffer->released[i].index);
	return error ? error : wake_released(buffer, at);
}

int um_fault_buffer_replay(struct um_fault_buffer *buffer, um_ns at)
{
	int error = um_fault_buffer_receive(buffer);

	if (!error && buffer->queue)
		um_fault_queue_reset(buffer->queue, um_engine_now(buffer->all->engine));
	if (!error)
		error = unhang_all(buffer, NULL);
	return error ? error : wake_released(buffer, at);
}
