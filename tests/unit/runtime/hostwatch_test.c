/*
 * Every way of watching the host that works here, against a model that knows what was touched: no
 * page is missed, invented or mistaken. Methods are tried in children, as root and as nobody.
 */
#include "trace/runtime/arena.h"
#include "trace/runtime/hostwatch.h"
#include "trace/spool/spool_ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_PAGES 4096u
#define NOBODY	   65534

/* Failures inside a child: cmocka's assertions belong to the parent. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* --- a small arena in place of arena.c --- */

struct um_arena um_arena;

static void make_arena(void)
{
	int file = memfd_create("arena", MFD_CLOEXEC);
	size_t bytes = TEST_PAGES * (size_t)UM_PAGE_BYTES;

	CHECK(file >= 0 && !ftruncate(file, (off_t)bytes));
	um_arena.base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	um_arena.alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(um_arena.base != MAP_FAILED && um_arena.alias != MAP_FAILED);
	um_arena.span = bytes;
	close(file);
}

static char *page_at(uint64_t page)
{
	return um_arena.base + page * UM_PAGE_BYTES;
}

static void read_page(uint64_t page, size_t offset)
{
	(void)*(volatile char *)(page_at(page) + offset);
}

static void write_page(uint64_t page, size_t offset)
{
	*(volatile char *)(page_at(page) + offset) = 1;
}

/* --- the model --- */

static struct {
	struct {
		uint32_t range; /* which range the page belongs to, 0 none */
		uint32_t touch; /* expected in this interval */
		uint32_t seen;
	} page[TEST_PAGES];
	uint64_t next_page; /* runs ascend */
} model;

static void expect(uint64_t page, uint32_t touch)
{
	if (model.page[page].range && model.page[page].touch != UM_TOUCH_WRITTEN)
		model.page[page].touch = touch;
}

static uint64_t page_of(const char *address)
{
	return (uint64_t)(address - um_arena.base) / UM_PAGE_BYTES;
}

static void expect_bytes(const char *start, size_t bytes, uint32_t touch)
{
	if (!bytes)
		return;
	uint64_t last = page_of(start + bytes - 1);

	for (uint64_t page = page_of(start); page <= last; page++)
		expect(page, touch);
}

static void add_range(uint64_t first, uint64_t pages)
{
	static uint32_t last_range;

	last_range++;
	for (uint64_t page = first; page < first + pages; page++) {
		model.page[page].range = last_range;
	}
	um_hostwatch_add(first * UM_PAGE_BYTES, pages * UM_PAGE_BYTES);
}

static void remove_range(uint64_t first, uint64_t pages)
{
	um_hostwatch_remove(first * UM_PAGE_BYTES, pages * UM_PAGE_BYTES);
	for (uint64_t page = first; page < first + pages; page++) {
		model.page[page].range = 0;
		model.page[page].touch = 0;
	}
}

static void note_run(uint64_t first_page, uint64_t pages, uint32_t touch, void *context)
{
	CHECK(context == &model);
	CHECK(pages > 0 && first_page >= model.next_page && first_page + pages <= TEST_PAGES);
	CHECK(touch == UM_TOUCH_READ || touch == UM_TOUCH_WRITTEN);
	for (uint64_t page = first_page; page < first_page + pages; page++) {
		CHECK(model.page[page].range == model.page[first_page].range);
		model.page[page].seen = touch;
	}
	model.next_page = first_page + pages;
}

static void begin_to_see(void)
{
	for (uint64_t page = 0; page < TEST_PAGES; page++)
		model.page[page].seen = 0;
	model.next_page = 0;
}

/* Of these pages what is expected was seen, of all others nothing; dies at the first that is not so. */
static void check_seen(const char *what, uint64_t first_page, uint64_t end_page)
{
	for (uint64_t page = 0; page < TEST_PAGES; page++) {
		bool inside = page >= first_page && page < end_page;
		uint32_t expected = inside ? model.page[page].touch : 0;

		if (model.page[page].seen != expected) {
			fprintf(stderr, "%s: page %llu: touch %u expected, %u seen\n", what,
				(unsigned long long)page, expected, model.page[page].seen);
			_exit(1);
		}
		if (inside)
			model.page[page].touch = 0;
	}
	CHECK(!um_hostwatch_trouble());
}

