/*
 * What the host half of a HIP program registers before main: fat binaries, kernels, variables.
 * Code objects are loaded on first use, so a program whose code does not run here still starts.
 */
#include "api.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* CodeGenModule of clang: CGNVCUDARuntime::makeModuleCtorFunction, "HIPF". */
#define FAT_MAGIC 0x48495046u

struct fat_wrapper {
	unsigned magic, version;
	const void *binary;
	void *unused;
};

struct fat_binary {
	struct fat_binary *next;
	const void *bundle;
	struct um_module *module; /* once loaded */
	hipError_t failed;	  /* why it cannot be, said once */
	struct managed *managed;
};

/* A __managed__ variable: the program and the code object each hold a pointer to its memory. */
struct managed {
	struct managed *next;
	const char *name;
	void *memory;
};

struct um_function {
	struct um_function *next; /* of the bucket */
	const void *host_stub;	  /* NULL for hipModuleGetFunction */
	struct fat_binary *fat;
	const char *name;
	char *owned_name;
	struct um_kernel kernel; /* once found */
	bool missing;		 /* said */
};

struct variable {
	struct variable *next; /* of the bucket */
	const void *host;
	struct fat_binary *fat;
	const char *name;
	struct managed *managed;
};

#define BUCKETS 1024u
static struct um_function *functions[BUCKETS]; /* by host stub; those of modules by name pointer */
static struct variable *variables[BUCKETS];
static struct fat_binary *fats;

/* The generated code calls these; clang declares them, no header does. */
UM_API void **__hipRegisterFatBinary(const struct fat_wrapper *);
UM_API void __hipUnregisterFatBinary(void **);
UM_API void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *,
				  void *, dim3 *, dim3 *, int *);
UM_API void __hipRegisterVar(void **, void *, char *, const char *, int, size_t, int, int);
UM_API void __hipRegisterManagedVar(void **, void **, void *, const char *, size_t, unsigned);

static unsigned bucket_of(const void *address)
{
	return (unsigned)(((uintptr_t)address >> 3) * 2654435761u >> 7) % BUCKETS;
}

void **__hipRegisterFatBinary(const struct fat_wrapper *wrapper)
{
	struct fat_binary *fat = calloc(1, sizeof(*fat));

	if (!fat)
		return NULL;
	um_runtime_lock();
	fat->bundle = wrapper && wrapper->magic == FAT_MAGIC ? wrapper->binary : NULL;
	fat->next = fats;
	fats = fat;
	um_runtime_unlock();
	return (void **)fat;
}

void __hipRegisterFunction(void **handle, const void *host_stub, char *device_function,
			   const char *name, unsigned thread_limit, void *thread_id, void *group_id,
			   dim3 *block, dim3 *grid, int *wave_lanes)
{
	struct um_function *function = calloc(1, sizeof(*function));

	(void)device_function, (void)thread_limit, (void)thread_id, (void)group_id;
	(void)block, (void)grid, (void)wave_lanes; /* the generated code passes NULL and -1 */
	if (!function || !handle) {
		free(function);
		return;
	}
	um_runtime_lock();
	unsigned bucket = bucket_of(host_stub);

	function->host_stub = host_stub;
	function->fat = (struct fat_binary *)handle;
	function->name = name;
	function->next = functions[bucket];
	functions[bucket] = function;
	um_runtime_unlock();
}

static struct variable *add_variable(void **handle, const void *host, const char *name)
{
	struct variable *variable = handle ? calloc(1, sizeof(*variable)) : NULL;

	if (!variable)
		return NULL;
	unsigned bucket = bucket_of(host);

	variable->host = host;
	variable->fat = (struct fat_binary *)handle;
	variable->name = name;
	variable->next = variables[bucket];
	variables[bucket] = variable;
	return variable;
}

