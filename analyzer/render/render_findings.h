/* Findings (analyzer/findings/finding.h) for people and for programs. */
#ifndef UM_RENDER_FINDINGS_H
#define UM_RENDER_FINDINGS_H

#include "analyzer/findings/finding.h"

#include <stdio.h>

struct um_findings_style {
	bool colour; /* of a terminal */
	bool folded; /* those below 1 % are shown like the others */
};

/* UM_ENOMEM, UM_EIO. */
int um_render_findings_text(FILE *, const struct um_findings *, const struct um_findings_style *);
/*
 * One object: `findings`, each with kind, title, because, certain, verdict, at {text, file, line,
 * function}, allocations, kernels, phase, evidence [{label, value | text, unit, origin}], changes [{at,
 * code, policy, not_replayable, cost, saved_ns, saved_bytes}], best first; beside it what they are of.
 */
int um_render_findings_json(FILE *, const struct um_findings *);
/* The rules there are, with what they find and their thresholds. */
int um_render_finding_rules(FILE *);

#endif
