/*
 * tap_run [--faults=off|gpu|all] [--spool=BYTES] [--slow=US] [--tap=PATH] [-o FILE] PROGRAM [ARGS...]
 *
 * What umtrace does, less the database: makes a spool, starts the program with the tap, and prints every
 * record as a line of text. Ends with the program's status. With --slow the reader sleeps after each
 * record, so that the spool fills; with --gone it leaves after the first.
 */
#include "trace/base/error.h"
#include "trace/spool/spool_ring.h"

#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAP "../lib/umtrace/libumtrace_cupti.so" /* from the folder of this program */

static struct {
	uint64_t records[32];
	uint64_t all;
} totals;
static FILE *out;
static bool is_quiet;

static void print_hello(const void *record)
{
	const struct um_record_hello *hello = record;

	fprintf(out, "hello backend=%u runtime=\"%s\" driver=\"%s\"\n", hello->backend,
		hello->runtime, hello->driver);
}

static void print_device(const void *record)
{
	const struct um_record_device *device = record;

	fprintf(out,
		"device %u name=\"%s\" arch=%s units=%u memory=%" PRIu64
		" lanes=%u clock_khz=%u memory_clock_khz=%u bus_bits=%u l2=%u\n",
		device->device, device->name, device->arch, device->compute_units,
		device->memory_bytes, device->wave_lanes, device->clock_khz,
		device->memory_clock_khz, device->memory_bus_bits, device->l2_bytes);
}

static void print_site(const void *record)
{
	const struct um_record_site *site = record;

	fprintf(out, "site %u parent=%u offset=0x%" PRIx64 " module=\"%s\"\n", site->site,
		site->parent, site->offset, site->text);
}

static void print_allocation(const void *record)
{
	const struct um_record_allocation *allocation = record;
	static const char *const kinds[] = {"?",      "managed",    "device",
					    "pinned", "registered", "pageable"};

	fprintf(out,
		"allocation %u kind=%s flags=%u device=%d address=0x%" PRIx64 " bytes=%" PRIu64
		" op=%u site=%u name=\"%s\"\n",
		allocation->allocation, kinds[allocation->kind < 6 ? allocation->kind : 0],
		allocation->flags, allocation->device, allocation->address, allocation->bytes,
		allocation->op, allocation->site, allocation->name);
}

static void print_op(const void *record)
{
	static const char *const kinds[] = {"?",
					    "alloc",
					    "free",
					    "advise",
					    "prefetch",
					    "copy",
					    "memset",
					    "launch",
					    "sync_device",
					    "sync_stream",
					    "event_record",
					    "event_sync",
					    "stream_wait",
					    "stream_create",
					    "stream_destroy",
					    "attach",
					    "host",
					    "range",
					    "name",
					    "name_end",
					    "profiler_start",
					    "profiler_stop",
					    "callback"};
	const struct um_record_op *op = record;
	size_t count = sizeof(kinds) / sizeof(*kinds);

	fprintf(out,
		"op %u kind=%s flags=%u thread=%u stream=%u start=%" PRIu64 " took=%" PRId64
		" result=%d site=%u allocation=%u offset=%" PRIu64 " bytes=%" PRIu64
		" source=%u source_offset=%" PRIu64 " device=%d advice=%u event=%u value=%u\n",
		op->op, kinds[op->kind < count ? op->kind : 0], op->flags, op->thread, op->stream,
		op->start_ns, op->end_ns ? (int64_t)(op->end_ns - op->start_ns) : -1, op->result,
		op->site, op->allocation, op->offset, op->bytes, op->source_allocation,
		op->source_offset, op->device, op->advice, op->event, op->value);
}

static void print_kernel(const void *record)
{
	const struct um_record_kernel *kernel = record;

	fprintf(out, "kernel op=%u grid=%u,%u,%u block=%u,%u,%u lds=%u name=\"%s\"\n", kernel->op,
		kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0],
		kernel->block[1], kernel->block[2], kernel->lds_bytes, kernel->name);
}

static void print_time(const void *record)
{
	const struct um_record_time *time = record;

	fprintf(out, "time op=%u device=%d start=%" PRIu64 " took=%" PRId64 "\n", time->op,
		time->device, time->start_ns, (int64_t)(time->end_ns - time->start_ns));
}

