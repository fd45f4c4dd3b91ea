/* Calls of the program that a policy leaves out (`program: {without: [...]}`): by their sites. */
#ifndef UM_LEFT_OUT_H
#define UM_LEFT_OUT_H

#include "sim/policy/policy.h"
#include "trace/db/trace_db.h"

struct um_left_out {
	int64_t *sites; /* ascending */
	size_t count;
};

/* UM_EINVAL with the line in the policy where none of the program's calls is; UM_ENOMEM. */
int um_left_out_init(struct um_left_out *, const struct um_policy *, struct um_db *trace);
void um_left_out_fini(struct um_left_out *);
bool um_left_out_has(const struct um_left_out *, int64_t site);

#endif
