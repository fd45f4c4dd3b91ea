/* A figure a line: what a later check is held against. */
#include "check_command.h"

#include "trace/base/error.h"

#include <math.h>

/* Names are those of ranges and files. */
static void print_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' ? '?' : *name, out);
}

/* What is not compared since records were lost has its line, without an error. */
static void print_figure(FILE *out, const struct um_check_entry *entry,
			 enum um_check_quantity quantity)
{
	const struct um_check_figure *figure = &entry->figures[quantity];
	bool is_compared = um_check_is_compared(figure);
	double error = um_check_error(figure);

	print_name(out, entry->name);
	fprintf(out, "\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t",
		um_check_set_names[um_check_set_of(entry)], um_check_quantities[quantity].name,
		figure->predicted, figure->measured, figure->least, figure->most);
	if (!is_compared)
		fputs("-", out);
	else if (isinf(error))
		fputs("inf", out);
	else
		fprintf(out, "%.2f", error * 100);
	fprintf(out, "\t%d\n", !is_compared || um_check_is_within(figure));
}

int um_check_all_print_tsv(FILE *out, const struct um_check_all *all)
{
	fputs("name\tset\tquantity\tpredicted\tmeasured\tleast\tmost\terror_percent\twithin_spread\n",
	      out);
	for (size_t i = 0; i < all->table.count; i++)
		for (int q = 0; q < UM_CHECK_MAIN_QUANTITIES; q++) {
			const struct um_check_entry *entry = &all->table.entries[i];

			if (entry->figures[q].is_predicted && entry->figures[q].repetitions)
				print_figure(out, entry, (enum um_check_quantity)q);
		}
	return 0;
}