void __hipRegisterVar(void **handle, void *host, char *host_name, const char *name, int external,
		      size_t bytes, int constant, int global)
{
	(void)host_name, (void)external, (void)bytes, (void)constant, (void)global;
	um_runtime_lock();
	add_variable(handle, host, name);
	um_runtime_unlock();
}

static struct managed *add_managed(struct fat_binary *fat, const char *name)
{
	struct managed *managed = calloc(1, sizeof(*managed));

	if (!managed)
		return NULL;
	managed->name = name;
	managed->next = fat->managed;
	fat->managed = managed;
	return managed;
}

static hipError_t make_managed(void **handle, void **pointer, const void *initial, const char *name,
			       size_t bytes)
{
	struct variable *variable = add_variable(handle, pointer, name);
	struct managed *managed = variable ? add_managed((struct fat_binary *)handle, name) : NULL;

	if (!managed)
		return hipErrorOutOfMemory;
	hipError_t error = um_memory_allocate(&managed->memory, UM_ALLOCATION_MANAGED, bytes,
					      hipMemAttachGlobal, name);

	if (error)
		return error;
	variable->managed = managed;
	if (initial)
		memcpy(um_memory_own(managed->memory), initial, bytes);
	*pointer = managed->memory;
	return hipSuccess;
}

/* The program may use the variable from its first line on, so its memory is made here. */
void __hipRegisterManagedVar(void **handle, void **pointer, void *initial, const char *name,
			     size_t bytes, unsigned align)
{
	(void)align; /* a page is aligned enough for every type */
	UM_ENTER();
	um_leave(make_managed(handle, pointer, initial, name, bytes));
}

static hipError_t error_of_load(int error)
{
	switch (error) {
	case UM_ENOENT:
		return hipErrorNoBinaryForGpu;
	case UM_ENOMEM:
		return hipErrorOutOfMemory;
	default:
		return hipErrorInvalidImage;
	}
}

/* The code object reads a __managed__ variable through a pointer of the same name. */
static void bind_managed(struct fat_binary *fat)
{
	for (struct managed *managed = fat->managed; managed; managed = managed->next) {
		void *address;
		uint64_t bytes;

		if (!um_module_symbol(&address, &bytes, fat->module, managed->name) &&
		    bytes == sizeof(void *))
			*(void **)address = managed->memory;
	}
}

static hipError_t load(struct fat_binary *fat)
{
	if (fat->module || fat->failed)
		return fat->failed;
	int error = fat->bundle ? um_module_load(&fat->module, fat->bundle, SIZE_MAX)
				: um_fail(UM_EFORMAT, "not a fat binary of HIP");

	if (!error) {
		bind_managed(fat);
		return hipSuccess;
	}
	fat->failed = error_of_load(error);
	if (error == UM_ENOENT)
		um_say("kernels of this program cannot run without a GPU: %s; compile it with "
		       "umhipcc",
		       um_error_message());
	else
		um_say("kernels of this program cannot run: %s", um_error_message());
	return fat->failed;
}

static hipError_t find_kernel(struct um_function *function)
{
	if (function->kernel.module)
		return hipSuccess;
	if (!function->missing &&
	    !um_module_kernel(&function->kernel, function->fat->module, function->name))
		return hipSuccess;
	if (!function->missing)
		um_say("%s", um_error_message());
	function->missing = true;
	return hipErrorInvalidDeviceFunction;
}

hipError_t um_function_find(struct um_function **out, const void *host_stub)
{
	struct um_function *function = functions[bucket_of(host_stub)];

	while (function && function->host_stub != host_stub)
		function = function->next;
	if (!function)
		return hipErrorInvalidDeviceFunction;
	hipError_t error = load(function->fat);

	if (error)
		return error;
	error = find_kernel(function);
	if (!error)
		*out = function;
	return error;
}

static struct um_function *known_function(unsigned bucket, const struct um_module *module,
					  const char *name)
{
	for (struct um_function *f = functions[bucket]; f; f = f->next)
		if (!f->host_stub && f->kernel.module == module && !strcmp(f->name, name))
			return f;
	return NULL;
}

