/* What the tracer writes, read as umtrace would: a child plays the program, the parent reads the
 * ring. */
#include "trace/runtime/arena.h"
#include "trace/runtime/hostwatch.h"
#include "trace/runtime/runtime.h"
#include "trace/runtime/tracer.h"
#include "trace/runtime/tracer_environment.h"
#include "trace/runtime/tracer_site.h"
#include "trace/spool/spool_ring.h"
#include "trace/spool/spool_stack.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_RECORDS 8192

/* Failures inside a child: cmocka's assertions belong to the parent. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* --- the program --- */

static void attach_now(void)
{
	um_tracer_attach();
	CHECK(um_tracer_on());
}

static struct um_allocation *allocate(uint32_t kind, uint64_t pages)
{
	struct um_allocation *allocation = NULL;

	CHECK(!um_arena_alloc(&allocation, kind, pages * UM_PAGE_BYTES));
	if (kind == UM_ALLOCATION_MANAGED)
		um_hostwatch_add(allocation->offset, pages * UM_PAGE_BYTES);
	return allocation;
}

static uint32_t begin_and_end(enum um_op_kind kind, uint32_t allocation)
{
	struct um_record_op op = {.kind = (uint16_t)kind, .allocation = allocation, .stream = 3};
	uint32_t id = um_tracer_op_begin(&op);

	um_tracer_op_end(&op, 0);
	return id;
}

static char *page_of(const struct um_allocation *allocation, uint64_t page)
{
	return um_arena.base + allocation->offset + page * UM_PAGE_BYTES;
}

/* --- umtrace --- */

static struct um_record *records[MAX_RECORDS];
static size_t record_count;

static void forget_records(void)
{
	for (size_t i = 0; i < record_count; i++)
		free(records[i]);
	record_count = 0;
}

static void drain(struct um_spool_reader *reader)
{
	const struct um_record *record;
	int error = 0;

	while ((record = um_spool_next(reader, &error))) {
		assert_true(record_count < MAX_RECORDS);
		records[record_count] = malloc(record->bytes);
		memcpy(records[record_count++], record, record->bytes);
	}
	assert_int_equal(error, 0);
}

