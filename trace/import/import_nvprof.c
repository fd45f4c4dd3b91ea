/*
 * What nvprof --print-gpu-trace prints, with unified memory records among it (CUDA 8 to 12; the program's own
 * output may stand before and between):
 *
 *   ==PID== NVPROF is profiling process PID, command: COMMAND
 *   ==PID== Profiling result:
 *      Start  Duration  Grid Size  Block Size  ...  Device  ...  Unified Memory  Virtual Address  Name
 *   546.42ms         -          -           -  ...       -  ...   PC 0x10003fcc   0x200060000000  [Unified Memory CPU page faults]
 *
 * and notes on the columns at the end. Columns are told apart by two blanks or more, and named by the header;
 * which there are depends on what was recorded. Times count from the beginning of the profile. Sizes are in
 * units of 1024 with six digits, so that those above 1 GiB are exact by whole pages only. Whether a
 * transfer was for a fault or brought along is not told.
 */
#include "import_lines.h"

#include "trace/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 24
#define DEVICES 16

enum column {
	START,
	DURATION,
	GRID,
	BLOCK,
	STATIC_BYTES,
	DYNAMIC_BYTES,
	SIZE,
	DEVICE,
	STREAM,
	UNIFIED,
	ADDRESS,
	NAME,
	NAMED_COLUMNS
};

static const char *const column_names[NAMED_COLUMNS] = {
	[START] = "Start",
	[DURATION] = "Duration",
	[GRID] = "Grid Size",
	[BLOCK] = "Block Size",
	[STATIC_BYTES] = "SSMem*",
	[DYNAMIC_BYTES] = "DSMem*",
	[SIZE] = "Size",
	[DEVICE] = "Device",
	[STREAM] = "Stream",
	[UNIFIED] = "Unified Memory",
	[ADDRESS] = "Virtual Address",
	[NAME] = "Name",
};

struct reading {
	struct um_import_lines lines;
	const struct um_import_events *events;
	int place[NAMED_COLUMNS]; /* of a column in a line; -1: there is none */
	int columns;		  /* 0: no header yet */
	bool ended;		  /* the notes behind the rows have begun */
	char *devices[DEVICES];
	int device_count;
};

static int wrong(struct reading *reading, const char *what, const char *text)
{
	return um_import_lines_wrong(&reading->lines, &um_import_nvprof, "%s: '%.100s'", what,
				     text);
}

/* --- fields --- */

/* Cuts the line in place; the last field keeps what is left. Returns how many, at most `most`. */
static int cut(char *line, char **fields, int most)
{
	int count = 0;
	char *at = line + strspn(line, " ");

	while (*at && count < most) {
		fields[count++] = at;
		char *gap = count < most ? strstr(at, "  ") : NULL;

		if (!gap)
			break;
		*gap = '\0';
		at = gap + 1 + strspn(gap + 1, " ");
	}
	return count;
}

struct unit {
	const char *name;
	double factor;
};

/* Of a number with its unit right behind it; NaN: it is none. */
static double quantity(const char *text, const struct unit *units, size_t count)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NAN;
	double value = strtod(text, &end);
	for (size_t i = 0; i < count; i++)
		if (strcmp(end, units[i].name) == 0)
			return value * units[i].factor;
	return NAN;
}

