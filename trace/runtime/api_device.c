#include "api.h"
#include "device_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* HIP 5.2.21153 (/usr/include/hip/hip_version.h of Debian 12): major * 10^7 + minor * 10^5 + patch.
 */
#define VERSION 50221153

/* Per device, changed by any thread. */
static uint32_t peers[UM_MAX_DEVICES]; /* bit p: access to device p is enabled */
static unsigned schedule_flags[UM_MAX_DEVICES];

static bool is_device(int device)
{
	return device >= 0 && (uint32_t)device < um_device_count();
}

static hipError_t put_int(int *out, int value)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = value;
	return hipSuccess;
}

hipError_t hipInit(unsigned flags)
{
	UM_ENTER();
	return um_leave(flags ? hipErrorInvalidValue : hipSuccess);
}

hipError_t hipDriverGetVersion(int *out)
{
	UM_ENTER();
	return um_leave(put_int(out, VERSION));
}

hipError_t hipRuntimeGetVersion(int *out)
{
	UM_ENTER();
	return um_leave(put_int(out, VERSION));
}

hipError_t hipGetDeviceCount(int *out)
{
	UM_ENTER();
	return um_leave(put_int(out, (int)um_device_count()));
}

hipError_t hipGetDevice(int *out)
{
	UM_ENTER();
	return um_leave(put_int(out, um_thread.device));
}

static hipError_t set_device(int device)
{
	if (!is_device(device))
		return hipErrorInvalidDevice;
	um_thread.device = device;
	return hipSuccess;
}

hipError_t hipSetDevice(int device)
{
	UM_ENTER();
	return um_leave(set_device(device));
}

static hipError_t device_get(hipDevice_t *out, int ordinal)
{
	return is_device(ordinal) ? put_int(out, ordinal) : hipErrorInvalidDevice;
}

hipError_t hipDeviceGet(hipDevice_t *out, int ordinal)
{
	UM_ENTER();
	return um_leave(device_get(out, ordinal));
}

static hipError_t get_properties(hipDeviceProp_t *out, int device)
{
	if (!out)
		return hipErrorInvalidValue;
	if (!is_device(device))
		return hipErrorInvalidDevice;
	um_device_properties(out, (uint32_t)device);
	return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *out, int device)
{
	UM_ENTER();
	return um_leave(get_properties(out, device));
}

static hipError_t get_attribute(int *out, hipDeviceAttribute_t attribute, int device)
{
	if (!out)
		return hipErrorInvalidValue;
	if (!is_device(device))
		return hipErrorInvalidDevice;
	return um_device_attribute(out, attribute, (uint32_t)device) ? hipSuccess
								     : hipErrorInvalidValue;
}

hipError_t hipDeviceGetAttribute(int *out, hipDeviceAttribute_t attribute, int device)
{
	UM_ENTER();
	return um_leave(get_attribute(out, attribute, device));
}

/* All devices are alike, so the first is as good as any. */
hipError_t hipChooseDevice(int *out, const hipDeviceProp_t *wanted)
{
	UM_ENTER();
	return um_leave(wanted ? put_int(out, 0) : hipErrorInvalidValue);
}

static hipError_t compute_capability(int *major, int *minor, int device)
{
	hipDeviceProp_t properties;
	hipError_t error = get_properties(&properties, device);

	if (error)
		return error;
	error = put_int(major, properties.major);
	return error ? error : put_int(minor, properties.minor);
}

hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device)
{
	UM_ENTER();
	return um_leave(compute_capability(major, minor, device));
}

static hipError_t put_text(char *out, int capacity, const char *text)
{
	if (!out || capacity <= 0)
		return hipErrorInvalidValue;
	snprintf(out, (size_t)capacity, "%s", text);
	return hipSuccess;
}

static hipError_t get_name(char *out, int capacity, int device)
{
	if (!is_device(device))
		return hipErrorInvalidDevice;
	return put_text(out, capacity, um_device_get((uint32_t)device)->name);
}

hipError_t hipDeviceGetName(char *out, int capacity, hipDevice_t device)
{
	UM_ENTER();
	return um_leave(get_name(out, capacity, device));
}

static hipError_t get_uuid(hipUUID *out, int device)
{
	char text[sizeof(out->bytes) + 1];

	if (!out)
		return hipErrorInvalidValue;
	if (!is_device(device))
		return hipErrorInvalidDevice;
	snprintf(text, sizeof(text), "umtrace-%08x", (unsigned)device);
	memcpy(out->bytes, text, sizeof(out->bytes));
	return hipSuccess;
}

