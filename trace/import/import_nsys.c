/*
 * What nsys export --type=sqlite makes of a recording with --cuda-um-cpu-page-faults and
 * --cuda-um-gpu-page-faults (NVIDIA's "SQLite Export Schema Reference"). Tables are there as far as anything was
 * recorded for them, and columns come and go with versions:
 *
 *   CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _RUNTIME   launches, copies and transfers, memsets, calls
 *   CUDA_UM_CPU_PAGE_FAULT_EVENTS, CUDA_UM_GPU_PAGE_FAULT_EVENTS   faults
 *   CUDA_GPU_MEMORY_USAGE_EVENTS                             allocations (--cuda-memory-usage=true)
 *   StringIds, TARGET_INFO_GPU                               names, cards
 *
 * Transfers of managed memory are rows of _MEMCPY with a copyKind of 11 (to the device), 12 (to the host) or 13
 * (between devices). Numbers of enumerations are CUPTI's (cupti_activity.h). Thrashing, throttling and remote
 * mappings are in no table. Times count from the beginning of the session.
 */
#include "import_api.h"
#include "import_sqlite.h"

#include "trace/base/error.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct reading {
	const struct um_import_file *file;
	const struct um_import_events *events;
};

static int wrong(const struct reading *reading, const char *table, const char *what)
{
	return um_fail(UM_EFORMAT, "%s: recognised as an %s, but damaged: %s: %s",
		       reading->file->path, um_import_nsys.what, table, what);
}

static bool is_span(int64_t start_ns, int64_t end_ns)
{
	return start_ns >= 0 && end_ns >= start_ns;
}

/* --- launches, copies, memsets --- */

enum {
	K_START,
	K_END,
	K_DEVICE,
	K_STREAM,
	K_GRID,
	K_BLOCK = K_GRID + 3,
	K_STATIC = K_BLOCK + 3,
	K_DYNAMIC,
	K_NAME,
	K_SHORT,
	K_MANGLED
};
static const char *const kernel_columns[] = {
	"start",
	"end",
	"deviceId",
	"streamId",
	"gridX",
	"gridY",
	"gridZ",
	"blockX",
	"blockY",
	"blockZ",
	"staticSharedMemory",
	"dynamicSharedMemory",
	"(SELECT s.value FROM StringIds AS s WHERE s.id = t.demangledName)",
	"(SELECT s.value FROM StringIds AS s WHERE s.id = t.shortName)",
	NULL};

static int64_t add(int64_t a, int64_t b)
{
	return a == UM_NULL || b == UM_NULL || a < 0 || b < 0 || a > INT64_MAX - b ? UM_NULL
										   : a + b;
}

/* CUPTI numbers streams from 7, which is the default stream of the first context. */
static int64_t stream_of(int64_t stream)
{
	return stream == 7 ? 0 : stream;
}

static int put_kernel(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	struct um_import_op op = um_import_op(UM_OP_LAUNCH);
	struct um_kernel_row kernel = um_import_kernel();
	int64_t *const shape[] = {&kernel.grid_x,  &kernel.grid_y,  &kernel.grid_z,
				  &kernel.block_x, &kernel.block_y, &kernel.block_z};

	op.kernel = &kernel;
	op.flags = UM_OP_ASYNC;
	op.start_ns = um_import_column(row, K_START);
	op.end_ns = um_import_column(row, K_END);
	op.device = um_import_column(row, K_DEVICE);
	op.stream = stream_of(um_import_column(row, K_STREAM));
	op.on_device = true;
	if (!is_span(op.start_ns, op.end_ns))
		return wrong(reading, "CUPTI_ACTIVITY_KIND_KERNEL",
			     "a launch that ends before it begins");
	for (size_t i = 0; i < COUNT(shape); i++) {
		int64_t told = um_import_column(row, K_GRID + (int)i);

		*shape[i] = told > 0 ? told : 1;
	}
	kernel.lds_bytes = add(um_import_column(row, K_STATIC), um_import_column(row, K_DYNAMIC));
	kernel.name = um_import_text(row, K_NAME);
	if (!kernel.name)
		kernel.name = um_import_text(row, K_SHORT);
	return reading->events->op(reading->events->context, &op);
}

