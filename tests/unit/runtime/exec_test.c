#include "launch_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <string.h>

#define MAX_EVENTS (1u << 16)

/* What lanes did, in the order in which they did it. */
static struct {
	uint32_t group, lane, what;
} events[MAX_EVENTS];
static unsigned event_count;

static uint32_t my_number(void)
{
	const struct um_lane *self = um_self();

	return self->wave * UM_WAVE_LANES + self->lane;
}

static void event(uint32_t what)
{
	assert_true(event_count < MAX_EVENTS);
	events[event_count].group = um_self()->group[0];
	events[event_count].lane = my_number();
	events[event_count++].what = what;
}

static int run_plain(um_kernel_entry entry, void **args, uint32_t groups, uint32_t lanes)
{
	struct um_launch launch = fixture_launch(entry, args, groups, lanes);

	launch.hooked = false;
	event_count = 0;
	return fixture_run(&launch);
}

/* --- a group in one call --- */

static void whole_group(void **args, const struct um_lane *first, unsigned *number)
{
	assert_int_equal(first->block[0], 100);
	assert_int_equal(first->grid[0], 3);
	assert_int_equal(first->lane + first->wave + first->thread[0], 0);
	for (*number = 0; *number < first->block[0]; ++*number) {
		if (args && first->group[0] == 1 && *number == 70)
			um_fault(hipErrorLaunchFailure, "as asked for");
		events[event_count].group = first->group[0];
		events[event_count++].lane = *number;
	}
}

static void never_called(void **args)
{
	(void)args;
	fail();
}

static int run_whole(void **args)
{
	struct um_launch launch = fixture_launch(never_called, args, 3, 100);

	launch.hooked = false;
	launch.group_entry = whole_group;
	event_count = 0;
	return fixture_run(&launch);
}

static void test_a_group_in_one_call(void **state)
{
	(void)state;
	assert_int_equal(run_whole(NULL), hipSuccess);
	assert_int_equal(event_count, 300);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(events[i].group, i / 100);
		assert_int_equal(events[i].lane, i % 100);
	}
}

static void test_a_fault_leaves_that_call(void **state)
{
	void *some[] = {NULL};

	(void)state;
	assert_int_equal(run_whole(some), hipErrorLaunchFailure);
	assert_int_equal(event_count, 170);
	assert_int_equal(run_whole(NULL), hipSuccess);
	assert_int_equal(event_count, 300);
}

/* --- who a lane is --- */

static void places_kernel(void **args)
{
	const struct um_lane *self = um_self();
	unsigned char *seen = args[0];
	unsigned thread = self->thread[0] +
			  self->block[0] * (self->thread[1] + self->block[1] * self->thread[2]);
	unsigned group =
		self->group[0] + self->grid[0] * (self->group[1] + self->grid[1] * self->group[2]);

	assert_int_equal(self->lane, thread % 64);
	assert_int_equal(self->wave, thread / 64);
	seen[group * 120 + thread]++;
	event(0);
}

static void test_every_lane_once(void **state)
{
	static unsigned char seen[24 * 120];
	void *args[] = {seen};
	struct um_launch launch = fixture_launch(places_kernel, args, 1, 1);

	(void)state;
	memcpy(launch.grid, (uint32_t[]){2, 3, 4}, sizeof(launch.grid));
	memcpy(launch.block, (uint32_t[]){4, 5, 6}, sizeof(launch.block));
	event_count = 0;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	for (unsigned i = 0; i < sizeof(seen); i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(event_count, sizeof(seen));
}

static void event_kernel(void **args)
{
	(void)args;
	event(0);
}

static void test_lanes_run_in_order(void **state)
{
	(void)state;
	assert_int_equal(run_plain(event_kernel, NULL, 3, 100), hipSuccess);
	assert_int_equal(event_count, 300);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(events[i].group, i / 100);
		assert_int_equal(events[i].lane, i % 100);
	}
}

static void frame_kernel(void **args)
{
	uintptr_t *frames = args[0];

	if (*(bool *)args[1])
		um_barrier();
	frames[my_number()] = (uintptr_t)__builtin_frame_address(0);
}

static unsigned stacks_of(bool wait)
{
	static uintptr_t frames[256];
	void *args[] = {frames, &wait};
	unsigned stacks = 1;

	assert_int_equal(run_plain(frame_kernel, args, 1, 256), hipSuccess);
	for (unsigned i = 1; i < 256; i++)
		stacks += frames[i] != frames[i - 1];
	return stacks;
}

