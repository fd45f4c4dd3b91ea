#include "import_events.h"

#include <math.h>

struct um_import_op um_import_op(enum um_op_kind kind)
{
	return (struct um_import_op){
		.kind = kind,
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.thread = UM_NULL,
		.stream = UM_NULL,
		.device = UM_NULL,
		.result = UM_NULL,
		.bytes = UM_NULL,
		.allocation_kind = UM_NULL,
		.value = UM_NULL,
	};
}

struct um_fault_row um_import_fault(void)
{
	return (struct um_fault_row){
		.op = UM_NULL,
		.device = UM_NULL,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = 1,
		.faults = UM_NULL,
		.batch = UM_NULL,
		.site = UM_NULL,
		.end_ns = UM_NULL,
	};
}

struct um_migration_row um_import_migration(void)
{
	return (struct um_migration_row){
		.op = UM_NULL,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.bytes = UM_NULL,
		.transfers = UM_NULL,
		.batch = UM_NULL,
		.end_ns = UM_NULL,
	};
}

struct um_mapping_row um_import_mapping(void)
{
	return (struct um_mapping_row){
		.op = UM_NULL,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.batch = UM_NULL,
	};
}

struct um_driver_event_row um_import_event(void)
{
	return (struct um_driver_event_row){
		.op = UM_NULL,
		.device = UM_NULL,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = UM_NULL,
		.count = 1,
		.end_ns = UM_NULL,
		.waited_ns = UM_NULL,
	};
}

struct um_kernel_row um_import_kernel(void)
{
	return (struct um_kernel_row){
		.grid_x = 1,
		.grid_y = 1,
		.grid_z = 1,
		.block_x = 1,
		.block_y = 1,
		.block_z = 1,
		.lds_bytes = UM_NULL,
		.reads = UM_NULL,
		.writes = UM_NULL,
		.atomics = UM_NULL,
		.bytes_read = UM_NULL,
		.bytes_written = UM_NULL,
		.recorded = 1,
	};
}

struct um_device_row um_import_device(int64_t device, const char *name)
{
	return (struct um_device_row){
		.device = device,
		.name = name,
		.memory_bytes = UM_NULL,
		.compute_units = UM_NULL,
		.wave_lanes = UM_NULL,
		.link_to_device_bytes_per_s = NAN,
		.link_to_host_bytes_per_s = NAN,
	};
}

int64_t um_import_pages(uint64_t address, uint64_t bytes)
{
	uint64_t last = bytes ? address + bytes - 1 : address;

	return (int64_t)((last >> UM_PAGE_SHIFT) - (address >> UM_PAGE_SHIFT) + 1);
}
