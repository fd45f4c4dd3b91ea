#include "summary_head.h"
#include "summary_selection.h"
#include "summary_settings.h"

#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/db/xnack_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void begin(FILE *out, const char *label)
{
	fprintf(out, "  %-*s", UM_SUMMARY_LABEL_COLUMNS - 2, label);
}

static void put(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	um_text_print(out, text);
	fputs(after, out);
}

static void put_bytes(FILE *out, const char *before, int64_t bytes, const char *after)
{
	char text[32];

	um_format_bytes(text, sizeof(text), bytes < 0 ? 0 : (uint64_t)bytes);
	fprintf(out, "%s%s%s", before, text, after);
}

/* ---------------------------------------------------------------- what it is */

static const char *with_xnack(const struct um_run_row *run)
{
	if (!run->xnack)
		return "";
	return strcmp(run->xnack, "on") == 0 ? " with XNACK on" : " with XNACK off";
}

static void put_title(FILE *out, const struct um_summary *summary)
{
	const struct um_run_row *run = &summary->run;

	um_text_print(out, summary->path);
	if (strcmp(run->role, "simulation") == 0) {
		put(out, ": a simulation", with_xnack(run), " of ");
		put(out, "", run->source ? run->source : "a trace", "\n");
		begin(out, "Command");
		put(out, "", run->command, "\n");
	} else {
		put(out,
		    summary->is_imported   ? ": an imported trace"
		    : summary->is_measured ? ": a measured trace"
					   : ": a trace",
		    with_xnack(run), " of ");
		put(out, "", run->command, "\n");
	}
}

static void put_ending(FILE *out, const struct um_run_row *run)
{
	if (strcmp(run->ended, "exited") == 0 && run->exit_status != UM_NULL)
		fprintf(out, "the program ended with status %" PRId64 "\n", run->exit_status);
	else if (strcmp(run->ended, "signalled") == 0 && run->exit_signal != UM_NULL)
		fprintf(out, "the program was ended by signal %" PRId64 " (%s)\n", run->exit_signal,
			strsignal((int)run->exit_signal));
	else if (strcmp(run->ended, "exited") == 0)
		fputs("how the program ended is not told\n", out);
	else
		fputs("it ENDS EARLY: its writer was stopped, or still runs; everything below is up "
		      "to there\n",
		      out);
}

static void put_recorded(FILE *out, const struct um_run_row *run)
{
	bool is_simulation = strcmp(run->role, "simulation") == 0;

	begin(out, is_simulation ? "Simulated" : "Recorded");
	put(out, "by ", run->tool, "");
	/* A simulation's is the trace's. */
	if (run->host && !is_simulation)
		put(out, " on ", run->host, "");
	if (run->started)
		put(out, ", ", run->started, "");
	if (run->rank != UM_NULL && run->ranks != 1) {
		fprintf(out, "; rank %" PRId64, run->rank);
		if (run->ranks != UM_NULL)
			fprintf(out, " of %" PRId64, run->ranks);
	}
	fputs("; ", out);
	put_ending(out, run);
}

static void put_machine(FILE *out, const struct um_summary *summary)
{
	begin(out, "Machine");
	if (!summary->is_measured)
		put(out, "", summary->run.machine ? summary->run.machine : "not recorded",
		    summary->device_count ? ":" : "");
	for (size_t i = 0; i < summary->device_count; i++) {
		const struct um_device_row *device = &summary->devices[i];
		fprintf(out, "%sgpu%" PRId64,
			i		       ? "; "
			: summary->is_measured ? ""
					       : " ",
			device->device);
		put(out, " ", device->name, "");
		if (device->arch)
			put(out, " (", device->arch, ")");
		if (device->memory_bytes != UM_NULL)
			put_bytes(out, ", ", device->memory_bytes, "");
		if (device->link)
			put(out, ", ", device->link, "");
	}
	if (summary->run.backend && strcmp(summary->run.backend, "emulated") == 0)
		fputs(", played by a CPU: no GPU took part", out);
	fputc('\n', out);
}

/* ---------------------------------------------------------------- the driver and its settings */