hipError_t hipDeviceGetUuid(hipUUID *out, hipDevice_t device)
{
	UM_ENTER();
	return um_leave(get_uuid(out, device));
}

static hipError_t total_mem(size_t *out, int device)
{
	if (!out)
		return hipErrorInvalidValue;
	if (!is_device(device))
		return hipErrorInvalidDevice;
	*out = um_device_get((uint32_t)device)->memory_bytes;
	return hipSuccess;
}

hipError_t hipDeviceTotalMem(size_t *out, hipDevice_t device)
{
	UM_ENTER();
	return um_leave(total_mem(out, device));
}

/* --- PCI: device d plays 0000:(d + 1):00.0 --- */

static hipError_t get_pci(char *out, int capacity, int device)
{
	char text[32];

	if (!is_device(device))
		return hipErrorInvalidDevice;
	snprintf(text, sizeof(text), "0000:%02x:00.0", (unsigned)device + 1);
	if (capacity <= (int)strlen(text))
		return hipErrorInvalidValue;
	return put_text(out, capacity, text);
}

hipError_t hipDeviceGetPCIBusId(char *out, int capacity, int device)
{
	UM_ENTER();
	return um_leave(get_pci(out, capacity, device));
}

static hipError_t by_pci(int *out, const char *text)
{
	unsigned domain, bus, slot, function;

	if (!out || !text || sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return hipErrorInvalidValue;
	if (domain || slot || function || !bus || bus > um_device_count())
		return hipErrorInvalidValue;
	*out = (int)bus - 1;
	return hipSuccess;
}

hipError_t hipDeviceGetByPCIBusId(int *out, const char *text)
{
	UM_ENTER();
	return um_leave(by_pci(out, text));
}

/* --- peers: devices of one node, linked with each other --- */

static hipError_t can_access_peer(int *out, int device, int peer)
{
	if (!is_device(device) || !is_device(peer))
		return hipErrorInvalidDevice;
	return put_int(out, device != peer);
}

hipError_t hipDeviceCanAccessPeer(int *out, int device, int peer)
{
	UM_ENTER();
	return um_leave(can_access_peer(out, device, peer));
}

static hipError_t enable_peer(int peer, unsigned flags)
{
	uint32_t *enabled = &peers[um_thread.device];

	if (flags)
		return hipErrorInvalidValue;
	if (!is_device(peer) || peer == um_thread.device)
		return hipErrorInvalidDevice;
	if (*enabled >> peer & 1u)
		return hipErrorPeerAccessAlreadyEnabled;
	*enabled |= 1u << peer;
	return hipSuccess;
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
	UM_ENTER();
	return um_leave(enable_peer(peer, flags));
}

static hipError_t disable_peer(int peer)
{
	uint32_t *enabled = &peers[um_thread.device];

	if (!is_device(peer) || peer == um_thread.device)
		return hipErrorInvalidDevice;
	if (!(*enabled >> peer & 1u))
		return hipErrorPeerAccessNotEnabled;
	*enabled &= ~(1u << peer);
	return hipSuccess;
}

hipError_t hipDeviceDisablePeerAccess(int peer)
{
	UM_ENTER();
	return um_leave(disable_peer(peer));
}

static hipError_t p2p_attribute(int *out, hipDeviceP2PAttr attribute, int from, int to)
{
	if (!is_device(from) || !is_device(to) || from == to)
		return hipErrorInvalidDevice;
	switch (attribute) {
	case hipDevP2PAttrPerformanceRank:
		return put_int(out, 0); /* the best: all links are alike */
	case hipDevP2PAttrAccessSupported:
	case hipDevP2PAttrNativeAtomicSupported:
		return put_int(out, 1);
	case hipDevP2PAttrHipArrayAccessSupported:
		return put_int(out, 0); /* arrays are refused */
	default:
		return hipErrorInvalidValue;
	}
}

hipError_t hipDeviceGetP2PAttribute(int *out, hipDeviceP2PAttr attribute, int from, int to)
{
	UM_ENTER();
	return um_leave(p2p_attribute(out, attribute, from, to));
}

static hipError_t link_type(int from, int to, uint32_t *type, uint32_t *hops)
{
	if (!is_device(from) || !is_device(to))
		return hipErrorInvalidDevice;
	if (!type || !hops || from == to)
		return hipErrorInvalidValue;
	*type = 4; /* HSA_AMD_LINK_INFO_TYPE_XGMI of hsa_ext_amd.h */
	*hops = 1;
	return hipSuccess;
}

hipError_t hipExtGetLinkTypeAndHopCount(int from, int to, uint32_t *type, uint32_t *hops)
{
	UM_ENTER();
	return um_leave(link_type(from, to, type, hops));
}

/* --- limits and settings --- */

static hipError_t get_limit(size_t *out, enum hipLimit_t limit)
{
	if (!out)
		return hipErrorInvalidValue;
	if (limit != hipLimitMallocHeapSize)
		return hipErrorUnsupportedLimit; /* "only hipLimitMallocHeapSize is available" */
	*out = um_device_get((uint32_t)um_thread.device)->memory_bytes;
	return hipSuccess;
}

hipError_t hipDeviceGetLimit(size_t *out, enum hipLimit_t limit)
{
	UM_ENTER();
	return um_leave(get_limit(out, limit));
}

/* "AMD devices do not support reconfigurable cache or shared memory: this hint is ignored." */
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config)
{
	UM_ENTER();
	return um_leave((unsigned)config > hipFuncCachePreferEqual ? hipErrorInvalidValue
								   : hipSuccess);
}