/* Runs `program` in a child that umtrace would have started; its records are in `records`. */
static int run(void (*program)(void))
{
	static const struct um_spool_config config = {
		.requests = 1, .host_watch = UM_HOST_WATCH_BEST, .devices = 2, .xnack = 1};
	struct um_spool_reader *reader = NULL;
	int status = 0;

	forget_records();
	assert_int_equal(um_spool_create(&reader, NULL, 0, &config), 0);
	pid_t pid = fork();

	if (pid == 0) {
		alarm(30);
		setenv("UMTRACE_SPOOL", um_spool_path(reader), 1);
		program();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	drain(reader);
	um_spool_destroy(reader);
	return status;
}

/* The n-th record of a kind, from 0; NULL if there are not so many. */
static const void *record(enum um_record_kind kind, size_t n)
{
	for (size_t i = 0; i < record_count; i++)
		if (records[i]->kind == kind && n-- == 0)
			return records[i];
	return NULL;
}

static const struct um_record_op *op(size_t n)
{
	return record(UM_RECORD_OP, n);
}

static const struct um_record_loss *loss_of(enum um_loss_kind kind)
{
	const struct um_record_loss *loss;

	for (size_t n = 0; (loss = record(UM_RECORD_LOSS, n)); n++)
		if (loss->kind == kind)
			return loss;
	return NULL;
}

/* --- beginning and end --- */

static void only_attaches(void)
{
	attach_now();
	const struct um_spool_config *config = um_tracer_config();

	CHECK(config && config->devices == 2);
	um_tracer_bye();
	CHECK(!um_tracer_on() && !um_tracer_config());
	um_tracer_bye();
	CHECK(um_tracer_site(UM_STACK_OWN_SLOT) == 0 && begin_and_end(UM_OP_COPY, 0) == 0);
}

static void hello_devices_bye(void **state)
{
	(void)state;
	assert_int_equal(run(only_attaches), 0);
	const struct um_record_hello *hello = (const void *)records[0];

	assert_int_equal(hello->header.kind, UM_RECORD_HELLO);
	assert_int_equal(hello->header.bytes, sizeof(*hello));
	assert_int_equal(hello->spool_version, UM_SPOOL_VERSION);
	assert_int_equal(hello->backend, UM_BACKEND_EMULATED);
	assert_int_equal(hello->requests, 1);
	assert_true(hello->start_ns > 0);
	assert_non_null(strstr(hello->runtime, "umtrace"));
	for (unsigned i = 0; i < 2; i++) {
		const struct um_record_device *device = record(UM_RECORD_DEVICE, i);

		assert_non_null(device);
		assert_int_equal(device->device, i);
		assert_true(device->memory_bytes > 0 && device->name[0] && device->arch[0]);
	}
	assert_null(record(UM_RECORD_DEVICE, 2));
	assert_int_equal(records[record_count - 1]->kind, UM_RECORD_BYE);
	assert_null(record(UM_RECORD_BYE, 1));
	assert_true(((const struct um_record_bye *)records[record_count - 1])->end_ns >=
		    hello->start_ns);
}

static void not_started_by_umtrace(void **state)
{
	(void)state;
	um_tracer_attach();
	assert_false(um_tracer_on());
	assert_null(um_tracer_config());
	assert_int_equal(begin_and_end(UM_OP_LAUNCH, 0), 0);
	assert_int_equal(um_tracer_site(UM_STACK_OWN_SLOT), 0);
	um_tracer_loss(0, UM_LOSS_OUTSIDE, 1, "");
	um_tracer_bye();
}

/* --- ops and what the host touched --- */

static void touches_between_ops(void)
{
	attach_now();
	struct um_allocation *first = allocate(UM_ALLOCATION_MANAGED, 4);
	struct um_allocation *second = allocate(UM_ALLOCATION_MANAGED, 3);
	struct um_allocation *device = allocate(UM_ALLOCATION_DEVICE, 4);

	memset(page_of(first, 0), 1, 3 * UM_PAGE_BYTES);
	memset(page_of(second, 0), 1, UM_PAGE_BYTES);
	(void)*(volatile char *)page_of(second, 2);
	*page_of(device, 0) = 1;
	begin_and_end(UM_OP_STREAM_CREATE, 0); /* makes no touch another one */
	begin_and_end(UM_OP_LAUNCH, 0);
	begin_and_end(UM_OP_COPY, first->id); /* nothing was touched since */
	*page_of(first, 3) = 1;
	begin_and_end(UM_OP_FREE, device->id); /* not managed */
	begin_and_end(UM_OP_FREE, first->id);
	um_hostwatch_remove(first->offset, 4 * UM_PAGE_BYTES);
	um_arena_free(first);
	(void)*(volatile char *)page_of(second, 1);
	um_tracer_bye();
}

static void check_run(const struct um_page_run *run, uint32_t allocation, uint32_t first_page,
		      uint32_t pages, uint32_t touch)
{
	assert_int_equal(run->allocation, allocation);
	assert_int_equal(run->first_page, first_page);
	assert_int_equal(run->pages, pages);
	assert_int_equal(run->touch, touch | UM_TOUCH_LINES_UNKNOWN);
	assert_int_equal(run->lines_read | run->lines_written | run->requests | run->atomics, 0);
}

static void check_op(size_t n, uint32_t id, enum um_op_kind kind)
{
	assert_non_null(op(n));
	assert_int_equal(op(n)->op, id);
	assert_int_equal(op(n)->kind, kind);
	assert_int_equal(op(n)->thread, kind == UM_OP_HOST ? 0 : 1);
	assert_int_equal(op(n)->stream, kind == UM_OP_HOST ? 0 : 3);
}

static bool host_is_watched(void)
{
	return ((const struct um_record_hello *)records[0])->host_watch != UM_HOST_WATCH_NONE;
}

static void host_ops(void **state)
{
	(void)state;
	assert_int_equal(run(touches_between_ops), 0);
	if (!host_is_watched())
		skip();
	check_op(0, 1, UM_OP_STREAM_CREATE);
	check_op(1, 2, UM_OP_HOST);
	check_op(2, 3, UM_OP_LAUNCH); /* as it begins */
	assert_int_equal(op(2)->end_ns, 0);
	check_op(3, 3, UM_OP_LAUNCH); /* as it ended */
	assert_true(op(3)->end_ns >= op(3)->start_ns && op(3)->start_ns == op(2)->start_ns);
	assert_true(op(1)->start_ns <= op(1)->end_ns && op(1)->end_ns <= op(2)->start_ns);
	check_op(4, 4, UM_OP_COPY);
	check_op(5, 5, UM_OP_FREE);
	check_op(6, 6, UM_OP_HOST);
	check_op(7, 7, UM_OP_FREE);
	check_op(8, 8, UM_OP_HOST); /* at the end */
	assert_null(op(9));

	const struct um_record_pages *pages = record(UM_RECORD_PAGES, 0);

	assert_int_equal(pages->op, 2);
	assert_int_equal(pages->runs, 3);
	assert_int_equal(pages->header.bytes, sizeof(*pages) + 3 * sizeof(pages->run[0]));
	check_run(pages->run + 0, 1, 0, 3, UM_TOUCH_WRITTEN);
	check_run(pages->run + 1, 2, 0, 1, UM_TOUCH_WRITTEN);
	check_run(pages->run + 2, 2, 2, 1, UM_TOUCH_READ);
	pages = record(UM_RECORD_PAGES, 1);
	assert_int_equal(pages->op, 6);
	assert_int_equal(pages->runs, 1);
	check_run(pages->run, 1, 3, 1, UM_TOUCH_WRITTEN);
	pages = record(UM_RECORD_PAGES, 2);
	assert_int_equal(pages->op, 8);
	check_run(pages->run, 2, 1, 1, UM_TOUCH_READ);
	assert_null(record(UM_RECORD_PAGES, 3));
}

/* One page before each, and one at the end. */
static void touches_before_advice(void)
{
	static const enum um_op_kind kinds[] = {UM_OP_ADVISE, UM_OP_PREFETCH, UM_OP_ATTACH,
						UM_OP_MEMSET};
	uint64_t page = 0;

	attach_now();
	struct um_allocation *managed = allocate(UM_ALLOCATION_MANAGED, 5);

	for (; page < 4; page++) {
		*page_of(managed, page) = 1;
		begin_and_end(kinds[page], managed->id);
		begin_and_end(kinds[page], managed->id); /* nothing was touched since */
	}
	*page_of(managed, page) = 1;
	um_tracer_bye();
}

static void touches_stand_before_what_changes_their_meaning(void **state)
{
	static const enum um_op_kind kinds[] = {
		UM_OP_HOST,	UM_OP_ADVISE, UM_OP_ADVISE, UM_OP_HOST,	  UM_OP_PREFETCH,
		UM_OP_PREFETCH, UM_OP_HOST,   UM_OP_ATTACH, UM_OP_ATTACH, UM_OP_HOST,
		UM_OP_MEMSET,	UM_OP_MEMSET, UM_OP_HOST};
	const size_t count = sizeof(kinds) / sizeof(kinds[0]);

	(void)state;
	assert_int_equal(run(touches_before_advice), 0);
	if (!host_is_watched())
		skip();
	for (uint32_t n = 0; n < count; n++)
		check_op(n, n + 1, kinds[n]);
	assert_null(op(count));
	for (uint32_t n = 0; n < 5; n++) {
		const struct um_record_pages *pages = record(UM_RECORD_PAGES, n);

		assert_int_equal(pages->op, 3 * n + 1);
		assert_int_equal(pages->runs, 1);
		check_run(pages->run, 1, n, 1, UM_TOUCH_WRITTEN);
	}
}

/* 2 MiB from what advice names it makes no difference when a page was touched. */
static void touches_far_from_advice(void)
{
	struct um_record_op advice = {.kind = UM_OP_ADVISE, .bytes = UM_PAGE_BYTES};

	attach_now();
	struct um_allocation *managed = allocate(UM_ALLOCATION_MANAGED, 4000);

	*page_of(managed, 0) = 1;
	*page_of(managed, 1500) = 1;
	*page_of(managed, 3999) = 1;
	advice.allocation = managed->id;
	advice.offset = 1600 * UM_PAGE_BYTES;
	um_tracer_op_begin(&advice);
	um_tracer_op_end(&advice, 0);
	*page_of(managed, 1500) = 1; /* again */
	um_tracer_bye();
}

static void what_is_far_is_told_later(void **state)
{
	const struct um_record_pages *pages;

	(void)state;
	assert_int_equal(run(touches_far_from_advice), 0);
	if (!host_is_watched())
		skip();
	assert_int_equal(op(0)->kind, UM_OP_HOST);
	assert_int_equal(op(1)->kind, UM_OP_ADVISE);
	assert_int_equal(op(2)->kind, UM_OP_HOST);
	pages = record(UM_RECORD_PAGES, 0);
	assert_int_equal(pages->runs, 1);
	check_run(pages->run, 1, 1500, 1, UM_TOUCH_WRITTEN);
	pages = record(UM_RECORD_PAGES, 1);
	assert_int_equal(pages->runs, 3);
	for (uint32_t i = 0; i < 3; i++)
		check_run(pages->run + i, 1, (const uint32_t[]){0, 1500, 3999}[i], 1,
			  UM_TOUCH_WRITTEN);
}

/* Every other page: more runs than one record holds. */
static void many_runs(void)
{
	attach_now();
	struct um_allocation *big = allocate(UM_ALLOCATION_MANAGED, 10000);

	for (uint64_t page = 0; page < 10000; page += 2)
		*page_of(big, page) = 1;
	begin_and_end(UM_OP_LAUNCH, 0);
}

static void long_host_ops(void **state)
{
	uint32_t expected = 0;

	(void)state;
	assert_int_equal(run(many_runs), 0);
	if (!host_is_watched())
		skip();
	for (size_t n = 0; record(UM_RECORD_PAGES, n); n++) {
		const struct um_record_pages *pages = record(UM_RECORD_PAGES, n);

		assert_int_equal(pages->op, 1);
		for (uint32_t i = 0; i < pages->runs; i++, expected += 2)
			check_run(pages->run + i, 1, expected, 1, UM_TOUCH_WRITTEN);
	}
	assert_int_equal(expected, 10000);
	assert_int_equal(op(1)->op, 2);
}

/* A touch before the synchronisation is a race, and must not move behind it. */
static void touch_before_sync(void)
{
	attach_now();
	struct um_allocation *managed = allocate(UM_ALLOCATION_MANAGED, 4);

	begin_and_end(UM_OP_LAUNCH, 0);
	(void)*(volatile char *)page_of(managed, 1);
	begin_and_end(UM_OP_SYNC_DEVICE, 0);
	(void)*(volatile char *)page_of(managed, 2);
	begin_and_end(UM_OP_SYNC_DEVICE, 0); /* nothing under way: the interval goes on */
	(void)*(volatile char *)page_of(managed, 3);
	um_tracer_bye();
}

static void synchronisation_splits_intervals(void **state)
{
	(void)state;
	assert_int_equal(run(touch_before_sync), 0);
	if (!host_is_watched())
		skip();
	check_op(2, 2, UM_OP_HOST);
	check_op(3, 3, UM_OP_SYNC_DEVICE);
	check_op(4, 4, UM_OP_SYNC_DEVICE);
	check_op(5, 5, UM_OP_HOST);
	check_run(((const struct um_record_pages *)record(UM_RECORD_PAGES, 0))->run, 1, 1, 1,
		  UM_TOUCH_READ);
	check_run(((const struct um_record_pages *)record(UM_RECORD_PAGES, 1))->run, 1, 2, 2,
		  UM_TOUCH_READ);
}

/* --- ranges --- */

#define LONG_NAME_BYTES (2 * UM_RANGE_NAME_BYTES)

/* The first page is touched before the first range, the second in it, the third after it. */
static void names_ranges(void)
{
	struct um_record_op range = {.kind = UM_OP_RANGE}, mark = range, open_range = range;
	char long_name[LONG_NAME_BYTES];

	attach_now();
	struct um_allocation *managed = allocate(UM_ALLOCATION_MANAGED, 4);

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	*page_of(managed, 0) = 1;
	um_tracer_range_begin(&range, "\xe9");
	*page_of(managed, 1) = 1;
	um_tracer_range_end(&range);
	*page_of(managed, 2) = 1;
	um_tracer_mark(&mark, "");
	um_tracer_range_begin(&open_range, long_name);
	um_tracer_bye();
}

static void check_range(size_t n, uint32_t id, const char *name)
{
	const struct um_record_range *range = record(UM_RECORD_RANGE, n);

	assert_non_null(range);
	assert_int_equal(range->op, id);
	assert_string_equal(range->name, name);
}

static void ranges_split_what_the_host_touched(void **state)
{
	static const struct {
		uint32_t id;
		enum um_op_kind kind;
		bool ended;
	} expected[] = {{1, UM_OP_HOST, true},	{2, UM_OP_RANGE, false}, {3, UM_OP_HOST, true},
			{2, UM_OP_RANGE, true}, {4, UM_OP_HOST, true},	 {5, UM_OP_RANGE, false},
			{5, UM_OP_RANGE, true}, {6, UM_OP_RANGE, false}};
	char cut[UM_RANGE_NAME_BYTES];

	(void)state;
	assert_int_equal(run(names_ranges), 0);
	if (!host_is_watched())
		skip();
	for (size_t n = 0; n < sizeof(expected) / sizeof(expected[0]); n++) {
		assert_int_equal(op(n)->op, expected[n].id);
		assert_int_equal(op(n)->kind, expected[n].kind);
		assert_int_equal(op(n)->end_ns != 0, expected[n].ended);
	}
	assert_null(op(sizeof(expected) / sizeof(expected[0])));
	assert_int_equal(op(6)->start_ns, op(6)->end_ns);
	for (uint32_t n = 0; n < 3; n++)
		check_run(((const struct um_record_pages *)record(UM_RECORD_PAGES, n))->run, 1, n,
			  1, UM_TOUCH_WRITTEN);
	memset(cut, 'x', sizeof(cut) - 1);
	cut[sizeof(cut) - 1] = '\0';
	check_range(0, 2, "\xe9");
	check_range(1, 5, "");
	check_range(2, 6, cut);
}

static void ranges_in_a_child(void)
{
	struct um_record_op range = {.kind = UM_OP_RANGE};

	attach_now();
	um_tracer_range_begin(&range, "of the parent");
	pid_t pid = fork();
	int status;

	if (!pid) {
		um_tracer_range_end(&range);
		CHECK(!um_tracer_ranges_on());
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	um_tracer_bye();
}

/* Nor does a range alone make a child one that uses HIP. */
static void children_have_no_ranges(void **state)
{
	(void)state;
	assert_int_equal(run(ranges_in_a_child), 0);
	assert_int_equal(op(0)->end_ns, 0);
	assert_null(op(1));
	assert_null(loss_of(UM_LOSS_CHILD));
}

static void dies_in_a_kernel(void)
{
	struct um_record_op launch = {.kind = UM_OP_LAUNCH};

	attach_now();
	begin_and_end(UM_OP_MEMSET, 0);
	um_tracer_op_begin(&launch);
	raise(SIGKILL);
}

static void killed_program(void **state)
{
	(void)state;
	assert_int_equal(WTERMSIG(run(dies_in_a_kernel)), SIGKILL);
	assert_int_equal(op(0)->kind, UM_OP_MEMSET);
	assert_int_equal(op(1)->kind, UM_OP_LAUNCH);
	assert_int_equal(op(1)->end_ns, 0);
	assert_null(op(2));
	assert_null(record(UM_RECORD_BYE, 0));
}

/* --- threads, sites, losses --- */

static void *one_op(void *unused)
{
	begin_and_end(UM_OP_COPY, 0);
	begin_and_end(UM_OP_LAUNCH, 0);
	return unused;
}

static void with_threads(void)
{
	attach_now();
	begin_and_end(UM_OP_COPY, 0);
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, one_op, NULL));
		CHECK(!pthread_join(thread, NULL));
	}
	begin_and_end(UM_OP_COPY, 0);
	um_tracer_bye();
}

