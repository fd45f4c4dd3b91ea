/* A prediction set beside measurements of the same program: by range, launch, allocation, in total. */
#ifndef UM_CHECK_COMPARE_H
#define UM_CHECK_COMPARE_H

#include "check_calls.h"
#include "check_figure.h"

struct um_check_row {
	char *name; /* a range with its number if there are several, a kernel, an allocation */
	const char *range; /* that it lies in, of the prediction's; NULL: none */
	size_t first, end; /* a range's, or the total's: places in the prediction's ops */
	struct um_check_figure figures[UM_CHECK_QUANTITIES];
};

struct um_check_rows {
	struct um_check_row *rows;
	size_t count, room;
};

struct um_check_comparison {
	struct um_check_row total;
	bool is_total_of_ranges; /* of those that both have, since one side has others */
	struct um_check_rows ranges, kernels, allocations;
	/*
	 * What was called otherwise than in the accesses, of each measured side: in what the total is of.
	 * `here` is the prediction. Figures of what it touches are `is_other`.
	 */
	struct um_check_difference *differences;
	size_t difference_count;
	bool is_other; /* some side has one */
	char **notes;  /* what was not found on the other side, or is called otherwise there */
	size_t note_count, note_room;
	size_t notes_left_out;
};

/* More are counted only. */
#define UM_CHECK_NOTES_MAX 20

/*
 * Ranges are the same where their names are, the n-th of a name with the n-th. Within the outermost
 * ranges that both sides have (where there are none: in the whole run) the n-th launch is the n-th,
 * and of the allocations of one kind and size the n-th is the n-th. `measured` are repetitions of one
 * run. Sets fault_kernel_time on all sides. The prediction must outlive the comparison.
 * UM_EINVAL: they have nothing in common; UM_ENOMEM, UM_ELIMIT.
 */
int um_check_compare(struct um_check_comparison *out, struct um_check_side *predicted,
		     struct um_check_side *measured, size_t measured_count);
void um_check_comparison_free(struct um_check_comparison *);

#endif
