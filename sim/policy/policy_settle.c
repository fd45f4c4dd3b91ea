/*
 * The driver of a policy, its parameters and its page size: as soon as the driver is known, which
 * may be only when the machine is; and XNACK, which besides depends on the program.
 */
#include "policy_settle.h"

#include "policy_machine.h"
#include "trace/base/error.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"
#include "trace/db/xnack_text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the driver */

static size_t count_params(const struct um_driver_ops *ops)
{
	size_t count = 0;

	while (ops->params && ops->params[count].name)
		count++;
	return count;
}

int um_policy_adopt_driver(struct um_policy *policy, const struct um_driver_ops *ops)
{
	size_t count = count_params(ops);

	assert(count <= 64); /* params_named */
	struct um_param_value *values = calloc(count + 1, sizeof(*values));
	int error = values ? 0 : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; i < count && !error; i++)
		error = um_param_default(&values[i], &ops->params[i]);
	if (error) {
		free(values);
		return error;
	}
	free(policy->params);
	policy->params = values;
	policy->params_named = 0;
	policy->driver = ops;
	return 0;
}

int um_policy_set_driver(struct um_policy *policy, const char *name)
{
	const struct um_driver_ops *ops = um_driver_find(name);

	if (!ops)
		return UM_EINVAL;
	int error = um_policy_adopt_driver(policy, ops);
	policy->driver_named = true;
	return error || !policy->page_bytes ? error : um_policy_check_page_bytes(policy);
}

/* Which driver models that of real machines of an architecture; the first that fits. */
static const struct {
	const char *arch; /* how its name begins */
	const char *driver;
} machine_drivers[] = {{"gfx", "amdgpu_svm"}, {"sm_", "nvidia_uvm"}, {"", UM_DRIVER_DEFAULT}};

static int choose_driver(struct um_policy *policy, const struct um_machine_spec *machine)
{
	const struct um_driver_ops *ops;
	size_t i = 0;

	while (strncmp(machine->arch, machine_drivers[i].arch, strlen(machine_drivers[i].arch)))
		i++;
	ops = um_driver_find(machine_drivers[i].driver);
	return ops ? um_policy_adopt_driver(policy, ops) : UM_EINVAL;
}

/* ---------------------------------------------------------------- page size */

/* At its place in the file; what no file has goes without. */
static int fail_at_place(const struct um_policy *policy, struct um_policy_place at,
			 const char *message)
{
	return at.line ? um_fail_at(UM_EINVAL, policy->path, at.line, at.column, "%s", message)
		       : um_fail(UM_EINVAL, "%s", message);
}

/* "4 KiB, 64 KiB, 2 MiB" */
static void page_sizes_text(char *buffer, size_t capacity, const uint64_t *page_bytes)
{
	size_t used = 0;
	char size[32];

	for (; *page_bytes && used < capacity; page_bytes++) {
		int wrote = snprintf(buffer + used, capacity - used, "%s%s", used ? ", " : "",
				     um_format_bytes(size, sizeof(size), *page_bytes));
		used += wrote > 0 ? (size_t)wrote : 0;
	}
}

static int refuse_page_bytes(const struct um_policy *policy, const uint64_t *sizes)
{
	char list[256] = "", asked[32], message[400];

	page_sizes_text(list, sizeof(list), sizes);
	um_format_bytes(asked, sizeof(asked), policy->page_bytes);
	snprintf(
		message, sizeof(message),
		policy->driver->page_bytes
			? "page_size: driver %s does not take %s; it takes %s"
			: "page_size: driver %s does not take %s: it has no choice, and goes by %s",
		policy->driver->name, asked, list);
	return fail_at_place(policy, policy->page_at, message);
}

int um_policy_check_page_bytes(const struct um_policy *policy)
{
	const uint64_t fixed[] = {policy->driver->default_page_bytes, 0};
	const uint64_t *sizes = policy->driver->page_bytes ? policy->driver->page_bytes : fixed;

	for (size_t i = 0; sizes[i]; i++)
		if (sizes[i] == policy->page_bytes)
			return 0;
	return refuse_page_bytes(policy, sizes);
}

