/* The results of a sweep as comma-separated values (RFC 4180). */
#include "sweep_command.h"

#include "sim/sweep/sweep_columns.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <string.h>

static void write_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void write_header(FILE *out, const struct um_sweep_plan *plan)
{
	fputs("configuration,policy", out);
	for (size_t i = 0; i < plan->axis_count; i++) {
		fputc(',', out);
		write_field(out, plan->axes[i].key);
	}
	fputs(",status,reason", out);
	for (const struct um_sweep_column *column = um_sweep_columns; column->name; column++)
		fprintf(out, ",%s", column->name);
	fputs("\r\n", out);
}

static void write_row(FILE *out, const struct um_sweep_command *sweep, size_t which)
{
	const struct um_sweep_outcome *outcome = &sweep->outcomes[which];

	fprintf(out, "%zu,", which + 1);
	write_field(out, sweep->plan.configurations[which].from->name);
	for (size_t i = 0; i < sweep->plan.axis_count; i++) {
		fputc(',', out);
		write_field(out, um_sweep_plan_value(&sweep->plan, which, i));
	}
	fprintf(out, ",%s,", um_sweep_status_word(outcome->status));
	write_field(out, outcome->reason ? outcome->reason : "");
	for (size_t i = 0; i < um_sweep_column_count; i++) {
		fputc(',', out);
		if (outcome->figures)
			fprintf(out, "%" PRIu64, outcome->figures[i]);
	}
	fputs("\r\n", out);
}

int um_sweep_print_csv(FILE *out, const struct um_sweep_command *sweep)
{
	write_header(out, &sweep->plan);
	for (size_t i = 0; i < sweep->plan.count; i++)
		write_row(out, sweep, i);
	return ferror(out) ? um_fail_errno(UM_EIO, "writing") : 0;
}
