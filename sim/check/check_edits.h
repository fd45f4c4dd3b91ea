/* How far two lists are from each other. A part of check_calls.h. */
#ifndef UM_CHECK_EDITS_H
#define UM_CHECK_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond so many differences, or steps, they are not counted to the end. */
#define UM_CHECK_EDITS_MAX	 4096
#define UM_CHECK_EDITS_STEPS_MAX (UINT64_C(1) << 28)

/*
 * How many items of each list are not in the longest list that is part of both, in order. *is_least: they
 * are so many at least. UM_ENOMEM.
 */
int um_check_edits(size_t *only_here, size_t *only_there, bool *is_least, const uint64_t *here,
		   size_t here_count, const uint64_t *there, size_t there_count);

#endif
