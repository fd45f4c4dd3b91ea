/* The linking step: clang++ with the user's options, our runtime, and the way to it. */
#ifndef UM_CC_LINK_H
#define UM_CC_LINK_H

#include "cc_args.h"
#include "cc_install.h"

/*
 * objects[i] stands for the source inputs[i]; NULL for an input that needed no compilation.
 * `folder` is for temporary files.
 */
int um_cc_link(const struct um_cc_args *, const struct um_cc_install *, const char *folder,
	       char *const *objects);

#endif