enum {
	C_START,
	C_END,
	C_DEVICE,
	C_STREAM,
	C_BYTES,
	C_KIND,
	C_SOURCE,
	C_DESTINATION,
	C_CAUSE,
	C_ADDRESS
};
static const char *const copy_columns[] = {
	"start",       "end",	      "deviceId",	"streamId",	  "bytes", "copyKind",
	"srcDeviceId", "dstDeviceId", "migrationCause", "virtualAddress", NULL};

/* CUpti_ActivityMemcpyKind */
enum {
	COPY_TO_DEVICE = 1,
	COPY_TO_HOST = 2,
	COPY_ON_DEVICE = 8,
	COPY_ON_HOST = 9,
	COPY_PEER = 10,
	MOVE_TO_DEVICE = 11,
	MOVE_TO_HOST = 12,
	MOVE_PEER = 13
};

/* CUpti_ActivityUnifiedMemoryMigrationCause; coherence is a fault, of whoever the pages went to. */
static const char *cause_of(int64_t told, bool to_host)
{
	static const int causes[] = {-1,
				     UM_CAUSE_PREFETCH,
				     -2,
				     UM_CAUSE_DRIVER_PREFETCH,
				     UM_CAUSE_EVICTION,
				     UM_CAUSE_ACCESS_COUNTER};
	int cause = told >= 0 && told < (int64_t)COUNT(causes) ? causes[told] : -1;

	if (cause == -2)
		cause = to_host ? UM_CAUSE_HOST_FAULT : UM_CAUSE_DEVICE_FAULT;
	return cause < 0 ? NULL : um_word(um_cause_words, cause);
}

static int put_transfer(const struct reading *reading, sqlite3_stmt *row, int64_t kind)
{
	struct um_migration_row moved = um_import_migration();
	int64_t device = um_import_column(row, C_DEVICE),
		address = um_import_column(row, C_ADDRESS);
	int64_t source = um_import_column(row, C_SOURCE);
	int64_t destination = um_import_column(row, C_DESTINATION);

	moved.address = address == UM_NULL ? 0 : address;
	moved.bytes = um_import_column(row, C_BYTES);
	moved.source = kind == MOVE_TO_DEVICE ? -1 : source != UM_NULL ? source : device;
	moved.destination = kind == MOVE_TO_HOST     ? -1
			    : destination != UM_NULL ? destination
						     : device;
	moved.cause = cause_of(um_import_column(row, C_CAUSE), kind == MOVE_TO_HOST);
	moved.transfers = 1;
	moved.start_ns = um_import_column(row, C_START);
	moved.end_ns = um_import_column(row, C_END);
	if (moved.address < 0 || moved.bytes <= 0 || !is_span(moved.start_ns, moved.end_ns))
		return wrong(reading, "CUPTI_ACTIVITY_KIND_MEMCPY",
			     "a transfer that there cannot be");
	moved.pages = um_import_pages((uint64_t)moved.address, (uint64_t)moved.bytes);
	return reading->events->migration(reading->events->context, &moved);
}

/* hipMemcpyKind; UM_NULL: not one of the five. */
static int64_t copy_kind(int64_t kind)
{
	switch (kind) {
	case COPY_TO_DEVICE:
		return 1;
	case COPY_TO_HOST:
		return 2;
	case COPY_ON_DEVICE:
	case COPY_PEER:
		return 3;
	case COPY_ON_HOST:
		return 0;
	default:
		return UM_NULL;
	}
}

