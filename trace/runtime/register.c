/* What clang's generated code calls before main and at exit. No header of HIP declares it. */
#include "fat_binary.h"

/* "HIPF": CGNVCUDARuntime::makeModuleCtorFunction, clang/lib/CodeGen/CGCUDANV.cpp. */
#define FAT_MAGIC 0x48495046u

struct fat_wrapper {
	unsigned magic, version;
	const void *binary;
	void *unused;
};

UM_API void **__hipRegisterFatBinary(const struct fat_wrapper *);
UM_API void __hipUnregisterFatBinary(void **);
UM_API void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *,
				  void *, dim3 *, dim3 *, int *);
UM_API void __hipRegisterVar(void **, void *, char *, const char *, int, size_t, int, int);
UM_API void __hipRegisterManagedVar(void **, void **, void *, const char *, size_t, unsigned);

/* The handle is NULL where the fat binary could not be registered. */
static hipError_t added(bool success)
{
	return success ? hipSuccess : hipErrorOutOfMemory;
}

void **__hipRegisterFatBinary(const struct fat_wrapper *wrapper)
{
	const void *bundle = wrapper && wrapper->magic == FAT_MAGIC ? wrapper->binary : NULL;

	UM_ENTER();
	void **handle = (void **)um_fat_add(bundle);

	um_leave(added(handle));
	return handle;
}

void __hipRegisterFunction(void **handle, const void *host_stub, char *device_function,
			   const char *name, unsigned thread_limit, void *thread_id, void *group_id,
			   dim3 *block, dim3 *grid, int *wave_lanes)
{
	(void)device_function, (void)thread_limit, (void)thread_id, (void)group_id;
	(void)block, (void)grid, (void)wave_lanes; /* clang passes NULL and -1 */
	UM_ENTER();
	um_leave(added(handle && um_function_add((struct um_fat_binary *)handle, host_stub, name)));
}

void __hipRegisterVar(void **handle, void *host, char *host_name, const char *name, int external,
		      size_t bytes, int constant, int global)
{
	(void)host_name, (void)external, (void)bytes, (void)constant, (void)global;
	UM_ENTER();
	um_leave(added(handle && um_variable_add((struct um_fat_binary *)handle, host, name)));
}

void __hipRegisterManagedVar(void **handle, void **pointer, void *initial, const char *name,
			     size_t bytes, unsigned align)
{
	(void)align; /* a page is aligned enough for every type */
	UM_ENTER();
	um_leave(handle ? um_variable_add_managed((struct um_fat_binary *)handle, pointer, initial,
						  name, bytes)
			: hipErrorOutOfMemory);
}

/* Called at exit and by dlclose(). */
void __hipUnregisterFatBinary(void **handle)
{
	if (!um_runtime_lock_at_exit())
		return; /* a kernel of it runs */
	um_fat_remove((struct um_fat_binary *)handle);
	um_runtime_unlock();
}
