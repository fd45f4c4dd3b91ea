#include "policy_evict.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DRIVERS_OWN "driver"

/* *order: NULL for the driver's own. Messages without a place. */
static int find_order(const struct um_evict_ops **order, const char *name)
{
	char names[200] = DRIVERS_OWN;
	size_t count, used = strlen(names);
	const struct um_evict_ops *const *orders = um_evict_registry(&count);

	*order = NULL;
	if (strcmp(name, DRIVERS_OWN) == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, orders[i]->name) == 0) {
			*order = orders[i];
			return 0;
		}
	for (size_t i = 0; i < count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, ", %s",
					 orders[i]->name);
	return um_fail(UM_EINVAL, "evict: \"%.48s\" is none of %s", name, names);
}

int um_policy_read_evict(const struct um_yaml_file *file, const struct um_yaml_node *node,
			 struct um_policy *policy)
{
	const char *text = um_yaml_scalar(file, node, "evict");
	char message[300];

	if (!text || !find_order(&policy->evict, text))
		return text ? 0 : UM_EINVAL;
	snprintf(message, sizeof(message), "%s", um_error_message());
	return um_yaml_fail(file, node, "%s", message);
}

int um_policy_set_evict(struct um_policy *policy, const char *text)
{
	size_t length = strcspn(text, ":");
	const struct um_evict_ops *order;
	uint64_t seed = 0;
	char name[64];
	int error;

	snprintf(name, sizeof(name), "%.*s", length < 63 ? (int)length : 63, text);
	error = find_order(&order, name);
	if (!error && text[length]) {
		if (!order || !order->takes_seed)
			return um_fail(UM_EINVAL, "evict: %s draws nothing: it takes no seed",
				       name);
		error = um_parse_u64(text + length + 1, &seed);
		if (!error && seed > UINT32_MAX)
			error = um_fail(UM_EINVAL, "evict: %s: a seed is at most 4294967295", text);
	}
	if (error)
		return error;
	policy->evict = order;
	policy->evict_seed = (uint32_t)seed;
	return 0;
}

int um_policy_read_evict_seed(const struct um_yaml_file *file, const struct um_yaml_node *node,
			      struct um_policy *policy)
{
	static const struct um_yaml_key key = {
		"evict_seed", NULL, offsetof(struct um_policy, evict_seed), 0, 0,
		UINT32_MAX,   false};

	if (!policy->evict || !policy->evict->takes_seed)
		return um_yaml_fail(file, node, "evict_seed: only \"evict: random\" draws");
	return um_yaml_u32(file, node, &key, policy);
}

void um_policy_write_evict(FILE *out, const struct um_policy *policy)
{
	const struct um_evict_ops *order = policy->evict;

	fprintf(out, "evict: %s", order ? order->name : DRIVERS_OWN);
	if (order && (policy->driver_named || policy->is_settled) &&
	    um_policy_hypothetical_order(policy))
		fprintf(out, " # hypothetical: %s", order->hypothetical);
	fputc('\n', out);
	if (order && order->takes_seed)
		fprintf(out, "evict_seed: %" PRIu32 "\n", policy->evict_seed);
}

const struct um_evict_ops *um_policy_hypothetical_order(const struct um_policy *policy)
{
	return policy->evict == policy->driver->evict ? NULL : policy->evict;
}

int um_policy_check_evict(const struct um_policy *policy)
{
	if (!policy->evict || policy->driver->evict)
		return 0;
	return um_fail(UM_EINVAL, "%s: evict: driver %s takes no eviction order", policy->path,
		       policy->driver->name);
}
