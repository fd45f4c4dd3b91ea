/* Memory that HIP did not allocate: which mapping is which allocation, and what becomes of both. */
#include "launch_fixture.h"
#include "trace/runtime/host_maps.h"
#include "trace/runtime/memory_registered.h"
#include "trace/runtime/pageable.h"
#include "trace/spool/spool_record.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	  ((size_t)UM_PAGE_BYTES)
#define BLOCK	  ((size_t)2 << 20)
#define RW	  (PROT_READ | PROT_WRITE)
#define ALL_LINES UINT64_MAX

static uint64_t map_readings;

/* The linker puts it before the runtime's: every reading of /proc/self/maps is counted. */
bool __real_um_host_maps_each(bool (*look)(const struct um_host_map *, void *), void *context);
bool __wrap_um_host_maps_each(bool (*look)(const struct um_host_map *, void *), void *context);

bool __wrap_um_host_maps_each(bool (*look)(const struct um_host_map *, void *), void *context)
{
	map_readings++;
	return __real_um_host_maps_each(look, context);
}

/* Adds 1 to the first word of each of `pages` pages, one a lane. */
static void first_words(void **args)
{
	char *memory = *(char **)args[0];
	uint64_t pages = *(uint64_t *)args[1];
	const struct um_lane *self = um_self();
	uint64_t i = (uint64_t)self->group[0] * self->block[0] + self->thread[0];

	if (i < pages)
		STORE((int *)(memory + i * PAGE), LOAD((int *)(memory + i * PAGE)) + 1);
}

static void read_bytes(void **args)
{
	um_access_range(*(char **)args[0], *(uint64_t *)args[1], UM_ACCESS(0, UM_ACCESS_READ, 1));
}

static void run(um_kernel_entry entry, const void *memory, uint64_t count, uint32_t lanes)
{
	void *args[] = {&memory, &count};
	struct um_launch launch = fixture_launch(entry, args, 1, lanes);

	assert_int_equal(fixture_run(&launch), hipSuccess);
}

static void touch(const void *memory, uint64_t pages)
{
	run(first_words, memory, pages, 256);
}

/*
 * With a page that nobody may touch on either side, so that it is a mapping of its own; it begins at
 * 2 MiB.
 */
