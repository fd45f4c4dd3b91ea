/* Between cmd_replay.c and what it prints and writes (replay_*.c). */
#ifndef UM_REPLAY_H
#define UM_REPLAY_H

#include "sim/ideal/ideal.h"
#include "sim/ideal/ideal_spent.h"
#include "sim/simulate.h"
#include "trace/base/text_table.h"

#include <stdio.h>

/* One simulation: a policy at a page size. */
struct um_replay {
	const char *policy_name;
	char *label; /* "none, 64 KiB": the policy, page size, and the memory if it tells apart */
	bool shows_memory; /* of several that the command line asks for */
	struct um_policy *policy;
	struct um_machine_spec *machine;
	const struct um_driver_ops *driver;
	uint64_t page_bytes, memory_bytes; /* as they were in effect */
	const char *trace_path;
	char *output_path;
	char *partial_path; /* what the output is called until it is whole */
	struct um_totals totals;
	struct um_ideal_spent spent;
	bool has_ideal; /* not where the policy allocates as something else */
	struct um_ideal ideal;
	struct um_replay_ignored { /* what was asked for and is not simulated */
		char *what;
		const char *why; /* a literal */
	} * ignored;
	size_t ignored_count;
	char accesses[64];  /* origin of page_access: "emulated" */
	const char *xnack;  /* "on", "off"; NULL: the machine has no such switch */
	char *xnack_source; /* who decided; NULL as xnack is */
	bool is_done;
};

struct um_replay_memory {
	struct um_memory_limit limit;
	const char *text; /* as it was given */
};

/* Of the command line. */
struct um_replay_arguments {
	const char *trace, *output, *machine, *driver;
	enum um_xnack xnack; /* UNKNOWN: not given */
	const char **policies;
	size_t policy_count;
	uint64_t *page_bytes;
	size_t page_count;
	struct um_replay_memory *memory;
	size_t memory_count;
	const char *evict; /* NULL: not given */
	bool force, json, quiet, host_time;
};

/* What the trace lacks of what its kernels did, so that no simulation of it can show it. */
struct um_replay_gaps {
	uint64_t outside_accesses;	 /* to memory that is no allocation */
	bool is_pageable;		 /* malloc'ed memory was recorded */
	uint64_t launches, not_recorded; /* of them: not selected (umtrace --kernels, ...) */
};

struct um_replay_run {
	const struct um_replay_arguments *arguments;
	const char *command;
	struct um_db *trace;
	struct um_replay_gaps gaps;
	struct um_replay *replays, *replay; /* all, and the one that is prepared or runs */
	size_t count;			    /* begun */
	int percent;			    /* last shown */
	bool has_told;			    /* what failed, on standard error */
};

/* --- what to simulate (replay_plan.c) --- */

/*
 * The error, with the policy named in its message where there are several and the message does not
 * begin with its file.
 */
int um_replay_name_failure(const struct um_replay_run *, int error);
/* How many simulations the command line asks for. */
size_t um_replay_count(const struct um_replay_arguments *);
/*
 * Everything that can be wrong before the first simulation starts. run->count: how many were begun,
 * each to be released.
 */
int um_replay_prepare_all(struct um_replay_run *);
void um_replay_release(struct um_replay *);
/* What the trace lacks. */
int um_replay_find_gaps(struct um_replay_gaps *, struct um_db *trace);

/* --- simulating (replay_run.c) --- */

/*
 * One that fails is told on standard error, and the others go on; those that are done come first
 * afterwards, in their order. Returns what the first failure was.
 */
int um_replay_run_all(struct um_replay_run *);
/* What its accesses are. UM_ENOTSUP: it has none, since it was measured. */
int um_replay_find_origin(struct um_replay_run *);
/* How many are done. */
size_t um_replay_done(const struct um_replay_run *);

/* --- the database (replay_output.c) --- */

/* Whether its name is free. UM_EEXIST; UM_EINVAL: it is the trace. */
int um_replay_output_check(const struct um_replay *, struct um_db *trace, bool force);
/* Makes it under its partial name. As um_replay_output_check(). */
int um_replay_output_create(struct um_db **out, const struct um_replay *, struct um_db *trace,
			    bool force);
/* What the simulation did not write itself: copied rows, and the run as it ended. */
int um_replay_output_finish(struct um_db *, const struct um_replay *, struct um_db *trace,
			    const char *command);
/* Closes it and gives it its name: only now does the output of an earlier replay go. */
int um_replay_output_close(struct um_db *, const struct um_replay *, bool force);
/* Closes and removes an output that came to nothing. */
void um_replay_output_abandon(struct um_db *, const struct um_replay *);

/* --- XNACK (replay_xnack.c) --- */

/* Settles the policy for the machine and the trace, and notes what came of it. */
int um_replay_settle(struct um_replay *, struct um_db *trace, enum um_xnack option);
/* What every table opens with, if a device has such a switch. */
void um_replay_print_xnack(FILE *, const struct um_replay *replays, size_t count);

/* --- memory (replay_memory.c) --- */

/* The policy's and the option's, settled for the machine and the trace. */
int um_replay_settle_memory(struct um_replay *, struct um_db *trace,
			    const struct um_memory_limit *option);
/* "--memory", "the policy", "as traced"; NULL: all that the machine has. */
const char *um_replay_memory_source(const struct um_replay *);

/* --- the distance to the least that there is (replay_ideal.c) --- */

/* Of run->replay, once it was simulated; what an earlier one has found is taken from there. */
int um_replay_find_ideal(struct um_replay_run *);
/* Table `bound`, and what it is. */
int um_replay_write_ideal(struct um_db *, const struct um_replay *);
int um_replay_print_ideal(FILE *, const struct um_replay *replays, size_t count);
struct json_t *um_replay_ideal_json(const struct um_replay *);

/* --- standard output (replay_table.c, replay_json.c) --- */

int um_replay_print_table(FILE *, const struct um_replay_run *);
int um_replay_print_json(FILE *, const struct um_replay_run *);
/* What the figures are and are not: the lines below the last table (replay_notes.c). */
void um_replay_add_notes(struct um_text_table *, const struct um_replay_run *);

/* --- what simulations have in common (replay_names.c) --- */

/* Columns that name a simulation, the first with this title; returns how many, 3 at most. */
size_t um_replay_name_columns(struct um_text_column *, const char *title,
			      const struct um_replay *any);
void um_replay_name_cells(struct um_text_table *, const struct um_replay *);

/*
 * A text about each simulation: one line if it is the same for all, else one line for each that
 * there is, behind the names of those that it is about. `text` returns false where there is none.
 */
typedef bool (*um_replay_text_fn)(char *out, size_t capacity, const struct um_replay *);
typedef void (*um_replay_line_fn)(void *context, const char *line);
void um_replay_each_text(const struct um_replay *replays, size_t count, um_replay_text_fn text,
			 um_replay_line_fn line, void *context);

/*
 * "eviction lru: hypothetical, a driver sees no hits"; false, and an empty text, where the order is
 * the driver's own.
 */
bool um_replay_order_text(char *out, size_t capacity, const struct um_replay *);

/* Bytes each way by what moved them: what all outputs show, in this order. */
struct um_replay_cause {
	const char *name;
	uint64_t (*to_device)(const struct um_totals *);
	uint64_t (*to_host)(const struct um_totals *);
};
extern const struct um_replay_cause um_replay_causes[]; /* ends with a NULL name */

#endif
