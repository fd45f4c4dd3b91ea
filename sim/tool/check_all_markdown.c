/* umsim check --all as a part of a README.md. */
#include "check_command.h"

/* Names are those of ranges and files: what would end a cell is made harmless. */
static void print_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' || *name == '|' || *name == '<' || *name == '`'
			      ? '?'
			      : *name,
		      out);
}

static void print_entries(FILE *out, const struct um_check_all *all)
{
	fputs("| name | test |", out);
	for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES; q++)
		fprintf(out, " %s |", um_check_quantities[q].title);
	fputs("\n|---|---|", out);
	for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES; q++)
		fputs("---|", out);
	fputc('\n', out);
	for (size_t i = 0; i < all->table.count; i++) {
		const struct um_check_entry *entry = &all->table.entries[i];
		char text[32];

		fputs("| ", out);
		print_name(out, entry->name);
		fprintf(out, " | %s |", entry->is_test ? "test" : "");
		for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES; q++)
			fprintf(out, " %s |",
				um_check_error_text(text, sizeof(text), &entry->figures[q]));
		fputc('\n', out);
	}
}

/* Of which the trace lacks records. */
static void print_lost(FILE *out, const struct um_check_table *table)
{
	const char *before = "\nThe driver lost records of ";

	for (size_t i = 0; i < table->count; i++) {
		if (!table->entries[i].has_lost)
			continue;
		fputs(before, out);
		print_name(out, table->entries[i].name);
		before = ", ";
	}
	if (*before == ',')
		fputs(": pages that the host had written and a kernel touched came to the device by no "
		      "record. What was measured\nby records is the least that there was, and a "
		      "prediction above it is not compared.\n",
		      out);
}

static void print_summary(void *context, enum um_check_set set, enum um_check_quantity quantity,
			  const struct um_check_summary *summary)
{
	FILE *out = context;
	char median[32], ninetieth[32], largest[32];

	fprintf(out, "| %s | %s | %zu | %zu | %zu | %s | %s | %s | ", um_check_set_names[set],
		um_check_quantities[quantity].title, summary->count, summary->exact,
		summary->within, um_check_size_text(median, sizeof(median), summary->median),
		um_check_size_text(ninetieth, sizeof(ninetieth), summary->ninetieth),
		um_check_size_text(largest, sizeof(largest), summary->largest));
	if (summary->largest > 0)
		print_name(out, summary->worst);
	fputs(" |\n", out);
}

static int print_summaries(FILE *out, const struct um_check_all *all)
{
	fputs("| set | error of | of | exact | within spread | median | 90 % | largest | at |\n"
	      "|---|---|---|---|---|---|---|---|---|\n",
	      out);
	return um_check_each_summary(&all->table, print_summary, out);
}

static void print_cost(FILE *out, const struct um_check_choices *choices)
{
	struct um_check_cost cost = um_check_choices_cost(choices);

	fprintf(out,
		"\nOf %zu programs the policy predicted to be fastest was as fast as any, within the card's "
		"spread, for %zu",
		choices->count, cost.as_good);
	if (cost.program) {
		fprintf(out, "; it costs %.2f times as long at most (", cost.largest);
		print_name(out, cost.program);
		fputc(')', out);
	}
	fputs(".\n", out);
}

static void print_choices(FILE *out, const struct um_check_all *all)
{
	fputs("| program | policies | pairs right by time | wrong | ties | right by bytes | wrong | ties | "
	      "predicted to be fastest | fastest when measured | cost |\n"
	      "|---|---|---|---|---|---|---|---|---|---|---|\n",
	      out);
	for (size_t i = 0; i < all->choices.count; i++) {
		const struct um_check_choice *choice = &all->choices.choices[i];

		fputs("| ", out);
		print_name(out, choice->program);
		fprintf(out, " | %zu |", choice->policies);
		for (int aim = 0; aim < UM_CHECK_AIMS; aim++)
			fprintf(out, " %zu | %zu | %zu |", choice->rankings[aim].right,
				choice->rankings[aim].wrong, choice->rankings[aim].ties);
		fputc(' ', out);
		print_name(out, choice->predicted_best);
		fputs(" | ", out);
		print_name(out, choice->measured_best);
		fprintf(out, " | %.2f |\n", choice->cost);
	}
	for (int aim = 0; aim < UM_CHECK_AIMS; aim++) {
		struct um_check_ranking total =
			um_check_choices_total(&all->choices, (enum um_check_aim)aim);

		fprintf(out,
			"\nBy %s: of %zu pairs of policies %zu were ranked as the card did, %zu were "
			"not; %zu more lie within its spread.\n",
			um_check_aim_names[aim], total.right + total.wrong, total.right,
			total.wrong, total.ties);
	}
	print_cost(out, &all->choices);
}

int um_check_all_print_markdown(FILE *out, const struct um_check_all *all)
{
	int error;

	fprintf(out,
		"Driver %s on machine %s, model %s. Errors are (predicted - measured) / measured, against "
		"the median of the repetitions: `=` none,\n`~` within their least to most, `-` not "
		"compared, `from 0` where nothing was measured.\n\n",
		all->model.driver, all->model.machine, all->model.validated);
	error = print_summaries(out, all);
	if (all->choices.count) {
		fputc('\n', out);
		print_choices(out, all);
	}
	fputc('\n', out);
	print_entries(out, all);
	print_lost(out, &all->table);
	return error;
}
