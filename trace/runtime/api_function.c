/* What programs ask about kernels: attributes and occupancy. */
#include "api.h"
#include "device_limits.h"
#include "trace/compiler/device/device_abi.h"

#include <string.h>

static uint64_t static_lds_bytes(const struct um_function *function)
{
	struct um_kernel kernel;

	um_function_kernel(&kernel, function);
	return kernel.lds_bytes;
}

/* Registers and private memory are those of x86-64 code, which has no such figures: 0. */
static hipError_t get_attributes(hipFuncAttributes *out, const void *stub)
{
	struct um_function *function;

	if (!out)
		return hipErrorInvalidValue;
	hipError_t error = um_function_find(&function, stub);

	if (error)
		return error;
	memset(out, 0, sizeof(*out));
	out->sharedSizeBytes = static_lds_bytes(function);
	out->maxDynamicSharedSizeBytes = UM_LDS_BYTES - (int)out->sharedSizeBytes;
	out->maxThreadsPerBlock = UM_MAX_GROUP_LANES;
	return hipSuccess;
}

hipError_t hipFuncGetAttributes(hipFuncAttributes *out, const void *stub)
{
	UM_ENTER();
	return um_leave(get_attributes(out, stub));
}

static hipError_t get_attribute(int *out, hipFunction_attribute attribute, hipFunction_t handle)
{
	const struct um_function *function = (const struct um_function *)handle;

	if (!out || (unsigned)attribute >= HIP_FUNC_ATTRIBUTE_MAX)
		return hipErrorInvalidValue;
	if (!um_function_valid(function))
		return hipErrorInvalidDeviceFunction;
	int lds_bytes = (int)static_lds_bytes(function);

	switch (attribute) {
	case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*out = UM_MAX_GROUP_LANES;
		break;
	case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*out = lds_bytes;
		break;
	case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*out = UM_LDS_BYTES - lds_bytes;
		break;
	default:
		*out = 0;
	}
	return hipSuccess;
}

hipError_t hipFuncGetAttribute(int *out, hipFunction_attribute attribute, hipFunction_t function)
{
	UM_ENTER();
	return um_leave(get_attribute(out, attribute, function));
}

/* A kernel may always use all the LDS there is, so a wish for more or less is only checked. */
static hipError_t set_attribute(const void *stub, hipFuncAttribute attribute, int value)
{
	if (!stub)
		return hipErrorInvalidDeviceFunction;
	if (attribute == hipFuncAttributePreferredSharedMemoryCarveout)
		return hipSuccess;
	if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize)
		return hipErrorInvalidValue;
	return value < 0 || value > UM_LDS_BYTES ? hipErrorInvalidValue : hipSuccess;
}

hipError_t hipFuncSetAttribute(const void *stub, hipFuncAttribute attribute, int value)
{
	UM_ENTER();
	return um_leave(set_attribute(stub, attribute, value));
}

/* "AMD devices do not support reconfigurable cache: this hint is ignored." */
hipError_t hipFuncSetCacheConfig(const void *stub, hipFuncCache_t config)
{
	(void)config;
	UM_ENTER();
	return um_leave(stub ? hipSuccess : hipErrorInvalidDeviceFunction);
}

hipError_t hipFuncSetSharedMemConfig(const void *stub, hipSharedMemConfig config)
{
	(void)config;
	UM_ENTER();
	return um_leave(stub ? hipSuccess : hipErrorInvalidDeviceFunction);
}

/* --- occupancy --- */

static hipError_t active_groups(int *out, const struct um_function *function, int lanes,
				size_t lds_bytes)
{
	if (!out || lanes <= 0 || lanes > (int)UM_MAX_GROUP_LANES)
		return hipErrorInvalidValue;
	*out = (int)um_occupancy((unsigned)lanes, static_lds_bytes(function) + lds_bytes);
	return hipSuccess;
}

