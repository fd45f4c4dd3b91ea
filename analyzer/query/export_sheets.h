/*
 * What umanalyze export can write row by row: the tables of the schema as they are, and a few that have
 * beside ids what they stand for. Each is one SELECT whose columns' names are those of the sheet. The
 * schema's views are not among them: a view in a file from anyone may be any query.
 */
#ifndef UM_EXPORT_SHEETS_H
#define UM_EXPORT_SHEETS_H

#include "trace/db/stacks.h"

#include <stddef.h>

struct um_export_sheet {
	const char *name; /* NULL ends the list */
	const char *about;
	const char *sql;
};
/* Those with names beside the ids: kernels, allocations, transfers, faults, ranges, traffic. */
extern const struct um_export_sheet um_export_sheets[];

/*
 * The SELECT of a sheet or of a table of the schema, without its blobs; malloc'ed. NULL and UM_EINVAL's
 * message (with what may have been meant): there is none of the name; UM_ENOMEM's.
 */
char *um_export_sheet_sql(const char *name);
/* Makes what the sheets' queries need, once for a connection. UM_ENOMEM, UM_EFORMAT. */
int um_export_prepare(struct um_db *, const char *const *skip_frames);

#endif
