#include "finding_replay.h"

#include "sim/machine/machine_file.h"
#include "sim/policy/policy_overlay.h"
#include "sim/simulate.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the machine and the policy --- */

static int take_machine(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct um_finding_setup *setup = context;
	int error;

	if (!run->machine_text)
		return 0;
	error = um_machine_parse(&setup->machine, run->machine ? run->machine : "its machine",
				 run->machine_text, strlen(run->machine_text));
	if (error && error != UM_ENOMEM)
		error = um_fail(UM_EFORMAT, "%s: its machine: %s", um_db_path(setup->trace),
				um_error_message());
	return error;
}

static int load_machine(struct um_finding_setup *setup, const struct um_policy *policy)
{
	const char *name = setup->choice->machine ? setup->choice->machine : policy->machine;
	int error = 0;

	if (!name)
		error = um_db_run(setup->trace, take_machine, setup);
	if (error || setup->machine)
		return error;
	error = um_machine_load(&setup->machine, name);
	return error == UM_ENOENT ? UM_EINVAL : error;
}

static int take_traced(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct um_finding_setup *setup = context;

	setup->traced = um_policy_traced_xnack(run, setup->machine);
	if (run->xnack_source &&
	    asprintf(&setup->traced_source, "as traced: %s", run->xnack_source) < 0) {
		setup->traced_source = NULL;
		return um_fail(UM_ENOMEM, "out of memory");
	}
	return 0;
}

static int base_policy(struct um_policy **out, const struct um_finding_setup *setup)
{
	if (setup->policy_text)
		return um_policy_parse(out, "policy of the simulation", setup->policy_text,
				       strlen(setup->policy_text));
	if (setup->choice->policy)
		return um_policy_load(out, setup->choice->policy);
	return um_policy_default(out);
}

static int add_change(struct um_policy *policy, const char *change)
{
	struct um_policy *over;
	int error;

	if (!change)
		return 0;
	error = um_policy_parse(&over, "change", change, strlen(change));
	if (error)
		return error;
	error = um_policy_add(policy, over);
	um_policy_destroy(over);
	return error;
}

static int name_machine(struct um_policy *policy, const struct um_machine_spec *machine)
{
	char *name = strdup(machine->name);

	if (!name)
		return um_fail(UM_ENOMEM, "out of memory");
	free(policy->machine);
	policy->machine = name;
	return 0;
}

static int settle(const struct um_finding_setup *setup, struct um_policy *policy,
		  const char *change)
{
	int error = 0;

	if (setup->choice->driver)
		error = um_policy_set_driver(policy, setup->choice->driver);
	if (!error)
		error = add_change(policy, change);
	policy->xnack_asked = setup->asked;
	if (!error)
		error = um_policy_settle(policy, setup->machine, setup->traced);
	if (!error)
		error = um_policy_settle_memory(policy, setup->machine, setup->trace);
	if (!error)
		error = um_policy_check_devices(policy, setup->machine);
	return error ? error : name_machine(policy, setup->machine);
}

int um_finding_setup_init(struct um_finding_setup *setup, struct um_db *trace,
			  const struct um_findings_choice *choice, char *policy_text)
{
	int error = 0;

	*setup = (struct um_finding_setup){
		.trace = trace,
		.choice = choice,
		.policy_text = policy_text,
		.traced = UM_XNACK_UNKNOWN,
		.asked = UM_XNACK_UNKNOWN,
	};
	if (choice->xnack)
		error = um_xnack_parse(&setup->asked, choice->xnack);
	if (!error)
		error = base_policy(&setup->policy, setup);
	if (!error)
		error = load_machine(setup, setup->policy);
	if (!error)
		error = um_db_run(trace, take_traced, setup);
	return error ? error : settle(setup, setup->policy, NULL);
}

static void forget_ignored(struct um_finding_setup *setup)
{
	for (size_t i = 0; i < setup->ignored_count; i++)
		free(setup->ignored[i]);
	free(setup->ignored);
	setup->ignored = NULL;
	setup->ignored_count = 0;
}

void um_finding_setup_fini(struct um_finding_setup *setup)
{
	forget_ignored(setup);
	um_policy_destroy(setup->policy);
	um_machine_spec_destroy(setup->machine);
	free(setup->policy_text);
	free(setup->traced_source);
}

