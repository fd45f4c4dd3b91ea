/*
 * Threads simulate, the caller's thread waits and tells. A thread takes the next point that nobody
 * has, runs it, and puts what came of it into a queue.
 */
#include "sweep.h"

#include "sim/simulate.h"
#include "trace/base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_NS 100000000

struct run {
	struct run *next; /* in the queue of what is done */
	size_t point;
	struct um_totals totals;
	struct um_sweep_note *notes;
	size_t note_count;
	int error;
	char *message;
};

struct sweep {
	const struct um_sweep *request;
	struct um_trace_cache *cache;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something is in the queue, or a worker has ended */
	size_t next_point;
	unsigned working;
	bool stops;
	struct run *done, **last_done;
};

struct worker {
	struct sweep *sweep;
	pthread_t thread;
	struct um_db *trace; /* SQLite's handles are one thread's at a time */
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

static int simulate(const struct worker *worker, struct run *run, struct um_probe *probe)
{
	const struct um_sweep *request = worker->sweep->request;
	const struct um_sweep_point *point = &request->points[run->point];
	struct um_observer totals = um_probe_totals(&run->totals);
	const struct um_simulation simulation = {
		.trace = worker->trace,
		.cache = worker->sweep->cache,
		.policy = point->policy,
		.machine = point->machine,
		.probe = probe,
		.host_time = request->host_time,
		.ignored = note_ignored,
		.ignored_context = run,
	};
	int error = um_probe_add(probe, &totals);

	return error ? error : um_simulate(&simulation);
}

static void run_point(const struct worker *worker, struct run *run)
{
	struct um_probe *probe;

	run->error = um_probe_create(&probe);
	if (!run->error) {
		int finish_error;

		run->error = simulate(worker, run, probe);
		if (run->error)
			run->message = strdup(um_error_message());
		finish_error = um_probe_finish(probe);
		run->error = run->error ? run->error : finish_error;
		um_probe_destroy(probe);
	}
	if (run->error && !run->message)
		run->message = strdup(um_error_message());
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

/* NULL: there are no more, or all is to stop. */
static struct run *take_point(struct sweep *sweep)
{
	struct run *run = NULL;

	pthread_mutex_lock(&sweep->lock);
	if (!sweep->stops && sweep->next_point < sweep->request->count) {
		run = calloc(1, sizeof(*run));
		if (run)
			run->point = sweep->next_point++;
	}
	pthread_mutex_unlock(&sweep->lock);
	return run;
}

static void put_done(struct sweep *sweep, struct run *run)
{
	pthread_mutex_lock(&sweep->lock);
	*sweep->last_done = run;
	sweep->last_done = &run->next;
	pthread_cond_signal(&sweep->changed);
	pthread_mutex_unlock(&sweep->lock);
}

static void *work(void *context)
{
	struct worker *worker = context;
	struct sweep *sweep = worker->sweep;
	struct run *run;

	while ((run = take_point(sweep)) != NULL) {
		run_point(worker, run);
		put_done(sweep, run);
	}
	pthread_mutex_lock(&sweep->lock);
	sweep->working--;
	pthread_cond_signal(&sweep->changed);
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
	pthread_mutex_unlock(&sweep->lock);
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
			error = request->tick(request->context,
					      (double)told / (double)request->count);
		if (error)
			stop(sweep);
	}
	if (!error && told < request->count)
		error = um_fail(UM_ENOMEM, "out of memory");
	return error;
}

/* ---------------------------------------------------------------- life */

static int init(struct sweep *sweep, const struct um_sweep *request)
{
	pthread_condattr_t attributes;

	*sweep = (struct sweep){.request = request};
	sweep->last_done = &sweep->done;
	if (um_trace_cache_create(&sweep->cache, request->cache_bytes ? request->cache_bytes
								      : UM_TRACE_CACHE_BYTES))
		return UM_ENOMEM;
	if (pthread_condattr_init(&attributes))
		return um_fail(UM_ENOMEM, "out of memory");
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&sweep->lock, NULL);
	pthread_cond_init(&sweep->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return 0;
}

static void fini(struct sweep *sweep)
{
	um_trace_cache_destroy(sweep->cache);
	pthread_cond_destroy(&sweep->changed);
	pthread_mutex_destroy(&sweep->lock);
}

static int start(struct worker *worker, struct sweep *sweep)
{
	int error = um_db_open(&worker->trace, sweep->request->trace_path);

	worker->sweep = sweep;
	if (error)
		return error;
	pthread_mutex_lock(&sweep->lock);
	sweep->working++;
	pthread_mutex_unlock(&sweep->lock);
	if (pthread_create(&worker->thread, NULL, work, worker) == 0)
		return 0;
	pthread_mutex_lock(&sweep->lock);
	sweep->working--;
	pthread_mutex_unlock(&sweep->lock);
	um_db_close(worker->trace);
	return um_fail(UM_EIO, "no more threads can be started: -j");
}

static int run_workers(struct sweep *sweep, struct worker *workers, unsigned threads)
{
	unsigned started = 0;
	int error = 0, follow_error;

	while (started < threads && !error) {
		error = start(&workers[started], sweep);
		started += error == 0;
	}
	if (error)
		stop(sweep);
	follow_error = started && !error ? follow(sweep) : 0;
	for (unsigned i = 0; i < started; i++) {
		pthread_join(workers[i].thread, NULL);
		um_db_close(workers[i].trace);
	}
	return error ? error : follow_error;
}

int um_sweep_run(const struct um_sweep *request)
{
	size_t threads = request->threads;
	struct worker *workers;
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
	if (!error) {
		error = run_workers(&sweep, workers, (unsigned)threads);
		fini(&sweep);
	}
	free(workers);
	return error;
}
