/* What a policy says of its driver while it is not known yet which that is. A part of policy_file.c. */
#ifndef UM_POLICY_SETTLE_H
#define UM_POLICY_SETTLE_H

#include "policy.h"

/* The driver, with its defaults. UM_ENOMEM. */
int um_policy_adopt_driver(struct um_policy *, const struct um_driver_ops *);
/* `setting` is copied. UM_ENOMEM. */
int um_policy_add_setting(struct um_policy *, const struct um_policy_setting *setting);
/* Makes the settings parameters of the driver, and forgets them. UM_EINVAL with the place. */
int um_policy_apply_settings(struct um_policy *);
void um_policy_drop_settings(struct um_policy *);
/* UM_EINVAL, with the place if the file asked for it: the driver does not take the page size. */
int um_policy_check_page_bytes(const struct um_policy *);

#endif
