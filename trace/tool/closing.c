#include "closing.h"
#include "closing_selection.h"

#include "launcher.h"
#include "output_name.h"

#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/db/xnack_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOSSES_SHOWN 8

struct way {
	const char *name;
	uint64_t bytes;
	const uint64_t *migrated; /* by cause */
	uint64_t unknown, remote, copied;
};

static uint64_t part_of(const struct way *way, int cause)
{
	switch (cause) {
	case UM_TRAFFIC_UNKNOWN:
		return way->unknown; /* a model knows its causes */
	case UM_TRAFFIC_REMOTE_ACCESS:
		return way->remote;
	case UM_TRAFFIC_COPY:
		return way->copied;
	default:
		return way->migrated[cause];
	}
}

static void print_way(FILE *out, const struct way *way)
{
	char text[32];
	const char *before = ": ";

	fprintf(out, "  %-12s%s", way->name, um_format_bytes(text, sizeof(text), way->bytes));
	for (const struct um_word *cause = um_traffic_words; cause->word; cause++) {
		uint64_t bytes = part_of(way, cause->code);

		if (bytes == 0)
			continue;
		fprintf(out, "%s%s %s", before, cause->label,
			um_format_bytes(text, sizeof(text), bytes));
		before = "; ";
	}
	fputc('\n', out);
}

static void print_traffic(FILE *out, const struct um_totals *totals)
{
	const struct way to_device = {
		"to device", totals->bytes_to_device,  totals->migrated_to_device,
		0,	     totals->remote_to_device, totals->copied_to_device};
	const struct way to_host = {"to host", totals->bytes_to_host,  totals->migrated_to_host,
				    0,	       totals->remote_to_host, totals->copied_to_host};

	const struct way between = {"GPU to GPU",
				    totals->peer_copied + totals->peer_remote,
				    (const uint64_t[UM_CAUSES]){0},
				    0,
				    totals->peer_remote,
				    totals->peer_copied};

	print_way(out, &to_device);
	print_way(out, &to_host);
	if (between.bytes)
		print_way(out, &between);
}

static void print_model(FILE *out, const struct um_model *model)
{
	char page[32], device[32], host[32];

	fprintf(out, "umtrace: by the driver model %s, %s pages, on %s (%s):\n",
		model->driver->name, um_format_bytes(page, sizeof(page), model->page_bytes),
		model->machine->name, model->driver->validated);
	fprintf(out, "  %-12s%s of the device, %s of the host\n", "page faults",
		um_format_count(device, sizeof(device), model->totals.device_faults),
		um_format_count(host, sizeof(host), model->totals.host_faults));
	print_traffic(out, &model->totals);
}

/* --- measured --- */

struct devices {
	char name[128]; /* of the first */
	size_t count;
};

static int note_device(const void *row, void *context)
{
	struct devices *devices = context;

	if (devices->count++ == 0)
		snprintf(devices->name, sizeof(devices->name), "%s",
			 ((const struct um_device_row *)row)->name);
	return 0;
}

