#include "api.h"
#include "device_properties.h"
#include "hip_headers.h"

#include <stdio.h>
#include <string.h>

/*
 * Major * 10^7 + minor * 10^5 + patch, by the headers that the program was compiled with: 5.2.21153
 * (hip_version.h of Debian 12), 6.2.41134 (VERSION of ROCm/HIP at tag rocm-6.2.2), 7.1.
 */
static int hip_version(void)
{
	static const int versions[] = {50221153, 60241134, 70100000};

	return versions[um_hip_headers() - UM_HIP_HEADERS_OLDEST];
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
	return um_leave(put_int(out, hip_version()));
}

hipError_t hipRuntimeGetVersion(int *out)
{
	UM_ENTER();
	return um_leave(put_int(out, hip_version()));
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
	if (!um_is_device(device))
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
	return um_is_device(ordinal) ? put_int(out, ordinal) : hipErrorInvalidDevice;
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
	if (!um_is_device(device))
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
	if (!um_is_device(device))
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
	if (!um_is_device(device))
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
	if (!um_is_device(device))
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
	if (!um_is_device(device))
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

	if (!um_is_device(device))
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
