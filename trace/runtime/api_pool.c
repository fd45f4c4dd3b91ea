/*
 * Memory pools, and allocation in the order of a stream. Work is done when a call returns, so memory
 * comes and goes at once; what a pool would hold on to for later is counted as its attributes have
 * it, but not kept: its contents are zero when it is allocated again, and hipMemGetInfo() knows
 * nothing of it.
 */
#include "api.h"
#include "capture.h"

#include <stdlib.h>

#define REUSE_ATTRIBUTES 3

struct um_pool {
	struct um_pool *next;
	int device;
	bool made;	/* a default pool that somebody asked for */
	bool destroyed; /* by the program; lives on until its memory is freed */
	uint64_t used_bytes, used_high_bytes;
	uint64_t reserved_bytes, reserved_high_bytes;
	uint64_t threshold_bytes;
	int reuse[REUSE_ATTRIBUTES]; /* by attribute: kept for the program, of no effect */
};

static struct um_pool default_pools[UM_MAX_DEVICES];
static struct um_pool *current[UM_MAX_DEVICES]; /* NULL: the default */
static struct um_pool *all;			/* that programs made */

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void pool_free(struct um_pool *pool)
{
	struct um_pool **link = &all;

	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	free(pool);
}

void um_pool_count(struct um_pool *pool, int64_t bytes)
{
	if (!pool)
		return;
	pool->used_bytes += (uint64_t)bytes;
	pool->used_high_bytes = more(pool->used_high_bytes, pool->used_bytes);
	pool->reserved_bytes = more(pool->reserved_bytes, pool->used_bytes);
	pool->reserved_high_bytes = more(pool->reserved_high_bytes, pool->reserved_bytes);
	if (pool->destroyed && !pool->used_bytes)
		pool_free(pool);
}

static void trim(struct um_pool *pool, uint64_t least_bytes)
{
	if (pool->reserved_bytes > least_bytes)
		pool->reserved_bytes = more(pool->used_bytes, least_bytes);
}

void um_pools_release(void)
{
	for (uint32_t i = 0; i < um_device_count(); i++)
		trim(&default_pools[i], default_pools[i].threshold_bytes);
	for (struct um_pool *pool = all; pool; pool = pool->next)
		trim(pool, pool->threshold_bytes);
}

/* --- which pool --- */

/* "default enabled": each of them (hipMemPoolAttr). */
static void enable_reuse(struct um_pool *pool)
{
	for (int i = 0; i < REUSE_ATTRIBUTES; i++)
		pool->reuse[i] = 1;
}

static struct um_pool *default_pool(int device)
{
	struct um_pool *pool = &default_pools[device];
	if (!pool->made) {
		pool->made = true;
		pool->device = device;
		enable_reuse(pool);
	}
	return pool;
}

static struct um_pool *find(hipMemPool_t handle)
{
	for (uint32_t i = 0; i < um_device_count(); i++)
		if ((hipMemPool_t)&default_pools[i] == handle)
			return default_pool((int)i);
	for (struct um_pool *pool = all; pool; pool = pool->next)
		if ((hipMemPool_t)pool == handle && !pool->destroyed)
			return pool;
	return NULL;
}

static struct um_pool *current_pool(int device)
{
	return current[device] ? current[device] : default_pool(device);
}

static hipError_t get_default(hipMemPool_t *out, int device)
{
	if (!out)
		return hipErrorInvalidValue;
	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	*out = (hipMemPool_t)default_pool(device);
	return hipSuccess;
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *out, int device)
{
	UM_ENTER();
	return um_leave(get_default(out, device));
}

static hipError_t get_current(hipMemPool_t *out, int device)
{
	if (!out)
		return hipErrorInvalidValue;
	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	*out = (hipMemPool_t)current_pool(device);
	return hipSuccess;
}

hipError_t hipDeviceGetMemPool(hipMemPool_t *out, int device)
{
	UM_ENTER();
	return um_leave(get_current(out, device));
}

