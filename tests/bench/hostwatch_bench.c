/*
 * What watching the host costs, for each way that works here: arm and collect for 1 GiB with all,
 * some and none of it touched, a touch, and 10,000 small allocations. Prints; asserts nothing.
 */
#include "bench_clock.h"
#include "trace/runtime/arena.h"
#include "trace/runtime/hostwatch.h"
#include "trace/spool/spool_ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BENCH_BYTES (1ull << 30)
#define BENCH_PAGES (BENCH_BYTES / UM_PAGE_BYTES)
#define SMALL_COUNT 10000u

/* In place of arena.c. */
struct um_arena um_arena;

static const char *const names[] = {"none", "wp_async", "uffd_sync", "mprotect"};

static bool make_arena(void)
{
	int file = memfd_create("arena", MFD_CLOEXEC);

	if (file < 0 || ftruncate(file, (off_t)BENCH_BYTES))
		return false;
	um_arena.base = mmap(NULL, BENCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	um_arena.alias = mmap(NULL, BENCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	um_arena.span = BENCH_BYTES;
	close(file);
	return um_arena.base != MAP_FAILED && um_arena.alias != MAP_FAILED;
}

static void count_pages(uint64_t first_page, uint64_t pages, uint32_t touch, void *sum)
{
	(void)first_page;
	(void)touch;
	*(uint64_t *)sum += pages;
}

/* One interval in which every `stride`-th page is touched; 0: none. */
static void interval(const char *what, uint64_t stride, bool write)
{
	uint64_t seen = 0, touched = 0;
	double start = bench_now_s();

	for (uint64_t page = 0; stride && page < BENCH_PAGES; page += stride, touched++) {
		volatile char *at = um_arena.base + page * UM_PAGE_BYTES;

		if (write)
			*at = 1;
		else
			(void)*at;
	}
	double collect = bench_now_s();

	um_hostwatch_collect(count_pages, &seen);
	double arm = bench_now_s();

	um_hostwatch_arm();
	double end = bench_now_s();

	printf("  %-34s collect %7.2f ms  arm %7.2f ms", what, (arm - collect) * 1e3,
	       (end - arm) * 1e3);
	if (touched)
		printf("  touch %5.2f us a page", (collect - start) * 1e6 / (double)touched);
	printf("%s\n", seen == touched ? "" : "  WRONG COUNT");
}

/* As a program that writes a piece, advises it, and so on: an interval for each. */
static void many_intervals(const char *what, uint64_t count, bool touch)
{
	uint64_t seen = 0;
	double start = bench_now_s();

	for (uint64_t i = 0; i < count; i++) {
		if (touch)
			um_arena.base[i * (BENCH_PAGES / count) * UM_PAGE_BYTES] = 1;
		um_hostwatch_collect(count_pages, &seen);
		um_hostwatch_arm();
	}
	printf("  %-34s %7.2f us each%s\n", what, (bench_now_s() - start) * 1e6 / (double)count,
	       seen == (touch ? count : 0) ? "" : "  WRONG COUNT");
}

static void one_gib(void)
{
	memset(um_arena.alias, 1, BENCH_BYTES); /* the file has its pages */
	double start = bench_now_s();

	um_hostwatch_add(0, BENCH_BYTES);
	printf("  %-34s %7.2f ms\n", "1 GiB: begin to watch", (bench_now_s() - start) * 1e3);
	interval("1 GiB, nothing touched", 0, false);
	interval("1 GiB, all read", 1, false);
	interval("1 GiB, all written", 1, true);
	interval("1 GiB, every 100th page written", 100, true);
	interval("1 GiB, one page written", BENCH_PAGES, true);
	interval("1 GiB, nothing touched", 0, false);
	many_intervals("1 GiB, 1024 intervals of a page", 1024, true);
	many_intervals("1 GiB, 1024 intervals of nothing", 1024, false);
	start = bench_now_s();
	um_hostwatch_remove(0, BENCH_BYTES);
	printf("  %-34s %7.2f ms\n", "1 GiB: end to watch", (bench_now_s() - start) * 1e3);
}

/* Allocations of a page, or every other of them managed. */
static void small_allocations(const char *what, uint64_t step)
{
	uint64_t seen = 0;
	double start = bench_now_s();

	for (uint64_t i = 0; i < SMALL_COUNT; i++)
		um_hostwatch_add(i * step * UM_PAGE_BYTES, UM_PAGE_BYTES);
	double touch = bench_now_s();

	for (uint64_t i = 0; i < SMALL_COUNT; i++)
		um_arena.base[i * step * UM_PAGE_BYTES] = 1;
	double collect = bench_now_s();

	um_hostwatch_collect(count_pages, &seen);
	double arm = bench_now_s();

	um_hostwatch_arm();
	double end = bench_now_s();

	printf("  %-34s collect %7.2f ms  arm %7.2f ms  touch %5.2f us a page  add %5.2f us "
	       "each%s\n",
	       what, (arm - collect) * 1e3, (end - arm) * 1e3,
	       (collect - touch) * 1e6 / SMALL_COUNT, (touch - start) * 1e6 / SMALL_COUNT,
	       seen == SMALL_COUNT ? "" : "  WRONG COUNT");
	for (uint64_t i = 0; i < SMALL_COUNT; i++)
		um_hostwatch_remove(i * step * UM_PAGE_BYTES, UM_PAGE_BYTES);
}

static void bench(enum um_host_watch method, bool places)
{
	if (places)
		um_hostwatch_ask_places();
	if (um_hostwatch_init(method) != method) {
		printf("%s: not on this system\n", names[method]);
		return;
	}
	printf("%s%s\n", names[method], places ? ", with who touches (--host-sync)" : "");
	if (!make_arena()) {
		printf("  no memory for 1 GiB\n");
		return;
	}
	one_gib();
	small_allocations("10,000 allocations, adjacent", 1);
	small_allocations("10,000 allocations, every 2nd page", 2);
	fflush(stdout);
}

static void bench_in_child(enum um_host_watch method, bool places)
{
	pid_t pid = fork();

	if (pid == 0) {
		bench(method, places);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	for (int method = UM_HOST_WATCH_WP_ASYNC; method <= UM_HOST_WATCH_MPROTECT; method++)
		bench_in_child((enum um_host_watch)method, false);
	bench_in_child(UM_HOST_WATCH_MPROTECT, true);
	return 0;
}