/* One after the other on one stack: no switch. Those that wait need their own. */
static void test_lanes_that_never_wait_share_a_stack(void **state)
{
	(void)state;
	assert_int_equal(stacks_of(false), 1);
	assert_int_equal(stacks_of(true), 256);
}

/* --- barriers --- */

static void barriers_kernel(void **args)
{
	unsigned rounds = *(unsigned *)args[0];

	for (unsigned round = 0; round < rounds; round++) {
		event(round);
		um_barrier();
	}
}

static void test_barrier_holds_all_lanes(void **state)
{
	unsigned rounds = 5;
	void *args[] = {&rounds};

	(void)state;
	assert_int_equal(run_plain(barriers_kernel, args, 2, 1024), hipSuccess);
	assert_int_equal(event_count, 2 * 5 * 1024);
	for (unsigned i = 0; i < event_count; i++) {
		assert_int_equal(events[i].what, i / 1024 % 5);
		assert_int_equal(events[i].lane, i % 1024);
	}
}

/* Every third lane ends before the barrier; the others must not wait for it. */
static void early_end_kernel(void **args)
{
	(void)args;
	if (my_number() % 3 == 0)
		return;
	event(0);
	um_barrier();
	if (my_number() % 3 == 1)
		return;
	event(1);
	um_barrier();
	event(2);
}

static void test_barrier_without_lanes_that_ended(void **state)
{
	unsigned expected[] = {200, 100, 100};
	unsigned at = 0;

	(void)state;
	assert_int_equal(run_plain(early_end_kernel, NULL, 1, 300), hipSuccess);
	for (unsigned what = 0; what < 3; what++)
		for (unsigned i = 0; i < expected[what]; i++)
			assert_int_equal(events[at++].what, what);
	assert_int_equal(event_count, at);
}

static void lds_sum_kernel(void **args)
{
	unsigned *sums = args[0];
	unsigned *values = (unsigned *)um_lds_dynamic;
	unsigned thread = my_number();

	values[thread] = thread + um_self()->group[0];
	for (unsigned half = um_self()->block[0] / 2; half; half /= 2) {
		um_barrier();
		if (thread < half)
			values[thread] += values[thread + half];
	}
	if (!thread)
		sums[um_self()->group[0]] = values[0];
}

static void test_reduction_in_lds(void **state)
{
	unsigned sums[20];
	void *args[] = {sums};

	(void)state;
	assert_int_equal(run_plain(lds_sum_kernel, args, 20, 256), hipSuccess);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(sums[i], 256 * 255 / 2 + 256 * i);
}

/* --- wave operations --- */

static uint64_t results[1024][4];

static void ballot_kernel(void **args)
{
	(void)args;
	results[my_number()][0] = um_wave_ballot(um_self()->lane % 2);
	results[my_number()][1] = um_wave_active();
}

static void test_ballot_of_whole_and_partial_wave(void **state)
{
	(void)state;
	assert_int_equal(run_plain(ballot_kernel, NULL, 1, 100), hipSuccess);
	for (unsigned i = 0; i < 100; i++) {
		uint64_t active = i < 64 ? UINT64_MAX : (UINT64_C(1) << 36) - 1;

		assert_int_equal(results[i][0], active & 0xaaaaaaaaaaaaaaaa);
		assert_int_equal(results[i][1], active);
	}
}

/* um_wave_active() at a site of its own: nothing that the compiler could merge with another arm. */
#define ACTIVE_HERE()                                                                              \
	__extension__({                                                                            \
		uint64_t active_ = um_wave_active();                                               \
		__asm__ volatile("# site %0" : : "i"(__COUNTER__));                                \
		active_;                                                                           \
	})

/* Blocks in the order of the source, as umhipcc keeps them. */
#ifdef __clang__
#define IN_SOURCE_ORDER __attribute__((optnone, noinline))
#else
#define IN_SOURCE_ORDER __attribute__((optimize("O0")))
#endif

IN_SOURCE_ORDER static void divergent_kernel(void **args)
{
	uint64_t *mine = results[my_number()];
	unsigned lane = um_self()->lane;

	(void)args;
	if (lane < 32) {
		mine[0] = ACTIVE_HERE();
		if (lane % 2)
			mine[1] = ACTIVE_HERE();
		else
			mine[1] = ACTIVE_HERE();
	} else {
		mine[0] = ACTIVE_HERE();
		mine[1] = ~UINT64_C(0);
	}
	mine[2] = ACTIVE_HERE();
}

