#include "uvm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ALL_LINES UINT64_MAX
/* What service costs beside the link, and the way of faults into their buffer; no rules. */
#define NO_COSTS                                                                                      \
	", entry_time: 0ns, fetch_time: 0ns, interrupt_time: 0ns, touch_time: 0ns, store_time: 0ns, " \
	"stores_ahead: 1, batch_time: 0ns, block_time: 0ns, page_time: 0ns, new_block_time: 0ns, "    \
	"unmap_time: 0ns, evict_time: 0ns, cpu_fault_time: 0ns"

void uvm_open(struct uvm *uvm, const char *parameters)
{
	fx_open(&uvm->fx);
	row_log_clear(&uvm->log);
	uvm->fx.machine.xnack = UM_XNACK_ALWAYS;
	uvm->fx.machine.compute_units = 16;
	uvm->fx.machine.waves_per_unit = 64;
	snprintf(uvm->fx.machine.arch, sizeof(uvm->fx.machine.arch), "sm_90");
	uvm->fx.extra = row_log_observer(&uvm->log);
	uvm_choose(uvm, parameters);
}

void uvm_close(struct uvm *uvm)
{
	fx_close(&uvm->fx);
}

void uvm_choose(struct uvm *uvm, const char *parameters)
{
	char text[1024];

	snprintf(text, sizeof(text), "driver: {name: nvidia_uvm" NO_COSTS "%s%s}\n",
		 parameters ? ", " : "", parameters ? parameters : "");
	fx_policy(&uvm->fx, text);
}

void uvm_run(struct uvm *uvm)
{
	row_log_clear(&uvm->log);
	fx_run(&uvm->fx);
}

int64_t uvm_alloc(struct uvm *uvm, int64_t pages)
{
	return fx_alloc(&uvm->fx, "managed", PAGES(pages));
}

int64_t uvm_data(struct uvm *uvm, int64_t pages)
{
	int64_t allocation = uvm_alloc(uvm, pages);

	uvm_host_write(uvm, allocation, 0, pages);
	return allocation;
}

int64_t uvm_host_read(struct uvm *uvm, int64_t allocation, int64_t first, int64_t pages)
{
	return fx_host(&uvm->fx, allocation, first, pages, UM_TOUCH_READ);
}

int64_t uvm_host_write(struct uvm *uvm, int64_t allocation, int64_t first, int64_t pages)
{
	return fx_host(&uvm->fx, allocation, first, pages,
		       UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
}

static int64_t end_launch(struct uvm *uvm, int64_t op)
{
	fx_launch_end(&uvm->fx);
	fx_sync(&uvm->fx);
	return op;
}

static int64_t touch_run(struct uvm *uvm, int64_t allocation, int64_t first, int64_t pages,
			 bool write)
{
	int64_t op = fx_launch(&uvm->fx, "k()", 1, 0);

	fx_touch_range(&uvm->fx, 0, allocation, first, pages, write);
	fx_lines(&uvm->fx, allocation, first, pages, write ? UM_TOUCH_WRITTEN : UM_TOUCH_READ,
		 write ? 0 : ALL_LINES, write ? ALL_LINES : 0);
	return end_launch(uvm, op);
}

int64_t uvm_read(struct uvm *uvm, int64_t allocation, int64_t first, int64_t pages)
{
	return touch_run(uvm, allocation, first, pages, false);
}

int64_t uvm_write(struct uvm *uvm, int64_t allocation, int64_t first, int64_t pages)
{
	return touch_run(uvm, allocation, first, pages, true);
}

/* Page i is the first group's, or group i's. */
static int64_t read_list(struct uvm *uvm, int64_t allocation, const int *pages, int count,
			 bool one_group)
{
	int64_t op = fx_launch(&uvm->fx, "k()", one_group ? 1 : count, 0);

	for (int i = 0; i < count; i++) {
		fx_touch(&uvm->fx, one_group ? 0 : (uint64_t)i, allocation, pages[i], false);
		fx_lines(&uvm->fx, allocation, pages[i], 1, UM_TOUCH_READ, ALL_LINES, 0);
	}
	return end_launch(uvm, op);
}

int64_t uvm_read_pages(struct uvm *uvm, int64_t allocation, const int *pages, int count)
{
	return read_list(uvm, allocation, pages, count, true);
}

int64_t uvm_read_at_once(struct uvm *uvm, int64_t allocation, const int *pages, int count)
{
	return read_list(uvm, allocation, pages, count, false);
}

int64_t uvm_read_each(struct uvm *uvm, int64_t allocation, int64_t first, int64_t stride,
		      int groups)
{
	int64_t op = fx_launch(&uvm->fx, "k()", groups, 0);

	for (int i = 0; i < groups; i++) {
		fx_touch(&uvm->fx, (uint64_t)i, allocation, first + i * stride, false);
		if (!i || stride)
			fx_lines(&uvm->fx, allocation, first + i * stride, 1, UM_TOUCH_READ,
				 ALL_LINES, 0);
	}
	return end_launch(uvm, op);
}

int64_t uvm_prefetch(struct uvm *uvm, int64_t allocation, int64_t first, int64_t pages,
		     int64_t device)
{
	int64_t op = fx_prefetch_pages(&uvm->fx, allocation, first, pages, device);

	fx_sync(&uvm->fx);
	return op;
}

void uvm_leave(struct uvm *uvm, int64_t bytes)
{
	fx_alloc(&uvm->fx, "device", (int64_t)uvm->fx.machine.memory_bytes - bytes);
}

int64_t uvm_device_faults(const struct uvm *uvm, int64_t op)
{
	return row_log_faults(&uvm->log, op, 0);
}

int64_t uvm_host_faults(const struct uvm *uvm, int64_t op)
{
	return row_log_faults(&uvm->log, op, UM_HOST);
}

int64_t uvm_pages_in(const struct uvm *uvm, int64_t op)
{
	return row_log_moved(&uvm->log, op, UM_HOST, 0, NULL) / PAGE;
}

int64_t uvm_pages_out(const struct uvm *uvm, int64_t op)
{
	return row_log_moved(&uvm->log, op, 0, UM_HOST, NULL) / PAGE;
}

int64_t uvm_pages_evicted(const struct uvm *uvm, int64_t op)
{
	return row_log_moved(&uvm->log, op, 0, UM_HOST, "eviction") / PAGE;
}

int64_t uvm_pages_remote(const struct uvm *uvm, int64_t op)
{
	return row_log_remote_reads(&uvm->log, op, 0) / PAGE;
}

void uvm_expect_records(const struct uvm *uvm, int64_t op, int64_t destination,
			const struct uvm_record *wanted, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < uvm->log.migration_count; i++) {
		const struct um_migration_row *row = &uvm->log.migrations[i];

		if (row->op != op || row->destination != destination || !row->bytes)
			continue;
		assert_int_equal(row->bytes, PAGES(row->pages));
		if (n == count || strcmp(row->cause, wanted[n].cause) ||
		    row->first_page != wanted[n].first || row->pages != wanted[n].pages)
			fail_msg("record %zu is %s [%lld, +%lld), wanted %s [%lld, +%lld)", n,
				 row->cause, (long long)row->first_page, (long long)row->pages,
				 n < count ? wanted[n].cause : "none",
				 n < count ? (long long)wanted[n].first : 0,
				 n < count ? (long long)wanted[n].pages : 0);
		n++;
	}
	assert_int_equal(n, count);
}
