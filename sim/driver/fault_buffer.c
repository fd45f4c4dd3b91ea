/*
 * A ring of waiting faults, oldest first, with a hash over (device, allocation, page) to find the
 * one that a new fault joins. Faults that were woken by a service of others stay in the ring as
 * dead entries until they reach its head.
 */
#include "fault_buffer.h"

#include "sim/probe/probe.h"
#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_WAITER UINT32_MAX

struct waiter {
	um_event_fn wake;
	void *context;
	uint64_t argument;
	uint32_t next;
};

struct entry {
	struct um_fault fault; /* allocation 0: dead */
	uint32_t first_waiter, last_waiter;
};

struct um_fault_buffer {
	struct um_engine *engine;
	struct um_probe *probe;
	struct um_driver *driver;
	bool service_is_due; /* an event of serve_waiting() is in the queue */
	um_ns busy_until;

	struct entry *ring;	     /* capacity is a power of two */
	size_t capacity, head, tail; /* positions count up; tail - head entries */
	size_t alive;
	uint64_t *hash; /* position + 1 of an entry, 0 free; twice the capacity */

	struct waiter *waiters;
	uint32_t waiter_capacity, free_waiter;
};

int um_fault_buffer_create(struct um_fault_buffer **out, struct um_engine *engine,
			   struct um_probe *probe)
{
	struct um_fault_buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer)
		return um_fail(UM_ENOMEM, "no memory for the fault buffer");
	buffer->engine = engine;
	buffer->probe = probe;
	buffer->free_waiter = NO_WAITER;
	*out = buffer;
	return 0;
}

void um_fault_buffer_destroy(struct um_fault_buffer *buffer)
{
	if (!buffer)
		return;
	free(buffer->ring);
	free(buffer->hash);
	free(buffer->waiters);
	free(buffer);
}

void um_fault_buffer_attach(struct um_fault_buffer *buffer, struct um_driver *driver)
{
	buffer->driver = driver;
}

static struct entry *entry_at(const struct um_fault_buffer *buffer, size_t position)
{
	return &buffer->ring[position & (buffer->capacity - 1)];
}

/* --- hash: linear probing, entries are removed by moving followers back --- */

static size_t hash_of(const struct um_fault_buffer *buffer, um_device_id device, um_alloc_id id,
		      um_page page)
{
	uint64_t key = ((uint64_t)id << 32 | page) * 0x9e3779b97f4a7c15ull + (uint64_t)device;

	return (key ^ key >> 29) & (2 * buffer->capacity - 1);
}

static size_t find_slot(const struct um_fault_buffer *buffer, um_device_id device, um_alloc_id id,
			um_page page)
{
	size_t mask = 2 * buffer->capacity - 1, slot = hash_of(buffer, device, id, page);

	for (; buffer->hash[slot]; slot = (slot + 1) & mask) {
		const struct um_fault *fault =
			&entry_at(buffer, (size_t)buffer->hash[slot] - 1)->fault;

		if (fault->page == page && fault->allocation == id && fault->device == device)
			break;
	}
	return slot;
}

static void free_slot(struct um_fault_buffer *buffer, size_t slot)
{
	size_t mask = 2 * buffer->capacity - 1;

	buffer->hash[slot] = 0;
	for (size_t next = (slot + 1) & mask; buffer->hash[next]; next = (next + 1) & mask) {
		const struct um_fault *fault =
			&entry_at(buffer, (size_t)buffer->hash[next] - 1)->fault;
		size_t home = hash_of(buffer, fault->device, fault->allocation, fault->page);

		if (((next - home) & mask) < ((next - slot) & mask))
			continue;
		buffer->hash[slot] = buffer->hash[next];
		buffer->hash[next] = 0;
		slot = next;
	}
}

