/* umsim check --all, for programs. */
#include "check_command.h"

#include "trace/base/error.h"

#include <jansson.h>

static json_t *entries_of(const struct um_check_table *table)
{
	json_t *all = json_array();

	for (size_t i = 0; i < table->count; i++) {
		const struct um_check_entry *entry = &table->entries[i];
		json_t *quantities = json_object();

		for (int q = 0; q < UM_CHECK_QUANTITIES; q++)
			if (entry->figures[q].is_predicted || entry->figures[q].repetitions)
				json_object_set_new(quantities, um_check_quantities[q].name,
						    um_check_figure_json(&entry->figures[q]));
		json_array_append_new(all, json_pack("{s:o, s:s, s:b, s:o}", "name",
						     um_check_name_json(entry->name), "set",
						     um_check_set_names[um_check_set_of(entry)],
						     "records_lost", entry->has_lost, "quantities",
						     quantities));
	}
	return all;
}

static json_t *summary_of(const struct um_check_summary *summary)
{
	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "count", (json_int_t)summary->count,
			 "exact", (json_int_t)summary->exact, "within_spread",
			 (json_int_t)summary->within, "median",
			 um_check_number_json(true, summary->median), "ninetieth",
			 um_check_number_json(true, summary->ninetieth), "largest",
			 um_check_number_json(true, summary->largest), "worst",
			 um_check_name_json(summary->worst));
}

static int add_summaries(json_t *all, const struct um_check_table *table, enum um_check_set set)
{
	json_t *of_set = json_object();
	int error = 0;

	for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES && !error; q++) {
		struct um_check_summary summary;

		error = um_check_summarize(&summary, table, set, (enum um_check_quantity)q);
		if (!error && summary.count)
			json_object_set_new(of_set, um_check_quantities[q].name,
					    summary_of(&summary));
	}
	json_object_set_new(all, um_check_set_names[set], of_set);
	return error;
}

static json_t *rankings_of(const struct um_check_ranking rankings[UM_CHECK_AIMS])
{
	json_t *all = json_object();

	for (int aim = 0; aim < UM_CHECK_AIMS; aim++)
		json_object_set_new(all, um_check_aim_names[aim],
				    json_pack("{s:I, s:I, s:I}", "right",
					      (json_int_t)rankings[aim].right, "wrong",
					      (json_int_t)rankings[aim].wrong, "ties",
					      (json_int_t)rankings[aim].ties));
	return all;
}

static json_t *choices_of(const struct um_check_choices *choices)
{
	json_t *all = json_array();

	for (size_t i = 0; i < choices->count; i++) {
		const struct um_check_choice *choice = &choices->choices[i];

		json_array_append_new(
			all,
			json_pack("{s:o, s:I, s:o, s:o, s:o, s:f, s:b, s:b}", "program",
				  um_check_name_json(choice->program), "policies",
				  (json_int_t)choice->policies, "pairs",
				  rankings_of(choice->rankings), "predicted_fastest",
				  um_check_name_json(choice->predicted_best), "measured_fastest",
				  um_check_name_json(choice->measured_best), "cost", choice->cost,
				  "as_good", choice->is_as_good, "is_test", choice->is_test));
	}
	return all;
}

int um_check_all_print_json(FILE *out, const struct um_check_all *all)
{
	struct um_check_ranking totals[UM_CHECK_AIMS];
	json_t *summaries = json_object(), *root;
	int error = 0, failed;

	for (int set = 0; set < UM_CHECK_SETS && !error; set++)
		error = add_summaries(summaries, &all->table, (enum um_check_set)set);
	for (int aim = 0; aim < UM_CHECK_AIMS; aim++)
		totals[aim] = um_check_choices_total(&all->choices, (enum um_check_aim)aim);
	root = json_pack("{s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "folder",
			 um_check_name_json(all->arguments->all), "device",
			 um_check_name_json(all->card.name), "driver", all->model.driver, "machine",
			 all->model.machine, "driver_validated", all->model.validated, "entries",
			 entries_of(&all->table), "summaries", summaries, "choices",
			 choices_of(&all->choices), "pairs", rankings_of(totals));
	failed = !root || json_dumpf(root, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
	json_decref(root);
	if (error)
		return error;
	return failed ? um_fail(UM_EIO, "cannot write the results as JSON") : 0;
}
