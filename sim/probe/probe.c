#include "probe.h"

#include "trace/base/error.h"

#include <stdlib.h>

#define OBSERVERS_MAX 8

struct um_probe {
	struct um_observer observers[OBSERVERS_MAX];
	unsigned count;
};

int um_probe_create(struct um_probe **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : um_fail(UM_ENOMEM, "no memory for the probe");
}

void um_probe_destroy(struct um_probe *probe)
{
	free(probe);
}

int um_probe_add(struct um_probe *probe, const struct um_observer *observer)
{
	if (probe->count == OBSERVERS_MAX)
		return um_fail(UM_ELIMIT, "more than %d observers", OBSERVERS_MAX);
	probe->observers[probe->count++] = *observer;
	return 0;
}

void um_probe_remove(struct um_probe *probe, const void *context)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < probe->count; i++)
		if (probe->observers[i].context != context)
			probe->observers[kept++] = probe->observers[i];
	probe->count = kept;
}

int um_probe_finish(struct um_probe *probe)
{
	int first = 0;

	for (unsigned i = 0; i < probe->count; i++) {
		const struct um_observer *observer = &probe->observers[i];
		int error = observer->finish ? observer->finish(observer->context) : 0;

		first = first ? first : error;
	}
	return first;
}

#define TELL(probe, event, ...)                                                                    \
	for (unsigned i_ = 0; i_ < (probe)->count; i_++)                                           \
		if ((probe)->observers[i_].event)                                                  \
	(probe)->observers[i_].event((probe)->observers[i_].context, __VA_ARGS__)

void um_probe_op(struct um_probe *probe, const struct um_op_row *row)
{
	TELL(probe, op, row);
}

void um_probe_fault(struct um_probe *probe, const struct um_fault_row *row)
{
	TELL(probe, fault, row);
}

void um_probe_migration(struct um_probe *probe, const struct um_migration_row *row)
{
	TELL(probe, migration, row);
}

void um_probe_mapping(struct um_probe *probe, const struct um_mapping_row *row)
{
	TELL(probe, mapping, row);
}

void um_probe_remote_access(struct um_probe *probe, const struct um_remote_access_row *row)
{
	TELL(probe, remote_access, row);
}

void um_probe_driver_event(struct um_probe *probe, const struct um_driver_event_row *row)
{
	TELL(probe, driver_event, row);
}

void um_probe_copy_traffic(struct um_probe *probe, const struct um_copy_traffic_row *row)
{
	TELL(probe, copy_traffic, row);
}

void um_probe_peer_traffic(struct um_probe *probe, const struct um_peer_traffic_row *row)
{
	TELL(probe, peer_traffic, row);
}

bool um_probe_wants_touches(const struct um_probe *probe)
{
	for (unsigned i = 0; i < probe->count; i++)
		if (probe->observers[i].touch)
			return true;
	return false;
}

void um_probe_touch(struct um_probe *probe, uint32_t allocation, uint32_t first_page,
		    uint32_t pages)
{
	TELL(probe, touch, allocation, first_page, pages);
}

void um_probe_link_time(struct um_probe *probe, int64_t device, uint64_t to_device_ns,
			uint64_t to_host_ns)
{
	TELL(probe, link_time, device, to_device_ns, to_host_ns);
}
