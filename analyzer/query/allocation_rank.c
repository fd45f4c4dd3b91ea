#include "allocation_rank.h"

static double known(int64_t value)
{
	return value == UM_NULL ? 0 : (double)value;
}

static double bytes_over_link(const struct um_allocation_summary *of)
{
	return known(of->migrated_to_device_bytes) + known(of->migrated_to_host_bytes) +
	       known(of->remote_to_device_bytes) + known(of->remote_to_host_bytes) +
	       known(of->copied_to_device_bytes) + known(of->copied_to_host_bytes);
}

int um_allocation_compare(const struct um_allocation_summary *left,
			  const struct um_allocation_summary *right)
{
	const double keys[][2] = {
		{bytes_over_link(left), bytes_over_link(right)},
		{known(left->device_faults) + known(left->host_faults),
		 known(right->device_faults) + known(right->host_faults)},
		{known(left->bytes), known(right->bytes)},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] > keys[i][1] ? -1 : 1;
	return (left->allocation > right->allocation) - (left->allocation < right->allocation);
}

/* Few are wanted of many: each is put in its place among the best so far. */
size_t um_allocation_rank(const struct um_summary *summary, int64_t *out, size_t capacity)
{
	const struct um_allocation_summary *best[256];
	size_t count = 0;

	if (capacity > sizeof(best) / sizeof(best[0]))
		capacity = sizeof(best) / sizeof(best[0]);
	for (size_t i = 0; i < summary->allocation_count; i++) {
		const struct um_allocation_summary *of = &summary->allocations[i];
		size_t place = count;

		if (count == capacity && um_allocation_compare(of, best[count - 1]) > 0)
			continue;
		if (count == capacity)
			place--;
		else
			count++;
		for (; place && um_allocation_compare(of, best[place - 1]) < 0; place--)
			best[place] = best[place - 1];
		best[place] = of;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = best[i]->allocation;
	return count;
}
