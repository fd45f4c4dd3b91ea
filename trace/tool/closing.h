/* What umtrace says at the end. */
#ifndef UM_CLOSING_H
#define UM_CLOSING_H

#include "ingest.h"
#include "injection.h"
#include "model.h"

#include <stdio.h>

struct um_closing {
	const char *path, *program;
	uint64_t duration_ns;
	const struct um_ingest_totals *totals;
	const struct um_run_row *run;
	const struct um_model *model;
	const struct um_trace_options *options;
	const struct um_injection *injection;
	bool attached; /* the program loaded our runtime and used HIP, or the driver our tap */
	bool is_static;
	struct um_db *db; /* for the losses */
};

void um_closing_print(FILE *out, const struct um_closing *);

#endif
