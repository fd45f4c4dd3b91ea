/*
 * What each repetition of a measured folder came to (tests/gpu/measure): its figures.tsv, of which only
 * one repetition's traces are kept, and its times.tsv.
 */
#ifndef UM_CHECK_REPETITIONS_H
#define UM_CHECK_REPETITIONS_H

#include <stddef.h>

#define UM_CHECK_COLUMNS 12 /* behind the name, at most */

struct um_check_repetition {
	char *mode, *name; /* "gpu", "read_64M" */
	double values[UM_CHECK_COLUMNS];
	size_t count;
};

/* Lines of one file, by mode and name. */
struct um_check_repetitions {
	struct um_check_repetition *rows;
	size_t count, room;
};

/*
 * Lines of mode, repetition, name and numbers, between tabs. A file that is not there has none; a
 * number that is missing at the end of its line is left out. UM_EFORMAT with the line; UM_EIO,
 * UM_ENOMEM.
 */
int um_check_repetitions_read(struct um_check_repetitions *, const char *path);
void um_check_repetitions_free(struct um_check_repetitions *);

/* The lines of a mode and name; NULL and 0 where there are none. */
const struct um_check_repetition *um_check_repetitions_of(const struct um_check_repetitions *,
							  const char *mode, const char *name,
							  size_t *count);

#endif
