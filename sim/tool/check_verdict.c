/* What a comparison comes to, in a line each. */
#include "check_command.h"

#include "trace/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- another program --- */

static char *call_text(const struct um_check_side *side, size_t call)
{
	return call == SIZE_MAX ? strdup("nothing more") : um_check_call_text(side, call);
}

/* Where both read alike, it is the streams: which calls share one. */
static int put_first(char **out, char *here, char *there)
{
	if (strcmp(here, there) == 0)
		return asprintf(out,
				"%s, which shares its stream with other calls than when measured",
				here);
	return asprintf(out, "%s in the accesses, %s when measured", here, there);
}

static int first_text(char **out, const struct um_check_difference *difference,
		      const struct um_check_side *predicted, const struct um_check_side *measured)
{
	char *here = call_text(predicted, difference->first_here);
	char *there = call_text(measured, difference->first_there);
	int wanted = here && there ? put_first(out, here, there) : -1;

	free(here);
	free(there);
	return wanted < 0 ? um_fail(UM_ENOMEM, "no memory for what differs") : 0;
}

int um_check_difference_line(char **out, const struct um_check_comparison *comparison,
			     const struct um_check_side *predicted,
			     const struct um_check_side *measured, size_t which)
{
	const struct um_check_difference *difference = &comparison->differences[which];
	char *first;
	int wanted, error = first_text(&first, difference, predicted, &measured[which]);

	if (error)
		return error;
	wanted = asprintf(
		out,
		"not the same program, so that errors do not tell of the model: %s%zu of %zu "
		"calls of the accesses, %zu of %zu of %s have no counterpart in the other; "
		"first: %s",
		difference->is_least ? "at least " : "", difference->only_here,
		difference->calls_here, difference->only_there, difference->calls_there,
		measured[which].path, first);
	free(first);
	return wanted < 0 ? um_fail(UM_ENOMEM, "no memory for what differs") : 0;
}

/* --- the closing line --- */

#define FEW   "too few", "too many"
#define SHORT "too short", "too long"

/* What a reader wants to know of one by one; the worst of a group counts. */
static const struct group {
	const char *name, *less, *more;
	enum um_check_quantity quantities[3]; /* UM_CHECK_QUANTITIES ends them */
} groups[] = {
	{"bytes", FEW, {UM_CHECK_BYTES_TO_DEVICE, UM_CHECK_BYTES_TO_HOST, UM_CHECK_QUANTITIES}},
	{"CPU faults", FEW, {UM_CHECK_CPU_FAULTS, UM_CHECK_QUANTITIES}},
	{"records",
	 FEW,
	 {UM_CHECK_RECORDS_TO_DEVICE, UM_CHECK_RECORDS_TO_HOST, UM_CHECK_QUANTITIES}},
	{"transfers", SHORT, {UM_CHECK_TRANSFER_TIME, UM_CHECK_QUANTITIES}},
	{"kernels", SHORT, {UM_CHECK_KERNEL_TIME, UM_CHECK_QUANTITIES}},
};
#define GROUPS (sizeof(groups) / sizeof(*groups))

/* Of two figures, the one that says less for the model. */
static const struct um_check_figure *worse(const struct um_check_figure *a,
					   const struct um_check_figure *b)
{
	bool a_within = um_check_is_within(a), b_within = um_check_is_within(b);

	if (a_within != b_within)
		return a_within ? b : a;
	return fabs(um_check_error(a)) >= fabs(um_check_error(b)) ? a : b;
}

/* NULL: nothing of it is compared. *was_lost: since its records were lost. */
static const struct um_check_figure *worst_of(const struct group *group,
					      const struct um_check_row *total, bool *was_lost)
{
	const struct um_check_figure *worst = NULL;

	*was_lost = false;
	for (const enum um_check_quantity *q = group->quantities; *q < UM_CHECK_QUANTITIES; q++) {
		const struct um_check_figure *figure = &total->figures[*q];

		if (um_check_is_compared(figure))
			worst = worst ? worse(worst, figure) : figure;
		else if (figure->is_predicted && figure->repetitions)
			*was_lost = true;
	}
	return worst;
}

/* Of several repetitions: what a card does by itself. */
static void put_spread(FILE *out, const char *before, const struct um_check_figure *figure,
		       const char *after)
{
	char text[32];
	double spread = um_check_spread(figure);

	if (figure->repetitions > 1)
		fprintf(out, "%s%s%s", before,
			spread > 0 ? um_check_size_text(text, sizeof(text), spread) : "none",
			after);
}

static void put_group(FILE *out, const struct group *group, const struct um_check_figure *figure)
{
	double error = um_check_error(figure);
	char text[32];

	fprintf(out, "%s ", group->name);
	if (error == 0) {
		fputs("as measured", out);
	} else if (figure->repetitions > 1 && um_check_is_within(figure)) {
		fputs("within the card's spread", out);
		put_spread(out, " of ", figure, "");
	} else {
		if (isinf(error))
			fputs("predicted where none were measured", out);
		else
			fprintf(out, "%s %s", um_check_size_text(text, sizeof(text), fabs(error)),
				error < 0 ? group->less : group->more);
		put_spread(out, " (the card's own spread: ", figure, ")");
	}
}

static void put_groups(FILE *out, const struct um_check_row *total)
{
	const char *before = "in short: ";

	for (size_t i = 0; i < GROUPS; i++) {
		bool was_lost;
		const struct um_check_figure *figure = worst_of(&groups[i], total, &was_lost);

		if (!figure && !was_lost)
			continue;
		fputs(before, out);
		before = "; ";
		if (figure)
			put_group(out, &groups[i], figure);
		if (was_lost)
			fprintf(out, "%s%s", figure ? "" : groups[i].name,
				figure ? " but for what was lost"
				       : " not compared: records were lost");
	}
	if (*before != ';')
		fputs("in short: nothing of it was measured", out);
}

/* Kernels that take longer than what they wait for are told of as what they are. */
static bool is_short_of_time(const struct um_check_row *total)
{
	const struct um_check_figure *kernels = &total->figures[UM_CHECK_KERNEL_TIME];

	return um_check_is_compared(kernels) && um_check_error(kernels) < 0 &&
	       !um_check_is_within(kernels);
}

int um_check_verdict(char **out, const struct um_check_comparison *comparison)
{
	size_t bytes;
	FILE *text = open_memstream(out, &bytes);

	if (!text)
		return um_fail(UM_ENOMEM, "no memory for a line");
	if (comparison->is_other)
		fputs("in short: two different programs: nothing here tells how good the model is",
		      text);
	else
		put_groups(text, &comparison->total);
	if (!comparison->is_other && is_short_of_time(&comparison->total))
		fputs(": what kernels compute takes no time in the model", text);
	return fclose(text) == 0 ? 0 : um_fail(UM_ENOMEM, "no memory for a line");
}