static int grow_ring(struct um_fault_buffer *buffer)
{
	size_t capacity = buffer->capacity ? buffer->capacity * 2 : 64;
	struct entry *ring = malloc(capacity * sizeof(*ring));
	uint64_t *hash = calloc(2 * capacity, sizeof(*hash));
	size_t count = 0;

	if (!ring || !hash) {
		free(ring);
		free(hash);
		return um_fail(UM_ENOMEM, "no memory for %zu waiting faults", capacity);
	}
	for (size_t i = buffer->head; i < buffer->tail; i++)
		if (entry_at(buffer, i)->fault.allocation)
			ring[count++] = *entry_at(buffer, i);
	free(buffer->ring);
	free(buffer->hash);
	buffer->ring = ring;
	buffer->hash = hash;
	buffer->capacity = capacity;
	buffer->head = 0;
	buffer->tail = count;
	for (size_t i = 0; i < count; i++) {
		const struct um_fault *fault = &ring[i].fault;

		hash[find_slot(buffer, fault->device, fault->allocation, fault->page)] = i + 1;
	}
	return 0;
}

/* --- waiters --- */

static int grow_waiters(struct um_fault_buffer *buffer)
{
	uint32_t capacity = buffer->waiter_capacity ? buffer->waiter_capacity * 2 : 64;
	struct waiter *waiters = realloc(buffer->waiters, capacity * sizeof(*waiters));

	if (!waiters)
		return um_fail(UM_ENOMEM, "no memory for %u waiting groups", capacity);
	for (uint32_t i = buffer->waiter_capacity; i < capacity; i++)
		waiters[i].next = i + 1 < capacity ? i + 1 : NO_WAITER;
	buffer->free_waiter = buffer->waiter_capacity;
	buffer->waiters = waiters;
	buffer->waiter_capacity = capacity;
	return 0;
}

static int add_waiter(struct um_fault_buffer *buffer, struct entry *entry, um_event_fn wake,
		      void *context, uint64_t argument)
{
	uint32_t index;

	if (buffer->free_waiter == NO_WAITER && grow_waiters(buffer))
		return UM_ENOMEM;
	index = buffer->free_waiter;
	buffer->free_waiter = buffer->waiters[index].next;
	buffer->waiters[index] = (struct waiter){wake, context, argument, NO_WAITER};
	if (entry->first_waiter == NO_WAITER)
		entry->first_waiter = index;
	else
		buffer->waiters[entry->last_waiter].next = index;
	entry->last_waiter = index;
	return 0;
}

static int wake_waiters(struct um_fault_buffer *buffer, struct entry *entry, um_ns at)
{
	int error = 0;

	for (uint32_t i = entry->first_waiter; i != NO_WAITER && !error;) {
		struct waiter *waiter = &buffer->waiters[i];
		uint32_t next = waiter->next;

		error = um_engine_schedule(buffer->engine, at, waiter->wake, waiter->context,
					   waiter->argument);
		waiter->next = buffer->free_waiter;
		buffer->free_waiter = i;
		i = next;
	}
	return error;
}

/* --- the driver's turn --- */

static int serve_waiting(void *context, uint64_t argument)
{
	struct um_fault_buffer *buffer = context;
	size_t before = buffer->alive;
	int error;

	(void)argument;
	buffer->service_is_due = false;
	if (!before)
		return 0;
	error = buffer->driver->ops->on_faults(buffer->driver, buffer);
	if (error)
		return error;
	assert(buffer->alive < before); /* driver.h: at least one */
	if (!buffer->alive)
		return 0;
	buffer->service_is_due = true;
	return um_engine_schedule(buffer->engine, buffer->busy_until, serve_waiting, buffer, 0);
}

int um_fault_buffer_raise(struct um_fault_buffer *buffer, const struct um_fault *fault,
			  um_event_fn wake, void *context, uint64_t argument)
{
	um_ns now = um_engine_now(buffer->engine);
	struct entry *entry;
	size_t slot;

	assert(fault->allocation);
	if (buffer->tail - buffer->head == buffer->capacity && grow_ring(buffer))
		return UM_ENOMEM;
	slot = find_slot(buffer, fault->device, fault->allocation, fault->page);
	if (buffer->hash[slot]) {
		entry = entry_at(buffer, (size_t)buffer->hash[slot] - 1);
		entry->fault.duplicates++;
		entry->fault.write |= fault->write;
		return add_waiter(buffer, entry, wake, context, argument);
	}
	entry = entry_at(buffer, buffer->tail);
	*entry = (struct entry){*fault, NO_WAITER, NO_WAITER};
	entry->fault.duplicates = 0;
	entry->fault.raised_at = now;
	buffer->hash[slot] = ++buffer->tail;
	buffer->alive++;
	if (add_waiter(buffer, entry, wake, context, argument))
		return UM_ENOMEM;
	if (buffer->service_is_due)
		return 0;
	buffer->service_is_due = true;
	return um_engine_schedule(buffer->engine,
				  buffer->busy_until > now ? buffer->busy_until : now,
				  serve_waiting, buffer, 0);
}

