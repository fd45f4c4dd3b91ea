/*
 * What source stands behind an address of an ELF file: function, file and line, and which functions
 * were inlined there, from the file's debug information. A file without it, or one that is no ELF
 * file, has no lines: that is no error. A process of its own reads the files (source_reader.h).
 */
#ifndef UM_SOURCE_LINES_H
#define UM_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_source_lines;
struct um_source_place; /* source_variable.h */

struct um_source_frame {
	const char *function; /* with its scope, less its arguments; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;	      /* 0: not known */
	bool inlined;	      /* into the next frame */
};

/* NULL without memory. */
struct um_source_lines *um_source_lines_create(void);
void um_source_lines_destroy(struct um_source_lines *); /* NULL is legal */
/*
 * The frames of the call that returns to `return_address` of the file at `path`, innermost first.
 * HIP's own inlined wrappers are left out. Returns how many of at most `capacity`; 0 where nothing
 * is known. Files are opened once and kept, and so is what was found; texts live as long as `lines`
 * and may be any bytes.
 */
size_t um_source_lines_find(struct um_source_lines *lines, const char *path,
			    uint64_t return_address, struct um_source_frame *frames,
			    size_t capacity);
/*
 * The variable at a place in the frame of the call that returns to `return_address`, as source_variable.h
 * has them; `*depth` counts among the frames that um_source_lines_find() gives. malloc'ed; NULL: none.
 */
char *um_source_lines_variable(struct um_source_lines *lines, const char *path,
			       uint64_t return_address, const struct um_source_place *place,
			       size_t *depth);
/* The variable at an address of the file's data; likewise. */
char *um_source_lines_global(struct um_source_lines *lines, const char *path, uint64_t address);
/* The path itself, which lives as long as `lines`; NULL without memory. */
const char *um_source_lines_path(struct um_source_lines *lines, const char *path);
/*
 * The mangled name of the function that calls, from the file's symbols; NULL: none. Lives as above.
 */
const char *um_source_lines_symbol(struct um_source_lines *lines, const char *path,
				   uint64_t return_address);
/* GNU build id of the file, in hexadecimal; NULL: it has none, or is not there. Lives as above. */
const char *um_source_lines_build_id(struct um_source_lines *lines, const char *path);

/*
 * Calls `call` with each file whose debug information is not known since reading it failed: it is
 * damaged, or takes too long.
 */
int um_source_lines_each_failed(const struct um_source_lines *,
				int (*call)(const char *path, void *context), void *context);

#endif