/* Ends the interval. */
static void check_interval(const char *what)
{
	begin_to_see();
	um_hostwatch_collect(note_run, &model);
	check_seen(what, 0, TEST_PAGES);
}

static void check_split(const char *what, uint64_t first_page, uint64_t end_page)
{
	begin_to_see();
	um_hostwatch_split(first_page, end_page, note_run, &model);
	check_seen(what, first_page, end_page);
}

/* --- what is done in an interval --- */

static int data_file; /* 1 MiB of data, unlinked */

static int descriptors_before; /* before watching began */

static int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void make_data_file(void)
{
	static char data[1 << 20];
	char name[] = "/tmp/hostwatch-XXXXXX";

	data_file = mkstemp(name);
	CHECK(data_file >= 0 && write(data_file, data, sizeof(data)) == (ssize_t)sizeof(data));
	unlink(name);
}

static uint64_t random_page(void)
{
	return (uint64_t)random() % TEST_PAGES;
}

static size_t bytes_up_to(uint64_t page, size_t most)
{
	size_t left = (size_t)(TEST_PAGES - page) * UM_PAGE_BYTES;
	size_t bytes = 1 + (size_t)random() % most;

	return bytes < left ? bytes : left;
}

static void touch_read(void)
{
	uint64_t page = random_page();

	read_page(page, (size_t)random() % UM_PAGE_BYTES);
	expect(page, UM_TOUCH_READ);
}

static void touch_write(void)
{
	uint64_t page = random_page();

	write_page(page, (size_t)random() % UM_PAGE_BYTES);
	expect(page, UM_TOUCH_WRITTEN);
}

static void touch_memset(void)
{
	uint64_t page = random_page();
	size_t offset = (size_t)random() % UM_PAGE_BYTES;
	size_t bytes = bytes_up_to(page + 1 < TEST_PAGES ? page + 1 : page, 40000);
	char *start = page_at(page) + (page + 1 < TEST_PAGES ? offset : 0);

	memset(start, 1, bytes);
	expect_bytes(start, bytes, UM_TOUCH_WRITTEN);
}

static void touch_sum(void)
{
	uint64_t page = random_page();
	size_t bytes = bytes_up_to(page, 40000);
	volatile char sum = 0;

	for (size_t i = 0; i < bytes; i += 64)
		sum = (char)(sum + page_at(page)[i]);
	expect_bytes(page_at(page), (bytes - 1) / 64 * 64 + 1, UM_TOUCH_READ);
}

static void touch_pread(void)
{
	uint64_t page = random_page();
	size_t bytes = bytes_up_to(page, 40000);

	CHECK(pread(data_file, page_at(page), bytes, 0) == (ssize_t)bytes);
	expect_bytes(page_at(page), bytes, UM_TOUCH_WRITTEN);
}

/* A short read touches no more than it brought. */
static void touch_short_read(void)
{
	uint64_t page = random_page() / 2;
	size_t there = 1 + (size_t)random() % 20000;

	CHECK(pread(data_file, page_at(page), 60000, (1 << 20) - (off_t)there) == (ssize_t)there);
	expect_bytes(page_at(page), there, UM_TOUCH_WRITTEN);
}

static void touch_pwrite(void)
{
	uint64_t page = random_page();
	size_t bytes = bytes_up_to(page, 40000);

	CHECK(pwrite(data_file, page_at(page), bytes, 0) == (ssize_t)bytes);
	expect_bytes(page_at(page), bytes, UM_TOUCH_READ);
}

static void touch_vectors(void)
{
	char *start = page_at(random_page() / 4);
	char *second = start + 40 * UM_PAGE_BYTES, *third = start + 50 * UM_PAGE_BYTES + 100;
	const struct iovec part[3] = {{start, 5000}, {second, 1}, {third, 9000}};

	CHECK(lseek(data_file, 0, SEEK_SET) == 0);
	CHECK(readv(data_file, part, 3) == 14001);
	expect_bytes(start, 5000, UM_TOUCH_WRITTEN);
	expect_bytes(second, 1, UM_TOUCH_WRITTEN);
	expect_bytes(third, 9000, UM_TOUCH_WRITTEN);
}

