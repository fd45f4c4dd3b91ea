/* What umtrace says at the end. */
#ifndef UM_CLOSING_H
#define UM_CLOSING_H

#include "ingest.h"
#include "model.h"

#include <stdio.h>

struct um_closing {
	const char *path, *program;
	uint64_t duration_ns;
	const struct um_ingest_totals *totals;
	const struct um_run_row *run;
	const struct um_model *model;
	bool attached; /* the program loaded our runtime and used HIP */
	bool is_static;
	struct um_db *db; /* for the losses */
};

void um_closing_print(FILE *out, const struct um_closing *);

#endif