static int put_copy(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	int64_t kind = um_import_column(row, C_KIND);
	struct um_import_op op = um_import_op(UM_OP_COPY);

	if (kind >= MOVE_TO_DEVICE && kind <= MOVE_PEER)
		return put_transfer(reading, row, kind);
	op.start_ns = um_import_column(row, C_START);
	op.end_ns = um_import_column(row, C_END);
	op.device = um_import_column(row, C_DEVICE);
	op.stream = stream_of(um_import_column(row, C_STREAM));
	op.on_device = true;
	op.bytes = um_import_column(row, C_BYTES);
	op.value = copy_kind(kind);
	if (!is_span(op.start_ns, op.end_ns) || (op.bytes != UM_NULL && op.bytes < 0))
		return wrong(reading, "CUPTI_ACTIVITY_KIND_MEMCPY", "a copy that there cannot be");
	return reading->events->op(reading->events->context, &op);
}

enum { S_START, S_END, S_DEVICE, S_STREAM, S_BYTES, S_VALUE };
static const char *const memset_columns[] = {"start", "end",   "deviceId", "streamId",
					     "bytes", "value", NULL};

static int put_memset(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	struct um_import_op op = um_import_op(UM_OP_MEMSET);

	op.start_ns = um_import_column(row, S_START);
	op.end_ns = um_import_column(row, S_END);
	op.device = um_import_column(row, S_DEVICE);
	op.stream = stream_of(um_import_column(row, S_STREAM));
	op.bytes = um_import_column(row, S_BYTES);
	op.value = um_import_column(row, S_VALUE);
	op.on_device = true;
	if (!is_span(op.start_ns, op.end_ns) || (op.bytes != UM_NULL && op.bytes < 0))
		return wrong(reading, "CUPTI_ACTIVITY_KIND_MEMSET",
			     "a memset that there cannot be");
	return reading->events->op(reading->events->context, &op);
}

/* --- faults --- */

/* CUpti_ActivityUnifiedMemoryAccessType */
static const char *access_of(int64_t told)
{
	static const int accesses[] = {-1, UM_FAULT_READ, UM_FAULT_WRITE, UM_FAULT_ATOMIC,
				       UM_FAULT_PREFETCH};

	return told > 0 && told < (int64_t)COUNT(accesses)
		       ? um_word(um_access_words, accesses[told])
		       : NULL;
}

enum { H_START, H_ADDRESS };
static const char *const host_fault_columns[] = {"start", "address", NULL};

static int put_host_fault(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	struct um_fault_row fault = um_import_fault();

	fault.device = -1;
	fault.faults = 1;
	fault.start_ns = um_import_column(row, H_START);
	fault.address = um_import_column(row, H_ADDRESS);
	if (fault.start_ns < 0 || fault.address <= 0)
		return wrong(reading, "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
			     "a fault without an address");
	return reading->events->fault(reading->events->context, &fault);
}

enum { F_START, F_END, F_DEVICE, F_ADDRESS, F_COUNT, F_ACCESS };
static const char *const device_fault_columns[] = {
	"start", "end", "deviceId", "address", "numberOfPageFaults", "faultAccessType", NULL};

static int put_device_fault(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	struct um_fault_row fault = um_import_fault();

	fault.start_ns = um_import_column(row, F_START);
	fault.end_ns = um_import_column(row, F_END);
	fault.device = um_import_column(row, F_DEVICE);
	fault.address = um_import_column(row, F_ADDRESS);
	fault.faults = um_import_column(row, F_COUNT);
	fault.access = access_of(um_import_column(row, F_ACCESS));
	if (fault.start_ns < 0 || fault.address <= 0 || fault.device < 0 ||
	    (fault.end_ns != UM_NULL && fault.end_ns < fault.start_ns) ||
	    (fault.faults != UM_NULL && (fault.faults < 1 || fault.faults > UINT32_MAX)))
		return wrong(reading, "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
			     "a fault that there cannot be");
	return reading->events->fault(reading->events->context, &fault);
}

/* --- calls --- */

enum { M_START, M_ADDRESS, M_BYTES, M_KIND, M_OPERATION, M_DEVICE };
static const char *const memory_columns[] = {
	"start", "address", "bytes", "memKind", "memoryOperationType", "deviceId", NULL};

