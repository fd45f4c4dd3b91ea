#include "closing_selection.h"

#include "trace/base/kernel_name.h"
#include "trace/base/units.h"

#include <string.h>

/* How many names are said of what there was. */
#define NAMES_SAID 8

/* --- names --- */

struct names {
	FILE *out;
	size_t said, left;
};

static void say_name(struct names *names, const char *name, size_t length)
{
	if (names->said == NAMES_SAID) {
		names->left++;
		return;
	}
	fprintf(names->out, "%s'%.*s'", names->said ? ", " : "; there were: ", (int)length, name);
	names->said++;
}

static int say_kernel(const void *row, void *context)
{
	const char *name = ((const struct um_kernel_row *)row)->name;
	struct um_kernel_name parts = um_kernel_name(name);

	say_name(context, parts.length ? parts.start : name,
		 parts.length ? parts.length : strlen(name));
	return 0;
}

static int say_range(const void *row, void *context)
{
	const char *name = ((const struct um_user_range_row *)row)->name;

	say_name(context, name, strlen(name));
	return 0;
}

static void say_kernels(FILE *out, struct um_db *db)
{
	struct names names = {.out = out};

	um_db_each(db, &um_table_kernel,
		   "op IN (SELECT MIN(op) FROM kernel GROUP BY name) AND ?1 = 0", 0, say_kernel,
		   &names);
	if (names.left)
		fprintf(out, ", and %zu more", names.left);
	fputs(names.said ? "\n" : "; none was launched\n", out);
}

static void say_ranges(FILE *out, struct um_db *db)
{
	struct names names = {.out = out};

	um_db_each(db, &um_table_user_range,
		   "op IN (SELECT MIN(op) FROM user_range GROUP BY name) AND ?1 = 0", 0, say_range,
		   &names);
	if (names.left)
		fprintf(out, ", and %zu more", names.left);
	fputs(names.said ? "\n" : "; the program named none\n", out);
}

/* --- what held for nothing --- */

struct saying {
	FILE *out;
	const struct um_closing *closing;
};

static void say_launches(const struct saying *saying, const char *value)
{
	char count[32];

	fprintf(saying->out, "umtrace: --launches '%s': %s; there were %s in all\n", value,
		um_selection_has(saying->closing->options->selection, UM_SELECT_KERNELS)
			? "no kernel was launched as often"
			: "the run has none of such a number",
		um_format_count(count, sizeof(count), saying->closing->totals->launches));
}

static int say_unmatched(const void *told, void *context)
{
	const struct um_selection_row *row = told;
	const struct saying *saying = context;

	if (row->matched != 0)
		return 0;
	if (!strcmp(row->criterion, um_criterion_names[UM_SELECT_LAUNCHES])) {
		say_launches(saying, row->value);
	} else if (!strcmp(row->criterion, um_criterion_names[UM_SELECT_PROFILE_FROM_START])) {
		fputs("umtrace: --profile-from-start=off, and the program never called "
		      "hipProfilerStart(), roctxProfilerResume() or cuProfilerStart()\n",
		      saying->out);
	} else if (!strcmp(row->criterion, um_criterion_names[UM_SELECT_RANGES])) {
		fprintf(saying->out, "umtrace: --ranges '%s': no range is called so", row->value);
		say_ranges(saying->out, saying->closing->db);
	} else {
		fprintf(saying->out, "umtrace: --%s '%s': no kernel is called so", row->criterion,
			row->value);
		say_kernels(saying->out, saying->closing->db);
	}
	return 0;
}

static void say_recorded(FILE *out, const struct um_ingest_totals *totals)
{
	char recorded[32], all[32];

	if (totals->launches == totals->unselected) {
		fputs("umtrace: no launch was selected\n", out);
		return;
	}
	fprintf(out, "umtrace: %s of %s launches recorded in detail, as selected; %s\n",
		um_format_count(recorded, sizeof(recorded), totals->launches - totals->unselected),
		um_format_count(all, sizeof(all), totals->launches),
		totals->measured ? "what the driver did for the others is left out"
				 : "what the others touched is not known");
}

void um_closing_selection(FILE *out, const struct um_closing *closing)
{
	struct saying saying = {out, closing};

	if (closing->totals->unselected)
		say_recorded(out, closing->totals);
	um_db_each(closing->db, &um_table_selection, NULL, 0, say_unmatched, &saying);
}
