/*
 * Driver amdgpu_svm against svm_oracle.h, on small random programs: faults, bytes each way by
 * device, remote accesses and refusals of every operation are the same in both. For a longer search:
 * UM_RANDOM_FIRST=1000 UM_RANDOM_PROGRAMS=50000.
 */
#include "svm_oracle.h"
#include "svm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROGRAMS  250
#define LENGTH	  24
#define ALLOCS	  4
#define MEMORY	  (64 * MIB)
#define MOST_LEFT 10 /* MiB that are left for ranges */

struct step {
	int64_t op; /* in the trace */
	struct oracle_result expected;
	char text[96];
};

static struct svm svm;
static struct oracle oracle;
static struct step steps[LENGTH + 8];
static int step_count, pages[ALLOCS + 2], ids[ALLOCS + 2], alloc_count;
static int64_t taken_mib;
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

static void put_alloc(void)
{
	int count = 1 + draw(draw(2) ? 1500 : 100);
	int64_t id = svm_alloc(&svm, count);

	pages[alloc_count] = count;
	ids[alloc_count++] = (int)id;
	oracle_alloc(&oracle, (int)id, count);
}

static void put_pressure(void)
{
	int64_t id;

	if (taken_mib >= 4)
		return;
	id = fx_alloc(&svm.fx, "device", MIB);
	taken_mib++;
	oracle_take(&oracle, 0, MIB / PAGE);
	add_step(svm.fx.ops, "hipMalloc %lld: 1 MiB", (long long)id);
}

/* A run of pages; ends are round more often than not. */
static void pick_pages(int which, int *first, int *count)
{
	int unit = draw(3) ? 64 : 1;

	*first = draw(pages[which]) / unit * unit;
	*count = 1 + draw(pages[which] - *first);
	if (draw(2))
		*count = *count < unit ? *count : *count / unit * unit;
	if (!draw(4)) {
		*first = 0;
		*count = pages[which];
	}
}

static const struct {
	const char *name;
	enum oracle_attribute attribute;
	int value; /* for those without a device */
	bool has_device, multi;
} advice[] = {
	{"preferred_location", ORACLE_PREFERRED, 0, true, true},
	{"unset_preferred_location", ORACLE_PREFERRED, ORACLE_NOWHERE, false, true},
	{"accessed_by", ORACLE_IN_PLACE, 0, true, false},
	{"unset_accessed_by", ORACLE_ACCESS, 0, true, false},
	{"coarse_grain", ORACLE_CLEAR_FLAGS, ORACLE_COHERENT, false, true},
	{"unset_coarse_grain", ORACLE_SET_FLAGS, ORACLE_COHERENT, false, true},
	{"read_mostly", ORACLE_SET_FLAGS, ORACLE_READ_MOSTLY, false, true},
	{"unset_read_mostly", ORACLE_CLEAR_FLAGS, ORACLE_READ_MOSTLY, false, true},
};

static void put_advice(int which, int first, int count)
{
	int kind = draw(sizeof(advice) / sizeof(advice[0])), device = draw(oracle.setup.devices),
	    value;
	int64_t op;

	/*
	 * Several devices outside a hive: amdkfd maps a range that is partly on one of them to no
	 * other that accesses it in place, ever (svm_range_map_to_gpus); the model does.
	 */
	if (!advice[kind].multi && oracle.setup.devices > 1 && !oracle.setup.hive)
		return;
	if (advice[kind].attribute == ORACLE_PREFERRED && draw(2))
		device = UM_HOST;
	value = advice[kind].has_device ? device : advice[kind].value;
	op = fx_advise_pages(&svm.fx, ids[which], first, count, advice[kind].name,
			     advice[kind].has_device ? device : 0);
	oracle_set(&oracle, ids[which], first, count, advice[kind].attribute, value);
	add_step(op, "advise %d [%d, %d) %s %d", ids[which], first, first + count,
		 advice[kind].name, value);
}