size_t um_fault_buffer_pending(const struct um_fault_buffer *buffer)
{
	return buffer->alive;
}

const struct um_fault *um_fault_buffer_peek(const struct um_fault_buffer *buffer, size_t index)
{
	for (size_t i = buffer->head; i < buffer->tail; i++) {
		const struct entry *entry = entry_at(buffer, i);

		if (entry->fault.allocation && index-- == 0)
			return &entry->fault;
	}
	return NULL;
}

static int retire(struct um_fault_buffer *buffer, struct entry *entry, um_ns done_at)
{
	const struct um_fault *fault = &entry->fault;
	int error = wake_waiters(buffer, entry, done_at);

	free_slot(buffer, find_slot(buffer, fault->device, fault->allocation, fault->page));
	entry->fault.allocation = 0;
	buffer->alive--;
	return error;
}

static void drop_dead(struct um_fault_buffer *buffer)
{
	while (buffer->head < buffer->tail && !entry_at(buffer, buffer->head)->fault.allocation)
		buffer->head++;
}

/* Faults of `device` on the range, page by page or entry by entry, whichever is less. */
static int wake_covered(struct um_fault_buffer *buffer, const struct um_page_range *range,
			um_device_id device, um_ns done_at)
{
	int error = 0;

	if (range->pages <= buffer->tail - buffer->head) {
		for (uint32_t i = 0; i < range->pages && !error; i++) {
			size_t slot =
				find_slot(buffer, device, range->allocation, range->first_page + i);

			if (buffer->hash[slot])
				error = retire(buffer,
					       entry_at(buffer, (size_t)buffer->hash[slot] - 1),
					       done_at);
		}
		return error;
	}
	for (size_t i = buffer->head; i < buffer->tail && !error; i++) {
		struct entry *entry = entry_at(buffer, i);

		if (entry->fault.allocation == range->allocation && entry->fault.device == device &&
		    entry->fault.page >= range->first_page &&
		    entry->fault.page - range->first_page < range->pages)
			error = retire(buffer, entry, done_at);
	}
	return error;
}

static void report(struct um_fault_buffer *buffer, const struct um_fault *oldest, size_t count,
		   const struct um_page_range *range, uint64_t batch, um_ns done_at)
{
	struct um_fault_row row = {
		.op = oldest->op ? oldest->op : UM_NULL,
		.device = oldest->device,
		.allocation = range->allocation,
		.first_page = range->first_page,
		.pages = range->pages,
		.faults = (int64_t)count,
		.access = oldest->write ? "write" : "read",
		.batch = (int64_t)batch,
		.start_ns = (int64_t)oldest->raised_at,
		.end_ns = (int64_t)done_at,
	};

	um_probe_fault(buffer->probe, &row);
}

int um_fault_buffer_serve(struct um_fault_buffer *buffer, size_t count,
			  const struct um_page_range *range, uint64_t batch, um_ns done_at)
{
	struct um_fault oldest;
	int error = 0;

	drop_dead(buffer);
	assert(count > 0 && count <= buffer->alive && done_at >= um_engine_now(buffer->engine));
	oldest = entry_at(buffer, buffer->head)->fault;
	if (batch)
		report(buffer, &oldest, count, range, batch, done_at);
	for (size_t i = 0; i < count && !error; i++) {
		drop_dead(buffer);
		error = retire(buffer, entry_at(buffer, buffer->head), done_at);
	}
	if (!error)
		error = wake_covered(buffer, range, oldest.device, done_at);
	drop_dead(buffer);
	if (done_at > buffer->busy_until)
		buffer->busy_until = done_at;
	return error;
}