static void threads_are_numbered(void **state)
{
	static const uint32_t expected[] = {1, 2, 2, 2, 3, 3, 3, 1};

	(void)state;
	assert_int_equal(run(with_threads), 0);
	for (size_t n = 0; n < sizeof(expected) / sizeof(expected[0]); n++)
		assert_int_equal(op(n)->thread, expected[n]);
	uint64_t launches = 0;
	const struct um_record_loss *loss;

	for (size_t n = 0; (loss = record(UM_RECORD_LOSS, n)); n++)
		if (loss->kind == UM_LOSS_HOST_DURING_KERNEL)
			launches += loss->count;
	assert_int_equal(launches, 2); /* the main thread ran, too */
}

static int load_base_of_main(struct dl_phdr_info *object, size_t bytes, void *base)
{
	(void)bytes;
	*(uintptr_t *)base = object->dlpi_addr;
	return 1; /* the program comes first */
}

#define NOINLINE __attribute__((noinline))

static NOINLINE uint32_t asks_for_site(void)
{
	uint32_t site = um_tracer_site(UM_STACK_OWN_SLOT);

	__asm__ volatile("" ::: "memory");
	return site;
}

static NOINLINE uint32_t asks_deep(unsigned depth)
{
	uint32_t site = depth ? asks_deep(depth - 1) : asks_for_site();

	__asm__ volatile("" ::: "memory");
	return site;
}