static void put_step(void)
{
	int which = draw(alloc_count), first, count, device = draw(oracle.setup.devices),
	    kind = draw(10);
	int64_t op;

	pick_pages(which, &first, &count);
	if (kind < 3) {
		op = fx_host(&svm.fx, ids[which], first, count,
			     draw(2) ? UM_TOUCH_READ : UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
		oracle_host(&oracle, ids[which], first, count);
		add_step(op, "host %d [%d, %d)", ids[which], first, first + count);
	} else if (kind < 6) {
		svm.fx.device = device;
		op = svm_read(&svm, ids[which], first, count);
		svm.fx.device = 0;
		oracle_kernel(&oracle, device, ids[which], first, count);
		add_step(op, "kernel on %d: %d [%d, %d)", device, ids[which], first, first + count);
	} else if (kind < 8) {
		device = draw(3) ? device : UM_HOST;
		op = svm_prefetch(&svm, ids[which], first, count, device);
		oracle_set(&oracle, ids[which], first, count, ORACLE_PREFETCH, device);
		add_step(op, "prefetch %d [%d, %d) to %d", ids[which], first, first + count,
			 device);
	} else if (kind < 9 || draw(3)) {
		put_advice(which, first, count);
	} else {
		put_pressure();
	}
}

static int64_t refused(int64_t op)
{
	int64_t count = 0;

	for (size_t i = 0; i < svm.log.event_count; i++)
		if (svm.log.events[i].op == op &&
		    !strcmp(svm.log.events[i].kind, UM_EVENT_VRAM_REFUSED))
			count += svm.log.events[i].count;
	return count;
}

static void expect_same(int program, const char *what, const struct step *step, int64_t expected,
			int64_t got)
{
	if (expected == got)
		return;
	for (const struct step *each = steps; each <= step; each++)
		print_message("  %s\n", each->text);
	fail_msg("program %d (kernel %s, xnack %d, %d devices, hive %d, granule %d): %s: the rules "
		 "say %lld, the driver does %lld",
		 program, oracle.setup.old ? "6.6" : "6.8", oracle.setup.xnack,
		 oracle.setup.devices, oracle.setup.hive, oracle.setup.granule, what,
		 (long long)expected, (long long)got);
}

static void compare(int program, const struct step *step)
{
	const struct oracle_result *expected = &step->expected;
	int64_t faults = 0, remote = 0;

	for (int device = 0; device < oracle.setup.devices; device++) {
		faults += row_log_faults(&svm.log, step->op, device);
		remote += row_log_remote_reads(&svm.log, step->op, device);
		expect_same(program, "pages in", step, expected->pages_in[device],
			    row_log_moved(&svm.log, step->op, UM_HOST, device, NULL) / PAGE);
		expect_same(program, "pages out", step, expected->pages_out[device],
			    row_log_moved(&svm.log, step->op, device, UM_HOST, NULL) / PAGE);
	}
	expect_same(program, "device faults", step, expected->device_faults, faults);
	expect_same(program, "host faults", step, expected->host_faults,
		    row_log_faults(&svm.log, step->op, UM_HOST));
	expect_same(program, "remote pages", step, expected->remote_pages, remote / PAGE);
	expect_same(program, "refusals", step, expected->refused, refused(step->op));
}

static void try_program(int program)
{
	static const char *const page_sizes[] = {"page_size: 4KiB\n", "page_size: 64KiB\n",
						 "page_size: 2MiB\n"};
	static const int granules[] = {1, 16, 512};
	struct oracle_setup setup = {.memory_pages = MEMORY / PAGE};
	char parameters[64];
	int size, left;

	random_state = (uint64_t)program * 0x9e3779b97f4a7c15u + 1;
	draw(2);
	setup.devices = draw(3) ? 1 : 2;
	setup.hive = draw(2);
	setup.old = !draw(3);
	setup.xnack = draw(4);
	size = draw(8) ? 1 + draw(2) : 0;
	setup.granule = granules[size];
	left = 5 + draw(MOST_LEFT - 4);
	snprintf(parameters, sizeof(parameters), "xnack: %s, kernel: '%s', hive: %s",
		 setup.xnack ? "on" : "off", setup.old ? "6.6" : "6.8", setup.hive ? "on" : "off");
	svm_open(&svm, parameters);
	svm_choose(&svm, parameters, page_sizes[size]);
	svm.fx.machine.devices = (uint32_t)setup.devices;
	svm.fx.machine.memory_bytes = (uint64_t)MEMORY;
	oracle_init(&oracle, &setup);
	step_count = alloc_count = 0;
	taken_mib = 0;
	for (int device = 0; device < setup.devices; device++) {
		svm.fx.device = device;
		svm_leave(&svm, left * MIB);
		oracle_take(&oracle, device, (MEMORY - left * MIB) / PAGE);
	}
	svm.fx.device = 0;
	for (int i = 0; i < ALLOCS; i++)
		put_alloc();
	for (int i = 0; i < LENGTH; i++)
		put_step();
	svm_run(&svm);
	for (int i = 0; i < step_count; i++)
		compare(program, &steps[i]);
	svm_close(&svm);
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
