/* A row each simulation, where its bytes came from, and the lines that say what the figures are. */
#include "replay.h"

#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <string.h>

static const char *bytes(char *buffer, uint64_t value)
{
	return um_format_bytes(buffer, 32, value);
}

/* The driver with every parameter but XNACK, of which the first lines tell. */
static void driver_text(char *out, size_t capacity, const struct um_replay *replay)
{
	const struct um_param *params = replay->driver->params;
	char value[64];
	size_t used = (size_t)snprintf(out, capacity, "%s", replay->driver->name);

	for (size_t i = 0; params && params[i].name && used < capacity; i++)
		if (strcmp(params[i].name, "xnack") != 0)
			used += (size_t)snprintf(
				out + used, capacity - used, ", %s %s", params[i].name,
				um_param_text(value, sizeof(value), &replay->policy->params[i]));
}

static void add_notes(struct um_text_table *table, const struct um_replay *replay)
{
	char driver[1024], order[128], memory[32];

	driver_text(driver, sizeof(driver), replay);
	um_text_table_note(table, "driver %s", driver);
	if (um_replay_order_text(order, sizeof(order), replay))
		um_text_table_note(table, "%s", order);
	um_text_table_note(table, "machine %s, %s of device memory; link %s", replay->machine->name,
			   bytes(memory, replay->memory_bytes), replay->machine->link.name);
	um_text_table_note(table, "accesses %s, driver model %s", replay->accesses,
			   replay->driver->validated);
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

/* Whether the same notes go for both. */
static bool is_noted_alike(const struct um_replay *a, const struct um_replay *b)
{
	char driver_a[1024], driver_b[1024], order_a[128], order_b[128];

	driver_text(driver_a, sizeof(driver_a), a);
	driver_text(driver_b, sizeof(driver_b), b);
	um_replay_order_text(order_a, sizeof(order_a), a);
	um_replay_order_text(order_b, sizeof(order_b), b);
	return !strcmp(driver_a, driver_b) && !strcmp(order_a, order_b) &&
	       !strcmp(a->machine->name, b->machine->name) && a->memory_bytes == b->memory_bytes;
}

/* What remote bytes are, since no cache is simulated. */
static void add_remote_notes(struct um_text_table *table, const struct um_replay *replays,
			     size_t count)
{
	char page[32], requests[32], all[32];

	for (size_t i = 0; i < count; i++) {
		const struct um_totals *totals = &replays[i].totals;
		uint64_t without_cache = totals->remote_requests * UM_LINE_BYTES;

		if (!totals->remote_to_device && !totals->remote_to_host)
			continue;
		um_format_bytes(page, sizeof(page), replays[i].page_bytes);
		um_format_count(requests, sizeof(requests), totals->remote_requests);
		um_format_bytes(all, sizeof(all), without_cache);
		if (totals->remote_lines_uncounted)
			um_text_table_note(
				table,
				"%s, %s: remote is each line once per launch, as with a "
				"cache that keeps them all; of %s lines the requests were "
				"not counted",
				replays[i].policy_name, page,
				um_format_count(requests, sizeof(requests),
						totals->remote_lines_uncounted));
		else
			um_text_table_note(table,
					   "%s, %s: remote is each line once per launch, as with a "
					   "cache that keeps them all; %s requests x 64 B = %s "
					   "without a cache",
					   replays[i].policy_name, page, requests, all);
	}
}

/* Nothing where no queue was stopped. */
static void add_stop_notes(struct um_text_table *table, const struct um_replay *replays,
			   size_t count)
{
	char page[32], times[32], stopped[32];

	for (size_t i = 0; i < count; i++) {
		const struct um_totals *totals = &replays[i].totals;

		if (!totals->queue_evictions)
			continue;
		um_format_bytes(page, sizeof(page), replays[i].page_bytes);
		um_format_count(times, sizeof(times), totals->queue_evictions);
		um_format_duration(stopped, sizeof(stopped), totals->queues_stopped_ns);
		um_text_table_note(table, "%s, %s: queues stopped %s %s, for %s in all",
				   replays[i].policy_name, page, times,
				   totals->queue_evictions == 1 ? "time" : "times", stopped);
	}
}

/* Once if they go for all, else below the name of each policy. */
static void add_all_notes(struct um_text_table *table, const struct um_replay *replays,
			  size_t count)
{
	bool alike = true;

	for (size_t i = 1; i < count; i++)
		alike = alike && is_noted_alike(&replays[0], &replays[i]);
	for (size_t i = 0; i < (alike ? 1 : count); i++) {
		if (!alike && i && !strcmp(replays[i].policy_name, replays[i - 1].policy_name) &&
		    is_noted_alike(&replays[i], &replays[i - 1]))
			continue;
		if (!alike)
			um_text_table_note(table, "%s:", replays[i].policy_name);
		add_notes(table, &replays[i]);
	}
}

static int print_totals(FILE *out, const struct um_replay *replays, size_t count)
{
	static const struct um_text_column columns[] = {
		{"policy", UM_ALIGN_LEFT},
		{"page", UM_ALIGN_RIGHT},
		{"device faults", UM_ALIGN_RIGHT},
		{"host faults", UM_ALIGN_RIGHT},
		{"to device", UM_ALIGN_RIGHT},
		{"to host", UM_ALIGN_RIGHT},
		{"link to device", UM_ALIGN_RIGHT},
		{"link to host", UM_ALIGN_RIGHT},
		{"end", UM_ALIGN_RIGHT},
		{NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		const struct um_totals *totals = &replays[i].totals;
		char text[32];

		um_text_table_cell(table, "%s", replays[i].policy_name);
		um_text_table_cell(table, "%s", bytes(text, replays[i].page_bytes));
		um_text_table_cell(table, "%s", um_format_count(text, 32, totals->device_faults));
		um_text_table_cell(table, "%s", um_format_count(text, 32, totals->host_faults));
		um_text_table_cell(table, "%s", bytes(text, totals->bytes_to_device));
		um_text_table_cell(table, "%s", bytes(text, totals->bytes_to_host));
		um_text_table_cell(table, "%s",
				   um_format_duration(text, 32, totals->link_to_device_ns));
		um_text_table_cell(table, "%s",
				   um_format_duration(text, 32, totals->link_to_host_ns));
		um_text_table_cell(table, "%s", um_format_duration(text, 32, totals->end_ns));
	}
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

static bool is_shown(const struct um_replay *replays, size_t count,
		     const struct um_replay_cause *cause)
{
	for (size_t i = 0; i < count; i++)
		if (cause->to_device(&replays[i].totals) || cause->to_host(&replays[i].totals))
			return true;
	return false;
}

static void add_direction(struct um_text_table *table, const struct um_replay *replays,
			  size_t count, size_t which, bool to_device)
{
	const struct um_totals *totals = &replays[which].totals;
	char text[32];

	um_text_table_cell(table, "%s", replays[which].policy_name);
	um_text_table_cell(table, "%s", bytes(text, replays[which].page_bytes));
	um_text_table_cell(table, to_device ? "to device" : "to host");
	for (const struct um_replay_cause *cause = um_replay_causes; cause->name; cause++)
		if (is_shown(replays, count, cause))
			um_text_table_cell(table, "%s",
					   bytes(text, to_device ? cause->to_device(totals)
								 : cause->to_host(totals)));
}

static int print_causes(FILE *out, const struct um_replay *replays, size_t count)
{
	struct um_text_column columns[16] = {
		{"bytes by cause", UM_ALIGN_LEFT}, {"page", UM_ALIGN_RIGHT}, {"", UM_ALIGN_LEFT}};
	struct um_text_table *table;
	size_t column = 3;
	int error;

	for (const struct um_replay_cause *cause = um_replay_causes; cause->name; cause++)
		if (is_shown(replays, count, cause))
			columns[column++] = (struct um_text_column){cause->name, UM_ALIGN_RIGHT};
	bool is_any = column > 3;
	if (!is_any) {
		columns[0].title = "nothing crossed the link";
		column = 1;
	}
	columns[column].title = NULL;
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (size_t i = 0; i < count && is_any; i++) {
		add_direction(table, replays, count, i, true);
		add_direction(table, replays, count, i, false);
	}
	add_remote_notes(table, replays, count);
	add_stop_notes(table, replays, count);
	add_all_notes(table, replays, count);
	add_ignored(table, replays, count);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

int um_replay_print_table(FILE *out, const struct um_replay *replays, size_t count)
{
	um_replay_print_xnack(out, replays, count);
	int error = print_totals(out, replays, count);

	fputc('\n', out);
	if (!error)
		error = um_replay_print_ideal(out, replays, count);
	fputc('\n', out);
	return error ? error : print_causes(out, replays, count);
}