/* UM_NULL for "-", -1 for what is no time. */
static int64_t time_ns(const char *text)
{
	static const struct unit units[] = {{"ns", 1},	{"us", 1e3},   {"ms", 1e6},
					    {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};

	if (strcmp(text, "-") == 0)
		return UM_NULL;
	double ns = quantity(text, units, sizeof(units) / sizeof(*units));
	return ns < 9e18 ? (int64_t)llround(ns) : -1;
}

/* The same. A size is one of whole pages where the digits leave that open. */
static int64_t bytes_of(const char *text)
{
	static const struct unit units[] = {
		{"B", 1}, {"KB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}, {"TB", 0x1p40}};

	if (strcmp(text, "-") == 0)
		return UM_NULL;
	double bytes = quantity(text, units, sizeof(units) / sizeof(*units));
	if (!(bytes < 9e18))
		return -1;
	double unit = bytes >= 0x1p40 ? 0x1p40 : bytes >= 0x1p30 ? 0x1p30 : 0x1p20;
	double paged = round(bytes / UM_PAGE_BYTES) * UM_PAGE_BYTES;

	return (int64_t)llround(fabs(paged - bytes) <= unit * 0.5e-6 ? paged : bytes);
}

static bool triple(const char *text, int64_t *x, int64_t *y, int64_t *z)
{
	long long a, b, c;
	int end = 0;

	if (sscanf(text, "(%9lld %9lld %9lld)%n", &a, &b, &c, &end) != 3 || !end || text[end] ||
	    a < 1 || b < 1 || c < 1)
		return false;
	*x = a;
	*y = b;
	*z = c;
	return true;
}

/* "0x7f..."; 0 for "-" and for what is none, which no address is. */
static uint64_t address_of(const char *text)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0)
		return 0;
	uint64_t address = strtoull(text, &end, 16);
	return *end || address > INT64_MAX ? 0 : address;
}

static const char *field(const struct reading *reading, char *const *fields, enum column column)
{
	return reading->place[column] < 0 ? "-" : fields[reading->place[column]];
}

/* Devices are told by name, and where there are several alike with "(0)" behind it. */
static int find_device(struct reading *reading, const char *name, int64_t *device)
{
	*device = -1;
	if (strcmp(name, "-") == 0)
		return 0;
	for (int i = 0; i < reading->device_count; i++)
		if (strcmp(reading->devices[i], name) == 0) {
			*device = i;
			return 0;
		}
	if (reading->device_count == DEVICES)
		return wrong(reading, "more devices than there can be", name);
	*device = reading->device_count;
	char *copy = reading->devices[reading->device_count++] = strdup(name);
	if (!copy)
		return um_fail(UM_ENOMEM, "out of memory");
	const struct um_device_row row = um_import_device(*device, copy);
	return reading->events->device(reading->events->context, &row);
}

/* --- rows --- */

struct row {
	char **fields;
	const char *name;
	int64_t start_ns, end_ns; /* end: UM_NULL, not told */
	int64_t device;
};

static int put_launch(struct reading *reading, const struct row *row)
{
	struct um_import_op op = um_import_op(UM_OP_LAUNCH);
	struct um_kernel_row kernel = um_import_kernel();
	int64_t lds = bytes_of(field(reading, row->fields, STATIC_BYTES));
	int64_t dynamic = bytes_of(field(reading, row->fields, DYNAMIC_BYTES));
	char *number = strrchr(row->name, '[');

	/* "kernel(int) [419]": the number of its call. */
	if (number && number > row->name && number[-1] == ' ' &&
	    strspn(number + 1, "0123456789]") == strlen(number + 1))
		number[-1] = '\0';
	if (!triple(field(reading, row->fields, GRID), &kernel.grid_x, &kernel.grid_y,
		    &kernel.grid_z) ||
	    !triple(field(reading, row->fields, BLOCK), &kernel.block_x, &kernel.block_y,
		    &kernel.block_z))
		return wrong(reading, "no shape of a launch", field(reading, row->fields, GRID));
	if (row->end_ns == UM_NULL)
		return wrong(reading, "a launch without a duration", row->name);
	kernel.name = row->name;
	kernel.lds_bytes = lds >= 0 && dynamic >= 0 ? lds + dynamic : UM_NULL;
	op.kernel = &kernel;
	op.flags = UM_OP_ASYNC;
	op.start_ns = row->start_ns;
	op.end_ns = row->end_ns;
	op.on_device = true;
	op.device = row->device;
	/* CUPTI numbers streams from 7, which is the default stream of the first context. */
	op.stream = strtol(field(reading, row->fields, STREAM), NULL, 10);
	op.stream = op.stream == 7 ? 0 : op.stream;
	return reading->events->op(reading->events->context, &op);
}

static int put_copy(struct reading *reading, const struct row *row)
{
	static const struct {
		const char *name;
		int kind; /* hipMemcpyKind */
	} kinds[] = {{"HtoH]", 0}, {"HtoD]", 1}, {"DtoH]", 2}, {"DtoD]", 3}, {"PtoP]", 3}};
	bool sets = strcmp(row->name, "[CUDA memset]") == 0;
	struct um_import_op op = um_import_op(sets ? UM_OP_MEMSET : UM_OP_COPY);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !sets; i++)
		if (strstr(row->name, kinds[i].name))
			op.value = kinds[i].kind;
	op.start_ns = row->start_ns;
	op.end_ns = row->end_ns;
	op.on_device = true;
	op.device = row->device;
	op.bytes = bytes_of(field(reading, row->fields, SIZE));
	if (op.bytes == -1 || op.end_ns == UM_NULL)
		return wrong(reading, "no size and time of a copy", row->name);
	return reading->events->op(reading->events->context, &op);
}