static uint32_t sorted_site;

static int compare_and_ask(const void *a, const void *b)
{
	(void)a;
	(void)b;
	sorted_site = asks_for_site();
	return 0;
}

/* Each stack has a site however often it is met. */
static void uses_sites(void)
{
	uint32_t first = 0, second = 0;
	int numbers[2] = {1, 2};

	attach_now();
	/* volatile: a first round that the compiler takes out of the loop would be other calls. */
	for (volatile unsigned i = 0; i < 100000; i++) {
		uint32_t here = asks_for_site(), deep = asks_deep(3);

		CHECK(here && deep && here != deep);
		CHECK(i == 0 || (here == first && deep == second));
		first = here;
		second = deep;
	}
	CHECK(asks_for_site() != first);
	qsort(numbers, 2, sizeof(*numbers), compare_and_ask);
	CHECK(sorted_site && sorted_site != first);
}

static const struct um_record_site *site_record(uint32_t site)
{
	const struct um_record_site *found;

	for (size_t n = 0; (found = record(UM_RECORD_SITE, n)); n++)
		if (found->site == site)
			return found;
	return NULL;
}

/* How deep it lies; each is told after its parent. */
static unsigned depth_of(const struct um_record_site *site)
{
	unsigned depth = 1;

	for (; site->parent; depth++) {
		assert_true(site->parent < site->site);
		site = site_record(site->parent);
		assert_non_null(site);
	}
	return depth;
}

