/*
 * What must hold for every program, on random ones:
 * - no driver (explicit_copy is none) under any policy moves fewer bytes than the ideal has, either
 *   way or both together, and none that pages on demand has fewer faults;
 * - sparse accesses move no more with smaller pages;
 * - two simulations of the same give the same rows.
 *
 * A trace is its seed. UM_PROPERTY_TRACES: how many (default 10000); UM_PROPERTY_FIRST: the first;
 * what fails is printed as the command that repeats it.
 */
#include "random_trace.h"

#include "sim/ideal/ideal.h"
#include "sim/ideal/ideal_spent.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SPARSE_EVERY 10 /* of the traces, one is sparse */
#define REPEAT_EVERY 8	/* and one is simulated twice */

static struct trace_fixture fx;
static struct random_trace trace;
static uint64_t first_seed = 1, traces = 10000;

/* --- what a simulation is --- */

struct setup {
	bool svm, uvm, copies; /* explicit_copy; else demand */
	bool xnack, hive, keeps_advice, keeps_prefetch, has_rules;
	const char *kernel; /* of amdgpu_svm */
	uint64_t page_bytes, memory_bytes;
	char text[1024]; /* the policy */
};
static const uint64_t page_sizes[] = {4096, 65536, 2097152};

/* What comes of it. */
struct outcome {
	struct um_ideal_spent spent;
	uint64_t hash; /* of all rows */
	int error;
};

/* FNV-1a (Fowler, Noll, Vo), 64-bit offset basis and prime. */
static void hash_values(void *context, const int64_t *values, size_t count)
{
	struct outcome *outcome = context;

	for (size_t i = 0; i < count; i++)
		outcome->hash = (outcome->hash ^ (uint64_t)values[i]) * 0x100000001b3u;
}

static void see_op(void *context, const struct um_op_row *row)
{
	hash_values(context, (int64_t[]){1, row->op, row->start_ns, row->end_ns}, 4);
}

static void see_fault(void *context, const struct um_fault_row *row)
{
	hash_values(context,
		    (int64_t[]){2, row->op, row->device, row->allocation, row->first_page,
				row->pages, row->faults, row->start_ns, row->end_ns},
		    9);
}

static void see_migration(void *context, const struct um_migration_row *row)
{
	hash_values(context,
		    (int64_t[]){3, row->op, row->allocation, row->first_page, row->pages,
				row->bytes, row->source, row->destination, row->start_ns,
				row->end_ns},
		    10);
}

static void see_mapping(void *context, const struct um_mapping_row *row)
{
	hash_values(context,
		    (int64_t[]){4, row->op, row->device, row->allocation, row->first_page,
				row->pages, row->change[0], row->at_ns},
		    8);
}

static void see_remote(void *context, const struct um_remote_access_row *row)
{
	hash_values(context,
		    (int64_t[]){5, row->op, row->device, row->allocation, row->first_page,
				row->pages, row->bytes_to_device, row->bytes_to_host},
		    8);
}

static void see_event(void *context, const struct um_driver_event_row *row)
{
	hash_values(context,
		    (int64_t[]){6, row->op, row->device, row->count, row->start_ns, row->end_ns},
		    6);
}

static struct outcome simulate(void)
{
	struct outcome outcome = {.hash = 0xcbf29ce484222325u};
	struct um_observer spent = um_ideal_spent_observer(&outcome.spent);
	struct um_observer rows = {.context = &outcome,
				   .op = see_op,
				   .fault = see_fault,
				   .migration = see_migration,
				   .mapping = see_mapping,
				   .remote_access = see_remote,
				   .driver_event = see_event};
	struct um_simulation simulation = {
		.trace = fx.db, .policy = fx.chosen, .machine = &fx.machine};