static int put_host_fault(struct reading *reading, const struct row *row)
{
	struct um_fault_row fault = um_import_fault();

	fault.device = -1;
	fault.address = (int64_t)address_of(field(reading, row->fields, ADDRESS));
	fault.faults = 1;
	fault.start_ns = row->start_ns;
	if (!fault.address)
		return wrong(reading, "a fault without an address", row->name);
	return reading->events->fault(reading->events->context, &fault);
}

static int put_device_fault(struct reading *reading, const struct row *row)
{
	struct um_fault_row fault = um_import_fault();
	const char *count = field(reading, row->fields, UNIFIED);
	char *end;

	fault.device = row->device;
	fault.address = (int64_t)address_of(field(reading, row->fields, ADDRESS));
	fault.faults = (int64_t)strtoul(count, &end, 10);
	fault.start_ns = row->start_ns;
	fault.end_ns = row->end_ns;
	if (!fault.address || fault.device < 0 || *end || fault.faults < 1 ||
	    fault.faults > UINT32_MAX)
		return wrong(reading, "no number of faults and their address", count);
	return reading->events->fault(reading->events->context, &fault);
}

static int put_transfer(struct reading *reading, const struct row *row, bool to_host)
{
	struct um_migration_row moved = um_import_migration();
	const char *bytes = field(reading, row->fields, UNIFIED);

	moved.address = (int64_t)address_of(field(reading, row->fields, ADDRESS));
	moved.bytes = bytes_of(bytes);
	moved.source = to_host ? row->device : -1;
	moved.destination = to_host ? -1 : row->device;
	moved.transfers = 1;
	moved.start_ns = row->start_ns;
	moved.end_ns = row->end_ns;
	if (!moved.address || moved.bytes < 1 || row->device < 0 || row->end_ns == UM_NULL)
		return wrong(reading, "no transfer", bytes);
	moved.pages = um_import_pages((uint64_t)moved.address, (uint64_t)moved.bytes);
	return reading->events->migration(reading->events->context, &moved);
}

static int put_to_device(struct reading *reading, const struct row *row)
{
	return put_transfer(reading, row, false);
}

static int put_to_host(struct reading *reading, const struct row *row)
{
	return put_transfer(reading, row, true);
}

static int put_remote_map(struct reading *reading, const struct row *row)
{
	struct um_mapping_row mapping = um_import_mapping();
	int64_t bytes = bytes_of(field(reading, row->fields, UNIFIED));

	mapping.device = row->device;
	mapping.address = (int64_t)address_of(field(reading, row->fields, ADDRESS));
	mapping.change = um_word(um_change_words, UM_CHANGE_REMOTE);
	mapping.at_ns = row->start_ns;
	if (!mapping.address || bytes == -1)
		return wrong(reading, "no mapping", row->name);
	mapping.pages =
		um_import_pages((uint64_t)mapping.address, bytes == UM_NULL ? 0 : (uint64_t)bytes);
	return reading->events->mapping(reading->events->context, &mapping);
}