static void sites(void **state)
{
	uintptr_t base = 0;
	char exe[4096] = "";
	size_t count = 0, in_libc = 0;

	(void)state;
	forget_records();
	assert_int_equal(run(uses_sites), 0); /* more records than MAX_RECORDS would fail here */
	dl_iterate_phdr(load_base_of_main, &base);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	const struct um_record_site *site, *last = NULL;

	for (; (site = record(UM_RECORD_SITE, count)); count++) {
		assert_int_equal(site->site, count + 1);
		assert_int_equal(site->header.bytes % 8, 0);
		in_libc += strstr(site->text, "/libc.so") != NULL;
		last = site;
	}
	assert_true(count > 8 && in_libc >= 2);
	assert_string_equal(last->text, exe); /* compare_and_ask() */
	assert_true((uintptr_t)compare_and_ask - base < last->offset &&
		    last->offset < (uintptr_t)uses_sites - base + 4096);
	assert_non_null(strstr(site_record(last->parent)->text, "/libc.so"));
	assert_true(depth_of(last) > 5);
}

static void a_place_in_no_module(void **state)
{
	const struct um_record_site *site = um_site_describe(7, 3, (const void *)0x1000);

	(void)state;
	assert_int_equal(site->site, 7);
	assert_int_equal(site->parent, 3);
	assert_int_equal(site->offset, 0x1000);
	assert_string_equal(site->text, "");
	assert_string_equal(site->text + 1, "");
}

