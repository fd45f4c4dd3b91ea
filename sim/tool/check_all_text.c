/* umsim check --all, for people. */
#include "check_command.h"

#include "trace/base/text_table.h"

/* --- errors by configuration and run --- */

static int print_entries(FILE *out, const struct um_check_all *all)
{
	struct um_text_column columns[UM_CHECK_MAIN_QUANTITIES + 3] = {
		{"configuration\nor run", UM_ALIGN_LEFT}, {"set", UM_ALIGN_LEFT}};
	struct um_text_table *table;
	int error;

	for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES; q++)
		columns[2 + q] =
			(struct um_text_column){um_check_quantities[q].head, UM_ALIGN_RIGHT};
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (size_t i = 0; i < all->table.count; i++) {
		const struct um_check_entry *entry = &all->table.entries[i];
		char text[32];

		um_text_table_cell(table, "%s", entry->name);
		um_text_table_cell(table, "%s", entry->is_test ? "test" : "");
		for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES; q++)
			um_text_table_cell(
				table, "%s",
				um_check_error_text(text, sizeof(text), &entry->figures[q]));
	}
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* --- summaries --- */

static void add_summary(void *context, enum um_check_set set, enum um_check_quantity quantity,
			const struct um_check_summary *summary)
{
	struct um_text_table *table = context;
	char text[32];

	um_text_table_cell(table, "%s", um_check_set_names[set]);
	um_text_table_cell(table, "%s", um_check_quantities[quantity].title);
	um_text_table_cell(table, "%zu", summary->count);
	um_text_table_cell(table, "%zu", summary->exact);
	um_text_table_cell(table, "%zu", summary->within);
	um_text_table_cell(table, "%s", um_check_size_text(text, sizeof(text), summary->median));
	um_text_table_cell(table, "%s", um_check_size_text(text, sizeof(text), summary->ninetieth));
	um_text_table_cell(table, "%s", um_check_size_text(text, sizeof(text), summary->largest));
	um_text_table_cell(table, "%s", summary->largest > 0 ? summary->worst : "");
}

static int print_summaries(FILE *out, const struct um_check_all *all)
{
	static const struct um_text_column columns[] = {
		{"set", UM_ALIGN_LEFT},
		{"errors of", UM_ALIGN_LEFT},
		{"of", UM_ALIGN_RIGHT},
		{"exact", UM_ALIGN_RIGHT},
		{"within\nspread", UM_ALIGN_RIGHT},
		{"median", UM_ALIGN_RIGHT},
		{"90 %", UM_ALIGN_RIGHT},
		{"largest", UM_ALIGN_RIGHT},
		{"at", UM_ALIGN_LEFT},
		{NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	error = um_check_each_summary(&all->table, add_summary, table);
	if (!error)
		error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* --- choices --- */

static int print_choices(FILE *out, const struct um_check_all *all)
{
	static const struct um_text_column columns[] = {
		{"program", UM_ALIGN_LEFT},
		{"policies", UM_ALIGN_RIGHT},
		{"pairs right\nby time", UM_ALIGN_RIGHT},
		{"wrong", UM_ALIGN_RIGHT},
		{"ties", UM_ALIGN_RIGHT},
		{"right\nby bytes", UM_ALIGN_RIGHT},
		{"wrong", UM_ALIGN_RIGHT},
		{"ties", UM_ALIGN_RIGHT},
		{"predicted to be\nfastest", UM_ALIGN_LEFT},
		{"fastest when\nmeasured", UM_ALIGN_LEFT},
		{"cost", UM_ALIGN_RIGHT},
		{NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (size_t i = 0; i < all->choices.count; i++) {
		const struct um_check_choice *choice = &all->choices.choices[i];

		um_text_table_cell(table, "%s", choice->program);
		um_text_table_cell(table, "%zu", choice->policies);
		for (int aim = 0; aim < UM_CHECK_AIMS; aim++) {
			um_text_table_cell(table, "%zu", choice->rankings[aim].right);
			um_text_table_cell(table, "%zu", choice->rankings[aim].wrong);
			um_text_table_cell(table, "%zu", choice->rankings[aim].ties);
		}
		um_text_table_cell(table, "%s", choice->predicted_best);
		um_text_table_cell(table, "%s", choice->measured_best);
		um_text_table_cell(table, "%.2f", choice->cost);
	}
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

static void print_cost(FILE *out, const struct um_check_choices *choices)
{
	struct um_check_cost cost = um_check_choices_cost(choices);

	fprintf(out,
		"of %zu programs the policy predicted to be fastest was as fast as any, within the card's "
		"spread, for %zu",
		choices->count, cost.as_good);
	if (cost.program)
		fprintf(out, "; it costs %.2f times as long at most (%s)", cost.largest,
			cost.program);
	fputc('\n', out);
}

static void print_rankings(FILE *out, const struct um_check_all *all)
{
	for (int aim = 0; aim < UM_CHECK_AIMS; aim++) {
		struct um_check_ranking total =
			um_check_choices_total(&all->choices, (enum um_check_aim)aim);

		fprintf(out,
			"by %s: of %zu pairs of policies %zu ranked as the card did, %zu not; %zu more "
			"within its spread\n",
			um_check_aim_names[aim], total.right + total.wrong, total.right,
			total.wrong, total.ties);
	}
	print_cost(out, &all->choices);
}

/* --- together --- */

/* Of entries that were another program when measured. */
static void print_others(FILE *out, const struct um_check_table *table)
{
	size_t others = 0;

	for (size_t i = 0; i < table->count; i++)
		for (int q = 0; q < UM_CHECK_QUANTITIES; q++)
			if (table->entries[i].figures[q].is_other) {
				others++;
				break;
			}
	if (others)
		fprintf(out,
			"\"!\": of another program than was measured, and in no summary: %zu of %zu\n",
			others, table->count);
}

static void print_lost(FILE *out, const struct um_check_all *all)
{
	char line[512];

	for (size_t i = 0; i < all->table.count; i++) {
		if (!all->table.entries[i].has_lost)
			continue;
		snprintf(
			line, sizeof(line),
			"%s: the driver lost records; what was measured by them is the least that there "
			"was, and a prediction above it is not compared",
			all->table.entries[i].name);
		um_text_print_wrapped(out, line, 0, 2);
	}
}

static void print_notes(FILE *out, const struct um_check_all *all)
{
	char line[512];

	snprintf(line, sizeof(line), "predicted: driver %s on machine %s; model %s; measured: %s",
		 all->model.driver, all->model.machine, all->model.validated, all->card.name);
	um_text_print_wrapped(out, line, 0, 2);
	um_text_print_wrapped(
		out,
		"error: of the predicted against the median of the repetitions; \"=\" none, \"~\" within "
		"their least to most, \"-\" not compared, \"from 0\" where nothing was measured",
		0, 2);
	print_others(out, &all->table);
	print_lost(out, all);
}

int um_check_all_print_text(FILE *out, const struct um_check_all *all)
{
	int error = print_entries(out, all);

	fputc('\n', out);
	if (!error)
		error = print_summaries(out, all);
	fputc('\n', out);
	if (!error && all->choices.count) {
		error = print_choices(out, all);
		fputc('\n', out);
		print_rankings(out, all);
	}
	print_notes(out, all);
	return error;
}
