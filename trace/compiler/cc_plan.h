/*
 * What clang's own driver would do (-###): the cc1 command line of the host half has every include
 * path and every option of the user's translated. The device half is the same line for device code.
 */
#ifndef UM_CC_PLAN_H
#define UM_CC_PLAN_H

#include "cc_process.h"

struct um_cc_plan {
	struct um_argv host;   /* cc1 as the user asked for it */
	struct um_argv front;  /* host code to bitcode, before optimisation */
	struct um_argv device; /* device code to the same */
	struct um_argv back;   /* host bitcode to what the user asked for */
};

struct um_cc_plan_files {
	const char *host_bitcode, *device_bitcode,
		*finished_bitcode; /* of front, device; for back */
	const char *prelude;	   /* um_prelude.h */
	const char *unit_id;	   /* -fgpu-rdc: -cuid= of both halves; else NULL */
};

/* `command` is the driver's command line. What is wrong has been said on stderr. 0, or UM_E*. */
int um_cc_plan_make(struct um_cc_plan *out, const struct um_argv *command,
		    const struct um_cc_plan_files *, const char *folder);
void um_cc_plan_fini(struct um_cc_plan *);

#endif
