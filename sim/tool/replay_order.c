#include "replay.h"

bool um_replay_order_text(char *out, size_t capacity, const struct um_replay *replay)
{
	const struct um_evict_ops *order = um_policy_hypothetical_order(replay->policy);
	char seed[32] = "";

	*out = '\0';
	if (!order)
		return false;
	if (order->takes_seed)
		snprintf(seed, sizeof(seed), ", seed %u", replay->policy->evict_seed);
	snprintf(out, capacity, "eviction %s%s: hypothetical, %s", order->name, seed,
		 order->hypothetical);
	return true;
}