static hipError_t active_of_stub(int *out, const void *stub, int lanes, size_t lds_bytes)
{
	struct um_function *function;
	hipError_t error = um_function_find(&function, stub);

	return error ? error : active_groups(out, function, lanes, lds_bytes);
}

static hipError_t active_of_handle(int *out, hipFunction_t handle, int lanes, size_t lds_bytes)
{
	const struct um_function *function = (const struct um_function *)handle;

	if (!um_function_valid(function))
		return hipErrorInvalidDeviceFunction;
	return active_groups(out, function, lanes, lds_bytes);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *stub, int lanes,
							size_t lds_bytes)
{
	UM_ENTER();
	return um_leave(active_of_stub(out, stub, lanes, lds_bytes));
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *stub,
								 int lanes, size_t lds_bytes,
								 unsigned flags)
{
	UM_ENTER();
	return um_leave(flags ? hipErrorInvalidValue : active_of_stub(out, stub, lanes, lds_bytes));
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *out, hipFunction_t function,
							      int lanes, size_t lds_bytes)
{
	UM_ENTER();
	return um_leave(active_of_handle(out, function, lanes, lds_bytes));
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out,
								       hipFunction_t function,
								       int lanes, size_t lds_bytes,
								       unsigned flags)
{
	UM_ENTER();
	return um_leave(flags ? hipErrorInvalidValue
			      : active_of_handle(out, function, lanes, lds_bytes));
}

struct wish {
	int *grid, *block;
	size_t lds_bytes;
	int limit;
};

/* The largest group fills a compute unit as well as any, since it is a whole number of waves. */
static hipError_t best_group(const struct wish *wish, const struct um_function *function)
{
	int lanes = (int)UM_MAX_GROUP_LANES;

	if (!wish->grid || !wish->block || wish->limit < 0)
		return hipErrorInvalidValue;
	if (wish->limit && wish->limit < lanes)
		lanes = wish->limit;
	unsigned groups =
		um_occupancy((unsigned)lanes, static_lds_bytes(function) + wish->lds_bytes);

	*wish->block = lanes;
	*wish->grid = (int)(groups * um_device_get((uint32_t)um_thread.device)->compute_units);
	return hipSuccess;
}

static hipError_t best_of_stub(const struct wish *wish, const void *stub)
{
	struct um_function *function;
	hipError_t error = um_function_find(&function, stub);

	return error ? error : best_group(wish, function);
}

static hipError_t best_of_handle(const struct wish *wish, hipFunction_t handle)
{
	const struct um_function *function = (const struct um_function *)handle;

	if (!um_function_valid(function))
		return hipErrorInvalidDeviceFunction;
	return best_group(wish, function);
}

hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *stub,
					     size_t lds_bytes, int limit)
{
	struct wish wish = {grid, block, lds_bytes, limit};

	UM_ENTER();
	return um_leave(best_of_stub(&wish, stub));
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, hipFunction_t function,
						   size_t lds_bytes, int limit)
{
	struct wish wish = {grid, block, lds_bytes, limit};

	UM_ENTER();
	return um_leave(best_of_handle(&wish, function));
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
							    hipFunction_t function,
							    size_t lds_bytes, int limit,
							    unsigned flags)
{
	struct wish wish = {grid, block, lds_bytes, limit};

	UM_ENTER();
	return um_leave(flags ? hipErrorInvalidValue : best_of_handle(&wish, function));
}

/* --- names --- */

const char *hipKernelNameRef(const hipFunction_t handle)
{
	struct um_kernel kernel = {0};

	UM_ENTER();
	if (um_function_valid((const struct um_function *)handle))
		um_function_kernel(&kernel, (const struct um_function *)handle);
	um_leave(hipSuccess);
	return kernel.name;
}

const char *hipKernelNameRefByPtr(const void *stub, hipStream_t stream)
{
	struct um_kernel kernel = {0};
	struct um_function *function;

	(void)stream;
	UM_ENTER();
	if (!um_function_find(&function, stub))
		um_function_kernel(&kernel, function);
	um_leave(hipSuccess);
	return kernel.name;
}
