/*
 * Event queue and virtual clock. Knows nothing of GPUs. Deterministic: events at the same time run
 * in the order in which they were scheduled.
 */
#ifndef UM_ENGINE_H
#define UM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t um_ns;
#define UM_NEVER UINT64_MAX

struct um_engine;
typedef int (*um_event_fn)(void *context, uint64_t argument); /* not 0 stops the run */

int um_engine_create(struct um_engine **out);
void um_engine_destroy(struct um_engine *); /* NULL is legal */
um_ns um_engine_now(const struct um_engine *);
/* at >= now (earlier is a bug of the caller: asserted). UM_ENOMEM. */
int um_engine_schedule(struct um_engine *, um_ns at, um_event_fn, void *context, uint64_t argument);
/* Until the queue is empty, or it is paused; returns 0 or what an event returned. */
int um_engine_run(struct um_engine *);
/* From within an event: the run ends behind it, and the next goes on. */
void um_engine_pause(struct um_engine *);
bool um_engine_is_paused(const struct um_engine *);  /* the last run ended so, with events left */
uint64_t um_engine_events(const struct um_engine *); /* run so far */
/* Calls `call` after each event that returned 0, before the next; NULL: nobody. */
void um_engine_watch(struct um_engine *, void (*call)(void *context), void *context);

/* A server that takes one job at a time, in the order of arrival (link direction, copy engine,
 * driver). */
struct um_server {
	um_ns free_at;
	um_ns busy; /* in total */
};
/*
 * Books `duration` at the earliest time >= at when the server is free; returns when the job ends.
 */
um_ns um_server_book(struct um_server *, um_ns at, um_ns duration);
/* So of a job that takes all of these at once, when all are free. */
um_ns um_servers_book(struct um_server *const *servers, size_t count, um_ns at, um_ns duration);

#endif