static void print_fault(const void *record)
{
	const struct um_record_fault *fault = record;

	fprintf(out,
		"fault device=%d access=%d address=0x%" PRIx64 " faults=%" PRIu64 " start=%" PRIu64
		" took=%" PRId64 " site=%u\n",
		fault->device, (int)fault->access, fault->address, fault->faults, fault->start_ns,
		fault->end_ns ? (int64_t)(fault->end_ns - fault->start_ns) : -1, fault->site);
}

static void print_migration(const void *record)
{
	const struct um_record_migration *migration = record;

	fprintf(out,
		"migration from=%d to=%d cause=%d address=0x%" PRIx64 " bytes=%" PRIu64
		" start=%" PRIu64 " took=%" PRId64 "\n",
		migration->source, migration->destination, (int)migration->cause,
		migration->address, migration->bytes, migration->start_ns,
		(int64_t)(migration->end_ns - migration->start_ns));
}

static void print_mapping(const void *record)
{
	const struct um_record_mapping *mapping = record;

	fprintf(out,
		"mapping device=%d change=%u cause=%d address=0x%" PRIx64 " bytes=%" PRIu64
		" at=%" PRIu64 "\n",
		mapping->device, mapping->change, (int)mapping->cause, mapping->address,
		mapping->bytes, mapping->at_ns);
}

static void print_event(const void *record)
{
	const struct um_record_event *event = record;

	fprintf(out,
		"event device=%d kind=%u address=0x%" PRIx64 " bytes=%" PRIu64 " start=%" PRIu64
		" took=%" PRId64 "\n",
		event->device, event->kind, event->address, event->bytes, event->start_ns,
		event->end_ns ? (int64_t)(event->end_ns - event->start_ns) : -1);
}

static void print_range(const void *record)
{
	const struct um_record_range *range = record;

	fprintf(out, "range op=%u name=\"%s\"\n", range->op, range->name);
}

static void print_part(const void *record)
{
	const struct um_record_part *part = record;

	fprintf(out,
		"part op=%u allocation=%u offset=%" PRIu64 " bytes=%" PRIu64
		" site=%u whole=%u name=\"%s\"\n",
		part->op, part->allocation, part->offset, part->bytes, part->site, part->whole,
		part->name);
}

static void print_variable(const void *record)
{
	const struct um_record_variable *variable = record;

	fprintf(out, "variable allocation=%u in=%s\n", variable->allocation,
		variable->site						  ? "frame"
		: *(const char *)(variable->pointer + variable->pointers) ? "module"
									  : "elsewhere");
}

static void print_loss(const void *record)
{
	const struct um_record_loss *loss = record;

	fprintf(out, "loss op=%u kind=%u count=%" PRIu64 " text=\"%s\"\n", loss->op, loss->kind,
		loss->count, loss->text);
}

static void print_bye(const void *record)
{
	(void)record;
	fprintf(out, "bye\n");
}

static void (*const printers[])(const void *) = {
	[UM_RECORD_HELLO] = print_hello,
	[UM_RECORD_DEVICE] = print_device,
	[UM_RECORD_SITE] = print_site,
	[UM_RECORD_ALLOCATION] = print_allocation,
	[UM_RECORD_OP] = print_op,
	[UM_RECORD_KERNEL] = print_kernel,
	[UM_RECORD_LOSS] = print_loss,
	[UM_RECORD_BYE] = print_bye,
	[UM_RECORD_TIME] = print_time,
	[UM_RECORD_FAULT] = print_fault,
	[UM_RECORD_MIGRATION] = print_migration,
	[UM_RECORD_MAPPING] = print_mapping,
	[UM_RECORD_EVENT] = print_event,
	[UM_RECORD_RANGE] = print_range,
	[UM_RECORD_PART] = print_part,
	[UM_RECORD_VARIABLE] = print_variable,
};

static void print_record(const struct um_record *record)
{
	totals.all++;
	if (record->kind < 32)
		totals.records[record->kind]++;
	if (is_quiet && record->kind != UM_RECORD_LOSS)
		return;
	if (record->kind < sizeof(printers) / sizeof(*printers) && printers[record->kind])
		printers[record->kind](record);
	else
		fprintf(out, "record of kind %u\n", record->kind);
}

/* --- the program --- */

struct options {
	uint32_t faults;
	size_t spool_bytes;
	unsigned slow_us;
	bool gone;
	char tap[4096];
	char **words;
};

