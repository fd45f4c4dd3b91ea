/*
 * Contexts, which HIP keeps for programs that came from the CUDA driver API: a device has one, and
 * making it current makes the device current.
 */
#include "api.h"

#define STACK 32u

struct um_context {
	int device;
};

static struct um_context contexts[UM_MAX_DEVICES];
static unsigned retained[UM_MAX_DEVICES];

static _Thread_local struct {
	hipCtx_t context[STACK];
	unsigned count;
} stack;

static hipCtx_t context_of(int device)
{
	contexts[device].device = device;
	return (hipCtx_t)&contexts[device];
}

static bool find_device(int *out, hipCtx_t context)
{
	for (uint32_t i = 0; i < um_device_count(); i++) {
		if (context != (hipCtx_t)&contexts[i])
			continue;
		*out = (int)i;
		return true;
	}
	return false;
}

static hipError_t push(hipCtx_t context)
{
	int device;

	if (!find_device(&device, context) || stack.count == STACK)
		return hipErrorInvalidContext;
	stack.context[stack.count++] = context_of(um_thread.device);
	um_thread.device = device;
	return hipSuccess;
}

static hipError_t pop(hipCtx_t *out)
{
	if (!stack.count)
		return hipErrorInvalidContext;
	if (out)
		*out = context_of(um_thread.device);
	find_device(&um_thread.device, stack.context[--stack.count]);
	return hipSuccess;
}

static hipError_t create(hipCtx_t *out, int device)
{
	if (!out)
		return hipErrorInvalidValue;
	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	*out = context_of(device);
	return push(*out);
}

hipError_t hipCtxCreate(hipCtx_t *out, unsigned flags, hipDevice_t device)
{
	(void)flags; /* ways for the host to wait, and it never waits here */
	UM_ENTER();
	return um_leave(create(out, device));
}

static hipError_t destroy(hipCtx_t context)
{
	int device;

	if (!find_device(&device, context))
		return hipErrorInvalidValue;
	/* A current context that was pushed is left; the device itself stays. */
	if (device == um_thread.device && stack.count)
		pop(NULL);
	return hipSuccess;
}

hipError_t hipCtxDestroy(hipCtx_t context)
{
	UM_ENTER();
	return um_leave(destroy(context));
}

hipError_t hipCtxPushCurrent(hipCtx_t context)
{
	UM_ENTER();
	return um_leave(push(context));
}

hipError_t hipCtxPopCurrent(hipCtx_t *out)
{
	UM_ENTER();
	return um_leave(pop(out));
}

static hipError_t set_current(hipCtx_t context)
{
	if (!context)
		return pop(NULL);
	return find_device(&um_thread.device, context) ? hipSuccess : hipErrorInvalidContext;
}

hipError_t hipCtxSetCurrent(hipCtx_t context)
{
	UM_ENTER();
	return um_leave(set_current(context));
}

static hipError_t get_current(hipCtx_t *out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = context_of(um_thread.device);
	return hipSuccess;
}

hipError_t hipCtxGetCurrent(hipCtx_t *out)
{
	UM_ENTER();
	return um_leave(get_current(out));
}

hipError_t hipCtxGetDevice(hipDevice_t *out)
{
	return hipGetDevice(out);
}

hipError_t hipCtxGetApiVersion(hipCtx_t context, int *out)
{
	int device;

	if (!find_device(&device, context))
		return hipErrorInvalidContext;
	if (!out)
		return hipErrorInvalidValue;
	*out = 4; /* what HIP 5.2 answers */
	return hipSuccess;
}

hipError_t hipCtxGetCacheConfig(hipFuncCache_t *out)
{
	return hipDeviceGetCacheConfig(out);
}

hipError_t hipCtxSetCacheConfig(hipFuncCache_t config)
{
	return hipDeviceSetCacheConfig(config);
}

hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config)
{
	return hipDeviceSetSharedMemConfig(config);
}

hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *out)
{
	return hipDeviceGetSharedMemConfig(out);
}

hipError_t hipCtxGetFlags(unsigned *out)
{
	return hipGetDeviceFlags(out);
}

hipError_t hipCtxSynchronize(void)
{
	UM_ENTER();
	return um_leave(um_device_synchronize());
}

static hipError_t peer_of(int *out, hipCtx_t context)
{
	return find_device(out, context) ? hipSuccess : hipErrorInvalidContext;
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t context, unsigned flags)
{
	int peer;
	hipError_t error = peer_of(&peer, context);

	return error ? error : hipDeviceEnablePeerAccess(peer, flags);
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t context)
{
	int peer;
	hipError_t error = peer_of(&peer, context);

	return error ? error : hipDeviceDisablePeerAccess(peer);
}

/* --- primary contexts --- */

static hipError_t primary_state(int device, unsigned *flags, int *active)
{
	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	if (!flags || !active)
		return hipErrorInvalidValue;
	*flags = 0;
	*active = retained[device] || device == um_thread.device;
	return hipSuccess;
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags, int *active)
{
	UM_ENTER();
	return um_leave(primary_state(device, flags, active));
}

static hipError_t primary_retain(hipCtx_t *out, int device)
{
	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	if (!out)
		return hipErrorInvalidValue;
	retained[device]++;
	*out = context_of(device);
	return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *out, hipDevice_t device)
{
	UM_ENTER();
	return um_leave(primary_retain(out, device));
}

static hipError_t primary_release(int device)
{
	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	if (retained[device])
		retained[device]--;
	return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device)
{
	UM_ENTER();
	return um_leave(primary_release(device));
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device)
{
	UM_ENTER();
	return um_leave(um_is_device(device) ? um_device_reset(device) : hipErrorInvalidDevice);
}
