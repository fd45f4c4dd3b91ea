#include "text_table.h"

#include "error.h"
#include "text_width.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct text_list {
	char **items;
	size_t count, capacity;
};

struct um_text_table {
	const struct um_text_column *columns;
	size_t column_count;
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

int um_text_table_create(struct um_text_table **out, const struct um_text_column *columns)
{
	struct um_text_table *table = calloc(1, sizeof(*table));

	if (!table)
		return um_fail(UM_ENOMEM, "out of memory");
	table->columns = columns;
	while (columns[table->column_count].title)
		table->column_count++;
	*out = table;
	return 0;
}

void um_text_table_destroy(struct um_text_table *table)
{
	if (!table)
		return;
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

static size_t column_width(const struct um_text_table *table, size_t column)
{
	size_t width = um_text_columns(table->columns[column].title);

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

static void print_rows(const struct um_text_table *table, FILE *file, unsigned indent,
		       const size_t *widths, const char **titles)
{
	for (size_t i = 0; i < table->column_count; i++)
		titles[i] = table->columns[i].title;
	print_row(table, file, indent, titles, table->column_count, widths);
	for (size_t i = 0; i < table->cells.count; i += table->column_count) {
		size_t left = table->cells.count - i;
		print_row(table, file, indent, (const char *const *)&table->cells.items[i],
			  left < table->column_count ? left : table->column_count, widths);
	}
	for (size_t i = 0; i < table->notes.count; i++) {
		print_blanks(file, indent);
		um_text_print(file, table->notes.items[i]);
		fputc('\n', file);
	}
}

int um_text_table_print(const struct um_text_table *table, FILE *file, unsigned indent)
{
	size_t *widths = calloc(table->column_count, sizeof(*widths));
	const char **titles = calloc(table->column_count, sizeof(*titles));
	int error = 0;

	if (!widths || !titles || table->out_of_memory) {
		error = um_fail(UM_ENOMEM, "out of memory");
	} else {
		for (size_t i = 0; i < table->column_count; i++)
			widths[i] = column_width(table, i);
		print_rows(table, file, indent, widths, titles);
		if (ferror(file))
			error = um_fail_errno(UM_EIO, "writing");
	}
	free(titles);
	free(widths);
	return error;
}
