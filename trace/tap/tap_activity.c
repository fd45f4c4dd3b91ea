/*
 * Activity: what the driver did, told by CUPTI's worker thread in buffers that we lend it. There is a
 * limit to them; beyond it CUPTI drops records and counts them.
 */
#include "tap.h"
#include "tap_map.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (512u * 1024u)
#define BUFFERS	     128u
/* The lock is held for so many records at a time, so that launches do not wait for long. */
#define RECORDS_AT_ONCE	  64u
#define FLUSH_EVERY_MS	  500
#define FLUSH_STACK_BYTES (256u * 1024u)

static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffers; /* all of them; memory is taken when one is first written to */
static uint8_t *free_buffer[BUFFERS];
static unsigned free_count, lent_count; /* lent for the first time */
static bool has_clock;

/* Held while CUPTI is asked to hand over what it has. */
static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ended; /* the program is at its end: CUPTI is not asked again */
static _Atomic uint64_t calls_seen;

/* --- buffers --- */

static uint8_t *take_buffer(void)
{
	uint8_t *buffer = NULL;

	pthread_mutex_lock(&buffers_lock);
	if (free_count > 0)
		buffer = free_buffer[--free_count];
	else if (buffers && lent_count < BUFFERS)
		buffer = buffers + (size_t)lent_count++ * BUFFER_BYTES;
	pthread_mutex_unlock(&buffers_lock);
	return buffer;
}

static void give_back_buffer(uint8_t *buffer)
{
	pthread_mutex_lock(&buffers_lock);
	if (free_count < BUFFERS)
		free_buffer[free_count++] = buffer;
	pthread_mutex_unlock(&buffers_lock);
}

static void on_buffer_requested(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	*buffer = take_buffer();
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0; /* as many as fit */
}

/* --- records --- */

static void on_times(uint32_t correlation, uint32_t device, uint64_t start, uint64_t end,
		     uint64_t offset_ns)
{
	if (end < start) {
		/* A layout that is not the one that we know. */
		um_tap_lost(UM_LOSS_UNKNOWN_RECORD, 1, "times of work on a device: they cannot be");
		return;
	}
	/* cupti_activity.h: 0 where no times could be collected. */
	if (start == 0 || end == 0)
		um_tap_lost(UM_LOSS_DROPPED, 1, "times of work on a device: CUPTI had none");
	else
		um_tap_put_time(correlation, (int32_t)device, start + offset_ns, end + offset_ns);
}

static void on_kernel(const void *record, uint64_t offset_ns)
{
	const struct um_cupti_kernel *kernel = record;
	uint32_t op = um_tap_op_of(kernel->correlation);

	on_times(kernel->correlation, kernel->device, kernel->start, kernel->end, offset_ns);
	/* A pointer is followed only where the layout is known to have one there. */
	if (!op || um_tap.cupti.version >= UM_CUPTI_VERSION_14_0 || kernel->graph_node ||
	    !kernel->static_shared_bytes || !kernel->name)
		return;
	struct um_tap_kernel ran = {
		.grid = {kernel->grid[0], kernel->grid[1], kernel->grid[2]},
		.block = {kernel->block[0], kernel->block[1], kernel->block[2]},
		.dynamic_shared_bytes = kernel->dynamic_shared_bytes,
		.name = kernel->name,
	};

	um_tap_kernel_ran(op, &ran, kernel->static_shared_bytes);
}

static void on_copy(const void *record, uint64_t offset_ns)
{
	const struct um_cupti_copy *copy = record;

	on_times(copy->correlation, copy->device, copy->start, copy->end, offset_ns);
}

static void on_peer_copy(const void *record, uint64_t offset_ns)
{
	const struct um_cupti_peer_copy *copy = record;

	on_times(copy->correlation, copy->device, copy->start, copy->end, offset_ns);
}

static void on_unified(const void *record, uint64_t offset_ns)
{
	um_tap_on_unified(record, offset_ns);
}

