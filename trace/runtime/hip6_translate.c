#include "hip6_translate.h"

#include "hip_headers.h"

#include <stddef.h>

static bool is_of_6(void)
{
	return um_hip_headers() >= 6;
}

static const struct {
	hipMemoryType in_5;
	unsigned in_6;
} memory_types[] = {
	{hipMemoryTypeHost, UM_MEMORY_TYPE_6_HOST},
	{hipMemoryTypeDevice, UM_MEMORY_TYPE_6_DEVICE},
	{hipMemoryTypeArray, UM_MEMORY_TYPE_6_ARRAY},
	{hipMemoryTypeUnified, UM_MEMORY_TYPE_6_UNIFIED},
};
#define MEMORY_TYPES (sizeof(memory_types) / sizeof(*memory_types))

hipMemoryType um_to_memory_type(unsigned type)
{
	if (!is_of_6())
		return (hipMemoryType)type;
	for (size_t i = 0; i < MEMORY_TYPES; i++)
		if (memory_types[i].in_6 == type)
			return memory_types[i].in_5;
	return hipMemoryTypeUnified;
}

unsigned um_from_memory_type(hipMemoryType type)
{
	for (size_t i = 0; i < MEMORY_TYPES && is_of_6(); i++)
		if (memory_types[i].in_5 == type)
			return memory_types[i].in_6;
	return type;
}

/* 5.2 counts from 1, and its copies of one dimension are a type of their own. */
static const unsigned node_types_6[hipGraphNodeTypeCount] = {
	[hipGraphNodeTypeKernel] = 0,	       [hipGraphNodeTypeMemcpy] = 1,
	[hipGraphNodeTypeMemset] = 2,	       [hipGraphNodeTypeHost] = 3,
	[hipGraphNodeTypeGraph] = 4,	       [hipGraphNodeTypeEmpty] = 5,
	[hipGraphNodeTypeWaitEvent] = 6,       [hipGraphNodeTypeEventRecord] = 7,
	[hipGraphNodeTypeMemcpy1D] = 1,	       [hipGraphNodeTypeMemcpyFromSymbol] = 12,
	[hipGraphNodeTypeMemcpyToSymbol] = 13,
};

hipGraphNodeType um_from_node_type(hipGraphNodeType type)
{
	if (!is_of_6() || (unsigned)type >= hipGraphNodeTypeCount)
		return type;
	return (hipGraphNodeType)node_types_6[type];
}

const hipMemsetParams *um_to_memset_params(hipMemsetParams *kept, const void *params)
{
	const struct um_memset_params_7 *of_7 = params;

	if (!params || um_hip_headers() < 7)
		return params;
	*kept = (hipMemsetParams){
		.dst = of_7->dst,
		.elementSize = of_7->elementSize,
		.height = of_7->height,
		.pitch = of_7->pitch,
		.value = of_7->value,
		.width = of_7->width,
	};
	return kept;
}

void um_from_memset_params(void *out, const hipMemsetParams *params)
{
	if (um_hip_headers() < 7) {
		*(hipMemsetParams *)out = *params;
		return;
	}
	*(struct um_memset_params_7 *)out = (struct um_memset_params_7){
		.dst = params->dst,
		.pitch = params->pitch,
		.value = params->value,
		.elementSize = params->elementSize,
		.width = params->width,
		.height = params->height,
	};
}

void um_to_memcpy_3d(struct um_memcpy_3d_6 *out, const void *params)
{
	const HIP_MEMCPY3D *c = params;

	if (is_of_6()) {
		*out = *(const struct um_memcpy_3d_6 *)params;
		return;
	}
	*out = (struct um_memcpy_3d_6){
		.srcXInBytes = c->srcXInBytes,
		.srcY = c->srcY,
		.srcZ = c->srcZ,
		.srcMemoryType = c->srcMemoryType,
		.srcHost = c->srcHost,
		.srcDevice = c->srcDevice,
		.srcPitch = c->srcPitch,
		.srcHeight = c->srcHeight,
		.dstXInBytes = c->dstXInBytes,
		.dstY = c->dstY,
		.dstZ = c->dstZ,
		.dstMemoryType = c->dstMemoryType,
		.dstHost = c->dstHost,
		.dstDevice = c->dstDevice,
		.dstPitch = c->dstPitch,
		.dstHeight = c->dstHeight,
		.WidthInBytes = c->WidthInBytes,
		.Height = c->Height,
		.Depth = c->Depth,
	};
}

const hipMemAllocationProp *um_to_allocation_prop(hipMemAllocationProp *kept, const void *prop)
{
	const struct um_allocation_prop_6 *of_6 = prop;

	if (!prop || !is_of_6())
		return prop;
	*kept = (hipMemAllocationProp){
		.type = of_6->type,
		.requestedHandleType = of_6->requestedHandleType,
		.location = of_6->location,
		.win32HandleMetaData = of_6->win32HandleMetaData,
		.compressionType = of_6->allocFlags.compressionType,
		.usage = of_6->allocFlags.usage,
	};
	return kept;
}

void um_from_allocation_prop(void *out, const hipMemAllocationProp *prop)
{
	if (!is_of_6()) {
		*(hipMemAllocationProp *)out = *prop;
		return;
	}
	*(struct um_allocation_prop_6 *)out = (struct um_allocation_prop_6){
		.type = prop->type,
		.requestedHandleType = prop->requestedHandleType,
		.location = prop->location,
		.win32HandleMetaData = prop->win32HandleMetaData,
		.allocFlags = {.compressionType = prop->compressionType, .usage = prop->usage},
	};
}
