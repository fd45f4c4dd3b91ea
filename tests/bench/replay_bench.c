/*
 * How many touches a second a replay takes, beside the least that anything could do with them: an
 * LRU list of the same pages in the same memory, page by page, without time, traffic or order of
 * groups. Touches are those that the trace's runs expand to.
 */
#include "bench_clock.h"
#include "tests/unit/sim/trace_fixture.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_RESIDENT UINT32_MAX

struct workload {
	const char *name;
	int64_t pages, memory_pages, groups, sweeps;
	int random; /* touches are single pages in no order */
};

static const struct workload workloads[] = {
	{"resident sweeps", 262144, 262144, 1024, 40, 0},
	{"first faults", 262144, 262144, 1024, 1, 0},
	{"first faults of one group", 262144, 262144, 1, 1, 0},
	{"sweeps over twice the memory", 65536, 32768, 256, 8, 0},
	{"random, resident", 16384, 16384, 256, 128, 1},
	{"random over twice the memory", 65536, 32768, 256, 16, 1},
};

/* The touches as groups that advance side by side make them. */
struct sequence {
	uint32_t *pages;
	uint64_t count;
};

static int64_t page_of(const struct workload *load, int64_t group, int64_t i)
{
	int64_t part = load->pages / load->groups;

	if (!load->random)
		return group * part + i % part;
	/* splitmix64, so that the order is of no kind that a cache or a run could use */
	uint64_t x = (uint64_t)(group * 1000003 + i) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (int64_t)((x ^ x >> 31) % (uint64_t)load->pages);
}

static struct sequence put_trace(struct trace_fixture *fx, const struct workload *load)
{
	int64_t data = fx_alloc(fx, "managed", load->pages * PAGE);
	int64_t touches = load->pages / load->groups * load->sweeps;
	uint64_t count = (uint64_t)(touches * load->groups);
	struct sequence sequence = {malloc(count * sizeof(uint32_t)), count};

	if (!sequence.pages)
		abort();
	fx_host(fx, data, 0, load->pages, UM_TOUCH_WRITTEN);
	um_db_begin(fx->db);
	fx_launch(fx, "k", load->groups, 0);
	for (int64_t group = 0; group < load->groups; group++)
		for (int64_t i = 0; i < touches; i++) {
			int64_t page = page_of(load, group, i);

			fx_touch(fx, (uint64_t)group, data, page, false);
			sequence.pages[i * load->groups + group] = (uint32_t)page;
		}
	fx_launch_end(fx);
	um_db_commit(fx->db);
	return sequence;
}

/* --- the floor --- */

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
	nodes[page].next = nodes[head].next;
	nodes[page].previous = head;
	nodes[nodes[head].next].previous = page;
	nodes[head].next = page;
}

static uint64_t run_lru(const struct workload *load, const struct sequence *sequence)
{
	uint32_t head = (uint32_t)load->pages;
	struct node *nodes = malloc((size_t)(load->pages + 1) * sizeof(*nodes));
	uint64_t faults = 0;
	int64_t resident = 0;

	if (!nodes)
		abort();
	memset(nodes, 0xff, (size_t)load->pages * sizeof(*nodes));
	nodes[head] = (struct node){head, head};
	for (uint64_t i = 0; i < sequence->count; i++) {
		uint32_t page = sequence->pages[i];

		if (nodes[page].next != NOT_RESIDENT) {
			unlink_page(nodes, page);
		} else {
			faults++;
			if (resident == load->memory_pages) {
				uint32_t oldest = nodes[head].previous;

				unlink_page(nodes, oldest);
				nodes[oldest].next = NOT_RESIDENT;
			} else {
				resident++;
			}
		}
		link_first(nodes, head, page);
	}
	free(nodes);
	return faults;
}

static void measure(const struct workload *load, const char *driver)
{
	char text[128];
	struct trace_fixture fx;
	struct sequence sequence;
	double start, replay, floor_time;
	uint64_t lru_faults;

	fx_open(&fx);
	sequence = put_trace(&fx, load);
	snprintf(text, sizeof(text), "driver: %s\nmemory: %lldKiB\n", driver,
		 (long long)load->memory_pages * PAGE / 1024);
	fx_policy(&fx, text);
	fx.machine.memory_bytes = 1ull << 40;
	fx.machine.compute_units = 128; /* all groups in flight */
	start = bench_now_s();
	fx_run(&fx);
	replay = bench_now_s() - start;
	start = bench_now_s();
	lru_faults = run_lru(load, &sequence);
	floor_time = bench_now_s() - start;
	printf("%-10s %-30s %6.3f s %10.1f M touches/s  %8.2f M faults/s  floor %8.1f M touches/s  %6.2f times "
	       "the floor's time (%llu faults, %llu of an LRU)\n",
	       driver, load->name, replay, (double)sequence.count / replay / 1e6,
	       (double)fx.totals.device_faults / replay / 1e6,
	       (double)sequence.count / floor_time / 1e6, replay / floor_time,
	       (unsigned long long)fx.totals.device_faults, (unsigned long long)lru_faults);
	free(sequence.pages);
	fx_close(&fx);
}

int main(void)
{
	static const char *const drivers[] = {"demand", "nvidia_uvm"};

	for (size_t d = 0; d < sizeof(drivers) / sizeof(*drivers); d++)
		for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
			measure(&workloads[i], drivers[d]);
	return 0;
}
