/* Between cmd_sweep.c and what it prints (sweep_table.c, sweep_json.c, sweep_csv.c). */
#ifndef UM_SWEEP_COMMAND_H
#define UM_SWEEP_COMMAND_H

#include "replay.h"
#include "sim/sweep/sweep_db.h"

#include <stdio.h>
#include <time.h>

struct um_sweep_progress {
	bool is_shown;
	const char *name;
	size_t done, all; /* configurations */
	struct timespec start;
	double from; /* of all, what was there before the start */
};

struct um_ranks_ops;
struct um_sweep_command;
/* A form of the results on standard output. UM_EIO, UM_ENOMEM. */
typedef int (*um_sweep_print_fn)(FILE *, const struct um_sweep_command *);

/* Of the command line. */
struct um_sweep_arguments {
	const char *trace, *output;
	const char **policies, **vary;
	size_t policy_count, vary_count;
	unsigned jobs; /* 0: not given */
	bool host_time, resume, force, dry_run, quiet, mpi;
	um_sweep_print_fn print;
};

struct um_sweep_command {
	const struct um_sweep_arguments *arguments;
	const struct um_ranks_ops *ranks; /* NULL: this process alone */
	struct um_db *trace;
	struct um_replay_gaps gaps;
	struct um_sweep_plan plan;
	struct um_sweep_facts facts;
	struct um_sweep_db *db;
	char *db_path;
	struct um_sweep_outcome *outcomes; /* one for each configuration */
};

/* --- running (sweep_go.c) --- */

/* Opens or makes the database of results. */
int um_sweep_open_results(struct um_sweep_command *);
/* What is not done yet, and what failed; then reads the outcomes. With ranks: on each of them. */
int um_sweep_go(struct um_sweep_command *);
/* In what the ranks have to agree. */
void um_sweep_name_plan(char *out, size_t capacity, const struct um_sweep_command *);

/* --- showing --- */

int um_sweep_print_text(FILE *, const struct um_sweep_command *);
int um_sweep_print_json(FILE *, const struct um_sweep_command *);
int um_sweep_print_csv(FILE *, const struct um_sweep_command *);
/* What would be run, without outcomes. */
int um_sweep_print_plan(FILE *, const struct um_sweep_plan *);

#define UM_SWEEP_NONE SIZE_MAX
/*
 * The done configuration that ends first (of several the one that moves least, then the first), among those
 * that have the value of an axis; axis UM_SWEEP_NONE: among all. UM_SWEEP_NONE: none is done.
 */
size_t um_sweep_best(const struct um_sweep_command *, size_t axis, const char *value);

/* --- a line on a terminal that is written over (sweep_progress.c) --- */

void um_sweep_progress_start(struct um_sweep_progress *, bool is_shown, const char *name,
			     size_t done, size_t all);
void um_sweep_progress_show(struct um_sweep_progress *, double part);
void um_sweep_progress_clear(struct um_sweep_progress *);

#endif
