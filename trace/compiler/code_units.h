/* Device code of several sources (-fgpu-rdc) into one code object. */
#ifndef UM_CODE_UNITS_H
#define UM_CODE_UNITS_H

#include "code_object.h"

#include <stdbool.h>

/* What um_ir_embed_unit() put into an object file. */
struct um_code_unit {
	const char *origin; /* for messages: "main.o", "libx.a(y.o)" */
	const void *bitcode;
	size_t bytes;
	bool is_optional; /* from an archive: left out where it defines what others have defined */
};

/*
 * Links them and writes the code object; of `r`, source is the program's name and there is no
 * bitcode. Once in a process. UM_EFORMAT with both names for what is defined twice.
 */
int um_code_units_link(const struct um_code_unit *units, size_t count,
		       const struct um_code_object_request *r);
/* The object file that defines what the host halves look for: __hip_fatbin. */
int um_code_units_fat_binary(const void *bundle, size_t bytes, char *path);

#endif
