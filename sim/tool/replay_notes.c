/* The lines below the last table: what the figures are, and what is not in them. */
#include "replay.h"

#include "sim/machine/machine_file.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <string.h>

static const char *bytes(char *buffer, uint64_t value)
{
	return um_format_bytes(buffer, 32, value);
}

static const char *counted(char *buffer, uint64_t value)
{
	return um_format_count(buffer, 32, value);
}

/* --- what each simulation did beside --- */

/* What remote bytes are, since no cache is simulated. */
static void add_remote_notes(struct um_text_table *table, const struct um_replay *replays,
			     size_t count)
{
	bool is_explained = false;
	char lines[32], all[32];

	for (size_t i = 0; i < count; i++) {
		const struct um_totals *totals = &replays[i].totals;

		if (!totals->remote_to_device && !totals->remote_to_host)
			continue;
		if (!is_explained)
			um_text_table_note(
				table, "remote: each line once per launch, as with a cache that "
				       "keeps them all; without a cache");
		is_explained = true;
		if (totals->remote_lines_uncounted)
			um_text_table_note(table, "  %s: of %s lines the requests were not counted",
					   replays[i].label,
					   counted(lines, totals->remote_lines_uncounted));
		else
			um_text_table_note(table, "  %s: %s requests x 64 B = %s", replays[i].label,
					   counted(lines, totals->remote_requests),
					   bytes(all, totals->remote_requests * UM_LINE_BYTES));
	}
}

/* Nothing where no queue was stopped. */
static void add_stop_notes(struct um_text_table *table, const struct um_replay *replays,
			   size_t count)
{
	char times[32], stopped[32];

	for (size_t i = 0; i < count; i++) {
		const struct um_totals *totals = &replays[i].totals;

		if (!totals->queue_evictions)
			continue;
		um_format_duration(stopped, sizeof(stopped), totals->queues_stopped_ns);
		um_text_table_note(table, "%s: queues stopped %s %s, for %s in all",
				   replays[i].label, counted(times, totals->queue_evictions),
				   totals->queue_evictions == 1 ? "time" : "times", stopped);
	}
}

/*
 * Nothing where none was dropped. That some access waited does not say that nothing else went on
 * meanwhile.
 */
static void add_dropped_notes(struct um_text_table *table, const struct um_replay *replays,
			      size_t count)
{
	char faults[32], some[32], end[32], all[32];

	for (size_t i = 0; i < count; i++) {
		const struct um_totals *totals = &replays[i].totals;

		if (!totals->dropped_faults)
			continue;
		um_format_duration(some, sizeof(some), totals->dropped_ns);
		um_format_duration(end, sizeof(end), totals->end_ns);
		um_format_duration(all, sizeof(all), totals->dropped_waited_ns);
		um_text_table_note(
			table,
			"%s: %s %s dropped, for coming within duplicate_window of another on the "
			"same range; accesses waited for that during %s of the %s to the end, %s "
			"added up",
			replays[i].label, counted(faults, totals->dropped_faults),
			totals->dropped_faults == 1 ? "fault" : "faults", some, end, all);
	}
}

/* --- what was simulated --- */

/* Whether umsim machine finds it again: a trace has its machine's text, which may lie nowhere else. */
static bool is_known_machine(const char *name)
{
	struct um_machine_spec *machine;

	if (um_machine_load(&machine, name))
		return false;
	um_machine_spec_destroy(machine);
	return true;
}

static void add_where(char *out, size_t capacity, const struct um_replay *replay, bool is_any)
{
	const char *machine = replay->policy->machine;
	bool has_own = replay->policy->driver_named;

	if (!machine || !is_known_machine(machine))
		snprintf(out, capacity, "; %s: --format=json",
			 is_any ? "the others" : "its parameters");
	else
		snprintf(out, capacity, "; %s: umsim machine check %s%s%s",
			 is_any ? "the others" : "its parameters", machine,
			 has_own ? " --driver " : "", has_own ? replay->driver->name : "");
}

/*
 * The driver with those of its parameters that the policy sets, but XNACK, of which the first lines tell;
 * and where the others are to be seen.
 */
