/* Streams, events and launches of HIP 5.3 to 7. */
#include "api_newer.h"
#include "capture.h"
#include "hip_headers.h"
#include "hip_mangled.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static hipError_t get_device(hipStream_t handle, hipDevice_t *out)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!out)
		return hipErrorInvalidValue;
	if (!stream)
		return hipErrorInvalidHandle;
	*out = stream->device;
	return hipSuccess;
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device)
{
	UM_ENTER();
	return um_leave(get_device(stream, device));
}

static hipError_t get_id(hipStream_t handle, unsigned long long *out)
{
	struct um_stream *stream;
	hipError_t error = out ? um_stream_find(&stream, handle) : hipErrorInvalidValue;

	if (!error)
		*out = stream->id;
	return error;
}

hipError_t hipStreamGetId(hipStream_t stream, unsigned long long *id)
{
	UM_ENTER();
	return um_leave(get_id(stream, id));
}

#define EVENT_RECORD_EXTERNAL 1u /* hipEventRecordExternal of HIP 7 */

/* An external record differs only while a stream captures: there it would be a node of its own. */
static hipError_t record(hipEvent_t event, hipStream_t stream, unsigned flags)
{
	bool captures;

	if (flags & ~EVENT_RECORD_EXTERNAL)
		return hipErrorInvalidValue;
	hipError_t error = um_capture_asks(&captures, stream, true);

	if (error)
		return error;
	if (flags && captures)
		return um_refuse_part("hipEventRecordExternal while a stream captures");
	return hipEventRecord(event, stream);
}

hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags)
{
	UM_ENTER();
	return um_leave(record(event, stream, flags));
}

static hipError_t launch_together(struct um_launch_request *request, hipFunction_t handle)
{
	request->function = (struct um_function *)handle;
	return um_function_valid(request->function) ? um_launch_run(request)
						    : hipErrorInvalidHandle;
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
					    unsigned grid_y, unsigned grid_z, unsigned block_x,
					    unsigned block_y, unsigned block_z, unsigned lds_bytes,
					    hipStream_t stream, void **args)
{
	struct um_launch_request request = {
		.grid = {grid_x, grid_y, grid_z},
		.block = {block_x, block_y, block_z},
		.lds_bytes = lds_bytes,
		.stream = stream,
		.args = args,
		.cooperative = true,
	};

	UM_ENTER();
	return um_leave(launch_together(&request, function));
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t x, uint32_t y, uint32_t z,
				    uint32_t block_x, uint32_t block_y, uint32_t block_z,
				    size_t lds_bytes, hipStream_t stream, void **args, void **extra,
				    hipEvent_t start, hipEvent_t stop, uint32_t flags)
{
	UM_ENTER();
	return um_leave(um_ext_module_launch(function, x, y, z, block_x, block_y, block_z,
					     lds_bytes, stream, args, extra, start, stop, flags));
}

static hipError_t by_stub(hipFunction_t *out, const void *stub)
{
	struct um_function *function;

	if (!out)
		return hipErrorInvalidValue;
	if (!stub)
		return hipErrorInvalidDeviceFunction;
	hipError_t error = um_function_find(&function, stub);

	if (!error)
		*out = (hipFunction_t)function;
	return error;
}

hipError_t hipGetFuncBySymbol(hipFunction_t *out, const void *stub)
{
	UM_ENTER();
	return um_leave(by_stub(out, stub));
}

/* --- by name --- */

#define PER_THREAD_STREAM 2u /* HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
enum { PROC_FOUND = 0, PROC_NOT_FOUND = 1 };

/* Some functions are another since HIP 6.0, by the name that its header gives them. */
static const char *name_of_6(const char *name)
{
	static const char *const names[][2] = {
		{"hipGetDeviceProperties", "hipGetDevicePropertiesR0600"},
		{"hipChooseDevice", "hipChooseDeviceR0600"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

/* A function of this library. */
static void *own_function(const char *name)
{
	Dl_info own, found;
	void *address = dlsym(RTLD_DEFAULT, name);

	if (!address || !dladdr(address, &found) ||
	    !dladdr((void *)(uintptr_t)own_function, &own) || own.dli_fbase != found.dli_fbase)
		return NULL;
	return address;
}

static void *find_function(const char *name, int hip_version, uint64_t flags)
{
	char spt[128];
	void *found = NULL;

	if (flags == PER_THREAD_STREAM) {
		snprintf(spt, sizeof(spt), "%s_spt", name);
		found = own_function(spt);
	}
	return found ? found : own_function(hip_version >= 600 ? name_of_6(name) : name);
}

static hipError_t get_function(const char *name, void **out, int hip_version, uint64_t flags,
			       int *result)
{
	if (!name || !out || flags > PER_THREAD_STREAM || strncmp(name, "hip", 3) != 0)
		return hipErrorInvalidValue;
	*out = find_function(name, hip_version, flags);
	if (result)
		*result = *out ? PROC_FOUND : PROC_NOT_FOUND;
	return *out ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipGetProcAddress(const char *name, void **function, int hip_version, uint64_t flags,
			     int *result)
{
	um_hip_headers_at_least(6);
	UM_ENTER();
	return um_leave(get_function(name, function, hip_version, flags, result));
}