static const struct kind {
	uint32_t kind;
	uint32_t bytes; /* that are read */
	void (*read)(const void *record, uint64_t offset_ns);
	const char *refused; /* what is lost without it */
} kinds[] = {
	{UM_CUPTI_CONCURRENT_KERNEL, sizeof(struct um_cupti_kernel), on_kernel,
	 "times of kernels on the device"},
	{UM_CUPTI_MEMCPY, sizeof(struct um_cupti_copy), on_copy, "times of copies on the device"},
	{UM_CUPTI_MEMSET, sizeof(struct um_cupti_copy), on_copy, "times of memsets on the device"},
	{UM_CUPTI_MEMCPY_PEER, sizeof(struct um_cupti_peer_copy), on_peer_copy,
	 "times of copies between devices"},
	{UM_CUPTI_UNIFIED_MEMORY, sizeof(struct um_cupti_unified), on_unified,
	 "faults and migrations"},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static const struct kind *kind_of(uint32_t kind)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].kind == kind)
			return kinds + i;
	return NULL;
}

static void on_record(const struct um_cupti_activity *record, const uint8_t *end,
		      uint64_t offset_ns)
{
	const struct kind *kind = kind_of(record->kind);

	if (!kind)
		um_tap_lost_number(UM_LOSS_UNKNOWN_RECORD, 1, "activity of kind", record->kind);
	else if ((size_t)(end - (const uint8_t *)record) < kind->bytes)
		um_tap_lost_number(UM_LOSS_UNKNOWN_RECORD, 1, "cut off: activity of kind",
				   record->kind);
	else
		kind->read(record, offset_ns);
}

/* To be added to CUPTI's times, which are of another clock when it cannot be told to use ours. */
static uint64_t clock_offset_ns(void)
{
	uint64_t before, theirs = 0, after;

	if (has_clock)
		return 0;
	before = um_tap_now_ns();
	if (um_tap.cupti.get_timestamp(&theirs) != UM_CUPTI_SUCCESS)
		return 0;
	after = um_tap_now_ns();
	return before + (after - before) / 2 - theirs;
}

/* Finds the next records of a buffer, which is a call of CUPTI's. */
static size_t find_records(uint8_t *buffer, size_t valid_bytes, struct um_cupti_activity **last,
			   struct um_cupti_activity *found[RECORDS_AT_ONCE])
{
	size_t count = 0;

	while (count < RECORDS_AT_ONCE &&
	       um_tap.cupti.next_record(buffer, valid_bytes, last) == UM_CUPTI_SUCCESS)
		found[count++] = *last;
	return count;
}

static void read_buffer(uint8_t *buffer, size_t valid_bytes)
{
	struct um_cupti_activity *last = NULL, *found[RECORDS_AT_ONCE];
	uint64_t offset_ns = clock_offset_ns();
	size_t count;

	do {
		count = find_records(buffer, valid_bytes, &last, found);
		if (!um_tap_lock())
			return;
		for (size_t i = 0; i < count; i++)
			on_record(found[i], buffer + valid_bytes, offset_ns);
		um_tap_unlock();
	} while (count == RECORDS_AT_ONCE);
}

static void on_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				size_t valid_bytes)
{
	size_t dropped = 0;
	int saved = errno;

	(void)context;
	(void)stream;
	if (buffer && valid_bytes && valid_bytes <= bytes && um_tap_is_on())
		read_buffer(buffer, valid_bytes);
	if (buffer)
		give_back_buffer(buffer);
	if (um_tap_is_on() && um_tap.cupti.dropped_records(NULL, 0, &dropped) == UM_CUPTI_SUCCESS &&
	    um_tap_lock()) {
		if (dropped)
			um_tap_lost(UM_LOSS_DROPPED, dropped,
				    "records: CUPTI had no buffer for them");
		um_tap_tell_losses(false);
		um_tap_unlock();
	}
	errno = saved;
}

/* --- flushing --- */

/*
 * CUPTI takes milliseconds to hand over what it has (18 on an H200, CUPTI 13.0.1), so that the program's
 * threads are not to wait for it. Without a regular flush a trace could not be read while it grows, and a
 * killed program would leave less.
 */
static void *flush_now_and_then(void *unused)
{
	uint64_t before = 0;

	(void)unused;
	while (um_tap_is_on()) {
		usleep(FLUSH_EVERY_MS * 1000);
		uint64_t calls = atomic_load_explicit(&calls_seen, memory_order_relaxed);

		pthread_mutex_lock(&flush_lock);
		if (!ended && um_tap_is_on() && calls != before)
			um_tap.cupti.flush_all(0);
		pthread_mutex_unlock(&flush_lock);
		before = calls;
	}
	return NULL;
}

