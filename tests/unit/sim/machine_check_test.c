/*
 * The machine's own books: what a random life does to it keeps them, and each way to break them is
 * caught, in a process of its own that must abort and say what is wrong.
 */
#include "sim/machine/machine_check.h"
#include "sim/machine/machine_internal.h"
#include "sim/probe/probe.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES 300 /* several words, and a part of one */
#define PAGE  4096

static struct um_machine_spec spec = {
	.name = "test",
	.devices = 2,
	.memory_bytes = 1 << 20, /* 256 pages */
	.link = {.to_device_bytes_per_s = 1e9, .to_host_bytes_per_s = 1e9},
};
static struct um_engine *engine;
static struct um_machine *machine;
static struct um_probe *probe;
static struct um_machine_check *check;
static const struct um_why why = {.cause = UM_CAUSE_PREFETCH};
static const struct um_page_range some = {1, 10, 100};

/* Pages 10 to 109 of allocation 1 have data, on device 0; allocation 2 is device 1's. */
static int make_machine(void **state)
{
	um_ns end;

	(void)state;
	if (um_engine_create(&engine) || um_probe_create(&probe) ||
	    um_machine_create(&machine, &spec, engine, probe, 0) ||
	    um_machine_check_create(&check, machine, probe) ||
	    um_machine_add(machine, 1, UM_HOME_MANAGED, 0, PAGES * PAGE) ||
	    um_machine_add(machine, 2, UM_HOME_DEVICE, 1, 7 * PAGE) ||
	    um_machine_populate(machine, &some, UM_HOST, &why) ||
	    um_machine_map(machine, &some, UM_HOST, UM_MAP_LOCAL, &why))
		return -1;
	um_machine_touch(machine, &some, UM_HOST, true, 1);
	return um_machine_reserve(machine, &some, 0) ||
	       um_machine_migrate(machine, &some, 0, &why, 0, &end) ||
	       um_machine_map(machine, &some, 0, UM_MAP_LOCAL, &why);
}

static int destroy_machine(void **state)
{
	(void)state;
	um_machine_check_destroy(check);
	um_machine_destroy(machine);
	um_probe_destroy(probe);
	um_engine_destroy(engine);
	return 0;
}

static void walk(void)
{
	um_machine_check_event(check);
	um_machine_check_walk(check);
}

/* --- what is right --- */

static uint64_t seed = 11;
static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return (uint32_t)(seed >> 33) % limit;
}

static void live(const struct um_page_range *range)
{
	um_device_id to = (um_device_id)below(3) - 1;
	um_ns end;

	if (to >= 0 && um_machine_reserve(machine, range, to))
		return; /* full */
	switch (below(4)) {
	case 0:
		um_machine_populate(machine, range, to, &why);
		break;
	case 1:
		um_machine_duplicate(machine, range, to, &why, 0, &end);
		break;
	default:
		um_machine_migrate(machine, range, to, &why, 0, &end);
		um_machine_map(machine, range, to, UM_MAP_LOCAL, &why);
		um_machine_touch(machine, range, to, true, 1);
		if (below(2))
			um_machine_map(machine, range, to < 0 ? 0 : UM_HOST, UM_MAP_REMOTE, &why);
	}
	if (to >= 0)
		um_machine_release(machine, range, to);
}

static void a_life_keeps_the_books(void **state)
{
	(void)state;
	walk();
	for (int i = 0; i < 3000; i++) {
		um_page first = below(PAGES);
		struct um_page_range range = {1, first, 1 + below(PAGES - first)};

		live(&range);
		walk();
	}
	um_machine_remove(machine, 1);
	um_machine_remove(machine, 2);
	walk();
}

/* --- what is wrong --- */

struct damage {
	const char *said;
	void (*break_it)(void);
};

static void reserve_beyond_capacity(void)
{
	machine->memory[1].used_bytes = machine->memory[1].total_bytes + 1;
}

static void reserve_unbooked(void)
{
	um_plane_fill(machine->allocations[1]->place[2].reserved, 0, 3, true);
}

static void book_unreserved(void)
{
	machine->memory[0].used_bytes += PAGE;
}

static void hold_without_memory(void)
{
	um_plane_fill(machine->allocations[1]->place[1].reserved, 20, 1, false);
	machine->memory[0].used_bytes -= PAGE;
}

static void lose_a_page(void)
{
	um_plane_fill(machine->allocations[1]->place[1].valid, 20, 1, false);
}

static void hold_what_never_came(void)
{
	um_plane_fill(machine->allocations[1]->place[0].valid, 200, 1, true);
}

static void carry_unreported_bytes(void)
{
	um_machine_transfer(machine, 1, false, 64, 0);
}

