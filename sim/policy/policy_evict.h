/* `evict` and `evict_seed` of a policy file. A part of policy_file.c. */
#ifndef UM_POLICY_EVICT_H
#define UM_POLICY_EVICT_H

#include "policy.h"
#include "sim/machine/yaml_file.h"

#include <stdio.h>

/* `driver`, or the name of an order. */
int um_policy_read_evict(const struct um_yaml_file *, const struct um_yaml_node *,
			 struct um_policy *);
/* After that: a seed for an order that draws nothing is an error. */
int um_policy_read_evict_seed(const struct um_yaml_file *, const struct um_yaml_node *,
			      struct um_policy *);
/* Both as YAML; "driver" where the policy leaves it to the driver. */
void um_policy_write_evict(FILE *, const struct um_policy *);

#endif