int um_policy_set_page_bytes(struct um_policy *policy, uint64_t page_bytes)
{
	policy->page_bytes = page_bytes;
	policy->page_at = (struct um_policy_place){0};
	return policy->driver_named ? um_policy_check_page_bytes(policy) : 0;
}

/* ---------------------------------------------------------------- settings */

int um_policy_add_setting(struct um_policy *policy, const struct um_policy_setting *setting)
{
	struct um_policy_setting *grown = reallocarray(policy->settings, policy->setting_count + 1,
						       sizeof(*policy->settings));

	if (!grown)
		return um_fail(UM_ENOMEM, "out of memory");
	policy->settings = grown;
	struct um_policy_setting *added = &grown[policy->setting_count++];
	*added = *setting;
	added->name = strdup(setting->name);
	added->text = strdup(setting->text);
	return added->name && added->text ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

void um_policy_drop_settings(struct um_policy *policy)
{
	for (size_t i = 0; i < policy->setting_count; i++) {
		free(policy->settings[i].name);
		free(policy->settings[i].text);
	}
	free(policy->settings);
	policy->settings = NULL;
	policy->setting_count = 0;
}

static int refuse_setting(const struct um_policy *policy, const struct um_policy_setting *setting)
{
	const struct um_driver_ops *ops = policy->driver;
	size_t count = count_params(ops), used = 0;
	const char *meant =
		count ? um_suggest(setting->name, &ops->params->name, count, sizeof(*ops->params))
		      : NULL;
	char list[400] = "nothing but its name", message[600];

	if (meant) {
		snprintf(message, sizeof(message),
			 "driver %s has no \"%.48s\": did you mean \"%s\"?", ops->name,
			 setting->name, meant);
		return fail_at_place(policy, setting->name_at, message);
	}
	for (size_t i = 0; i < count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 ops->params[i].name);
	snprintf(message, sizeof(message), "driver %s has no \"%.48s\"; it takes %s", ops->name,
		 setting->name, list);
	return fail_at_place(policy, setting->name_at, message);
}

static int apply_setting(struct um_policy *policy, const struct um_policy_setting *setting)
{
	const struct um_param *params = policy->driver->params;
	size_t which = 0;

	while (params && params[which].name && strcmp(params[which].name, setting->name) != 0)
		which++;
	if (!params || !params[which].name)
		return refuse_setting(policy, setting);
	int error = um_param_parse(&policy->params[which], &params[which], setting->text);
	if (!error)
		policy->params_named |= UINT64_C(1) << which;
	if (!error || error == UM_ENOMEM)
		return error;

	char message[512];

	snprintf(message, sizeof(message), "%s", um_error_message());
	return fail_at_place(policy, setting->text_at, message);
}

int um_policy_apply_settings(struct um_policy *policy)
{
	int error = 0;

	for (size_t i = 0; i < policy->setting_count && !error; i++)
		error = apply_setting(policy, &policy->settings[i]);
	um_policy_drop_settings(policy);
	return error;
}

/* ---------------------------------------------------------------- XNACK */

int um_xnack_parse(enum um_xnack *out, const char *text)
{
	*out = strcmp(text, "on") == 0	  ? UM_XNACK_ON
	       : strcmp(text, "off") == 0 ? UM_XNACK_OFF
					  : UM_XNACK_UNKNOWN;
	return *out != UM_XNACK_UNKNOWN
		       ? 0
		       : um_fail(UM_EINVAL, "xnack: \"%.48s\" is neither on nor off", text);
}

const char *um_xnack_word(enum um_xnack xnack)
{
	return xnack == UM_XNACK_UNKNOWN ? NULL : xnack == UM_XNACK_ON ? "on" : "off";
}

const char *um_xnack_default_source(const struct um_machine_spec *machine)
{
	switch (machine->xnack) {
	case UM_XNACK_NEVER:
		return "this GPU never retries faults";
	case UM_XNACK_BOOT:
		return "amdgpu was loaded with its default, noretry=1";
	case UM_XNACK_PROCESS:
		return UM_XNACK_UNSET_TEXT;
	case UM_XNACK_ALWAYS:
		break;
	}
	return NULL;
}

static struct um_param_value *xnack_param(const struct um_policy *policy)
{
	return (struct um_param_value *)um_param_find(policy->params, policy->driver->params,
						      "xnack");
}

/* What the file says; UNKNOWN: nothing, or `auto`. */
static enum um_xnack xnack_of_file(const struct um_policy *policy)
{
	const struct um_param_value *param = xnack_param(policy);
	char text[64];

	if (!param)
		return UM_XNACK_UNKNOWN;
	um_param_text(text, sizeof(text), param);
	return strcmp(text, "on") == 0	  ? UM_XNACK_ON
	       : strcmp(text, "off") == 0 ? UM_XNACK_OFF
					  : UM_XNACK_UNKNOWN;
}

/* Who asked for what; the machine where nobody did. *source comes in as settled before. */
static enum um_xnack xnack_asked(const struct um_policy *policy, enum um_xnack_source *source)
{
	enum um_xnack of_file = xnack_of_file(policy);

	if (policy->xnack_asked != UM_XNACK_UNKNOWN) {
		*source = UM_XNACK_BY_OPTION;
		return policy->xnack_asked;
	}
	/* Settled before: what stands there need not be the file's. */
	if (of_file == UM_XNACK_UNKNOWN || (policy->is_settled && *source != UM_XNACK_BY_POLICY)) {
		*source = UM_XNACK_BY_MACHINE;
		return UM_XNACK_UNKNOWN;
	}
	*source = UM_XNACK_BY_POLICY;
	return of_file;
}

/* What the machine makes of it. */
static int decide_xnack(struct um_policy *policy, const struct um_machine_spec *machine,
			enum um_xnack traced)
{
	enum um_xnack asked = xnack_asked(policy, &policy->xnack_source);
	bool is_fixed = machine->xnack == UM_XNACK_NEVER || machine->xnack == UM_XNACK_ALWAYS;

	policy->xnack = machine->xnack == UM_XNACK_ALWAYS ? UM_XNACK_ON : UM_XNACK_OFF;
	if (is_fixed && asked != UM_XNACK_UNKNOWN && asked != policy->xnack)
		return um_fail(UM_EINVAL,
			       machine->xnack == UM_XNACK_NEVER
				       ? "xnack: on: %s (%s) cannot retry an access that faulted"
				       : "xnack: off: %s (%s) has no such switch",
			       machine->name, machine->arch);
	if (asked != UM_XNACK_UNKNOWN) {
		policy->xnack = asked;
	} else if (!is_fixed && traced != UM_XNACK_UNKNOWN) {
		policy->xnack = traced;
		policy->xnack_source = UM_XNACK_BY_TRACE;
	}
	return 0;
}

static int settle_xnack(struct um_policy *policy, const struct um_machine_spec *machine,
			enum um_xnack traced)
{
	struct um_param_value *param = xnack_param(policy);

	if (!param && policy->xnack_asked != UM_XNACK_UNKNOWN)
		return um_fail(UM_EINVAL, "xnack: driver %s does not model it",
			       policy->driver->name);
	int error = decide_xnack(policy, machine, traced);
	if (error || !param)
		return error;
	return um_param_parse(param, param->param, policy->xnack == UM_XNACK_ON ? "on" : "off");
}

/* ---------------------------------------------------------------- all of it */

int um_policy_settle(struct um_policy *policy, const struct um_machine_spec *machine,
		     enum um_xnack traced)
{
	int error = policy->driver_named || policy->is_settled ? 0 : choose_driver(policy, machine);

	if (!error)
		error = um_policy_take_machine(policy, machine);
	if (!error)
		error = um_policy_apply_settings(policy);
	if (!error && policy->page_bytes)
		error = um_policy_check_page_bytes(policy);
	if (!error)
		error = um_policy_check_evict(policy);
	if (!error)
		error = settle_xnack(policy, machine, traced);
	policy->is_settled = error == 0;
	return error;
}
