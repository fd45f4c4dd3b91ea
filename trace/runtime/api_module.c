/* Modules that the program loads by itself, their kernels and variables. */
#include "hip_mangled.h"
#include "trace/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct um_loaded {
	struct um_loaded *next;
	struct um_module *module;
};

static struct um_loaded *all;

static struct um_loaded *find(hipModule_t handle)
{
	for (struct um_loaded *loaded = all; loaded; loaded = loaded->next)
		if ((hipModule_t)loaded == handle)
			return loaded;
	return NULL;
}

static hipError_t error_of(int error)
{
	switch (error) {
	case UM_ENOENT:
		um_say("module not loaded: %s; compile it with umhipcc", um_error_message());
		return hipErrorNoBinaryForGpu;
	case UM_ENOMEM:
		return hipErrorOutOfMemory;
	default:
		return hipErrorInvalidImage;
	}
}

static hipError_t load_image(hipModule_t *out, const void *image, size_t bytes)
{
	if (!out || !image)
		return hipErrorInvalidValue;
	struct um_loaded *loaded = calloc(1, sizeof(*loaded));

	if (!loaded)
		return hipErrorOutOfMemory;
	int error = um_module_load(&loaded->module, image, bytes);

	if (error) {
		free(loaded);
		return error_of(error);
	}
	loaded->next = all;
	all = loaded;
	*out = (hipModule_t)loaded;
	return hipSuccess;
}

static hipError_t load_file(hipModule_t *out, const char *path)
{
	struct stat status;

	if (!path || !out)
		return hipErrorInvalidValue;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return hipErrorFileNotFound;
	void *image = MAP_FAILED;

	if (!fstat(file, &status) && status.st_size > 0)
		image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	if (image == MAP_FAILED)
		return hipErrorInvalidImage;
	hipError_t error = load_image(out, image, (size_t)status.st_size);

	munmap(image, (size_t)status.st_size);
	return error;
}

hipError_t hipModuleLoad(hipModule_t *out, const char *path)
{
	UM_ENTER();
	return um_leave(load_file(out, path));
}

hipError_t hipModuleLoadData(hipModule_t *out, const void *image)
{
	UM_ENTER();
	return um_leave(load_image(out, image, SIZE_MAX));
}

hipError_t hipModuleLoadDataEx(hipModule_t *out, const void *image, unsigned count,
			       hipJitOption *options, void **values)
{
	(void)count, (void)options, (void)values; /* for compilers; this code is compiled */
	UM_ENTER();
	return um_leave(load_image(out, image, SIZE_MAX));
}

static hipError_t unload(hipModule_t handle)
{
	struct um_loaded *loaded = find(handle);
	struct um_loaded **link = &all;

	if (!loaded)
		return hipErrorInvalidHandle;
	while (*link != loaded)
		link = &(*link)->next;
	*link = loaded->next;
	um_function_forget(loaded->module);
	um_module_unload(loaded->module);
	free(loaded);
	return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t module)
{
	UM_ENTER();
	return um_leave(unload(module));
}

static hipError_t get_function(hipFunction_t *out, hipModule_t handle, const char *name)
{
	struct um_loaded *loaded = find(handle);
	struct um_function *function;

	if (!out || !name)
		return hipErrorInvalidValue;
	if (!loaded)
		return hipErrorInvalidHandle;
	hipError_t error = um_function_from_module(&function, loaded->module, name);

	if (!error)
		*out = (hipFunction_t)function;
	return error;
}

hipError_t hipModuleGetFunction(hipFunction_t *out, hipModule_t module, const char *name)
{
	UM_ENTER();
	return um_leave(get_function(out, module, name));
}

static hipError_t get_global(hipDeviceptr_t *out, size_t *bytes, hipModule_t handle,
			     const char *name)
{
	struct um_loaded *loaded = find(handle);
	void *address;
	uint64_t whole;

	if (!name || (!out && !bytes))
		return hipErrorInvalidValue;
	if (!loaded)
		return hipErrorInvalidHandle;
	if (um_module_symbol(&address, &whole, loaded->module, name))
		return hipErrorNotFound;
	if (out)
		*out = address;
	if (bytes)
		*bytes = whole;
	return hipSuccess;
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t *out, size_t *bytes, hipModule_t module,
			      const char *name)
{
	UM_ENTER();
	return um_leave(get_global(out, bytes, module, name));
}

