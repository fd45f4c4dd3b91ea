#include "check_choices.h"

#include "trace/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLICIES_MAX 64

const char *const um_check_aim_names[UM_CHECK_AIMS] = {
	[UM_CHECK_BY_TIME] = "time",
	[UM_CHECK_BY_BYTES] = "bytes",
};

/* --- one policy by one aim --- */

static const enum um_check_quantity time_parts[] = {UM_CHECK_WAIT_TIME, UM_CHECK_QUANTITIES};
static const enum um_check_quantity byte_parts[] = {
	UM_CHECK_BYTES_TO_DEVICE, UM_CHECK_BYTES_TO_HOST, UM_CHECK_COPIED_TO_DEVICE,
	UM_CHECK_COPIED_TO_HOST, UM_CHECK_QUANTITIES};
static const enum um_check_quantity *const parts_of[UM_CHECK_AIMS] = {
	[UM_CHECK_BY_TIME] = time_parts,
	[UM_CHECK_BY_BYTES] = byte_parts,
};

/*
 * Sums of both sides, of the parts that are compared of this entry and of the one beside it, so that
 * both are sums of the same; `repetitions` is 0 where there are none.
 */
static struct um_check_figure sum_of(const struct um_check_entry *entry,
				     const struct um_check_entry *beside, enum um_check_aim aim)
{
	struct um_check_figure sum = {0};

	for (const enum um_check_quantity *part = parts_of[aim]; *part < UM_CHECK_QUANTITIES;
	     part++) {
		const struct um_check_figure *figure = &entry->figures[*part];

		if (!um_check_is_compared(figure) || !um_check_is_compared(&beside->figures[*part]))
			continue;
		sum.repetitions = figure->repetitions;
		sum.predicted += figure->predicted;
		sum.measured += figure->measured;
		sum.least += figure->least;
		sum.most += figure->most;
	}
	return sum;
}

/* --- pairs --- */

static int sign(double value)
{
	return (value > 0) - (value < 0);
}

static bool is_tie(const struct um_check_figure *a, const struct um_check_figure *b)
{
	return a->least <= b->most && b->least <= a->most;
}

static void rank_pair(struct um_check_ranking *ranking, const struct um_check_figure *a,
		      const struct um_check_figure *b)
{
	if (!a->repetitions)
		return;
	if (is_tie(a, b))
		ranking->ties++;
	else if (sign(a->predicted - b->predicted) == sign(a->measured - b->measured))
		ranking->right++;
	else
		ranking->wrong++;
}

/* --- a program --- */

struct policies {
	const struct um_check_entry *entries[POLICIES_MAX];
	size_t count;
};

static const struct um_check_figure *time_of(const struct um_check_entry *entry)
{
	return &entry->figures[UM_CHECK_WAIT_TIME];
}

static void choose(struct um_check_choice *choice, const struct policies *policies)
{
	const struct um_check_entry *chosen = policies->entries[0], *best = policies->entries[0];

	for (size_t i = 1; i < policies->count; i++) {
		const struct um_check_entry *entry = policies->entries[i];

		if (time_of(entry)->predicted < time_of(chosen)->predicted)
			chosen = entry;
		if (time_of(entry)->measured < time_of(best)->measured)
			best = entry;
	}
	choice->predicted_best = chosen->name;
	choice->measured_best = best->name;
	choice->is_as_good = is_tie(time_of(chosen), time_of(best));
	choice->cost = time_of(best)->measured > 0
			       ? time_of(chosen)->measured / time_of(best)->measured
			       : 1;
}

static void rank_by(struct um_check_choice *choice, const struct policies *policies,
		    enum um_check_aim aim)
{
	for (size_t i = 0; i < policies->count; i++)
		for (size_t k = i + 1; k < policies->count; k++) {
			const struct um_check_entry *one = policies->entries[i],
						    *other = policies->entries[k];
			struct um_check_figure a = sum_of(one, other, aim),
					       b = sum_of(other, one, aim);

			rank_pair(&choice->rankings[aim], &a, &b);
		}
}

static void rank_all(struct um_check_choice *choice, const struct policies *policies)
{
	for (int aim = 0; aim < UM_CHECK_AIMS; aim++)
		rank_by(choice, policies, (enum um_check_aim)aim);
	for (size_t i = 0; i < policies->count; i++)
		choice->is_test = choice->is_test || policies->entries[i]->is_test;
}

static int add_program(struct um_check_choices *all, const char *program,
		       const struct policies *policies)
{
	struct um_check_choice *choice;
	int error = um_check_room(&all->choices, all->count, &all->room, sizeof(*all->choices));

	if (error)
		return error;
	choice = &all->choices[all->count];
	*choice = (struct um_check_choice){.program = strdup(program), .policies = policies->count};
	if (!choice->program)
		return um_fail(UM_ENOMEM, "no memory for a choice");
	all->count++;
	rank_all(choice, policies);
	choose(choice, policies);
	return 0;
}

/* --- the list --- */

/* "program: policy policy", without its comment and newline. */
static int read_line(struct um_check_choices *all, char *line, const struct um_check_table *table)
{
	struct policies policies = {.count = 0};
	char *rest = strchr(line, ':'), *word;

	line += strspn(line, " \t");
	if (!*line)
		return 0;
	if (!rest || rest == line)
		return UM_EFORMAT;
	*rest++ = '\0';
	while ((word = strsep(&rest, " \t"))) {
		const struct um_check_entry *entry =
			*word ? um_check_table_find(table, word) : NULL;

		if (!entry || !um_check_is_compared(time_of(entry)))
			continue;
		if (policies.count == POLICIES_MAX)
			return UM_EFORMAT;
		policies.entries[policies.count++] = entry;
	}
	return policies.count >= 2 ? add_program(all, line, &policies) : 0;
}

int um_check_choices_read(struct um_check_choices *all, const char *path,
			  const struct um_check_table *table)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int error = 0;

	*all = (struct um_check_choices){0};
	if (!in)
		return um_fail_errno(errno == ENOENT ? UM_ENOENT : UM_EIO, "cannot open %s", path);
	while (!error && getline(&line, &room, in) > 0) {
		number++;
		line[strcspn(line, "#\r\n")] = '\0';
		error = read_line(all, line, table);
		if (error == UM_EFORMAT)
			um_fail_at(UM_EFORMAT, path, number, 0,
				   "not a program, a colon and at most %d policies", POLICIES_MAX);
	}
	if (!error && ferror(in))
		error = um_fail_errno(UM_EIO, "reading %s", path);
	free(line);
	fclose(in);
	if (error)
		um_check_choices_free(all);
	return error;
}

void um_check_choices_free(struct um_check_choices *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->choices[i].program);
	free(all->choices);
	*all = (struct um_check_choices){0};
}

struct um_check_ranking um_check_choices_total(const struct um_check_choices *all,
					       enum um_check_aim aim)
{
	struct um_check_ranking total = {0};

	for (size_t i = 0; i < all->count; i++) {
		const struct um_check_ranking *ranking = &all->choices[i].rankings[aim];

		total.right += ranking->right;
		total.wrong += ranking->wrong;
		total.ties += ranking->ties;
	}
	return total;
}

struct um_check_cost um_check_choices_cost(const struct um_check_choices *all)
{
	struct um_check_cost cost = {.largest = 1};

	for (size_t i = 0; i < all->count; i++) {
		const struct um_check_choice *choice = &all->choices[i];

		cost.as_good += choice->is_as_good;
		if (choice->cost <= cost.largest)
			continue;
		cost.largest = choice->cost;
		cost.program = choice->program;
	}
	return cost;
}
