#include "import_writer.h"

#include "import_infer.h"
#include "trace/base/error.h"
#include "trace/base/shell_quote.h"
#include "trace/tool/measured.h"

#include <stdlib.h>
#include <string.h>

/* Rows between two commits: what was imported by then can be read. */
#define BATCH	100000u
#define DEVICES 64

struct living {
	uint64_t address;
	int64_t bytes;
	uint32_t allocation;
};

struct unplaced {
	struct um_record_op op;
	uint64_t address;
};

struct um_import_writer {
	struct um_db *db;
	struct um_measured *measured;
	const struct um_import_format *format;
	struct um_import_totals totals;
	struct um_run_row run;
	char *texts[8]; /* that `run` points to */
	size_t text_count;
	uint64_t devices; /* a bit for each that has a row */
	uint32_t op, allocation;
	bool has_managed, has_inferred_calls;
	/* Calls that name memory which nobody told of when they were made. */
	struct unplaced *unplaced;
	size_t unplaced_count, unplaced_capacity;
	uint64_t inferred_accesses;
	/* Allocations that live, by no order. */
	struct living *living;
	size_t living_count, living_capacity;
	/* What ran last on a device, if times are all that tells of waits and launches. */
	int64_t device_end_ns; /* UM_NULL: nothing has run since the host waited */
	uint32_t open_launch;  /* that was inferred and goes on; 0: none */
	int64_t open_start_ns;
	uint64_t uncommitted;
};

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

static int insert(struct um_import_writer *writer, const struct um_table *table, const void *row)
{
	int error = um_db_insert(writer->db, table, row);

	if (error || ++writer->uncommitted % BATCH)
		return error;
	error = um_db_commit(writer->db);
	return error ? error : um_db_begin(writer->db);
}

/* --- the run --- */

static const char *keep(struct um_import_writer *writer, const char *text)
{
	if (!text || writer->text_count == sizeof(writer->texts) / sizeof(*writer->texts))
		return NULL;
	char *copy = strdup(text);

	writer->texts[writer->text_count++] = copy;
	return copy;
}

static int take_run(void *context, const struct um_import_run *told)
{
	struct um_import_writer *writer = context;
	struct um_run_row *run = &writer->run;

	if (told->command)
		run->command = keep(writer, told->command);
	if (told->host)
		run->host = keep(writer, told->host);
	if (told->driver_version)
		run->driver_version = keep(writer, told->driver_version);
	if (told->started)
		run->started = keep(writer, told->started);
	if (told->clock)
		run->clock = keep(writer, told->clock);
	if (told->xnack) {
		run->xnack = told->xnack;
		run->xnack_source = "as imported";
	}
	if (told->pid != UM_NULL)
		run->pid = told->pid;
	return run->command && run->clock ? 0 : out_of_memory();
}

static void widen(struct um_import_writer *writer, int64_t start_ns, int64_t end_ns)
{
	struct um_run_row *run = &writer->run;

	if (start_ns != UM_NULL && (run->start_ns == UM_NULL || start_ns < run->start_ns))
		run->start_ns = start_ns;
	if (end_ns == UM_NULL)
		end_ns = start_ns;
	if (end_ns != UM_NULL && (run->end_ns == UM_NULL || end_ns > run->end_ns))
		run->end_ns = end_ns;
}

/* --- devices --- */

static int take_device(void *context, const struct um_device_row *row)
{
	struct um_import_writer *writer = context;

	if (row->device < 0 || row->device >= DEVICES)
		return um_fail(UM_EFORMAT, "device %lld: at most %d devices can be imported",
			       (long long)row->device, DEVICES);
	writer->devices |= UINT64_C(1) << row->device;
	return um_db_replace(writer->db, &um_table_device, row);
}

/* A device that rows name without its having been told. */
static int know_device(struct um_import_writer *writer, int64_t device)
{
	if (device == UM_NULL || device == -1 ||
	    (device >= 0 && device < DEVICES && writer->devices >> device & 1))
		return 0;
	const struct um_device_row row = um_import_device(device, "not told");

	return take_device(writer, &row);
}

/* --- what the program asked for --- */

