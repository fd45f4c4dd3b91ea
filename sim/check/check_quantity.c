#include "check_quantity.h"

#include "trace/base/units.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* A cause's bytes, to the device and to the host. */
#define TWO_WAYS(NAME, key, words, record)                                                         \
	[UM_CHECK_##NAME##_TO_DEVICE] = {key "_bytes_to_device", "causes",                         \
					 words " to device",	 "to device\n" words,              \
					 UM_CHECK_BYTES,	 record,                           \
					 UM_CHECK_NO_COLUMN,	 NULL},                            \
	[UM_CHECK_##NAME##_TO_HOST] = {                                                            \
		key "_bytes_to_host", "causes", words " to host",   "to host\n" words,             \
		UM_CHECK_BYTES,	      record,	UM_CHECK_NO_COLUMN, NULL}

const struct um_check_quantity_info um_check_quantities[UM_CHECK_QUANTITIES] = {
	[UM_CHECK_BYTES_TO_DEVICE] = {"bytes_to_device", "bytes", "bytes to device", "bytes\nin",
				      UM_CHECK_BYTES, "migration", 0, "gpu"},
	[UM_CHECK_BYTES_TO_HOST] = {"bytes_to_host", "bytes", "bytes to host", "bytes\nback",
				    UM_CHECK_BYTES, "migration", 2, "gpu"},
	[UM_CHECK_RECORDS_TO_DEVICE] = {"records_to_device", "records", "records to device",
					"records\nin", UM_CHECK_COUNT, "migration", 1, "gpu"},
	[UM_CHECK_RECORDS_TO_HOST] = {"records_to_host", "records", "records to host",
				      "records\nback", UM_CHECK_COUNT, "migration", 3, "gpu"},
	[UM_CHECK_CPU_FAULTS] = {"cpu_faults", "cpu_faults", "CPU faults", "CPU\nfaults",
				 UM_CHECK_COUNT, "fault.host", 6, "all"},
	[UM_CHECK_FAULT_BATCHES] = {"fault_batches", "batches", "fault batches", "fault\nbatches",
				    UM_CHECK_COUNT, "fault", 4, "gpu"},
	[UM_CHECK_REMOTE_MAPS] = {"remote_maps", "maps", "remote maps", "remote\nmaps",
				  UM_CHECK_COUNT, "mapping", 7, "gpu"},
	[UM_CHECK_REMOTE_MAP_BYTES] = {"remote_map_bytes", "maps", "remote maps, bytes",
				       "mapped\nbytes", UM_CHECK_BYTES, "mapping",
				       UM_CHECK_NO_COLUMN, NULL},
	[UM_CHECK_TRANSFER_TIME] = {"transfer_time", "time", "transfers", "transfer\ntime",
				    UM_CHECK_NS, "migration", 8, "gpu"},
	[UM_CHECK_KERNEL_TIME] = {"kernel_time", "time", "kernels", "kernel\ntime", UM_CHECK_NS,
				  "op.time", 9, "gpu"},
	[UM_CHECK_FAULT_KERNEL_TIME] = {"fault_kernel_time", "time", "kernels with faults",
					"with\nfaults", UM_CHECK_NS, "op.time", UM_CHECK_NO_COLUMN,
					NULL},
	[UM_CHECK_WAIT_TIME] = {"wait_time", "time", "device or link busy", "device\nor link",
				UM_CHECK_NS, "op.time", UM_CHECK_NO_COLUMN, NULL},
	[UM_CHECK_STEP_TIME] = {"step_time", "time", "GPU steps, untraced", "steps\nuntraced",
				UM_CHECK_NS, NULL, UM_CHECK_NO_COLUMN, NULL},
	TWO_WAYS(SERVED, "fault", "for faults", "migration"),
	TWO_WAYS(BROUGHT, "driver_prefetch", "of these brought along", "migration"),
	TWO_WAYS(PREFETCHED, "prefetch", "prefetched", "migration"),
	TWO_WAYS(EVICTED, "eviction", "evicted", "migration"),
	TWO_WAYS(OTHER, "other", "for other causes", "migration"),
	TWO_WAYS(COPIED, "copy", "copied", "copy_traffic"),
	TWO_WAYS(REMOTE, "remote_access", "accessed from afar", "remote_access"),
};

/* The next word of a text, which is moved behind it. */
static size_t next_word(const char **text, const char **word)
{
	size_t length = 0;

	while (**text && !isalnum((unsigned char)**text))
		++*text;
	*word = *text;
	while (isalnum((unsigned char)(*word)[length]))
		length++;
	*text += length;
	return length;
}

static bool has_same_words(const char *a, const char *b)
{
	const char *word, *other;
	size_t length;

	do {
		length = next_word(&a, &word);
		if (length != next_word(&b, &other) || strncasecmp(word, other, length) != 0)
			return false;
	} while (length);
	return true;
}

bool um_check_is_named(enum um_check_quantity quantity, const char *name)
{
	const struct um_check_quantity_info *info = &um_check_quantities[quantity];
	const char *const names[] = {info->name, info->group, info->title, info->head};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (has_same_words(names[i], name))
			return true;
	return false;
}

char *um_check_format(char *buffer, size_t capacity, enum um_check_unit unit, double value)
{
	uint64_t whole = value >= 0x1p63 ? UINT64_MAX : (uint64_t)llround(value);

	switch (unit) {
	case UM_CHECK_BYTES:
		return um_format_bytes(buffer, capacity, whole);
	case UM_CHECK_NS:
		return um_format_duration(buffer, capacity, whole);
	case UM_CHECK_COUNT:
		break;
	}
	return um_format_count(buffer, capacity, whole);
}
