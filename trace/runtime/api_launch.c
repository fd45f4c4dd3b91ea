#include "api.h"
#include "hip_mangled.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* --- <<<>>>: configurations wait on a stack of the thread until the stub takes them --- */

static struct um_call_config *push_config(dim3 grid, dim3 block, size_t lds_bytes,
					  hipStream_t stream)
{
	if (um_thread.config_count == UM_CALL_CONFIGS)
		return NULL;
	struct um_call_config *config = &um_thread.configs[um_thread.config_count++];

	config->grid = grid;
	config->block = block;
	config->lds_bytes = lds_bytes;
	config->stream = stream;
	config->site = um_site();
	return config;
}

static struct um_call_config *top_config(void)
{
	return um_thread.config_count ? &um_thread.configs[um_thread.config_count - 1] : NULL;
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds_bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(push_config(grid, block, lds_bytes, stream) ? hipSuccess
								    : hipErrorOutOfMemory);
}

static hipError_t pop_config(dim3 *grid, dim3 *block, size_t *lds_bytes, hipStream_t *stream)
{
	const struct um_call_config *config = top_config();

	if (!config)
		return hipErrorMissingConfiguration;
	um_thread.config_count--;
	*grid = config->grid;
	*block = config->block;
	*lds_bytes = config->lds_bytes;
	*stream = config->stream;
	um_thread.launch_site = config->site;
	return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds_bytes,
				     hipStream_t *stream)
{
	UM_ENTER();
	return um_leave(pop_config(grid, block, lds_bytes, stream));
}

/* --- launches by the host's stub --- */

struct by_stub {
	const void *stub;
	dim3 grid, block;
	void **args;
	size_t lds_bytes;
	hipStream_t stream;
	bool cooperative;
};

static hipError_t launch_stub(const struct by_stub *l)
{
	struct um_launch_request request = {
		.grid = l->grid,
		.block = l->block,
		.args = l->args,
		.lds_bytes = l->lds_bytes,
		.stream = l->stream,
		.cooperative = l->cooperative,
	};

	/* Called by clang's stub, so the place in the program is that of the <<<>>> before. */
	if (um_thread.launch_site)
		um_thread.site = um_thread.launch_site;
	um_thread.launch_site = 0;
	if (!l->stub)
		return hipErrorInvalidDeviceFunction;
	hipError_t error = um_function_find(&request.function, l->stub);

	return error ? error : um_launch_run(&request);
}

hipError_t hipLaunchKernel(const void *stub, dim3 grid, dim3 block, void **args, size_t lds_bytes,
			   hipStream_t stream)
{
	struct by_stub launch = {stub, grid, block, args, lds_bytes, stream, false};

	UM_ENTER();
	return um_leave(launch_stub(&launch));
}

hipError_t hipLaunchKernel_spt(const void *stub, dim3 grid, dim3 block, void **args,
			       size_t lds_bytes, hipStream_t stream)
{
	struct by_stub launch = {
		stub, grid, block, args, lds_bytes, stream ? stream : hipStreamPerThread, false};

	UM_ENTER();
	return um_leave(launch_stub(&launch));
}

hipError_t hipLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **args,
				      unsigned lds_bytes, hipStream_t stream)
{
	struct by_stub launch = {stub, grid, block, args, lds_bytes, stream, true};

	UM_ENTER();
	return um_leave(launch_stub(&launch));
}

hipError_t hipLaunchCooperativeKernel_spt(const void *stub, dim3 grid, dim3 block, void **args,
					  uint32_t lds_bytes, hipStream_t stream)
{
	struct by_stub launch = {
		stub, grid, block, args, lds_bytes, stream ? stream : hipStreamPerThread, true};

	UM_ENTER();
	return um_leave(launch_stub(&launch));
}

/*
 * On several devices at once; each stream must be of another device. They run one after the other,
 * which is whole as long as they wait for nothing of each other's: a grid that spans devices is not
 * emulated, so that a kernel that does fails as one that makes no progress.
 */
static hipError_t launch_on_devices(hipLaunchParams *list, int count, bool cooperative)
{
	hipError_t error = hipSuccess;
	uint32_t devices = 0;

	if (!list || count <= 0 || (uint32_t)count > um_device_count())
		return hipErrorInvalidValue;
	for (int i = 0; i < count; i++) {
		const struct um_stream *stream = um_stream_get(list[i].stream);

		if (!stream || !stream->id)
			return hipErrorInvalidHandle;
		if (devices >> stream->device & 1u)
			return hipErrorInvalidDevice;
		devices |= 1u << stream->device;
	}
	for (int i = 0; i < count && !error; i++)
		error = launch_stub(&(struct by_stub){
			list[i].func, list[i].gridDim, list[i].blockDim, list[i].args,
			list[i].sharedMem, list[i].stream, cooperative});
	return error;
}

hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *list, int count, unsigned flags)
{
	(void)flags; /* cooperativeMultiDeviceNoPreSync, ...NoPostSync: nothing overlaps anyway */
	UM_ENTER();
	return um_leave(launch_on_devices(list, count, true));
}

hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *list, int count, unsigned flags)
{
	(void)flags;
	UM_ENTER();
	return um_leave(launch_on_devices(list, count, false));
}

static hipError_t launch_between(const struct by_stub *launch, hipEvent_t start, hipEvent_t stop)
{
	hipError_t error = um_event_mark(start, launch->stream);

	if (!error)
		error = launch_stub(launch);
	return error ? error : um_event_mark(stop, launch->stream);
}

hipError_t hipExtLaunchKernel(const void *stub, dim3 grid, dim3 block, void **args,
			      size_t lds_bytes, hipStream_t stream, hipEvent_t start,
			      hipEvent_t stop, int flags)
{
	struct by_stub launch = {stub, grid, block, args, lds_bytes, stream, false};

	(void)flags; /* hipExtAnyOrderLaunch allows an order, and this is one */
	UM_ENTER();
	return um_leave(launch_between(&launch, start, stop));
}

hipError_t um_launch_ggl(uintptr_t stub, const dim3 *grid, const dim3 *block, uint32_t lds_bytes,
			 hipStream_t stream, void **args)
{
	struct by_stub launch = {(const void *)stub, *grid, *block, args, lds_bytes, stream, false};

	UM_ENTER();
	return um_leave(launch_stub(&launch));
}

/* --- the launch of old: hipConfigureCall, hipSetupArgument for each argument, hipLaunchByPtr --- */

#define MAX_ARGS  64u
#define ARG_BYTES 4096u /* of all arguments of a kernel: what AMD's compilers allow */

/* Those of the configuration that is on top; the thread has one launch of this kind at a time. */
struct old_args {
	unsigned count;
	size_t offset[MAX_ARGS];
	_Alignas(16) unsigned char bytes[ARG_BYTES];
};
static _Thread_local struct old_args *old_args;

static hipError_t configure_call(dim3 grid, dim3 block, size_t lds_bytes, hipStream_t stream)
{
	if (!old_args)
		old_args = malloc(sizeof(*old_args));
	if (!old_args || !push_config(grid, block, lds_bytes, stream))
		return hipErrorOutOfMemory;
	old_args->count = 0;
	return hipSuccess;
}

hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t lds_bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(configure_call(grid, block, lds_bytes, stream));
}

static hipError_t setup_argument(const void *argument, size_t bytes, size_t offset)
{
	if (!old_args)
		return hipErrorMissingConfiguration;
	if (!argument || offset > ARG_BYTES || bytes > ARG_BYTES - offset ||
	    old_args->count == MAX_ARGS)
		return hipErrorInvalidValue;
	memcpy(old_args->bytes + offset, argument, bytes);
	old_args->offset[old_args->count++] = offset;
	return hipSuccess;
}

hipError_t hipSetupArgument(const void *argument, size_t bytes, size_t offset)
{
	UM_ENTER();
	return um_leave(setup_argument(argument, bytes, offset));
}

static hipError_t launch_with(const void *stub, struct old_args *taken)
{
	struct by_stub launch = {.stub = stub};
	void *args[MAX_ARGS];

	for (unsigned i = 0; i < taken->count; i++)
		args[i] = taken->bytes + taken->offset[i];
	launch.args = args;
	hipError_t error =
		pop_config(&launch.grid, &launch.block, &launch.lds_bytes, &launch.stream);

	return error ? error : launch_stub(&launch);
}

static hipError_t launch_by_ptr(const void *stub)
{
	struct old_args *taken = old_args;

	if (!taken)
		return hipErrorMissingConfiguration;
	old_args = NULL;
	hipError_t error = launch_with(stub, taken);

	free(taken);
	return error;
}

hipError_t hipLaunchByPtr(const void *stub)
{
	UM_ENTER();
	return um_leave(launch_by_ptr(stub));
}