	assert_int_equal(um_ideal_spent_init(&outcome.spent, fx.db), 0);
	assert_int_equal(um_probe_create(&simulation.probe), 0);
	assert_int_equal(um_probe_add(simulation.probe, &spent), 0);
	assert_int_equal(um_probe_add(simulation.probe, &rows), 0);
	outcome.error = um_simulate(&simulation);
	um_probe_destroy(simulation.probe);
	um_ideal_spent_fini(&outcome.spent);
	return outcome;
}

/* --- random setups --- */

static bool one_in(uint32_t n)
{
	return random_below(&trace, n) == 0;
}

static void add_text(struct setup *setup, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add_text(struct setup *setup, const char *format, ...)
{
	size_t used = strlen(setup->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(setup->text + used, sizeof(setup->text) - used, format, arguments);
	va_end(arguments);
}

static void add_uvm(struct setup *setup)
{
	static const char *const versions[] = {"515", "535", "550", "580", "590", "595"};

	add_text(setup,
		 "driver: {name: nvidia_uvm, version: '%s', faults_per_wave: %u, "
		 "fault_batch_count: %u, prefetch_enable: %s, thrashing_lapse: %s, "
		 "thrashing_pin: %u%s}\n",
		 versions[random_below(&trace, 6)], 1 + random_below(&trace, 4),
		 one_in(3) ? 1 + random_below(&trace, 4) : 256, one_in(6) ? "off" : "on",
		 one_in(2) ? "500us" : "5ms", random_below(&trace, 40),
		 one_in(2) ? ", batch_time: 0ns, block_time: 0ns, page_time: 0ns, "
			     "new_block_time: 0ns, unmap_time: 0ns, cpu_fault_time: 0ns"
			   : "");
}

static void add_driver(struct setup *setup)
{
	static const char *const orders[] = {"driver", "fifo", "lru", "random", "belady"};
	uint32_t order = random_below(&trace, 5);

	if (setup->svm)
		add_text(setup,
			 "driver: {name: amdgpu_svm, xnack: %s, kernel: \"%s\", hmm: %s, hive: %s, "
			 "prefetch_waits: %s, duplicate_window: %s}\n",
			 setup->xnack ? "on" : "off", setup->kernel, one_in(8) ? "off" : "on",
			 setup->hive ? "on" : "off", one_in(2) ? "on" : "off",
			 one_in(2) ? "0ns" : "2ms");
	else if (setup->uvm)
		add_uvm(setup);
	else if (setup->copies)
		add_text(setup, "driver: {name: explicit_copy, host_memory: %s}\n",
			 one_in(2) ? "pinned" : "pageable");
	else
		add_text(setup, "driver: {name: demand, fault_latency: %s}\n",
			 one_in(2) ? "0ns" : "1us");
	if (setup->copies)
		return; /* nothing leaves */
	add_text(setup, "evict: %s\n", orders[order]);
	if (!strcmp(orders[order], "random"))
		add_text(setup, "evict_seed: %u\n", random_below(&trace, 100));
}

static void add_rules(struct setup *setup)
{
	static const char *const advice[] = {"preferred_location: host", "preferred_location: gpu0",
					     "accessed_by: [gpu0]", "read_mostly: true"};

	add_text(setup, "program: {advice: %s, prefetch: %s}\n",
		 setup->keeps_advice ? "keep" : "drop", setup->keeps_prefetch ? "keep" : "drop");
	if (!setup->has_rules)
		return;
	add_text(setup, "advise:\n  - on: {kind: managed}\n    %s\n",
		 advice[random_below(&trace, 4)]);
	if (trace.launches && one_in(2))
		add_text(setup,
			 "prefetch:\n  - on: {kind: managed}\n    to: %s\n    before: \"%s\"\n",
			 one_in(3) ? "host" : "gpu0", "k");
}

/* Memory for some of what there is, or for all. */
static uint64_t some_memory(const struct setup *setup)
{
	uint64_t unit = setup->uvm ? 2097152 : setup->page_bytes;

	if (one_in(2))
		return 1ull << 30;
	return (uint64_t)trace.most_pages * PAGE * 2 + unit * (1 + random_below(&trace, 6));
}

static void choose(struct setup *setup)
{
	static const char *const kernels[] = {"6.8", "6.6"};

	*setup = (struct setup){
		.svm = one_in(2),
		.xnack = one_in(2),
		.hive = one_in(3),
		.keeps_advice = one_in(2),
		.keeps_prefetch = one_in(2),
		.has_rules = one_in(3),
		.kernel = kernels[random_below(&trace, 2)],
		.page_bytes = page_sizes[random_below(&trace, 3)],
	};
	setup->uvm = !setup->svm && one_in(2);
	setup->copies = !setup->svm && !setup->uvm && one_in(2);
	if (setup->uvm || setup->copies) /* that its pages move by, at the least */
		setup->page_bytes = 4096;
	setup->memory_bytes = some_memory(setup);
	add_driver(setup);
	if (!setup->uvm && !setup->copies)
		add_text(setup, "page_size: %" PRIu64 "KiB\n", setup->page_bytes / 1024);
	add_text(setup, "memory: %" PRIu64 "KiB\n", setup->memory_bytes / 1024);
	add_rules(setup);
	fx_policy(&fx, setup->text);
}

/* Of the trace that comes. */
static void choose_program(uint64_t seed)
{
	trace.state = seed ^ 0x5bd1e995;
	random_below(&trace, 2);
	trace.devices = one_in(3) ? 2 : 1;
	trace.streams = 1 + random_below(&trace, 3);
	trace.operations = 6 + random_below(&trace, 20);
	trace.most_pages = one_in(12) ? 1200 : 4 + random_below(&trace, 40);
	trace.advises = one_in(2);
	trace.prefetches = one_in(2);
	fx.machine.devices = trace.devices;
	fx.machine.compute_units = 1 + random_below(&trace, 4);
	fx.machine.link.coherent = one_in(4);
	fx.machine.xnack = UM_XNACK_PROCESS;
}

/* --- what must hold --- */

static uint64_t seed_now;
static const struct setup *setup_now;
static unsigned long refused; /* simulations that had no room */

static void tell_seed(void)
{
	dprintf(STDERR_FILENO,
		"%u devices, %s link, policy:\n%s"
		"again: UM_PROPERTY_FIRST=%" PRIu64 " UM_PROPERTY_TRACES=1 bin/property_test\n",
		fx.machine.devices, fx.machine.link.coherent ? "coherent" : "plain",
		setup_now ? setup_now->text : "", seed_now);
}

/* An assertion, or a sanitizer, ends the program without a word of ours. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
static void tell_seed_of_signal(int signal_number)
{
	tell_seed();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void fail_seed(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail_seed(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	print_error("%s\n", text);
	tell_seed();
	fail();
	abort();
}

/* Nothing but a fault brings pages, and none moves more than a unit. */
static bool pages_on_demand(const struct setup *setup)
{
	bool asks = (setup->keeps_advice && trace.advises) ||
		    (setup->keeps_prefetch && trace.prefetches) || setup->has_rules;
	bool has_room = setup->memory_bytes == 1ull << 30;

	if (asks || setup->uvm || setup->copies)
		return false;
	return !setup->svm || (setup->xnack && !strcmp(setup->kernel, "6.8") && has_room &&
			       !strstr(setup->text, "hmm: off"));
}

static void check_one(const char *what, uint64_t here, uint64_t least)
{
	if (here < least)
		fail_seed("%s: %" PRIu64 ", below the ideal of %" PRIu64, what, here, least);
}

static void check_bounds(const struct setup *setup, const struct outcome *outcome)
{
	const struct um_ideal_spent *spent = &outcome->spent;
	const struct um_ideal_request request = {
		.trace = fx.db,
		.machine = &fx.machine,
		.memory_bytes = setup->memory_bytes,
		.peers = setup->svm && setup->hive,
		.packed_bytes = (fx.chosen ? fx.chosen : &fx.policy)->driver->packed_bytes,
		.page_bytes = setup->page_bytes};
	struct um_ideal ideal;

	if (um_ideal_bounds(&ideal, &request))
		fail_seed("%s", um_error_message());
	check_one("bytes to the device", spent->bytes_to_device, ideal.bytes_to_device);
	check_one("bytes to the host", spent->bytes_to_host, ideal.bytes_to_host);
	check_one("bytes", spent->bytes_to_device + spent->bytes_to_host,
		  ideal.bytes_to_device + ideal.bytes_to_host);
	if (!pages_on_demand(setup))
		return;
	check_one("device faults", spent->device_faults, ideal.device_faults);
	check_one("host faults", spent->host_faults, ideal.host_faults);
}

static void check_any(uint64_t seed)
{
	struct setup setup;
	struct outcome outcome;

	choose_program(seed);
	random_trace_put(&trace, seed);
	choose(&setup);
	setup_now = &setup;
	outcome = simulate();
	if (outcome.error == UM_ELIMIT) {
		refused++;
		return;
	}
	if (outcome.error)
		fail_seed("%s", um_error_message());
	if (!setup.copies) /* which need not bring what a kernel overwrites */
		check_bounds(&setup, &outcome);
	if (seed % REPEAT_EVERY == 0 && simulate().hash != outcome.hash)
		fail_seed("another simulation of the same gives other rows");
}

static uint64_t sparse_traffic(struct setup *setup, uint64_t page_bytes)
{
	struct outcome outcome;

	setup->text[0] = '\0';
	add_text(setup, "driver: {name: %s}\npage_size: %" PRIu64 "KiB\n",
		 setup->svm ? "amdgpu_svm, xnack: on" : "demand", page_bytes / 1024);
	fx_policy(&fx, setup->text);
	outcome = simulate();
	if (outcome.error)
		fail_seed("%s", um_error_message());
	setup->page_bytes = page_bytes;
	setup->memory_bytes = fx.machine.memory_bytes;
	check_bounds(setup, &outcome);
	return outcome.spent.bytes_to_device + outcome.spent.bytes_to_host;
}

static void check_sparse(uint64_t seed)
{
	struct setup setup = {.svm = seed / SPARSE_EVERY % 2, .xnack = true, .kernel = "6.8"};
	uint64_t traffic[3];

	setup_now = &setup;
	choose_program(seed);
	trace.devices = fx.machine.devices = 1;
	trace.advises = trace.prefetches = false;
	fx.machine.link.coherent = false;
	random_trace_put_sparse(&trace, seed);
	for (size_t i = 0; i < 3; i++)
		traffic[i] = sparse_traffic(&setup, page_sizes[i]);
	if (traffic[0] > traffic[1] || traffic[1] > traffic[2])
		fail_seed("sparse accesses move %" PRIu64 " bytes at 4 KiB, %" PRIu64
			  " at 64 KiB, %" PRIu64 " at 2 MiB",
			  traffic[0], traffic[1], traffic[2]);
}

static void properties_hold(void **state)
{
	(void)state;
	random_trace_open(&trace, &fx);
	for (uint64_t seed = first_seed; seed < first_seed + traces; seed++) {
		seed_now = seed;
		if (seed % SPARSE_EVERY == 0)
			check_sparse(seed);
		else
			check_any(seed);
	}
	random_trace_close(&trace);
	/* Else the traces would say little. */
	if (refused > traces / 4)
		fail_msg("%lu of %" PRIu64 " simulations had no room", refused, traces);
}

int main(void)
{
	const char *count = getenv("UM_PROPERTY_TRACES"), *first = getenv("UM_PROPERTY_FIRST");
	const struct CMUnitTest tests[] = {cmocka_unit_test(properties_hold)};

	if (count)
		traces = strtoull(count, NULL, 10);
	if (first)
		first_seed = strtoull(first, NULL, 10);
	signal(SIGABRT, tell_seed_of_signal);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(tell_seed);
	return cmocka_run_group_tests_name("property", tests, NULL, NULL);
}
