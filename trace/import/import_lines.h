/* Lines of a text, one after another, with their numbers. */
#ifndef UM_IMPORT_LINES_H
#define UM_IMPORT_LINES_H

#include "import_format.h"

#include <sys/types.h>

/* No tool writes longer ones; a kernel's name may be long. */
#define UM_IMPORT_LINE_BYTES (UINT64_C(1) << 20)

struct um_import_lines {
	const struct um_import_file *file;
	const struct um_import_events *events;
	char *line; /* NUL-terminated, without its newline */
	size_t capacity, length;
	unsigned number; /* from 1 */
	uint64_t done;	 /* bytes read */
	bool cut;	 /* the file ended before the line's newline */
	bool failed;
};

/* From the beginning of the file. */
void um_import_lines_init(struct um_import_lines *, const struct um_import_file *,
			  const struct um_import_events *);
void um_import_lines_fini(struct um_import_lines *);
/* 1 a line, 0 the end, or an error. A line that is too long, or has a NUL in it, is UM_EFORMAT. */
int um_import_lines_next(struct um_import_lines *);
/* UM_EFORMAT, "FILE:LINE: FORMAT, damaged: ...". */
int um_import_lines_wrong(const struct um_import_lines *, const struct um_import_format *,
			  const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