static uint64_t sum(struct um_db *db, const char *sql)
{
	int64_t bytes = 0;

	return um_db_integer(db, sql, 0, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

static uint64_t all_bytes(const struct way *way)
{
	uint64_t bytes = way->copied + way->unknown;

	for (size_t i = 0; i < UM_CAUSES; i++)
		bytes += way->migrated[i];
	return bytes;
}

static void print_measured_faults(FILE *out, const struct um_closing *closing)
{
	char count[32];

	fprintf(out, "  %-12s", "page faults");
	if (closing->options->faults == UM_TAP_FAULTS_OFF) {
		fputs("not recorded (--faults=off)\n", out);
		return;
	}
	fprintf(out, "%s of the GPU, ",
		um_format_count(count, sizeof(count), closing->totals->device_faults));
	if (closing->options->faults == UM_TAP_FAULTS_ALL)
		fprintf(out, "%s of the host\n",
			um_format_count(count, sizeof(count), closing->totals->host_faults));
	else
		fputs("those of the host not recorded (--faults=all)\n", out);
}

static void print_measured(FILE *out, const struct um_closing *closing)
{
	struct devices devices = {.name = "a GPU"};
	struct way to_device = {.name = "to device",
				.migrated = closing->totals->migrated_to_device};
	struct way to_host = {.name = "to host", .migrated = closing->totals->migrated_to_host};
	const char *version = closing->run->driver_version;
	char count[32];

	to_device.unknown = to_device.migrated[UM_TRAFFIC_UNKNOWN];
	to_host.unknown = to_host.migrated[UM_TRAFFIC_UNKNOWN];
	um_db_each(closing->db, &um_table_device, NULL, 0, note_device, &devices);
	to_device.copied = sum(closing->db, "SELECT SUM(bytes_to_device) FROM copy_traffic");
	to_host.copied = sum(closing->db, "SELECT SUM(bytes_to_host) FROM copy_traffic");
	to_device.bytes = all_bytes(&to_device);
	to_host.bytes = all_bytes(&to_host);
	fprintf(out, "umtrace: measured on %s", devices.name);
	if (devices.count > 1)
		fprintf(out, " and %zu more", devices.count - 1);
	if (version)
		fprintf(out, ", driver %s", version);
	fputs(":\n", out);
	print_measured_faults(out, closing);
	print_way(out, &to_device);
	print_way(out, &to_host);
	if (closing->totals->remote_mappings)
		fprintf(out, "  %-12s%s: mapped from afar instead of moved\n", "remote maps",
			um_format_count(count, sizeof(count), closing->totals->remote_mappings));
}

/* Options for one kind of run, given to the other. */
static void print_without_effect(FILE *out, const struct um_closing *closing)
{
	const struct um_trace_options *options = closing->options;
	const struct {
		const char *name;
		bool given, of_hardware;
	} given[] = {
		{"--machine", options->machine != NULL, false},
		{"--memory", options->memory_bytes != 0, false},
		{"--xnack", options->xnack != UM_XNACK_UNKNOWN, false},
		{"--no-requests", options->no_requests, false},
		{"--host-watch", options->host_watch != UM_HOST_WATCH_BEST && !options->host_sync,
		 false},
		{"--host-sync", options->host_sync, false},
		{"--pageable", options->pageable, false},
		{"--wall", options->wall, false},
		{"--driver", options->driver != NULL, false},
		{"--page-size", options->page_bytes != 0, false},
		{"--faults", options->faults_given, true},
	};
	bool measured = closing->totals->measured;
	const char *before = "umtrace: ";

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		if (!given[i].given || given[i].of_hardware == measured)
			continue;
		fprintf(out, "%s%s", before, given[i].name);
		before = ", ";
	}
	if (*before == ',')
		fputs(measured ? " had no effect: the program ran on a GPU\n"
			       : " had no effect: the program ran without a GPU\n",
		      out);
}

/* --- losses --- */

struct losses {
	FILE *out;
	size_t shown, left;
};

static int print_loss(const void *row, void *context)
{
	const struct um_loss_row *loss = row;
	struct losses *losses = context;
	char count[32];

	if (losses->shown == LOSSES_SHOWN) {
		losses->left++;
		return 0;
	}
	losses->shown++;
	fprintf(losses->out, "umtrace: not recorded: %s, %s%s%s\n", loss->kind,
		um_format_count(count, sizeof(count), (uint64_t)loss->count),
		loss->detail ? ": " : "", loss->detail ? loss->detail : "");
	return 0;
}

static void print_losses(FILE *out, struct um_db *db)
{
	struct losses losses = {.out = out};

	/* What came of a policy is said apart. */
	um_db_each(db, &um_table_loss, "kind <> 'policy' OR ?1 = 1", 0, print_loss, &losses);
	if (losses.left)
		fprintf(out, "umtrace: and %zu more in table 'loss'\n", losses.left);
}

/* "rank 3 of 4: ", of one of several. */
static void print_rank(FILE *out, const struct um_job_rank *rank)
{
	if (!um_job_rank_is_of_several(rank))
		return;
	fprintf(out, "rank %" PRId64, rank->rank);
	if (rank->ranks != UM_NULL)
		fprintf(out, " of %" PRId64, rank->ranks);
	fputs(": ", out);
}

static void print_head(FILE *out, const struct um_closing *closing)
{
	char duration[32], launches[32], managed[32];

	fputs("umtrace: ", out);
	print_rank(out, &closing->output->rank);
	fprintf(out, "%s: %s, %s kernel launch%s, %s of managed memory\n", closing->path,
		um_format_duration(duration, sizeof(duration), closing->duration_ns),
		um_format_count(launches, sizeof(launches), closing->totals->launches),
		closing->totals->launches == 1 ? "" : "es",
		um_format_bytes(managed, sizeof(managed), closing->totals->managed_bytes));
}

static void print_xnack(FILE *out, const struct um_closing *closing)
{
	const struct um_model *model = closing->model;
	const struct um_xnack_facts facts = {
		.xnack = closing->run->xnack,
		.source = closing->run->xnack_source,
		.driver = model->ran ? model->driver->name : NULL,
		.is_modelled = um_param_find(model->policy->params, model->driver->params,
					     "xnack") != NULL,
		.shares_memory = model->machine->apu,
	};
	char text[512];

	if (*um_xnack_text(text, sizeof(text), &facts))
		fprintf(out, "umtrace: %s\n", text);
}

/* The emulation runs what hardware would not. */
static void print_pageable(FILE *out, const struct um_closing *closing)
{
	int64_t pageable = 0;

	um_db_integer(closing->db,
		      "SELECT EXISTS (SELECT 1 FROM allocation WHERE kind = 'pageable') AND "
		      "?1 IS NOT NULL",
		      1, &pageable);
	if (pageable && closing->run->xnack && !strcmp(closing->run->xnack, "off"))
		fprintf(out,
			"umtrace: kernels used memory that HIP did not allocate: on the GPU that "
			"takes XNACK (--xnack on)\n");
}

static void print_nothing(FILE *out, const struct um_closing *closing)
{
	if (closing->is_static)
		fprintf(out,
			"umtrace: %s is statically linked, so the HIP runtime could not be put "
			"into it: %s is empty\n",
			closing->program, closing->path);
	else if (closing->totals->measured)
		fprintf(out, "umtrace: of %s nothing was recorded: %s is empty\n", closing->program,
			closing->path);
	else
		fprintf(out, "umtrace: %s made no HIP call%s: %s is empty\n", closing->program,
			closing->attached ? " that did anything" : "", closing->path);
	if (closing->injection->taken && !closing->attached)
		fprintf(out,
			"umtrace: " UM_INJECTION_TAP " was set already, to %s: a CUDA program then "
			"runs untraced\n",
			closing->injection->taken);
}

static void print_next(FILE *out, const struct um_closing *closing)
{
	char *all = um_job_rank_is_of_several(&closing->output->rank)
			    ? um_output_glob(closing->output->pattern)
			    : NULL;

	fprintf(out, "umtrace: next: umanalyze summary %s\n", closing->path);
	if (all && strchr(all, '*'))
		fprintf(out, "     or: umanalyze summary %s (all ranks)\n", all);
	if (closing->apply->policy)
		fprintf(out, "     or: umanalyze diff %s %s\n", closing->apply->earlier_path,
			closing->path);
	else if (!closing->totals->measured)
		fprintf(out, "     or: umsim replay %s -P policy.yaml\n", closing->path);
	free(all);
}

static int print_not_done(const void *row, void *out)
{
	const char *detail = ((const struct um_loss_row *)row)->detail;

	fprintf(out, "umtrace: %s\n", detail ? detail : "not all of the policy was applied");
	return 0;
}

/* What came of umtrace -P; what else it says stands in the notes before. */
static void print_policy(FILE *out, const struct um_closing *closing)
{
	const struct um_apply_run *apply = closing->apply;

	if (!apply->policy)
		return;
	fprintf(out, "umtrace: %s: %u of %u calls made\n", apply->policy->path, apply->made,
		apply->build.table->actions);
	for (const char *line = apply->report; line && *line; line += strcspn(line, "\n") + 1)
		fprintf(out, "umtrace: %.*s\n", (int)strcspn(line, "\n"), line);
	um_db_each(closing->db, &um_table_loss, "kind = 'policy' AND ?1 = 0", 0, print_not_done,
		   out);
}

/* Sixty-four times the same is no help. */
static bool is_brief(const struct um_closing *closing)
{
	const struct um_job_rank *rank = &closing->output->rank;

	return um_job_rank_is_of_several(rank) && rank->rank > 0;
}

/* --- before the program --- */

static void print_launcher(FILE *out, char *const *program)
{
	char *advice = um_launcher_advice(program);

	fprintf(out,
		"umtrace: %s starts other programs: of these at most one is traced here, the others run "
		"untraced; to trace each: %s\n",
		program[0], advice ? advice : "put umtrace behind it");
	free(advice);
}

void um_opening_print(FILE *out, char *const *program, const struct um_job_rank *rank)
{
	if (um_launcher_is(program[0]))
		print_launcher(out, program);
	for (const char *line = rank->notes; line && *line; line += strcspn(line, "\n") + 1) {
		char *text = strndup(line, strcspn(line, "\n"));

		fputs("umtrace: ", out);
		um_text_print(out, text ? text : "");
		fputc('\n', out);
		free(text);
	}
}

void um_closing_print(FILE *out, const struct um_closing *closing)
{
	if (closing->totals->ops == 0) {
		print_nothing(out, closing);
		print_losses(out, closing->db);
		return;
	}
	if (is_brief(closing)) {
		print_head(out, closing);
		print_policy(out, closing);
		print_losses(out, closing->db);
		return;
	}
	print_without_effect(out, closing);
	if (closing->totals->measured) {
		print_head(out, closing);
		um_closing_selection(out, closing);
		print_measured(out, closing);
	} else {
		print_xnack(out, closing);
		print_head(out, closing);
		um_closing_selection(out, closing);
		if (closing->model->ran)
			print_model(out, closing->model);
		print_pageable(out, closing);
	}
	print_policy(out, closing);
	print_losses(out, closing->db);
	print_next(out, closing);
}
