/* What each of two databases is, where its figures come from, and which of them can be compared. */
#include "diff_parts.h"
#include "query.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int um_diff_warn(struct um_diff *diff, const char *format, ...)
{
	char **warning = um_query_append(&diff->warnings, &diff->warning_count, sizeof(*warning));
	va_list args;
	int length;

	if (!warning)
		return UM_ENOMEM;
	va_start(args, format);
	length = vasprintf(warning, format, args);
	va_end(args);
	if (length < 0) {
		*warning = NULL;
		diff->warning_count--;
		return um_fail(UM_ENOMEM, "out of memory");
	}
	return 0;
}

/* --- the run --- */

enum fact {
	FACT_WHAT,
	FACT_COMMAND,
	FACT_DEVICE,
	FACT_MACHINE,
	FACT_DRIVER,
	FACT_PARAMETERS,
	FACT_XNACK,
	FACT_PAGE,
	FACT_MEMORY,
	FACT_POLICY,
	FACT_RANK,
	FACT_SOURCE,
	FACTS
};

static const struct {
	const char *name, *title;
	bool is_long;
} fact_words[FACTS] = {
	[FACT_WHAT] = {"what", "what it is", false},
	[FACT_COMMAND] = {"command", "command", false},
	[FACT_DEVICE] = {"device", "device", false},
	[FACT_MACHINE] = {"machine", "machine", false},
	[FACT_DRIVER] = {"driver", "driver", false},
	[FACT_PARAMETERS] = {"driver_parameters", "its settings", true},
	[FACT_XNACK] = {"xnack", "XNACK", false},
	[FACT_PAGE] = {"page_size", "page size", false},
	[FACT_MEMORY] = {"memory", "device memory", false},
	[FACT_POLICY] = {"policy", "policy", true},
	[FACT_RANK] = {"rank", "rank", false},
	[FACT_SOURCE] = {"source", "replayed from", false},
};
_Static_assert((int)FACTS <= UM_DIFF_FACTS_MAX, "room for all facts");

struct describing {
	struct um_diff *diff;
	struct um_diff_input *input;
	enum um_diff_side side;
	bool is_trace;
	bool out_of_memory;
};

static void tell(struct describing *d, enum fact fact, const char *text)
{
	char **value = &d->diff->facts[fact].values[d->side];

	if (!text)
		return;
	*value = strdup(text);
	d->out_of_memory = d->out_of_memory || !*value;
}

static void tell_bytes(struct describing *d, enum fact fact, int64_t bytes)
{
	char text[32];

	if (bytes > 0)
		tell(d, fact, um_format_bytes(text, sizeof(text), (uint64_t)bytes));
}

static const char *what_it_is(const struct um_run_row *run)
{
	static const struct {
		const char *backend, *words;
	} backends[] = {{"cupti", "trace, measured on an NVIDIA GPU"},
			{"emulated", "trace, kernels emulated on the CPU"}};

	if (strcmp(run->role, "trace") != 0)
		return "simulation of umsim";
	for (size_t i = 0; run->backend && i < sizeof(backends) / sizeof(*backends); i++)
		if (strcmp(backends[i].backend, run->backend) == 0)
			return backends[i].words;
	return "trace";
}

static int take_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct describing *d = context;
	char rank[64];

	d->is_trace = strcmp(run->role, "trace") == 0;
	d->input->ends_early = strcmp(run->ended, "running") == 0;
	tell(d, FACT_WHAT, what_it_is(run));
	tell(d, FACT_COMMAND, run->command);
	tell(d, FACT_MACHINE, run->machine);
	tell(d, FACT_DRIVER, run->driver ? run->driver : run->driver_version);
	tell(d, FACT_PARAMETERS, run->driver_parameters);
	tell(d, FACT_XNACK, run->xnack);
	tell_bytes(d, FACT_PAGE, run->page_bytes);
	tell_bytes(d, FACT_MEMORY, run->memory_bytes);
	tell(d, FACT_POLICY, run->policy);
	tell(d, FACT_SOURCE, run->source);
	if (run->rank != UM_NULL) {
		snprintf(rank, sizeof(rank), "%lld of %lld", (long long)run->rank,
			 (long long)run->ranks);
		tell(d, FACT_RANK, rank);
	}
	return 0;
}

static int take_device(const void *row, void *context)
{
	const struct um_device_row *device = row;
	struct describing *d = context;

	if (!d->diff->facts[FACT_DEVICE].values[d->side])
		tell(d, FACT_DEVICE, device->name);
	return 0;
}

/* --- origins --- */

/* fault.host is as fault where it has no row of its own, which comes behind it. */
static bool is_of(const char *record, const char *origin_record)
{
	return strcmp(record, origin_record) == 0 ||
	       (strcmp(record, "fault.host") == 0 && strcmp(origin_record, "fault") == 0);
}

static int take_origin(const void *row, void *context)
{
	const struct um_origin_row *origin = row;
	struct describing *d = context;

	for (size_t i = 0; i < UM_DIFF_QUANTITIES; i++) {
		const char *record = um_diff_quantities[i].record;
		char **word = &d->diff->origins[d->side][i];

		if (!record || !is_of(record, origin->record))
			continue;
		free(*word);
		*word = strcmp(origin->origin, "absent") == 0 ? NULL : strdup(origin->origin);
		if (!*word && strcmp(origin->origin, "absent") != 0)
			return um_fail(UM_ENOMEM, "out of memory");
	}
	if (strcmp(origin->record, "migration") == 0)
		d->input->is_merged = d->is_trace && strcmp(origin->origin, "modelled") == 0;
	return 0;
}

/* What the file does not tell is not 0. */
static void forget_absent(const struct um_diff *diff, enum um_diff_side side,
			  struct um_diff_values *values)
{
	for (size_t i = 0; i < UM_DIFF_QUANTITIES; i++)
		if (um_diff_quantities[i].record && !diff->origins[side][i])
			values->value[i] = UM_NULL;
}

int um_diff_describe(struct um_diff *diff, struct um_diff_input *input, enum um_diff_side side)
{
	struct describing d = {.diff = diff, .input = input, .side = side};
	int error;

	diff->fact_count = FACTS;
	for (size_t i = 0; i < FACTS; i++) {
		diff->facts[i].name = fact_words[i].name;
		diff->facts[i].title = fact_words[i].title;
		diff->facts[i].is_long = fact_words[i].is_long;
	}
	error = um_db_run(input->db, take_run, &d);
	if (!error)
		error = um_db_each(input->db, &um_table_device, NULL, 0, take_device, &d);
	if (!error)
		error = um_db_each(input->db, &um_table_origin, NULL, 0, take_origin, &d);
	if (!error)
		error = um_db_integer(input->db,
				      "SELECT TOTAL(MAX(count, 0)) FROM loss WHERE kind IN "
				      "('dropped', 'unknown_record')",
				      0, &input->lost);
	if (!error && d.out_of_memory)
		error = um_fail(UM_ENOMEM, "out of memory");
	diff->device[side] = diff->facts[FACT_DEVICE].values[side];
	for (size_t i = 0; i < input->kernel_count; i++)
		forget_absent(diff, side, &input->kernels[i].values);
	for (size_t i = 0; i < input->program.allocation_count; i++)
		forget_absent(diff, side, &input->allocations[i]);
	return error;
}