static struct living *find_living(const struct um_import_writer *writer, uint64_t address)
{
	for (size_t i = writer->living_count; i > 0 && address; i--) {
		struct living *one = &writer->living[i - 1];

		if (address >= one->address && address - one->address < (uint64_t)one->bytes)
			return one;
	}
	return NULL;
}

static int add_unplaced(struct um_import_writer *writer, const struct um_record_op *op,
			uint64_t address)
{
	if (writer->unplaced_count == writer->unplaced_capacity) {
		size_t capacity = writer->unplaced_capacity ? 2 * writer->unplaced_capacity : 64;
		struct unplaced *grown =
			reallocarray(writer->unplaced, capacity, sizeof(*writer->unplaced));

		if (!grown)
			return out_of_memory();
		writer->unplaced = grown;
		writer->unplaced_capacity = capacity;
	}
	writer->unplaced[writer->unplaced_count++] = (struct unplaced){*op, address};
	return 0;
}

static int add_living(struct um_import_writer *writer, uint64_t address, int64_t bytes)
{
	if (writer->living_count == writer->living_capacity) {
		size_t capacity = writer->living_capacity ? 2 * writer->living_capacity : 64;
		struct living *grown =
			reallocarray(writer->living, capacity, sizeof(*writer->living));

		if (!grown)
			return out_of_memory();
		writer->living = grown;
		writer->living_capacity = capacity;
	}
	writer->living[writer->living_count++] =
		(struct living){address, bytes, writer->allocation};
	return 0;
}

static int put_allocation(struct um_import_writer *writer, uint32_t op, int64_t kind,
			  uint64_t address, int64_t bytes, int64_t device)
{
	const struct um_record_allocation record = {
		.allocation = ++writer->allocation,
		.kind = (uint32_t)kind,
		.address = address,
		.bytes = (uint64_t)bytes,
		.op = op,
	};
	const struct um_allocation_row row = {
		.allocation = writer->allocation,
		.kind = um_word(um_allocation_words, (int)kind),
		.bytes = bytes,
		.device = device,
		.address = (int64_t)address,
		.op = um_measured_op_id(op),
		.freed_op = UM_NULL,
		.site = UM_NULL,
	};
	int error = um_measured_add_allocation(writer->measured, &record);

	writer->has_managed |= kind == UM_ALLOCATION_MANAGED;
	return error ? error : insert(writer, &um_table_allocation, &row);
}

static int free_allocation(struct um_import_writer *writer, struct living *freed, uint32_t op)
{
	const int64_t values[2] = {um_measured_op_id(op), freed->allocation};

	um_measured_add_free(writer->measured, freed->allocation, op);
	*freed = writer->living[--writer->living_count];
	return um_db_update(writer->db, "UPDATE allocation SET freed_op = ? WHERE allocation = ?",
			    values, 2);
}

static int put_launch(struct um_import_writer *writer, const struct um_kernel_row *told)
{
	struct um_kernel_row kernel = told ? *told : um_import_kernel();

	kernel.op = um_measured_op_id(writer->op);
	if (!kernel.name)
		kernel.name = "(not told)";
	writer->totals.launches++;
	return insert(writer, &um_table_kernel, &kernel);
}

/* The one and the other side of what an op acts on. */
static void place(const struct um_import_writer *writer, uint64_t address, uint32_t *allocation,
		  uint64_t *offset)
{
	const struct living *one = find_living(writer, address);

	*allocation = one ? one->allocation : 0;
	*offset = one ? address - one->address : 0;
}

static struct um_op_row op_row(const struct um_import_op *op, const struct um_record_op *record)
{
	return (struct um_op_row){
		.op = um_measured_op_id(record->op),
		.kind = um_word(um_op_words, (int)op->kind),
		.flags = op->flags,
		.thread = op->thread,
		.stream = op->stream,
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		/* What has run on a device did not fail. */
		.result = op->result == UM_NULL && op->on_device ? 0 : op->result,
		.site = UM_NULL,
		.allocation = record->allocation ? record->allocation : UM_NULL,
		.offset_bytes = record->allocation ? (int64_t)record->offset : UM_NULL,
		.bytes = op->bytes,
		.source_allocation =
			record->source_allocation ? record->source_allocation : UM_NULL,
		.source_offset_bytes =
			record->source_allocation ? (int64_t)record->source_offset : UM_NULL,
		.device = op->device,
		.advice = op->advice,
		.event = UM_NULL,
		.value = op->value,
	};
}

