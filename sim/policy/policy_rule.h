/* Reading one rule of a policy file: the loader's own, not for the users of policy.h. */
#ifndef UM_POLICY_RULE_H
#define UM_POLICY_RULE_H

#include "policy.h"
#include "sim/machine/yaml_file.h"

/* Both fill a zeroed rule; on an error what it owns is freed by um_rule_fini() all the same. */
int um_rule_read_advise(struct um_rule *, const struct um_yaml_file *, const struct um_yaml_node *);
int um_rule_read_prefetch(struct um_rule *, const struct um_yaml_file *,
			  const struct um_yaml_node *);
void um_rule_fini(struct um_rule *);

#endif
