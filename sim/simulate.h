/* One simulation, start to end: what umsim replay and umtrace (for the modelled rows) both call. */
#ifndef UM_SIMULATE_H
#define UM_SIMULATE_H

#include "sim/policy/policy.h"
#include "sim/probe/probe.h"
#include "sim/source/trace_cache.h"
#include "trace/db/trace_db.h"

struct um_simulation {
	struct um_db *trace; /* read */
	/* Of the trace, shared with other simulations of it; NULL: its own, for what is in use. */
	struct um_trace_cache *cache;
	const struct um_policy *policy;
	const struct um_machine_spec *machine;
	struct um_probe *probe; /* observers are the caller's */
	/*
	 * As under umtrace on that card: what recording costs (the machine file's `tracing:`) is
	 * added, as it is in the times of a measured trace. Else as the program is without.
	 */
	bool traced;
	/*
	 * The host takes as long between its calls as it did in the trace: where that is emulated,
	 * on the machine that recorded. Else it takes no time but to wait.
	 */
	bool host_time;
	/* Progress for a terminal: operations done of all; may be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t all);
	void *progress_context;
	/*
	 * What was asked and is not simulated; may be NULL. `what` lives for the call, `why` is a
	 * literal.
	 */
	void (*ignored)(void *context, const char *what, const char *why);
	void *ignored_context;
};

/*
 * A simulation that goes on a piece at a time, so that several can stay near each other in the trace. What
 * the request points to outlives it; one thread at a time, which may be another each time. What it gives
 * does not depend on the pieces. Errors as um_simulate(); after one there is only um_simulation_end().
 */
struct um_simulation_state;
int um_simulation_begin(struct um_simulation_state **out, const struct um_simulation *);
/* Until about so many bytes of the trace, as decoded, were taken; 0: to its end. */
int um_simulation_advance(struct um_simulation_state *, uint64_t trace_bytes, bool *is_done);
/* How far it has come: of two simulations of a trace the larger is ahead. */
uint64_t um_simulation_position(const struct um_simulation_state *);
void um_simulation_end(struct um_simulation_state *); /* NULL is legal */

/* Start to end. UM_E* of any part. A rule of the policy that matches nothing is UM_EINVAL, with its line. */
int um_simulate(const struct um_simulation *);

/* How many groups of a launch the machine keeps in flight, at least one. */
uint32_t um_kernel_groups_in_flight(const struct um_machine_spec *, const struct um_kernel_row *);

#endif