static char *map_alone(size_t pages)
{
	size_t bytes = (pages + 2) * PAGE + BLOCK;
	char *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *memory = room + BLOCK - ((uintptr_t)room & (BLOCK - 1));

	assert_true(room != MAP_FAILED);
	munmap(room, (size_t)(memory - room) - PAGE);
	munmap(memory + (pages + 1) * PAGE, (size_t)(room + bytes - memory) - (pages + 1) * PAGE);
	assert_int_equal(mprotect(memory, pages * PAGE, RW), 0);
	/* so that a page is populated when it is touched, and not before */
	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

/* The launch finds it gone, before something else can lie there. */
static void unmap_alone(char *memory, size_t pages)
{
	assert_int_equal(munmap(memory - PAGE, (pages + 2) * PAGE), 0);
	touch(fixture_alloc(PAGE), 1);
}

static const struct sent_allocation *only_allocation(void)
{
	assert_int_equal(sent.allocation_count, 1);
	assert_int_equal(sent.allocations[0].kind, UM_ALLOCATION_PAGEABLE);
	return &sent.allocations[0];
}

static void check_allocation(const void *address, size_t bytes, const char *name)
{
	const struct sent_allocation *allocation = only_allocation();

	assert_true(allocation->address == (uintptr_t)address);
	assert_int_equal(allocation->bytes, bytes);
	assert_string_equal(allocation->name, name);
}

static void check_run(size_t number, uint32_t allocation, uint32_t first_page, uint32_t pages)
{
	assert_true(number < sent.run_count);
	assert_int_equal(sent.runs[number].allocation, allocation);
	assert_int_equal(sent.runs[number].first_page, first_page);
	assert_int_equal(sent.runs[number].pages, pages);
}

/* --- what is recorded --- */

static void a_mapping_is_an_allocation(void **state)
{
	char *memory = map_alone(300);

	(void)state;
	touch(memory + 10 * PAGE, 200);
	check_allocation(memory, 300 * PAGE, "");
	assert_int_equal(only_allocation()->flags, 0);
	assert_int_equal(sent.run_count, 1);
	check_run(0, only_allocation()->id, 10, 200);
	assert_int_equal(sent.runs[0].touch, UM_TOUCH_READ | UM_TOUCH_WRITTEN);
	assert_int_equal(sent.runs[0].lines_written, 1);
	assert_int_equal(sent.runs[0].requests, 2);
	assert_int_equal(sent.touch_count, 400);
	assert_int_equal(sent.touches[0].page, 10);
	assert_int_equal(sent.touches[0].allocation, only_allocation()->id);
	assert_int_equal(totals.reads, 200);
	assert_int_equal(totals.writes, 200);
	assert_int_equal(totals.outside, 0);

	uint32_t id = only_allocation()->id;

	touch(memory, 1);
	assert_int_equal(sent.allocation_count, 0);
	check_run(0, id, 0, 1);
	unmap_alone(memory, 300);
}

static void what_the_host_had_put_there(void **state)
{
	char *memory = map_alone(1024);

	(void)state;
	memset(memory + 3 * PAGE, 1, 5 * PAGE);
	memset(memory + 1020 * PAGE, 1, PAGE);
	touch(memory, 2);
	/* the block of the last page is not looked at: nobody touches it */
	assert_true(sent.host_run_count >= 1);
	assert_int_equal(sent.host_runs[0].first_page, 3);
	assert_int_equal(sent.host_runs[0].pages, 5);
	assert_int_equal(sent.host_runs[0].touch, UM_TOUCH_WRITTEN | UM_TOUCH_LINES_UNKNOWN);
	for (size_t i = 0; i < sent.host_run_count; i++)
		assert_true(sent.host_runs[i].first_page > 2);

	memset(memory, 2, 2 * PAGE); /* known already */
	memory[100 * PAGE] = 2;
	touch(memory, 1);
	assert_int_equal(sent.host_run_count, 1);
	assert_int_equal(sent.host_runs[0].first_page, 100);
	assert_int_equal(sent.host_runs[0].pages, 1);
	unmap_alone(memory, 1024);
}

static void off_it_is_only_counted(void **state)
{
	char *memory = map_alone(4);

	(void)state;
	um_pageable = false;
	touch(memory, 4);
	um_pageable = true;
	assert_int_equal(totals.outside, 8);
	assert_int_equal(sent.allocation_count, 0);
	assert_int_equal(sent.run_count, 0);
	unmap_alone(memory, 4);
}

/* --- kinds of mappings --- */

static void the_heap_and_small_allocations(void **state)
{
	int *first = malloc(sizeof(*first)), *last = first;

	(void)state;
	if ((uintptr_t)sbrk(0) - (uintptr_t)first > UINT64_C(1) << 30) {
		free(first); /* AddressSanitizer's malloc() does without the heap */
		skip();
	}
	*first = 0;
	for (size_t i = 0; i < 1000000; i++) {
		last = malloc(24);
		assert_non_null(last);
		*last = 0;
	}
	run(first_words, first, 1, 1);
	assert_string_equal(only_allocation()->name, "[heap]");
	assert_int_equal(only_allocation()->flags, UM_PAGEABLE_HEAP);

	uint32_t id = only_allocation()->id;

	run(first_words, last, 1, 1);
	assert_int_equal(sent.allocation_count, 0);
	assert_int_equal(sent.runs[0].allocation, id);
	assert_true(sent.runs[0].first_page > 1000000 * 32 / PAGE);
}

static void a_heap_that_grows(void **state)
{
	intptr_t odd = (intptr_t)((uintptr_t)sbrk(0) & (PAGE - 1));
	char *fresh = (char *)sbrk((odd ? (intptr_t)PAGE - odd : 0) + 64 * (intptr_t)PAGE);

	(void)state;
	assert_true(fresh != (void *)-1);
	touch((char *)sbrk(0) - PAGE, 1);
	assert_string_equal(only_allocation()->name, "[heap]");

	uint64_t heap_end = only_allocation()->address + only_allocation()->bytes;

	assert_true(sbrk(64 * PAGE) == (void *)heap_end);
	touch((char *)heap_end, 64);
	check_allocation((void *)heap_end, 64 * PAGE, "[heap]");
	assert_int_equal(only_allocation()->flags, UM_PAGEABLE_HEAP);
	assert_true(sbrk(-128 * (intptr_t)PAGE) != (void *)-1);
}

/* AddressSanitizer would have the variable elsewhere, to find who uses it after the return. */
__attribute__((no_sanitize_address)) static void the_stack_of_main(void **state)
{
	int variable[2] = {1, 1};

	(void)state;
	run(first_words, variable, 1, 1);
	assert_string_equal(only_allocation()->name, "[stack]");
	assert_int_equal(only_allocation()->flags, UM_PAGEABLE_STACK);
	assert_int_equal(variable[0], 2);
}

struct thread_stack {
	pthread_barrier_t barrier;
	int *variable;
};

static void *lend_stack(void *context)
{
	struct thread_stack *thread = context;
	int variable = 5;

	thread->variable = &variable;
	pthread_barrier_wait(&thread->barrier);
	pthread_barrier_wait(&thread->barrier);
	assert_int_equal(variable, 6);
	return NULL;
}

static void the_stack_of_a_thread_is_like_any_memory(void **state)
{
	struct thread_stack lent;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_barrier_init(&lent.barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, lend_stack, &lent), 0);
	pthread_barrier_wait(&lent.barrier);
	run(first_words, lent.variable, 1, 1);
	pthread_barrier_wait(&lent.barrier);
	pthread_join(thread, NULL);
	assert_string_equal(only_allocation()->name, "");
	assert_int_equal(only_allocation()->flags, 0);
	assert_int_equal(sent.run_count, 1);
}

