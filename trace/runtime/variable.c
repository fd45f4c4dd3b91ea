/*
 * Variables of the device by their shadow in the host half. A __managed__ variable is a pointer in
 * both halves, under the same name, to memory that is made when the program registers it, since it
 * may use it from its first line on.
 */
#include "fat_binary.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 256u

struct variable {
	struct variable *next; /* of the bucket */
	const void *host;
	struct um_fat_binary *fat;
	const char *name;
	void *managed; /* the memory; NULL for all that lives in the code object */
	uint64_t managed_bytes;
};

static struct variable *variables[BUCKETS]; /* by host shadow */

static struct variable *add(struct um_fat_binary *fat, const void *host, const char *name)
{
	struct variable **bucket = &variables[um_bucket(host, BUCKETS)];
	struct variable *variable = calloc(1, sizeof(*variable));

	if (!variable)
		return NULL;
	variable->host = host;
	variable->fat = fat;
	variable->name = name;
	variable->next = *bucket;
	*bucket = variable;
	return variable;
}

bool um_variable_add(struct um_fat_binary *fat, const void *host, const char *name)
{
	return add(fat, host, name) != NULL;
}

hipError_t um_variable_add_managed(struct um_fat_binary *fat, void **pointer, const void *initial,
				   const char *name, uint64_t bytes)
{
	void *memory;
	hipError_t error = um_memory_allocate(&memory, &(struct um_memory_request){
							       .device = um_thread.device,
							       .kind = UM_ALLOCATION_MANAGED,
							       .flags = hipMemAttachGlobal,
							       .bytes = bytes,
							       .name = name,
						       });

	if (error)
		return error;
	struct variable *variable = add(fat, pointer, name);

	if (!variable)
		return hipErrorOutOfMemory;
	variable->managed = memory;
	variable->managed_bytes = bytes;
	if (initial)
		memcpy(um_memory_own(memory), initial, bytes);
	*pointer = memory;
	return hipSuccess;
}

static struct variable *find(const void *host)
{
	struct variable *variable = variables[um_bucket(host, BUCKETS)];

	while (variable && variable->host != host)
		variable = variable->next;
	return variable;
}

hipError_t um_variable_find(void **address, uint64_t *bytes, const void *host_variable)
{
	const struct variable *variable = find(host_variable);
	struct um_module *module;

	if (!variable)
		return hipErrorInvalidSymbol;
	if (variable->managed) {
		*address = variable->managed;
		*bytes = variable->managed_bytes;
		return hipSuccess;
	}
	hipError_t error = um_fat_module(&module, variable->fat);

	if (error)
		return error;
	return um_module_symbol(address, bytes, module, variable->name) ? hipErrorInvalidSymbol
									: hipSuccess;
}

static void bind(const struct variable *variable, struct um_module *module)
{
	void *pointer;
	uint64_t bytes;

	if (!um_module_symbol(&pointer, &bytes, module, variable->name) && bytes == sizeof(void *))
		*(void **)pointer = variable->managed;
}

void um_variable_bind(const struct um_fat_binary *fat, struct um_module *module)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct variable *v = variables[i]; v; v = v->next)
			if (v->fat == fat && v->managed)
				bind(v, module);
}

bool um_variable_owns(const struct um_allocation *allocation)
{
	const void *start = um_memory_start(allocation);

	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct variable *v = variables[i]; v; v = v->next)
			if (v->managed == start)
				return true;
	return false;
}

/* Memory of __managed__ variables stays: destructors of the program may still read it. */
void um_variable_forget_fat(const struct um_fat_binary *fat)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct variable **link = &variables[i];

		while (*link) {
			struct variable *variable = *link;

			if (variable->fat != fat) {
				link = &variable->next;
				continue;
			}
			*link = variable->next;
			free(variable);
		}
	}
}
