/*
 * A whole replay, from a trace on disk to totals, of Zipf(1.0) over 1 Mi pages with memory for half,
 * beside floor A: a bare loop that keeps an intrusive LRU list over an array of the same touches,
 * already decoded, as dense page numbers. Then the same where all that time passes for is what most
 * touches are (hits), or all are (faults), and a regular sweep, whose cost is by run. Prints each
 * figure's ratio to what it has to reach; 1.00 and above is reached. CPU time, best of a few.
 */
#include "bench_clock.h"
#include "tests/unit/sim/trace_fixture.h"
#include "zipf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define NOT_RESIDENT UINT32_MAX
#define TIMES	     3

/* --- touches --- */

struct touches {
	const char *name;
	uint32_t *pages;
	uint32_t count, distinct, memory_pages;
};

static struct touches draw_zipf(uint32_t count, uint32_t memory_pages)
{
	struct touches touches = {"Zipf(1.0)", bench_must(malloc(count * sizeof(uint32_t))), count,
				  ZIPF_PAGES, memory_pages};
	struct zipf zipf;

	zipf_init(&zipf);
	for (uint32_t i = 0; i < count; i++)
		touches.pages[i] = zipf_draw(&zipf);
	zipf_fini(&zipf);
	return touches;
}

/* No page twice in a row, and each away again when it comes back: nothing but faults. */
static struct touches make_faults(uint32_t count)
{
	uint64_t state = 2;
	uint32_t distinct = count >> 3 < 1u << 18 ? count >> 3 : 1u << 18;
	struct touches touches = {"cycle, all faults", bench_shuffled(distinct, &state), count,
				  distinct, distinct / 2};

	touches.pages = bench_must(realloc(touches.pages, count * sizeof(uint32_t)));
	for (uint32_t i = distinct; i < count; i++)
		touches.pages[i] = touches.pages[i - distinct];
	return touches;
}

/* --- floor A --- */

struct node {
	uint32_t next, previous; /* NOT_RESIDENT: not in the list */
};

static void unlink_page(struct node *nodes, uint32_t page)
{
	nodes[nodes[page].previous].next = nodes[page].next;
	nodes[nodes[page].next].previous = nodes[page].previous;
}

static void link_first(struct node *nodes, uint32_t head, uint32_t page)
{
	nodes[page] = (struct node){nodes[head].next, head};
	nodes[nodes[head].next].previous = page;
	nodes[head].next = page;
}

static uint64_t lru_faults;

static void floor_a(void *context)
{
	const struct touches *touches = context;
	uint32_t head = touches->distinct, used = 0;
	struct node *nodes = bench_must(malloc(((size_t)head + 1) * sizeof(*nodes)));

	memset(nodes, 0xff, head * sizeof(*nodes));
	nodes[head] = (struct node){head, head};
	lru_faults = 0;
	for (uint32_t i = 0; i < touches->count; i++) {
		uint32_t page = touches->pages[i];

		if (nodes[page].next != NOT_RESIDENT) {
			unlink_page(nodes, page);
		} else if (lru_faults++, used == touches->memory_pages) {
			uint32_t oldest = nodes[head].previous;

			unlink_page(nodes, oldest);
			nodes[oldest].next = NOT_RESIDENT;
		} else {
			used++;
		}
		link_first(nodes, head, page);
	}
	free(nodes);
}

/* --- a replay --- */

static void make_trace(struct trace_fixture *fx, const struct touches *touches)
{
	fx_open(fx);
	fx->machine.memory_bytes = 1ull << 40;
	int64_t data = fx_alloc(fx, "managed", (int64_t)touches->distinct * PAGE);

	um_db_begin(fx->db);
	fx_launch(fx, "k", 1, 0);
	for (uint32_t i = 0; i < touches->count; i++)
		fx_touch(fx, 0, data, touches->pages[i], false);
	fx_launch_end(fx);
	um_db_commit(fx->db);
}

static void simulate(void *context)
{
	fx_run(context);
}

static double floor_rate; /* of floor A, touches/s */

