/* A device's queues: stopped and resumed. */
#include "machine_internal.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>

static const struct device_queues *queues_of(const struct um_machine *machine, um_device_id device)
{
	assert(device >= 0 && (uint32_t)device < machine->spec->devices);
	return &machine->queues[device];
}

bool um_machine_is_stopped(const struct um_machine *machine, um_device_id device)
{
	return queues_of(machine, device)->stops;
}

bool um_machine_is_calm(const struct um_machine *machine, um_device_id device)
{
	return !machine->queues[device].stops &&
	       machine->last_arrival <= um_engine_now(machine->engine);
}

um_ns um_machine_stopped_ns(const struct um_machine *machine, um_device_id device)
{
	const struct device_queues *queues = queues_of(machine, device);

	return queues->stopped_ns +
	       (queues->stops ? um_machine_now(machine) - queues->stopped_at : 0);
}

void um_machine_stop(struct um_machine *machine, um_device_id device)
{
	struct device_queues *queues = &machine->queues[device];

	if (!um_machine_is_stopped(machine, device))
		queues->stopped_at = um_machine_now(machine);
	queues->stops++;
}

int um_machine_resume(struct um_machine *machine, um_device_id device)
{
	struct device_queues *queues = &machine->queues[device];
	um_ns now = um_machine_now(machine);
	int error = 0;

	assert(um_machine_is_stopped(machine, device));
	if (--queues->stops)
		return 0;
	queues->stopped_ns += now - queues->stopped_at;
	for (size_t i = 0; i < queues->waiter_count && !error; i++) {
		const struct queue_waiter *waiter = &queues->waiters[i];

		error = um_engine_schedule(machine->engine, now, waiter->call, waiter->context,
					   waiter->argument);
	}
	queues->waiter_count = 0;
	return error;
}

int um_machine_when_resumed(struct um_machine *machine, um_device_id device, um_event_fn call,
			    void *context, uint64_t argument)
{
	struct device_queues *queues = &machine->queues[device];

	assert(um_machine_is_stopped(machine, device));
	if (queues->waiter_count == queues->waiter_capacity) {
		size_t capacity = queues->waiter_capacity ? queues->waiter_capacity * 2 : 64;
		struct queue_waiter *grown = realloc(queues->waiters, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu stopped groups", capacity);
		queues->waiters = grown;
		queues->waiter_capacity = capacity;
	}
	queues->waiters[queues->waiter_count++] = (struct queue_waiter){call, context, argument};
	return 0;
}