static int know_op(struct um_import_writer *writer, const struct um_import_op *op,
		   const struct um_record_op *record)
{
	int error = um_measured_add_op(writer->measured, record);

	if (!error && op->on_device && op->start_ns != UM_NULL && op->end_ns != UM_NULL) {
		const struct um_record_time time = {
			.op = record->op,
			.device = record->device,
			.start_ns = (uint64_t)op->start_ns,
			.end_ns = (uint64_t)op->end_ns,
		};

		um_measured_add_time(writer->measured, &time);
		if (writer->device_end_ns == UM_NULL || op->end_ns > writer->device_end_ns)
			writer->device_end_ns = op->end_ns;
	}
	return error;
}

static bool acts_on_memory(enum um_op_kind kind)
{
	return kind == UM_OP_FREE || kind == UM_OP_ADVISE || kind == UM_OP_PREFETCH ||
	       kind == UM_OP_COPY || kind == UM_OP_MEMSET || kind == UM_OP_ATTACH;
}

/* An allocation of which the address is told; of others the op is all there is. */
static int put_memory(struct um_import_writer *writer, const struct um_import_op *op)
{
	if (op->kind == UM_OP_FREE) {
		struct living *freed = find_living(writer, op->address);

		return freed ? free_allocation(writer, freed, writer->op) : 0;
	}
	if (op->kind != UM_OP_ALLOC || !op->address || op->bytes <= 0 ||
	    op->allocation_kind == UM_NULL)
		return 0;
	int error = put_allocation(writer, writer->op, op->allocation_kind, op->address, op->bytes,
				   op->device);

	writer->totals.allocations++;
	if (!error)
		error = add_living(writer, op->address, op->bytes);
	if (error)
		return error;
	const int64_t values[2] = {writer->allocation, um_measured_op_id(writer->op)};

	return um_db_update(writer->db,
			    "UPDATE op SET allocation = ?, offset_bytes = 0 WHERE op = ?", values,
			    2);
}

static int put_op(struct um_import_writer *writer, const struct um_import_op *op)
{
	struct um_record_op record = {
		.op = ++writer->op,
		.kind = (uint16_t)op->kind,
		.start_ns = (uint64_t)op->start_ns,
		.end_ns = op->end_ns == UM_NULL ? 0 : (uint64_t)op->end_ns,
		.bytes = op->bytes == UM_NULL ? 0 : (uint64_t)op->bytes,
		.device = op->device == UM_NULL ? 0 : (int32_t)op->device,
		.result = op->result == UM_NULL ? 0 : (int32_t)op->result,
	};

	if (acts_on_memory(op->kind)) {
		place(writer, op->address, &record.allocation, &record.offset);
		place(writer, op->source_address, &record.source_allocation, &record.source_offset);
	}
	const struct um_op_row row = op_row(op, &record);
	int error = insert(writer, &um_table_op, &row);

	if (!error)
		error = know_op(writer, op, &record);
	if (!error && (op->kind == UM_OP_PREFETCH || op->kind == UM_OP_ADVISE) && op->address &&
	    !record.allocation)
		error = add_unplaced(writer, &record, op->address);
	if (!error && op->kind == UM_OP_LAUNCH)
		error = put_launch(writer, op->kernel);
	if (!error)
		error = put_memory(writer, op);
	return error;
}

static int take_op(void *context, const struct um_import_op *op)
{
	struct um_import_writer *writer = context;
	int error = know_device(writer, op->device);

	if (op->start_ns == UM_NULL || (op->end_ns != UM_NULL && op->end_ns < op->start_ns))
		return um_fail(UM_EFORMAT, "%s: ends before it begins",
			       um_word(um_op_words, (int)op->kind));
	widen(writer, op->start_ns, op->end_ns);
	writer->totals.calls++;
	/* A wait that is told needs none inferred. */
	if (op->kind == UM_OP_SYNC_DEVICE || op->kind == UM_OP_SYNC_STREAM)
		writer->device_end_ns = UM_NULL;
	return error ? error : put_op(writer, op);
}