static void test_active_lanes_of_nested_branches(void **state)
{
	(void)state;
	assert_int_equal(run_plain(divergent_kernel, NULL, 1, 64), hipSuccess);
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(results[i][0], i < 32 ? 0xffffffff : 0xffffffff00000000);
		if (i < 32)
			assert_int_equal(results[i][1], i % 2 ? 0xaaaaaaaa : 0x55555555);
		assert_int_equal(results[i][2], UINT64_MAX);
	}
}

/* Lane n takes n + 1 turns: lanes that left the loop wait behind it until all are there. */
IN_SOURCE_ORDER static void loop_kernel(void **args)
{
	uint64_t last = 0;

	(void)args;
	for (unsigned turn = 0; turn <= um_self()->lane; turn++)
		last = um_wave_active();
	results[my_number()][0] = last;
	results[my_number()][1] = um_wave_active();
}

static void test_active_lanes_of_uneven_loops(void **state)
{
	(void)state;
	assert_int_equal(run_plain(loop_kernel, NULL, 1, 64), hipSuccess);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(results[i][0], UINT64_MAX << i);
	/*
	 * each waits behind the loop until no lane can go on without it: the lowest site goes first
	 */
	assert_int_equal(results[0][1] & 1, 1);
}

static void ended_kernel(void **args)
{
	(void)args;
	if (um_self()->lane % 4 == 0)
		return;
	if (um_self()->lane % 4 == 1)
		um_barrier();
	else
		results[my_number()][0] = um_wave_active();
}

static void test_ended_and_barred_lanes_are_not_active(void **state)
{
	(void)state;
	assert_int_equal(run_plain(ended_kernel, NULL, 1, 64), hipSuccess);
	for (unsigned i = 2; i < 64; i += 4)
		assert_int_equal(results[i][0], 0xcccccccccccccccc);
}

static void shuffle_kernel(void **args)
{
	unsigned lane = um_self()->lane;
	unsigned sum = lane;

	(void)args;
	for (unsigned step = 32; step; step /= 2)
		sum += um_wave_read(sum, lane ^ step);
	results[my_number()][0] = sum;
	if (lane < 10) /* lane 20 is not here: each keeps its own */
		results[my_number()][1] = um_wave_read(lane + 100, lane % 2 ? 20 : 3);
}

static void test_shuffles(void **state)
{
	(void)state;
	assert_int_equal(run_plain(shuffle_kernel, NULL, 1, 256), hipSuccess);
	for (unsigned i = 0; i < 256; i++) {
		assert_int_equal(results[i][0], 63 * 64 / 2);
		if (i % 64 < 10)
			assert_int_equal(results[i][1], i % 2 ? i % 64 + 100 : 103);
	}
}

/* --- groups that wait for each other --- */

static unsigned *flags; /* in the arena */

/* Group n waits for group n + 1; static and dynamic LDS must be its own all the while. */
static char static_lds[64];

static void backwards_kernel(void **args)
{
	unsigned group = um_self()->group[0];
	unsigned *lds = (unsigned *)um_lds_dynamic;
	bool hooked = *(bool *)args[0];

	lds[my_number()] = group * 1000 + my_number();
	static_lds[my_number() % 64] = (char)group;
	um_barrier();
	if (my_number() == 0 && group + 1 < um_self()->grid[0]) {
		if (hooked)
			while (!LOAD(&flags[group + 1]))
				;
		else
			while (!*(volatile unsigned *)&flags[group + 1])
				um_yield();
	}
	um_barrier();
	assert_int_equal(lds[my_number()], group * 1000 + my_number());
	assert_int_equal(static_lds[my_number() % 64], (char)group);
	if (my_number() == 0)
		STORE(&flags[group], 1);
	event(0);
}

static void run_backwards(bool hooked, uint32_t groups, uint32_t lanes)
{
	void *args[] = {&hooked};
	struct um_launch launch = fixture_launch(backwards_kernel, args, groups, lanes);

	memset(flags, 0, 4096);
	launch.hooked = hooked;
	launch.op = hooked;
	launch.dynamic_lds_bytes = lanes * 4;
	launch.static_lds = static_lds;
	launch.static_lds_bytes = sizeof(static_lds);
	event_count = 0;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_int_equal(event_count, groups * lanes);
	assert_int_equal(events[0].group, groups - 1);
	assert_int_equal(events[event_count - 1].group, 0);
}

