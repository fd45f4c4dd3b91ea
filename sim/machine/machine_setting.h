/*
 * `drivers:` of a machine file: a driver's parameters as they are on that machine. What drivers and
 * parameters there are this does not know: who has the drivers checks it (um_policy_settle()). A
 * part of machine_file.c.
 */
#ifndef UM_MACHINE_SETTING_H
#define UM_MACHINE_SETTING_H

#include "machine.h"
#include "yaml_file.h"

/* Adds those of the mapping to the spec. UM_EINVAL with the place, UM_ENOMEM. */
int um_machine_read_settings(const struct um_yaml_file *, const struct um_yaml_node *,
			     struct um_machine_spec *);
void um_machine_drop_settings(struct um_machine_spec *);

#endif