static bool driver_text(char *out, size_t capacity, const struct um_replay *replay)
{
	const struct um_param *params = replay->driver->params;
	uint64_t named = replay->policy->params_named;
	char value[64];
	size_t used = (size_t)snprintf(out, capacity, "driver %s", replay->driver->name), count = 0;

	for (size_t i = 0; params && params[i].name && used < capacity; i++) {
		if (strcmp(params[i].name, "xnack") == 0 || !(named >> i & 1))
			continue;
		count++;
		used += (size_t)snprintf(
			out + used, capacity - used, ", %s %s", params[i].name,
			um_param_text(value, sizeof(value), &replay->policy->params[i]));
	}
	if (used < capacity && params && params[0].name)
		add_where(out + used, capacity - used, replay, count > 0);
	return true;
}

static bool machine_text(char *out, size_t capacity, const struct um_replay *replay)
{
	const struct um_machine_spec *machine = replay->machine;
	const char *source = um_replay_memory_source(replay);
	char memory[32];

	if (replay->shows_memory)
		snprintf(out, capacity, "machine %s; link %s", machine->name, machine->link.name);
	else
		snprintf(out, capacity, "machine %s, %s of device memory%s%s%s; link %s",
			 machine->name, bytes(memory, replay->memory_bytes), source ? " (" : "",
			 source ? source : "", source ? ")" : "", machine->link.name);
	return true;
}

static bool accesses_text(char *out, size_t capacity, const struct um_replay *replay)
{
	snprintf(out, capacity, "accesses %s, driver model %s", replay->accesses,
		 replay->driver->validated);
	return true;
}

/* The trace's, so that it is one for all; nothing where no memory is a multiple of it. */
static void add_footprint(struct um_text_table *table, const struct um_replay *replays,
			  size_t count)
{
	uint64_t footprint = 0;
	char text[32];

	for (size_t i = 0; i < count && !footprint; i++)
		footprint = replays[i].policy->footprint_bytes;
	if (footprint)
		um_text_table_note(
			table,
			"memory as a multiple of the footprint, %s: the most that managed "
			"and device allocations have at once",
			bytes(text, footprint));
}

static void add_line(void *context, const char *line)
{
	um_text_table_note(context, "%s", line);
}

/* --- what is not in it --- */

static void add_gaps(struct um_text_table *table, const struct um_replay_gaps *gaps)
{
	char text[32], all[32];

	if (gaps->not_recorded)
		um_text_table_note(
			table,
			"not in it: %s of %s launches, which were not selected when it was "
			"recorded: here they touch nothing and move nothing; where pages are after "
			"them is not known",
			counted(text, gaps->not_recorded), counted(all, gaps->launches));

	if (gaps->outside_accesses)
		um_text_table_note(table,
				   "not in it: %s accesses of kernels to memory that HIP did not "
				   "allocate%s",
				   counted(text, gaps->outside_accesses),
				   gaps->is_pageable
					   ? " and that is not mapped, or of the code object"
					   : " (malloc, stacks): umtrace --pageable "
					     "records them");
}

/* For the same reason: another driver may have another. */
static bool is_ignored(const struct um_replay *replay, const char *what, const char *why)
{
	for (size_t i = 0; i < replay->ignored_count; i++)
		if (!strcmp(replay->ignored[i].what, what) && !strcmp(replay->ignored[i].why, why))
			return true;
	return false;
}

/* Each thing that any of the simulations left out, once. */
static void add_ignored(struct um_text_table *table, const struct um_replay *replays, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < replays[i].ignored_count; n++) {
			const char *what = replays[i].ignored[n].what;
			const char *why = replays[i].ignored[n].why;
			bool told = false;

			for (size_t before = 0; before < i && !told; before++)
				told = is_ignored(&replays[before], what, why);
			if (!told)
				um_text_table_note(table, "not simulated: %s (%s)", what, why);
		}
}

void um_replay_add_notes(struct um_text_table *table, const struct um_replay_run *run)
{
	static const um_replay_text_fn texts[] = {driver_text, um_replay_order_text, machine_text,
						  accesses_text};
	size_t count = um_replay_done(run);

	add_remote_notes(table, run->replays, count);
	add_stop_notes(table, run->replays, count);
	add_dropped_notes(table, run->replays, count);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		um_replay_each_text(run->replays, count, texts[i], add_line, table);
	if (run->arguments->host_time)
		um_text_table_note(table, "end: with the time that the host took between its calls "
					  "while the trace was recorded");
	um_replay_add_sensitivity(table, run);
	add_footprint(table, run->replays, count);
	add_gaps(table, &run->gaps);
	add_ignored(table, run->replays, count);
}
