#include "sweep_columns.h"

#include <string.h>

#define SUM(name, first, second)                                                                   \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			offsetof(struct um_totals, first), offsetof(struct um_totals, second)      \
		}                                                                                  \
	}
#define ONE(name, member)                                                                          \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			offsetof(struct um_totals, member), UM_SWEEP_NO_OFFSET                     \
		}                                                                                  \
	}
#define CAUSE(name, cause)                                                                         \
	ONE(name "_to_device", migrated_to_device[cause]),                                         \
		ONE(name "_to_host", migrated_to_host[cause])

const struct um_sweep_column um_sweep_columns[] = {
	ONE("end_ns", end_ns),
	ONE("device_faults", device_faults),
	ONE("host_faults", host_faults),
	ONE("bytes_to_device", bytes_to_device),
	ONE("bytes_to_host", bytes_to_host),
	SUM("fault_to_device", migrated_to_device[UM_CAUSE_DEVICE_FAULT],
	    migrated_to_device[UM_CAUSE_HOST_FAULT]),
	SUM("fault_to_host", migrated_to_host[UM_CAUSE_DEVICE_FAULT],
	    migrated_to_host[UM_CAUSE_HOST_FAULT]),
	CAUSE("duplicate", UM_CAUSE_DUPLICATE),
	CAUSE("prefetch", UM_CAUSE_PREFETCH),
	CAUSE("eviction", UM_CAUSE_EVICTION),
	CAUSE("advice", UM_CAUSE_ADVICE),
	ONE("remote_to_device", remote_to_device),
	ONE("remote_to_host", remote_to_host),
	ONE("copy_to_device", copied_to_device),
	ONE("copy_to_host", copied_to_host),
	ONE("remote_requests", remote_requests),
	ONE("remote_lines_uncounted", remote_lines_uncounted),
	ONE("link_to_device_ns", link_to_device_ns),
	ONE("link_to_host_ns", link_to_host_ns),
	ONE("queue_evictions", queue_evictions),
	ONE("queues_stopped_ns", queues_stopped_ns),
	ONE("dropped_faults", dropped_faults),
	ONE("dropped_waited_ns", dropped_waited_ns),
	ONE("dropped_ns", dropped_ns),
	{NULL, {0, 0}},
};

const size_t um_sweep_column_count = sizeof(um_sweep_columns) / sizeof(*um_sweep_columns) - 1;

uint64_t um_sweep_column_value(const struct um_sweep_column *column, const struct um_totals *totals)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < 2; i++) {
		uint64_t value;

		if (column->offsets[i] == UM_SWEEP_NO_OFFSET)
			continue;
		memcpy(&value, (const char *)totals + column->offsets[i], sizeof(value));
		sum += value;
	}
	return sum;
}
