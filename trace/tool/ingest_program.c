/* Records about the program: what it runs on, where its calls are, what it lost, its end. */
#include "ingest_private.h"
#include "trace_options.h"

#include "trace/db/xnack_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What the program's own environment made of it, which need not be umtrace's. The run comes with what
 * umtrace expects: its option, or the machine's default.
 */
static void take_xnack(struct um_run_row *run, const struct um_record_hello *hello)
{
	static const char *const by_program[2][3] = {
		{NULL, "HSA_XNACK=0", "this machine refuses HSA_XNACK=1"},
		{NULL, NULL, "HSA_XNACK=1"},
	};
	const char *xnack = hello->xnack ? "on" : "off";
	const char *source = hello->hsa_xnack <= UM_HSA_XNACK_1
				     ? by_program[hello->xnack != 0][hello->hsa_xnack]
				     : NULL;
	bool is_expected = run->xnack && strcmp(run->xnack, xnack) == 0;

	if (!run->xnack || (is_expected && run->xnack_source[0] == '-'))
		return;
	if (source || !is_expected)
		run->xnack_source = source ? source : UM_XNACK_UNSET_TEXT;
	run->xnack = xnack;
	/* Where it has no say, the machine's own reason stands. */
	if (hello->hsa_xnack == UM_HSA_XNACK_NEITHER &&
	    strcmp(run->xnack_source, UM_XNACK_UNSET_TEXT) == 0)
		run->xnack_source = UM_XNACK_NEITHER_TEXT;
}

static void begin_emulated(struct um_ingest *ingest, const struct um_record_hello *hello)
{
	ingest->run.backend = "emulated";
	ingest->run.host_watch = um_host_watch_name(hello->host_watch);
	ingest->run.filter_pages = hello->filter_pages;
	take_xnack(&ingest->run, hello);
}

/* Nothing that umtrace would have played took part. */
static int begin_measured(struct um_ingest *ingest, const struct um_record_hello *hello)
{
	struct um_run_row *run = &ingest->run;

	um_ingest_field(hello->driver, sizeof(hello->driver), ingest->driver_version);
	ingest->totals.measured = true;
	run->backend = "cupti";
	run->driver_version = *ingest->driver_version ? ingest->driver_version : NULL;
	run->machine = run->machine_text = run->xnack = run->xnack_source = NULL;
	run->memory_bytes = UM_NULL;
	ingest->clocks = json_object();
	int error = um_measured_create(&ingest->measured);
	return error ? error : um_ingest_select_begin(ingest);
}

int um_ingest_hello(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_hello *hello = record;
	int error = 0;

	(void)end;
	if (ingest->totals.hello || hello->spool_version != UM_SPOOL_VERSION ||
	    (hello->backend != UM_BACKEND_EMULATED && hello->backend != UM_BACKEND_CUPTI) ||
	    hello->start_ns > INT64_MAX)
		return UM_RECORD_INVALID;
	um_ingest_field(hello->runtime, sizeof(hello->runtime), ingest->runtime);
	ingest->totals.hello = true;
	ingest->totals.requests = hello->requests;
	ingest->totals.pageable = hello->pageable;
	ingest->totals.host_sync = hello->host_sync;
	ingest->run.pid = hello->pid;
	ingest->run.runtime = ingest->runtime;
	ingest->run.start_ns = (int64_t)hello->start_ns;
	if (hello->backend == UM_BACKEND_EMULATED)
		begin_emulated(ingest, hello);
	else
		error = begin_measured(ingest, hello);
	if (error == 0)
		error = um_db_exec(ingest->db, "DELETE FROM run");
	if (error == 0)
		error = um_db_insert(ingest->db, &um_table_run, &ingest->run);
	return error ? error : um_ingest_origins(ingest);
}

/* Of a measured run: what it ran on, and how that was clocked. */
static void note_device(struct um_ingest *ingest, const struct um_record_device *device)
{
	const struct {
		const char *name;
		uint32_t value;
	} clocks[] = {
		{"clock_khz", device->clock_khz},
		{"memory_clock_khz", device->memory_clock_khz},
		{"memory_bus_bits", device->memory_bus_bits},
		{"l2_bytes", device->l2_bytes},
	};
	char number[16];
	json_t *told = json_object();

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (clocks[i].value)
			json_object_set_new(told, clocks[i].name, json_integer(clocks[i].value));
	snprintf(number, sizeof(number), "%u", device->device);
	json_object_set_new(ingest->clocks, number, told);
	ingest->devices |= (uint64_t)1 << device->device;
	if (device->device == 0)
		ingest->run.memory_bytes = um_or_null(device->memory_bytes);
}

