#include "fat_binary.h"

#include "trace/base/error.h"

#include <stdlib.h>

struct um_fat_binary {
	struct um_fat_binary *next;
	const void *bundle;
	struct um_module *module; /* once loaded */
	hipError_t failed;	  /* why it cannot be, said once */
};

static struct um_fat_binary *all;

struct um_fat_binary *um_fat_add(const void *bundle)
{
	struct um_fat_binary *fat = calloc(1, sizeof(*fat));

	if (!fat)
		return NULL;
	fat->bundle = bundle;
	fat->next = all;
	all = fat;
	return fat;
}

void um_fat_remove(struct um_fat_binary *fat)
{
	struct um_fat_binary **link = &all;

	while (*link && *link != fat)
		link = &(*link)->next;
	if (!*link)
		return;
	*link = fat->next;
	um_function_forget_fat(fat);
	um_variable_forget_fat(fat);
	um_module_unload(fat->module);
	free(fat);
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

static hipError_t load(struct um_fat_binary *fat)
{
	int error = fat->bundle ? um_module_load(&fat->module, fat->bundle, SIZE_MAX)
				: um_fail(UM_EFORMAT, "not a fat binary of HIP");

	if (!error) {
		um_variable_bind(fat, fat->module);
		return hipSuccess;
	}
	if (error == UM_ENOENT)
		um_say("kernels of this program cannot run without a GPU: %s; compile it with "
		       "umhipcc",
		       um_error_message());
	else
		um_say("kernels of this program cannot run: %s", um_error_message());
	return error_of_load(error);
}

hipError_t um_fat_module(struct um_module **out, struct um_fat_binary *fat)
{
	if (!fat->module && !fat->failed)
		fat->failed = load(fat);
	*out = fat->module;
	return fat->failed;
}