const char *um_finding_xnack_source(const struct um_finding_setup *setup)
{
	switch (setup->policy->xnack_source) {
	case UM_XNACK_BY_OPTION:
		return setup->policy->xnack == UM_XNACK_ON ? "--xnack on" : "--xnack off";
	case UM_XNACK_BY_POLICY:
		return "the policy";
	case UM_XNACK_BY_TRACE:
		return setup->traced_source ? setup->traced_source : "as traced";
	case UM_XNACK_BY_MACHINE:
		break;
	}
	return um_xnack_default_source(setup->machine);
}

/* --- simulating --- */

static void note_ignored(void *context, const char *what, const char *why)
{
	struct um_finding_setup *setup = context;
	char **grown = realloc(setup->ignored, (setup->ignored_count + 1) * sizeof(*grown));

	if (!grown)
		return;
	setup->ignored = grown;
	if (asprintf(&grown[setup->ignored_count], "%s: %s", what, why) >= 0)
		setup->ignored_count++;
}

static struct um_finding_cost cost_of(const struct um_totals *totals)
{
	return (struct um_finding_cost){
		.bytes_to_device = totals->bytes_to_device,
		.bytes_to_host = totals->bytes_to_host,
		.bytes_between_devices =
			totals->moved_between + totals->peer_copied + totals->peer_remote,
		.remote_to_device = totals->remote_to_device,
		.remote_to_host = totals->remote_to_host,
		.copied_to_device = totals->copied_to_device,
		.copied_to_host = totals->copied_to_host,
		.device_faults = totals->device_faults,
		.host_faults = totals->host_faults,
		.end_ns = totals->end_ns,
	};
}

static int simulate(struct um_finding_setup *setup, const struct um_policy *policy,
		    const struct um_observer *observer, struct um_finding_cost *cost)
{
	struct um_totals totals = {0};
	struct um_observer summing = um_probe_totals(&totals);
	struct um_simulation simulation = {
		.trace = setup->trace,
		.policy = policy,
		.machine = setup->machine,
		.ignored = note_ignored,
		.ignored_context = setup,
	};
	int error = um_probe_create(&simulation.probe), finish_error;

	if (error)
		return error;
	error = um_probe_add(simulation.probe, &summing);
	if (!error && observer)
		error = um_probe_add(simulation.probe, observer);
	if (!error)
		error = um_simulate(&simulation);
	/* After a failure too: observers let go of what they hold. */
	finish_error = um_probe_finish(simulation.probe);
	error = error ? error : finish_error;
	um_probe_destroy(simulation.probe);
	*cost = cost_of(&totals);
	return error;
}

static int changed_policy(const struct um_finding_setup *setup, const char *change,
			  struct um_policy **out)
{
	int error = base_policy(out, setup);

	if (error)
		return error;
	error = settle(setup, *out, change);
	if (error)
		um_policy_destroy(*out);
	return error;
}

bool um_finding_has_policy(const struct um_finding_setup *setup)
{
	return setup->policy_text || setup->choice->policy;
}

/* Whether it says which machine: else it is the trace's, whose file may be another of that name. */
static int names_machine(const struct um_finding_setup *setup, bool *names)
{
	struct um_policy *base;
	int error = base_policy(&base, setup);

	if (error)
		return error;
	*names = setup->choice->machine || base->machine;
	um_policy_destroy(base);
	return 0;
}

/* The line of a policy's text that names the machine. */
static void leave_out_machine(char *text)
{
	static const char key[] = "machine: ";
	char *line = strncmp(text, key, strlen(key)) == 0 ? text : strstr(text, "\nmachine: ");
	char *end;

	if (!line)
		return;
	line += *line == '\n';
	end = strchr(line, '\n');
	if (end)
		memmove(line, end + 1, strlen(end + 1) + 1);
}

int um_finding_policy_text(const struct um_finding_setup *setup, const char *change, char **out)
{
	struct um_policy *policy;
	bool names;
	int error = names_machine(setup, &names);

	if (!error)
		error = changed_policy(setup, change, &policy);
	if (error)
		return error;
	error = um_policy_text(out, policy);
	if (!error && !names)
		leave_out_machine(*out);
	um_policy_destroy(policy);
	return error;
}

int um_finding_replay(struct um_finding_setup *setup, const char *change,
		      const struct um_observer *observer, struct um_finding_cost *cost)
{
	struct um_policy *policy;
	int error;

	forget_ignored(setup);
	if (!change)
		return simulate(setup, setup->policy, observer, cost);
	error = changed_policy(setup, change, &policy);
	if (error)
		return error;
	error = simulate(setup, policy, observer, cost);
	um_policy_destroy(policy);
	return error;
}
