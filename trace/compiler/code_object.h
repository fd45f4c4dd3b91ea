/* From the bitcode of both halves of a source file to its code object. */
#ifndef UM_CODE_OBJECT_H
#define UM_CODE_OBJECT_H

#include "cc_install.h"

#include <stddef.h>

/* As module.h's UM_TARGET: the entry of a bundle that our runtime looks for. */
#define UM_CODE_OBJECT_TARGET "hip-x86_64-unknown-linux-gnu"

struct um_code_object_request {
	const char *source; /* for messages */
	const char *host_bitcode, *device_bitcode;
	const char *level;  /* "O2" */
	const char *folder; /* temporary files */
	unsigned number;    /* of the source, for their names */
	const struct um_cc_install *install;
	const char *output; /* the shared library to write */
	int relocatable;    /* -fgpu-rdc: nothing is written, the host half carries the unit */
};

struct um_code_object;

/* The message of an error starts with the user's file and line where one is known. */
int um_code_object_make(struct um_code_object **out, const struct um_code_object_request *);
/* Neither kernels nor device variables: nothing was written. */
int um_code_object_is_empty(const struct um_code_object *);
/* Writes the host half as bitcode, with the bundle (or NULL) or the unit in its place. */
int um_code_object_finish_host(struct um_code_object *, const void *bundle, size_t bytes,
			       const char *output);
void um_code_object_free(struct um_code_object *);

#endif
