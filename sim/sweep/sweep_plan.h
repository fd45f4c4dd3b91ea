/*
 * The configurations of a sweep: every policy with every combination of the values that are varied,
 * policies first, the last key's values next to each other. Each is settled on its machine and the
 * trace; what cannot be (a page size that the driver does not take, a parameter of another driver) is
 * refused, with the reason, and keeps its place.
 */
#ifndef UM_SWEEP_PLAN_H
#define UM_SWEEP_PLAN_H

#include "sweep_axis.h"

#include "sim/machine/machine.h"
#include "sim/policy/policy.h"
#include "trace/db/trace_db.h"

#define UM_SWEEP_CONFIGURATIONS_MAX 1000000

struct um_sweep_policy {
	char *path; /* NULL: none, what the program did */
	char *name; /* the file less folder and .yaml, or the path where two are called alike */
};

struct um_sweep_configuration {
	const struct um_sweep_policy *from;
	char *reason; /* refused; else NULL */
	/* NULL where refused: */
	struct um_policy *policy;
	struct um_machine_spec *machine;
	char *policy_text;		  /* the effective one: a policy file that gives the same */
	const char *xnack, *xnack_source; /* literals; NULL: no such switch */
	uint64_t page_bytes, memory_bytes;
};

struct um_sweep_plan {
	struct um_sweep_policy *policies;
	size_t policy_count;
	struct um_sweep_axis axes[UM_SWEEP_AXES_MAX];
	size_t axis_count;
	struct um_sweep_configuration *configurations;
	size_t count;
};

/*
 * A file, or a pattern of the shell's for several. UM_EINVAL: it matches nothing, or a file that is
 * there already. `*plan` begins as zeroes.
 */
int um_sweep_plan_add_policies(struct um_sweep_plan *, const char *pattern);
/* UM_EINVAL: as um_sweep_axis_parse(), or the key is varied already, or too many. */
int um_sweep_plan_add_axis(struct um_sweep_plan *, const char *text);
/*
 * Makes the configurations. UM_EINVAL: a policy that is wrong on its own, or a rule of it matches
 * nothing in the trace; too many; what opening the trace gives.
 */
int um_sweep_plan_make(struct um_sweep_plan *, struct um_db *trace);
void um_sweep_plan_fini(struct um_sweep_plan *);
/* The value of an axis that a configuration has. */
const char *um_sweep_plan_value(const struct um_sweep_plan *, size_t configuration, size_t axis);
/* The same of two plans whose configurations are: policies, values, machines. */
uint64_t um_sweep_plan_fingerprint(const struct um_sweep_plan *);
size_t um_sweep_plan_refused(const struct um_sweep_plan *);
/* "none, memory 4GiB, page_size 64KiB": what tells it apart. Returns `buffer`. */
char *um_sweep_plan_label(char *buffer, size_t capacity, const struct um_sweep_plan *,
			  size_t configuration);

#endif
