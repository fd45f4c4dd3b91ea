#include "runtime_frames.h"

#include "stacks.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* nvcc 12 and 13 name the function that packs a kernel's arguments so. */
#define STUB "__device_stub_"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool um_is_runtime_module(const char *path)
{
	static const char *const libraries[] = {
		"libcuda.so",	       "libcudart.so",	       "libcupti.so",	"libnvToolsExt",
		"libumtrace_cupti.so", "libumtrace_kokkos.so", "libamdhip64.so"};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (starts_with(base_name(path), libraries[i]))
			return true;
	return false;
}

bool um_is_runtime_file(const char *path)
{
	static const char *const files[] = {"cuda_runtime.h", "cuda_runtime_api.h",
					    "host_runtime.h", "device_functions.h", "umtrace.h"};
	const char *name = base_name(path);
	size_t length = strlen(name);

	/* HIP's wrappers, AMD's and ours for nvcc. */
	if (strstr(path, "/include/hip/") || strstr(path, "/nvidia/hip/"))
		return true;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (strcmp(name, files[i]) == 0)
			return true;
	return length > 7 && strcmp(name + length - 7, ".stub.c") == 0;
}

bool um_is_runtime_function(const char *name, bool has_source)
{
	/* Of umtrace.h, which each source file has its own of. */
	static const char *const own[] = {"um_name", "um_unname", "um_range_push", "um_range_pop"};

	if (strstr(name, STUB) || starts_with(name, "libcudart_static_"))
		return true;
	if (has_source)
		return false;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return starts_with(name, "__cuda") ||
	       (starts_with(name, "cuda") && isupper((unsigned char)name[4])) ||
	       (starts_with(name, "_Z") && strstr(name, "cudaLaunchKernel"));
}

const char *um_stub_kernel(const char *name)
{
	const char *stub = strstr(name, STUB);

	return stub ? stub + strlen(STUB) : NULL;
}

/* Of a source file or a library. */
static bool is_system_file(const char *path)
{
	static const char *const folders[] = {
		"/usr/include/", "/usr/lib/",		"/lib/",     "/usr/lib64/",
		"/lib64/",	 "/usr/local/include/", "/opt/rocm", "/usr/local/cuda"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (starts_with(path, folders[i]))
			return true;
	return strstr(path, "/include/c++/") != NULL || starts_with(base_name(path), "Kokkos_");
}

bool um_is_library_frame(const struct um_stack_frame *frame)
{
	if (um_is_runtime_module(frame->module) || is_system_file(frame->module))
		return true;
	if (frame->file)
		return is_system_file(frame->file) || um_is_runtime_file(frame->file);
	return frame->function && um_is_runtime_function(frame->function, false);
}
