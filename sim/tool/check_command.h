/* Between cmd_check.c and what it simulates and prints (check_*.c). */
#ifndef UM_CHECK_COMMAND_H
#define UM_CHECK_COMMAND_H

#include "sim/check/check_choices.h"
#include "sim/check/check_limits.h"
#include "sim/check/check_summary.h"

#include <stdio.h>

struct um_replay;

/* Of the command line. */
struct um_check_arguments {
	const char *accesses;
	const char **against;
	size_t against_count;
	const char *policy, *machine;
	struct um_check_limits limits;
	const char *all, *test_set, *choices; /* with --all */
	enum um_check_format {
		UM_CHECK_TEXT,
		UM_CHECK_JSON,
		UM_CHECK_MARKDOWN,
		UM_CHECK_TSV
	} format;
	bool quiet, allow_other_calls;
};

/* --- cells that all tables share (check_cells.c) --- */

/*
 * "+2.1 %", "=" none, "from 0", "-" not compared; "~" before it: within the card's own spread; " !" behind
 * it: of another program. Returns `buffer` (32 bytes) or a literal.
 */
const char *um_check_error_text(char *buffer, size_t capacity, const struct um_check_figure *);
/* "an error of +2.1 %", of one that is beyond a limit; in words where nothing was measured. */
const char *um_check_beyond_text(char *buffer, size_t capacity, const struct um_check_figure *);
/* "2.1 %" of an error without its sign. */
const char *um_check_size_text(char *buffer, size_t capacity, double error);
struct json_t *um_check_number_json(bool is_there, double value); /* null where it is not finite */
struct json_t *um_check_figure_json(const struct um_check_figure *);
struct json_t *um_check_name_json(const char *name); /* "?" where it is not UTF-8 */

/* --- predicting (check_predict.c) --- */

#define UM_CHECK_WARNINGS_MAX 4

/* What made a prediction, as strings of its own. */
struct um_check_model {
	char *machine, *driver, *policy;
	const char *validated; /* a literal */
	/* In what machine and driver are not those that were measured, a sentence each. */
	char *warnings[UM_CHECK_WARNINGS_MAX];
	size_t warning_count;
};
void um_check_model_free(struct um_check_model *);

/*
 * Replays the trace on the machine: that of the option, of the policy, or else the one whose device is
 * called as the card that was measured. `traced`: with what recording costs there, as the times of a measured trace
 * have it. Fills `side`, also to be freed after an error. UM_EINVAL: no such machine, or none has such
 * a device, or the trace has no accesses; and what um_simulate() returns.
 */
int um_check_predict(struct um_check_side *side, struct um_check_model *,
		     const struct um_check_arguments *, const char *trace_path,
		     const struct um_check_card *measured, bool traced);

/* The machine file whose device has this name; malloc'ed. UM_EINVAL: none, or several. */
int um_check_machine_of(char **out, const char *device_name);

/*
 * Compares what was simulated with the card that was measured, and with what the accesses were traced for
 * (check_warnings.c). UM_ENOMEM.
 */
int um_check_warn(struct um_check_model *, const struct um_replay *,
		  const struct um_check_card *accesses, const struct um_check_card *measured);

/* --- what a comparison comes to (check_verdict.c); malloc'ed lines. UM_ENOMEM. --- */

/* Of a measured side, which is not of the same program: how many calls differ, and the first. */
int um_check_difference_line(char **out, const struct um_check_comparison *,
			     const struct um_check_side *predicted,
			     const struct um_check_side *measured, size_t which);
/* How far it can be trusted: "in short: bytes as measured; records 8.4 % too few; ...". */
int um_check_verdict(char **out, const struct um_check_comparison *);

/* --- one program (check_text.c, check_json.c) --- */

struct um_check_result {
	const struct um_check_arguments *arguments;
	const struct um_check_model *model;
	const struct um_check_side *predicted, *measured;
	const struct um_check_comparison *comparison;
};
/* --max-error: names what exceeds on standard error. UM_ECHECK (check_hold.c). */
int um_check_hold(const struct um_check_arguments *, const struct um_check_comparison *);
int um_check_print_text(FILE *, const struct um_check_result *);
int um_check_print_json(FILE *, const struct um_check_result *);

/* --- a measured folder (check_all.c, check_all_*.c) --- */

struct um_check_all {
	const struct um_check_arguments *arguments;
	struct um_check_folder folder;
	struct um_check_table table;
	struct um_check_choices choices;
	struct um_check_model model; /* of the last prediction */
	struct um_check_card card;   /* of the last measured trace */
	char **remarks; /* what was left out, is of another program or machine; a line each, none twice */
	size_t remark_count, remark_room;
};

/* Compares everything that was measured under arguments->all, and prints it. */
int um_check_all(const struct um_check_arguments *);

/* --max-error of the test set, or without one of the table (check_hold.c). UM_ECHECK, UM_ENOMEM. */
int um_check_hold_all(const struct um_check_all *);
int um_check_all_print_text(FILE *, const struct um_check_all *);
int um_check_all_print_json(FILE *, const struct um_check_all *);
int um_check_all_print_markdown(FILE *, const struct um_check_all *);
/* A figure a line, as traces/.../errors.tsv keeps them. */
int um_check_all_print_tsv(FILE *, const struct um_check_all *);

#endif
