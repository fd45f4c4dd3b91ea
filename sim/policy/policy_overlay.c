#include "policy_overlay.h"

#include "policy_settle.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static int add_rules(struct um_policy *policy, struct um_policy *over)
{
	struct um_rule *rules = reallocarray(
		policy->rules, policy->rule_count + over->rule_count + 1, sizeof(*rules));

	if (!rules)
		return um_fail(UM_ENOMEM, "out of memory");
	policy->rules = rules;
	if (over->rule_count)
		memcpy(rules + policy->rule_count, over->rules, over->rule_count * sizeof(*rules));
	policy->rule_count += over->rule_count;
	over->rule_count = 0;
	return 0;
}

static int add_without(struct um_policy *policy, struct um_policy *over)
{
	struct um_policy_without *without = reallocarray(
		policy->without, policy->without_count + over->without_count + 1, sizeof(*without));

	if (!without)
		return um_fail(UM_ENOMEM, "out of memory");
	policy->without = without;
	if (over->without_count)
		memcpy(without + policy->without_count, over->without,
		       over->without_count * sizeof(*without));
	policy->without_count += over->without_count;
	over->without_count = 0;
	return 0;
}

static void add_memory(struct um_policy *policy, const struct um_policy *over)
{
	if (!over->memory_bytes && over->memory_times <= 0)
		return;
	policy->memory_bytes = over->memory_bytes;
	policy->memory_times = over->memory_times;
	policy->memory_source = over->memory_source;
}

int um_policy_add(struct um_policy *policy, struct um_policy *over)
{
	int error = add_rules(policy, over);

	for (size_t i = 0; i < over->setting_count && !error; i++)
		error = um_policy_add_setting(policy, &over->settings[i]);
	if (!error && policy->driver_named)
		error = um_policy_apply_settings(policy);
	if (!error)
		error = add_without(policy, over);
	add_memory(policy, over);
	policy->keep_program_advice &= over->keep_program_advice;
	policy->keep_program_prefetch &= over->keep_program_prefetch;
	return error;
}

enum um_xnack um_policy_traced_xnack(const struct um_run_row *run,
				     const struct um_machine_spec *machine)
{
	bool is_same = run->machine && strcmp(run->machine, machine->name) == 0;

	if (!run->xnack || (!is_same && machine->xnack != UM_XNACK_PROCESS))
		return UM_XNACK_UNKNOWN;
	return strcmp(run->xnack, "on") == 0 ? UM_XNACK_ON : UM_XNACK_OFF;
}
