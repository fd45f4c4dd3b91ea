#include "sweep_plan.h"

#include "sweep_settle.h"

#include "sim/machine/machine_file.h"
#include "sim/policy/policy_check.h"
#include "trace/base/error.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

/* ---------------------------------------------------------------- policies */

static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash ? slash + 1 : path), *dot = name ? strrchr(name, '.') : NULL;

	if (dot && dot != name && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")))
		*dot = '\0';
	return name;
}

static bool is_same_file(const char *a, const char *b)
{
	char *left = realpath(a, NULL), *right = realpath(b, NULL);
	bool same = left && right && !strcmp(left, right);

	free(left);
	free(right);
	return same;
}

static int add_policy(struct um_sweep_plan *plan, const char *path)
{
	struct um_sweep_policy *grown;

	for (size_t i = 0; i < plan->policy_count; i++)
		if (is_same_file(plan->policies[i].path, path))
			return um_fail(UM_EINVAL, "-P %s: is among the policies already, as %s",
				       path, plan->policies[i].path);
	grown = reallocarray(plan->policies, plan->policy_count + 1, sizeof(*grown));
	if (!grown)
		return out_of_memory();
	plan->policies = grown;
	grown += plan->policy_count++;
	*grown = (struct um_sweep_policy){strdup(path), name_of(path)};
	return grown->path && grown->name ? 0 : out_of_memory();
}

int um_sweep_plan_add_policies(struct um_sweep_plan *plan, const char *pattern)
{
	glob_t found;
	int error = 0, result;

	if (!strpbrk(pattern, "*?["))
		return add_policy(plan, pattern);
	result = glob(pattern, 0, NULL, &found);
	if (result == GLOB_NOMATCH)
		return um_fail(UM_EINVAL, "-P '%s': no file is called so", pattern);
	if (result)
		return um_fail(UM_EIO, "-P '%s': cannot be looked for", pattern);
	for (size_t i = 0; i < found.gl_pathc && !error; i++)
		error = add_policy(plan, found.gl_pathv[i]);
	globfree(&found);
	return error;
}

/* Policies of two folders that are called alike go by their paths. */
static int tell_names_apart(struct um_sweep_plan *plan)
{
	for (size_t i = 0; i < plan->policy_count; i++) {
		bool is_twice = false;

		for (size_t other = 0; other < plan->policy_count && !is_twice; other++) {
			char *name = other == i ? NULL : name_of(plan->policies[other].path);

			is_twice = name && !strcmp(plan->policies[i].name, name);
			free(name);
		}
		if (!is_twice)
			continue;
		free(plan->policies[i].name);
		plan->policies[i].name = strdup(plan->policies[i].path);
		if (!plan->policies[i].name)
			return out_of_memory();
	}
	return 0;
}

/* Without -P there is one: what the program did. */
static int add_program(struct um_sweep_plan *plan)
{
	plan->policies = calloc(1, sizeof(*plan->policies));
	if (!plan->policies)
		return out_of_memory();
	plan->policy_count = 1;
	plan->policies->name = strdup("program");
	return plan->policies->name ? 0 : out_of_memory();
}

/* Its rules are the same in all configurations of it, and match the same. */
static int check_rules(const struct um_policy *policy, struct um_db *trace)
{
	struct um_subjects *subjects;
	struct um_rule_report *report = NULL;
	int error = um_subjects_load(&subjects, trace);

	if (error)
		return error;
	error = um_policy_report(&report, policy, subjects, trace);
	if (!error)
		error = um_policy_report_check(policy, report);
	um_policy_report_free(report, policy->rule_count);
	um_subjects_destroy(subjects);
	return error;
}

static int check_policies(const struct um_sweep_plan *plan, struct um_db *trace)
{
	int error = 0;

	for (size_t i = 0; i < plan->policy_count && !error; i++) {
		struct um_policy *policy;

		if (!plan->policies[i].path)
			continue;
		error = um_policy_load(&policy, plan->policies[i].path);
		if (error)
			return error == UM_ENOENT ? UM_EINVAL : error;
		if (policy->rule_count)
			error = check_rules(policy, trace);
		um_policy_destroy(policy);
	}
	return error;
}

/* ---------------------------------------------------------------- what is varied */

int um_sweep_plan_add_axis(struct um_sweep_plan *plan, const char *text)
{
	struct um_sweep_axis axis;
	int error;

	if (plan->axis_count == UM_SWEEP_AXES_MAX)
		return um_fail(UM_EINVAL, "--vary: more than %d keys", UM_SWEEP_AXES_MAX);
	error = um_sweep_axis_parse(&axis, text);
	if (error)
		return error;
	for (size_t i = 0; i < plan->axis_count; i++)
		if (strcmp(plan->axes[i].key, axis.key) == 0) {
			error = um_fail(UM_EINVAL,
					"--vary %s stands there twice: all its values go into one",
					axis.key);
			um_sweep_axis_fini(&axis);
			return error;
		}
	plan->axes[plan->axis_count++] = axis;
	return 0;
}

