#include "sweep_settle.h"

#include "sim/machine/machine_file.h"
#include "sim/policy/policy_overlay.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int take_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct um_sweep_traced *traced = context;

	traced->machine = copy(run->machine);
	traced->machine_text = copy(run->machine_text);
	traced->xnack = copy(run->xnack);
	return 0;
}

int um_sweep_traced_read(struct um_sweep_traced *out, struct um_db *trace)
{
	*out = (struct um_sweep_traced){.trace = trace};
	return um_db_run(trace, take_run, out);
}

void um_sweep_traced_fini(struct um_sweep_traced *traced)
{
	free(traced->machine);
	free(traced->machine_text);
	free(traced->xnack);
}

/* The policy's, then the trace's, then the default. */
static int find_machine(struct um_sweep_configuration *configuration,
			const struct um_sweep_traced *traced)
{
	const char *named = configuration->policy->machine;
	int error;

	if (named || !traced->machine_text) {
		error = um_machine_load(&configuration->machine, named);
		return error == UM_ENOENT ? UM_EINVAL : error;
	}
	error = um_machine_parse(&configuration->machine,
				 traced->machine ? traced->machine : "machine of the trace",
				 traced->machine_text, strlen(traced->machine_text));
	return error && error != UM_ENOMEM ? um_fail(UM_EFORMAT, "%s: its machine: %s",
						     um_db_path(traced->trace), um_error_message())
					   : error;
}

static const char *xnack_source(const struct um_sweep_configuration *configuration)
{
	switch (configuration->policy->xnack_source) {
	case UM_XNACK_BY_OPTION:
	case UM_XNACK_BY_POLICY:
		return "the policy";
	case UM_XNACK_BY_TRACE:
		return "as traced";
	case UM_XNACK_BY_MACHINE:
		break;
	}
	return um_xnack_default_source(configuration->machine);
}

static int settle_on_machine(struct um_sweep_configuration *configuration,
			     const struct um_sweep_traced *traced)
{
	const struct um_run_row run = {.machine = traced->machine, .xnack = traced->xnack};
	struct um_policy *policy = configuration->policy;
	const struct um_machine_spec *machine = configuration->machine;
	int error = um_policy_settle(policy, machine, um_policy_traced_xnack(&run, machine));

	if (!error)
		error = um_policy_settle_memory(policy, machine, traced->trace);
	if (!error)
		error = um_policy_check_devices(policy, machine);
	return error;
}

/* The policy as it is stored names the machine that was used. */
static int describe(struct um_sweep_configuration *configuration)
{
	struct um_policy *policy = configuration->policy;
	const struct um_machine_spec *machine = configuration->machine;

	if (!policy->machine && !(policy->machine = strdup(machine->name)))
		return um_fail(UM_ENOMEM, "out of memory");
	if (machine->xnack != UM_XNACK_ALWAYS) {
		configuration->xnack = um_xnack_word(policy->xnack);
		configuration->xnack_source = xnack_source(configuration);
	}
	configuration->page_bytes =
		policy->page_bytes ? policy->page_bytes : policy->driver->default_page_bytes;
	configuration->memory_bytes =
		policy->memory_bytes ? policy->memory_bytes : machine->memory_bytes;
	return um_policy_text(&configuration->policy_text, policy);
}

int um_sweep_settle(struct um_sweep_configuration *configuration,
		    const struct um_policy_value *values, size_t count,
		    const struct um_sweep_traced *traced)
{
	int error = um_policy_load_with(&configuration->policy, configuration->from->path, values,
					count);

	if (!error)
		error = find_machine(configuration, traced);
	if (!error)
		error = settle_on_machine(configuration, traced);
	return error ? error : describe(configuration);
}
