#include "tap.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic uint32_t context_changes = 1;

/* The first word that is digits and dots, of two dots or one, in the file's first line. */
static const char *find_version(const char *line, size_t *length)
{
	for (const char *at = line; *at && *at != '\n'; at += *length + (at[*length] == ' ')) {
		*length = strcspn(at, " \n");
		if (isdigit((unsigned char)*at) && memchr(at, '.', *length) &&
		    strspn(at, "0123456789.") == *length)
			return at;
	}
	return NULL;
}

void um_tap_driver_version(char version[32], const char *path)
{
	char text[256];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	size_t length = 0;

	version[0] = '\0';
	if (file >= 0)
		close(file);
	if (bytes <= 0)
		return;
	text[bytes] = '\0';
	const char *found = find_version(text, &length);

	if (found && length < 32) {
		memcpy(version, found, length);
		version[length] = '\0';
	}
}

static uint32_t attribute(int device, int which)
{
	int value = 0;

	return um_tap.cupti.device_attribute(&value, which, device) == 0 && value > 0
		       ? (uint32_t)value
		       : 0;
}

static void fill_device(struct um_record_device *record, int ordinal, int device)
{
	size_t memory_bytes = 0;

	um_tap.cupti.device_memory(&memory_bytes, device);
	*record = (struct um_record_device){
		.header = {sizeof(*record), UM_RECORD_DEVICE, 0},
		.device = (uint32_t)ordinal,
		.compute_units = attribute(device, UM_CUDA_MULTIPROCESSORS),
		.memory_bytes = memory_bytes,
		.wave_lanes = attribute(device, UM_CUDA_WARP_SIZE),
		.clock_khz = attribute(device, UM_CUDA_CLOCK_KHZ),
		.memory_clock_khz = attribute(device, UM_CUDA_MEMORY_CLOCK_KHZ),
		.memory_bus_bits = attribute(device, UM_CUDA_MEMORY_BUS_BITS),
		.l2_bytes = attribute(device, UM_CUDA_L2_BYTES),
	};
	um_tap.cupti.device_name(record->name, sizeof(record->name) - 1, device);
	snprintf(record->arch, sizeof(record->arch), "sm_%u%u",
		 attribute(device, UM_CUDA_CAPABILITY_MAJOR),
		 attribute(device, UM_CUDA_CAPABILITY_MINOR));
}

void um_tap_put_devices(void)
{
	static atomic_bool done;
	struct um_record_device record;
	int count = 0, device;

	if (atomic_exchange(&done, true) || um_tap.cupti.device_count(&count) != 0)
		return;
	for (int i = 0; i < count; i++) {
		if (um_tap.cupti.device_get(&device, i) != 0)
			continue;
		fill_device(&record, i, device);
		if (!um_tap_lock())
			return;
		um_tap_put(&record.header);
		um_tap_unlock();
	}
}

void um_tap_context_changed(void)
{
	atomic_fetch_add(&context_changes, 1);
}

/* A context that was destroyed may have lain where another lies now, on another device. */
int32_t um_tap_device(void *context)
{
	struct um_tap_thread *thread = um_tap_thread();
	uint32_t changes = atomic_load_explicit(&context_changes, memory_order_relaxed);
	uint32_t device = 0;

	if (!context)
		return 0;
	if (thread->context == context && thread->contexts == changes)
		return thread->device;
	if (um_tap.cupti.device_of(context, &device) != UM_CUPTI_SUCCESS)
		device = 0;
	thread->context = context;
	thread->contexts = changes;
	thread->device = (int32_t)device;
	return thread->device;
}
