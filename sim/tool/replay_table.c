/* A row each simulation, where its bytes came from, and the lines that say what the figures are. */
#include "replay.h"

#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <string.h>

static const char *bytes(char *buffer, uint64_t value)
{
	return um_format_bytes(buffer, 32, value);
}

static void add_notes(struct um_text_table *table, const struct um_replay *replay)
{
	const struct um_param_value *params = replay->policy->params;
	char text[256] = "", one[64], memory[32];
	size_t used = 0;

	for (size_t i = 0; params && replay->driver->params && replay->driver->params[i].name; i++)
		if (used < sizeof(text))
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, ", %s %s",
				replay->driver->params[i].name,
				um_replay_param_text(one, sizeof(one), &params[i]));
	um_text_table_note(table, "%s: driver %s%s; XNACK unknown to it", replay->policy_name,
			   replay->driver->name, text);
	um_text_table_note(table, "  machine %s, %s of device memory, link %s (the times are its)",
			   replay->machine->name, bytes(memory, replay->memory_bytes),
			   replay->machine->link.name);
	um_text_table_note(table, "  accesses %s, driver model %s", replay->accesses,
			   replay->driver->validated);
	for (size_t i = 0; i < replay->ignored_count; i++)
		um_text_table_note(table, "  not simulated: %s (%s)", replay->ignored[i].what,
				   replay->ignored[i].why);
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
	columns[column].title = NULL;
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (size_t i = 0; i < count && column > 3; i++) {
		add_direction(table, replays, count, i, true);
		add_direction(table, replays, count, i, false);
	}
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(replays[i].policy_name, replays[i - 1].policy_name))
			add_notes(table, &replays[i]);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

int um_replay_print_table(FILE *out, const struct um_replay *replays, size_t count)
{
	int error = print_totals(out, replays, count);

	fputc('\n', out);
	return error ? error : print_causes(out, replays, count);
}
