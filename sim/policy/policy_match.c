#include "policy.h"

#include "trace/base/error.h"
#include "trace/base/kernel_name.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Also as it stands, for names such as "[heap]". */
static bool matches(const char *pattern, const char *text)
{
	return strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0;
}

/* With its folders or without them. */
static bool site_matches(const char *pattern, const char *site)
{
	const char *slash = strrchr(site, '/');

	return matches(pattern, site) || (slash && matches(pattern, slash + 1));
}

bool um_site_matches(const char *site, const char *place)
{
	return site_matches(site, place);
}

static bool any_site_matches(const char *pattern, const char *const *sites)
{
	for (; sites && *sites; sites++)
		if (site_matches(pattern, *sites))
			return true;
	return false;
}

bool um_rule_matches(const struct um_rule *rule, const struct um_allocation_facts *facts)
{
	const struct um_selector *on = &rule->on;

	if (on->index && on->index != facts->index)
		return false;
	if (on->kind && (!facts->kind || strcmp(on->kind, facts->kind) != 0))
		return false;
	if (on->larger_than_bytes && facts->bytes <= on->larger_than_bytes)
		return false;
	if (on->has_range && on->range_start >= facts->bytes)
		return false;
	if (on->name && (!facts->name || !matches(on->name, facts->name)))
		return false;
	return !on->site || any_site_matches(on->site, facts->sites);
}

/* Out of memory matches nothing. */
static bool prefix_matches(const char *pattern, const char *text, size_t length)
{
	char *part = strndup(text, length);
	bool found = part && matches(pattern, part);

	free(part);
	return found;
}

bool um_moment_names(const struct um_moment *moment, const char *kernel)
{
	if (!moment->before)
		return false;
	if (matches(moment->before, kernel))
		return true;
	struct um_kernel_name name = um_kernel_name(kernel);
	return prefix_matches(moment->before, name.start, name.length) ||
	       prefix_matches(moment->before, name.start, name.bare_length);
}

bool um_moment_matches(const struct um_moment *moment, const char *kernel, uint32_t nth)
{
	return (moment->nth == 0 || moment->nth == nth) && um_moment_names(moment, kernel);
}

static um_device_id highest_device(const struct um_rule *rule)
{
	um_device_id highest = rule->has_preferred_location ? rule->preferred_location : UM_HOST;

	if (rule->is_prefetch && rule->to > highest)
		highest = rule->to;
	for (um_device_id device = UM_DEVICES_MAX - 1; device > highest; device--)
		if (rule->accessed_by >> device & 1)
			return device;
	return highest;
}

int um_policy_check_devices(const struct um_policy *policy, const struct um_machine_spec *machine)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		um_device_id highest = highest_device(&policy->rules[i]);
		if (highest >= (um_device_id)machine->devices)
			return um_fail_at(UM_EINVAL, policy->path, policy->rules[i].line, 0,
					  "gpu%d: machine %s has %u device%s, from gpu0", highest,
					  machine->name, machine->devices,
					  machine->devices == 1 ? "" : "s");
	}
	return 0;
}