/* stdio: a large request goes past its buffer, straight into the page. */
static void touch_stdio(void)
{
	uint64_t page = random_page() / 2;
	size_t bytes = bytes_up_to(page, 40000);
	FILE *file = fdopen(dup(data_file), "r+");

	CHECK(file && !fseek(file, 0, SEEK_SET));
	CHECK(fread(page_at(page), 1, bytes, file) == bytes);
	expect_bytes(page_at(page), bytes, UM_TOUCH_WRITTEN);
	CHECK(!fseek(file, 0, SEEK_SET));
	page = random_page() / 2;
	CHECK(fwrite(page_at(page), bytes, 1, file) == 1);
	expect_bytes(page_at(page), bytes, UM_TOUCH_READ);
	CHECK(!fclose(file));
}

static void touch_alias(void)
{
	um_arena.alias[random_page() * UM_PAGE_BYTES] = 1; /* not seen */
}

static void (*const touches[])(void) = {
	touch_read,  touch_read,   touch_write,	  touch_write, touch_memset, touch_sum,
	touch_pread, touch_pwrite, touch_vectors, touch_stdio, touch_alias,  touch_short_read,
};

static void random_interval(void)
{
	long count = random() % 60;

	if (random() % 8 == 0)
		count = 0; /* nothing at all */
	while (count-- > 0)
		touches[(size_t)random() % (sizeof(touches) / sizeof(touches[0]))]();
}

/* Parts are taken meanwhile, small and large ones, with and without memory in them. */
static void random_splits(void)
{
	for (long count = random() % 4; count > 0; count--) {
		uint64_t first = random_page(), end = first + 1 + (uint64_t)random() % 700;

		check_split("random split", first, end < TEST_PAGES ? end : TEST_PAGES);
		random_interval();
	}
}

static void run_kernel(void)
{
	/* Between collect and arm: touches that are not the host's. Some do without open. */
	if (random() % 2)
		um_hostwatch_open();
	for (long count = random() % 300; count > 0; count--) {
		if (random() % 2)
			write_page(random_page(), 8);
		else
			read_page(random_page(), 8);
	}
}

static void random_intervals(void)
{
	for (int round = 0; round < 200; round++) {
		random_interval();
		if (round % 4 == 0)
			random_splits();
		check_interval("random interval");
		if (random() % 4)
			run_kernel();
		um_hostwatch_arm();
	}
}

/* --- scenarios, each in a child --- */

static void fixed_ranges(void)
{
	add_range(0, 1);
	add_range(1, 3); /* adjacent: no run spans both */
	add_range(100, 1500);
	add_range(1605, 10); /* a small gap that is not managed */
	add_range(3000, 1000);
	for (uint64_t page = 0; page < 200; page++) {
		write_page(page, 0);
		expect(page, UM_TOUCH_WRITTEN);
	}
	check_interval("first touch");
	um_hostwatch_arm();
	random_intervals();
}

static void splits(void)
{
	check_split("nothing is watched", 0, TEST_PAGES);
	add_range(10, 10);
	add_range(30, 1000);
	for (uint64_t page = 0; page < 40; page++) {
		write_page(page, 0);
		expect(page, UM_TOUCH_WRITTEN);
	}
	check_split("before all", 0, 10);
	check_split("between", 20, 30);
	check_split("behind all", 1030, TEST_PAGES);
	check_split("one page", 12, 13);
	check_split("the same again", 12, 13);
	read_page(12, 0);
	expect(12, UM_TOUCH_READ);
	check_split("an end and a beginning", 15, 32);
	check_interval("the rest");
	um_hostwatch_arm();
	write_page(12, 0);
	expect(12, UM_TOUCH_WRITTEN);
	check_split("all", 0, TEST_PAGES);
	check_interval("nothing is left");
}