/* "The memory pool must be local to the specified device." */
static hipError_t set_current(int device, hipMemPool_t handle)
{
	struct um_pool *pool = find(handle);

	if (!um_is_device(device))
		return hipErrorInvalidDevice;
	if (!pool || pool->device != device)
		return hipErrorInvalidValue;
	current[device] = pool;
	return hipSuccess;
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool)
{
	UM_ENTER();
	return um_leave(set_current(device, pool));
}

/* --- their life --- */

static hipError_t create(hipMemPool_t *out, const hipMemPoolProps *props)
{
	if (!out || !props || props->allocType != hipMemAllocationTypePinned ||
	    props->location.type != hipMemLocationTypeDevice || !um_is_device(props->location.id))
		return hipErrorInvalidValue;
	if (props->handleTypes != hipMemHandleTypeNone)
		return um_refuse_part("a memory pool that is shared with other processes");
	struct um_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return hipErrorOutOfMemory;
	pool->next = all;
	pool->device = props->location.id;
	enable_reuse(pool);
	all = pool;
	*out = (hipMemPool_t)pool;
	return hipSuccess;
}

hipError_t hipMemPoolCreate(hipMemPool_t *out, const hipMemPoolProps *props)
{
	UM_ENTER();
	return um_leave(create(out, props));
}

/*
 * "If any pointers obtained from this pool haven't been freed ... the function will return
 * immediately"; the default pool cannot be destroyed; a pool that was a device's current one makes
 * room for the default.
 */
static hipError_t destroy(hipMemPool_t handle)
{
	struct um_pool *pool = find(handle);

	if (!pool || pool == &default_pools[pool->device])
		return hipErrorInvalidValue;
	if (current[pool->device] == pool)
		current[pool->device] = NULL;
	pool->destroyed = true;
	um_pool_count(pool, 0);
	return hipSuccess;
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool)
{
	UM_ENTER();
	return um_leave(destroy(pool));
}

static hipError_t trim_to(hipMemPool_t handle, size_t least_bytes)
{
	struct um_pool *pool = find(handle);

	if (!pool)
		return hipErrorInvalidValue;
	trim(pool, least_bytes);
	return hipSuccess;
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t least_bytes)
{
	UM_ENTER();
	return um_leave(trim_to(pool, least_bytes));
}

/* --- attributes --- */

static bool is_reuse(hipMemPoolAttr attribute)
{
	return attribute >= hipMemPoolReuseFollowEventDependencies &&
	       attribute <= hipMemPoolReuseAllowInternalDependencies;
}

/* Of the 64-bit attributes, NULL for any other. */
static uint64_t *figure(struct um_pool *pool, hipMemPoolAttr attribute)
{
	switch (attribute) {
	case hipMemPoolAttrReleaseThreshold:
		return &pool->threshold_bytes;
	case hipMemPoolAttrReservedMemCurrent:
		return &pool->reserved_bytes;
	case hipMemPoolAttrReservedMemHigh:
		return &pool->reserved_high_bytes;
	case hipMemPoolAttrUsedMemCurrent:
		return &pool->used_bytes;
	case hipMemPoolAttrUsedMemHigh:
		return &pool->used_high_bytes;
	default:
		return NULL;
	}
}

static hipError_t get_attribute(hipMemPool_t handle, hipMemPoolAttr attribute, void *value)
{
	struct um_pool *pool = find(handle);

	if (!pool || !value)
		return hipErrorInvalidValue;
	if (is_reuse(attribute)) {
		*(int *)value = pool->reuse[attribute - hipMemPoolReuseFollowEventDependencies];
		return hipSuccess;
	}
	const uint64_t *from = figure(pool, attribute);

	if (!from)
		return hipErrorInvalidValue;
	*(uint64_t *)value = *from;
	return hipSuccess;
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value)
{
	UM_ENTER();
	return um_leave(get_attribute(pool, attribute, value));
}

