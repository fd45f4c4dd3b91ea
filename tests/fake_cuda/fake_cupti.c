#include "fake_cupti.h"
#include "trace/tap/cupti_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef FAKE_VERSION
#define FAKE_VERSION 130001
#endif
/* Their declarations are in NVIDIA's headers. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define EXPORT	    __attribute__((visibility("default")))
#define DOMAINS	    8
#define CALLS	    1024
#define COUNTERS    16
#define RECORDS_MAX 16384 /* of a buffer */
#define QUEUE_MAX   1024

typedef void callback(void *, uint32_t, uint32_t, const void *);

struct filled {
	uint8_t *buffer;
	size_t bytes, used;
	uint32_t records;
	uint32_t cursor; /* of who reads it */
	uint32_t offset[RECORDS_MAX];
};

static pthread_mutex_t internal = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;
static struct filled *queue[QUEUE_MAX];
static size_t queue_first, queue_end;
static bool delivering, worker_runs;

static callback *subscriber;
static bool enabled[DOMAINS][CALLS];
static bool kind_enabled[CALLS];
static bool counter_enabled[COUNTERS];
static void (*requested)(uint8_t **, size_t *, size_t *);
static void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint64_t (*clock_of_client)(void);
static struct filled *current; /* being filled */
static struct filled *read_now;
static size_t dropped;

static long told(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value ? strtol(value, NULL, 0) : otherwise;
}

static uint64_t now(void)
{
	struct timespec time;

	if (clock_of_client)
		return clock_of_client();
	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

/* --- delivery --- */

static void deliver(struct filled *filled)
{
	pthread_mutex_lock(&internal);
	read_now = filled;
	completed(NULL, 0, filled->buffer, filled->bytes, filled->used);
	read_now = NULL;
	pthread_mutex_unlock(&internal);
	free(filled);
}

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&queue_lock);
	for (;;) {
		while (queue_first == queue_end)
			pthread_cond_wait(&queue_changed, &queue_lock);
		struct filled *filled = queue[queue_first++ % QUEUE_MAX];

		delivering = true;
		pthread_mutex_unlock(&queue_lock);
		deliver(filled);
		pthread_mutex_lock(&queue_lock);
		delivering = false;
		pthread_cond_broadcast(&queue_changed);
	}
	return NULL;
}

static void start_worker(void)
{
	pthread_t thread;

	if (worker_runs)
		return;
	worker_runs = true;
	pthread_create(&thread, NULL, work, NULL);
	pthread_detach(thread);
}

static void hand_over(void)
{
	if (!current)
		return;
	pthread_mutex_lock(&queue_lock);
	start_worker();
	while (queue_end - queue_first == QUEUE_MAX)
		pthread_cond_wait(&queue_changed, &queue_lock);
	queue[queue_end++ % QUEUE_MAX] = current;
	current = NULL;
	pthread_cond_broadcast(&queue_changed);
	pthread_mutex_unlock(&queue_lock);
}

static void wait_for_delivery(void)
{
	pthread_mutex_lock(&queue_lock);
	while (queue_first != queue_end || delivering)
		pthread_cond_wait(&queue_changed, &queue_lock);
	pthread_mutex_unlock(&queue_lock);
}

/* Late: whatever nobody fetched. */
static __attribute__((destructor)) void end(void)
{
	if (!told("FAKE_CUPTI_LATE", 0) || !current)
		return;
	struct filled *last = current;

	current = NULL;
	deliver(last);
}

static struct filled *new_buffer(void)
{
	struct filled *filled = calloc(1, sizeof(*filled));
	size_t most = 0;

	requested(&filled->buffer, &filled->bytes, &most);
	if (filled->buffer)
		return filled;
	free(filled);
	return NULL;
}

static bool has_room(size_t bytes)
{
	return current && current->used + bytes <= current->bytes && current->records < RECORDS_MAX;
}

static void add_record(const void *record, size_t bytes)
{
	uint32_t kind, counter;

	memcpy(&kind, record, sizeof(kind));
	memcpy(&counter, (const char *)record + sizeof(kind), sizeof(counter));
	if (kind == UM_CUPTI_UNIFIED_MEMORY && counter < COUNTERS && counter > 0 &&
	    !counter_enabled[counter])
		return;
	if (!requested || (kind < CALLS && !kind_enabled[kind] && kind < 60))
		return;
	pthread_mutex_lock(&internal);
	if (!has_room(bytes))
		hand_over();
	if (!current)
		current = new_buffer();
	if (current) {
		memcpy(current->buffer + current->used, record, bytes);
		current->offset[current->records++] = (uint32_t)current->used;
		current->used += bytes;
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&internal);
}

