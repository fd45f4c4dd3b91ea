/*
 * What the linker's inputs carry for the linking step: the device code of -fgpu-rdc (ir_host.h), and
 * with which HIP's headers they were compiled.
 */
#ifndef UM_CC_UNITS_H
#define UM_CC_UNITS_H

#include "cc_args.h"
#include "cc_install.h"
#include "code_units.h"

struct um_cc_units {
	struct um_code_unit *items; /* own their origin and bitcode */
	size_t count;
	unsigned headers; /* major version of HIP; 0: no input has device code */
};

/*
 * Of the objects and archives that the link line names, also by -l. objects[i] stands for the
 * source inputs[i]. Files that are neither are passed over: the linker says what is wrong with
 * them. UM_EFORMAT names a file whose unit is broken, or that was
 * compiled with headers of another HIP than one before it.
 */
int um_cc_units_find(struct um_cc_units *out, const struct um_cc_args *, char *const *objects);
void um_cc_units_fini(struct um_cc_units *);

/*
 * Links them and makes the object, in `folder`, that the program needs. 0, or 1 with everything
 * said on stderr.
 */
int um_cc_units_link(const struct um_cc_units *, const struct um_cc_args *,
		     const struct um_cc_install *, const char *folder, char *object);

#endif
