/*
 * Threads simulate, the caller's thread waits and tells. A thread takes the simulation that is
 * furthest behind in the trace, lets it go on for a part of what the cache keeps, and puts it back or, when
 * it is over, into the queue of what is done. So all stay within what the cache keeps of the trace, and each
 * piece is decoded once for all; a trace that fits is gone through by one after the other.
 */
#include "sweep.h"

#include "sim/simulate.h"
#include "trace/base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_NS 100000000
/* At once under way, beyond the threads: what their machines may take, as assumed for a page of 4 KiB. */
#define LIVE_MAX	   64
#define LIVE_BYTES	   (UINT64_C(1) << 30)
#define PAGE_BYTES	   4096
#define MACHINE_PAGE_BYTES 64
/* Of the cache: how far one goes on before the others follow. */
#define PIECES 4
#define PARTS  1000000u

struct run {
	struct run *next; /* in a queue */
	size_t point;
	struct um_db *trace; /* SQLite's handles are one thread's at a time */
	struct um_probe *probe;
	struct um_simulation_state *simulation;
	_Atomic uint32_t part; /* done, of PARTS */
	struct um_totals totals;
	struct um_sweep_note *notes;
	size_t note_count;
	int error;
	char *message;
};

struct handle {
	struct handle *next;
	struct um_db *trace;
};

struct sweep {
	const struct um_sweep *request;
	struct um_trace_cache *cache;
	size_t live_max;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something is in the queue, or a worker has ended */
	pthread_cond_t put_back;
	size_t next_point, live_count;
	unsigned working;
	bool stops;
	struct run **live;   /* all that are begun, live_max of them */
	struct run *waiting; /* of these, those that no thread has */
	struct run *done, **last_done;
	struct handle *handles; /* that no simulation has */
};

/* ---------------------------------------------------------------- one point */

static void note_ignored(void *context, const char *what, const char *why)
{
	struct run *run = context;
	struct um_sweep_note *grown = reallocarray(run->notes, run->note_count + 1, sizeof(*grown));

	if (!grown)
		return;
	run->notes = grown;
	grown[run->note_count] = (struct um_sweep_note){strdup(what), why};
	run->note_count += grown[run->note_count].what != NULL;
}

static void note_progress(void *context, uint64_t done, uint64_t all)
{
	struct run *run = context;

	atomic_store_explicit(&run->part,
			      all ? (uint32_t)((double)done / (double)all * PARTS) : PARTS,
			      memory_order_relaxed);
}

static int take_handle(struct sweep *sweep, struct um_db **out)
{
	struct handle *handle;

	pthread_mutex_lock(&sweep->lock);
	handle = sweep->handles;
	if (handle)
		sweep->handles = handle->next;
	pthread_mutex_unlock(&sweep->lock);
	if (!handle)
		return um_db_open(out, sweep->request->trace_path);
	*out = handle->trace;
	free(handle);
	return 0;
}

/* Without memory to keep it, it is closed. */
static void leave_handle(struct sweep *sweep, struct um_db *trace)
{
	struct handle *handle = trace ? malloc(sizeof(*handle)) : NULL;

	if (!handle) {
		um_db_close(trace);
		return;
	}
	pthread_mutex_lock(&sweep->lock);
	*handle = (struct handle){sweep->handles, trace};
	sweep->handles = handle;
	pthread_mutex_unlock(&sweep->lock);
}

static int begin(struct sweep *sweep, struct run *run)
{
	const struct um_sweep *request = sweep->request;
	const struct um_sweep_point *point = &request->points[run->point];
	struct um_observer totals = um_probe_totals(&run->totals);
	int error = take_handle(sweep, &run->trace);

	if (!error)
		error = um_probe_create(&run->probe);
	if (!error)
		error = um_probe_add(run->probe, &totals);
	if (error)
		return error;
	return um_simulation_begin(&run->simulation, &(struct um_simulation){
							     .trace = run->trace,
							     .cache = sweep->cache,
							     .policy = point->policy,
							     .machine = point->machine,
							     .probe = run->probe,
							     .host_time = request->host_time,
							     .progress = note_progress,
							     .progress_context = run,
							     .ignored = note_ignored,
							     .ignored_context = run,
						     });
}

static void end(struct sweep *sweep, struct run *run)
{
	int error;

	um_simulation_end(run->simulation);
	run->simulation = NULL;
	if (run->probe) {
		error = um_probe_finish(run->probe);
		if (error && !run->error) {
			run->error = error;
			run->message = strdup(um_error_message());
		}
		um_probe_destroy(run->probe);
		run->probe = NULL;
	}
	leave_handle(sweep, run->trace);
	run->trace = NULL;
}