int um_ingest_device(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_device *device = record;
	char name[UM_INGEST_TEXT], arch[UM_INGEST_TEXT];
	struct um_device_row row = {
		.device = device->device,
		.name = name,
		.arch = arch,
		.memory_bytes = (int64_t)device->memory_bytes,
		.compute_units = device->compute_units,
		.wave_lanes = device->wave_lanes,
		.link_to_device_bytes_per_s = (double)NAN,
		.link_to_host_bytes_per_s = (double)NAN,
	};

	(void)end;
	if (device->memory_bytes > INT64_MAX ||
	    (ingest->measured && device->device >= UM_INGEST_DEVICES))
		return UM_RECORD_INVALID;
	um_ingest_field(device->name, sizeof(device->name), name);
	um_ingest_field(device->arch, sizeof(device->arch), arch);
	int result = um_ingest_insert(ingest, &um_table_device, &row);
	if (result == 0 && ingest->measured)
		note_device(ingest, device);
	return result;
}

static const struct {
	const char *kind, *record;
} losses[] = {
	[UM_LOSS_OUTSIDE] = {"outside", "page_access"},
	[UM_LOSS_HOST_UNWATCHED] = {"host_unwatched", "page_access.host"},
	[UM_LOSS_HOST_DURING_KERNEL] = {"host_during_kernel", "page_access.host"},
	[UM_LOSS_UNSUPPORTED] = {"unsupported", "op"},
	[UM_LOSS_UNTRACED_LAUNCH] = {"untraced_launch", "page_access"},
	[UM_LOSS_CHILD] = {"child", "op"},
	[UM_LOSS_CUT_OFF] = {"cut_off", NULL},
	[UM_LOSS_SIGNAL_HANDLER] = {"signal_handler", "op"},
	[UM_LOSS_PARTLY_UNMAPPED] = {"partly_unmapped", "op"},
	[UM_LOSS_DROPPED] = {"dropped", NULL},
	[UM_LOSS_UNKNOWN_RECORD] = {"unknown_record", NULL},
	[UM_LOSS_TAP_OFF] = {"tap_off", NULL},
	[UM_LOSS_NAME] = {"name", "part"},
	[UM_LOSS_POLICY] = {"policy", NULL},
};

int um_ingest_insert_loss(struct um_ingest *ingest, int64_t op, uint32_t kind, uint64_t count,
			  const char *detail)
{
	char number[32];
	bool known = kind < sizeof(losses) / sizeof(*losses) && losses[kind].kind;
	struct um_loss_row row = {
		.op = op,
		.device = UM_NULL,
		.record = known ? losses[kind].record : NULL,
		.kind = known ? losses[kind].kind : number,
		.count = (int64_t)count,
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.detail = detail && *detail ? detail : NULL,
	};

	/* A later version may know more of them; the count must not get lost. */
	snprintf(number, sizeof(number), "loss_%u", kind);
	return um_ingest_insert(ingest, &um_table_loss, &row);
}

/* malloc'ed; NULL without memory. */
static char *explain_outside(const struct um_ingest *ingest, const char *kernel)
{
	const char *what =
		ingest->totals.pageable
			? "accesses to memory that is not mapped, or of the code object"
			: "accesses to memory that HIP did not allocate; --pageable records "
			  "it";
	char *text;

	return kernel && asprintf(&text, "%s: %s", kernel, what) >= 0 ? text : NULL;
}

int um_ingest_record_loss(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_loss *loss = record;
	const char *at = loss->text;
	char detail[UM_INGEST_TEXT];

	if (loss->op > ingest->last_op || loss->count > INT64_MAX ||
	    !um_ingest_text(&at, end, detail))
		return UM_RECORD_INVALID;
	char *name = um_ingest_demangle(detail);
	char *text = loss->kind == UM_LOSS_OUTSIDE ? explain_outside(ingest, name) : NULL;
	int result = um_ingest_insert_loss(ingest, um_ingest_op_id(ingest, loss->op), loss->kind,
					   loss->count,
					   text	  ? text
					   : name ? name
						  : detail);
	free(text);
	free(name);
	return result;
}

int um_ingest_bye(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_bye *bye = record;

	(void)end;
	if (bye->end_ns > INT64_MAX)
		return UM_RECORD_INVALID;
	ingest->run.end_ns = (int64_t)bye->end_ns;
	ingest->totals.bye = true;
	return 0;
}
