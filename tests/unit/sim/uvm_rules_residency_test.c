/*
 * Rules of driver nvidia_uvm: where the pages of a fault go, and what is mapped from afar
 * (block_select_processor_residency in uvm_va_block.c, uvm_policy.c, uvm_va_range.c). Host and
 * device by PCIe: the device reaches host memory, the host does not reach the device's.
 */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct uvm uvm;

static int open_trace(void **state)
{
	(void)state;
	uvm_open(&uvm, NULL);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	uvm_close(&uvm);
	return 0;
}

static void expect(int64_t op, int64_t faults, int64_t pages_in, int64_t pages_remote)
{
	assert_int_equal(uvm_device_faults(&uvm, op), faults);
	assert_int_equal(uvm_pages_in(&uvm, op), pages_in);
	assert_int_equal(uvm_pages_remote(&uvm, op), pages_remote);
}

/* No advice: the processor that faulted. */
static void pages_go_to_whoever_faulted(void **state)
{
	int64_t data = uvm_data(&uvm, 16), device = uvm_read(&uvm, data, 0, 16), host;

	(void)state;
	host = uvm_host_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(device, 1, 16, 0);
	assert_int_equal(uvm_host_faults(&uvm, host), 1);
	assert_int_equal(uvm_pages_out(&uvm, host), 16);
}

/*
 * Preferred location host: the device reaches it, so pages stay there and are mapped. The tree takes
 * the block, but uvm_perf_prefetch_prenotify_fault_migrations leaves out what the host has mapped,
 * so that only the page that faulted is.
 */
static void pages_preferred_on_the_host_are_mapped_one_by_one(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 100, 20);
	uvm_run(&uvm);
	expect(op, 20, 0, 20);
}

/* A block that is nowhere goes to its preferred location whole. */
static void an_untouched_block_preferred_on_the_host_is_made_there_whole(void **state)
{
	int64_t data = uvm_alloc(&uvm, 2 * BLOCK), op, more, host;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 100, 1);
	more = uvm_read(&uvm, data, 0, BLOCK);
	host = uvm_host_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect(op, 1, 0, 1);
	expect(more, 0, 0, BLOCK);
	/* the host has to map it: the tree takes the block, of which it has nothing mapped */
	assert_int_equal(uvm_host_faults(&uvm, host), 1);
	assert_int_equal(uvm_pages_out(&uvm, 0), 0);
}

static void an_untouched_block_preferred_on_the_device_is_made_there_whole(void **state)
{
	int64_t data = uvm_alloc(&uvm, 2 * BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	op = uvm_read(&uvm, data, 100, 412);
	uvm_run(&uvm);
	expect(op, 1, 0, 0);
}

/* As soon as the block has a page anywhere it is the tree's. */
static void a_touched_block_is_not_made_whole(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	uvm_host_write(&uvm, data, 0, 1); /* 64 KiB of it on the host */
	op = uvm_read(&uvm, data, 256, 32);
	uvm_run(&uvm);
	expect(op, 2, 0, 0);
}

/* Preferred location device: it always migrates what it faults on. */
static void pages_preferred_on_the_device_go_there(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(op, 1, 16, 0);
}

/* The host does not reach the device, so it gets its pages all the same. */
static void the_host_gets_pages_preferred_on_the_device(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), first, back;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	first = uvm_host_write(&uvm, data, 0, BLOCK);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	back = uvm_host_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, first), 6);
	assert_int_equal(uvm_host_faults(&uvm, back), 1);
	assert_int_equal(uvm_pages_out(&uvm, back), 16);
}

/* preferred_location_unmap_remote_pages: nothing moves, and pages that are local stay mapped. */
static void preferred_location_moves_nothing(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect(op, 0, 0, 0);
	assert_int_equal(uvm_pages_out(&uvm, 0), 0);
}

/* uvm_va_range_set_accessed_by: what is reachable is mapped at once. */
static void accessed_by_maps_at_once(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	op = uvm_read(&uvm, data, 0, 2 * BLOCK);
	uvm_run(&uvm);
	expect(op, 0, 0, 2 * BLOCK);
}