/* "High watermark can only be reset to zero"; what is current cannot be set. */
static hipError_t set_figure(struct um_pool *pool, hipMemPoolAttr attribute, uint64_t value)
{
	switch (attribute) {
	case hipMemPoolAttrReleaseThreshold:
		pool->threshold_bytes = value;
		return hipSuccess;
	case hipMemPoolAttrReservedMemHigh:
		pool->reserved_high_bytes = pool->reserved_bytes;
		return value ? hipErrorInvalidValue : hipSuccess;
	case hipMemPoolAttrUsedMemHigh:
		pool->used_high_bytes = pool->used_bytes;
		return value ? hipErrorInvalidValue : hipSuccess;
	default:
		return hipErrorInvalidValue;
	}
}

static hipError_t set_attribute(hipMemPool_t handle, hipMemPoolAttr attribute, const void *value)
{
	struct um_pool *pool = find(handle);

	if (!pool || !value)
		return hipErrorInvalidValue;
	if (!is_reuse(attribute))
		return set_figure(pool, attribute, *(const uint64_t *)value);
	pool->reuse[attribute - hipMemPoolReuseFollowEventDependencies] = *(const int *)value;
	return hipSuccess;
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value)
{
	UM_ENTER();
	return um_leave(set_attribute(pool, attribute, value));
}

/* Every device reaches all memory here, as far as programs may wish; its own cannot be revoked. */
static hipError_t set_access(hipMemPool_t handle, const hipMemAccessDesc *wish, size_t count)
{
	const struct um_pool *pool = find(handle);

	if (!pool || (count && !wish))
		return hipErrorInvalidValue;
	for (size_t i = 0; i < count; i++) {
		if (wish[i].location.type != hipMemLocationTypeDevice)
			return hipErrorInvalidValue;
		if (!um_is_device(wish[i].location.id))
			return hipErrorInvalidDevice;
		if (wish[i].location.id == pool->device &&
		    wish[i].flags != hipMemAccessFlagsProtReadWrite)
			return hipErrorInvalidDevice;
	}
	return hipSuccess;
}

hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc *wish, size_t count)
{
	UM_ENTER();
	return um_leave(set_access(pool, wish, count));
}

static hipError_t get_access(hipMemAccessFlags *out, hipMemPool_t handle,
			     const hipMemLocation *location)
{
	const struct um_pool *pool = find(handle);

	if (!out || !pool || !location || location->type != hipMemLocationTypeDevice)
		return hipErrorInvalidValue;
	if (!um_is_device(location->id))
		return hipErrorInvalidDevice;
	*out = hipMemAccessFlagsProtReadWrite;
	return hipSuccess;
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags *out, hipMemPool_t pool, hipMemLocation *location)
{
	UM_ENTER();
	return um_leave(get_access(out, pool, location));
}

/* --- memory --- */

static hipError_t allocate(void **out, size_t bytes, struct um_pool *pool, hipStream_t handle)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!out)
		return hipErrorInvalidValue;
	if (!stream)
		return hipErrorInvalidHandle;
	*out = NULL;
	hipError_t error = um_capture_refuses(handle);

	if (error || !bytes)
		return error;
	return um_memory_allocate(out, &(struct um_memory_request){
					       .kind = UM_ALLOCATION_DEVICE,
					       .bytes = bytes,
					       .stream = stream->id,
					       .device = pool->device,
					       .name = "",
					       .pool = pool,
				       });
}

static hipError_t allocate_current(void **out, size_t bytes, hipStream_t handle)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!stream)
		return hipErrorInvalidHandle;
	return allocate(out, bytes, current_pool(stream->device), handle);
}

hipError_t hipMallocAsync(void **out, size_t bytes, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(allocate_current(out, bytes, stream));
}

static hipError_t allocate_from(void **out, size_t bytes, hipMemPool_t handle, hipStream_t stream)
{
	struct um_pool *pool = find(handle);

	return pool ? allocate(out, bytes, pool, stream) : hipErrorInvalidValue;
}

hipError_t hipMallocFromPoolAsync(void **out, size_t bytes, hipMemPool_t pool, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(allocate_from(out, bytes, pool, stream));
}
