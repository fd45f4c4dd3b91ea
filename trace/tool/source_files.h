/*
 * What source_lines.h tells, read in this very process: files come from anyone, and libdw may not survive
 * them. Functions are as there.
 */
#ifndef UM_SOURCE_FILES_H
#define UM_SOURCE_FILES_H

#include "source_lines.h"
#include "source_variable.h"

struct um_source_files;

/* NULL without memory. */
struct um_source_files *um_source_files_create(void);
void um_source_files_destroy(struct um_source_files *); /* NULL is legal */
/*
 * The frames of the call that returns to `return_address` of the file at `path`, innermost first.
 * HIP's own inlined wrappers are left out. Returns how many of at most `capacity`; 0 where nothing
 * is known. Files are opened once and kept, and so is what was found; texts live as long as `files`
 * and may be any bytes.
 */
size_t um_source_files_find(struct um_source_files *files, const char *path,
			    uint64_t return_address, struct um_source_frame *frames,
			    size_t capacity);
/*
 * The variable at a place in the frame of the call that returns to `return_address`, as source_variable.h
 * has them; `*depth` counts among the frames that um_source_files_find() gives. malloc'ed; NULL: none.
 */
char *um_source_files_variable(struct um_source_files *files, const char *path,
			       uint64_t return_address, const struct um_source_place *place,
			       size_t *depth);
/* The variable at an address of the file's data; likewise. */
char *um_source_files_global(struct um_source_files *files, const char *path, uint64_t address);
/*
 * The mangled name of the function that calls, from the file's symbols; NULL: none. Lives as above.
 */
const char *um_source_files_symbol(struct um_source_files *files, const char *path,
				   uint64_t return_address);
/* GNU build id of the file, in hexadecimal; NULL: it has none, or is not there. Lives as above. */
const char *um_source_files_build_id(struct um_source_files *files, const char *path);

#endif
