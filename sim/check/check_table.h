/* The error table of a measured folder: a row a configuration or run. */
#ifndef UM_CHECK_TABLE_H
#define UM_CHECK_TABLE_H

#include "check_compare.h"
#include "check_repetitions.h"

struct um_check_entry {
	char *name;
	bool is_test;  /* of the test set: nothing was fitted to it */
	bool is_run;   /* a whole run; else a range of one */
	bool has_lost; /* records of it, in the trace that was kept (check_lost.h) */
	struct um_check_figure figures[UM_CHECK_QUANTITIES];
};

struct um_check_table {
	struct um_check_entry *entries;
	size_t count, room;
};

/* Names, ascending. */
struct um_check_names {
	char **names;
	size_t count, room;
};
/* One a line; empty lines and those from a '#' are left out. UM_ENOENT, UM_EIO, UM_ENOMEM. */
int um_check_names_read(struct um_check_names *, const char *path);
bool um_check_names_have(const struct um_check_names *, const char *name);
void um_check_names_free(struct um_check_names *);

/* What a folder has beside its traces. */
struct um_check_folder {
	struct um_check_repetitions figures, times;
	struct um_check_names test_set;
};

/*
 * Adds what one trace came to: its ranges, by their names up to a '#', or if it has none the run, by
 * `run_name`. Where the folder has figures of its repetitions, they are what is measured: of
 * `--faults=gpu`, CPU faults of `--faults=all`. It has none of fault_kernel_time and wait_time: their
 * repetitions are those of kernel_time, and of kernel_time and transfer_time together, times what
 * the trace's share of it is. `untraced` is the prediction without recording, for step_time; NULL:
 * none. UM_ENOMEM, UM_ELIMIT.
 */
int um_check_table_add(struct um_check_table *, const struct um_check_comparison *,
		       const char *run_name, const struct um_check_folder *,
		       const struct um_check_side *untraced);
/* By name, runs behind ranges. */
const struct um_check_entry *um_check_table_find(const struct um_check_table *, const char *name);
void um_check_table_free(struct um_check_table *);

#endif