static bool models_xnack(const struct um_run_row *run)
{
	json_t *parameters =
		run->driver_parameters ? json_loads(run->driver_parameters, 0, NULL) : NULL;
	bool models = json_object_get(parameters, "xnack") != NULL;

	json_decref(parameters);
	return models;
}

static bool is_amd(const struct um_summary *summary)
{
	const char *arch = summary->device_count ? summary->devices[0].arch : NULL;

	return arch && strncmp(arch, "gfx", 3) == 0;
}

char *um_summary_xnack_text(char *buffer, size_t capacity, const struct um_summary *summary)
{
	const struct um_run_row *run = &summary->run;
	const char *faults = um_summary_origin(summary, "fault");
	bool is_model = faults && strcmp(faults, "modelled") == 0;
	const char *link = summary->device_count ? summary->devices[0].link : NULL;
	const struct um_xnack_facts facts = {
		.xnack = run->xnack,
		.source = run->xnack_source,
		.driver = is_model ? run->driver : NULL,
		.is_modelled = models_xnack(run),
		.shares_memory = link && strcmp(link, UM_LINK_NONE) == 0,
	};

	return um_xnack_text(buffer, capacity, &facts);
}

/* Nothing of machines that have no such switch. */
static void put_xnack(FILE *out, const struct um_summary *summary)
{
	char text[512];

	if (*um_summary_xnack_text(text, sizeof(text), summary)) {
		fputs("  ", out);
		um_text_print(out, text);
		fputc('\n', out);
	} else if (is_amd(summary)) {
		fputs("  XNACK not recorded\n", out);
	}
}

static void put_parameters(FILE *out, const struct um_run_row *run)
{
	char *text = um_summary_settings_text(run->driver, run->driver_parameters);

	if (!text)
		return;
	begin(out, "Settings");
	put(out, "", text, "\n");
	free(text);
}

static void put_clock(FILE *out, json_t *device, const char *name, const char *format, double scale,
		      const char **separator)
{
	json_t *value = json_object_get(device, name);

	if (!json_is_integer(value))
		return;
	fputs(*separator, out);
	fprintf(out, format, (double)json_integer_value(value) / scale);
	*separator = ", ";
}

/* Peak clocks and sizes, of the devices that told them. */
static void put_clocks(FILE *out, const char *text)
{
	json_t *all = json_loads(text, 0, NULL), *device;
	const char *number;

	json_object_foreach(all, number, device)
	{
		const char *separator = " ";

		begin(out, "Clocks");
		put(out, "gpu", number, ":");
		put_clock(out, device, "clock_khz", "%.0f MHz", 1000, &separator);
		put_clock(out, device, "memory_clock_khz", "memory %.0f MHz", 1000, &separator);
		put_clock(out, device, "memory_bus_bits", "%.0f bits wide", 1, &separator);
		put_clock(out, device, "l2_bytes", "L2 cache %.3g MiB", 1 << 20, &separator);
		fputs(*separator == ',' ? ", at most\n" : " not told\n", out);
	}
	json_decref(all);
}

static void put_driver(FILE *out, const struct um_run_row *run, const char *faults_origin)
{
	bool modelled = faults_origin && strcmp(faults_origin, "modelled") == 0;

	begin(out, "Driver");
	put(out, "", run->driver ? run->driver : "not recorded",
	    run->driver && modelled ? " (a model)" : "");
	if (run->page_bytes != UM_NULL)
		put_bytes(out, ", pages of ", run->page_bytes, "");
	if (run->memory_bytes != UM_NULL)
		put_bytes(out, ", ", run->memory_bytes, " of device memory");
	fputc('\n', out);
	if (run->driver_parameters)
		put_parameters(out, run);
}

static void put_measured_driver(FILE *out, const struct um_run_row *run)
{
	begin(out, "Driver");
	put(out, "", run->driver_version ? "NVIDIA " : "version not recorded", "");
	put(out, "", run->driver_version ? run->driver_version : "", "");
	put(out, run->runtime ? ", seen through " : "", run->runtime ? run->runtime : "", "\n");
	if (run->clocks)
		put_clocks(out, run->clocks);
}

