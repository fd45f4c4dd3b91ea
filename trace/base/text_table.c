#include "text_table.h"

#include "error.h"
#include "text_width.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_FURTHER 2 /* blanks before what does not fit on a note's first line */

struct text_list {
	char **items;
	size_t count, capacity;
};

struct um_text_table {
	const struct um_text_column *columns;
	size_t column_count;
	const char **titles; /* the last line of each */
	char **above;	     /* the line over that, or "" */
	struct text_list cells, notes;
	bool out_of_memory;
};

static void list_free(struct text_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

static bool list_add(struct text_list *list, const char *format, va_list args)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 64;
		char **items = reallocarray(list->items, capacity, sizeof(*items));
		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	if (vasprintf(&list->items[list->count], format, args) < 0)
		return false;
	list->count++;
	return true;
}

static bool split_titles(struct um_text_table *table)
{
	table->titles = calloc(table->column_count + 1, sizeof(*table->titles));
	table->above = calloc(table->column_count + 1, sizeof(*table->above));
	if (!table->titles || !table->above)
		return false;
	for (size_t i = 0; i < table->column_count; i++) {
		const char *title = table->columns[i].title, *newline = strchr(title, '\n');

		table->titles[i] = newline ? newline + 1 : title;
		table->above[i] = strndup(title, newline ? (size_t)(newline - title) : 0);
		if (!table->above[i])
			return false;
	}
	return true;
}

int um_text_table_create(struct um_text_table **out, const struct um_text_column *columns)
{
	struct um_text_table *table = calloc(1, sizeof(*table));

	if (!table)
		return um_fail(UM_ENOMEM, "out of memory");
	table->columns = columns;
	while (columns[table->column_count].title)
		table->column_count++;
	if (!split_titles(table)) {
		um_text_table_destroy(table);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	*out = table;
	return 0;
}

void um_text_table_destroy(struct um_text_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; table->above && i < table->column_count; i++)
		free(table->above[i]);
	free(table->above);
	free(table->titles);
	list_free(&table->cells);
	list_free(&table->notes);
	free(table);
}

void um_text_table_cell(struct um_text_table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!list_add(&table->cells, format, args))
		table->out_of_memory = true;
	va_end(args);
}

void um_text_table_note(struct um_text_table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!list_add(&table->notes, format, args))
		table->out_of_memory = true;
	va_end(args);
}

void um_text_print(FILE *file, const char *text)
{
	int columns;

	while (*text) {
		size_t bytes = um_utf8_next(text, &columns);
		if (columns < 0)
			fputc('?', file);
		else
			fwrite(text, 1, bytes, file);
		text += bytes;
	}
}

static void print_blanks(FILE *file, size_t count)
{
	fprintf(file, "%*s", (int)count, "");
}

/* The bytes of the text that fit into `columns`, up to a blank or its end; a longer word fits. */
static size_t bytes_that_fit(const char *text, size_t columns)
{
	size_t used = 0, fit = 0, at = 0;

	while (text[at]) {
		int width;
		size_t bytes = um_utf8_next(text + at, &width);

		if (text[at] == ' ' && at)
			fit = at;
		used += width < 0 ? 1 : (size_t)width;
		if (used > columns && fit)
			return fit;
		at += bytes;
	}
	return used > columns && fit ? fit : at;
}

void um_text_print_wrapped(FILE *file, const char *text, unsigned indent, unsigned further)
{
	unsigned before = indent;

	do {
		size_t fit = bytes_that_fit(text, UM_TEXT_COLUMNS - before);
		char *line = strndup(text, fit);

		print_blanks(file, *text ? before : 0);
		um_text_print(file, line ? line : "?");
		fputc('\n', file);
		free(line);
		text += fit;
		text += *text == ' ';
		before = indent + further;
	} while (*text);
}

static size_t column_width(const struct um_text_table *table, size_t column)
{
	size_t above = um_text_columns(table->above[column]);
	size_t width = um_text_columns(table->titles[column]);

	width = above > width ? above : width;

	for (size_t i = column; i < table->cells.count; i += table->column_count) {
		size_t columns = um_text_columns(table->cells.items[i]);
		width = columns > width ? columns : width;
	}
	return width;
}

/* `pending` blanks are written only once something follows, so that no line ends in blanks. */
static void print_row(const struct um_text_table *table, FILE *file, unsigned indent,
		      const char *const *row, size_t cells, const size_t *widths)
{
	size_t pending = indent;

	for (size_t column = 0; column < cells; column++) {
		size_t fill = widths[column] - um_text_columns(row[column]);
		bool right = table->columns[column].align == UM_ALIGN_RIGHT;

		if (row[column][0] != '\0') {
			print_blanks(file, pending + (right ? fill : 0));
			um_text_print(file, row[column]);
			pending = right ? 0 : fill;
		} else {
			pending += fill;
		}
		pending += 2;
	}
	fputc('\n', file);
}

static bool any_text(const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (*texts[i])
			return true;
	return false;
}

static void print_titles(const struct um_text_table *table, FILE *file, unsigned indent,
			 const size_t *widths)
{
	bool has_above = false;

	for (size_t i = 0; i < table->column_count; i++)
		has_above = has_above || *table->above[i];
	if (has_above)
		print_row(table, file, indent, (const char *const *)table->above,
			  table->column_count, widths);
	if (any_text(table->titles, table->column_count))
		print_row(table, file, indent, table->titles, table->column_count, widths);
}

static void print_rows(const struct um_text_table *table, FILE *file, unsigned indent,
		       const size_t *widths)
{
	print_titles(table, file, indent, widths);
	for (size_t i = 0; i < table->cells.count; i += table->column_count) {
		size_t left = table->cells.count - i;
		print_row(table, file, indent, (const char *const *)&table->cells.items[i],
			  left < table->column_count ? left : table->column_count, widths);
	}
	for (size_t i = 0; i < table->notes.count; i++)
		um_text_print_wrapped(file, table->notes.items[i], indent, NOTE_FURTHER);
}

int um_text_table_print(const struct um_text_table *table, FILE *file, unsigned indent)
{
	size_t *widths = calloc(table->column_count, sizeof(*widths));
	int error = 0;

	if (!widths || table->out_of_memory) {
		error = um_fail(UM_ENOMEM, "out of memory");
	} else {
		for (size_t i = 0; i < table->column_count; i++)
			widths[i] = column_width(table, i);
		print_rows(table, file, indent, widths);
		if (ferror(file))
			error = um_fail_errno(UM_EIO, "writing");
	}
	free(widths);
	return error;
}
