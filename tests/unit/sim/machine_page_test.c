/* One page in one step against the same with the machine's verbs one after the other. */
#include "sim/machine/machine.h"
#include "sim/probe/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PAGES 100
#define PAGE  4096
#define STEPS 5000

static struct um_machine_spec spec = {
	.name = "test",
	.devices = 1,
	.memory_bytes = PAGES / 2 * PAGE,
	.link = {.to_device_bytes_per_s = 1.1e9,
		 .to_host_bytes_per_s = 0.7e9,
		 .to_device_latency_ns = 500,
		 .to_host_latency_ns = 300},
};

struct side {
	struct um_engine *engine;
	struct um_probe *probe;
	struct um_machine *machine;
	struct um_totals totals;
	um_ns end;
	unsigned done; /* in one step */
};

static void make_side(struct side *side)
{
	struct um_observer observer = um_probe_totals(&side->totals);

	assert_int_equal(um_engine_create(&side->engine), 0);
	assert_int_equal(um_probe_create(&side->probe), 0);
	assert_int_equal(um_probe_add(side->probe, &observer), 0);
	assert_int_equal(um_machine_create(&side->machine, &spec, side->engine, side->probe, 0), 0);
	assert_int_equal(
		um_machine_add(side->machine, 1, UM_HOME_MANAGED, 0, (uint64_t)PAGES * PAGE), 0);
}

static void destroy_side(struct side *side)
{
	um_machine_destroy(side->machine);
	um_probe_destroy(side->probe);
	um_engine_destroy(side->engine);
}

static void bring(struct side *side, const struct um_page_range *page, bool in_one)
{
	const struct um_why why = {.cause = UM_CAUSE_DEVICE_FAULT, .op = 7, .batch = 3};
	struct um_machine *machine = side->machine;
	bool done = false;

	if (um_machine_unreserved(machine, page, 0) * PAGE > um_machine_memory_free(machine, 0))
		return;
	if (in_one)
		assert_int_equal(um_machine_bring_page(machine, page, &why, 5, &side->end, &done),
				 0);
	side->done += done;
	if (done)
		return;
	assert_int_equal(um_machine_reserve(machine, page, 0), 0);
	assert_int_equal(um_machine_migrate(machine, page, 0, &why, 5, &side->end), 0);
	assert_int_equal(um_machine_map(machine, page, 0, UM_MAP_LOCAL, &why), 0);
}

static void send_home(struct side *side, const struct um_page_range *page, bool in_one)
{
	const struct um_why why = {.cause = UM_CAUSE_EVICTION, .op = 7};
	struct um_machine *machine = side->machine;
	bool done = false;

	if (in_one)
		assert_int_equal(
			um_machine_send_page_home(machine, page, &why, 9, &side->end, &done), 0);
	side->done += done;
	if (done)
		return;
	assert_int_equal(um_machine_migrate(machine, page, UM_HOST, &why, 9, &side->end), 0);
	assert_int_equal(um_machine_map(machine, page, UM_HOST, UM_MAP_LOCAL, &why), 0);
	um_machine_release(machine, page, 0);
}

/* Makes of a page what neither of them makes: a copy more, or data. */
static void disturb(struct side *side, const struct um_page_range *page, uint32_t chosen)
{
	const struct um_why why = {.cause = UM_CAUSE_DUPLICATE};
	um_ns end;

	if (chosen & 1)
		um_machine_fill(side->machine, page, chosen & 2 ? 0 : UM_HOST, 7);
	else if (um_machine_unreserved(side->machine, page, 0) == 0)
		assert_int_equal(um_machine_duplicate(side->machine, page, UM_HOST, &why, 0, &end),
				 0);
}

static void compare(const struct side *a, const struct side *b)
{
	assert_memory_equal(&a->totals, &b->totals, sizeof(a->totals));
	assert_int_equal(a->end, b->end);
	assert_int_equal(um_machine_memory_free(a->machine, 0),
			 um_machine_memory_free(b->machine, 0));
	assert_int_equal(um_machine_link_busy(a->machine, 0, true),
			 um_machine_link_busy(b->machine, 0, true));
	for (um_device_id device = UM_HOST; device < 1; device++)
		for (um_page page = 0; page < PAGES; page++) {
			enum um_mapping_state map[2];
			uint32_t place[2];

			um_machine_run_end(a->machine, 1, page, PAGES, device, &place[0], &map[0]);
			um_machine_run_end(b->machine, 1, page, PAGES, device, &place[1], &map[1]);
			assert_int_equal(place[0], place[1]);
			assert_int_equal(map[0], map[1]);
		}
}

static void test_same_as_verbs(void **state)
{
	struct side verbs = {0}, steps = {0};
	uint32_t x = 1;

	(void)state;
	make_side(&verbs);
	make_side(&steps);
	for (int i = 0; i < STEPS; i++) {
		x = x * 1664525u + 1013904223u;

		struct um_page_range page = {1, (x >> 8) % PAGES, 1};
		unsigned what = x >> 28;

		if (what < 7) {
			bring(&verbs, &page, false);
			bring(&steps, &page, true);
		} else if (what < 14) {
			send_home(&verbs, &page, false);
			send_home(&steps, &page, true);
		} else {
			disturb(&verbs, &page, x >> 4);
			disturb(&steps, &page, x >> 4);
		}
		compare(&verbs, &steps);
	}
	assert_in_range(steps.done, STEPS / 10, STEPS);
	assert_int_equal(verbs.done, 0);
	destroy_side(&verbs);
	destroy_side(&steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_verbs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
