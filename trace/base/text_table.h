/*
 * A small table for a terminal: titles, rows, aligned columns, lines of notes below. Text that
 * comes from a trace is made harmless (control characters and broken UTF-8 become '?').
 */
#ifndef UM_TEXT_TABLE_H
#define UM_TEXT_TABLE_H

#include <stdio.h>

struct um_text_table;

enum um_text_align { UM_ALIGN_LEFT, UM_ALIGN_RIGHT };

struct um_text_column {
	const char *title; /* NULL ends the list */
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
/* A line below the table, in the order of the calls. */
void um_text_table_note(struct um_text_table *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Every line starts with `indent` blanks; none ends in blanks. UM_ENOMEM, UM_EIO. */
int um_text_table_print(const struct um_text_table *, FILE *, unsigned indent);

/* Writes text from outside, made harmless. */
void um_text_print(FILE *, const char *text);

#endif
