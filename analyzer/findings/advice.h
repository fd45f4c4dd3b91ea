/* All changes of the findings as one policy file, as far as they help together. */
#ifndef UM_ADVICE_H
#define UM_ADVICE_H

#include "finding_replay.h"

/*
 * The larger of the shares of time and bytes that `after` saves of `before`; 0 where it takes 1 % longer
 * or saves neither.
 */
double um_finding_worth(const struct um_finding_cost *before, const struct um_finding_cost *after);

/*
 * Fills findings->advice: change after change, the best first, each replayed with those before it, and
 * left out where the whole is the worse for it. UM_ENOMEM, and as um_finding_replay().
 */
int um_findings_put_together(struct um_findings *, struct um_finding_setup *);

#endif
