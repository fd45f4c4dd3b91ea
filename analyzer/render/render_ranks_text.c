#include "render_ranks.h"

#include "ranks_head.h"
#include "summary_cells.h"
#include "summary_measured.h"
#include "trace/base/error.h"
#include "trace/base/kernel_name.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OUTLIERS_SHOWN 8

/* A table's columns: some of its own, then a column for each quantity that is not 0 everywhere. */
struct columns {
	struct um_text_column titles[UM_RANKS_QUANTITIES_MAX + 8];
	size_t count;
	size_t quantities[UM_RANKS_QUANTITIES_MAX];
	size_t quantity_count;
};

static void add_column(struct columns *columns, const char *title, enum um_text_align align)
{
	columns->titles[columns->count++] = (struct um_text_column){title, align};
	columns->titles[columns->count] = (struct um_text_column){0};
}

static void add_quantity(struct columns *columns, const struct um_ranks_quantity *table, size_t i)
{
	add_column(columns, table[i].title, UM_ALIGN_RIGHT);
	columns->quantities[columns->quantity_count++] = i;
}

static void cell(struct um_text_table *table, const struct um_ranks_quantity *quantity,
		 int64_t value)
{
	if (quantity->unit == UM_RANKS_BYTES)
		um_cell_bytes(table, value);
	else if (quantity->unit == UM_RANKS_NS)
		um_cell_duration(table, value);
	else
		um_cell_count(table, value);
}

static char *format(char text[32], const struct um_ranks_quantity *quantity, int64_t value)
{
	uint64_t shown = value < 0 ? 0 : (uint64_t)value;

	if (quantity->unit == UM_RANKS_BYTES)
		return um_format_bytes(text, 32, shown);
	if (quantity->unit == UM_RANKS_NS)
		return um_format_duration(text, 32, shown);
	return um_format_count(text, 32, shown);
}

/* ---------------------------------------------------------------- ranks */

static int64_t figure(const struct um_rank *rank, const struct um_ranks_quantity *quantity)
{
	return *(const int64_t *)((const char *)rank + quantity->offset);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Files without a rank are numbered, so that what is long stands once. */
static int64_t number_of(const struct um_rank_group *group, size_t at)
{
	int64_t rank = group->ranks[at].rank;

	return rank == UM_NULL ? (int64_t)at + 1 : rank;
}

static void label_cell(struct um_text_table *table, const struct um_rank_group *group, size_t at)
{
	const char *name = base_name(group->ranks[at].path);
	char label[200];

	if (group->ranks[at].rank == UM_NULL) {
		snprintf(label, sizeof(label), "%zu %s", at + 1, name);
		um_cell_name(table, label, strlen(label));
	} else {
		um_text_table_cell(table, "%" PRId64, group->ranks[at].rank);
	}
}

static void rank_row(struct um_text_table *table, const struct columns *columns,
		     const struct um_rank_group *group, size_t at, bool shows_host)
{
	const struct um_rank *rank = &group->ranks[at];

	label_cell(table, group, at);
	if (shows_host)
		um_text_table_cell(table, "%s", rank->host ? rank->host : "-");
	for (size_t i = 0; i < columns->quantity_count; i++) {
		const struct um_ranks_quantity *quantity =
			&um_rank_quantities[columns->quantities[i]];

		cell(table, quantity, figure(rank, quantity));
	}
}

static void begin_row(struct um_text_table *table, const char *label, bool shows_host)
{
	um_text_table_cell(table, "%s", label);
	if (shows_host)
		um_text_table_cell(table, " ");
}

static void extent_row(struct um_text_table *table, const struct columns *columns,
		       const struct um_rank_group *group, const char *label, size_t offset,
		       bool shows_host)
{
	begin_row(table, label, shows_host);
	for (size_t i = 0; i < columns->quantity_count; i++) {
		size_t at = columns->quantities[i];
		const char *extent = (const char *)&group->extents[at];

		cell(table, &um_rank_quantities[at], *(const int64_t *)(extent + offset));
	}
}

/* Which rank that is; none where all are alike. */
static void place_row(struct um_text_table *table, const struct columns *columns,
		      const struct um_rank_group *group, size_t offset, bool shows_host)
{
	begin_row(table, group->is_unranked ? "  of file" : "  of rank", shows_host);
	for (size_t i = 0; i < columns->quantity_count; i++) {
		const struct um_extent *extent = &group->extents[columns->quantities[i]];
		size_t at = *(const size_t *)((const char *)extent + offset);

		if (!extent->known || extent->least == extent->most)
			um_text_table_cell(table, "-");
		else
			um_text_table_cell(table, "%" PRId64, number_of(group, at));
	}
}

#define EXTENT(member) offsetof(struct um_extent, member)

static void extent_rows(struct um_text_table *table, const struct columns *columns,
			const struct um_rank_group *group, bool shows_host)
{
	extent_row(table, columns, group, "least", EXTENT(least), shows_host);
	place_row(table, columns, group, EXTENT(least_at), shows_host);
	extent_row(table, columns, group, "median", EXTENT(median), shows_host);
	extent_row(table, columns, group, "most", EXTENT(most), shows_host);
	place_row(table, columns, group, EXTENT(most_at), shows_host);
	extent_row(table, columns, group, "all", EXTENT(sum), shows_host);
}

/* Where not all are shown, those that stand out are, and then the first. */
static bool *choose_ranks(const struct um_rank_group *group, size_t rows)
{
	bool *shown = calloc(group->count, sizeof(*shown));
	size_t count = 0;

	if (!shown)
		return NULL;
	for (size_t i = 0; i < group->outlier_count && count < rows; i++) {
		count += !shown[group->outliers[i].at];
		shown[group->outliers[i].at] = true;
	}
	for (size_t i = 0; i < group->count && count < rows; i++) {
		count += !shown[i];
		shown[i] = true;
	}
	return shown;
}

/* What a column that is not there had. */
static void note_zeros(struct um_text_table *table, const struct um_ranks_quantity *quantities,
		       const bool *is_zero)
{
	char text[512] = "";

	for (size_t i = 0; quantities[i].name; i++)
		if (is_zero[i] && quantities[i].title) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
				 quantities[i].words);
		}
	if (*text)
		um_text_table_note(table, "0 everywhere: %s", text);
}

