/* The machine's bitmaps against a page-by-page model, and its capacity. */
#include "sim/machine/machine.h"
#include "sim/probe/probe.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

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
static struct um_totals totals;
static const struct um_why why = {.cause = UM_CAUSE_PREFETCH};

static int make_machine(void **state)
{
	struct um_observer observer = um_probe_totals(&totals);

	(void)state;
	memset(&totals, 0, sizeof(totals));
	return um_engine_create(&engine) || um_probe_create(&probe) ||
	       um_probe_add(probe, &observer) ||
	       um_machine_create(&machine, &spec, engine, probe, 0) ||
	       um_machine_add(machine, 1, UM_HOME_MANAGED, 0, PAGES * PAGE);
}

static int destroy_machine(void **state)
{
	(void)state;
	um_machine_destroy(machine);
	um_probe_destroy(probe);
	um_engine_destroy(engine);
	return 0;
}

static struct um_page_range range(um_page first, uint32_t pages)
{
	return (struct um_page_range){1, first, pages};
}

/* --- a model: one struct a page --- */

struct page {
	bool populated, valid[3]; /* host, device 0, device 1 */
};
static struct page model[PAGES];
static uint64_t model_to_device, model_to_host;

static uint64_t model_free(um_device_id device)
{
	uint64_t used = 0;

	for (size_t i = 0; i < PAGES; i++)
		used += model[i].valid[device + 1];
	return spec.memory_bytes - used * PAGE;
}

static void model_bring(um_page first, uint32_t pages, um_device_id to, bool duplicate)
{
	for (um_page i = first; i < first + pages; i++) {
		struct page *page = &model[i];
		bool elsewhere = false;

		for (um_device_id place = -1; place < 2; place++)
			elsewhere |= place != to && page->valid[place + 1];
		if (page->populated && !page->valid[to + 1]) {
			model_to_device += to >= 0 ? PAGE : 0;
			/* between devices: through the host, unless the host has it */
			model_to_host += (to == UM_HOST || !page->valid[0]) ? PAGE : 0;
		}
		if (!(duplicate && page->populated && elsewhere))
			memset(page->valid, 0, sizeof(page->valid));
		page->valid[to + 1] = true;
	}
}

static void compare(void)
{
	for (um_device_id device = -1; device < 2; device++)
		for (um_page page = 0; page < PAGES;) {
			enum um_mapping_state map;
			uint32_t place;
			um_page end =
				um_machine_run_end(machine, 1, page, PAGES, device, &place, &map);

			assert_true(end > page);
			for (; page < end; page++) {
				bool on_device =
					device >= 0 ? model[page].valid[device + 1]
						    : model[page].valid[1] || model[page].valid[2];

				assert_int_equal(!!(place & UM_PAGE_HOST), model[page].valid[0]);
				assert_int_equal(!!(place & UM_PAGE_DEVICE), on_device);
				assert_int_equal(!!(place & UM_PAGE_POPULATED),
						 model[page].populated);
			}
		}
	for (um_device_id device = 0; device < 2; device++)
		assert_int_equal(um_machine_memory_free(machine, device), model_free(device));
	assert_int_equal(totals.bytes_to_device, model_to_device);
	assert_int_equal(totals.bytes_to_host, model_to_host);
}

static uint64_t seed = 7;
static uint32_t below(uint32_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return (uint32_t)(seed >> 33) % limit;
}

static void touch(um_page first, uint32_t pages)
{
	struct um_page_range pages_touched = range(first, pages);

	for (um_page i = first; i < first + pages; i++)
		if (!model[i].valid[0])
			return; /* only what the host has, alone or not */
	um_machine_map(machine, &pages_touched, UM_HOST, UM_MAP_LOCAL_READ, &why);
	um_machine_touch(machine, &pages_touched, UM_HOST, false, 0);
	for (um_page i = first; i < first + pages; i++)
		model[i].populated = true;
}

static uint64_t missing(um_page first, uint32_t pages, um_device_id to)
{
	uint64_t count = 0;

	for (um_page i = first; i < first + pages; i++)
		count += !model[i].valid[to + 1];
	return count;
}