/* No signal of the program's is to end up there. */
static void start_flushing(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, mask;

	if (pthread_attr_init(&attributes))
		return;
	pthread_attr_setstacksize(&attributes, FLUSH_STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	if (pthread_create(&thread, &attributes, flush_now_and_then, NULL) == 0)
		pthread_setname_np(thread, "umtrace");
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attributes);
}

void um_tap_note_call(void)
{
	atomic_fetch_add_explicit(&calls_seen, 1, memory_order_relaxed);
}

void um_tap_flush(void)
{
	pthread_mutex_lock(&flush_lock);
	if (!ended)
		um_tap.cupti.flush_all(0);
	pthread_mutex_unlock(&flush_lock);
}

void um_tap_flush_last(void)
{
	pthread_mutex_lock(&flush_lock);
	if (!ended)
		um_tap.cupti.flush_all(UM_CUPTI_FLUSH_FORCED);
	ended = true;
	pthread_mutex_unlock(&flush_lock);
}

/* --- starting --- */

static void refuse(const char *what, int result)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: CUPTI refuses: %s", what,
		 um_cupti_text(&um_tap.cupti, result));
	if (!um_tap_lock())
		return;
	um_tap_put_loss(UM_LOSS_TAP_OFF, 1, text);
	um_tap_unlock();
}

void um_tap_start_activity(void)
{
	buffers = um_tap_reserve_memory((size_t)BUFFERS * BUFFER_BYTES);
	has_clock = um_tap.cupti.register_clock &&
		    um_tap.cupti.register_clock(um_tap_now_ns) == UM_CUPTI_SUCCESS;
	int result = um_tap.cupti.register_callbacks(on_buffer_requested, on_buffer_completed);

	if (result != UM_CUPTI_SUCCESS) {
		refuse("times, faults and migrations", result);
		return;
	}
	start_flushing();
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].kind == UM_CUPTI_UNIFIED_MEMORY)
			continue; /* after the driver's start */
		result = um_tap.cupti.activity_enable(kinds[i].kind);
		if (result != UM_CUPTI_SUCCESS)
			refuse(kinds[i].refused, result);
	}
}

/* What is asked for from which um_tap_faults on. */
static const struct {
	uint32_t counter;
	uint32_t faults;
} counters[] = {
	{UM_CUPTI_BYTES_HTOD, UM_TAP_FAULTS_OFF}, {UM_CUPTI_BYTES_DTOH, UM_TAP_FAULTS_OFF},
	{UM_CUPTI_BYTES_DTOD, UM_TAP_FAULTS_OFF}, {UM_CUPTI_THRASHING, UM_TAP_FAULTS_OFF},
	{UM_CUPTI_THROTTLING, UM_TAP_FAULTS_OFF}, {UM_CUPTI_REMOTE_MAP, UM_TAP_FAULTS_OFF},
	{UM_CUPTI_GPU_FAULT, UM_TAP_FAULTS_GPU},  {UM_CUPTI_CPU_FAULT, UM_TAP_FAULTS_ALL},
};
#define COUNTERS (sizeof(counters) / sizeof(*counters))

void um_tap_start_counters(void)
{
	static atomic_bool done;
	struct um_cupti_counter_config config[COUNTERS];
	uint32_t count = 0;

	if (atomic_exchange(&done, true))
		return;
	for (size_t i = 0; i < COUNTERS; i++)
		if (counters[i].faults <= um_tap.faults)
			config[count++] = (struct um_cupti_counter_config){
				.scope = UM_CUPTI_SCOPE_SINGLE_DEVICE,
				.counter = counters[i].counter,
				.enable = 1,
			};
	int result = um_tap.cupti.configure_counters(config, count);

	if (result == UM_CUPTI_SUCCESS)
		result = um_tap.cupti.activity_enable(UM_CUPTI_UNIFIED_MEMORY);
	if (result != UM_CUPTI_SUCCESS)
		refuse(kind_of(UM_CUPTI_UNIFIED_MEMORY)->refused, result);
}
