/*
 * One foreign format: how it is recognised, how it is read, and what it can tell. import_formats.c has the
 * table of all; a format is a file of its own and a line there.
 */
#ifndef UM_IMPORT_FORMAT_H
#define UM_IMPORT_FORMAT_H

#include "import_events.h"

#include <stdio.h>

struct sqlite3;

/* A file that is to be read: a text, from its beginning, or an open database. */
struct um_import_file {
	const char *path;
	FILE *text;
	struct sqlite3 *sqlite; /* NULL: no database */
	uint64_t bytes;
};

enum um_import_medium { UM_IMPORT_TEXT, UM_IMPORT_SQLITE };

/* Row of table origin, less what is the same for all formats. */
struct um_import_told {
	const char *record; /* NULL ends the list */
	const char *detail;
};

struct um_import_format {
	const char *name; /* run.backend */
	const char *what; /* for people: "nvprof --print-gpu-trace log" */
	enum um_import_medium medium;
	const char *clock;  /* run.clock */
	bool launches_told; /* else device work that faults is one launch until the host's turn */
	bool transfers_faulted; /* all pages of a transfer for a fault had faulted, not only the first */
	const struct um_import_told *told; /* the kinds of record that it has */
	/*
	 * Whether the file is one of these: 1, 0, or an error of reading it. Of a text `head` is its first
	 * 64 KiB at most, NUL-terminated.
	 */
	int (*recognise)(const struct um_import_file *, const char *head);
	/*
	 * Reads all of it. UM_EFORMAT: damaged; the message says where (line, table) and what was
	 * expected. Else what an event returned.
	 */
	int (*read)(const struct um_import_file *, const struct um_import_events *);
};

extern const struct um_import_format um_import_nvprof, um_import_svm_profile, um_import_totals,
	um_import_rocpd, um_import_nsys;
extern const struct um_import_format *const um_import_formats[]; /* ends with NULL */

/*
 * Opens the file and finds its format. UM_ENOENT, UM_EIO; UM_EFORMAT where none fits, with what was
 * recognised of it and what there is.
 */
int um_import_open(struct um_import_file *, const struct um_import_format **, const char *path);
void um_import_close(struct um_import_file *);

#endif