static int global;

static void a_variable_of_the_program(void **state)
{
	(void)state;
	run(first_words, &global, 1, 1);
	assert_int_equal(only_allocation()->flags & UM_PAGEABLE_STACK, 0);
	assert_int_equal(sent.run_count, 1);
	assert_int_equal(global, 1);
}

static char *map_file(const char *name, size_t pages, int flags, int protection)
{
	int file = memfd_create(name, MFD_CLOEXEC);
	char *memory;

	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (off_t)(pages * PAGE)), 0);
	memory = mmap(NULL, pages * PAGE, protection, flags, file, 0);
	assert_true(memory != MAP_FAILED);
	close(file);
	return memory;
}

static void a_shared_file(void **state)
{
	char *memory = map_file("shared", 20, MAP_SHARED, RW);

	(void)state;
	touch(memory + PAGE, 2);
	check_allocation(memory, 20 * PAGE, "memfd:shared");
	/* a file has data whether or not anybody has looked at it */
	assert_int_equal(sent.host_run_count, 1);
	assert_int_equal(sent.host_runs[0].pages, 20);
	munmap(memory, 20 * PAGE);
}

static void a_mapping_that_is_only_read(void **state)
{
	char *memory = map_file("only read", 3, MAP_PRIVATE, PROT_READ);

	(void)state;
	run(read_bytes, memory, 3 * PAGE, 1);
	check_allocation(memory, 3 * PAGE, "memfd:only read");
	assert_int_equal(sent.runs[0].pages, 3);
	assert_true(sent.runs[0].lines_read == ALL_LINES);
	assert_int_equal(totals.reads, 1);
	assert_int_equal(totals.bytes_read, 3 * PAGE);
	munmap(memory, 3 * PAGE);
}

