/* Whether code of the program holds a text: whether something was compiled into it. */
#ifndef UM_SPOOL_PROGRAM_TEXT_H
#define UM_SPOOL_PROGRAM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_PROGRAM_TEXTS_MAX 4u

/*
 * Searches the constants of every object that is loaded, but for those that `is_hidden` (NULL: none)
 * says of their base, and those that lie beside `own`, the path of a library of umtrace's (NULL: not
 * known), which name much the same. The texts, UM_PROGRAM_TEXTS_MAX at most, have 8 bytes at least each,
 * and are found with the NUL behind them. Returns which were found, bit i: texts[i]; where the first is,
 * nothing else is searched for. Up to 256 MiB are searched; in more the first is taken to be. Allocates
 * nothing.
 */
unsigned um_program_texts(const char *const *texts, size_t count, const char *own,
			  bool (*is_hidden)(uintptr_t base));

#endif
