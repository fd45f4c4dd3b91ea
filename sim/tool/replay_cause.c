#include "replay.h"

#define BY_CAUSE(name, sum)                                                                        \
	static uint64_t name##_to_device(const struct um_totals *totals)                           \
	{                                                                                          \
		const uint64_t *moved = totals->migrated_to_device;                                \
		return sum;                                                                        \
	}                                                                                          \
	static uint64_t name##_to_host(const struct um_totals *totals)                             \
	{                                                                                          \
		const uint64_t *moved = totals->migrated_to_host;                                  \
		return sum;                                                                        \
	}
BY_CAUSE(fault, moved[UM_CAUSE_DEVICE_FAULT] + moved[UM_CAUSE_HOST_FAULT])
BY_CAUSE(duplicate, moved[UM_CAUSE_DUPLICATE])
BY_CAUSE(prefetch, moved[UM_CAUSE_PREFETCH])
BY_CAUSE(eviction, moved[UM_CAUSE_EVICTION])
BY_CAUSE(advice, moved[UM_CAUSE_ADVICE])

static uint64_t remote_to_device(const struct um_totals *totals)
{
	return totals->remote_to_device;
}

static uint64_t remote_to_host(const struct um_totals *totals)
{
	return totals->remote_to_host;
}

static uint64_t copy_to_device(const struct um_totals *totals)
{
	return totals->copied_to_device;
}

static uint64_t copy_to_host(const struct um_totals *totals)
{
	return totals->copied_to_host;
}

const struct um_replay_cause um_replay_causes[] = {
	{"fault", fault_to_device, fault_to_host},
	{"duplicate", duplicate_to_device, duplicate_to_host},
	{"prefetch", prefetch_to_device, prefetch_to_host},
	{"eviction", eviction_to_device, eviction_to_host},
	{"advice", advice_to_device, advice_to_host},
	{"remote", remote_to_device, remote_to_host},
	{"copy", copy_to_device, copy_to_host},
	{NULL, NULL, NULL},
};
