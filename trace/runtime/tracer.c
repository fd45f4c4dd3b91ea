/*
 * A signal handler that calls HIP within a HIP call of its own thread finds the spool taken: its
 * records are lost and counted (UM_LOSS_SIGNAL_HANDLER).
 */
#include "tracer.h"
#include "tracer_environment.h"
#include "tracer_host_access.h"
#include "arena.h"
#include "hostwatch.h"
#include "pageable.h"
#include "process_xnack.h"
#include "recorder.h"
#include "runtime.h"
#include "../spool/spool_ring.h"
#include "trace/compiler/device/device_abi.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RUNTIME_NAME "umtrace HIP runtime " UM_VERSION " (HIP 5.2)"
#define RUNS_AT_ONCE 1024u
#define TEXT_MAX     1024u
#define AROUND_PAGES 512u /* 2 MiB, before and behind what advice names */

static enum {
	OFF,
	WAITING, /* umtrace started a program without HIP so far: a shell, an interpreter */
	ON,
	CHILD, /* of a fork of a traced program */
} state;

static struct um_spool_writer *writer;
static uint32_t last_op, last_thread;
static _Thread_local uint32_t thread;
/* Shared with the children: how many of them used HIP. */
static _Atomic uint64_t *children;
static uint64_t busy_launches; /* while other host threads ran */
static uint64_t wrong_names;

/*
 * What goes before the first record, and no sooner: a program may set HSA_XNACK in main(), as AMD's
 * runtime reads it at the first call of HIP.
 */
static struct {
	bool is_told;
	enum um_host_watch host_watch;
	uint64_t start_ns;
} greeting;

/* The interval in which the host is watched. */
static struct {
	bool open;
	/* bit d: since device d was last waited for, touches may race with it */
	uint32_t device_work;
	uint64_t start_ns;
} interval;

/* The HOST op before the launch under way; umtrace --pageable keeps a number for it. */
static struct {
	uint32_t op;
	bool is_put;
	uint64_t at_ns;
} before_launch;

/* The HOST op that is being written. */
static struct {
	uint32_t op;
	_Alignas(8) char pages[sizeof(struct um_record_pages) +
			       RUNS_AT_ONCE * sizeof(struct um_page_run)];
} host;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

uint32_t um_tracer_thread(void)
{
	if (!thread)
		thread = ++last_thread;
	return thread;
}

static void ignore_run(uint64_t first_page, uint64_t pages, uint32_t touch, void *context)
{
	(void)first_page;
	(void)pages;
	(void)touch;
	(void)context;
}

static void switch_off(void)
{
	state = OFF;
	um_hostwatch_collect(ignore_run, NULL);
	um_hostwatch_open(); /* for good */
	um_spool_detach(writer);
	writer = NULL;
}

static void put_greeting(void);

static void put(const struct um_record *record)
{
	if (state == ON && !greeting.is_told) {
		greeting.is_told = true;
		put_greeting();
	}
	if (state == ON && !um_spool_put(writer, record))
		switch_off();
}

/* --- start and end --- */

static void in_child(void)
{
	if (state == OFF)
		return;
	state = CHILD;
	um_spool_detach(writer);
	writer = NULL;
}

static void put_hello(void)
{
	struct um_record_hello hello = {
		.header = {sizeof(hello), UM_RECORD_HELLO, 0},
		.spool_version = UM_SPOOL_VERSION,
		.pid = (uint32_t)getpid(),
		.backend = UM_BACKEND_EMULATED,
		.host_watch = greeting.host_watch,
		.filter_pages = UM_STREAM_FILTER_PAGES,
		.requests = um_spool_config(writer)->requests,
		.pageable = um_spool_config(writer)->pageable,
		.host_sync = um_spool_config(writer)->host_sync,
		.xnack = um_device_get(0)->xnack,
		.hsa_xnack = um_hsa_xnack(),
		.start_ns = greeting.start_ns,
		.runtime = RUNTIME_NAME,
	};

	put(&hello.header);
}