/* Goes on for a piece of the trace; whether it is over. */
static bool advance(struct sweep *sweep, struct run *run)
{
	uint64_t piece = um_trace_cache_limit(sweep->cache) / PIECES;
	bool is_done = false;

	if (!run->simulation)
		run->error = begin(sweep, run);
	if (!run->error)
		run->error = um_simulation_advance(run->simulation, piece ? piece : 1, &is_done);
	if (run->error)
		run->message = strdup(um_error_message());
	if (!run->error && !is_done)
		return false;
	end(sweep, run);
	return true;
}

static void free_run(struct run *run)
{
	for (size_t i = 0; i < run->note_count; i++)
		free(run->notes[i].what);
	free(run->notes);
	free(run->message);
	free(run);
}

/* ---------------------------------------------------------------- threads */

static struct run *begin_next(struct sweep *sweep)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run) {
		sweep->stops = true;
		return NULL;
	}
	run->point = sweep->next_point++;
	sweep->live[sweep->live_count++] = run;
	return run;
}

/* Out of the waiting: the one that is furthest behind. */
static struct run *take_hindmost(struct sweep *sweep)
{
	struct run **hindmost = &sweep->waiting;
	struct run *run;

	for (struct run **at = &sweep->waiting; *at; at = &(*at)->next)
		if (um_simulation_position((*at)->simulation) <
		    um_simulation_position((*hindmost)->simulation))
			hindmost = at;
	run = *hindmost;
	*hindmost = run->next;
	run->next = NULL;
	return run;
}

/* One that is not begun is the furthest behind of all. NULL: there is nothing left to do. */
static struct run *take_run(struct sweep *sweep)
{
	struct run *run = NULL;

	pthread_mutex_lock(&sweep->lock);
	while (!sweep->stops && !run) {
		bool has_more = sweep->next_point < sweep->request->count;

		if (has_more && sweep->live_count < sweep->live_max)
			run = begin_next(sweep);
		else if (sweep->waiting)
			run = take_hindmost(sweep);
		else if (sweep->live_count || has_more)
			pthread_cond_wait(&sweep->put_back, &sweep->lock);
		else
			break;
	}
	pthread_mutex_unlock(&sweep->lock);
	return run;
}

static void put_run(struct sweep *sweep, struct run *run, bool is_done)
{
	pthread_mutex_lock(&sweep->lock);
	if (is_done) {
		size_t at = 0;

		while (sweep->live[at] != run)
			at++;
		sweep->live[at] = sweep->live[--sweep->live_count];
		*sweep->last_done = run;
		sweep->last_done = &run->next;
		pthread_cond_signal(&sweep->changed);
	} else {
		run->next = sweep->waiting;
		sweep->waiting = run;
	}
	pthread_cond_broadcast(&sweep->put_back);
	pthread_mutex_unlock(&sweep->lock);
}

static void *work(void *context)
{
	struct sweep *sweep = context;
	struct run *run;

	while ((run = take_run(sweep)) != NULL)
		put_run(sweep, run, advance(sweep, run));
	pthread_mutex_lock(&sweep->lock);
	sweep->working--;
	pthread_cond_signal(&sweep->changed);
	pthread_cond_broadcast(&sweep->put_back);
	pthread_mutex_unlock(&sweep->lock);
	return NULL;
}

/* ---------------------------------------------------------------- the caller's thread */

