/* What umtrace says before the program and at the end. */
#ifndef UM_CLOSING_H
#define UM_CLOSING_H

#include "ingest.h"
#include "injection.h"
#include "apply_run.h"
#include "model.h"
#include "output.h"

#include <stdio.h>

struct um_closing {
	const char *path, *program;
	uint64_t duration_ns;
	const struct um_ingest_totals *totals;
	const struct um_run_row *run;
	const struct um_model *model;
	const struct um_apply_run *apply;
	const struct um_trace_options *options;
	const struct um_injection *injection;
	const struct um_output *output;
	bool attached; /* the program loaded our runtime and used HIP, or the driver our tap */
	bool is_static;
	struct um_db *db; /* for the losses */
};

/* Nothing, but where the words start a launcher, or the launcher's variables are contradictory. */
void um_opening_print(FILE *out, char *const *program, const struct um_job_rank *);
/*
 * Of several ranks the first says all; the others where their trace is, and what it lacks.
 */
void um_closing_print(FILE *out, const struct um_closing *);

#endif