static void put_devices(void)
{
	for (uint32_t device = 0; device < um_device_count(); device++) {
		const struct um_played_device *played = um_device_get(device);
		struct um_record_device record = {
			.header = {sizeof(record), UM_RECORD_DEVICE, 0},
			.device = device,
			.compute_units = played->compute_units,
			.memory_bytes = played->memory_bytes,
			.wave_lanes = UM_WAVE_LANES,
		};

		memcpy(record.name, played->name, sizeof(record.name));
		memcpy(record.arch, played->arch, sizeof(record.arch));
		put(&record.header);
	}
}

static void put_host_watch_limits(void)
{
	const char *limits = um_hostwatch_limits();

	if (greeting.host_watch == UM_HOST_WATCH_NONE)
		limits = um_spool_config(writer)->host_watch == UM_HOST_WATCH_NONE
				 ? "switched off (--host-watch=none)"
				 : "no way of watching that was asked for works on this system";
	if (limits)
		um_tracer_loss(0, UM_LOSS_HOST_UNWATCHED, 1, limits);
}

static void put_greeting(void)
{
	put_hello();
	put_devices();
	put_host_watch_limits();
}

static void go_on(void)
{
	char path[PATH_MAX] = "";
	const char *spool = um_environment_spool();

	state = OFF;
	memccpy(path, spool, '\0', sizeof(path) - 1);
	um_environment_clean();
	if (um_spool_attach(&writer, path))
		return;
	if (um_spool_config(writer)->set_nvtx)
		um_environment_remove("NVTX_INJECTION64_PATH");
	children = mmap(NULL, sizeof(*children), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (children == MAP_FAILED)
		children = NULL;
	pthread_atfork(NULL, NULL, in_child);
	state = ON;
	if (um_spool_config(writer)->host_sync)
		um_hostwatch_ask_places();
	greeting.host_watch = um_hostwatch_init(um_spool_config(writer)->host_watch);
	greeting.start_ns = now_ns();
	um_recorder_requests = um_spool_config(writer)->requests;
	um_pageable = um_spool_config(writer)->pageable;
	interval.open = true;
	interval.start_ns = greeting.start_ns;
}

void um_tracer_attach(void)
{
	if (!um_environment_spool())
		return;
	um_environment_begin();
	state = WAITING;
	if (um_program_uses_hip())
		go_on();
}

bool um_tracer_on(void)
{
	if (state == WAITING)
		go_on();
	if (state == CHILD) {
		state = OFF;
		if (children)
			atomic_fetch_add(children, 1);
	}
	return state == ON;
}

bool um_tracer_uses_hip(void)
{
	return state == ON;
}

const struct um_spool_config *um_tracer_config(void)
{
	return um_tracer_on() ? um_spool_config(writer) : NULL;
}

void um_tracer_put(const struct um_record *record)
{
	if (um_tracer_on())
		put(record);
}

/* --- what the host touched --- */

static struct um_record_pages *host_pages(void)
{
	return (struct um_record_pages *)host.pages;
}

static void put_pages(void)
{
	struct um_record_pages *pages = host_pages();

	if (!pages->runs)
		return;
	pages->header.bytes = (uint32_t)(sizeof(*pages) + pages->runs * sizeof(pages->run[0]));
	pages->header.kind = UM_RECORD_PAGES;
	pages->op = host.op;
	put(&pages->header);
	pages->runs = 0;
}

static void put_host_op(uint32_t number, uint64_t end_ns)
{
	struct um_record_op op = {
		.header = {sizeof(op), UM_RECORD_OP, 0},
		.op = number,
		.kind = UM_OP_HOST,
		.start_ns = interval.start_ns,
		.end_ns = end_ns,
	};

	put(&op.header);
}

/* The op is written with its first run: an interval without touches leaves none. */
static void begin_host_op(void)
{
	host.op = ++last_op;
	put_host_op(host.op, now_ns());
}

static void keep_host_op(void)
{
	before_launch.is_put = host.op && host.op == last_op;
	before_launch.op = before_launch.is_put ? host.op : ++last_op;
	before_launch.at_ns = now_ns();
}

uint32_t um_tracer_host_op(void)
{
	if (!um_tracer_on())
		return 0;
	if (!before_launch.is_put)
		put_host_op(before_launch.op, before_launch.at_ns);
	before_launch.is_put = true;
	return before_launch.op;
}

/* A run lies within one range that was watched, so within one allocation. */
static void note_host_run(uint64_t first_page, uint64_t pages, uint32_t touch, void *context)
{
	const struct um_allocation *allocation = um_arena_by_id(um_arena.page_owner[first_page]);

	(void)context;
	if (!allocation)
		return;
	if (!host.op)
		begin_host_op();
	struct um_record_pages *record = host_pages();

	record->run[record->runs++] = (struct um_page_run){
		.allocation = allocation->id,
		.first_page = (uint32_t)(first_page - (allocation->offset >> UM_PAGE_SHIFT)),
		.pages = (uint32_t)pages,
		.touch = touch | UM_TOUCH_LINES_UNKNOWN,
	};
	if (record->runs == RUNS_AT_ONCE)
		put_pages();
	um_tracer_host_access(host.op, allocation, first_page, pages);
}

static void note_trouble(void)
{
	const char *trouble = um_hostwatch_trouble();

	if (trouble)
		um_tracer_loss(0, UM_LOSS_HOST_UNWATCHED, 1, trouble);
}

static void end_to_note(void)
{
	put_pages();
	um_tracer_host_access_end();
	note_trouble();
}

static void begin_to_note(void)
{
	host.op = 0;
	host_pages()->runs = 0;
}

static void end_interval(void)
{
	begin_to_note();
	um_hostwatch_collect(note_host_run, NULL);
	end_to_note();
	interval.open = false;
}

static void begin_interval(void)
{
	um_hostwatch_arm();
	note_trouble();
	interval.open = true;
	interval.start_ns = now_ns();
}

/* What the host touched so far is an op of its own. */
static void split_interval(void)
{
	if (!interval.open)
		return;
	end_interval();
	if (state == ON)
		begin_interval();
}

/* --- ops --- */

static bool frees_managed(const struct um_record_op *op)
{
	const struct um_allocation *allocation = um_arena_by_id(op->allocation);

	return allocation && allocation->kind == UM_ALLOCATION_MANAGED;
}

/*
 * Device operations end the interval, and so does a free of what may have been touched. A
 * synchronisation does while device work may be under way: touches before it are a race and must
 * not be taken for touches after it.
 */
static bool ends_interval(const struct um_record_op *op)
{
	switch (op->kind) {
	case UM_OP_LAUNCH:
	case UM_OP_COPY:
	case UM_OP_MEMSET:
	case UM_OP_PREFETCH:
		return true;
	case UM_OP_SYNC_DEVICE:
	case UM_OP_SYNC_STREAM:
	case UM_OP_EVENT_SYNC:
	case UM_OP_EVENT_QUERY:
	case UM_OP_STREAM_QUERY:
		return interval.device_work != 0;
	case UM_OP_FREE:
		return frees_managed(op);
	default:
		return false;
	}
}

/* How much around the pages that it names an op splits; -1: it splits nothing. */
static int64_t pages_around(uint16_t kind)
{
	switch (kind) {
	case UM_OP_ADVISE:
	case UM_OP_ATTACH:
		return AROUND_PAGES;
	case UM_OP_NAME:
	case UM_OP_NAME_END:
		return 0;
	default:
		return -1;
	}
}

/*
 * Before advice and attachment a touch means something else than after. Whole intervals would cost as
 * much as all managed memory is large, so only what is around the pages that they name is told:
 * drivers look no further than a block of 2 MiB. What is touched before a part begins or ends is told
 * apart from what comes after it.
 */
static void split_around(const struct um_record_op *op)
{
	const struct um_allocation *allocation = um_arena_by_id(op->allocation);
	int64_t pages = pages_around(op->kind);

	if (pages < 0 || !allocation)
		return;
	uint64_t start = allocation->offset + op->offset, around = (uint64_t)pages;
	uint64_t first = start >> UM_PAGE_SHIFT;
	uint64_t last = (start + (op->bytes ? op->bytes - 1 : 0)) >> UM_PAGE_SHIFT;

	begin_to_note();
	um_hostwatch_split(first > around ? first - around : 0, last + 1 + around, note_host_run,
			   NULL);
	end_to_note();
}

static void note_device_work(const struct um_record_op *op)
{
	int device = op->kind == UM_OP_PREFETCH ? (int)op->value : op->device;

	if (op->kind == UM_OP_SYNC_DEVICE)
		interval.device_work &= ~(1u << device);
	if (op->kind == UM_OP_LAUNCH || op->flags & UM_OP_ASYNC)
		interval.device_work |= 1u << device;
}

/* The link count of the folder of threads: 2, and one for each. */
static bool other_threads_run(void)
{
	struct stat tasks;

	if (__libc_single_threaded || stat("/proc/self/task", &tasks))
		return false;
	return tasks.st_nlink > 3 + um_hostwatch_threads();
}

/* The first is told at once, in case there is no end of the program to tell the sum at. */
static void note_busy_launch(uint32_t op)
{
	if (other_threads_run() && busy_launches++ == 0)
		um_tracer_loss(op, UM_LOSS_HOST_DURING_KERNEL, 1, "other host threads ran");
}

/* Ours come where the host's touches were told already, or touch nothing that it can have touched. */
static void flush_before(const struct um_record_op *op)
{
	if (op->flags & UM_OP_POLICY)
		return;
	if (interval.open && ends_interval(op))
		end_interval();
	else if (interval.open)
		split_around(op);
	note_device_work(op);
}

void um_tracer_split(void)
{
	if (um_tracer_on())
		split_interval();
}

void um_tracer_pass_over(struct um_record_op *op)
{
	if (!um_tracer_on())
		return;
	flush_before(op);
	if (!interval.open && state == ON)
		begin_interval();
}

void *um_tracer_apply_table(size_t *bytes)
{
	return um_tracer_on() ? um_spool_apply_table(writer, bytes) : NULL;
}

uint32_t um_tracer_op_begin(struct um_record_op *op)
{
	if (!um_tracer_on())
		return 0;
	if (op->kind == UM_OP_PROFILER_START || op->kind == UM_OP_PROFILER_STOP)
		split_interval();
	else
		flush_before(op);
	if (op->kind == UM_OP_LAUNCH && um_pageable)
		keep_host_op();
	op->header = (struct um_record){sizeof(*op), UM_RECORD_OP, 0};
	op->op = ++last_op;
	op->thread = um_tracer_thread();
	op->start_ns = now_ns();
	op->end_ns = 0;
	if (op->kind == UM_OP_LAUNCH) {
		um_hostwatch_open();
		put(&op->header); /* now: it is what a crash inside the kernel is known by */
		note_busy_launch(op->op);
	}
	return op->op;
}

void um_tracer_op_end(struct um_record_op *op, int result)
{
	if (state != ON || !op->op)
		return;
	op->end_ns = now_ns();
	op->result = result;
	put(&op->header);
	if (!interval.open && state == ON)
		begin_interval();
}

/* --- ranges --- */

bool um_tracer_ranges_on(void)
{
	return state != CHILD && um_tracer_on();
}

static void put_range_name(uint32_t op, const char *name)
{
	_Alignas(8) char buffer[sizeof(struct um_record_range) + UM_RANGE_NAME_BYTES] = {0};
	struct um_record_range *range = (struct um_record_range *)buffer;
	size_t name_bytes = strnlen(name, UM_RANGE_NAME_BYTES - 1);

	range->header.bytes = (uint32_t)((sizeof(*range) + name_bytes + 1 + 7) & ~7ul);
	range->header.kind = UM_RECORD_RANGE;
	range->op = op;
	memcpy(range->name, name, name_bytes);
	put(&range->header);
}

void um_tracer_range_begin(struct um_record_op *op, const char *name)
{
	if (!um_tracer_ranges_on())
		return;
	split_interval();
	op->header = (struct um_record){sizeof(*op), UM_RECORD_OP, 0};
	op->op = ++last_op;
	op->thread = um_tracer_thread();
	op->start_ns = now_ns();
	op->end_ns = 0;
	put(&op->header);
	put_range_name(op->op, name);
}

void um_tracer_mark(struct um_record_op *op, const char *name)
{
	um_tracer_range_begin(op, name);
	if (state != ON || !op->op)
		return;
	op->end_ns = op->start_ns;
	put(&op->header);
}

void um_tracer_range_end(struct um_record_op *op)
{
	if (state != ON || !op->op)
		return;
	split_interval();
	op->end_ns = now_ns();
	put(&op->header);
}

/* --- names --- */

void um_tracer_part(const struct um_record_op *op, const char *name, bool whole)
{
	_Alignas(8) char buffer[sizeof(struct um_record_part) + UM_RANGE_NAME_BYTES] = {0};
	struct um_record_part *part = (struct um_record_part *)buffer;
	size_t name_bytes = strnlen(name, UM_RANGE_NAME_BYTES - 1);

	if (state != ON || !op->op)
		return;
	part->header.bytes = (uint32_t)((sizeof(*part) + name_bytes + 1 + 7) & ~7ul);
	part->header.kind = UM_RECORD_PART;
	part->op = op->op;
	part->allocation = op->allocation;
	part->offset = op->offset;
	part->bytes = op->bytes;
	part->site = op->site;
	part->whole = whole;
	memcpy(part->name, name, name_bytes);
	put(&part->header);
}

void um_tracer_wrong_name(uint32_t op)
{
	if (state == ON && wrong_names++ == 0)
		um_tracer_loss(op, UM_LOSS_NAME, 1, UM_WRONG_NAME_TEXT);
}

/* --- losses --- */

void um_tracer_loss(uint32_t op, enum um_loss_kind kind, uint64_t count, const char *text)
{
	_Alignas(8) char buffer[sizeof(struct um_record_loss) + TEXT_MAX] = {0};
	struct um_record_loss *loss = (struct um_record_loss *)buffer;
	size_t text_bytes = text ? strnlen(text, TEXT_MAX - 1) : 0;

	if (!um_tracer_on())
		return;
	loss->header.bytes = (uint32_t)((sizeof(*loss) + text_bytes + 1 + 7) & ~7ul);
	loss->header.kind = UM_RECORD_LOSS;
	loss->op = op;
	loss->kind = kind;
	loss->count = count;
	if (text_bytes)
		memcpy(loss->text, text, text_bytes);
	put(&loss->header);
}

static void put_sums(void)
{
	uint64_t used = children ? atomic_load(children) : 0;
	uint64_t refused = um_spool_refused(writer);

	if (busy_launches > 1)
		um_tracer_loss(0, UM_LOSS_HOST_DURING_KERNEL, busy_launches - 1,
			       "other host threads ran");
	if (wrong_names > 1)
		um_tracer_loss(0, UM_LOSS_NAME, wrong_names - 1, UM_WRONG_NAME_TEXT);
	if (used)
		um_tracer_loss(0, UM_LOSS_CHILD, used, "forked children that used HIP");
	if (um_pageable_shrunk())
		um_tracer_loss(0, UM_LOSS_PARTLY_UNMAPPED, um_pageable_shrunk(),
			       "mappings that kernels had used lost a part: its memory counts as "
			       "freed with the rest");
	if (refused && state == ON)
		um_tracer_loss(0, UM_LOSS_SIGNAL_HANDLER, refused,
			       "records of HIP calls made by a signal handler within a HIP call");
}

void um_tracer_bye(void)
{
	if (state != ON)
		return;
	if (interval.open)
		end_interval();
	if (state == ON)
		put_sums();
	struct um_record_bye bye = {{sizeof(bye), UM_RECORD_BYE, 0}, now_ns()};

	put(&bye.header);
	if (state == ON)
		switch_off();
}