static void test_groups_that_wait_for_later_groups(void **state)
{
	(void)state;
	flags = fixture_alloc(4096);
	run_backwards(true, 50, 100);
	run_backwards(false, 50, 100);
	run_backwards(true, 20, 1);
	run_backwards(true, 20, 1024);
}

static void grid_barrier(unsigned *arrived, unsigned target)
{
	um_barrier();
	if (my_number() == 0) {
		ATOMIC_ADD(arrived, 1);
		while (LOAD(arrived) < target)
			;
	}
	um_barrier();
}

static void grid_barrier_kernel(void **args)
{
	unsigned groups = um_self()->grid[0];

	(void)args;
	for (unsigned step = 0; step < 5; step++) {
		if (my_number() == 0)
			event(step);
		grid_barrier(&flags[0], groups * (step + 1));
	}
}

static void test_grid_barrier(void **state)
{
	struct um_launch launch = fixture_launch(grid_barrier_kernel, NULL, 40, 128);

	(void)state;
	flags = fixture_alloc(4096);
	launch.cooperative = true;
	event_count = 0;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_int_equal(event_count, 200);
	for (unsigned i = 0; i < event_count; i++)
		assert_int_equal(events[i].what, i / 40);
}

/* Group 0 waits for flags of the others on far more lines than a lane that spins looks at. */
static void scan_kernel(void **args)
{
	unsigned group = um_self()->group[0];
	unsigned set = 0;

	(void)args;
	while (!group && set < 1000) {
		set = 0;
		for (unsigned i = 0; i < 1000; i++)
			set += LOAD(&flags[i * 16]);
	}
	if (group)
		for (unsigned i = 0; i < 1000; i++)
			STORE(&flags[i * 16], 1);
	event(0);
}

static void test_a_group_that_scans_for_ever_gives_up_its_turn(void **state)
{
	struct um_launch launch = fixture_launch(scan_kernel, NULL, 2, 1);

	(void)state;
	flags = fixture_alloc(64000);
	event_count = 0;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_int_equal(event_count, 2);
	assert_int_equal(events[0].group, 1);
}

/* Long, on one line, but working: no reason to start other groups in between. */
static void counting_kernel(void **args)
{
	(void)args;
	for (unsigned i = 0; i < 5000; i++)
		ATOMIC_ADD(&flags[0], 1);
	event(0);
}

static void test_a_group_that_counts_keeps_its_turn(void **state)
{
	struct um_launch launch = fixture_launch(counting_kernel, NULL, 4, 64);

	(void)state;
	flags = fixture_alloc(4096);
	event_count = 0;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_int_equal(flags[0], 4 * 64 * 5000);
	assert_int_equal(sent.touch_count, 4); /* a group that comes back touches the page again */
	for (unsigned i = 0; i < 4 * 64; i++)
		assert_int_equal(events[i].group, i / 64);
}

static void test_cooperative_launch_must_fit(void **state)
{
	struct um_launch launch = fixture_launch(event_kernel, NULL, 3, 1024);

	(void)state;
	fixture_compute_units = 1;
	event_count = 0;
	launch.cooperative = true;
	assert_int_equal(fixture_run(&launch), hipErrorCooperativeLaunchTooLarge);
	launch.grid[0] = 2;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_int_equal(event_count, 2048);
	fixture_compute_units = 110;
}

/* --- launches that fail --- */

static void dead_kernel(void **args)
{
	(void)args;
	if (um_self()->group[0] == 1 && my_number() == 5)
		while (!LOAD(&flags[3]))
			;
	um_barrier();
}

static void test_deadlock_names_what_it_waits_for(void **state)
{
	struct um_launch launch = fixture_launch(dead_kernel, NULL, 4, 64);
	char text[512], address[32];

	(void)state;
	flags = fixture_alloc(4096);
	assert_int_equal(fixture_run_captured(&launch, text, sizeof(text)), hipErrorLaunchFailure);
	snprintf(address, sizeof(address), "%p", (void *)&flags[3]);
	assert_non_null(strstr(text, "test_kernel"));
	assert_non_null(strstr(text, "group (1,0,0), lane 5"));
	assert_non_null(strstr(text, address));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(run_plain(event_kernel, NULL, 1, 64), hipSuccess);
}

static void dead_yield_kernel(void **args)
{
	(void)args;
	for (;;)
		um_yield();
}

static void test_endless_yield_fails(void **state)
{
	struct um_launch launch = fixture_launch(dead_yield_kernel, NULL, 1, 1);
	char text[512];

	(void)state;
	launch.hooked = false;
	assert_int_equal(fixture_run_captured(&launch, text, sizeof(text)), hipErrorLaunchFailure);
	assert_non_null(strstr(text, "group (0,0,0), lane 0 spins in um_yield()"));
}

