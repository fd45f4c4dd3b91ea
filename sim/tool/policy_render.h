/* What `umsim policy` prints: a part of cmd_policy.c. */
#ifndef UM_POLICY_RENDER_H
#define UM_POLICY_RENDER_H

#include "sim/policy/policy_check.h"

#include <stdio.h>

/* `reports` and `subjects` are NULL where there is no trace. UM_EIO, UM_ENOMEM. */
int um_policy_render_text(FILE *out, const struct um_policy *, const struct um_rule_report *,
			  const struct um_subjects *);
int um_policy_render_json(FILE *out, const struct um_policy *, const struct um_rule_report *,
			  const struct um_subjects *);

/* Every driver model with its page sizes and parameters. UM_EIO, UM_ENOMEM. */
int um_drivers_render_text(FILE *out);
int um_drivers_render_json(FILE *out);

#endif
