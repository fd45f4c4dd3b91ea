/*
 * Where driver nvidia_uvm has small allocations: side by side in 2 MiB, at multiples of 512 bytes, so
 * that neighbours share a page (A2; addresses as an H200 had them). Nothing is brought along, unless
 * a test says so: each page of the 2 MiB is a fault of its own.
 */
#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ALONE "prefetch_enable: off"
#define TINY  512 /* bytes */

static struct uvm uvm;

static int open_trace(void **state)
{
	(void)state;
	uvm_open(&uvm, ALONE);
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	uvm_close(&uvm);
	return 0;
}

static int64_t alloc(int64_t bytes)
{
	return fx_alloc(&uvm.fx, "managed", bytes);
}

static int64_t write_all(int64_t allocation, int64_t bytes)
{
	return uvm_host_write(&uvm, allocation, 0, (bytes + PAGE - 1) / PAGE);
}

/* Transfers, with what was sent in them. */
static int64_t transfers(int64_t op, int64_t *bytes)
{
	int64_t sum = 0;

	*bytes = 0;
	for (size_t i = 0; i < uvm.log.migration_count; i++) {
		if (op && uvm.log.migrations[i].op != op)
			continue;
		sum += uvm.log.migrations[i].transfers;
		*bytes += uvm.log.migrations[i].bytes;
	}
	return sum;
}

/* 141696 bytes at +0, the next at +0x22a00: they share the page at +0x22000. */
static void the_next_begins_in_the_last_page(void **state)
{
	int64_t first = alloc(141696), next = alloc(141696), shared, behind;

	(void)state;
	uvm_host_write(&uvm, first, 34, 1);
	shared = uvm_host_write(&uvm, next, 0, 1);
	behind = uvm_host_write(&uvm, next, 1, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, shared), 0);
	assert_int_equal(uvm_host_faults(&uvm, behind), 1);
}

/* 64000 bytes at +0, the next at +0xfa00, which ends at +0x1f400: 32 pages for both. */
static void two_of_64000_bytes_have_32_pages(void **state)
{
	int64_t first = alloc(64000), next = alloc(64000), in[2], bytes;

	(void)state;
	in[0] = write_all(first, 64000);
	in[1] = write_all(next, 64000);
	uvm_read(&uvm, first, 0, 16);
	uvm_read(&uvm, next, 0, 16);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, in[0]), 16);
	assert_int_equal(uvm_host_faults(&uvm, in[1]), 16);
	transfers(0, &bytes);
	assert_int_equal(bytes, PAGES(32));
}

/* Sizes are rounded up to 512: of 40 allocations of 1 to 512 bytes each page is shared by eight. */
static void eight_of_512_bytes_are_a_page(void **state)
{
	int64_t ids[40], bytes;

	(void)state;
	for (int i = 0; i < 40; i++)
		ids[i] = alloc(1 + i * TINY / 40);
	for (int i = 0; i < 40; i++)
		write_all(ids[i], TINY);
	for (int i = 7; i < 40; i += 8)
		uvm_read(&uvm, ids[i], 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, 0), 5);
	assert_int_equal(uvm_device_faults(&uvm, 0), 5);
	transfers(0, &bytes);
	assert_int_equal(bytes, PAGES(5));
}

/* A page moves once, whoever touches it, and all can access it then. */
static void a_shared_page_is_one_fault_and_one_record(void **state)
{
	int64_t ids[8], in[8], back[8], bytes;

	(void)state;
	for (int i = 0; i < 8; i++)
		ids[i] = alloc(TINY);
	for (int i = 0; i < 8; i++)
		write_all(ids[i], TINY);
	for (int i = 7; i >= 0; i--)
		in[i] = uvm_write(&uvm, ids[i], 0, 1);
	for (int i = 3; i < 8; i++)
		back[i] = uvm_host_read(&uvm, ids[i], 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, 0), 2);
	assert_int_equal(uvm_device_faults(&uvm, 0), 1);
	assert_int_equal(transfers(in[7], &bytes), 1);
	assert_int_equal(bytes, PAGE);
	assert_int_equal(transfers(back[3], &bytes), 1);
	assert_int_equal(bytes, PAGE);
	assert_int_equal(transfers(0, &bytes), 2);
	assert_int_equal(bytes, 2 * PAGE);
	/* The first that has bytes in it stands for it. */
	assert_int_equal(uvm.log.migrations[0].allocation, ids[0]);
}

/* Side by side on one page, from two allocations: one row of two entries. */
static void faults_of_several_on_a_page_are_served_once(void **state)
{
	static const int pages[] = {0, 1};
	int64_t tiny = alloc(TINY), two = alloc(PAGES(2)), in, bytes;

	(void)state;
	write_all(tiny, TINY);
	write_all(two, PAGES(2));
	in = uvm_read_at_once(&uvm, two, pages, 2);
	uvm_read(&uvm, tiny, 0, 1);
	uvm_run(&uvm);
	/* 0x200 to 0x2200: pages 0, 1 and 2, of which the trace has two. */
	assert_int_equal(uvm_host_faults(&uvm, 0), 3);
	assert_int_equal(uvm_device_faults(&uvm, 0), 3);
	assert_int_equal(transfers(in, &bytes), 1);
	assert_int_equal(bytes, PAGES(3));
}