static void measure(struct trace_fixture *fx, const struct touches *touches, const char *evict,
		    double limit, const char *what)
{
	char text[128];
	double took, rate;

	snprintf(text, sizeof(text), "driver: demand\nevict: %s\nmemory: %lluKiB\n", evict,
		 (unsigned long long)touches->memory_pages * PAGE / 1024);
	fx_policy(fx, text);
	took = bench_best_cpu_s(simulate, fx, TIMES);
	rate = touches->count / took;
	if (limit <= 0)
		limit = floor_rate / 3;
	printf("%-18s %-7s %7.1f M touches/s %9llu faults %6.2f of floor A  %5.2f of %5.1f M/s: %s\n",
	       touches->name, evict, rate / 1e6, (unsigned long long)fx->totals.device_faults,
	       rate / floor_rate, rate / limit, limit / 1e6, what);
	if (!strcmp(evict, "lru") && fx->totals.device_faults != lru_faults) {
		printf("the replay has other faults than floor A: %llu\n",
		       (unsigned long long)lru_faults);
		exit(1);
	}
}

static void measure_floor(struct touches *touches)
{
	double took = bench_best_cpu_s(floor_a, touches, TIMES);

	floor_rate = touches->count / took;
	printf("%-18s %-7s %7.1f M touches/s %9llu faults\n", touches->name, "floor A",
	       floor_rate / 1e6, (unsigned long long)lru_faults);
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void zipf(uint32_t count)
{
	struct touches touches = draw_zipf(count, ZIPF_PAGES / 2);
	struct trace_fixture fx;
	double bytes;
	long before;

	measure_floor(&touches);
	make_trace(&fx, &touches);
	before = peak_kib();
	measure(&fx, &touches, "fifo", 0, "a third of floor A");
	measure(&fx, &touches, "lru", 0, "a third of floor A");
	bytes = (double)(peak_kib() - before) * 1024 / ZIPF_PAGES;
	printf("%-18s %-7s %7.1f bytes a page beside what was there  %5.2f of 32: limit\n",
	       touches.name, "both", bytes, 32 / bytes);
	measure(&fx, &touches, "belady", 15e6, "limit");
	touches.name = "Zipf(1.0), all fit";
	touches.memory_pages = ZIPF_PAGES;
	floor_a(&touches);
	measure(&fx, &touches, "lru", 20e6, "most are hits, with time");
	fx_close(&fx);
	free(touches.pages);
}

static void faults(uint32_t count)
{
	struct touches touches = make_faults(count);
	struct trace_fixture fx;

	measure_floor(&touches);
	make_trace(&fx, &touches);
	measure(&fx, &touches, "fifo", 10e6, "all are faults, with time");
	measure(&fx, &touches, "lru", 10e6, "all are faults, with time");
	fx_close(&fx);
	free(touches.pages);
}

/* --- a regular sweep: 1 GiB a group of 16, memory for all --- */

static void sweep(void)
{
	const int64_t pages = 1ll << 22, groups = 4096, launches = 8;
	struct trace_fixture fx;
	double took;

	fx_open(&fx);
	fx.machine.memory_bytes = 1ull << 40;
	fx.machine.compute_units = 128;
	int64_t data = fx_alloc(&fx, "managed", pages * PAGE);

	um_db_begin(fx.db);
	fx_prefetch(&fx, data, pages * PAGE, 0, 0);
	fx_sync(&fx);
	for (int64_t i = 0; i < launches; i++) {
		fx_launch(&fx, "k", groups, 0);
		for (int64_t group = 0; group < groups; group++)
			fx_touch_range(&fx, (uint64_t)group, data, group * (pages / groups),
				       pages / groups, i & 1);
		fx_launch_end(&fx);
	}
	um_db_commit(fx.db);
	fx_policy(&fx, "driver: demand\nevict: lru\npage_size: 2MiB\n");
	took = bench_best_cpu_s(simulate, &fx, TIMES);
	printf("%-18s %-7s %7.2f ms a kernel of 16 GiB in %lld groups  %5.2f of 20 ms: limit\n",
	       "sweep, resident", "lru", took * 1e3 / launches, (long long)groups,
	       20 / (took * 1e3 / launches));
	fx_policy(&fx, "driver: demand\nevict: lru\npage_size: 4KiB\n");
	took = bench_best_cpu_s(simulate, &fx, TIMES);
	printf("%-18s %-7s %7.2f ms a kernel, pages of 4 KiB each in an order of its own\n", "",
	       "lru", took * 1e3 / launches);
	fx_close(&fx);
}

/* zipf_bench [TOUCHES [zipf|faults|sweep]] */
int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 16u << 20;
	const char *part = argc > 2 ? argv[2] : NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!part || !strcmp(part, "zipf"))
		zipf(count);
	if (!part || !strcmp(part, "faults"))
		faults(count / 4);
	if (!part || !strcmp(part, "sweep"))
		sweep();
	printf("peak of the process: %ld MiB\n", peak_kib() / 1024);
	return 0;
}