static void ranges_behave_as_pages_do(void **state)
{
	(void)state;
	memset(model, 0, sizeof(model));
	model_to_device = model_to_host = 0;
	for (int i = 0; i < 3000; i++) {
		um_page first = below(PAGES);
		uint32_t pages = 1 + below(PAGES - first < 100 ? PAGES - first : 100);
		um_device_id to = (um_device_id)below(3) - 1;
		bool duplicate = below(2);
		struct um_page_range moved = range(first, pages);
		um_ns end;
		int error;

		if (below(3) == 0) {
			touch(first, pages);
			continue;
		}
		error = to >= 0 ? um_machine_reserve(machine, &moved, to) : 0;
		if (to >= 0 && missing(first, pages, to) * PAGE > model_free(to)) {
			assert_int_equal(error, UM_ELIMIT);
			continue;
		}
		assert_int_equal(error, 0);
		(duplicate ? um_machine_duplicate : um_machine_migrate)(machine, &moved, to, &why,
									0, &end);
		for (um_device_id device = 0; device < 2; device++)
			um_machine_release(machine, &moved, device);
		model_bring(first, pages, to, duplicate);
		compare();
	}
	assert_true(model_to_device > 0 && model_to_host > 0);
	um_machine_remove(machine, 1);
	assert_int_equal(um_machine_memory_free(machine, 0), spec.memory_bytes);
	assert_int_equal(um_machine_memory_free(machine, 1), spec.memory_bytes);
}

/* --- what a run is --- */

static void a_run_ends_where_the_state_does(void **state)
{
	struct um_page_range resident = range(10, 200), mapped = range(10, 100);
	enum um_mapping_state map;
	uint32_t place;
	um_ns end;

	(void)state;
	um_machine_reserve(machine, &resident, 0);
	um_machine_migrate(machine, &resident, 0, &why, 0, &end);
	assert_int_equal(um_machine_run_end(machine, 1, 0, PAGES, 0, &place, &map), 10);
	assert_int_equal(place, 0);
	assert_int_equal(um_machine_run_end(machine, 1, 10, PAGES, 0, &place, &map), 210);
	assert_int_equal(place, UM_PAGE_DEVICE);
	um_machine_map(machine, &mapped, 0, UM_MAP_LOCAL, &why);
	assert_int_equal(um_machine_run_end(machine, 1, 10, PAGES, 0, &place, &map), 110);
	assert_int_equal(map, UM_MAP_LOCAL);
	assert_int_equal(um_machine_run_end(machine, 1, 50, 90, 0, &place, &map), 90);
	assert_int_equal(um_machine_run_end(machine, 1, 10, PAGES, 1, &place, &map), PAGES);
	assert_int_equal(um_machine_run_end(machine, 1, 10, PAGES, UM_HOST, &place, &map), 210);
	assert_int_equal(um_machine_run_end(machine, 1, 299, PAGES, 0, &place, &map), PAGES);
}

static void device_allocations_take_whole_pages(void **state)
{
	(void)state;
	assert_int_equal(um_machine_add(machine, 2, UM_HOME_DEVICE, 1, 255 * PAGE + 1), 0);
	assert_int_equal(um_machine_memory_free(machine, 1), 0);
	assert_int_equal(um_machine_memory_free(machine, 0), spec.memory_bytes);
	assert_int_equal(um_machine_add(machine, 3, UM_HOME_DEVICE, 1, 1), UM_ELIMIT);
	assert_int_equal(um_machine_add(machine, 3, UM_HOME_HOST, 1, 1 << 30), 0);
	um_machine_remove(machine, 2);
	assert_int_equal(um_machine_memory_free(machine, 1), spec.memory_bytes);
}

static void what_cannot_be_is_refused(void **state)
{
	struct um_machine *other;

	(void)state;
	assert_int_equal(um_machine_add(machine, 1, UM_HOME_MANAGED, 0, PAGE), UM_EFORMAT);
	assert_int_equal(um_machine_add(machine, 0, UM_HOME_MANAGED, 0, PAGE), UM_EFORMAT);
	assert_int_equal(um_machine_add(machine, UINT32_MAX, UM_HOME_MANAGED, 0, PAGE), UM_EFORMAT);
	assert_int_equal(um_machine_add(machine, 2, UM_HOME_MANAGED, 0, UINT64_MAX), UM_EFORMAT);
	assert_int_equal(um_machine_add(machine, 2, UM_HOME_DEVICE, 2, PAGE), UM_EINVAL);
	assert_int_equal(um_machine_create(&other, &spec, engine, probe, spec.memory_bytes + 1),
			 UM_EINVAL);
	assert_int_equal(um_machine_home(machine, 77), 0);
}

static void pages_arrive_one_after_another(void **state)
{
	struct um_page_range sent = range(0, 100), first = range(0, 10), all = range(50, 100);
	um_ns end;

	(void)state;
	um_machine_populate(machine, &sent, UM_HOST, &why);
	um_machine_map(machine, &sent, UM_HOST, UM_MAP_LOCAL, &why);
	um_machine_touch(machine, &sent, UM_HOST, true, 0);
	um_machine_reserve(machine, &sent, 0);
	um_machine_migrate(machine, &sent, 0, &why, 0, &end);
	assert_int_equal(end, 100 * PAGE); /* a byte a ns, no latency */
	assert_int_equal(um_machine_ready_at(machine, &first, 0), 10 * PAGE);
	assert_int_equal(um_machine_ready_at(machine, &all, 0), end);
	assert_int_equal(um_machine_ready_at(machine, &first, UM_HOST), 0);
	assert_int_equal(um_machine_link_busy(machine, 0, true), end);
	assert_int_equal(um_machine_link_busy(machine, 0, false), 0);
}