/* --- what only times tell --- */

static int end_launch(struct um_import_writer *writer)
{
	int64_t values[3] = {0};

	if (!writer->open_launch)
		return 0;
	um_measured_get_time(writer->measured, writer->open_launch, &values[0], &values[1]);
	values[2] = um_measured_op_id(writer->open_launch);
	writer->open_launch = 0;
	return um_db_update(writer->db, "UPDATE op SET start_ns = ?, end_ns = ? WHERE op = ?",
			    values, 3);
}

/* A device did something: of a format without launches that is one, and goes on as long as it does. */
static int on_device(struct um_import_writer *writer, int64_t device, int64_t start_ns,
		     int64_t end_ns)
{
	struct um_import_op op = um_import_op(UM_OP_LAUNCH);
	struct um_kernel_row kernel = um_import_kernel();
	int error = 0;

	if (writer->format->launches_told || device < 0)
		return 0;
	end_ns = end_ns == UM_NULL ? start_ns : end_ns;
	if (!writer->open_launch) {
		kernel.name = "(device work)";
		op.kernel = &kernel;
		op.flags = UM_OP_ASYNC;
		op.start_ns = start_ns;
		op.end_ns = end_ns;
		op.device = device;
		op.stream = 0;
		op.on_device = true;
		error = put_op(writer, &op);
		writer->totals.launches--;
		writer->open_launch = writer->op;
		writer->has_inferred_calls = true;
	}
	const struct um_record_time time = {
		.op = writer->open_launch,
		.device = (int32_t)device,
		.start_ns = (uint64_t)start_ns,
		.end_ns = (uint64_t)end_ns,
	};
	um_measured_add_time(writer->measured, &time);
	if (writer->device_end_ns == UM_NULL || end_ns > writer->device_end_ns)
		writer->device_end_ns = end_ns;
	return error;
}

/* The host touched memory, when all that had been launched was done: it had waited for that. */
static int on_host(struct um_import_writer *writer, int64_t at_ns)
{
	struct um_import_op op = um_import_op(UM_OP_SYNC_DEVICE);
	int error = 0;

	if (writer->device_end_ns == UM_NULL || at_ns < writer->device_end_ns)
		return 0;
	op.start_ns = op.end_ns = writer->device_end_ns;
	op.result = 0;
	op.device = 0;
	error = end_launch(writer);
	if (!error)
		error = put_op(writer, &op);
	writer->has_inferred_calls = true;
	writer->device_end_ns = UM_NULL;
	return error;
}

/* --- what the driver did --- */

static int take_fault(void *context, const struct um_fault_row *row)
{
	struct um_import_writer *writer = context;
	int64_t faults = row->faults == UM_NULL ? 1 : row->faults;
	int error = know_device(writer, row->device);

	if (!error)
		error = row->device < 0
				? on_host(writer, row->start_ns)
				: on_device(writer, row->device, row->start_ns, row->end_ns);
	widen(writer, row->start_ns, row->end_ns);
	writer->totals.fault_rows++;
	*(row->device < 0 ? &writer->totals.host_faults : &writer->totals.device_faults) +=
		(uint64_t)faults;
	return error ? error : insert(writer, &um_table_fault, row);
}

static void add_bytes(struct um_import_totals *totals, const struct um_migration_row *row)
{
	uint64_t bytes = row->bytes == UM_NULL ? 0 : (uint64_t)row->bytes;

	totals->migrations += row->transfers == UM_NULL ? 1 : (uint64_t)row->transfers;
	if (row->source < 0)
		totals->bytes_to_device += bytes;
	else if (row->destination < 0)
		totals->bytes_to_host += bytes;
	else
		totals->bytes_between += bytes;
	if (um_word_code(um_cause_words, row->cause) == UM_CAUSE_PREFETCH)
		totals->prefetched_bytes += bytes;
}

