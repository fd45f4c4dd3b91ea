/*
 * A small table for a terminal: titles, rows, aligned columns, lines of notes below. Text that
 * comes from a trace is made harmless (control characters and broken UTF-8 become '?').
 * A column is as wide as its content; titles of two lines and notes that are wrapped keep what
 * people usually have within UM_TEXT_COLUMNS.
 */
#ifndef UM_TEXT_TABLE_H
#define UM_TEXT_TABLE_H

#include <stdio.h>

struct um_text_table;

#define UM_TEXT_COLUMNS 120

enum um_text_align { UM_ALIGN_LEFT, UM_ALIGN_RIGHT };

struct um_text_column {
	/* NULL ends the list; '\n' begins its second line; where all are "" there is no line of titles. */
	const char *title;
#define UM_TEXT_COLUMNS 120

	enum um_text_align align;
};

/* `columns` must outlive the table. UM_ENOMEM. */
int um_text_table_create(struct um_text_table **out, const struct um_text_column *columns);
void um_text_table_destroy(struct um_text_table *); /* NULL is legal */

/*
 * The next cell, left to right, row by row; missing cells of the last row stay empty. Out of memory
 * is remembered and told by um_text_table_print().
 */
void um_text_table_cell(struct um_text_table *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A note below the table, in the order of the calls; wrapped as um_text_print_wrapped() does. */
void um_text_table_note(struct um_text_table *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Every line starts with `indent` blanks; none ends in blanks. UM_ENOMEM, UM_EIO. */
int um_text_table_print(const struct um_text_table *, FILE *, unsigned indent);

/* Writes text from outside, made harmless. */
void um_text_print(FILE *, const char *text);
/*
 * The same, with `indent` blanks before it and a newline behind it, and as many lines as keep within
 * UM_TEXT_COLUMNS: broken at blanks, all but the first `further` blanks further in.
 */
void um_text_print_wrapped(FILE *, const char *text, unsigned indent, unsigned further);

#endif
