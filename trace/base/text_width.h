/* Text from traces and files on its way to a terminal. */
#ifndef UM_TEXT_WIDTH_H
#define UM_TEXT_WIDTH_H

#include <stddef.h>
#include <stdint.h>

#define UM_NO_CHARACTER UINT32_MAX

/*
 * One character of UTF-8 at `text`, which is not at its end: returns its bytes and its code point;
 * a byte that is no UTF-8 is one byte and UM_NO_CHARACTER.
 */
size_t um_utf8_decode(const char *text, uint32_t *character);

/*
 * One character of UTF-8 at `text`, which is not at its end: returns its bytes and sets *columns to
 * what a terminal gives it (0, 1 or 2). *columns is -1 for a byte that is no UTF-8 and for a
 * character that controls the terminal or the order of text: it must not reach a terminal as it is.
 * Independent of the locale.
 */
size_t um_utf8_next(const char *text, int *columns);
/* Columns of the whole text, those of -1 counted as one. */
size_t um_text_columns(const char *text);

#endif