hipError_t um_function_from_module(struct um_function **out, struct um_module *module,
				   const char *name)
{
	unsigned bucket = bucket_of(module);
	struct um_function *function = known_function(bucket, module, name);

	if (function) {
		*out = function;
		return hipSuccess;
	}
	function = calloc(1, sizeof(*function));
	if (!function)
		return hipErrorOutOfMemory;
	function->owned_name = strdup(name);
	function->name = function->owned_name;
	if (!function->name || um_module_kernel(&function->kernel, module, function->name)) {
		free(function->owned_name);
		free(function);
		return hipErrorNotFound;
	}
	function->next = functions[bucket];
	functions[bucket] = function;
	*out = function;
	return hipSuccess;
}

void um_function_kernel(struct um_kernel *out, const struct um_function *function)
{
	*out = function->kernel;
}

bool um_function_valid(const struct um_function *function)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct um_function *f = functions[i]; f; f = f->next)
			if (f == function)
				return true;
	return false;
}

static void forget_functions(unsigned bucket, const struct fat_binary *fat,
			     const struct um_module *module)
{
	struct um_function **link = &functions[bucket];

	while (*link) {
		struct um_function *function = *link;

		if ((fat && function->fat == fat) ||
		    (!function->fat && function->kernel.module == module)) {
			*link = function->next;
			free(function->owned_name);
			free(function);
		} else {
			link = &function->next;
		}
	}
}

void um_function_forget(const struct um_module *module)
{
	forget_functions(bucket_of(module), NULL, module);
}

hipError_t um_variable_find(void **address, uint64_t *bytes, const void *host_variable)
{
	struct variable *variable = variables[bucket_of(host_variable)];

	while (variable && variable->host != host_variable)
		variable = variable->next;
	if (!variable)
		return hipErrorInvalidSymbol;
	if (variable->managed) {
		const struct um_allocation *allocation = um_memory_find(variable->managed->memory);

		*address = variable->managed->memory;
		*bytes = allocation ? allocation->bytes : 0;
		return hipSuccess;
	}
	hipError_t error = load(variable->fat);

	if (error)
		return error;
	return um_module_symbol(address, bytes, variable->fat->module, variable->name)
		       ? hipErrorInvalidSymbol
		       : hipSuccess;
}

bool um_variable_owns(const struct um_allocation *allocation)
{
	const void *start = um_memory_start(allocation);

	for (const struct fat_binary *fat = fats; fat; fat = fat->next)
		for (const struct managed *managed = fat->managed; managed; managed = managed->next)
			if (managed->memory == start)
				return true;
	return false;
}

static void forget_variables(unsigned bucket, const struct fat_binary *fat)
{
	struct variable **link = &variables[bucket];

	while (*link) {
		struct variable *variable = *link;

		if (variable->fat == fat) {
			*link = variable->next;
			free(variable);
		} else {
			link = &variable->next;
		}
	}
}

static void unregister(struct fat_binary *fat)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		forget_functions(i, fat, NULL);
		forget_variables(i, fat);
	}
	while (fat->managed) {
		struct managed *managed = fat->managed;

		fat->managed = managed->next;
		free(managed);
	}
	um_module_unload(fat->module);
	free(fat);
}

/*
 * Called at exit and by dlclose(). Memory of __managed__ variables stays: destructors of the
 * program may still read it.
 */
void __hipUnregisterFatBinary(void **handle)
{
	struct fat_binary *fat = (struct fat_binary *)handle;
	struct fat_binary **link = &fats;

	if (!um_runtime_lock_at_exit())
		return; /* a kernel of it runs */
	while (*link && *link != fat)
		link = &(*link)->next;
	if (*link) {
		*link = fat->next;
		unregister(fat);
	}
	um_runtime_unlock();
}
