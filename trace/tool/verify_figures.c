#include "verify_figures.h"

#include "sim/machine/machine_file.h"
#include "sim/policy/policy_overlay.h"
#include "sim/probe/probe.h"
#include "sim/simulate.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <string.h>

const char *const um_verify_names[UM_VERIFY_FIGURES] = {
	[UM_VERIFY_TO_DEVICE] = "bytes to device",
	[UM_VERIFY_TO_HOST] = "bytes to host",
	[UM_VERIFY_DEVICE_FAULTS] = "faults of the GPU",
	[UM_VERIFY_HOST_FAULTS] = "faults of the host",
	[UM_VERIFY_TIME] = "time",
};
const char *const um_verify_keys[UM_VERIFY_FIGURES] = {
	[UM_VERIFY_TO_DEVICE] = "bytes_to_device",
	[UM_VERIFY_TO_HOST] = "bytes_to_host",
	[UM_VERIFY_DEVICE_FAULTS] = "device_faults",
	[UM_VERIFY_HOST_FAULTS] = "host_faults",
	[UM_VERIFY_TIME] = "time_ns",
};

/* --- predicted --- */

struct simulating {
	struct um_db *trace;
	struct um_policy *policy;
	struct um_machine_spec *machine;
	enum um_xnack traced;
	size_t rules, without; /* set aside */
};

static int take_machine(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct simulating *simulating = context;

	if (!run->machine_text)
		return 0;
	return um_machine_parse(&simulating->machine, run->machine ? run->machine : "the trace",
				run->machine_text, strlen(run->machine_text));
}

static int take_xnack(const void *row, void *context)
{
	struct simulating *simulating = context;

	simulating->traced = um_policy_traced_xnack(row, simulating->machine);
	return 0;
}

static int find_machine(struct simulating *simulating, const char *machine)
{
	const char *name = machine ? machine : simulating->policy->machine;
	int error;

	if (name)
		return um_machine_load(&simulating->machine, name);
	error = um_db_run(simulating->trace, take_machine, simulating);
	return error || simulating->machine ? error : um_machine_load(&simulating->machine, NULL);
}

/* What the rules take and give back: the arrays stay the policy's. */
static void set_rules_aside(struct simulating *simulating)
{
	struct um_policy *policy = simulating->policy;

	simulating->rules = policy->rule_count;
	simulating->without = policy->without_count;
	policy->rule_count = policy->without_count = 0;
	policy->keep_program_advice = policy->keep_program_prefetch = true;
}

static int settle(struct simulating *simulating, const char *machine)
{
	int error = find_machine(simulating, machine);

	if (!error)
		error = um_db_run(simulating->trace, take_xnack, simulating);
	if (!error)
		error = um_policy_settle(simulating->policy, simulating->machine,
					 simulating->traced);
	if (!error)
		error = um_policy_settle_memory(simulating->policy, simulating->machine,
						simulating->trace);
	return error;
}

static int simulate(struct simulating *simulating, struct um_totals *sums)
{
	struct um_observer totals = um_probe_totals(sums);
	struct um_probe *probe;
	int error = um_probe_create(&probe);

	if (error)
		return error;
	error = um_probe_add(probe, &totals);
	if (!error)
		error = um_simulate(&(struct um_simulation){.trace = simulating->trace,
							    .policy = simulating->policy,
							    .machine = simulating->machine,
							    .probe = probe});
	if (!error)
		error = um_probe_finish(probe);
	um_probe_destroy(probe);
	return error;
}

int um_verify_simulate(struct um_verify_run *out, struct um_db *trace, const char *policy,
		       const char *machine, bool rules, bool remote)
{
	struct simulating simulating = {.trace = trace, .traced = UM_XNACK_UNKNOWN};
	struct um_totals sums = {0};
	char message[1024];
	int error = um_policy_load(&simulating.policy, policy);

	if (!error && !rules)
		set_rules_aside(&simulating);
	if (!error)
		error = settle(&simulating, machine);
	if (!error)
		error = simulate(&simulating, &sums);
	snprintf(message, sizeof(message), "%s", um_error_message());
	if (simulating.policy && !rules) {
		simulating.policy->rule_count = simulating.rules;
		simulating.policy->without_count = simulating.without;
	}
	um_policy_destroy(simulating.policy);
	um_machine_spec_destroy(simulating.machine);
	if (!remote) {
		sums.bytes_to_device -= sums.remote_to_device;
		sums.bytes_to_host -= sums.remote_to_host;
	}
	*out = (struct um_verify_run){{(double)sums.bytes_to_device, (double)sums.bytes_to_host,
				       (double)sums.device_faults, (double)sums.host_faults,
				       (double)sums.end_ns}};
	return error ? um_fail(error, "%s", message) : 0;
}

/* --- measured --- */

int um_verify_measured(struct um_verify_run *out, struct um_db *trace)
{
	/* Not known where nobody asked for them: table origin. */
	static const char *const sums[UM_VERIFY_FIGURES] = {
		[UM_VERIFY_TO_DEVICE] =
			"SELECT COALESCE(SUM(bytes_to_device), 0) FROM traffic WHERE ?1 = 0",
		[UM_VERIFY_TO_HOST] =
			"SELECT COALESCE(SUM(bytes_to_host), 0) FROM traffic WHERE ?1 = 0",
		[UM_VERIFY_DEVICE_FAULTS] =
			"SELECT SUM(faults) FROM fault WHERE device >= 0 AND ?1 = 0",
		[UM_VERIFY_HOST_FAULTS] =
			"SELECT SUM(faults) FROM fault WHERE device = -1 AND ?1 = 0",
		[UM_VERIFY_TIME] = "SELECT MAX(end_ns) - MIN(start_ns) FROM op WHERE ?1 = 0",
	};

	for (size_t i = 0; i < UM_VERIFY_FIGURES; i++) {
		int64_t value = UM_NULL;
		int error = um_db_integer(trace, sums[i], 0, &value);

		if (error)
			return error;
		out->value[i] = value == UM_NULL ? UM_VERIFY_UNKNOWN : (double)value;
	}
	return 0;
}

static int note_backend(const void *row, void *context)
{
	const struct um_run_row *run = row;

	*(bool *)context = run->backend && strcmp(run->backend, "cupti") == 0;
	return 0;
}

int um_verify_is_measured(bool *measured, struct um_db *trace)
{
	*measured = false;
	return um_db_run(trace, note_backend, measured);
}