/* Arguments in one buffer: "extra" names it and its size, in any order. */
static hipError_t read_extra(char **buffer, size_t *bytes, void **extra)
{
	*buffer = NULL;
	*bytes = 0;
	for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER)
			*buffer = extra[1];
		else if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			*bytes = *(const size_t *)extra[1];
		else
			return hipErrorInvalidValue;
	}
	return *buffer ? hipSuccess : hipErrorInvalidValue;
}

hipError_t um_launch_unpack(struct um_launch_request *request, void **extra)
{
	struct um_kernel kernel;
	char *buffer;
	size_t bytes;
	hipError_t error = read_extra(&buffer, &bytes, extra);

	if (error || request->args)
		return hipErrorInvalidValue;
	um_function_kernel(&kernel, request->function);
	if (!kernel.argument_offsets)
		return um_refuse_part("hipModuleLaunchKernel with its arguments in one buffer "
				      "(extra), one of which is passed by reference,");
	if (bytes < kernel.argument_offsets[kernel.argument_count])
		return hipErrorInvalidValue;
	request->args = calloc(kernel.argument_count + 1u, sizeof(*request->args));
	if (!request->args)
		return hipErrorOutOfMemory;
	for (unsigned i = 0; i < kernel.argument_count; i++)
		request->args[i] = buffer + kernel.argument_offsets[i];
	return hipSuccess;
}

static hipError_t launch_buffer(struct um_launch_request *request, void **extra)
{
	hipError_t error = um_launch_unpack(request, extra);

	if (error)
		return error;
	error = um_launch_run(request);
	free(request->args);
	request->args = NULL;
	return error;
}

static hipError_t launch(struct um_launch_request *request, hipFunction_t handle, void **extra)
{
	request->function = (struct um_function *)handle;
	if (!um_function_valid(request->function))
		return hipErrorInvalidHandle;
	return extra ? launch_buffer(request, extra) : um_launch_run(request);
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned x, unsigned y, unsigned z,
				 unsigned block_x, unsigned block_y, unsigned block_z,
				 unsigned lds_bytes, hipStream_t stream, void **args, void **extra)
{
	struct um_launch_request request = {
		.grid = {x, y, z},
		.block = {block_x, block_y, block_z},
		.lds_bytes = lds_bytes,
		.stream = stream,
		.args = args,
	};

	UM_ENTER();
	return um_leave(launch(&request, function, extra));
}

struct ext_launch {
	hipFunction_t function;
	uint32_t items[3], block[3];
	size_t lds_bytes;
	hipStream_t stream;
	void **args, **extra;
	hipEvent_t start, stop;
};

/* Sizes are in work-items here; those that do not fill the last group are not supported by HIP. */
static hipError_t launch_items(const struct ext_launch *l)
{
	struct um_launch_request request = {
		.block = {l->block[0], l->block[1], l->block[2]},
		.lds_bytes = l->lds_bytes,
		.stream = l->stream,
		.args = l->args,
	};

	for (int i = 0; i < 3; i++)
		if (!l->block[i] || l->items[i] % l->block[i])
			return hipErrorInvalidConfiguration;
	request.grid = (dim3){l->items[0] / l->block[0], l->items[1] / l->block[1],
			      l->items[2] / l->block[2]};
	hipError_t error = um_event_mark(l->start, l->stream);

	if (!error)
		error = launch(&request, l->function, l->extra);
	return error ? error : um_event_mark(l->stop, l->stream);
}

hipError_t um_ext_module_launch(hipFunction_t function, uint32_t x, uint32_t y, uint32_t z,
				uint32_t block_x, uint32_t block_y, uint32_t block_z,
				size_t lds_bytes, hipStream_t stream, void **args, void **extra,
				hipEvent_t start, hipEvent_t stop, uint32_t flags)
{
	struct ext_launch l = {function,  {x, y, z}, {block_x, block_y, block_z},
			       lds_bytes, stream,    args,
			       extra,	  start,     stop};

	(void)flags; /* hipExtAnyOrderLaunch allows an order, and this is one */
	UM_ENTER();
	return um_leave(launch_items(&l));
}

hipError_t um_hcc_module_launch(hipFunction_t function, uint32_t x, uint32_t y, uint32_t z,
				uint32_t block_x, uint32_t block_y, uint32_t block_z,
				size_t lds_bytes, hipStream_t stream, void **args, void **extra,
				hipEvent_t start, hipEvent_t stop)
{
	struct ext_launch l = {function,  {x, y, z}, {block_x, block_y, block_z},
			       lds_bytes, stream,    args,
			       extra,	  start,     stop};

	UM_ENTER();
	return um_leave(launch_items(&l));
}