static void note_ranks(struct um_text_table *table, const struct um_rank_group *group, size_t rows)
{
	size_t lacking = 0, unknown = 0;

	um_note_rest(table, group->count, rows);
	if (!group->is_measured && !group->is_simulation)
		um_text_table_note(table, "time: of the emulation, on the CPU");
	if (group->is_simulation)
		um_text_table_note(table, "time, GPU time: modelled");
	for (size_t i = 0; i < group->count; i++)
		lacking += group->ranks[i].losses > 0;
	for (size_t i = 0; um_rank_quantities[i].name; i++)
		unknown |= group->extents[i].known && group->extents[i].known < group->count;
	if (unknown)
		um_text_table_note(table, "-: not known; least, median, most and all are of the "
					  "ranks that know");
	if (lacking)
		um_text_table_note(
			table,
			"files of %zu lack something that happened: umanalyze summary of "
			"one says what",
			lacking);
}

static void make_rank_columns(struct columns *columns, const struct um_rank_group *group,
			      bool *is_zero)
{
	add_column(columns, group->is_unranked ? "file" : "rank", UM_ALIGN_LEFT);
	if (group->hosts > 0)
		add_column(columns, "host", UM_ALIGN_LEFT);
	for (size_t i = 0; um_rank_quantities[i].name; i++) {
		const struct um_extent *extent = &group->extents[i];

		is_zero[i] = extent->known == group->count && extent->most == 0;
		if (extent->known && !is_zero[i])
			add_quantity(columns, um_rank_quantities, i);
	}
}

static int print_ranks(FILE *out, const struct um_rank_group *group, size_t rows)
{
	struct columns columns = {0};
	bool is_zero[UM_RANKS_QUANTITIES_MAX] = {false}, shows_host = group->hosts > 0;
	struct um_text_table *table;
	bool *shown = choose_ranks(group, rows);

	if (!shown)
		return um_fail(UM_ENOMEM, "out of memory");
	make_rank_columns(&columns, group, is_zero);
	int error = um_text_table_create(&table, columns.titles);
	if (error) {
		free(shown);
		return error;
	}
	fprintf(out, "\n%s; in is to the GPU, out to the host\n",
		group->is_unranked ? "Files" : "Ranks");
	for (size_t i = 0; i < group->count; i++)
		if (shown[i])
			rank_row(table, &columns, group, i, shows_host);
	if (group->count > 1)
		extent_rows(table, &columns, group, shows_host);
	note_zeros(table, um_rank_quantities, is_zero);
	note_ranks(table, group, rows);
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	free(shown);
	return error;
}

