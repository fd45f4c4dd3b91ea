/* Waiting for a device, and starting it afresh. */
#include "api.h"
#include "capture.h"
#include "device_clock.h"

#include <stdlib.h>

/* Everything is done already, so this only writes down that the program asked. */
hipError_t um_device_synchronize(void)
{
	hipError_t error = um_capture_forbids();

	if (error)
		return error;
	struct um_record_op op = um_op(UM_OP_SYNC_DEVICE, 0);

	um_tracer_op_begin(&op);
	error = um_device_error();
	um_pools_release();
	um_clock_wait_device(um_thread.device);
	um_tracer_op_end(&op, error);
	return error;
}

hipError_t hipDeviceSynchronize(void)
{
	UM_ENTER();
	return um_leave(um_device_synchronize());
}

struct ids {
	uint32_t *id;
	size_t count, capacity;
	int device;
};

static bool note_id(struct um_allocation *allocation, void *context)
{
	struct ids *ids = context;

	if (allocation->device != ids->device || um_variable_owns(allocation))
		return true;
	if (ids->count == ids->capacity) {
		size_t capacity = ids->capacity ? 2 * ids->capacity : 64;
		uint32_t *grown = realloc(ids->id, capacity * sizeof(*grown));

		if (!grown)
			return false;
		ids->id = grown;
		ids->capacity = capacity;
	}
	ids->id[ids->count++] = allocation->id;
	return true;
}

/* Frees what was allocated on the device; __managed__ variables stay, the program has them. */
hipError_t um_device_reset(int device)
{
	struct ids ids = {.device = device};

	um_device_synchronize();
	um_virtual_reset(device);
	um_arena_each(note_id, &ids);
	for (size_t i = 0; i < ids.count; i++)
		um_memory_free(um_arena_by_id(ids.id[i]), 0);
	free(ids.id);
	um_peers_reset(device);
	um_settings_reset(device);
	um_device_fail(hipSuccess);
	return hipSuccess;
}

hipError_t hipDeviceReset(void)
{
	UM_ENTER();
	return um_leave(um_device_reset(um_thread.device));
}