static void tells_losses(void)
{
	static char text[5000];

	attach_now();
	memset(text, 'x', sizeof(text) - 1);
	um_tracer_loss(7, UM_LOSS_OUTSIDE, 12, "kernel");
	um_tracer_loss(0, UM_LOSS_UNSUPPORTED, 1, text);
	um_tracer_loss(0, UM_LOSS_UNTRACED_LAUNCH, 3, NULL);
}

static void losses(void **state)
{
	(void)state;
	assert_int_equal(run(tells_losses), 0);
	assert_int_equal(loss_of(UM_LOSS_OUTSIDE)->op, 7);
	assert_int_equal(loss_of(UM_LOSS_OUTSIDE)->count, 12);
	assert_string_equal(loss_of(UM_LOSS_OUTSIDE)->text, "kernel");
	assert_int_equal(strlen(loss_of(UM_LOSS_UNSUPPORTED)->text), 1023); /* cut */
	assert_string_equal(loss_of(UM_LOSS_UNTRACED_LAUNCH)->text, "");
	assert_int_equal(loss_of(UM_LOSS_UNTRACED_LAUNCH)->count, 3);
}

/* --- forks and the environment --- */

static void forks(void)
{
	attach_now();
	begin_and_end(UM_OP_COPY, 0);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i == 2)
				_exit(0); /* does not use HIP */
			for (int use = 0; use < 2; use++)
				CHECK(!um_tracer_on() && begin_and_end(UM_OP_COPY, 0) == 0);
			um_tracer_bye();
			_exit(0);
		}
		int status = 0;

		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	begin_and_end(UM_OP_COPY, 0);
	um_tracer_bye();
}