static int put_event(struct reading *reading, const struct row *row, const char *kind)
{
	struct um_driver_event_row event = um_import_event();
	int64_t bytes = bytes_of(field(reading, row->fields, UNIFIED));

	event.kind = kind;
	event.device = row->device < 0 ? -1 : row->device;
	event.address = (int64_t)address_of(field(reading, row->fields, ADDRESS));
	event.pages =
		bytes > 0 ? um_import_pages((uint64_t)event.address, (uint64_t)bytes) : UM_NULL;
	event.start_ns = row->start_ns;
	event.end_ns = row->end_ns;
	if (!event.address || bytes == -1)
		return wrong(reading, "an event without its address", row->name);
	return reading->events->event(reading->events->context, &event);
}

static int put_thrashing(struct reading *reading, const struct row *row)
{
	return put_event(reading, row, UM_EVENT_WORD_THRASHING);
}

static int put_throttling(struct reading *reading, const struct row *row)
{
	return put_event(reading, row, UM_EVENT_WORD_THROTTLING);
}

static const struct {
	const char *name; /* how it begins */
	int (*put)(struct reading *, const struct row *);
	bool of_several; /* the device column names several, cut off */
} kinds[] = {
	{"[Unified Memory Memcpy HtoD]", put_to_device, false},
	{"[Unified Memory Memcpy DtoH]", put_to_host, false},
	{"[Unified Memory CPU page faults]", put_host_fault, false},
	{"[Unified Memory GPU page faults]", put_device_fault, false},
	{"[Unified Memory page thrash]", put_thrashing, true},
	{"[Unified Memory page throttle]", put_throttling, true},
	{"[Unified Memory remote mapping]", put_remote_map, false},
	{"[Unified Memory remote map]", put_remote_map, false},
	{"[CUDA memcpy ", put_copy, false},
	{"[CUDA memset]", put_copy, false},
};

static int put_row(struct reading *reading, char **fields)
{
	struct row row = {.fields = fields, .name = field(reading, fields, NAME)};
	int64_t duration_ns = time_ns(field(reading, fields, DURATION));
	size_t kind = 0, count = sizeof(kinds) / sizeof(*kinds);

	row.start_ns = time_ns(field(reading, fields, START));
	if (row.start_ns < 0 || duration_ns == -1 ||
	    (duration_ns != UM_NULL && duration_ns > INT64_MAX - row.start_ns))
		return wrong(reading, "no time", field(reading, fields, START));
	row.end_ns = duration_ns == UM_NULL ? UM_NULL : row.start_ns + duration_ns;
	while (kind < count && strncmp(row.name, kinds[kind].name, strlen(kinds[kind].name)) != 0)
		kind++;
	if (kind == count && *row.name == '[')
		return wrong(reading, "no record is called so", row.name);
	/* Of what several fought for the first device stands for all, as in traces of our own. */
	bool of_several = kind < count && kinds[kind].of_several;
	int error =
		of_several ? 0 : find_device(reading, field(reading, fields, DEVICE), &row.device);

	if (of_several)
		row.device = 0;
	if (error)
		return error;
	return kind < count ? kinds[kind].put(reading, &row) : put_launch(reading, &row);
}

/* --- lines --- */

static bool is_header(const char *line)
{
	const char *start = line + strspn(line, " ");

	return strncmp(start, "Start  ", 7) == 0 && strstr(start, "  Duration  ") &&
	       strlen(line) > 4 && strcmp(line + strlen(line) - 4, "Name") == 0;
}

