/*
 * umtrace -P on an NVIDIA GPU: the driver is asked for what the table has due (spool/apply_table.h), in the
 * thread of the program's call that it is due at. Nothing without a table.
 *
 * A hint of the program's own that is to be left out is led, with the parameters that CUPTI shows, to memory
 * of ours. No text of NVIDIA's says that the driver reads them again: whether it did is looked up behind the
 * first, and where not, hints stay and that is said.
 */
#ifndef UM_TAP_APPLY_H
#define UM_TAP_APPLY_H

#include "tap_call.h"

/* When the spool is there. */
void um_tap_apply_begin(void);

/* --- with the tap's lock held --- */

void um_tap_apply_site(const struct um_record_site *);
/* An allocation or a name of a part was told; what is due is done by um_tap_apply_due(). */
void um_tap_apply_allocated(const struct um_record_op *, const struct um_tap_block *,
			    const char *name);
void um_tap_apply_freed(const struct um_tap_block *);
void um_tap_apply_named(const struct um_record_op *, uint64_t address);
void um_tap_apply_unnamed(uint64_t address);

/* --- without it, in the program's thread --- */

void um_tap_apply_due(void);
/* A call of the driver's begins: a launch, or a hint that may have to be left out. */
void um_tap_apply_enter(struct um_tap_call *, bool is_captured);
/* It has ended: true where it was left out and is not to be told. */
bool um_tap_apply_exit(const struct um_tap_call *);

#endif