static void children_are_not_traced(void **state)
{
	(void)state;
	assert_int_equal(run(forks), 0);
	assert_int_equal(op(0)->op, 1);
	assert_int_equal(op(1)->op, 2);
	assert_null(op(2));
	assert_int_equal(loss_of(UM_LOSS_CHILD)->count, 2);
	assert_null(record(UM_RECORD_BYE, 1));
}

static bool proc_environ_has(const char *text)
{
	static char content[1 << 20];
	int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = read(fd, content, sizeof(content));

	close(fd);
	return bytes > 0 && memmem(content, (size_t)bytes, text, strlen(text)) != NULL;
}

/* The rest of the test below, in a process whose environment came from execve(). */
static int environment_program(void)
{
	um_tracer_attach();
	/* Not linked with HIP: as a shell would, it keeps the variable for what it starts ... */
	CHECK(!um_program_uses_hip() && getenv("UMTRACE_SPOOL"));
	CHECK(proc_environ_has("UMTRACE_SPOOL") && proc_environ_has("BEFORE=1"));
	/* ... until it calls HIP itself. */
	CHECK(um_tracer_on());
	CHECK(!getenv("UMTRACE_SPOOL") && !proc_environ_has("UMTRACE_SPOOL"));
	CHECK(!strcmp(getenv("BEFORE"), "1") && !strcmp(getenv("AFTER"), "2"));
	CHECK(proc_environ_has("BEFORE=1") && proc_environ_has("AFTER=2"));
	um_tracer_bye();
	return 0;
}

static void exec_environment_program(void)
{
	char spool[4200];

	snprintf(spool, sizeof(spool), "UMTRACE_SPOOL=%s", getenv("UMTRACE_SPOOL"));
	execle("/proc/self/exe", "tracer_test", "environment", (char *)NULL,
	       (char *[]){(char *)"BEFORE=1", spool, (char *)"AFTER=2", NULL});
	_exit(1);
}

