#include "out_of_memory.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

int um_refuse_device_allocation(const struct um_machine *machine, um_device_id device,
				uint64_t bytes, uint64_t room_bytes)
{
	char text[3][32];

	return um_fail(
		UM_ELIMIT,
		"device %d: hipMalloc would fail with hipErrorOutOfMemory: %s do not fit "
		"where device allocations leave %s of %s; what a program does then its trace "
		"does not tell",
		device, um_format_bytes(text[0], sizeof(text[0]), bytes),
		um_format_bytes(text[1], sizeof(text[1]), room_bytes),
		um_format_bytes(text[2], sizeof(text[2]),
				um_machine_memory_total(machine, device)));
}