/* Whose doing it was, as far as that is told. */
static int on_migration(struct um_import_writer *writer, const struct um_migration_row *row)
{
	switch (um_word_code(um_cause_words, row->cause)) {
	case UM_CAUSE_DEVICE_FAULT:
		return on_device(writer, row->destination, row->start_ns, row->end_ns);
	case UM_CAUSE_HOST_FAULT:
		return on_host(writer, row->start_ns);
	default:
		return 0;
	}
}

static int take_migration(void *context, const struct um_migration_row *row)
{
	struct um_import_writer *writer = context;
	int error = know_device(writer, row->source);

	if (!error)
		error = know_device(writer, row->destination);
	if (!error)
		error = on_migration(writer, row);
	widen(writer, row->start_ns, row->end_ns);
	add_bytes(&writer->totals, row);
	return error ? error : insert(writer, &um_table_migration, row);
}

static int take_mapping(void *context, const struct um_mapping_row *row)
{
	struct um_import_writer *writer = context;
	int error = know_device(writer, row->device);

	widen(writer, row->at_ns, UM_NULL);
	writer->totals.mappings++;
	return error ? error : insert(writer, &um_table_mapping, row);
}

static int take_event(void *context, const struct um_driver_event_row *row)
{
	struct um_import_writer *writer = context;
	int error = know_device(writer, row->device);

	widen(writer, row->start_ns, row->end_ns);
	writer->totals.events++;
	return error ? error : insert(writer, &um_table_driver_event, row);
}

static int take_loss(void *context, const struct um_loss_row *row)
{
	struct um_import_writer *writer = context;

	writer->totals.lost += (uint64_t)row->count;
	return insert(writer, &um_table_loss, row);
}

struct um_import_events um_import_writer_events(struct um_import_writer *writer)
{
	return (struct um_import_events){
		.context = writer,
		.run = take_run,
		.device = take_device,
		.op = take_op,
		.fault = take_fault,
		.migration = take_migration,
		.mapping = take_mapping,
		.event = take_event,
		.loss = take_loss,
	};
}

/* --- what each kind of record is --- */

static const char *const kinds_of_record[] = {
	"op.time",	"fault",	"fault.host",		"migration",	 "mapping",
	"driver_event", "copy_traffic", "allocation",		"page_access",	 "page_access.host",
	"access_chunk", "host_access",	"page_access.requests", "remote_access",
};

static const char accesses_text[] =
	"the pages that faulted, and the first of what moved for a fault: a lower bound";
static const char allocations_text[] =
	"spans of addresses that faulted or moved, less than 2 MiB apart";
static const char calls_text[] =
	"launches and waits that only the times of faults tell of; a launch goes on until the host's turn";

static const struct um_import_told *told_of(const struct um_import_format *format,
					    const char *record)
{
	for (const struct um_import_told *told = format->told; told->record; told++)
		if (strcmp(told->record, record) == 0)
			return told;
	return NULL;
}

static struct um_origin_row inferred(const struct um_import_writer *writer, const char *record)
{
	struct um_origin_row row = {record, NULL, "run", NULL};
	bool is_access = strcmp(record, "page_access") == 0 ||
			 strcmp(record, "page_access.host") == 0 ||
			 strcmp(record, "access_chunk") == 0;

	if (is_access && writer->inferred_accesses) {
		row.origin = "inferred";
		row.detail = accesses_text;
	} else if (strcmp(record, "allocation") == 0 && !writer->has_managed) {
		row.origin = "inferred";
		row.detail = allocations_text;
	}
	return row;
}

static int put_origin(struct um_import_writer *writer, const char *record)
{
	const struct um_import_told *told = told_of(writer->format, record);
	struct um_origin_row row = inferred(writer, record);

	if (!row.origin) {
		row.origin = told ? "imported" : "absent";
		row.detail = told ? told->detail : "the format has none";
	}
	return um_db_replace(writer->db, &um_table_origin, &row);
}

static int put_origins(struct um_import_writer *writer)
{
	const struct um_origin_row calls = {"op.inferred", "inferred", "run", calls_text};
	int error = 0;

	for (size_t i = 0; i < sizeof(kinds_of_record) / sizeof(*kinds_of_record) && !error; i++)
		error = put_origin(writer, kinds_of_record[i]);
	if (!error && writer->has_inferred_calls)
		error = um_db_replace(writer->db, &um_table_origin, &calls);
	return error;
}