/* --- reservations --- */

static void memory_is_taken_before_it_is_filled(void **state)
{
	struct um_page_range chunk = range(0, 200), part = range(50, 3), rest = range(200, 57);
	um_ns end;

	(void)state;
	assert_int_equal(um_machine_reserve(machine, &chunk, 0), 0);
	assert_int_equal(um_machine_memory_free(machine, 0), 56 * PAGE);
	assert_int_equal(um_machine_memory_free(machine, 1), spec.memory_bytes);
	um_machine_migrate(machine, &part, 0, &why, 0, &end);
	assert_int_equal(um_machine_memory_free(machine, 0), 56 * PAGE);
	assert_int_equal(um_machine_reserve(machine, &rest, 0), UM_ELIMIT);
	assert_int_equal(um_machine_memory_free(machine, 0), 56 * PAGE);
	um_machine_remove(machine, 1);
	assert_int_equal(um_machine_memory_free(machine, 0), spec.memory_bytes);
}

static void what_is_reserved_already_costs_nothing(void **state)
{
	struct um_page_range first = range(10, 100), second = range(60, 100), all = range(0, PAGES);

	(void)state;
	um_machine_reserve(machine, &first, 0);
	assert_int_equal(um_machine_unreserved(machine, &second, 0), 50);
	assert_int_equal(um_machine_reserve(machine, &second, 0), 0);
	assert_int_equal(um_machine_unreserved(machine, &all, 0), PAGES - 150);
	assert_int_equal(um_machine_unreserved(machine, &all, 1), PAGES);
	assert_int_equal(um_machine_memory_free(machine, 0), (256 - 150) * PAGE);
}

static void only_what_is_empty_is_released(void **state)
{
	struct um_page_range chunk = range(0, 128), filled = range(60, 10), all = range(0, PAGES);
	um_ns end;

	(void)state;
	um_machine_reserve(machine, &chunk, 0);
	um_machine_migrate(machine, &filled, 0, &why, 0, &end);
	um_machine_migrate(machine, &filled, UM_HOST, &why, 0, &end);
	assert_int_equal(um_machine_memory_free(machine, 0), 128 * PAGE); /* it keeps its memory */
	um_machine_migrate(machine, &filled, 0, &why, 0, &end);
	um_machine_release(machine, &all, 0);
	assert_int_equal(um_machine_memory_free(machine, 0), (256 - 10) * PAGE);
	um_machine_migrate(machine, &filled, UM_HOST, &why, 0, &end);
	um_machine_release(machine, &all, 0);
	assert_int_equal(um_machine_memory_free(machine, 0), spec.memory_bytes);
}

/* --- queues --- */

static int note_time(void *context, uint64_t argument)
{
	um_ns *times = context;

	times[argument] = um_engine_now(engine);
	return 0;
}

static int resume(void *context, uint64_t device)
{
	(void)context;
	return um_machine_resume(machine, (um_device_id)device);
}

static void queues_wait_for_every_resume(void **state)
{
	um_ns times[3] = {0, 0, 0};

	(void)state;
	um_machine_stop(machine, 0);
	um_machine_stop(machine, 0);
	assert_true(um_machine_is_stopped(machine, 0));
	assert_false(um_machine_is_stopped(machine, 1));
	um_machine_when_resumed(machine, 0, note_time, times, 0);
	um_engine_schedule(engine, 100, resume, NULL, 0);
	um_engine_schedule(engine, 200, note_time, times, 1);
	um_engine_schedule(engine, 300, resume, NULL, 0);
	um_engine_schedule(engine, 400, note_time, times, 2);
	assert_int_equal(um_engine_run(engine), 0);
	assert_int_equal(times[0], 300);
	assert_int_equal(times[2], 400);
	assert_false(um_machine_is_stopped(machine, 0));
	assert_int_equal(um_machine_stopped_ns(machine, 0), 300);
	assert_int_equal(um_machine_stopped_ns(machine, 1), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_machine, destroy_machine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ranges_behave_as_pages_do),
		TEST(a_run_ends_where_the_state_does),
		TEST(device_allocations_take_whole_pages),
		TEST(what_cannot_be_is_refused),
		TEST(pages_arrive_one_after_another),
		TEST(memory_is_taken_before_it_is_filled),
		TEST(what_is_reserved_already_costs_nothing),
		TEST(only_what_is_empty_is_released),
		TEST(queues_wait_for_every_resume),
	};

	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
