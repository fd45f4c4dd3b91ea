/* A launch from its checks to its records. */
#include "api.h"
#include "capture.h"
#include "device_clock.h"
#include "device_limits.h"
#include "launch_selection.h"
#include "pageable.h"
#include "policy_apply.h"
#include "trace/compiler/device/device_abi.h"

#include <stdlib.h>
#include <string.h>

unsigned um_occupancy(unsigned lanes, size_t lds_bytes)
{
	if (!lanes || lanes > UM_MAX_GROUP_LANES || lds_bytes > UM_LDS_BYTES)
		return 0;
	unsigned waves = (lanes + UM_WAVE_LANES - 1) / UM_WAVE_LANES;
	unsigned groups = UM_MAX_CU_WAVES / waves;

	if (lds_bytes && UM_LDS_BYTES / lds_bytes < groups)
		groups = (unsigned)(UM_LDS_BYTES / lds_bytes);
	return groups;
}

/* Work-items in a dimension are counted in 32 bits (AQL dispatch packet, HSA 1.2). */
static bool dimension_fits(uint32_t groups, uint32_t lanes)
{
	return groups && lanes && (uint64_t)groups * lanes <= UINT32_MAX;
}

static hipError_t check_shape(const struct um_launch_request *request)
{
	const dim3 *grid = &request->grid, *block = &request->block;

	if (!dimension_fits(grid->x, block->x) || !dimension_fits(grid->y, block->y) ||
	    !dimension_fits(grid->z, block->z))
		return hipErrorInvalidConfiguration;
	if (block->x > UM_MAX_GROUP_LANES || block->y > UM_MAX_GROUP_LANES ||
	    block->z > UM_MAX_GROUP_LANES ||
	    (uint64_t)block->x * block->y * block->z > UM_MAX_GROUP_LANES)
		return hipErrorInvalidConfiguration;
	return hipSuccess;
}

static hipError_t check_resident(const struct um_launch *launch)
{
	uint64_t groups = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
	unsigned lanes = launch->block[0] * launch->block[1] * launch->block[2];
	unsigned each = um_occupancy(lanes, launch->group_lds_bytes);

	if (launch->cooperative &&
	    groups > (uint64_t)each * um_device_get((uint32_t)um_thread.device)->compute_units)
		return hipErrorCooperativeLaunchTooLarge;
	return hipSuccess;
}

static hipError_t prepare(struct um_launch *out, const struct um_launch_request *request)
{
	struct um_kernel kernel;
	hipError_t error = check_shape(request);

	if (error)
		return error;
	um_function_kernel(&kernel, request->function);
	*out = (struct um_launch){
		.args = request->args,
		.grid = {request->grid.x, request->grid.y, request->grid.z},
		.block = {request->block.x, request->block.y, request->block.z},
		.dynamic_lds_bytes = (uint32_t)request->lds_bytes,
		.cooperative = request->cooperative,
		.name = kernel.name,
	};
	um_module_lds(kernel.module, &out->static_lds, &out->static_lds_bytes);
	if (request->lds_bytes > UM_LDS_BYTES ||
	    request->lds_bytes + kernel.lds_bytes > UM_LDS_BYTES)
		return hipErrorInvalidValue;
	out->group_lds_bytes = (uint32_t)(request->lds_bytes + kernel.lds_bytes);
	return check_resident(out);
}

/* Once it is sure that it will run: that is what --launches counts. */
static void choose_entry(struct um_launch *launch, const struct um_function *function)
{
	struct um_kernel kernel;

	um_function_kernel(&kernel, function);
	launch->selected = !um_tracer_on() || um_launch_is_selected(kernel.name);
	launch->hooked = um_tracer_on() && launch->selected && kernel.hooked;
	launch->entry = launch->hooked || !kernel.plain ? kernel.hooked : kernel.plain;
	launch->group_entry = launch->hooked ? NULL : kernel.group;
}

/* `totals` is NULL before it runs. Demangling is umtrace's: the second text stays empty. */
static void record_kernel(const struct um_launch *launch, const struct um_launch_totals *totals)
{
	struct um_record_kernel *record;
	size_t name_bytes = strlen(launch->name) + 1;
	size_t bytes = (sizeof(*record) + name_bytes + 1 + 7) & ~(size_t)7;

	if (!um_tracer_on() || bytes > UM_SPOOL_RECORD_MAX)
		return;
	record = calloc(1, bytes);
	if (!record)
		return;
	record->header = (struct um_record){(uint32_t)bytes, UM_RECORD_KERNEL, 0};
	record->op = launch->op;
	memcpy(record->grid, launch->grid, sizeof(record->grid));
	memcpy(record->block, launch->block, sizeof(record->block));
	record->lds_bytes = launch->group_lds_bytes;
	if (totals) {
		record->ended = 1;
		record->reads = totals->reads;
		record->writes = totals->writes;
		record->atomics = totals->atomics;
		record->bytes_read = totals->bytes_read;
		record->bytes_written = totals->bytes_written;
	}
	memcpy(record->name, launch->name, name_bytes);
	um_tracer_put(&record->header);
	free(record);
}

static void record_losses(const struct um_launch *launch, const struct um_launch_totals *totals)
{
	if (!launch->hooked && launch->selected)
		um_tracer_loss(launch->op, UM_LOSS_UNTRACED_LAUNCH, 1, launch->name);
	if (totals->outside)
		um_tracer_loss(launch->op, UM_LOSS_OUTSIDE, totals->outside, launch->name);
}

static hipError_t run(struct um_launch *launch, struct um_stream *stream)
{
	struct um_launch_totals totals = {0};
	struct um_record_op op = um_stream_op(UM_OP_LAUNCH, stream);

	op.flags = UM_OP_ASYNC | (launch->hooked ? 0 : UM_OP_UNTRACED) |
		   (launch->selected ? 0 : UM_OP_UNSELECTED);
	um_pageable_refresh();
	um_policy_before_launch(launch->name, stream);
	launch->op = um_tracer_op_begin(&op);
	record_kernel(launch, NULL);
	hipError_t error = (hipError_t)um_exec_run(launch, &totals);

	um_tracer_op_end(&op, error);
	um_clock_launch(stream, totals.lines);
	if (um_tracer_on()) {
		record_kernel(launch, &totals);
		record_losses(launch, &totals);
	}
	return error;
}

/* What a kernel did wrong stays with the device; a lack of memory here does not. */
static bool stays(hipError_t error)
{
	return error && error != hipErrorOutOfMemory;
}

hipError_t um_launch_check(const struct um_launch_request *request)
{
	struct um_launch launch;

	return prepare(&launch, request);
}

hipError_t um_launch_run(const struct um_launch_request *request)
{
	struct um_launch launch;
	struct um_stream *stream = um_stream_get(request->stream);
	bool captures = false;
	hipError_t error = stream ? hipSuccess : hipErrorInvalidHandle;

	if (!error)
		error = um_capture_asks(&captures, request->stream, true);
	if (!error && captures)
		return um_capture_launch(request);
	if (!error)
		error = um_device_error();
	if (!error)
		error = um_ready();
	if (!error)
		error = prepare(&launch, request);
	if (error)
		return error;
	choose_entry(&launch, request->function);
	error = run(&launch, stream);
	if (stays(error))
		um_device_fail(error);
	return error;
}