static struct timespec in_a_tick(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += TICK_NS;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

/* What is done by now, or NULL after a tick. *ended: nothing more will come. */
static struct run *wait_done(struct sweep *sweep, bool *ended)
{
	const struct timespec until = in_a_tick();
	struct run *runs;

	pthread_mutex_lock(&sweep->lock);
	while (!sweep->done && sweep->working)
		if (pthread_cond_timedwait(&sweep->changed, &sweep->lock, &until))
			break;
	runs = sweep->done;
	*ended = !sweep->working;
	sweep->done = NULL;
	sweep->last_done = &sweep->done;
	pthread_mutex_unlock(&sweep->lock);
	return runs;
}

static int tell(const struct um_sweep *request, const struct run *run)
{
	const struct um_sweep_result result = {
		.error = run->error,
		.message = run->message ? run->message : "",
		.totals = run->totals,
		.notes = run->notes,
		.note_count = run->note_count,
	};

	return request->result(request->context, run->point, &result);
}

static void stop(struct sweep *sweep)
{
	pthread_mutex_lock(&sweep->lock);
	sweep->stops = true;
	pthread_cond_broadcast(&sweep->put_back);
	pthread_mutex_unlock(&sweep->lock);
}

/* Of all points, what is done: whole ones, and parts of those under way. */
static double part_done(struct sweep *sweep, size_t told)
{
	double parts = 0;

	pthread_mutex_lock(&sweep->lock);
	for (size_t i = 0; i < sweep->live_count; i++)
		parts += atomic_load_explicit(&sweep->live[i]->part, memory_order_relaxed);
	pthread_mutex_unlock(&sweep->lock);
	return ((double)told + parts / PARTS) / (double)sweep->request->count;
}

static int follow(struct sweep *sweep)
{
	const struct um_sweep *request = sweep->request;
	size_t told = 0;
	bool ended = false;
	int error = 0;

	while (!ended) {
		struct run *next, *run = wait_done(sweep, &ended);

		for (; run; run = next) {
			next = run->next;
			if (!error)
				error = tell(request, run);
			told++;
			free_run(run);
		}
		if (!error && request->tick)
			error = request->tick(request->context, part_done(sweep, told));
		if (error)
			stop(sweep);
	}
	if (!error && told < request->count)
		error = um_fail(UM_ENOMEM, "out of memory");
	return error;
}

/* ---------------------------------------------------------------- life */

/* What is under way at once: as many as there is memory for the machines they model. */
static int find_live_max(struct sweep *sweep)
{
	const struct um_sweep *request = sweep->request;
	uint64_t footprint, most;
	struct um_db *trace;
	int error = take_handle(sweep, &trace);

	if (error)
		return error;
	error = um_policy_footprint(&footprint, trace);
	leave_handle(sweep, trace);
	most = LIVE_BYTES / (footprint / PAGE_BYTES * MACHINE_PAGE_BYTES + 1);
	most = most > LIVE_MAX ? LIVE_MAX : most;
	most = most < request->threads ? request->threads : most;
	sweep->live_max = most < request->count ? (size_t)most : request->count;
	sweep->live = calloc(sweep->live_max, sizeof(struct run *));
	if (!error && !sweep->live)
		error = um_fail(UM_ENOMEM, "out of memory");
	return error;
}

static int init(struct sweep *sweep, const struct um_sweep *request)
{
	pthread_condattr_t attributes;

	*sweep = (struct sweep){.request = request};
	sweep->last_done = &sweep->done;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&sweep->lock, NULL);
	pthread_cond_init(&sweep->changed, &attributes);
	pthread_cond_init(&sweep->put_back, NULL);
	pthread_condattr_destroy(&attributes);
	int error = um_trace_cache_create(
		&sweep->cache, request->cache_bytes ? request->cache_bytes : UM_TRACE_CACHE_BYTES);

	return error ? error : find_live_max(sweep);
}

static void free_queue(struct sweep *sweep, struct run *run)
{
	while (run) {
		struct run *next = run->next;

		end(sweep, run);
		free_run(run);
		run = next;
	}
}

static void fini(struct sweep *sweep)
{
	free_queue(sweep, sweep->waiting);
	free_queue(sweep, sweep->done);
	while (sweep->handles) {
		struct handle *handle = sweep->handles;

		sweep->handles = handle->next;
		um_db_close(handle->trace);
		free(handle);
	}
	free(sweep->live);
	um_trace_cache_destroy(sweep->cache);
	pthread_cond_destroy(&sweep->put_back);
	pthread_cond_destroy(&sweep->changed);
	pthread_mutex_destroy(&sweep->lock);
}

static int start(pthread_t *thread, struct sweep *sweep)
{
	pthread_mutex_lock(&sweep->lock);
	sweep->working++;
	pthread_mutex_unlock(&sweep->lock);
	if (pthread_create(thread, NULL, work, sweep) == 0)
		return 0;
	pthread_mutex_lock(&sweep->lock);
	sweep->working--;
	pthread_mutex_unlock(&sweep->lock);
	return um_fail(UM_EIO, "no more threads can be started: -j");
}

static int run_workers(struct sweep *sweep, pthread_t *workers, size_t threads)
{
	size_t started = 0;
	int error = 0, follow_error;
	char message[1024] = "";

	while (started < threads && !error) {
		error = start(&workers[started], sweep);
		started += error == 0;
	}
	if (error) {
		snprintf(message, sizeof(message), "%s", um_error_message());
		stop(sweep);
	}
	follow_error = started && !error ? follow(sweep) : 0;
	for (size_t i = 0; i < started; i++)
		pthread_join(workers[i], NULL);
	return error ? um_fail(error, "%s", message) : follow_error;
}

int um_sweep_run(const struct um_sweep *request)
{
	size_t threads = request->threads;
	pthread_t *workers;
	struct sweep sweep;
	int error;

	if (threads < 1 || threads > UM_SWEEP_THREADS_MAX)
		return um_fail(UM_EINVAL, "-j takes 1 to %d threads", UM_SWEEP_THREADS_MAX);
	if (!request->count)
		return 0;
	if (threads > request->count)
		threads = request->count;
	workers = calloc(threads, sizeof(*workers));
	if (!workers)
		return um_fail(UM_ENOMEM, "out of memory");
	error = init(&sweep, request);
	if (!error)
		error = run_workers(&sweep, workers, threads);
	fini(&sweep);
	free(workers);
	return error;
}