/* The rules of an effective policy: what follows its settings, which are shown above. */
static void put_policy(FILE *out, const char *policy)
{
	const char *program = strstr(policy, "\nprogram:");
	const char *line = program ? program + 1 : policy;
	const char *label = "Policy";

	while (*line) {
		char text[256];
		size_t length = strcspn(line, "\n");
		snprintf(text, sizeof(text), "%.*s", (int)(length < 255 ? length : 255), line);
		begin(out, label);
		put(out, "", text, "\n");
		label = "";
		line += length + (line[length] == '\n');
	}
}

/* ---------------------------------------------------------------- where the figures come from */

struct origin_words {
	const char *origin, *label, *meaning;
	bool detailed; /* the file's own words say more */
};
static const struct origin_words origin_words[] = {
	{"measured", "Measured", "on the machine itself", true},
	{"imported", "Imported", "from another tool's trace", true},
	{"emulated", "Emulated", "seen while the program ran on the CPU", false},
	{"modelled", "Modelled", "by the driver model, not checked on hardware", true},
	{"inferred", "Inferred", "a lower bound", true},
	{"absent", "Absent", "not in this file", false},
};

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool together(const struct um_origin_row *a, const struct um_origin_row *b,
		     const struct origin_words *words)
{
	return strcmp(a->origin, words->origin) == 0 && strcmp(b->origin, words->origin) == 0 &&
	       (!words->detailed || same_text(a->detail, b->detail));
}

/* There are a dozen kinds of records; a file from anyone may name millions. */
enum { ORIGINS_MAX = 64 };

static size_t origins_shown(const struct um_summary *summary)
{
	return summary->origin_count < ORIGINS_MAX ? summary->origin_count : ORIGINS_MAX;
}

/* Whether a row before it has been shown together with it. */
static bool is_shown(const struct um_summary *summary, size_t row, const struct origin_words *words)
{
	for (size_t i = 0; i < row; i++)
		if (together(&summary->origins[i], &summary->origins[row], words))
			return true;
	return false;
}

