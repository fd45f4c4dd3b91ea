/* One source file through the compilers. */
#ifndef UM_CC_SOURCE_H
#define UM_CC_SOURCE_H

#include "cc_args.h"
#include "cc_install.h"

struct um_cc_job {
	const struct um_cc_args *args;
	const struct um_cc_install *install;
	const char *folder; /* for temporary files */
	unsigned number;    /* of this source, for their names */
};

/*
 * Makes `output` from a HIP source: an object, or what args->stage says. Returns an exit status;
 * everything has been said on stderr.
 */
int um_cc_compile_hip(const struct um_cc_job *, const struct um_cc_input *, const char *output);
/* The driver's command line for a HIP source, as far as it is the same for host and devices. */
void um_cc_start_command(struct um_argv *command, const struct um_cc_job *,
			 const struct um_cc_input *);
/* Any other language: clang, with the same options. */
int um_cc_compile_other(const struct um_cc_job *, const struct um_cc_input *, const char *output);

#endif
