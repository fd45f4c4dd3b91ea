#include "engine.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>

struct event {
	um_ns at;
	uint64_t sequence; /* breaks ties, so that no run depends on the shape of the heap */
	um_event_fn run;
	void *context;
	uint64_t argument;
};

struct um_engine {
	um_ns now;
	uint64_t scheduled, done;
	struct event *heap; /* binary, the next event at 0 */
	size_t count, capacity;
	bool is_paused;
	void (*watch)(void *context);
	void *watch_context;
};

int um_engine_create(struct um_engine **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : um_fail(UM_ENOMEM, "no memory for the event queue");
}

void um_engine_destroy(struct um_engine *engine)
{
	if (!engine)
		return;
	free(engine->heap);
	free(engine);
}

um_ns um_engine_now(const struct um_engine *engine)
{
	return engine->now;
}

uint64_t um_engine_events(const struct um_engine *engine)
{
	return engine->done;
}

void um_engine_watch(struct um_engine *engine, void (*call)(void *context), void *context)
{
	engine->watch = call;
	engine->watch_context = context;
}

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->sequence < b->sequence);
}

static int grow(struct um_engine *engine)
{
	size_t capacity = engine->capacity ? engine->capacity * 2 : 256;
	struct event *heap = realloc(engine->heap, capacity * sizeof(*heap));

	if (!heap)
		return um_fail(UM_ENOMEM, "no memory for %zu events", capacity);
	engine->heap = heap;
	engine->capacity = capacity;
	return 0;
}

int um_engine_schedule(struct um_engine *engine, um_ns at, um_event_fn run, void *context,
		       uint64_t argument)
{
	assert(at >= engine->now);
	if (engine->count == engine->capacity && grow(engine))
		return UM_ENOMEM;

	struct event event = {at, engine->scheduled++, run, context, argument};
	struct event *heap = engine->heap;
	size_t hole = engine->count++;

	for (; hole > 0 && is_before(&event, &heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
		heap[hole] = heap[(hole - 1) / 2];
	heap[hole] = event;
	return 0;
}

static struct event take_first(struct um_engine *engine)
{
	struct event *heap = engine->heap, first = heap[0], last = heap[--engine->count];
	size_t hole = 0, child;

	while ((child = 2 * hole + 1) < engine->count) {
		if (child + 1 < engine->count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &last))
			break;
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = last;
	return first;
}

void um_engine_pause(struct um_engine *engine)
{
	engine->is_paused = true;
}

bool um_engine_is_paused(const struct um_engine *engine)
{
	return engine->is_paused && engine->count;
}

int um_engine_run(struct um_engine *engine)
{
	engine->is_paused = false;
	while (engine->count && !engine->is_paused) {
		struct event event = take_first(engine);
		int result;

		engine->now = event.at;
		engine->done++;
		result = event.run(event.context, event.argument);
		if (result)
			return result;
		if (engine->watch)
			engine->watch(engine->watch_context);
	}
	return 0;
}

um_ns um_server_book(struct um_server *server, um_ns at, um_ns duration)
{
	um_ns start = at > server->free_at ? at : server->free_at;

	server->free_at = start + duration;
	server->busy += duration;
	return server->free_at;
}

um_ns um_servers_book(struct um_server *const *servers, size_t count, um_ns at, um_ns duration)
{
	for (size_t i = 0; i < count; i++)
		at = at > servers[i]->free_at ? at : servers[i]->free_at;
	for (size_t i = 0; i < count; i++)
		um_server_book(servers[i], at, duration);
	return at + duration;
}
