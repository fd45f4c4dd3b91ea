/* Records of unified memory in our words (cupti_activity.h, CUpti_ActivityUnifiedMemoryCounter3). */
#include "tap.h"

#include "trace/db/words.h"

#define NOT_TOLD UINT32_MAX

/* --- migrations --- */

static uint32_t migration_cause(const struct um_cupti_unified *unified)
{
	bool to_host = unified->counter == UM_CUPTI_BYTES_DTOH;

	switch (unified->flags) {
	case UM_CUPTI_MIGRATION_USER:
		return UM_CAUSE_PREFETCH;
	case UM_CUPTI_MIGRATION_COHERENCE:
		return to_host ? UM_CAUSE_HOST_FAULT : UM_CAUSE_DEVICE_FAULT;
	case UM_CUPTI_MIGRATION_PREFETCH:
		return UM_CAUSE_DRIVER_PREFETCH;
	case UM_CUPTI_MIGRATION_EVICTION:
		return UM_CAUSE_EVICTION;
	case UM_CUPTI_MIGRATION_ACCESS_COUNTERS:
		return UM_CAUSE_ACCESS_COUNTER;
	default:
		return NOT_TOLD;
	}
}

/*
 * The counter says which end is the host: seen with CUPTI 13.0.1 and one GPU, srcId and dstId are then
 * both the device's.
 */
static void put_migration(const struct um_cupti_unified *unified, uint64_t offset_ns)
{
	struct um_record_migration *record = um_tap_reserve_bulk(sizeof(*record));

	if (!record)
		return;
	*record = (struct um_record_migration){
		.header = {sizeof(*record), UM_RECORD_MIGRATION, 0},
		.source = unified->counter == UM_CUPTI_BYTES_HTOD ? -1 : (int32_t)unified->source,
		.destination = unified->counter == UM_CUPTI_BYTES_DTOH
				       ? -1
				       : (int32_t)unified->destination,
		.cause = migration_cause(unified),
		.address = unified->address,
		.bytes = unified->value,
		.start_ns = unified->start + offset_ns,
		.end_ns = unified->end + offset_ns,
	};
	um_tap_commit();
}

/* --- faults --- */

static uint32_t access_of(const struct um_cupti_unified *unified)
{
	switch (unified->flags) {
	case UM_CUPTI_ACCESS_READ:
		return UM_FAULT_READ;
	case UM_CUPTI_ACCESS_WRITE:
		return UM_FAULT_WRITE;
	case UM_CUPTI_ACCESS_ATOMIC:
		return UM_FAULT_ATOMIC;
	case UM_CUPTI_ACCESS_PREFETCH:
		return UM_FAULT_PREFETCH;
	default:
		return NOT_TOLD;
	}
}

static void put_fault(const struct um_record_fault *fault)
{
	struct um_record_fault *record = um_tap_reserve_bulk(sizeof(*record));

	if (!record)
		return;
	*record = *fault;
	record->header = (struct um_record){sizeof(*record), UM_RECORD_FAULT, 0};
	um_tap_commit();
}

static void put_device_fault(const struct um_cupti_unified *unified, uint64_t offset_ns)
{
	put_fault(&(struct um_record_fault){
		.device = (int32_t)unified->source,
		.access = access_of(unified),
		.address = unified->address,
		.faults = unified->value,
		.start_ns = unified->start + offset_ns,
		.end_ns = unified->end + offset_ns,
	});
}

/* Their value is the instruction's address; they have no end. */
static void put_host_fault(const struct um_cupti_unified *unified, uint64_t offset_ns)
{
	put_fault(&(struct um_record_fault){
		.device = -1,
		.access = access_of(unified),
		.address = unified->address,
		.faults = 1,
		.start_ns = unified->start + offset_ns,
		.site = unified->value ? um_tap_site_of_instruction(unified->value) : 0,
	});
}

/* --- mappings --- */

/*
 * srcId is who maps, dstId where the memory is (uvm_types.h, UvmEventMapRemoteInfo: srcIndex,
 * dstIndex).
 */
static uint32_t mapping_cause(const struct um_cupti_unified *unified)
{
	switch (unified->flags) {
	case UM_CUPTI_MAP_COHERENCE:
		return (int32_t)unified->source < 0 ? UM_CAUSE_HOST_FAULT : UM_CAUSE_DEVICE_FAULT;
	case UM_CUPTI_MAP_THRASHING:
		return UM_CAUSE_THRASHING;
	case UM_CUPTI_MAP_POLICY:
		return UM_CAUSE_ADVICE;
	case UM_CUPTI_MAP_OUT_OF_MEMORY:
		return UM_CAUSE_OUT_OF_MEMORY;
	case UM_CUPTI_MAP_EVICTION:
		return UM_CAUSE_EVICTION;
	default:
		return NOT_TOLD;
	}
}

static void put_mapping(const struct um_cupti_unified *unified, uint64_t offset_ns)
{
	struct um_record_mapping *record = um_tap_reserve_bulk(sizeof(*record));

	if (!record)
		return;
	*record = (struct um_record_mapping){
		.header = {sizeof(*record), UM_RECORD_MAPPING, 0},
		.device = (int32_t)unified->source,
		.change = UM_CHANGE_REMOTE,
		.cause = mapping_cause(unified),
		.address = unified->address,
		.bytes = unified->value,
		.at_ns = unified->start + offset_ns,
	};
	um_tap_commit();
}

/* --- other events --- */

/* Of thrashing the source is a mask of those who fight for the pages: the first stands for all. */
static int32_t event_device(const struct um_cupti_unified *unified)
{
	if (unified->flags & UM_CUPTI_IN_CPU)
		return -1;
	if (unified->counter != UM_CUPTI_THRASHING)
		return (int32_t)unified->source;
	return unified->source ? __builtin_ctz(unified->source) : 0;
}

static void put_event(const struct um_cupti_unified *unified, uint64_t offset_ns)
{
	bool throttles = unified->counter == UM_CUPTI_THROTTLING;
	struct um_record_event *record = um_tap_reserve_bulk(sizeof(*record));

	if (!record)
		return;
	*record = (struct um_record_event){
		.header = {sizeof(*record), UM_RECORD_EVENT, 0},
		.device = event_device(unified),
		.kind = throttles ? UM_EVENT_THROTTLING : UM_EVENT_THRASHING,
		.address = unified->address,
		.bytes = throttles ? 0 : unified->value,
		.start_ns = unified->start + offset_ns,
		.end_ns = throttles ? unified->end + offset_ns : 0,
	};
	um_tap_commit();
}

static void (*const readers[])(const struct um_cupti_unified *, uint64_t offset_ns) = {
	[UM_CUPTI_BYTES_HTOD] = put_migration,	 [UM_CUPTI_BYTES_DTOH] = put_migration,
	[UM_CUPTI_BYTES_DTOD] = put_migration,	 [UM_CUPTI_CPU_FAULT] = put_host_fault,
	[UM_CUPTI_GPU_FAULT] = put_device_fault, [UM_CUPTI_THRASHING] = put_event,
	[UM_CUPTI_THROTTLING] = put_event,	 [UM_CUPTI_REMOTE_MAP] = put_mapping,
};

void um_tap_on_unified(const struct um_cupti_unified *unified, uint64_t offset_ns)
{
	if (unified->counter < sizeof(readers) / sizeof(*readers) && readers[unified->counter]) {
		readers[unified->counter](unified, offset_ns);
		um_tap_note_address(unified->address);
	} else {
		um_tap_lost_number(UM_LOSS_UNKNOWN_RECORD, 1, "unified memory counter of kind",
				   unified->counter);
	}
}