static void shared_anonymous_memory_has_no_name(void **state)
{
	char *memory = mmap(NULL, 4 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	touch(memory, 4);
	check_allocation(memory, 4 * PAGE, "");
	munmap(memory, 4 * PAGE);
}

/* --- edges --- */

static void a_gap_stays_outside(void **state)
{
	char *memory = map_alone(9);

	(void)state;
	assert_int_equal(mprotect(memory + 4 * PAGE, PAGE, PROT_NONE), 0);
	/* the hook comes before the access, which would crash */
	run(read_bytes, memory + 4 * PAGE, PAGE, 1);
	assert_int_equal(totals.outside, 1);
	assert_int_equal(sent.allocation_count, 0);
	run(read_bytes, memory, 9 * PAGE, 1);
	assert_int_equal(sent.allocation_count, 2);
	assert_int_equal(sent.allocations[0].bytes, 4 * PAGE);
	assert_int_equal(sent.allocations[1].bytes, 4 * PAGE);
	assert_int_equal(sent.run_count, 2);
	check_run(0, sent.allocations[0].id, 0, 4);
	check_run(1, sent.allocations[1].id, 0, 4);
	unmap_alone(memory, 9);
}

static void a_buffer_that_spans_two_mappings(void **state)
{
	char *memory = map_alone(8);

	(void)state;
	assert_int_equal(mprotect(memory + 5 * PAGE, 3 * PAGE, PROT_READ), 0);
	run(read_bytes, memory + 4 * PAGE + 100, 2 * PAGE, 1);
	assert_int_equal(sent.allocation_count, 2);
	check_run(0, sent.allocations[0].id, 4, 1);
	check_run(1, sent.allocations[1].id, 0, 1);
	check_run(2, sent.allocations[1].id, 1, 1);
	assert_int_equal(totals.reads, 1);
	assert_int_equal(totals.outside, 0);
	unmap_alone(memory, 8);
}

static void an_access_across_the_border_counts_once(void **state)
{
	char *memory = map_alone(2);
	const char *address = memory + PAGE - 8;

	(void)state;
	assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_READ), 0);
	run(read_bytes, address, 16, 1);
	assert_int_equal(sent.run_count, 2);
	assert_true(sent.runs[0].lines_read == UINT64_C(1) << 63);
	assert_int_equal(sent.runs[1].lines_read, 1);
	unmap_alone(memory, 2);
}