static void call_back(uint32_t domain, uint32_t call, const void *data)
{
	if (subscriber && domain < DOMAINS && call < CALLS && enabled[domain][call])
		subscriber(NULL, domain, call, data);
}

static void drop(size_t count)
{
	dropped += count;
}

EXPORT const struct fake_cupti fake_cupti = {call_back, add_record, drop, now};

/* --- the interface --- */

EXPORT int cuptiGetVersion(uint32_t *version)
{
	*version = (uint32_t)told("FAKE_CUPTI_VERSION", FAKE_VERSION);
	return 0;
}

EXPORT int cuptiSubscribe(void **out, callback *client, void *context)
{
	int result = (int)told("FAKE_CUPTI_SUBSCRIBE", 0);

	(void)context;
	if (result)
		return result;
	subscriber = client;
	*out = &subscriber;
	return 0;
}

#if FAKE_VERSION >= 130000
EXPORT int cuptiSubscribe_v2(void **out, callback *client, void *context,
			     struct um_cupti_subscriber_params *params)
{
	int result = cuptiSubscribe(out, client, context);
	const char *other = getenv("FAKE_CUPTI_OTHER");

	if (result && other && params->other_name)
		strncpy(params->other_name, other, params->other_bytes - 1);
	return result;
}
#endif

EXPORT int cuptiUnsubscribe(void *handle)
{
	(void)handle;
	subscriber = NULL;
	return 0;
}

EXPORT int cuptiEnableCallback(uint32_t enable, void *handle, uint32_t domain, uint32_t call)
{
	if (!handle || domain >= DOMAINS || call >= CALLS)
		return 1;
	enabled[domain][call] = enable;
	return 0;
}

EXPORT int cuptiEnableDomain(uint32_t enable, void *handle, uint32_t domain)
{
	for (uint32_t call = 0; call < CALLS; call++)
		cuptiEnableCallback(enable, handle, domain, call);
	return 0;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	const char *refused = getenv("FAKE_CUPTI_ENABLE");
	const char *colon = refused ? strchr(refused, ':') : NULL;

	if (colon && strtoul(refused, NULL, 10) == kind)
		return atoi(colon + 1);
	kind_enabled[kind % CALLS] = true;
	return 0;
}

EXPORT int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
					  void (*complete)(void *, uint32_t, uint8_t *, size_t,
							   size_t))
{
	requested = request;
	completed = complete;
	return 0;
}

EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*client)(void))
{
	if (told("FAKE_CUPTI_NO_CLOCK", 0))
		return 27;
	clock_of_client = client;
	return 0;
}

EXPORT int cuptiGetTimestamp(uint64_t *time)
{
	*time = now();
	return 0;
}

EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
	(void)flags;
	if (told("FAKE_CUPTI_LATE", 0) || !completed)
		return 0;
	pthread_mutex_lock(&internal);
	hand_over();
	pthread_mutex_unlock(&internal);
	wait_for_delivery();
	return 0;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes,
				      struct um_cupti_activity **record)
{
	struct filled *filled = read_now;

	(void)valid_bytes;
	if (!filled || filled->buffer != buffer)
		return 1;
	if (!*record)
		filled->cursor = 0;
	if (filled->cursor == filled->records)
		return 12;
	*record = (struct um_cupti_activity *)(void *)(buffer + filled->offset[filled->cursor++]);
	return 0;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	(void)context;
	(void)stream;
	*count = dropped;
	dropped = 0;
	return 0;
}

EXPORT int cuptiActivityConfigureUnifiedMemoryCounter(struct um_cupti_counter_config *config,
						      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (config[i].counter < COUNTERS)
			counter_enabled[config[i].counter] = config[i].enable;
	return (int)told("FAKE_CUPTI_COUNTERS", 0);
}

/* The fake driver's contexts carry their device in the low bits. */
EXPORT int cuptiGetDeviceId(void *context, uint32_t *device)
{
	pthread_mutex_lock(&internal);
	*device = (uint32_t)((uintptr_t)context & 15);
	pthread_mutex_unlock(&internal);
	return 0;
}

EXPORT int cuptiGetResultString(int result, const char **text)
{
	*text = result == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_SOME";
	return 0;
}
