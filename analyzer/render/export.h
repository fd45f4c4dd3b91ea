/*
 * A database in formats that other tools read. Rows are written as they are read: memory does not grow
 * with them.
 */
#ifndef UM_EXPORT_H
#define UM_EXPORT_H

#include "trace/db/trace_db.h"

#include <stdio.h>

/* Told beside the file: what is left out of it, and why. */
typedef void um_export_note_fn(void *context, const char *text);

struct um_export_choice {
	const char *table;		/* csv: a sheet or a table of the schema */
	const char *const *skip_frames; /* as for um_stacks_load() */
	um_export_note_fn *note;	/* NULL: nobody listens */
	void *note_context;
};

struct um_export_format {
	const char *name; /* NULL ends the list */
	const char *about;
	/* UM_EFORMAT, UM_EINVAL (no such table), UM_EIO, UM_ENOMEM. */
	int (*run)(FILE *, struct um_db *, const struct um_export_choice *);
};
extern const struct um_export_format um_export_formats[];

int um_export_perfetto(FILE *, struct um_db *, const struct um_export_choice *);
int um_export_csv(FILE *, struct um_db *, const struct um_export_choice *);
int um_export_rocpd(FILE *, struct um_db *, const struct um_export_choice *);
int um_export_json(FILE *, struct um_db *, const struct um_export_choice *);

/* "devices" and "summary" as rocprof-sys has them (export_unified_memory.c), as members of an object. */
int um_export_unified_memory(FILE *, struct um_db *);
/* A JSON string of any bytes, quoted. UM_ENOMEM. */
int um_export_string(FILE *, const char *text);

#endif
