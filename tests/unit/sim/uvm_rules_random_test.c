/*
 * Driver nvidia_uvm against uvm_oracle.h, on small random programs: faults, bytes and records each
 * way, evictions and remote accesses of every operation are the same in both. For a longer search:
 * UM_RANDOM_FIRST=1000 UM_RANDOM_PROGRAMS=50000.
 */
#include "uvm_oracle.h"
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROGRAMS 150
#define LENGTH	 28
#define ALLOCS	 3
#define MEMORY	 (64 * MIB)
#define CHUNK	 (2 * MIB)

struct step {
	int64_t op; /* in the trace */
	struct oracle_result expected;
	char text[96];
};

static struct uvm uvm;
static struct oracle oracle;
static struct step steps[LENGTH + 8];
static char parameters[128];
static int step_count, pages[ALLOCS], ids[ALLOCS];
static int64_t taken_chunks;
static uint64_t random_state;

static int draw(int below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (int)((random_state >> 33) % (uint64_t)below);
}

static void add_step(int64_t op, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_step(int64_t op, const char *format, ...)
{
	struct step *step = &steps[step_count++];
	va_list arguments;

	step->op = op;
	step->expected = oracle.result;
	va_start(arguments, format);
	vsnprintf(step->text, sizeof(step->text), format, arguments);
	va_end(arguments);
}

/* A run of pages; ends are round more often than not. */
static void pick_pages(int which, int *first, int *count)
{
	static const int units[] = {1, 8, 16, 64, 256, 512};
	int unit = units[draw(6)];

	*first = draw(pages[which]) / unit * unit;
	*count = 1 + draw(draw(3) ? 40 : pages[which]);
	if (draw(2))
		*count = (*count + unit - 1) / unit * unit;
	if (*count > pages[which] - *first)
		*count = pages[which] - *first;
}

static void put_access(int which, int first, int count)
{
	bool write = draw(2), host = draw(2);
	int64_t op;

	if (host)
		op = write ? uvm_host_write(&uvm, ids[which], first, count)
			   : uvm_host_read(&uvm, ids[which], first, count);
	else
		op = write ? uvm_write(&uvm, ids[which], first, count)
			   : uvm_read(&uvm, ids[which], first, count);
	oracle_access(&oracle, host ? ORACLE_CPU : ORACLE_GPU, ids[which], first, count, write);
	add_step(op, "%s %s %d [%d, %d)", host ? "host" : "device", write ? "writes" : "reads",
		 ids[which], first, first + count);
}

static void put_prefetch(int which, int first, int count)
{
	bool host = !draw(3);
	int64_t op = uvm_prefetch(&uvm, ids[which], first, count, host ? UM_HOST : 0);

	oracle_prefetch(&oracle, ids[which], first, count, host ? ORACLE_CPU : ORACLE_GPU);
	add_step(op, "prefetch %d [%d, %d) to the %s", ids[which], first, first + count,
		 host ? "host" : "device");
}

static void put_advice(int which, int first, int count)
{
	static const char *const names[] = {"preferred_location", "unset_preferred_location",
					    "accessed_by",	  "unset_accessed_by",
					    "read_mostly",	  "unset_read_mostly"};
	int kind = draw(6);
	bool host = draw(2) && kind < 4;
	int64_t op =
		fx_advise_pages(&uvm.fx, ids[which], first, count, names[kind], host ? UM_HOST : 0);

	oracle_advise(&oracle, ids[which], first, count, (enum oracle_advice)kind,
		      host ? ORACLE_CPU : ORACLE_GPU);
	add_step(op, "advise %d [%d, %d) %s, %s", ids[which], first, first + count, names[kind],
		 host ? "host" : "device");
}

static void put_pressure(void)
{
	if (taken_chunks >= 2)
		return;
	taken_chunks++;
	fx_alloc(&uvm.fx, "device", CHUNK);
	oracle_take(&oracle, 1);
	add_step(uvm.fx.ops, "cudaMalloc of 2 MiB");
}

static void put_step(void)
{
	int which = draw(ALLOCS), first, count, kind = draw(20);

	pick_pages(which, &first, &count);
	if (kind < 12)
		put_access(which, first, count);
	else if (kind < 15)
		put_prefetch(which, first, count);
	else if (kind < 19)
		put_advice(which, first, count);
	else
		put_pressure();
}

static void expect_same(int program, const char *what, const struct step *step, int64_t expected,
			int64_t got)
{
	if (expected == got)
		return;
	for (const struct step *each = steps; each <= step; each++)
		print_message("  %s\n", each->text);
	fail_msg("program %d (%s; %d chunks): %s: the rules say %lld, the driver does %lld",
		 program, parameters, oracle.setup.chunks, what, (long long)expected,
		 (long long)got);
}

static int64_t records(int64_t op, int64_t destination)
{
	int64_t count = 0;

	for (size_t i = 0; i < uvm.log.migration_count; i++)
		count += uvm.log.migrations[i].op == op && uvm.log.migrations[i].bytes > 0 &&
			 uvm.log.migrations[i].destination == destination;
	return count;
}

static void compare(int program, const struct step *step)
{
	const struct oracle_result *expected = &step->expected;
	int64_t op = step->op;

	expect_same(program, "device faults", step, expected->device_faults,
		    uvm_device_faults(&uvm, op));
	expect_same(program, "host faults", step, expected->host_faults, uvm_host_faults(&uvm, op));
	expect_same(program, "pages in", step, expected->pages_in, uvm_pages_in(&uvm, op));
	expect_same(program, "pages out", step, expected->pages_out, uvm_pages_out(&uvm, op));
	expect_same(program, "pages evicted", step, expected->evicted, uvm_pages_evicted(&uvm, op));
	expect_same(program, "records in", step, expected->records_in, records(op, 0));
	expect_same(program, "records out", step, expected->records_out, records(op, UM_HOST));
	expect_same(
		program, "remote pages", step, expected->remote_pages,
		(row_log_remote_reads(&uvm.log, op, 0) + row_log_remote_writes(&uvm.log, op, 0)) /
			PAGE);
}

static void begin_program(int program)
{
	static const int versions[] = {515, 535, 550, 580, 580, 580, 590, 595};
	struct oracle_setup setup = {.threshold = 51};

	random_state = (uint64_t)program * 0x9e3779b97f4a7c15u + 1;
	draw(2);
	setup.version = versions[draw(8)];
	setup.prefetch = draw(10);
	setup.threshold = draw(5) ? 51 : 1 + draw(100);
	setup.chunks = 4 + draw(8);
	snprintf(
		parameters, sizeof(parameters),
		"version: '%d', prefetch_enable: %s, prefetch_threshold: %d, thrashing_enable: off",
		setup.version, setup.prefetch ? "on" : "off", setup.threshold);
	uvm_open(&uvm, parameters);
	uvm.fx.machine.memory_bytes = (uint64_t)MEMORY;
	oracle_init(&oracle, &setup);
	step_count = 0;
	taken_chunks = 0;
	uvm_leave(&uvm, setup.chunks * CHUNK);
	for (int i = 0; i < ALLOCS; i++) {
		pages[i] = BLOCK * (1 + draw(ORACLE_WINDOWS));
		if (pages[i] < ORACLE_PAGES && draw(2))
			pages[i] += 1 + draw(BLOCK - 1);
		ids[i] = (int)uvm_alloc(&uvm, pages[i]);
		oracle_alloc(&oracle, ids[i], pages[i]);
	}
}

static void try_program(int program)
{
	begin_program(program);
	for (int i = 0; i < LENGTH; i++)
		put_step();
	uvm_run(&uvm);
	for (int i = 0; i < step_count; i++)
		compare(program, &steps[i]);
	uvm_close(&uvm);
}

static void random_programs_agree_with_the_rules(void **state)
{
	const char *first = getenv("UM_RANDOM_FIRST"), *count = getenv("UM_RANDOM_PROGRAMS");
	int program = first ? atoi(first) : 0, end = program + (count ? atoi(count) : PROGRAMS);

	(void)state;
	for (; program < end; program++)
		try_program(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs_agree_with_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
