/* The figures of a configuration: what the database, JSON and CSV have, in this order. */
#ifndef UM_SWEEP_COLUMNS_H
#define UM_SWEEP_COLUMNS_H

#include "sim/probe/probe.h"

#include <stddef.h>

struct um_sweep_column {
	const char *name;
	size_t offsets
		[2]; /* of the uint64_t in um_totals that it is the sum of; UM_SWEEP_NO_OFFSET */
};
#define UM_SWEEP_NO_OFFSET SIZE_MAX

extern const struct um_sweep_column um_sweep_columns[]; /* ends with a NULL name */
extern const size_t um_sweep_column_count;

uint64_t um_sweep_column_value(const struct um_sweep_column *, const struct um_totals *);

#endif
