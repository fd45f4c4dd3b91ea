/* A row each simulation, and where its bytes came from. */
#include "replay.h"

#include "trace/base/units.h"

#include <string.h>

static const char *bytes(char *buffer, uint64_t value)
{
	return um_format_bytes(buffer, 32, value);
}

static int print_totals(FILE *out, const struct um_replay *replays, size_t count)
{
	static const struct um_text_column figures[] = {
		{"device\nfaults", UM_ALIGN_RIGHT},
		{"host\nfaults", UM_ALIGN_RIGHT},
		{"to\ndevice", UM_ALIGN_RIGHT},
		{"to\nhost", UM_ALIGN_RIGHT},
		{"link to\ndevice", UM_ALIGN_RIGHT},
		{"link to\nhost", UM_ALIGN_RIGHT},
		{"end", UM_ALIGN_RIGHT},
		{NULL, UM_ALIGN_LEFT},
	};
	struct um_text_column columns[16];
	struct um_text_table *table;
	size_t names = um_replay_name_columns(columns, "policy", replays);
	int error;

	memcpy(columns + names, figures, sizeof(figures));
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		const struct um_totals *totals = &replays[i].totals;
		char text[32];

		um_replay_name_cells(table, &replays[i]);
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

	um_replay_name_cells(table, &replays[which]);
	um_text_table_cell(table, to_device ? "to device" : "to host");
	for (const struct um_replay_cause *cause = um_replay_causes; cause->name; cause++)
		if (is_shown(replays, count, cause))
			um_text_table_cell(table, "%s",
					   bytes(text, to_device ? cause->to_device(totals)
								 : cause->to_host(totals)));
}

static int print_causes(FILE *out, const struct um_replay_run *run)
{
	const struct um_replay *replays = run->replays;
	struct um_text_column columns[16];
	struct um_text_table *table;
	size_t count = um_replay_done(run);
	size_t column = um_replay_name_columns(columns, "bytes\nby cause", replays), names;
	int error;

	columns[column++] = (struct um_text_column){"", UM_ALIGN_LEFT};
	names = column;
	for (const struct um_replay_cause *cause = um_replay_causes; cause->name; cause++)
		if (is_shown(replays, count, cause))
			columns[column++] = (struct um_text_column){cause->name, UM_ALIGN_RIGHT};
	bool is_any = column > names;
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
	um_replay_add_notes(table, run);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

int um_replay_print_table(FILE *out, const struct um_replay_run *run)
{
	size_t count = um_replay_done(run);

	um_replay_print_xnack(out, run->replays, count);
	int error = print_totals(out, run->replays, count);

	fputc('\n', out);
	if (!error)
		error = um_replay_print_ideal(out, run->replays, count);
	fputc('\n', out);
	return error ? error : print_causes(out, run);
}
