/* A file that a command writes: whole under its name, or not at all. */
#ifndef UM_OUTPUT_FILE_H
#define UM_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct um_output_file {
	FILE *out;
	const char *path; /* NULL: standard output */
	char *partial;
	bool force;
};

/*
 * Begins PATH.partial, or takes standard output where `path` is NULL. UM_EEXIST: `path` is there and
 * not `force`, or it is `input` itself, whatever `force` says; UM_EIO, UM_ENOMEM.
 */
int um_output_open(struct um_output_file *, const char *path, const char *input, bool force);
/* Gives it its name; where `error` is not 0, or it could not be written, removes it. The first error. */
int um_output_close(struct um_output_file *, int error);

#endif