/* What a kind of record is to a reader; the table's name where it says so itself. */
static const char *record_words(const char *record)
{
	static const struct {
		const char *record, *words;
	} known[] = {
		{"op.time", "times of operations"},
		{"page_access", "pages and lines that kernels touched"},
		{"page_access.host", "pages that the host touched"},
		{"host_access", "lines of the host that touched them"},
		{"page_access.requests", "requests of kernels"},
		{"access_chunk", "order of kernels' accesses"},
		{"fault", "faults"},
		{"fault.host", "faults of the host"},
		{"migration", "migrations"},
		{"mapping", "mappings"},
		{"remote_access", "remote accesses"},
		{"driver_event", "what the driver did beside"},
		{"copy_traffic", "explicit copies"},
		{"peer_traffic", "traffic between GPUs"},
		{"bound", "the ideal"},
		{"allocation", "allocations"},
		{"op.inferred", "some operations"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(record, known[i].record) == 0)
			return known[i].words;
	return record;
}

/* "migrations", or of what a simulation started from "pages that the host touched (the trace's)" */
static void put_record(FILE *out, const char *before, const char *record)
{
	static const char source[] = "source.";
	bool is_source = strncmp(record, source, strlen(source)) == 0;

	put(out, before, record_words(is_source ? record + strlen(source) : record),
	    is_source ? " (the trace's)" : "");
}

/* The records of one origin, and where it has details, those that share them on a line. */
static void put_origin(FILE *out, const struct um_summary *summary,
		       const struct origin_words *words)
{
	const char *label = words->label;

	for (size_t i = 0; i < origins_shown(summary); i++) {
		const struct um_origin_row *first = &summary->origins[i];
		if (!together(first, first, words) || is_shown(summary, i, words))
			continue;
		begin(out, label);
		label = "";
		put_record(out, "", first->record);
		for (size_t next = i + 1; next < origins_shown(summary); next++)
			if (together(first, &summary->origins[next], words))
				put_record(out, ", ", summary->origins[next].record);
		put(out, ": ", words->detailed && first->detail ? first->detail : words->meaning,
		    "\n");
	}
}

static void put_origins(FILE *out, const struct um_summary *summary)
{
	if (!summary->origin_count) {
		begin(out, "Origin");
		fputs("the file does not say how its figures came about\n", out);
	}
	for (size_t i = 0; i < sizeof(origin_words) / sizeof(origin_words[0]); i++)
		put_origin(out, summary, &origin_words[i]);
}

/* ---------------------------------------------------------------- how much of what */

static void put_calls(FILE *out, const struct um_summary *summary)
{
	char count[32];

	if (!summary->call_count)
		return;
	begin(out, "Operations");
	for (size_t i = 0; i < summary->call_count; i++) {
		um_format_count(count, sizeof(count), (uint64_t)summary->calls[i].count);
		fprintf(out, "%s%s ", i ? ", " : "", count);
		um_text_print(out, summary->calls[i].name);
	}
	fputc('\n', out);
}

static void put_memory(FILE *out, const struct um_summary *summary)
{
	char count[32];

	if (!summary->memory_count)
		return;
	begin(out, "Memory");
	for (size_t i = 0; i < summary->memory_count; i++) {
		um_format_count(count, sizeof(count), (uint64_t)summary->memory[i].count);
		fprintf(out, "%s%s ", i ? ", " : "", count);
		um_text_print(out, summary->memory[i].name);
		put_bytes(out, " (", summary->memory[i].bytes, ")");
	}
	fputc('\n', out);
}

static void put_chosen(FILE *out, const struct um_summary *summary)
{
	char count[32], duration[32];

	begin(out, "Range");
	put(out, "", summary->chosen, ": ");
	fprintf(out, "%s time%s, %s; all that follows is of it\n",
		um_format_count(count, sizeof(count), (uint64_t)summary->chosen_times),
		summary->chosen_times == 1 ? "" : "s",
		um_format_duration(duration, sizeof(duration),
				   summary->chosen_ns < 0 ? 0 : (uint64_t)summary->chosen_ns));
}

/* "--kernels 'jacobi*', --launches 10..20: 11 of 200 launches were recorded in detail" */
static void put_selection(FILE *out, const struct um_summary *summary)
{
	char recorded[32], all[32];

	if (!summary->criterion_count && !um_has_selection(summary))
		return;
	begin(out, "Selected");
	if (summary->recorded == UM_NULL)
		fputs("an unknown number", out);
	else
		fprintf(out, "%s of %s",
			um_format_count(recorded, sizeof(recorded), (uint64_t)summary->recorded),
			um_format_count(all, sizeof(all), (uint64_t)summary->launches));
	fputs(" launches were recorded in detail", out);
	for (size_t i = 0; i < summary->criterion_count; i++) {
		put(out, i ? ", --" : ": --", summary->criteria[i].criterion, "");
		put(out, " '", summary->criteria[i].value, "'");
	}
	fputs(um_has_selection(summary)
		      ? "; what follows is of these alone, and of what was done beside kernels\n"
		      : "\n",
	      out);
}

static void put_settings(FILE *out, const struct um_summary *summary)
{
	put_xnack(out, summary);
	put_recorded(out, &summary->run);
	put_machine(out, summary);
	if (summary->is_measured)
		put_measured_driver(out, &summary->run);
	else
		put_driver(out, &summary->run, um_summary_origin(summary, "fault"));
	if (summary->run.policy)
		put_policy(out, summary->run.policy);
	put_origins(out, summary);
	if (summary->chosen)
		put_chosen(out, summary);
	put_selection(out, summary);
	put_calls(out, summary);
	put_memory(out, summary);
}

char *um_render_summary_settings(const struct um_summary *summary)
{
	char *text = NULL;
	size_t bytes;
	FILE *settings = open_memstream(&text, &bytes);

	if (settings)
		put_settings(settings, summary);
	if (!settings || fclose(settings) != 0) {
		free(text);
		um_fail(UM_ENOMEM, "out of memory");
		return NULL;
	}
	return text;
}

/* Commands stay whole, so that they can be copied; the other lines are wrapped behind their labels. */
int um_render_summary_head(FILE *out, const struct um_summary *summary)
{
	char *text = um_render_summary_settings(summary), *at = text, *line;

	if (!text)
		return UM_ENOMEM;
	put_title(out, summary);
	while ((line = strsep(&at, "\n")) && at)
		um_text_print_wrapped(out, line, 0, UM_SUMMARY_LABEL_COLUMNS);
	free(text);
	return 0;
}
