/* Kernels by what the program calls them: the address of a host stub, or a name in a module. */
#include "fat_binary.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u

struct um_function {
	struct um_function *next; /* of the bucket */
	const void *host_stub;	  /* NULL where a module named it */
	struct um_fat_binary *fat;
	const char *name;
	char *owned_name;
	struct um_kernel kernel; /* once found */
	bool missing;		 /* said */
};

static struct um_function *functions[BUCKETS]; /* by host stub, else by module */

static struct um_function **bucket_of(const void *address)
{
	return &functions[um_bucket(address, BUCKETS)];
}

static void insert(struct um_function *function, const void *key)
{
	struct um_function **bucket = bucket_of(key);

	function->next = *bucket;
	*bucket = function;
}

bool um_function_add(struct um_fat_binary *fat, const void *host_stub, const char *name)
{
	struct um_function *function = calloc(1, sizeof(*function));

	if (!function)
		return false;
	function->host_stub = host_stub;
	function->fat = fat;
	function->name = name;
	insert(function, host_stub);
	return true;
}

static hipError_t find_kernel(struct um_function *function)
{
	struct um_module *module;
	hipError_t error = um_fat_module(&module, function->fat);

	if (error || function->kernel.module)
		return error;
	if (!function->missing && !um_module_kernel(&function->kernel, module, function->name))
		return hipSuccess;
	if (!function->missing)
		um_say("%s", um_error_message());
	function->missing = true;
	return hipErrorInvalidDeviceFunction;
}

hipError_t um_function_find(struct um_function **out, const void *host_stub)
{
	struct um_function *function = *bucket_of(host_stub);

	while (function && (!function->host_stub || function->host_stub != host_stub))
		function = function->next;
	if (!function)
		return hipErrorInvalidDeviceFunction;
	hipError_t error = find_kernel(function);

	if (!error)
		*out = function;
	return error;
}

static struct um_function *known(const struct um_module *module, const char *name)
{
	for (struct um_function *f = *bucket_of(module); f; f = f->next)
		if (!f->host_stub && f->kernel.module == module && !strcmp(f->name, name))
			return f;
	return NULL;
}

hipError_t um_function_from_module(struct um_function **out, struct um_module *module,
				   const char *name)
{
	struct um_function *function = known(module, name);

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
	insert(function, module);
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

/* Drops those of the bucket that belong to `fat`, or to `module` by name. */
static void drop(struct um_function **link, const struct um_fat_binary *fat,
		 const struct um_module *module)
{
	while (*link) {
		struct um_function *function = *link;

		if (fat ? function->fat != fat
			: function->host_stub || function->kernel.module != module) {
			link = &function->next;
			continue;
		}
		*link = function->next;
		free(function->owned_name);
		free(function);
	}
}

void um_function_forget(const struct um_module *module)
{
	drop(bucket_of(module), NULL, module);
}

void um_function_forget_fat(const struct um_fat_binary *fat)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		drop(&functions[i], fat, NULL);
}
