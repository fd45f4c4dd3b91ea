/*
 * How many touches a second an eviction order takes, its misses among them, beside the least that
 * keeps an order at all: an intrusive LRU list of the same units, found by their number.
 */
#include "bench_clock.h"

#include "sim/driver/evict.h"
#include "sim/driver/evict_future.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA	     1
#define NOT_RESIDENT UINT32_MAX

struct workload {
	const char *name;
	uint32_t units, frames, unit_pages, touches;
	uint32_t hot; /* of 16 touches so many are of the first eighth; 16: a sweep */
};

static const struct workload workloads[] = {
	{"hits, 64 Ki units", 65536, 65536, 1, 8 << 20, 0},
	{"hits, 1 Mi units", 1 << 20, 1 << 20, 1, 8 << 20, 0},
	{"sweeps over twice the memory", 1 << 20, 1 << 19, 1, 8 << 20, 16},
	{"random over twice the memory", 1 << 20, 1 << 19, 1, 8 << 20, 12},
	{"units of 2 MiB", 8192, 4096, 512, 4 << 20, 12},
};

static uint32_t *draw_units(const struct workload *load)
{
	uint32_t *units = malloc(load->touches * sizeof(*units));
	uint64_t state = 1;

	if (!units)
		abort();
	for (uint32_t i = 0; i < load->touches; i++) {
		/* splitmix64 */
		uint64_t x = state += 0x9e3779b97f4a7c15u;

		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
		x = (x ^ x >> 27) * 0x94d049bb133111ebu;
		x ^= x >> 31;
		units[i] = load->hot == 16	  ? i % load->units
			   : (x & 15) < load->hot ? (uint32_t)((x >> 8) % (load->units / 8))
						  : (uint32_t)((x >> 8) % load->units);
	}
	return units;
}

/* --- the floor --- */

struct node {
	uint32_t next, previous; /* NOT_RESIDENT: not in the list */
};

static void unlink_unit(struct node *nodes, uint32_t unit)
{
	nodes[nodes[unit].previous].next = nodes[unit].next;
	nodes[nodes[unit].next].previous = nodes[unit].previous;
}

static void link_first(struct node *nodes, uint32_t head, uint32_t unit)
{
	nodes[unit] = (struct node){nodes[head].next, head};
	nodes[nodes[head].next].previous = unit;
	nodes[head].next = unit;
}

static uint64_t run_floor(const struct workload *load, const uint32_t *units)
{
	uint32_t head = load->units, used = 0;
	struct node *nodes = malloc(((size_t)load->units + 1) * sizeof(*nodes));
	uint64_t misses = 0;

	if (!nodes)
		abort();
	memset(nodes, 0xff, load->units * sizeof(*nodes));
	nodes[head] = (struct node){head, head};
	for (uint32_t i = 0; i < load->touches; i++) {
		if (nodes[units[i]].next != NOT_RESIDENT) {
			unlink_unit(nodes, units[i]);
		} else if (misses++, used == load->frames) {
			uint32_t oldest = nodes[head].previous;

			unlink_unit(nodes, oldest);
			nodes[oldest].next = NOT_RESIDENT;
		} else {
			used++;
		}
		link_first(nodes, head, units[i]);
	}
	free(nodes);
	return misses;
}

/* --- an order --- */

static void check(int error)
{
	if (error)
		abort();
}

static struct um_future *look_ahead(const struct workload *load, const uint32_t *units)
{
	struct um_future *future;

	check(um_future_create(&future, load->unit_pages));
	for (uint32_t i = 0; i < load->touches; i++)
		check(um_future_add(
			future, 0,
			&(struct um_access_run){.allocation = DATA,
						.first_page = units[i] * load->unit_pages,
						.count = 1},
			i));
	check(um_future_seal(future));
	return future;
}

static void make_room(struct um_evict_order *order, const struct workload *load, bool *resident)
{
	struct um_page_range victim;

	if (!um_evict_victim(order, &victim))
		abort();
	um_evict_left(order, victim.allocation, victim.first_page);
	resident[victim.first_page / load->unit_pages] = false;
}

static uint64_t run_order(struct um_evict_order *order, const struct workload *load,
			  const uint32_t *units)
{
	bool *resident = calloc(load->units, sizeof(*resident));
	uint32_t used = 0;
	uint64_t misses = 0;

	if (!resident)
		abort();
	for (uint32_t i = 0; i < load->touches; i++) {
		struct um_page_range unit = {DATA, units[i] * load->unit_pages, load->unit_pages};
		struct um_page_range page = {DATA, unit.first_page + i % unit.pages, 1};

		if (!resident[units[i]]) {
			misses++;
			if (used == load->frames)
				make_room(order, load, resident);
			else
				used++;
			check(um_evict_arrived(order, &unit));
			resident[units[i]] = true;
		}
		um_evict_touched(order, &page);
	}
	free(resident);
	return misses;
}

static void measure_order(const struct um_evict_ops *ops, const struct workload *load,
			  const uint32_t *units, double floor_time)
{
	struct um_evict_choice choice = {.ops = ops};
	struct um_evict_order *order;
	double start = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID), ahead = 0, time;
	uint64_t misses;

	if (ops->needs_future) {
		choice.future = look_ahead(load, units);
		ahead = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	}
	check(um_evict_create(&order, &choice, NULL, 0));
	start = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);
	misses = run_order(order, load, units);
	time = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	printf("  %-8s %8.1f M touches/s %6.2f times the floor's time, %llu misses", ops->name,
	       load->touches / time / 1e6, time / floor_time, (unsigned long long)misses);
	if (ops->needs_future)
		printf(", after %.1f M touches/s to look ahead", load->touches / ahead / 1e6);
	putchar('\n');
	um_evict_destroy(order);
	um_future_destroy((struct um_future *)choice.future);
}

static void measure(const struct workload *load)
{
	uint32_t *units = draw_units(load);
	size_t count;
	const struct um_evict_ops *const *orders = um_evict_registry(&count);
	double start = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID), floor_time;
	uint64_t misses = run_floor(load, units);

	floor_time = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	printf("%s\n  %-8s %8.1f M touches/s %30s %llu misses\n", load->name, "floor",
	       load->touches / floor_time / 1e6, "", (unsigned long long)misses);
	for (size_t i = 0; i < count; i++)
		measure_order(orders[i], load, units, floor_time);
	free(units);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		measure(&workloads[i]);
	return 0;
}
