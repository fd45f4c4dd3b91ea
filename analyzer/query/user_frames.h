/*
 * Whose calls are whose (trace/db/stacks.h), as a table for queries: temp.user_frame has of each site
 * and kind of call (that of op; '' for what is no call) the user's frame: site, kind, file, line,
 * function, module, offset_bytes.
 */
#ifndef UM_USER_FRAMES_H
#define UM_USER_FRAMES_H

#include "trace/db/stacks.h"

/*
 * Fills it with the sites of all allocations ('alloc'), and with all that there are ('') for faults and accesses
 * of the host, which are many rows of few sites. Before anything of the connection is hidden. UM_ENOMEM,
 * UM_EFORMAT.
 */
int um_user_frames_create(struct um_db *, const struct um_stacks *);

#endif
