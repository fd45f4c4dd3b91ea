#include "policy_machine.h"

#include "trace/base/error.h"
#include "trace/base/suggest.h"

#include <stdio.h>
#include <string.h>

static int fail_there(const struct um_machine_spec *machine, const struct um_machine_place *at,
		      const char *what)
{
	char message[640];

	snprintf(message, sizeof(message), "%s", what);
	return um_fail_at(UM_EINVAL, machine->path, at->line, at->column, "%s", message);
}

static int refuse_name(const struct um_machine_spec *machine,
		       const struct um_machine_setting *setting, const struct um_driver_ops *ops)
{
	const char *meant = NULL;
	char message[256];
	size_t count = 0;

	while (ops->params && ops->params[count].name)
		count++;
	if (count)
		meant = um_suggest(setting->name, &ops->params->name, count, sizeof(*ops->params));
	if (meant)
		snprintf(message, sizeof(message),
			 "driver %s has no \"%.48s\": did you mean \"%s\"?", ops->name,
			 setting->name, meant);
	else
		snprintf(message, sizeof(message),
			 "driver %s has no \"%.48s\" (umsim policy drivers lists them)", ops->name,
			 setting->name);
	return fail_there(machine, &setting->name_at, message);
}

/* *which: the parameter's place in the driver's table. */
static int read_setting(const struct um_machine_spec *machine,
			const struct um_machine_setting *setting, struct um_param_value *value,
			const struct um_driver_ops **ops, size_t *which)
{
	*ops = um_driver_find(setting->driver);
	if (!*ops)
		return fail_there(machine, &setting->driver_at, um_error_message());
	*which = 0;
	while ((*ops)->params && (*ops)->params[*which].name &&
	       strcmp((*ops)->params[*which].name, setting->name) != 0)
		++*which;
	if (!(*ops)->params || !(*ops)->params[*which].name)
		return refuse_name(machine, setting, *ops);
	if (strcmp(setting->name, "xnack") == 0)
		return fail_there(machine, &setting->name_at,
				  "xnack: a machine has this as a key of its own, not of a driver");
	return um_param_parse(value, &(*ops)->params[*which], setting->text)
		       ? fail_there(machine, &setting->text_at, um_error_message())
		       : 0;
}

static bool is_named(const struct um_policy *policy, size_t which)
{
	return policy->params_named >> which & 1;
}

static int take_defaults(struct um_policy *policy)
{
	const struct um_param *params = policy->driver->params;
	int error = 0;

	for (size_t i = 0; params && params[i].name && !error; i++)
		if (!is_named(policy, i))
			error = um_param_default(&policy->params[i], &params[i]);
	return error;
}

int um_policy_take_machine(struct um_policy *policy, const struct um_machine_spec *machine)
{
	int error = take_defaults(policy);

	for (size_t i = 0; i < machine->setting_count && !error; i++) {
		struct um_param_value value;
		const struct um_driver_ops *ops;
		size_t which = 0;

		error = read_setting(machine, &machine->settings[i], &value, &ops, &which);
		if (!error && ops == policy->driver && !is_named(policy, which))
			policy->params[which] = value;
	}
	return error;
}