static void ranges_come_and_go(void)
{
	enum { SLOT_PAGES = 16, SLOTS = TEST_PAGES / SLOT_PAGES };
	static uint64_t pages[SLOTS];

	for (int round = 0; round < 1500; round++) {
		uint64_t slot = (uint64_t)random() % SLOTS;

		if (pages[slot]) {
			remove_range(slot * SLOT_PAGES, pages[slot]);
			/* As the arena does: the memory goes back, and comes again as zeros. */
			CHECK(!madvise(um_arena.alias + slot * SLOT_PAGES * UM_PAGE_BYTES,
				       pages[slot] * UM_PAGE_BYTES, MADV_REMOVE));
			pages[slot] = 0;
		} else {
			pages[slot] = 1 + (uint64_t)random() % SLOT_PAGES;
			add_range(slot * SLOT_PAGES, pages[slot]);
		}
		for (int i = 0; i < 4; i++)
			touches[(size_t)random() % 4]();
		if (round % 50 == 0)
			random_splits();
		if (round % 7 == 0) {
			check_interval("ranges come and go");
			run_kernel();
			um_hostwatch_arm();
		}
	}
}

static void *touch_own_quarter(void *quarter)
{
	uint64_t first = (uint64_t)(uintptr_t)quarter * (TEST_PAGES / 4);

	for (uint64_t page = first; page < first + TEST_PAGES / 4; page++) {
		if (page % 3 == 1)
			read_page(page, page % UM_PAGE_BYTES);
		if (page % 3 == 2)
			write_page(page, page % UM_PAGE_BYTES);
	}
	/* All threads meet on the same pages too. */
	for (uint64_t page = 3; page < TEST_PAGES; page += 9)
		read_page(page, 7);
	for (uint64_t page = 6; page < TEST_PAGES; page += 9)
		write_page(page, (size_t)(uintptr_t)quarter);
	return NULL;
}

static void several_threads(void)
{
	add_range(0, TEST_PAGES);
	for (int round = 0; round < 20; round++) {
		pthread_t thread[4];

		for (uintptr_t i = 0; i < 4; i++)
			CHECK(!pthread_create(&thread[i], NULL, touch_own_quarter, (void *)i));
		for (int i = 0; i < 4; i++)
			CHECK(!pthread_join(thread[i], NULL));
		for (uint64_t page = 0; page < TEST_PAGES; page++) {
			if (page % 3 == 1 || page % 9 == 3)
				expect(page, UM_TOUCH_READ);
			if (page % 3 == 2 || page % 9 == 6)
				expect(page, UM_TOUCH_WRITTEN);
		}
		check_interval("threads");
		run_kernel();
		um_hostwatch_arm();
	}
}

/* A thread waits in read(2) on a watched page, across a whole interval and more. */
static int slow_pipe[2];

static void *read_slowly(void *unused)
{
	CHECK(read(slow_pipe[0], page_at(10), 3 * UM_PAGE_BYTES) == 5000);
	return unused;
}

static void system_call_waits(void)
{
	static char data[5000];
	pthread_t thread;

	add_range(0, 100);
	CHECK(!pipe(slow_pipe));
	CHECK(!pthread_create(&thread, NULL, read_slowly, NULL));
	usleep(20000);
	for (int round = 0; round < 3; round++) {
		write_page(50, 0);
		expect(50, UM_TOUCH_WRITTEN);
		check_interval("while a system call waits");
		run_kernel();
		um_hostwatch_arm();
	}
	CHECK(write(slow_pipe[1], data, sizeof(data)) == (ssize_t)sizeof(data));
	CHECK(!pthread_join(thread, NULL));
	expect(10, UM_TOUCH_WRITTEN);
	expect(11, UM_TOUCH_WRITTEN);
	read_page(12, 0); /* was within the buffer, and was not filled */
	expect(12, UM_TOUCH_READ);
	check_interval("after the system call");
}

static void survives_mlock_and_huge_pages(void)
{
	madvise(um_arena.base, um_arena.span, MADV_HUGEPAGE);
	madvise(um_arena.alias, um_arena.span, MADV_HUGEPAGE);
	add_range(0, TEST_PAGES);
	um_arena.alias[0] = 1;
	read_page(600, 0);
	expect(600, UM_TOUCH_READ);
	check_interval("one page of 4 KiB");
	mlock(page_at(0), 16 * UM_PAGE_BYTES);
	um_hostwatch_arm();
	check_interval("mlock() is no touch");
	um_hostwatch_arm();
	write_page(1, 0);
	expect(1, UM_TOUCH_WRITTEN);
	check_interval("locked page");
}

static uint32_t method_in_use;