static hipError_t get_cache_config(hipFuncCache_t *out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = hipFuncCachePreferNone;
	return hipSuccess;
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *out)
{
	UM_ENTER();
	return um_leave(get_cache_config(out));
}

hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config)
{
	UM_ENTER();
	return um_leave((unsigned)config > hipSharedMemBankSizeEightByte ? hipErrorInvalidValue
									 : hipSuccess);
}

static hipError_t get_shared_mem_config(hipSharedMemConfig *out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = hipSharedMemBankSizeFourByte;
	return hipSuccess;
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *out)
{
	UM_ENTER();
	return um_leave(get_shared_mem_config(out));
}

static hipError_t set_flags(int device, unsigned flags)
{
	const unsigned known = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
	unsigned schedule = flags & hipDeviceScheduleMask;

	if (flags & ~known || schedule & (schedule - 1))
		return hipErrorInvalidValue;
	schedule_flags[device] = flags;
	return hipSuccess;
}

hipError_t hipSetDeviceFlags(unsigned flags)
{
	UM_ENTER();
	return um_leave(set_flags(um_thread.device, flags));
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags)
{
	UM_ENTER();
	return um_leave(is_device(device) ? set_flags(device, flags) : hipErrorInvalidDevice);
}

static hipError_t get_flags(unsigned *out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = schedule_flags[um_thread.device];
	return hipSuccess;
}

hipError_t hipGetDeviceFlags(unsigned *out)
{
	UM_ENTER();
	return um_leave(get_flags(out));
}

/* --- synchronisation and reset --- */

/* Everything is done already, so this only writes down that the program asked. */
hipError_t um_device_synchronize(void)
{
	struct um_record_op op = um_op(UM_OP_SYNC_DEVICE, 0);

	um_tracer_op_begin(&op);
	hipError_t error = um_device_error();

	um_tracer_op_end(&op, error);
	return error;
}

hipError_t hipDeviceSynchronize(void)
{
	UM_ENTER();
	return um_leave(um_device_synchronize());
}

struct ids {
	uint32_t *id;
	size_t count, capacity;
	int device;
};

static bool note_id(struct um_allocation *allocation, void *context)
{
	struct ids *ids = context;

	if (allocation->device != ids->device || um_variable_owns(allocation))
		return true;
	if (ids->count == ids->capacity) {
		size_t capacity = ids->capacity ? 2 * ids->capacity : 64;
		uint32_t *grown = realloc(ids->id, capacity * sizeof(*grown));

		if (!grown)
			return false;
		ids->id = grown;
		ids->capacity = capacity;
	}
	ids->id[ids->count++] = allocation->id;
	return true;
}

/* Frees what was allocated on the device; __managed__ variables stay, the program has them. */
hipError_t um_device_reset(int device)
{
	struct ids ids = {.device = device};

	um_device_synchronize();
	um_arena_each(note_id, &ids);
	for (size_t i = 0; i < ids.count; i++)
		um_memory_free(um_arena_by_id(ids.id[i]), 0);
	free(ids.id);
	peers[device] = 0;
	schedule_flags[device] = 0;
	um_device_fail(hipSuccess);
	return hipSuccess;
}

hipError_t hipDeviceReset(void)
{
	UM_ENTER();
	return um_leave(um_device_reset(um_thread.device));
}
