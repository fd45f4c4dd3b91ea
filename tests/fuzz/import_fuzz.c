/*
 * Texts of any bytes, read as each of the text formats that can be imported: refused with a message, or rows that a
 * trace can hold.
 */
#include "fuzz.h"

#include "trace/base/error.h"
#include "trace/import/import_format.h"

#include <string.h>

static int check_run(void *context, const struct um_import_run *run)
{
	(void)context;
	if (run->pid != UM_NULL && run->pid < 0)
		um_fuzz_bug("a process below zero", "");
	return 0;
}

static int check_device(void *context, const struct um_device_row *row)
{
	(void)context;
	if (!row->name || row->device < 0)
		um_fuzz_bug("a device without a name or number", "");
	return 0;
}

static void check_span(int64_t start_ns, int64_t end_ns)
{
	if (start_ns < 0 || (end_ns != UM_NULL && end_ns < start_ns))
		um_fuzz_bug("a time that there cannot be", "");
}

static void check_pages(int64_t address, int64_t pages)
{
	if (address < 0 || pages < 0 || pages > INT64_MAX >> UM_PAGE_SHIFT ||
	    address > INT64_MAX - (pages << UM_PAGE_SHIFT))
		um_fuzz_bug("pages that there cannot be", "");
}

static int check_op(void *context, const struct um_import_op *op)
{
	(void)context;
	check_span(op->start_ns, op->end_ns);
	if (op->kind == UM_OP_LAUNCH &&
	    (!op->kernel || !op->kernel->name || op->kernel->grid_x < 1))
		um_fuzz_bug("a launch of nothing", "");
	if (op->bytes != UM_NULL && op->bytes < 0)
		um_fuzz_bug("bytes below zero", "");
	return 0;
}

static int check_fault(void *context, const struct um_fault_row *row)
{
	(void)context;
	check_span(row->start_ns, row->end_ns);
	check_pages(row->address, row->pages);
	if (row->faults < 1)
		um_fuzz_bug("no fault at all", "");
	return 0;
}

static int check_migration(void *context, const struct um_migration_row *row)
{
	(void)context;
	check_span(row->start_ns, row->end_ns);
	check_pages(row->address, row->pages);
	if (row->bytes < 0 || row->source < -1 || row->destination < -1)
		um_fuzz_bug("a migration that there cannot be", "");
	return 0;
}

static int check_mapping(void *context, const struct um_mapping_row *row)
{
	(void)context;
	check_span(row->at_ns, UM_NULL);
	check_pages(row->address, row->pages);
	return row->change ? 0 : (um_fuzz_bug("a mapping that changed nothing", ""), 0);
}

static int check_event(void *context, const struct um_driver_event_row *row)
{
	(void)context;
	check_span(row->start_ns, row->end_ns);
	check_pages(row->address, row->pages == UM_NULL ? 1 : row->pages);
	if (!row->kind || row->count < 1)
		um_fuzz_bug("an event of no kind", "");
	return 0;
}

static int check_loss(void *context, const struct um_loss_row *row)
{
	(void)context;
	if (row->count < 1)
		um_fuzz_bug("a loss of nothing", "");
	return 0;
}

static const struct um_import_events checks = {
	.run = check_run,
	.device = check_device,
	.op = check_op,
	.fault = check_fault,
	.migration = check_migration,
	.mapping = check_mapping,
	.event = check_event,
	.loss = check_loss,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct um_import_file file = {.path = "fuzz.log", .bytes = bytes};

	if (bytes == 0)
		return 0;
	file.text = fmemopen((void *)(uintptr_t)data, bytes, "r");
	if (!file.text)
		return 0;
	for (size_t i = 0; um_import_formats[i]; i++) {
		if (um_import_formats[i]->medium != UM_IMPORT_TEXT)
			continue;
		int error = um_import_formats[i]->read(&file, &checks);

		if (error && (error > 0 || !*um_error_message()))
			um_fuzz_bug("an error without a message", um_import_formats[i]->name);
	}
	fclose(file.text);
	return 0;
}