static void what_no_kernel_can_use_of_a_reservation(void **state)
{
	uint64_t bytes = UINT64_C(1) << 40;
	char *memory = mmap(NULL, bytes, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *far;

	(void)state;
	assert_true(memory != MAP_FAILED);
	far = memory + (bytes >> 1) + 5 * PAGE;
	touch(far, 1);
	assert_int_equal(only_allocation()->bytes, UINT64_C(1) << 30);
	assert_int_equal(only_allocation()->address, (uintptr_t)far & -(UINT64_C(1) << 30));
	munmap(memory, bytes);
}

/* Where the mapping that holds `wanted` ends. */
struct end {
	uintptr_t wanted, end;
};

static bool find_end(const struct um_host_map *map, void *context)
{
	struct end *end = context;

	if (map->start <= end->wanted && end->wanted < map->end)
		end->end = map->end;
	return !end->end;
}

/* The lane on the highest of the stacks that are mapped together reads what lies behind it. */
static void look_behind_the_stack(void **args)
{
	char **seen = *(char ***)args[0];
	struct end end = {(uintptr_t)__builtin_frame_address(0), 0};

	um_barrier(); /* a stack for each lane */
	if (um_self()->thread[0] != 63)
		return;
	um_host_maps_each(find_end, &end);
	*seen = mmap((void *)end.end, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		     -1, 0);
	if (*seen == MAP_FAILED)
		*seen = (char *)end.end; /* there was something already */
	um_access(*seen, UM_ACCESS(1, UM_ACCESS_READ, 1));
}

static void what_lies_behind_a_stack_of_ours(void **state)
{
	char *seen = NULL, **at = &seen;
	void *args[] = {&at};
	struct um_launch launch = fixture_launch(look_behind_the_stack, args, 1, 64);

	(void)state;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	assert_non_null(seen);
	assert_int_equal(totals.reads + totals.outside, 1);
}

/* --- mappings come and go --- */

static void one_that_vanishes_is_freed(void **state)
{
	char *memory = map_alone(16), *other = map_alone(4);
	uint32_t id;

	(void)state;
	touch(memory, 16);
	id = only_allocation()->id;
	munmap(memory - PAGE, 18 * PAGE);
	touch(other, 4);
	assert_int_equal(sent.freed, id);
	check_allocation(other, 4 * PAGE, "");
	unmap_alone(other, 4);
}

static void another_file_at_the_same_place_is_another(void **state)
{
	char *memory = map_file("first", 4, MAP_SHARED, RW);
	int file = memfd_create("second", MFD_CLOEXEC);
	uint32_t id;

	(void)state;
	touch(memory, 4);
	id = only_allocation()->id;
	assert_int_equal(ftruncate(file, (off_t)(4 * PAGE)), 0);
	assert_true(mmap(memory, 4 * PAGE, RW, MAP_SHARED | MAP_FIXED, file, 0) == memory);
	close(file);
	touch(memory, 4);
	assert_int_equal(sent.freed, id);
	check_allocation(memory, 4 * PAGE, "memfd:second");
	munmap(memory, 4 * PAGE);
}

static void one_that_shrinks_keeps_the_rest(void **state)
{
	char *memory = map_alone(12);
	uint64_t before = um_pageable_shrunk();
	uint32_t id;

	(void)state;
	touch(memory, 12);
	id = only_allocation()->id;
	munmap(memory + 4 * PAGE, 4 * PAGE);
	touch(memory, 2);
	assert_int_equal(sent.freed, 0);
	check_run(0, id, 0, 2);
	touch(memory + 8 * PAGE, 4);
	assert_int_equal(sent.allocation_count, 0);
	check_run(0, id, 8, 4);
	assert_int_equal(um_pageable_shrunk(), before + 1);
	/* what comes to lie in the gap is not it */
	assert_true(mmap(memory + 4 * PAGE, 4 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) != MAP_FAILED);
	touch(memory + 4 * PAGE, 4);
	check_allocation(memory + 4 * PAGE, 4 * PAGE, "");
	unmap_alone(memory, 12);
}

static void memory_that_moves(void **state)
{
	char *memory = map_alone(8), *moved;
	uint32_t id;

	(void)state;
	touch(memory, 8);
	id = only_allocation()->id;
	moved = mremap(memory, 8 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	assert_true(moved != MAP_FAILED && moved != memory);
	touch(moved, 64);
	assert_int_equal(sent.freed, id);
	assert_int_equal(sent.run_count, 1);
	check_run(0, only_allocation()->id,
		  (uint32_t)(((uintptr_t)moved - only_allocation()->address) / PAGE), 64);
	munmap(moved, 64 * PAGE);
	munmap(memory - PAGE, PAGE);
	munmap(memory + 8 * PAGE, PAGE);
}

static void registered_memory_counts_as_that(void **state)
{
	char *memory = map_alone(8);
	struct um_allocation *registered;
	uint32_t id;

	(void)state;
	touch(memory, 8);
	id = only_allocation()->id;
	registered = um_registered_add(memory + 2 * PAGE, 3 * PAGE);
	um_pageable_forget(memory + 2 * PAGE, 3 * PAGE);
	touch(memory, 8);
	assert_int_equal(sent.allocation_count, 0);
	assert_int_equal(sent.run_count, 3);
	check_run(0, id, 0, 2);
	check_run(1, id, 5, 3);
	check_run(2, registered->id, 0, 3);
	um_pageable_forget(memory + 2 * PAGE, 3 * PAGE);
	um_registered_remove(registered);
	touch(memory, 8);
	/* nobody knows whether it is still the same: it counts as new */
	check_allocation(memory + 2 * PAGE, 3 * PAGE, "");
	unmap_alone(memory, 8);
}

/* More of them than the tables begin with, and more pages than are remembered. */
static void many_mappings(void **state)
{
	enum { MAPPINGS = 1100 };
	static char *memory[MAPPINGS];

	(void)state;
	for (size_t i = 0; i < MAPPINGS; i++)
		memory[i] = map_alone(1);
	for (size_t i = 0; i < MAPPINGS; i++)
		touch(memory[i], 1);
	for (size_t i = 0; i < MAPPINGS; i += 50) {
		touch(memory[i], 1);
		assert_int_equal(sent.allocation_count, 0);
		assert_int_equal(sent.run_count, 1);
	}
	for (size_t i = 0; i < MAPPINGS; i++)
		munmap(memory[i] - PAGE, 3 * PAGE);
	touch(fixture_alloc(PAGE), 1);
	assert_true(sent.freed > 0);
}

/* Adds 1 to the first word of each buffer, one a lane. */
static void first_word_of_each(void **args)
{
	int **memory = *(int ***)args[0];
	uint64_t buffers = *(uint64_t *)args[1];
	const struct um_lane *self = um_self();
	uint64_t i = (uint64_t)self->group[0] * self->block[0] + self->thread[0];

	if (i < buffers)
		STORE(memory[i], LOAD(memory[i]) + 1);
}

/* One launch that touches them all: the list of mappings is as long, and is not read for each. */
static void a_launch_reads_the_list_of_mappings_once(void **state)
{
	enum { MAPPINGS = 10000, LANES = 256 };
	char **memory = fixture_alloc(MAPPINGS * sizeof(*memory));
	const void *at = memory;
	uint64_t count = MAPPINGS;
	void *args[] = {&at, &count};
	struct um_launch launch =
		fixture_launch(first_word_of_each, args, (MAPPINGS + LANES - 1) / LANES, LANES);

	(void)state;
	for (size_t i = 0; i < MAPPINGS; i++)
		memory[i] = map_alone(1);
	map_readings = 0;
	assert_int_equal(fixture_run(&launch), hipSuccess);
	/* and once to see what had become of those that were known */
	assert_in_range(map_readings, 1, 2);
	assert_int_equal(sent.allocation_count, MAPPINGS);
	for (size_t i = 0; i < MAPPINGS; i++)
		assert_int_equal(*(int *)memory[i], 1);
	for (size_t i = 0; i < MAPPINGS; i++)
		munmap(memory[i] - PAGE, 3 * PAGE);
	touch(fixture_alloc(PAGE), 1);
}

static char *made_within;

/* Two lanes after each other: what the first maps was not there when the launch first looked. */
static void touch_what_is_mapped_meanwhile(void **args)
{
	char *first = *(char **)args[0];

	if (um_self()->thread[0])
		return;
	STORE((int *)first, LOAD((int *)first) + 1);
	made_within = map_alone(2);
	STORE((int *)made_within, LOAD((int *)made_within) + 1);
}

static void mappings_that_come_while_a_kernel_runs(void **state)
{
	char *memory = map_alone(2);

	(void)state;
	map_readings = 0;
	run(touch_what_is_mapped_meanwhile, memory, 1, 64);
	assert_in_range(map_readings, 2, 3);
	assert_int_equal(sent.allocation_count, 2);
	assert_true(sent.allocations[1].address == (uintptr_t)made_within);
	assert_int_equal(sent.allocations[1].bytes, 2 * PAGE);
	munmap(memory - PAGE, 4 * PAGE);
	unmap_alone(made_within, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_is_an_allocation),
		cmocka_unit_test(what_the_host_had_put_there),
		cmocka_unit_test(off_it_is_only_counted),
		cmocka_unit_test(the_heap_and_small_allocations),
		cmocka_unit_test(a_heap_that_grows),
		cmocka_unit_test(the_stack_of_main),
		cmocka_unit_test(the_stack_of_a_thread_is_like_any_memory),
		cmocka_unit_test(a_variable_of_the_program),
		cmocka_unit_test(a_shared_file),
		cmocka_unit_test(a_mapping_that_is_only_read),
		cmocka_unit_test(shared_anonymous_memory_has_no_name),
		cmocka_unit_test(a_gap_stays_outside),
		cmocka_unit_test(a_buffer_that_spans_two_mappings),
		cmocka_unit_test(an_access_across_the_border_counts_once),
		cmocka_unit_test(what_no_kernel_can_use_of_a_reservation),
		cmocka_unit_test(what_lies_behind_a_stack_of_ours),
		cmocka_unit_test(one_that_vanishes_is_freed),
		cmocka_unit_test(another_file_at_the_same_place_is_another),
		cmocka_unit_test(one_that_shrinks_keeps_the_rest),
		cmocka_unit_test(memory_that_moves),
		cmocka_unit_test(registered_memory_counts_as_that),
		cmocka_unit_test(many_mappings),
		cmocka_unit_test(a_launch_reads_the_list_of_mappings_once),
		cmocka_unit_test(mappings_that_come_while_a_kernel_runs),
	};

	um_pageable = true;
	assert_int_equal(um_arena_init(), 0);
	return cmocka_run_group_tests_name("pageable", tests, NULL, NULL);
}
