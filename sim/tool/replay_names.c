/* Which simulation a row is, and lines that several simulations share. */
#include "replay.h"

#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 1024

/* --- rows --- */

size_t um_replay_name_columns(struct um_text_column *columns, const char *title,
			      const struct um_replay *any)
{
	size_t count = 0;

	columns[count++] = (struct um_text_column){title, UM_ALIGN_LEFT};
	columns[count++] = (struct um_text_column){"page", UM_ALIGN_RIGHT};
	if (any->shows_memory)
		columns[count++] = (struct um_text_column){"memory", UM_ALIGN_RIGHT};
	return count;
}

void um_replay_name_cells(struct um_text_table *table, const struct um_replay *replay)
{
	char text[32];

	um_text_table_cell(table, "%s", replay->policy_name);
	um_text_table_cell(table, "%s", um_format_bytes(text, sizeof(text), replay->page_bytes));
	if (replay->shows_memory)
		um_text_table_cell(table, "%s",
				   um_format_bytes(text, sizeof(text), replay->memory_bytes));
}

/* --- lines --- */

static bool is_alike(const struct um_replay *a, const struct um_replay *b, um_replay_text_fn text)
{
	char text_a[TEXT_MAX], text_b[TEXT_MAX];
	bool has_a = text(text_a, sizeof(text_a), a), has_b = text(text_b, sizeof(text_b), b);

	return has_a == has_b && (!has_a || !strcmp(text_a, text_b));
}

static bool is_of_policy(const struct um_replay *a, const struct um_replay *b)
{
	return !strcmp(a->policy_name, b->policy_name);
}

/* Whether the policy's name is enough: the text goes for all simulations of it. */
static bool names_policy(const struct um_replay *replays, size_t count, size_t which,
			 um_replay_text_fn text)
{
	for (size_t i = 0; i < count; i++)
		if (is_of_policy(&replays[i], &replays[which]) &&
		    !is_alike(&replays[i], &replays[which], text))
			return false;
	return true;
}

static bool is_first_of_policy(const struct um_replay *replays, size_t which)
{
	for (size_t i = 0; i < which; i++)
		if (is_of_policy(&replays[i], &replays[which]))
			return false;
	return true;
}

/* "xnack_off, host: ", or with their page sizes where those tell apart: "a, 4 KiB; b, 4 KiB: " */
static void print_names(FILE *out, const struct um_replay *replays, size_t count, size_t which,
			um_replay_text_fn text)
{
	const char *before = "";

	for (size_t i = which; i < count; i++) {
		bool by_policy = names_policy(replays, count, i, text);

		if (!is_alike(&replays[i], &replays[which], text) ||
		    (by_policy && !is_first_of_policy(replays, i)))
			continue;
		fprintf(out, "%s%s", before, by_policy ? replays[i].policy_name : replays[i].label);
		before = by_policy ? ", " : "; ";
	}
	fputs(": ", out);
}

static void tell(const struct um_replay *replays, size_t count, size_t which,
		 um_replay_text_fn text, bool is_for_all, um_replay_line_fn line, void *context)
{
	char words[TEXT_MAX], *whole = NULL;
	size_t bytes;
	FILE *out;

	if (!text(words, sizeof(words), &replays[which]))
		return;
	out = open_memstream(&whole, &bytes);
	if (!out)
		return;
	if (!is_for_all)
		print_names(out, replays, count, which, text);
	fputs(words, out);
	if (fclose(out) == 0)
		line(context, whole);
	free(whole);
}

void um_replay_each_text(const struct um_replay *replays, size_t count, um_replay_text_fn text,
			 um_replay_line_fn line, void *context)
{
	bool is_for_all = true;

	for (size_t i = 1; i < count; i++)
		is_for_all = is_for_all && is_alike(&replays[i], &replays[0], text);
	for (size_t i = 0; i < count; i++) {
		bool told = false;

		for (size_t before = 0; before < i && !told; before++)
			told = is_alike(&replays[before], &replays[i], text);
		if (!told)
			tell(replays, count, i, text, is_for_all, line, context);
	}
}
