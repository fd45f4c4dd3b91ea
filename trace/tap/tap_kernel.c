/*
 * Records of kernels. How much shared memory a kernel has of its own is told with its times only; it is
 * kept by the kernel's name, for its launches to come, and told once more for those that were before.
 */
#include "tap.h"
#include "tap_map.h"

#include <string.h>

#define NAME_MAX_BYTES 8192u /* mangled names of templates are long; a longer one is cut */
#define NAMES_MAX      65536u

/* The bytes, and the last op before they were known. */
static struct um_tap_map static_shared;

/* FNV-1a, of 64 bits. */
static uint64_t hash_of(const char *name, size_t bytes)
{
	uint64_t hash = 14695981039346656037ull;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 1099511628211ull;
	return hash ? hash : 1;
}

static void put(const struct um_tap_kernel *kernel, uint32_t op, bool again, uint32_t shared_bytes)
{
	size_t name_bytes = strnlen(kernel->name, NAME_MAX_BYTES - 1);
	size_t bytes = (sizeof(struct um_record_kernel) + name_bytes + 2 + 7) & ~(size_t)7;
	struct um_record_kernel *record = um_tap_reserve(bytes);

	if (!record)
		return;
	memset(record, 0, sizeof(*record));
	record->header = (struct um_record){(uint32_t)bytes, UM_RECORD_KERNEL, 0};
	record->op = op;
	record->ended = again;
	memcpy(record->grid, kernel->grid, sizeof(record->grid));
	memcpy(record->block, kernel->block, sizeof(record->block));
	record->lds_bytes = shared_bytes;
	memcpy(record->name, kernel->name, name_bytes);
	memset(record->name + name_bytes, 0, bytes - sizeof(*record) - name_bytes);
	um_tap_commit();
}

void um_tap_put_kernel(uint32_t op, const struct um_tap_kernel *kernel)
{
	uint64_t known = 0;

	if (static_shared.used)
		um_tap_map_get(&static_shared,
			       hash_of(kernel->name, strnlen(kernel->name, NAME_MAX_BYTES)),
			       &known);
	put(kernel, op, false, kernel->dynamic_shared_bytes + (uint32_t)known);
}

void um_tap_kernel_ran(uint32_t op, const struct um_tap_kernel *kernel, uint32_t static_bytes)
{
	uint64_t hash = hash_of(kernel->name, strnlen(kernel->name, NAME_MAX_BYTES)), known = 0;

	if (!um_tap_map_get(&static_shared, hash, &known) && static_shared.used < NAMES_MAX) {
		known = (uint64_t)um_tap_last_op() << 32 | static_bytes;
		um_tap_map_set(&static_shared, hash, known);
	}
	if (op <= known >> 32)
		put(kernel, op, true, kernel->dynamic_shared_bytes + static_bytes);
}