/*
 * The interval is lost, and that is told. Asynchronous watching begins anew; synchronous watching
 * ends, but nothing hangs; mprotect has no descriptors.
 */
static void program_closes_descriptors(void)
{
	add_range(0, 50);
	add_range(70, 50);
	write_page(1, 0);
	expect(1, UM_TOUCH_WRITTEN);
	check_interval("before");
	um_hostwatch_arm();
	closefrom(data_file + 1);
	write_page(2, 0);
	um_hostwatch_collect(note_run, &model);
	CHECK(!um_hostwatch_trouble() == (method_in_use == UM_HOST_WATCH_MPROTECT));
	um_hostwatch_arm();
	closefrom(data_file + 1);
	add_range(200, 50);
	write_page(3, 0);
	model.next_page = 0;
	um_hostwatch_collect(note_run, &model);
	um_hostwatch_arm();
	um_hostwatch_trouble();
	if (method_in_use != UM_HOST_WATCH_UFFD_SYNC)
		random_intervals();
}

static void forked_child(void)
{
	add_range(0, 100);
	madvise(um_arena.base, um_arena.span, MADV_DONTFORK);
	pid_t pid = fork();

	if (pid == 0) {
		um_hostwatch_child();
		CHECK(open_descriptors() == descriptors_before);
		um_hostwatch_add(0, UM_PAGE_BYTES);
		um_hostwatch_arm();
		um_hostwatch_collect(note_run, &model);
		_exit(0);
	}
	int status = 0;

	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	write_page(5, 0);
	expect(5, UM_TOUCH_WRITTEN);
	check_interval("after the fork");
}

/* --- the harness --- */

struct method {
	const char *name;
	uint32_t wanted;
	uid_t uid;
};

static const struct method methods[] = {
	{"wp_async", UM_HOST_WATCH_WP_ASYNC, 0},
	{"wp_async as nobody", UM_HOST_WATCH_WP_ASYNC, NOBODY},
	{"uffd_sync", UM_HOST_WATCH_UFFD_SYNC, 0},
	{"mprotect", UM_HOST_WATCH_MPROTECT, 0},
	{"mprotect as nobody", UM_HOST_WATCH_MPROTECT, NOBODY},
};

enum { WORKED, FAILED, NOT_HERE = 77 };

static int run_child(const struct method *method, void (*scenario)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		alarm(60);
		make_data_file();
		if (method->uid && geteuid() == 0 &&
		    setresuid(method->uid, method->uid, method->uid))
			_exit(FAILED);
		descriptors_before = open_descriptors();
		method_in_use = method->wanted;
		/* A change of user makes a process undumpable, and its /proc files root's. */
		prctl(PR_SET_DUMPABLE, 1);
		if (um_hostwatch_init(method->wanted) != (enum um_host_watch)method->wanted)
			_exit(NOT_HERE);
		make_arena();
		srandom(7);
		scenario();
		_exit(WORKED);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void each_method(void (*scenario)(void))
{
	unsigned ran = 0;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		int result = run_child(methods + i, scenario);

		if (result == NOT_HERE) {
			print_message("%s: not on this system\n", methods[i].name);
			continue;
		}
		if (result != WORKED)
			print_error("%s: exit status %d\n", methods[i].name, result);
		assert_int_equal(result, WORKED);
		ran++;
	}
	assert_int_not_equal(ran, 0); /* mprotect works everywhere */
}

#define SCENARIO(name)                                                                             \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		each_method(name);                                                                 \
	}
SCENARIO(fixed_ranges)
SCENARIO(splits)
SCENARIO(ranges_come_and_go)
SCENARIO(several_threads)
SCENARIO(system_call_waits)
SCENARIO(survives_mlock_and_huge_pages)
SCENARIO(program_closes_descriptors)
SCENARIO(forked_child)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_ranges),
		cmocka_unit_test(test_splits),
		cmocka_unit_test(test_ranges_come_and_go),
		cmocka_unit_test(test_several_threads),
		cmocka_unit_test(test_system_call_waits),
		cmocka_unit_test(test_survives_mlock_and_huge_pages),
		cmocka_unit_test(test_program_closes_descriptors),
		cmocka_unit_test(test_forked_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