/* Pages that are nowhere are not mapped: the first touch makes them where it comes from. */
static void accessed_by_of_untouched_pages_maps_nothing(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	op = uvm_read(&uvm, data, 0, 32);
	uvm_run(&uvm);
	expect(op, 2, 0, 0);
}

/* block_service_finish_map_accessed_by: whenever pages come to the host, the device maps them. */
static void accessed_by_maps_what_the_host_takes(void **state)
{
	int64_t data = uvm_alloc(&uvm, BLOCK), other = uvm_data(&uvm, BLOCK), first, after;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	uvm_host_write(&uvm, data, 0, 1);
	first = uvm_read(&uvm, data, 0, 16);
	uvm_prefetch(&uvm, other, 0, BLOCK, 0);
	fx_advise(&uvm.fx, other, "accessed_by", 0);
	uvm_host_write(&uvm, other, 0, 1);
	after = uvm_read(&uvm, other, 0, 32);
	uvm_run(&uvm);
	expect(first, 0, 0, 16);
	expect(after, 0, 0, 16);
}

/* uvm_va_range_unset_accessed_by: what is mapped stays so; what comes later is not. */
static void unset_accessed_by_keeps_mappings(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op, after;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	fx_advise(&uvm.fx, data, "unset_accessed_by", 0);
	op = uvm_read(&uvm, data, 0, BLOCK);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	uvm_host_read(&uvm, data, 0, 1);
	after = uvm_read(&uvm, data, 0, 1);
	uvm_run(&uvm);
	expect(op, 0, 0, BLOCK);
	expect(after, 1, 16, 0);
}

/* preferred_location_unmap_remote_pages: a new preferred location gets its pages by faults. */
static void preferred_location_unmaps_it_from_afar(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(op, 1, 16, 0);
}

/* uvm_va_range_set_accessed_by asks nobody for the preferred location. */
static void accessed_by_after_preferred_location_maps_from_afar(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(op, 0, 0, 16);
}

/* uvm_va_block_add_mappings_after_migration leaves out the preferred location, if it lost pages. */
static void the_preferred_location_is_not_mapped_from_afar(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	uvm_host_read(&uvm, data, 0, 1);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(op, 1, 16, 0);
}