static int take_header(struct reading *reading)
{
	char *fields[COLUMNS];

	if (reading->columns)
		return wrong(reading, "a second profile in one log (of a child, perhaps)",
			     "nvprof --log-file x.%p.log makes one a process");
	reading->columns = cut(reading->lines.line, fields, COLUMNS);
	for (int name = 0; name < NAMED_COLUMNS; name++) {
		reading->place[name] = -1;
		for (int i = 0; i < reading->columns; i++)
			if (strcmp(fields[i], column_names[name]) == 0)
				reading->place[name] = i;
	}
	return 0;
}

static int take_banner(struct reading *reading)
{
	struct um_import_run run = {.pid = UM_NULL};
	struct um_loss_row loss = {.op = UM_NULL,
				   .device = UM_NULL,
				   .kind = "dropped",
				   .count = 1,
				   .start_ns = UM_NULL,
				   .end_ns = UM_NULL,
				   .detail = reading->lines.line};
	const char *line = reading->lines.line;
	const char *command = strstr(line, ", command: ");
	int pid;

	if (strstr(line, "NVPROF is profiling process ") && command &&
	    sscanf(line, "==%d== ", &pid) == 1 && pid > 0) {
		run.pid = pid;
		run.command = command + strlen(", command: ");
		return reading->events->run(reading->events->context, &run);
	}
	if (strstr(line, "Warning: ") && (strstr(line, "dropped") || strstr(line, "overflow")))
		return reading->events->loss(reading->events->context, &loss);
	return 0;
}

static int take_line(struct reading *reading)
{
	char *fields[COLUMNS];
	char *line = reading->lines.line;

	if (strncmp(line, "==", 2) == 0)
		return take_banner(reading);
	if (is_header(line))
		return take_header(reading);
	if (!reading->columns || reading->ended)
		return 0;
	if (!*line || strncmp(line, "Regs: ", 6) == 0) {
		reading->ended = true;
		return 0;
	}
	if (reading->lines.cut || cut(line, fields, reading->columns) != reading->columns)
		return wrong(reading, "a line that is cut off", line);
	return put_row(reading, fields);
}

static int recognise(const struct um_import_file *file, const char *head)
{
	const struct um_import_events nobody = {0};
	struct um_import_lines lines;
	int result = strstr(head, "NVPROF is profiling process ") ? 1 : 0, more = 1;

	/* The program may have printed much before. */
	um_import_lines_init(&lines, file, &nobody);
	while (!result && (more = um_import_lines_next(&lines)) > 0)
		result = is_header(lines.line);
	um_import_lines_fini(&lines);
	return result;
}

static int read_file(const struct um_import_file *file, const struct um_import_events *events)
{
	struct reading reading = {.events = events};
	int error = 0, more;

	um_import_lines_init(&reading.lines, file, events);
	while (!error && (more = um_import_lines_next(&reading.lines)) != 0)
		error = more < 0 ? more : take_line(&reading);
	if (!error && !reading.columns)
		error = um_fail(
			UM_EFORMAT,
			"%s: recognised as a log of nvprof, but there is no table of records "
			"in it: nvprof --print-gpu-trace makes one",
			file->path);
	for (int i = 0; i < reading.device_count; i++)
		free(reading.devices[i]);
	um_import_lines_fini(&reading.lines);
	return error;
}

static const struct um_import_told told[] = {
	{"op.time", "kernels, copies and memsets, of the GPU; from the beginning of the profile"},
	{"fault", "a row of the log each: faults of a page that the driver served together"},
	{"fault.host", "a row of the log each; whether it read or wrote is not told"},
	{"migration", "a transfer each; for what is not told"},
	{"mapping", "of the GPU onto memory elsewhere"},
	{"driver_event", "thrashing and throttling"},
	{NULL, NULL},
};

const struct um_import_format um_import_nvprof = {
	.name = "nvprof",
	.what = "log of nvprof --print-gpu-trace",
	.medium = UM_IMPORT_TEXT,
	.clock = "since the profile began",
	.launches_told = true,
	.told = told,
	.recognise = recognise,
	.read = read_file,
};