/* ---------------------------------------------------------------- outliers */

static void print_outlier(FILE *out, const struct um_rank_group *group,
			  const struct um_ranks_outlier *outlier)
{
	char value[32], median[32];

	fputs("  ", out);
	um_put_rank(out, group, outlier->at);
	fprintf(out, ": %s %s, where the median is %s", outlier->quantity->words,
		format(value, outlier->quantity, outlier->value),
		format(median, outlier->quantity, outlier->median));
	if (outlier->median > 0 && outlier->value > 0)
		fprintf(out, " (%.3g times that)",
			(double)outlier->value / (double)outlier->median);
	fputc('\n', out);
}

static void print_outliers(FILE *out, const struct um_rank_group *group)
{
	if (group->count < 4)
		return;
	fprintf(out,
		"\n%s that stand out: more than 3.5 robust standard deviations and 10 %% from the "
		"median\n",
		group->is_unranked ? "Files" : "Ranks");
	if (!group->outlier_count)
		fputs("  none\n", out);
	for (size_t i = 0; i < group->outlier_count && i < OUTLIERS_SHOWN; i++)
		print_outlier(out, group, &group->outliers[i]);
	if (group->outlier_count > OUTLIERS_SHOWN)
		fprintf(out, "  ... and %zu more: --format=json has all\n",
			group->outlier_count - OUTLIERS_SHOWN);
}

/* ---------------------------------------------------------------- kernels and allocations */

struct listing {
	const struct um_rank_group *group;
	const struct um_ranks_items *items;
	const struct um_ranks_quantity *quantities, *main;
	bool *is_zero;
	bool is_partial; /* some sum is of fewer ranks than have it */
};

/* "1.2 MiB (3)": of one rank, which is said where ranks differ. */
static void place_cell(struct um_text_table *table, const struct listing *listing, int64_t value,
		       const struct um_extent *extent, size_t at)
{
	char text[32];

	if (!extent->known)
		um_text_table_cell(table, "-");
	else if (extent->least == extent->most)
		um_text_table_cell(table, "%s", format(text, listing->main, value));
	else
		um_text_table_cell(table, "%s (%" PRId64 ")", format(text, listing->main, value),
				   number_of(listing->group, at));
}

static void sum_cell(struct um_text_table *table, struct listing *listing,
		     const struct um_ranks_item *item, size_t quantity)
{
	const struct um_extent *extent = &item->extents[quantity];
	char text[32];

	if (extent->known && extent->known < item->ranks && extent->sum != UM_NULL) {
		listing->is_partial = true;
		um_text_table_cell(table, "%s+",
				   format(text, &listing->quantities[quantity], extent->sum));
	} else {
		cell(table, &listing->quantities[quantity], extent->sum);
	}
}

static void item_row(struct um_text_table *table, struct listing *listing,
		     const struct columns *columns, const struct um_ranks_item *item)
{
	const struct um_extent *main = &item->extents[listing->main - listing->quantities];

	if (listing->group->count > 1)
		um_text_table_cell(table, "%zu", item->ranks);
	for (size_t i = 0; i < columns->quantity_count; i++)
		sum_cell(table, listing, item, columns->quantities[i]);
	if (listing->group->count < 2)
		return;
	place_cell(table, listing, main->least, main, main->least_at);
	place_cell(table, listing, main->most, main, main->most_at);
}

static void kernel_label(struct um_text_table *table, const struct um_ranks_item *item)
{
	struct um_kernel_name name = um_kernel_name(item->name);

	if (name.length)
		um_cell_name(table, name.start, name.length);
	else
		um_cell_name(table, item->name, strlen(item->name));
}

static void allocation_label(struct um_text_table *table, const struct um_ranks_item *item)
{
	char label[200];

	if (item->name && item->site && item->has_line) {
		snprintf(label, sizeof(label), "%s %s", item->name, base_name(item->site));
		um_cell_name(table, label, strlen(label));
	} else if (item->name) {
		um_cell_name(table, item->name, strlen(item->name));
	} else if (item->site) {
		um_cell_site(table, "", item->site);
	} else {
		um_text_table_cell(table, "(not told)");
	}
	um_text_table_cell(table, "%s", item->kind);
}