static void become(const struct options *options, const char *spool)
{
	const char *nvtx = getenv("TAP_RUN_NVTX");

	setenv("UMTRACE_SPOOL", spool, 1);
	setenv("CUDA_INJECTION64_PATH", options->tap, 1);
	unsetenv("TAP_RUN_NVTX");
	if (nvtx)
		setenv("NVTX_INJECTION64_PATH", nvtx, 1);
	execvp(options->words[0], options->words);
	perror(options->words[0]);
	_exit(127);
}

/* False: nothing there. */
static bool take(struct um_spool_reader *reader, const struct options *options)
{
	int error = 0;
	const struct um_record *record = um_spool_next(reader, &error);

	if (error) {
		fprintf(stderr, "tap_run: %s\n", um_error_message());
		exit(125);
	}
	if (!record)
		return false;
	print_record(record);
	if (options->slow_us)
		usleep(options->slow_us);
	return true;
}

static int follow(struct um_spool_reader *reader, const struct options *options, pid_t child)
{
	int status = 0;
	bool ended = false;

	while (!ended) {
		ended = waitpid(child, &status, WNOHANG) == child;
		while (take(reader, options) && !options->gone)
			;
		if (options->gone && totals.all) {
			um_spool_destroy(reader);
			if (!ended)
				waitpid(child, &status, 0);
			return status;
		}
		if (!ended)
			um_spool_wait(reader, 20);
	}
	while (take(reader, options))
		;
	um_spool_destroy(reader);
	return status;
}

static int run(const struct options *options)
{
	struct um_spool_config config = {
		.faults = options->faults,
		.set_nvtx = getenv("TAP_RUN_NVTX") != NULL,
	};
	struct um_spool_reader *reader = NULL;

	if (um_spool_create(&reader, NULL, options->spool_bytes, &config)) {
		fprintf(stderr, "tap_run: %s\n", um_error_message());
		return 125;
	}
	pid_t child = fork();

	if (child == 0)
		become(options, um_spool_path(reader));
	int status = follow(reader, options, child);

	fprintf(out, "status %d signal %d records %" PRIu64 "\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		WIFSIGNALED(status) ? WTERMSIG(status) : 0, totals.all);
	for (unsigned kind = 0; kind < 32 && is_quiet; kind++)
		if (totals.records[kind])
			fprintf(out, "records of kind %u: %" PRIu64 "\n", kind,
				totals.records[kind]);
	fflush(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void default_tap(char path[4096])
{
	char self[2048];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[bytes > 0 ? bytes : 0] = '\0';
	snprintf(path, 4096, "%s/%s", dirname(self), TAP);
}

static const char *value_of(const char *word, const char *option)
{
	size_t bytes = strlen(option);

	return strncmp(word, option, bytes) == 0 ? word + bytes : NULL;
}

int main(int count, char **words)
{
	struct options options = {.faults = UM_TAP_FAULTS_GPU};
	const char *value;
	int at = 1;

	out = stdout;
	default_tap(options.tap);
	for (; at < count && words[at][0] == '-'; at++) {
		if ((value = value_of(words[at], "--faults=")))
			options.faults = !strcmp(value, "all")	 ? UM_TAP_FAULTS_ALL
					 : !strcmp(value, "off") ? UM_TAP_FAULTS_OFF
								 : UM_TAP_FAULTS_GPU;
		else if ((value = value_of(words[at], "--spool=")))
			options.spool_bytes = strtoull(value, NULL, 10);
		else if ((value = value_of(words[at], "--slow=")))
			options.slow_us = (unsigned)atoi(value);
		else if ((value = value_of(words[at], "--tap=")))
			snprintf(options.tap, sizeof(options.tap), "%s", value);
		else if (!strcmp(words[at], "--gone"))
			options.gone = true;
		else if (!strcmp(words[at], "-q"))
			is_quiet = true;
		else if (!strcmp(words[at], "-o") && at + 1 < count)
			out = fopen(words[++at], "we");
		else
			break;
	}
	if (at == count || !out) {
		fprintf(stderr, "usage: tap_run [--faults=off|gpu|all] [--spool=BYTES] [--slow=US] "
				"[--gone] [--tap=PATH] [-q] [-o FILE] PROGRAM [ARGS...]\n");
		return 125;
	}
	options.words = words + at;
	return run(&options);
}