/* A page that straddles two is accessible when both are. */
static void a_page_on_two_faults_on_each(void **state)
{
	int64_t tiny = alloc(TINY), page = alloc(PAGE), next = alloc(TINY), host, in, rest, bytes;

	(void)state;
	host = write_all(page, PAGE);
	in = uvm_read(&uvm, tiny, 0, 1);
	rest = uvm_read(&uvm, page, 0, 1);
	uvm_read(&uvm, next, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, host), 2);
	assert_int_equal(uvm_device_faults(&uvm, in), 1);
	assert_int_equal(uvm_device_faults(&uvm, rest), 1);
	assert_int_equal(uvm_device_faults(&uvm, 0), 2);
	transfers(0, &bytes);
	assert_int_equal(bytes, PAGES(2));
}

/* Duplicates are those of all who share the page, and end for all. */
static void a_shared_page_is_duplicated_for_all(void **state)
{
	int64_t ids[3], ends, bytes;

	(void)state;
	for (int i = 0; i < 3; i++)
		ids[i] = alloc(TINY);
	write_all(ids[0], TINY);
	fx_advise(&uvm.fx, ids[1], "read_mostly", 0);
	uvm_read(&uvm, ids[2], 0, 1);
	uvm_host_read(&uvm, ids[0], 0, 1);
	uvm_read(&uvm, ids[1], 0, 1);
	ends = uvm_host_write(&uvm, ids[2], 0, 1);
	uvm_read(&uvm, ids[0], 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_host_faults(&uvm, 0), 2);
	assert_int_equal(uvm_host_faults(&uvm, ends), 1);
	assert_int_equal(uvm_device_faults(&uvm, 0), 2);
	assert_int_equal(transfers(0, &bytes), 2);
	assert_int_equal(bytes, PAGES(2));
}

/* A shared page has its memory once, and is evicted once. */
static void a_shared_page_is_evicted_once(void **state)
{
	int64_t ids[16], data = uvm_data(&uvm, BLOCK), evicts, back[2], bytes;

	(void)state;
	uvm_leave(&uvm, 2 * MIB);
	for (int i = 0; i < 16; i++)
		ids[i] = alloc(TINY);
	for (int i = 0; i < 16; i++)
		uvm_write(&uvm, ids[i], 0, 1);
	evicts = uvm_read(&uvm, data, 0, 1);
	back[0] = uvm_read(&uvm, ids[0], 0, 1);
	back[1] = uvm_read(&uvm, ids[1], 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_pages_evicted(&uvm, evicts), 2);
	assert_int_equal(transfers(back[0], &bytes), 2); /* data's page out, this one in */
	assert_int_equal(transfers(back[1], &bytes), 0);
}

/* The page of one that is freed is there for who shares it, and for who comes next. */
static void what_is_freed_leaves_a_shared_page(void **state)
{
	int64_t gone = alloc(TINY), stays = alloc(TINY), read, next, again, bytes;

	(void)state;
	uvm_write(&uvm, gone, 0, 1);
	fx_free(&uvm.fx, gone);
	read = uvm_read(&uvm, stays, 0, 1);
	next = alloc(TINY);
	next = uvm_write(&uvm, next, 0, 1);
	again = uvm_host_read(&uvm, stays, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(uvm_device_faults(&uvm, read), 0);
	assert_int_equal(uvm_device_faults(&uvm, next), 0);
	assert_int_equal(transfers(again, &bytes), 1);
	assert_int_equal(bytes, PAGE);
	assert_int_equal(uvm.log.migrations[0].allocation, stays + 1);
}

/* A prefetch, as a fault does, brings the pages that bytes are in. */
static void a_prefetch_brings_both_pages(void **state)
{
	int64_t tiny = alloc(TINY), page = alloc(PAGE), op, read, bytes;

	(void)state;
	write_all(tiny, TINY);
	write_all(page, PAGE);
	op = uvm_prefetch(&uvm, page, 0, 1, 0);
	read = uvm_read(&uvm, tiny, 0, 1);
	uvm_read(&uvm, page, 0, 1);
	uvm_run(&uvm);
	assert_int_equal(transfers(op, &bytes), 1);
	assert_int_equal(bytes, PAGES(2));
	assert_int_equal(uvm_device_faults(&uvm, read), 0);
	assert_int_equal(uvm_device_faults(&uvm, 0), 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(the_next_begins_in_the_last_page),
		RULE(two_of_64000_bytes_have_32_pages),
		RULE(eight_of_512_bytes_are_a_page),
		RULE(a_shared_page_is_one_fault_and_one_record),
		RULE(faults_of_several_on_a_page_are_served_once),
		RULE(a_page_on_two_faults_on_each),
		RULE(a_shared_page_is_duplicated_for_all),
		RULE(a_shared_page_is_evicted_once),
		RULE(what_is_freed_leaves_a_shared_page),
		RULE(a_prefetch_brings_both_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