static void environment_is_cleaned(void **state)
{
	(void)state;
	assert_int_equal(run(exec_environment_program), 0);
	assert_int_equal(records[0]->kind, UM_RECORD_HELLO);
}

/* `list` with OWN in place of this program, which the tracer is linked into. */
static void check_preload(const char *list, const char *expected)
{
	char own[4096] = "", value[9000] = "";
	const char *marker = strstr(list, "OWN");

	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	if (marker)
		snprintf(value, sizeof(value), "%.*s%s%s", (int)(marker - list), list, own,
			 marker + 3);
	else
		snprintf(value, sizeof(value), "%s", list);
	setenv("LD_PRELOAD", value, 1);
	um_environment_clean();
	const char *left = getenv("LD_PRELOAD");

	if (expected)
		assert_string_equal(left, expected);
	else
		assert_null(left);
	unsetenv("LD_PRELOAD");
}

static void only_our_preload_goes(void **state)
{
	(void)state;
	check_preload("OWN", NULL);
	check_preload("OWN:", NULL);
	check_preload("OWN:/lib/a.so", "/lib/a.so");
	check_preload("/lib/a.so:OWN", "/lib/a.so");
	check_preload("/lib/a.so OWN /lib/b.so", "/lib/a.so /lib/b.so");
	check_preload("/lib/a.so:/lib/b.so", "/lib/a.so:/lib/b.so");
	check_preload("/lib/tracer_test", "/lib/tracer_test"); /* the same name is not the same */
	check_preload("tracer_test:x.so", "x.so");	       /* found by name only: ours */
}

static void goes_on_without_umtrace(void)
{
	attach_now();
	/* umtrace goes: what it left is a closed ring. */
	for (int i = 0; i < 1000000 && um_tracer_on(); i++)
		begin_and_end(UM_OP_COPY, 0);
	CHECK(!um_tracer_on());
	CHECK(begin_and_end(UM_OP_LAUNCH, 0) == 0);
	um_tracer_bye();
}

static void reader_goes(void **state)
{
	static const struct um_spool_config config = {.host_watch = UM_HOST_WATCH_NONE};
	struct um_spool_reader *reader = NULL;
	int status = 0;

	(void)state;
	assert_int_equal(um_spool_create(&reader, NULL, 1, &config), 0);
	pid_t pid = fork();

	if (pid == 0) {
		alarm(30);
		setenv("UMTRACE_SPOOL", um_spool_path(reader), 1);
		goes_on_without_umtrace();
		_exit(0);
	}
	while (!um_spool_attached(reader))
		usleep(100);
	const struct um_record *next = NULL;
	int error = 0;

	while (!error && (!next || next->kind != UM_RECORD_LOSS))
		next = um_spool_next(reader, &error);
	const struct um_record_loss *loss = (const void *)next;

	assert_int_equal(error, 0);
	assert_int_equal(loss->kind, UM_LOSS_HOST_UNWATCHED);
	assert_non_null(strstr(loss->text, "--host-watch=none"));
	um_spool_destroy(reader);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_started_by_umtrace),
		cmocka_unit_test(hello_devices_bye),
		cmocka_unit_test(host_ops),
		cmocka_unit_test(long_host_ops),
		cmocka_unit_test(synchronisation_splits_intervals),
		cmocka_unit_test(touches_stand_before_what_changes_their_meaning),
		cmocka_unit_test(what_is_far_is_told_later),
		cmocka_unit_test(ranges_split_what_the_host_touched),
		cmocka_unit_test(children_have_no_ranges),
		cmocka_unit_test(killed_program),
		cmocka_unit_test(threads_are_numbered),
		cmocka_unit_test(sites),
		cmocka_unit_test(a_place_in_no_module),
		cmocka_unit_test(losses),
		cmocka_unit_test(children_are_not_traced),
		cmocka_unit_test(environment_is_cleaned),
		cmocka_unit_test(only_our_preload_goes),
		cmocka_unit_test(reader_goes),
	};

	if (argc > 1 && !strcmp(argv[1], "environment"))
		return environment_program();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