static size_t value_index(const struct um_sweep_plan *plan, size_t configuration, size_t axis)
{
	for (size_t later = plan->axis_count; --later > axis;)
		configuration /= plan->axes[later].count;
	return configuration % plan->axes[axis].count;
}

const char *um_sweep_plan_value(const struct um_sweep_plan *plan, size_t configuration, size_t axis)
{
	return plan->axes[axis].values[value_index(plan, configuration, axis)].text;
}

/* ---------------------------------------------------------------- configurations */

static int count_all(struct um_sweep_plan *plan)
{
	size_t count = plan->policy_count;

	for (size_t i = 0; i < plan->axis_count; i++)
		if (__builtin_mul_overflow(count, plan->axes[i].count, &count) ||
		    count > UM_SWEEP_CONFIGURATIONS_MAX)
			return um_fail(UM_EINVAL, "more than %d configurations",
				       UM_SWEEP_CONFIGURATIONS_MAX);
	plan->configurations = calloc(count, sizeof(*plan->configurations));
	if (!plan->configurations)
		return out_of_memory();
	plan->count = count;
	return 0;
}

static void release(struct um_sweep_configuration *configuration)
{
	um_policy_destroy(configuration->policy);
	um_machine_spec_destroy(configuration->machine);
	free(configuration->policy_text);
	configuration->policy = NULL;
	configuration->machine = NULL;
	configuration->policy_text = NULL;
}

static int make_one(struct um_sweep_plan *plan, size_t index, const struct um_sweep_traced *traced)
{
	struct um_sweep_configuration *configuration = &plan->configurations[index];
	struct um_policy_value values[UM_SWEEP_AXES_MAX];
	size_t per_policy = plan->count / plan->policy_count;
	int error;

	configuration->from = &plan->policies[index / per_policy];
	for (size_t i = 0; i < plan->axis_count; i++) {
		const struct um_sweep_value *value =
			&plan->axes[i].values[value_index(plan, index, i)];

		values[i] = (struct um_policy_value){plan->axes[i].key, value->text, value->source};
	}
	error = um_sweep_settle(configuration, values, plan->axis_count, traced);
	if (error != UM_EINVAL)
		return error;
	release(configuration);
	configuration->reason = strdup(um_error_message());
	return configuration->reason ? 0 : out_of_memory();
}

int um_sweep_plan_make(struct um_sweep_plan *plan, struct um_db *trace)
{
	struct um_sweep_traced traced;
	int error = plan->policy_count ? 0 : add_program(plan);

	if (!error)
		error = tell_names_apart(plan);
	if (!error)
		error = check_policies(plan, trace);
	if (!error)
		error = count_all(plan);
	if (error)
		return error;
	error = um_sweep_traced_read(&traced, trace);
	for (size_t i = 0; i < plan->count && !error; i++)
		error = make_one(plan, i, &traced);
	um_sweep_traced_fini(&traced);
	return error;
}

void um_sweep_plan_fini(struct um_sweep_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		release(&plan->configurations[i]);
		free(plan->configurations[i].reason);
	}
	free(plan->configurations);
	for (size_t i = 0; i < plan->axis_count; i++)
		um_sweep_axis_fini(&plan->axes[i]);
	for (size_t i = 0; i < plan->policy_count; i++) {
		free(plan->policies[i].path);
		free(plan->policies[i].name);
	}
	free(plan->policies);
	*plan = (struct um_sweep_plan){0};
}

/* FNV-1a, which is for telling apart by accident, not by intent. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

uint64_t um_sweep_plan_fingerprint(const struct um_sweep_plan *plan)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < plan->count; i++) {
		const struct um_sweep_configuration *configuration = &plan->configurations[i];

		hash = add_text(hash, configuration->from->name);
		hash = add_text(hash, configuration->policy_text);
		hash = add_text(hash, configuration->machine ? configuration->machine->text : NULL);
		for (size_t axis = 0; axis < plan->axis_count; axis++)
			hash = add_text(hash, um_sweep_plan_value(plan, i, axis));
	}
	return hash;
}

size_t um_sweep_plan_refused(const struct um_sweep_plan *plan)
{
	size_t refused = 0;

	for (size_t i = 0; i < plan->count; i++)
		refused += plan->configurations[i].reason != NULL;
	return refused;
}

char *um_sweep_plan_label(char *buffer, size_t capacity, const struct um_sweep_plan *plan,
			  size_t configuration)
{
	size_t used = (size_t)snprintf(buffer, capacity, "%s",
				       plan->configurations[configuration].from->name);

	for (size_t i = 0; i < plan->axis_count && used < capacity; i++)
		used += (size_t)snprintf(buffer + used, capacity - used, ", %s %s",
					 plan->axes[i].key,
					 um_sweep_plan_value(plan, configuration, i));
	return buffer;
}
