/*
 * Findings: what a program does to its pages that costs more than it has to, where in the source that
 * is, how much it comes to, and which change of that line saves how much. What is saved is told by
 * replaying the trace with the change (sim/simulate.h): a finding whose change saves nothing there is
 * no finding. All strings and arrays belong to the um_findings and live as long.
 */
#ifndef UM_FINDING_H
#define UM_FINDING_H

#include "trace/db/trace_db.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct um_finding_rule; /* finding_rule.h */

/* How a value is written. */
enum um_finding_unit {
	UM_UNIT_COUNT,
	UM_UNIT_BYTES,
	UM_UNIT_NS,
	UM_UNIT_PERCENT,
	UM_UNIT_TEXT, /* `text`, no number */
};

/* One line of evidence. */
struct um_finding_value {
	const char *label; /* "moved to the device" */
	enum um_finding_unit unit;
	int64_t value;
	const char *text;   /* UM_UNIT_TEXT */
	const char *origin; /* "measured", "emulated", "modelled", "inferred" */
};

/* A place in the source; text is "file:line", else a function or module+0xOFFSET. */
struct um_finding_place {
	int64_t site;		     /* its stack (schema.sql); UM_NULL: not known */
	const char *text;	     /* NULL: not known */
	const char *file, *function; /* NULL: not known */
	int64_t line;		     /* UM_NULL: not known */
};

/* What a run of the program costs, by a replay or as measured. */
struct um_finding_cost {
	uint64_t bytes_to_device, bytes_to_host; /* over the link, all causes */
	uint64_t bytes_between_devices; /* over links of their own: moved, copied, in place */
	/* Of these. */
	uint64_t remote_to_device, remote_to_host, copied_to_device, copied_to_host;
	uint64_t device_faults, host_faults;
	uint64_t end_ns; /* when the program ends; the host takes no time but to wait */
};

/* One way to mend it. */
struct um_finding_change {
	struct um_finding_place at; /* the line to change */
	const char *code;	    /* what to write there, one or more lines */
	const char *policy;	    /* the same as rules of a policy file; NULL: none says it */
	const char *not_replayable; /* why it was not replayed; NULL: it was */
	/* Of it: what the program's run costs with this change alone. Modelled. */
	struct um_finding_cost cost;
	int64_t saved_ns, saved_bytes; /* beside the baseline; negative: it costs more */
};

enum um_finding_verdict {
	UM_FINDING_SAVES,	 /* at least UM_FINDING_FOLDED of the time or the bytes */
	UM_FINDING_FOLDED,	 /* less than that */
	UM_FINDING_FAULT,	 /* what the program does is wrong, whatever it costs */
	UM_FINDING_NOT_REPLAYED, /* true, and what it saves could not be told */
	UM_FINDING_NO_EFFECT,	 /* a call that does nothing: without it all is the same */
};

#define UM_FINDING_ALSO 8

struct um_finding {
	const struct um_finding_rule *rule; /* its name is the kind: "ping-pong" */
	const char *kind;
	const char *title;     /* one line, no full stop */
	const char *because;   /* what happens and why that costs, a sentence or two */
	bool is_certain;       /* else it may be otherwise: `because` says why */
	bool claims_no_effect; /* of the rule, to be checked by the replay */
	const char
		*also[UM_FINDING_ALSO]; /* kinds of others that the same change mends; NULL ends */
	enum um_finding_verdict verdict;
	struct um_finding_place at; /* where it is: allocations' lines, or a call's */
	int64_t *allocations;	    /* ids */
	size_t allocation_count;
	const char *subject;  /* "#3 grid.cells", "4 allocations of train.hip:37" */
	const char **kernels; /* names, as written */
	size_t kernel_count;
	const char *phase;	   /* name of the range of the program in which it is; NULL: none */
	int64_t first_op, last_op; /* during which; UM_NULL: all of the run */
	struct um_finding_value *evidence;
	size_t evidence_count;
	/* The first is the best; then those that save less or nothing. None: nothing to write. */
	struct um_finding_change *changes;
	size_t change_count;
	/* What it is about, in the baseline: replays of the largest come first. */
	int64_t concerned_bytes, concerned_ns;
};

/* All changes that a policy can say, together (um_findings_choice.together). */
struct um_findings_advice {
	const char *policy; /* a policy file, with comments; NULL: there is nothing to change */
	struct um_finding_cost cost; /* of the run under it: modelled */
	size_t applied, left_out;    /* changes; those that would make the whole worse */
};

/* What findings are of. */
struct um_findings {
	const char *path, *command;
	const char *accesses;	    /* origin of the accesses: "emulated"; "absent" */
	bool is_measured;	    /* the baseline is what was measured; nothing is replayed */
	const char *not_replayable; /* why nothing of it can be; NULL: it can */
	const char *machine, *driver, *validated; /* the model's; NULL where is_measured */
	const char *xnack, *xnack_source;	  /* NULL: there is no such switch */
	uint64_t page_bytes, memory_bytes;
	const char *policy; /* file of the baseline; NULL: the program as it is */
	struct um_finding_cost baseline;
	const char *baseline_origin; /* "modelled", "measured" */
	struct um_finding *findings; /* by verdict: faults, then by what they save, then folded */
	size_t count;
	size_t shown;			  /* of these, before the folded ones */
	size_t dropped;			  /* candidates whose change saves nothing */
	struct um_findings_advice advice; /* zero where it was not asked for */
	size_t not_tried;		  /* candidates too small to be replayed */
	size_t rules_left_out;	    /* not looked for: it is not known what launches touched */
	const char *left_out_why;   /* NULL: none was left out */
	struct um_text_pool *texts; /* owns the strings */
};

/* A share of the baseline's time or bytes, below which a finding is folded away. */
#define UM_FINDING_LEAST_SHARE 0.01

struct um_findings_choice {
	const char *machine, *driver, *policy; /* NULL: the trace's own; as of umsim replay */
	const char *xnack;		       /* "on", "off"; NULL: as traced */
	const char *const *skip_frames;	       /* as of um_stacks_load() */
	const char *only;		       /* name of the one rule to run; NULL: all */
	bool together;			       /* replays all changes together too */
	bool all;			       /* replay every candidate, however small */
	void (*progress)(void *context, size_t done, size_t all); /* replays; may be NULL */
	void *progress_context;
};

/*
 * Everything that is found in the trace, or, of a simulation, in the trace that it names, under its
 * policy. `choice` may be NULL. UM_EINVAL: a policy, machine or driver that does not fit; UM_EFORMAT:
 * damage; UM_ENOMEM.
 */
int um_findings_load(struct um_findings **out, struct um_db *, const struct um_findings_choice *);
void um_findings_destroy(struct um_findings *); /* NULL is legal */

/* All rules there are, ends with NULL: registry.c. */
extern const struct um_finding_rule *const um_finding_rules[];
/* NULL, and UM_EINVAL's message with the nearest name: there is none. */
const struct um_finding_rule *um_finding_rule_find(const char *name);
/* All that crosses a link: what is saved of bytes is of these. */
uint64_t um_finding_cost_bytes(const struct um_finding_cost *);
/* "saves", "folded", "fault", "not_replayed", "no_effect" */
const char *um_finding_verdict_word(enum um_finding_verdict);

#endif