static void find_zeros(struct listing *listing, struct columns *columns)
{
	for (size_t q = 0; listing->quantities[q].name; q++) {
		bool known = false, zero = true;

		for (size_t i = 0; i < listing->items->count; i++) {
			const struct um_extent *extent = &listing->items->items[i]->extents[q];

			known |= extent->known > 0;
			zero &= extent->known == listing->items->items[i]->ranks &&
				extent->most == 0;
		}
		listing->is_zero[q] = zero;
		if (listing->quantities[q].title && known && !zero)
			add_quantity(columns, listing->quantities, q);
	}
}

static void note_items(struct um_text_table *table, const struct listing *listing, size_t rows)
{
	um_note_rest(table, listing->items->count, rows);
	note_zeros(table, listing->quantities, listing->is_zero);
	if (listing->group->count > 1)
		um_text_table_note(table, "%s: how many have it; least, most: of one of those, %s",
				   listing->group->is_unranked ? "files" : "ranks",
				   listing->main->unit == UM_RANKS_NS
					   ? "GPU time"
					   : "bytes over the link, both ways");
	if (listing->is_partial)
		um_text_table_note(table, "+: and more, which some ranks do not know");
}

static int print_items(FILE *out, struct listing *listing, const char *title, size_t rows,
		       void (*label)(struct um_text_table *, const struct um_ranks_item *))
{
	struct columns columns = {0};
	bool is_zero[UM_RANKS_QUANTITIES_MAX] = {false};
	struct um_text_table *table;

	if (!listing->items->count) {
		fprintf(out, "\n%s\n  none\n", title);
		return 0;
	}
	listing->is_zero = is_zero;
	add_column(&columns, label == kernel_label ? "kernel" : "allocation", UM_ALIGN_LEFT);
	if (label == allocation_label)
		add_column(&columns, "kind", UM_ALIGN_LEFT);
	if (listing->group->count > 1)
		add_column(&columns, listing->group->is_unranked ? "files" : "ranks",
			   UM_ALIGN_RIGHT);
	find_zeros(listing, &columns);
	if (listing->group->count > 1) {
		add_column(&columns,
			   listing->group->is_unranked ? "least\n(file)" : "least\n(rank)",
			   UM_ALIGN_RIGHT);
		add_column(&columns, listing->group->is_unranked ? "most\n(file)" : "most\n(rank)",
			   UM_ALIGN_RIGHT);
	}
	int error = um_text_table_create(&table, columns.titles);
	if (error)
		return error;
	fprintf(out, "\n%s, most %s first\n", title, listing->main->words);
	for (size_t i = 0; i < listing->items->count && i < rows; i++) {
		label(table, listing->items->items[i]);
		item_row(table, listing, &columns, listing->items->items[i]);
	}
	note_items(table, listing, rows);
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

static int print_group(FILE *out, const struct um_ranks *ranks, const struct um_rank_group *group,
		       size_t rows)
{
	struct listing kernels = {
		.group = group,
		.items = &group->kernels,
		.quantities = um_ranks_kernel_quantities,
		.main = um_ranks_main_quantity(um_ranks_kernel_quantities,
					       group->is_measured || group->is_simulation),
	};
	struct listing allocations = {
		.group = group,
		.items = &group->allocations,
		.quantities = um_ranks_allocation_quantities,
		.main = um_ranks_main_quantity(um_ranks_allocation_quantities, false),
	};
	struct listing parts = allocations;
	int error = um_render_ranks_head(out, ranks, group);

	if (!error)
		error = print_ranks(out, group, rows);
	if (!error)
		print_outliers(out, group);
	if (!error)
		error = print_items(out, &kernels, "Kernels by name", rows, kernel_label);
	if (!error)
		error = print_items(out, &allocations, "Allocations by name and line", rows,
				    allocation_label);
	parts.items = &group->parts;
	if (!error && group->parts.count)
		error = print_items(
			out, &parts,
			"Parts of these that have names of their own (counted above too)", rows,
			allocation_label);
	return error;
}

int um_render_ranks_text(FILE *out, const struct um_ranks *ranks, size_t rows)
{
	int error = 0;

	um_render_ranks_opening(out, ranks);
	for (size_t i = 0; i < ranks->count && !error; i++) {
		if (i)
			fputc('\n', out);
		error = print_group(out, ranks, &ranks->groups[i], rows ? rows : SIZE_MAX);
	}
	if (!error && fflush(out) != 0)
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}