/* AddressSanitizer would say that it does not know the stack which um_fault() abandons. */
__attribute__((no_sanitize("address"))) static void fault_kernel(void **args)
{
	(void)args;
	um_barrier();
	if (um_self()->group[1] == 1 && my_number() == 70)
		um_fault(hipErrorAssert, "assertion failed");
	um_barrier();
}

static void test_fault_ends_the_launch(void **state)
{
	struct um_launch launch = fixture_launch(fault_kernel, NULL, 1, 128);
	char text[512];

	(void)state;
	launch.grid[1] = 3;
	assert_int_equal(fixture_run_captured(&launch, text, sizeof(text)), hipErrorAssert);
	assert_string_equal(text, "umtrace: kernel test_kernel: group (0,1,0), lane 70: "
				  "assertion failed\n");
	assert_int_equal(run_plain(event_kernel, NULL, 2, 1024), hipSuccess);
	assert_int_equal(event_count, 2048);
}

/* Lane 0 waits for lane 9, which is at a ballot that lane 0 will never come to. */
static void lane_waits_kernel(void **args)
{
	(void)args;
	if (my_number() == 0) {
		while (!LOAD(&flags[9]))
			;
		return;
	}
	results[my_number()][0] = um_wave_active();
	if (my_number() == 9)
		STORE(&flags[9], 1);
}

static void test_ballot_goes_on_without_a_spinning_lane(void **state)
{
	struct um_launch launch = fixture_launch(lane_waits_kernel, NULL, 1, 64);

	(void)state;
	flags = fixture_alloc(4096);
	assert_int_equal(fixture_run(&launch), hipSuccess);
	for (unsigned i = 1; i < 64; i++)
		assert_int_equal(results[i][0], UINT64_MAX - 1);
}

/* --- services --- */

static void services_kernel(void **args)
{
	unsigned long before = um_clock();
	char *memory = um_device_malloc(1000);

	(void)args;
	assert_true(um_clock() > before);
	assert_non_null(memory);
	memset(memory, 1, 1000);
	assert_null(um_device_malloc(2 << 20)); /* the fixture's device has 1 MiB */
	um_device_free(memory);
	um_device_free(NULL);
}

static void test_services(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(run_plain(services_kernel, NULL, 1, 64), hipSuccess);
}

static void test_shape_limits(void **state)
{
	struct um_launch launch = fixture_launch(event_kernel, NULL, 1, 1025);

	(void)state;
	assert_int_equal(fixture_run(&launch), hipErrorInvalidValue);
	launch.block[0] = 1;
	launch.dynamic_lds_bytes = UM_LDS_BYTES + 1;
	assert_int_equal(fixture_run(&launch), hipErrorInvalidValue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_lane_once),
		cmocka_unit_test(test_a_group_in_one_call),
		cmocka_unit_test(test_a_fault_leaves_that_call),
		cmocka_unit_test(test_lanes_run_in_order),
		cmocka_unit_test(test_lanes_that_never_wait_share_a_stack),
		cmocka_unit_test(test_barrier_holds_all_lanes),
		cmocka_unit_test(test_barrier_without_lanes_that_ended),
		cmocka_unit_test(test_reduction_in_lds),
		cmocka_unit_test(test_ballot_of_whole_and_partial_wave),
		cmocka_unit_test(test_active_lanes_of_nested_branches),
		cmocka_unit_test(test_active_lanes_of_uneven_loops),
		cmocka_unit_test(test_ended_and_barred_lanes_are_not_active),
		cmocka_unit_test(test_shuffles),
		cmocka_unit_test(test_groups_that_wait_for_later_groups),
		cmocka_unit_test(test_grid_barrier),
		cmocka_unit_test(test_a_group_that_scans_for_ever_gives_up_its_turn),
		cmocka_unit_test(test_a_group_that_counts_keeps_its_turn),
		cmocka_unit_test(test_cooperative_launch_must_fit),
		cmocka_unit_test(test_deadlock_names_what_it_waits_for),
		cmocka_unit_test(test_endless_yield_fails),
		cmocka_unit_test(test_fault_ends_the_launch),
		cmocka_unit_test(test_ballot_goes_on_without_a_spinning_lane),
		cmocka_unit_test(test_services),
		cmocka_unit_test(test_shape_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
