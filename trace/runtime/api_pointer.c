/* What a pointer points to. */
#include "api_newer.h"
#include "hip6_translate.h"
#include "hip_headers.h"

#include <string.h>

static const hipMemoryType type_of_kind[] = {
	[UM_ALLOCATION_MANAGED] = hipMemoryTypeUnified,
	[UM_ALLOCATION_DEVICE] = hipMemoryTypeDevice,
	[UM_ALLOCATION_PINNED] = hipMemoryTypeHost,
	[UM_ALLOCATION_REGISTERED] = hipMemoryTypeHost,
};

/*
 * HIP 5.2 reports managed memory as device memory with isManaged set, HIP 6 as managed (clr, tag
 * rocm-6.2.2, hip_memory.cpp).
 */
static unsigned pointer_type(const struct um_allocation *allocation)
{
	hipMemoryType type = type_of_kind[allocation->kind];

	if (type != hipMemoryTypeUnified)
		return um_from_memory_type(type);
	return um_hip_headers() >= 6 ? (unsigned)UM_MEMORY_TYPE_6_MANAGED : hipMemoryTypeDevice;
}

static hipError_t get_variable(hipPointerAttribute_t *out, const void *address)
{
	*out = (hipPointerAttribute_t){
		.memoryType = (hipMemoryType)um_from_memory_type(hipMemoryTypeDevice),
		.device = um_thread.device,
		.devicePointer = (void *)(uintptr_t)address,
	};
	return hipSuccess;
}

/* Memory that is not HIP's: an error, and from HIP 6 on a type. */
static hipError_t get_unregistered(hipPointerAttribute_t *out)
{
	if (um_hip_headers() < 6)
		return hipErrorInvalidValue;
	*out = (hipPointerAttribute_t){
		.memoryType = (hipMemoryType)UM_MEMORY_TYPE_6_UNREGISTERED,
		.device = hipInvalidDeviceId,
	};
	return hipSuccess;
}

static hipError_t get_attributes(hipPointerAttribute_t *out, const void *address)
{
	const struct um_allocation *allocation = um_memory_find(address);

	if (!out || !address)
		return hipErrorInvalidValue;
	if (!allocation)
		return um_module_holds(address) ? get_variable(out, address)
						: get_unregistered(out);
	*out = (hipPointerAttribute_t){
		.memoryType = (hipMemoryType)pointer_type(allocation),
		.device = allocation->device,
		.devicePointer = (void *)(uintptr_t)address,
		.hostPointer = allocation->kind == UM_ALLOCATION_DEVICE
				       ? NULL
				       : (void *)(uintptr_t)address,
		.isManaged = allocation->kind == UM_ALLOCATION_MANAGED,
		.allocationFlags = allocation->flags,
	};
	return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *out, const void *address)
{
	UM_ENTER();
	return um_leave(get_attributes(out, address));
}

/* One attribute, always 8 bytes at most; `data` has room for its type. */
static hipError_t put(void *data, const void *value, size_t bytes)
{
	memcpy(data, value, bytes);
	return hipSuccess;
}

static hipError_t put_unsigned(void *data, unsigned value)
{
	return put(data, &value, sizeof(value));
}

static hipError_t put_bool(void *data, bool value)
{
	return put(data, &value, sizeof(value));
}

static hipError_t put_pointer(void *data, const void *value)
{
	return put(data, &value, sizeof(value));
}

static hipError_t put_attribute(void *data, hipPointer_attribute attribute,
				const struct um_allocation *a, const void *address)
{
	size_t bytes = a->bytes;

	switch (attribute) {
	case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
		return put_unsigned(data, um_from_memory_type(type_of_kind[a->kind]));
	case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
		return put_pointer(data, address);
	case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
		if (a->kind == UM_ALLOCATION_DEVICE)
			return hipErrorInvalidValue;
		return put_pointer(data, address);
	case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		return put_bool(data, true); /* all memory operations are synchronous */
	case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
		return put_unsigned(data, a->id);
	case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
		return put_bool(data, a->kind == UM_ALLOCATION_MANAGED);
	case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		return put_unsigned(data, (unsigned)a->device);
	case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		return put_pointer(data, um_memory_start(a));
	case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
		return put(data, &bytes, sizeof(bytes));
	case HIP_POINTER_ATTRIBUTE_MAPPED:
		return put_bool(data, true);
	case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return put_unsigned(data, hipMemAccessFlagsProtReadWrite);
	case HIP_POINTER_ATTRIBUTE_CONTEXT:
	case HIP_POINTER_ATTRIBUTE_P2P_TOKENS:
	case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
	case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
	case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
	case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		return hipErrorNotSupported; /* "not supported in HIP" */
	default:
		return hipErrorInvalidValue;
	}
}

static hipError_t get_attribute(void *data, hipPointer_attribute attribute, const void *address)
{
	const struct um_allocation *allocation = um_memory_find(address);

	if (!data || !address || !allocation)
		return hipErrorInvalidValue;
	return put_attribute(data, attribute, allocation, address);
}

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute,
				  hipDeviceptr_t address)
{
	UM_ENTER();
	return um_leave(get_attribute(data, attribute, address));
}

/* All memory operations are synchronous already. */
static hipError_t set_attribute(const void *value, hipPointer_attribute attribute,
				const void *address)
{
	if (!value || !address || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
	    *(const unsigned *)value > 1)
		return hipErrorInvalidValue;
	return um_memory_find(address) ? hipSuccess : hipErrorInvalidDevicePointer;
}

/* Of HIP 5.5 and later; what it checks is clr's, tag rocm-6.2.2, hip_memory.cpp. */
hipError_t hipPointerSetAttribute(const void *value, hipPointer_attribute attribute,
				  hipDeviceptr_t address)
{
	UM_ENTER();
	return um_leave(set_attribute(value, attribute, address));
}

static hipError_t get_several(unsigned count, const hipPointer_attribute *attributes, void **data,
			      const void *address)
{
	const struct um_allocation *allocation = um_memory_find(address);
	hipError_t error = hipSuccess;

	if (!attributes || !data || !address)
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < count && !error; i++) {
		if (!data[i])
			return hipErrorInvalidValue;
		if (allocation)
			error = put_attribute(data[i], attributes[i], allocation, address);
	}
	return allocation ? error : hipErrorInvalidValue;
}

hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute *attributes, void **data,
				      hipDeviceptr_t address)
{
	UM_ENTER();
	return um_leave(get_several(count, attributes, data, address));
}