/* --- beginning and end --- */

static int begin(struct um_import_writer *writer, const char *path)
{
	char *const words[] = {(char *)"umtrace", (char *)"--import", (char *)(uintptr_t)path,
			       NULL};

	writer->run = (struct um_run_row){
		.role = "trace",
		.tool = "umtrace " UM_VERSION,
		.command = writer->texts[writer->text_count++] = um_shell_quote(words),
		.backend = writer->format->name,
		.runtime = writer->format->what,
		.pid = UM_NULL,
		.rank = UM_NULL,
		.ranks = UM_NULL,
		.clock = writer->format->clock,
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.ended = "running",
		.exit_status = UM_NULL,
		.exit_signal = UM_NULL,
		.filter_pages = UM_NULL,
		.page_bytes = UM_NULL,
		.memory_bytes = UM_NULL,
	};
	if (!writer->run.command)
		return out_of_memory();
	struct um_run_row now = writer->run;

	now.start_ns = 0;
	int error = um_db_begin(writer->db);
	return error ? error : um_db_insert(writer->db, &um_table_run, &now);
}

int um_import_writer_create(struct um_import_writer **out, struct um_db *db,
			    const struct um_import_format *format, const char *path)
{
	struct um_import_writer *writer = calloc(1, sizeof(*writer));

	*out = writer;
	if (!writer)
		return out_of_memory();
	writer->db = db;
	writer->format = format;
	writer->device_end_ns = UM_NULL;
	int error = um_measured_create(&writer->measured);
	return error ? error : begin(writer, path);
}

void um_import_writer_destroy(struct um_import_writer *writer)
{
	if (!writer)
		return;
	um_measured_destroy(writer->measured);
	for (size_t i = 0; i < writer->text_count; i++)
		free(writer->texts[i]);
	free(writer->living);
	free(writer->unplaced);
	free(writer);
}

static int put_span(void *context, uint64_t address, uint64_t bytes)
{
	int error =
		put_allocation(context, 0, UM_ALLOCATION_MANAGED, address, (int64_t)bytes, UM_NULL);

	return error ? error : add_living(context, address, (int64_t)bytes);
}

/* Prefetches and advice find the allocations that were inferred. */
static int place_calls(struct um_import_writer *writer)
{
	int error = 0;

	for (size_t i = 0; i < writer->unplaced_count && !error; i++) {
		struct um_record_op *op = &writer->unplaced[i].op;

		place(writer, writer->unplaced[i].address, &op->allocation, &op->offset);
		if (!op->allocation)
			continue;
		const int64_t values[3] = {op->allocation, (int64_t)op->offset,
					   um_measured_op_id(op->op)};

		error = um_measured_add_op(writer->measured, op);
		if (!error)
			error = um_db_update(writer->db,
					     "UPDATE op SET allocation = ?, offset_bytes = ? "
					     "WHERE op = ?",
					     values, 3);
	}
	return error;
}

/* Managed memory lives from the beginning to the end where nobody told of it. */
static int infer_allocations(struct um_import_writer *writer)
{
	if (writer->has_managed)
		return 0;
	int error = um_infer_spans(writer->db, put_span, writer);

	writer->has_managed = false;
	return error ? error : place_calls(writer);
}

int um_import_writer_finish(struct um_import_writer *writer)
{
	int error = end_launch(writer);

	if (writer->run.start_ns == UM_NULL)
		writer->run.start_ns = 0;
	writer->run.ended = "exited";
	if (!error)
		error = infer_allocations(writer);
	if (!error)
		error = um_measured_attribute(writer->measured, writer->db, &writer->run);
	if (!error)
		error = um_infer_accesses(writer->db, writer->format->transfers_faulted,
					  &writer->inferred_accesses);
	if (!error)
		error = put_origins(writer);
	if (!error)
		error = um_db_exec(writer->db, "DELETE FROM run");
	if (!error)
		error = um_db_insert(writer->db, &um_table_run, &writer->run);
	return error ? error : um_db_commit(writer->db);
}

const struct um_import_totals *um_import_writer_totals(const struct um_import_writer *writer)
{
	return &writer->totals;
}
