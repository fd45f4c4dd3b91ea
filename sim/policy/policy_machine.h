/* What a machine file says of drivers' parameters. A part of policy_settle.c. */
#ifndef UM_POLICY_MACHINE_H
#define UM_POLICY_MACHINE_H

#include "policy.h"

/*
 * The parameters that the policy does not have itself become the machine's, or the driver's defaults.
 * UM_EINVAL with the place in the machine file, also where it is about another driver.
 */
int um_policy_take_machine(struct um_policy *, const struct um_machine_spec *);

#endif
