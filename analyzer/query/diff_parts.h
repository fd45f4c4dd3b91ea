/* How um_diff_load() divides its work. */
#ifndef UM_DIFF_PARTS_H
#define UM_DIFF_PARTS_H

#include "diff.h"

#include "sim/check/check_calls.h"
#include "trace/db/stacks.h"

struct um_diff_named {
	char *name; /* NULL: what is of no launch */
	struct um_diff_values values;
};

/* One file, while it is read. */
struct um_diff_input {
	struct um_db *db;
	struct um_check_side program;
	struct um_stacks *stacks;
	struct um_diff_named *kernels; /* by name; the one without a name is first */
	size_t kernel_count;
	struct um_diff_values *allocations; /* one for each of program.allocations */
	char **allocation_names;	    /* so */
	bool is_merged; /* modelled rows of a trace: times of a row span those of others */
	int64_t lost, launches_not_recorded;
	bool ends_early;
};

/* Everything that a file has to say by itself. */
int um_diff_input_read(struct um_diff_input *, const char *path, const char *const *skip_frames);
/* What is known of the run, and the origins. */
int um_diff_describe(struct um_diff *, struct um_diff_input *, enum um_diff_side);
void um_diff_input_free(struct um_diff_input *);
/* Adds; what is not known makes the sum unknown. Stops at INT64_MAX. */
void um_diff_values_add(struct um_diff_values *, const struct um_diff_values *);
int um_diff_warn(struct um_diff *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