/* CUpti_ActivityMemoryKind: 1 pinned, 2 device, 4 managed, 5 and 6 variables of these two. */
static int64_t allocation_kind(int64_t told)
{
	static const int kinds[] = {0,
				    UM_ALLOCATION_PINNED,
				    UM_ALLOCATION_DEVICE,
				    0,
				    UM_ALLOCATION_MANAGED,
				    UM_ALLOCATION_DEVICE,
				    UM_ALLOCATION_MANAGED};

	return told > 0 && told < (int64_t)COUNT(kinds) && kinds[told] ? kinds[told] : UM_NULL;
}

/* CUpti_ActivityMemoryOperationType: 0 an allocation, 1 its release. */
static int put_memory(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	bool frees = um_import_column(row, M_OPERATION) == 1;
	struct um_import_op op = um_import_op(frees ? UM_OP_FREE : UM_OP_ALLOC);
	int64_t address = um_import_column(row, M_ADDRESS);

	op.start_ns = op.end_ns = um_import_column(row, M_START);
	op.address = address == UM_NULL ? 0 : (uint64_t)address;
	op.bytes = um_import_column(row, M_BYTES);
	op.device = um_import_column(row, M_DEVICE);
	op.allocation_kind = frees ? UM_NULL : allocation_kind(um_import_column(row, M_KIND));
	if (op.start_ns < 0 || (op.bytes != UM_NULL && op.bytes < 0) || address < 0)
		return wrong(reading, "CUDA_GPU_MEMORY_USAGE_EVENTS",
			     "memory that there cannot be");
	return reading->events->op(reading->events->context, &op);
}

enum { A_START, A_END, A_THREAD, A_RESULT, A_NAME };
static const char *const call_columns[] = {
	"start",
	"end",
	"globalTid",
	"returnValue",
	"(SELECT s.value FROM StringIds AS s WHERE s.id = t.nameId)",
	NULL};

/* The thread's number within its process, in the low 24 bits of a serialised id. */
#define THREAD_BITS 0xffffff

/* Allocations and frees are told better by CUDA_GPU_MEMORY_USAGE_EVENTS; here they have no address. */
static int put_call(void *context, sqlite3_stmt *row)
{
	const struct reading *reading = context;
	const char *name = um_import_text(row, A_NAME);
	int64_t thread = um_import_column(row, A_THREAD);
	int allocation;
	int kind = name ? um_import_api(name, &allocation) : 0;

	if (!kind || kind == UM_OP_ALLOC || kind == UM_OP_FREE)
		return 0;
	struct um_import_op op = um_import_op((enum um_op_kind)kind);
	op.start_ns = um_import_column(row, A_START);
	op.end_ns = um_import_column(row, A_END);
	op.thread = thread == UM_NULL ? UM_NULL : thread & THREAD_BITS;
	op.result = um_import_column(row, A_RESULT);
	if (!is_span(op.start_ns, op.end_ns))
		return wrong(reading, "CUPTI_ACTIVITY_KIND_RUNTIME",
			     "a call that ends before it begins");
	return reading->events->op(reading->events->context, &op);
}

/* --- the file --- */

/* Of one time: what was called comes before what ran, and faults before what moved for them. */
static const struct um_import_source sources[] = {
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", "start", NULL, memory_columns, NULL, put_memory},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", "start", NULL, call_columns, NULL, put_call},
	{"CUPTI_ACTIVITY_KIND_KERNEL", "start", NULL, kernel_columns, NULL, put_kernel},
	{"CUPTI_ACTIVITY_KIND_MEMSET", "start", NULL, memset_columns, NULL, put_memset},
	{"CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start", NULL, host_fault_columns, NULL, put_host_fault},
	{"CUDA_UM_GPU_PAGE_FAULT_EVENTS", "start", NULL, device_fault_columns, NULL,
	 put_device_fault},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", "start", NULL, copy_columns, NULL, put_copy},
};