static void report_uncarried_bytes(void)
{
	struct um_remote_access_row row = {
		.op = 1, .device = 0, .allocation = 1, .pages = 1, .bytes_to_device = 64};

	um_probe_remote_access(probe, &row);
}

static void report_another_link(void)
{
	struct um_remote_access_row row = {
		.op = 1, .device = 1, .allocation = 1, .pages = 1, .bytes_to_device = 64};

	um_machine_transfer(machine, 0, true, 64, 0);
	um_probe_remote_access(probe, &row);
}

static void report_a_move_that_was_none(void)
{
	struct um_migration_row row = {.allocation = 1,
				       .pages = 4,
				       .source = 0,
				       .destination = UM_HOST,
				       .cause = um_word(um_cause_words, UM_CAUSE_EVICTION)};

	um_probe_migration(probe, &row);
}

static void map_local_beside_another_copy(void)
{
	um_ns end;

	um_machine_duplicate(machine, &some, UM_HOST, &why, 0, &end);
	set_mapping(&machine->allocations[1]->place[1], 30, 1, UM_MAP_LOCAL);
}

static void map_remote_what_is_here(void)
{
	set_mapping(&machine->allocations[1]->place[1], 30, 1, UM_MAP_REMOTE);
}

static void map_what_is_nowhere(void)
{
	set_mapping(&machine->allocations[1]->place[0], 299, 1, UM_MAP_REMOTE);
}

static void map_for_reading_without_a_copy(void)
{
	set_mapping(&machine->allocations[1]->place[2], 109, 1, UM_MAP_LOCAL_READ);
}

static const struct damage damages[] = {
	{"device 1 has 1048577 bytes reserved of 1048576", reserve_beyond_capacity},
	{"device 1 has 28672 bytes reserved; its allocations have 40960", reserve_unbooked},
	{"device 0 has 413696 bytes reserved; its allocations have 409600", book_unreserved},
	{"device 0 holds pages of allocation 1 without memory", hold_without_memory},
	{"page 20 of allocation 1 is populated and nowhere", lose_a_page},
	{"the host holds 1 pages; its ledger has 0", hold_what_never_came},
	{"rows tell of 409600 bytes to devices and 0 to the host; the links carried 409600 and 64",
	 carry_unreported_bytes},
	{"rows of device 0 tell of 409664 bytes to it", report_uncarried_bytes},
	{"rows of device 1 tell of 64 bytes to it", report_another_link},
	{"rows moved -96 pages to the host, its ledger has -100", report_a_move_that_was_none},
	{"device 0 maps page 30 of allocation 1 as it may not", map_local_beside_another_copy},
	{"device 0 maps page 30 of allocation 1 as it may not", map_remote_what_is_here},
	{"the host maps page 299 of allocation 1 as it may not", map_what_is_nowhere},
	{"device 1 maps page 109 of allocation 1 as it may not", map_for_reading_without_a_copy},
};

/* The next event finds it. */
static void break_it_and_go_on(const struct damage *damage, int said)
{
	signal(SIGABRT, SIG_DFL); /* cmocka's own would go on with the next test */
	dup2(said, STDERR_FILENO);
	damage->break_it();
	um_machine_check_event(check);
	_exit(0);
}

static void expect_abort(const struct damage *damage)
{
	char said[512] = "";
	int ends[2], status;
	size_t got = 0;
	ssize_t more;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		break_it_and_go_on(damage, ends[1]);
	close(ends[1]);
	while ((more = read(ends[0], said + got, sizeof(said) - 1 - got)) > 0)
		got += (size_t)more;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(said, damage->said))
		fail_msg("not caught: %s; said: %s", damage->said, said);
}

static void every_break_is_caught(void **state)
{
	(void)state;
	walk();
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
		expect_abort(&damages[i]);
}

/* 2^20 pages: their bitmaps have 15 times 2^14 words. */
#define EVENTS_A_WALK (15 * (1 << 14) / UM_CHECK_WORDS_AN_EVENT)

static void wait_for_the_walk(void)
{
	assert_int_equal(um_machine_add(machine, 3, UM_HOME_MANAGED, 0, 1ull << 32), 0);
	um_machine_check_walk(check);
	lose_a_page();
	for (int i = 0; i < EVENTS_A_WALK; i++)
		um_machine_check_event(check);
	fprintf(stderr, "not yet; ");
	for (int i = 0; i < 3; i++)
		um_machine_check_event(check);
}

static void a_large_machine_is_walked_in_turn(void **state)
{
	static const struct damage slow = {"not yet; machine check: ", wait_for_the_walk};

	(void)state;
	expect_abort(&slow);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_machine, destroy_machine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_life_keeps_the_books),
		TEST(a_large_machine_is_walked_in_turn),
		TEST(every_break_is_caught),
	};

	return cmocka_run_group_tests_name("machine_check", tests, NULL, NULL);
}
