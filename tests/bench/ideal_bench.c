/*
 * How much of a processor's time the ideal takes of a trace, beside the replay of it that it is printed with. Touches are
 * those that the trace's runs expand to; rows are those of page_access.
 */
#include "bench_clock.h"
#include "sim/ideal/ideal.h"
#include "tests/unit/sim/trace_fixture.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>

#define GROUPS 256

struct workload {
	const char *name;
	int64_t pages, memory_pages, launches, touches; /* of each launch */
	int random;
};

static const struct workload workloads[] = {
	{"1 GiB, 4 sweeps, resident", 262144, 262144, 4, 262144, 0},
	{"1 GiB, 4 sweeps, half of it", 262144, 131072, 4, 262144, 0},
	{"1 M random touches, 1 launch", 65536, 32768, 1, 1 << 20, 1},
	{"1 M random touches, 64 launches", 65536, 32768, 64, 1 << 14, 1},
	{"1 M random touches, resident", 65536, 65536, 64, 1 << 14, 1},
};

/* splitmix64 */
static uint64_t mixed(uint64_t number)
{
	uint64_t x = number * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static int64_t put_sweep(struct trace_fixture *fx, const struct workload *load, int64_t data)
{
	for (int64_t group = 0; group < GROUPS; group++)
		fx_touch_range(fx, (uint64_t)group, data, group * (load->pages / GROUPS),
			       load->pages / GROUPS, false);
	fx_lines(fx, data, 0, load->pages, UM_TOUCH_READ, UINT64_MAX, 0);
	return 1;
}

static int64_t put_random(struct trace_fixture *fx, const struct workload *load, int64_t data,
			  int64_t launch)
{
	uint64_t *lines = calloc((size_t)load->pages, sizeof(*lines));
	int64_t rows = 0;

	if (!lines)
		abort();
	for (int64_t i = 0; i < load->touches; i++) {
		uint64_t x = mixed((uint64_t)(launch * load->touches + i));
		int64_t page = (int64_t)(x % (uint64_t)load->pages);

		fx_touch(fx, (uint64_t)(i * GROUPS / load->touches), data, page, false);
		lines[page] |= 1ull << (x >> 58);
	}
	for (int64_t page = 0; page < load->pages; page++)
		if (lines[page]) {
			fx_lines(fx, data, page, 1, UM_TOUCH_READ, lines[page], 0);
			rows++;
		}
	free(lines);
	return rows;
}

static int64_t put_trace(struct trace_fixture *fx, const struct workload *load)
{
	int64_t data = fx_alloc(fx, "managed", load->pages * PAGE), rows = 1;

	fx_host(fx, data, 0, load->pages, UM_TOUCH_WRITTEN);
	um_db_begin(fx->db);
	for (int64_t launch = 0; launch < load->launches; launch++) {
		fx_launch(fx, "k", GROUPS, 0);
		rows += load->random ? put_random(fx, load, data, launch)
				     : put_sweep(fx, load, data);
		fx_launch_end(fx);
	}
	um_db_commit(fx->db);
	return rows;
}

static void measure(const struct workload *load)
{
	struct trace_fixture fx;
	struct um_ideal_request request = {.memory_bytes = (uint64_t)load->memory_pages * PAGE,
					   .page_bytes = PAGE};
	struct um_ideal ideal;
	double start, replay, bounds;
	int64_t rows;

	fx_open(&fx);
	rows = put_trace(&fx, load);
	fx.policy.memory_bytes = request.memory_bytes;
	fx.machine.memory_bytes = 1ull << 40;
	fx.machine.compute_units = 128; /* all groups in flight */
	request.trace = fx.db;
	request.machine = &fx.machine;
	start = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);
	fx_run(&fx);
	replay = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	start = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);
	if (um_ideal_bounds(&ideal, &request))
		abort();
	bounds = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	printf("%-32s %9lld rows  replay %8.1f ms  ideal %7.1f ms  %5.1f %%  (faults %llu, ideal "
	       "%llu)\n",
	       load->name, (long long)rows, replay * 1e3, bounds * 1e3, 100 * bounds / replay,
	       (unsigned long long)fx.totals.device_faults,
	       (unsigned long long)ideal.device_faults);
	fx_close(&fx);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		measure(&workloads[i]);
	return 0;
}