static int put_devices(const struct reading *reading)
{
	sqlite3_stmt *row = NULL;
	int error, more;

	if (!um_import_has_table(reading->file, "TARGET_INFO_GPU") ||
	    !um_import_has_column(reading->file, "TARGET_INFO_GPU", "id"))
		return 0;
	bool has_memory = um_import_has_column(reading->file, "TARGET_INFO_GPU", "totalMemory");
	bool has_units = um_import_has_column(reading->file, "TARGET_INFO_GPU", "smCount");
	error = um_import_prepare(
		reading->file, &row, "SELECT id, name, %s, %s FROM TARGET_INFO_GPU",
		has_memory ? "totalMemory" : "NULL", has_units ? "smCount" : "NULL");
	while (!error && (more = um_import_step(reading->file, row)) != 0) {
		struct um_device_row device;

		if (more < 0) {
			error = more;
			break;
		}
		const char *name = um_import_text(row, 1);

		device = um_import_device(um_import_column(row, 0), name ? name : "not told");
		device.memory_bytes = um_import_column(row, 2);
		device.compute_units = um_import_column(row, 3);
		error = reading->events->device(reading->events->context, &device);
	}
	sqlite3_finalize(row);
	return error;
}

/* Addresses of two processes would be taken for the same. A serialised id has the pid in bits 24 to 47. */
static int check_processes(const struct reading *reading)
{
	static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
					     "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
					     "CUDA_UM_GPU_PAGE_FAULT_EVENTS"};
	struct um_import_run run = {.pid = UM_NULL};
	int error = 0;

	for (size_t i = 0; i < COUNT(tables) && !error; i++) {
		int64_t first = UM_NULL, last = UM_NULL;

		if (!um_import_has_table(reading->file, tables[i]) ||
		    !um_import_has_column(reading->file, tables[i], "globalPid"))
			continue;
		error = um_import_integer(reading->file, &first,
					  "SELECT MIN(globalPid) >> 24 & 16777215 FROM %s",
					  tables[i]);
		if (!error)
			error = um_import_integer(reading->file, &last,
						  "SELECT MAX(globalPid) >> 24 & 16777215 FROM %s",
						  tables[i]);
		if (!error && first != last)
			error = um_fail(
				UM_ENOTSUP,
				"%s: has several processes (%lld, %lld): record each into a file of its own",
				reading->file->path, (long long)first, (long long)last);
		if (first != UM_NULL)
			run.pid = first;
	}
	return error ? error : reading->events->run(reading->events->context, &run);
}

static int recognise(const struct um_import_file *file, const char *head)
{
	(void)head;
	if (!um_import_has_table(file, "StringIds"))
		return 0;
	for (size_t i = 0; i < COUNT(sources); i++)
		if (um_import_has_table(file, sources[i].table))
			return 1;
	return um_import_has_table(file, "TARGET_INFO_GPU");
}

static int read_file(const struct um_import_file *file, const struct um_import_events *events)
{
	struct reading reading = {file, events};
	int error = check_processes(&reading);

	if (!error)
		error = put_devices(&reading);
	return error ? error : um_import_merge(file, events, sources, COUNT(sources), "", &reading);
}

static const struct um_import_told told[] = {
	{"op.time", "kernels, copies and memsets: of the GPU; all else: of the call"},
	{"fault", "as the driver tells of them: fewer than the pages that faulted; none without "
		  "--cuda-um-gpu-page-faults=true"},
	{"fault.host", "each fault of the host on managed memory; none without "
		       "--cuda-um-cpu-page-faults=true"},
	{"migration", "each transfer of the driver"},
	{"copy_traffic", "explicit copies whose memory is known"},
	{"allocation", "as --cuda-memory-usage=true tells"},
	{NULL, NULL},
};

const struct um_import_format um_import_nsys = {
	.name = "nsys",
	.what = "SQLite export of Nsight Systems",
	.medium = UM_IMPORT_SQLITE,
	.clock = "since the session began",
	.launches_told = true,
	.transfers_faulted = true,
	.told = told,
	.recognise = recognise,
	.read = read_file,
};