/* uvm_va_range_set_accessed_by: set again it maps again, for all of the range. */
static void accessed_by_again_maps_again(void **state)
{
	int64_t data = uvm_data(&uvm, 2 * BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	uvm_prefetch(&uvm, data, 0, 2 * BLOCK, 0);
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	uvm_host_read(&uvm, data, 0, 2 * BLOCK); /* not mapped, as above */
	fx_advise_pages(&uvm.fx, data, 5, 1, "accessed_by", 0);
	op = uvm_read(&uvm, data, 0, 2 * BLOCK);
	uvm_run(&uvm);
	expect(op, 0, 0, 2 * BLOCK);
}

/* The same value again is no change (uvm_va_range_set_preferred_location). */
static void the_same_preferred_location_again_unmaps_nothing(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(op, 0, 0, 16);
}

static void without_preferred_location_pages_follow_faults_again(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	fx_advise(&uvm.fx, data, "preferred_location", UM_HOST);
	fx_advise(&uvm.fx, data, "unset_preferred_location", UM_HOST);
	op = uvm_read(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(op, 1, 16, 0);
}

/* compute_new_permission: nobody else can write, so that a read maps for writing too. */
static void a_read_maps_for_writing_too(void **state)
{
	int64_t data = uvm_data(&uvm, 16), write, host;

	(void)state;
	uvm_read(&uvm, data, 0, 1);
	write = uvm_write(&uvm, data, 0, 1);
	uvm_host_read(&uvm, data, 0, 1);
	host = uvm_host_write(&uvm, data, 0, 16);
	uvm_run(&uvm);
	expect(write, 0, 0, 0);
	assert_int_equal(uvm_host_faults(&uvm, host), 0);
}

/* Writes from afar are no reason to move: host and device both write (PCIe, plain writes). */
static void host_and_device_share_pages_mapped_from_afar(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), device, host;

	(void)state;
	fx_advise(&uvm.fx, data, "accessed_by", 0);
	device = uvm_write(&uvm, data, 0, BLOCK);
	host = uvm_host_write(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	expect(device, 0, 0, 0);
	assert_int_equal(row_log_remote_writes(&uvm.log, device, 0), PAGES(BLOCK));
	assert_int_equal(uvm_host_faults(&uvm, host), 0);
}

static int64_t read_on(int64_t device, int64_t allocation, int64_t first, int64_t pages)
{
	int64_t op;

	uvm.fx.device = device;
	op = uvm_read(&uvm, allocation, first, pages);
	uvm.fx.device = 0;
	return op;
}

/*
 * block_copy_resident_pages: without peer access pages go through the host, in records of the same
 * causes, and the device that had them loses them.
 */
static void from_device_to_device_through_the_host(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op, back;

	(void)state;
	uvm.fx.machine.devices = 2;
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	op = read_on(1, data, 0, 16);
	back = uvm_read(&uvm, data, 0, BLOCK);
	uvm_run(&uvm);
	assert_int_equal(row_log_faults(&uvm.log, op, 1), 1);
	EXPECT_RECORDS(&uvm, op, UM_HOST, {FAULT(0, 1)}, {BROUGHT_ALONG(1, 15)});
	EXPECT_RECORDS(&uvm, op, 1, {FAULT(0, 1)}, {BROUGHT_ALONG(1, 15)});
	assert_int_equal(uvm_device_faults(&uvm, back), 1);
}

/* What a device cannot reach it does not map: advice for another device changes nothing for it. */
static void advice_for_a_device_that_is_not_reached_does_not_hold_pages(void **state)
{
	int64_t data = uvm_data(&uvm, BLOCK), op;

	(void)state;
	uvm.fx.machine.devices = 2;
	fx_advise(&uvm.fx, data, "preferred_location", 0);
	uvm_prefetch(&uvm, data, 0, BLOCK, 0);
	fx_advise(&uvm.fx, data, "accessed_by", 1);
	op = read_on(1, data, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(row_log_faults(&uvm.log, op, 1), 1);
	assert_int_equal(row_log_moved(&uvm.log, op, UM_HOST, 1, NULL), PAGES(16));
	assert_int_equal(row_log_remote_reads(&uvm.log, op, 1), 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(pages_go_to_whoever_faulted),
		RULE(pages_preferred_on_the_host_are_mapped_one_by_one),
		RULE(an_untouched_block_preferred_on_the_host_is_made_there_whole),
		RULE(an_untouched_block_preferred_on_the_device_is_made_there_whole),
		RULE(a_touched_block_is_not_made_whole),
		RULE(pages_preferred_on_the_device_go_there),
		RULE(the_host_gets_pages_preferred_on_the_device),
		RULE(preferred_location_moves_nothing),
		RULE(accessed_by_maps_at_once),
		RULE(accessed_by_of_untouched_pages_maps_nothing),
		RULE(accessed_by_maps_what_the_host_takes),
		RULE(unset_accessed_by_keeps_mappings),
		RULE(preferred_location_unmaps_it_from_afar),
		RULE(accessed_by_after_preferred_location_maps_from_afar),
		RULE(the_preferred_location_is_not_mapped_from_afar),
		RULE(accessed_by_again_maps_again),
		RULE(the_same_preferred_location_again_unmaps_nothing),
		RULE(without_preferred_location_pages_follow_faults_again),
		RULE(a_read_maps_for_writing_too),
		RULE(host_and_device_share_pages_mapped_from_afar),
		RULE(from_device_to_device_through_the_host),
		RULE(advice_for_a_device_that_is_not_reached_does_not_hold_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
