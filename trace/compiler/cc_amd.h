/* Code objects for AMD's GPUs beside ours: the ordinary compiler, once for each --offload-arch. */
#ifndef UM_CC_AMD_H
#define UM_CC_AMD_H

#include "cc_source.h"

#define UM_CC_AMD_MAX 16

struct um_cc_amd {
	size_t count;
	struct um_cc_amd_item {
		pid_t compiler;
		char target[80];     /* its entry in a bundle */
		char image[1200];    /* file that is made */
		char messages[1200]; /* file with what the compiler said */
	} items[UM_CC_AMD_MAX];
};

/* UM_ENOENT when AMD's device libraries are not installed, UM_ELIMIT for too many. */
int um_cc_amd_start(struct um_cc_amd *out, const struct um_cc_job *, const struct um_cc_input *);
/* The first status that is not 0. */
int um_cc_amd_wait(struct um_cc_amd *);

#endif
