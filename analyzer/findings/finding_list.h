/* Every rule, for registry.c; each is a file of its own, finding_NAME.c. */
#ifndef UM_FINDING_LIST_H
#define UM_FINDING_LIST_H

#include "finding_rule.h"

extern const struct um_finding_rule um_finding_ping_pong;
extern const struct um_finding_rule um_finding_missing_sync;

#endif
