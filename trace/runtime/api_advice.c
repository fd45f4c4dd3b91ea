/* Advice, prefetch, range attributes and attachment of managed memory. */
#include "api.h"
#include "page_state.h"
#include "policy_apply.h"

#include <string.h>

struct range {
	struct um_allocation *allocation;
	uint64_t first_page, pages;
};

/* The pages that [address, address + bytes) touches; all within one managed allocation. */
static hipError_t find_range(struct range *out, const void *address, size_t bytes)
{
	struct um_allocation *allocation = um_memory_find(address);

	if (!address || !bytes || !allocation || allocation->kind != UM_ALLOCATION_MANAGED ||
	    !um_memory_holds(allocation, address, bytes))
		return hipErrorInvalidValue;
	uint64_t offset = (uintptr_t)address - (uintptr_t)um_memory_start(allocation);

	out->allocation = allocation;
	out->first_page = offset >> UM_PAGE_SHIFT;
	out->pages = ((offset + bytes - 1) >> UM_PAGE_SHIFT) - out->first_page + 1;
	return hipSuccess;
}

static hipError_t change_range(const struct range *range,
			       void (*change)(struct um_page_advice *, int32_t), int32_t argument)
{
	struct um_allocation *allocation = range->allocation;

	if (!allocation->state)
		allocation->state =
			um_page_state_new((allocation->bytes + UM_PAGE_BYTES - 1) >> UM_PAGE_SHIFT);
	if (!allocation->state || !um_page_state_change(allocation->state, range->first_page,
							range->pages, change, argument))
		return hipErrorOutOfMemory;
	return hipSuccess;
}

static void set_read_mostly(struct um_page_advice *advice, int32_t device)
{
	(void)device;
	advice->read_mostly = true;
}

static void unset_read_mostly(struct um_page_advice *advice, int32_t device)
{
	(void)device;
	advice->read_mostly = false;
}

static void set_preferred(struct um_page_advice *advice, int32_t device)
{
	advice->preferred = device;
}

static void unset_preferred(struct um_page_advice *advice, int32_t device)
{
	(void)device;
	advice->preferred = hipInvalidDeviceId;
}

static void set_accessed_by(struct um_page_advice *advice, int32_t device)
{
	if (device == hipCpuDeviceId)
		advice->accessed_by_host = true;
	else
		advice->accessed_by |= 1u << device;
}

static void unset_accessed_by(struct um_page_advice *advice, int32_t device)
{
	if (device == hipCpuDeviceId)
		advice->accessed_by_host = false;
	else
		advice->accessed_by &= ~(1u << device);
}

static void set_coarse_grain(struct um_page_advice *advice, int32_t device)
{
	(void)device;
	advice->coarse_grain = true;
}

static void unset_coarse_grain(struct um_page_advice *advice, int32_t device)
{
	(void)device;
	advice->coarse_grain = false;
}

static const struct {
	hipMemoryAdvise advice;
	void (*change)(struct um_page_advice *, int32_t);
} advices[] = {
	{hipMemAdviseSetReadMostly, set_read_mostly},
	{hipMemAdviseUnsetReadMostly, unset_read_mostly},
	{hipMemAdviseSetPreferredLocation, set_preferred},
	{hipMemAdviseUnsetPreferredLocation, unset_preferred},
	{hipMemAdviseSetAccessedBy, set_accessed_by},
	{hipMemAdviseUnsetAccessedBy, unset_accessed_by},
	{hipMemAdviseSetCoarseGrain, set_coarse_grain},
	{hipMemAdviseUnsetCoarseGrain, unset_coarse_grain},
};

static hipError_t change_advice(const struct range *range, hipMemoryAdvise advice, int device)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
		if (advices[i].advice == advice)
			return change_range(range, advices[i].change, device);
	return hipErrorInvalidValue;
}

static hipError_t mem_advise(const void *address, size_t bytes, hipMemoryAdvise advice, int device)
{
	struct range range;
	hipError_t error = find_range(&range, address, bytes);

	if (error)
		return error;
	if (device != hipCpuDeviceId && !um_is_device(device))
		return hipErrorInvalidDevice;
	struct um_record_op op = um_op(UM_OP_ADVISE, 0);

	um_op_target(&op, address, bytes);
	op.device = device;
	op.advice = (uint32_t)advice;
	if (um_policy_leaves_out(&op))
		return change_advice(&range, advice, device);
	um_tracer_op_begin(&op);
	error = change_advice(&range, advice, device);
	um_tracer_op_end(&op, error);
	return error;
}

hipError_t hipMemAdvise(const void *address, size_t bytes, hipMemoryAdvise advice, int device)
{
	UM_ENTER();
	return um_leave(mem_advise(address, bytes, advice, device));
}

static void set_prefetched(struct um_page_advice *advice, int32_t device)
{
	advice->prefetched = device;
}

static hipError_t mem_prefetch(const void *address, size_t bytes, int device, hipStream_t stream)
{
	struct range range;
	struct um_stream *on;
	hipError_t error = find_range(&range, address, bytes);

	if (!error)
		error = um_stream_find(&on, stream);
	if (error)
		return error;
	if (device != hipCpuDeviceId && !um_is_device(device))
		return hipErrorInvalidDevice;
	struct um_record_op op = um_stream_op(UM_OP_PREFETCH, on);

	um_op_target(&op, address, bytes);
	op.value = (uint32_t)on->device;
	op.device = device;
	op.flags = UM_OP_ASYNC;
	if (um_policy_leaves_out(&op))
		return change_range(&range, set_prefetched, device);
	um_tracer_op_begin(&op);
	error = change_range(&range, set_prefetched, device);
	um_tracer_op_end(&op, error);
	return error;
}

hipError_t hipMemPrefetchAsync(const void *address, size_t bytes, int device, hipStream_t stream)
{
	UM_ENTER();
	return um_leave(mem_prefetch(address, bytes, device, stream));
}

/* --- attributes: each folds the runs of a range into one answer --- */

struct fold {
	bool first;
	struct um_page_advice all; /* of mixed values: hipInvalidDeviceId, and the logical and */
	bool mixed_grain;
};

static void fold_device(int32_t *all, int32_t device)
{
	if (*all != device)
		*all = hipInvalidDeviceId;
}

static void see_run(const struct um_page_advice *advice, void *context)
{
	struct fold *fold = context;

	if (fold->first) {
		fold->all = *advice;
		fold->first = false;
		return;
	}
	fold_device(&fold->all.preferred, advice->preferred);
	fold_device(&fold->all.prefetched, advice->prefetched);
	fold->all.accessed_by &= advice->accessed_by;
	fold->all.accessed_by_host &= advice->accessed_by_host;
	fold->all.read_mostly &= advice->read_mostly;
	fold->mixed_grain |= fold->all.coarse_grain != advice->coarse_grain;
}

static struct fold fold_range(const struct range *range)
{
	struct fold fold = {.first = true, .all = um_page_advice_none()};

	if (range->allocation->state)
		um_page_state_look(range->allocation->state, range->first_page, range->pages,
				   see_run, &fold);
	return fold;
}

static hipError_t put_int(void *data, size_t bytes, int32_t value)
{
	if (bytes != sizeof(value))
		return hipErrorInvalidValue;
	memcpy(data, &value, sizeof(value));
	return hipSuccess;
}

/*
 * Devices that every page is accessed by, ascending; the rest of the array is hipInvalidDeviceId.
 */
static hipError_t put_accessed_by(int32_t *data, size_t bytes, const struct um_page_advice *all)
{
	size_t room = bytes / sizeof(*data), used = 0;

	if (!room || bytes % sizeof(*data))
		return hipErrorInvalidValue;
	if (all->accessed_by_host)
		data[used++] = hipCpuDeviceId;
	for (int32_t device = 0; device < (int32_t)UM_MAX_DEVICES && used < room; device++)
		if (all->accessed_by >> device & 1u)
			data[used++] = device;
	while (used < room)
		data[used++] = hipInvalidDeviceId;
	return hipSuccess;
}

static int32_t coherency(const struct fold *fold)
{
	if (fold->mixed_grain)
		return hipMemRangeCoherencyModeIndeterminate;
	return fold->all.coarse_grain ? hipMemRangeCoherencyModeCoarseGrain
				      : hipMemRangeCoherencyModeFineGrain;
}

static hipError_t put_attribute(void *data, size_t bytes, hipMemRangeAttribute attribute,
				const struct fold *fold)
{
	if (!data)
		return hipErrorInvalidValue;
	switch (attribute) {
	case hipMemRangeAttributeReadMostly:
		return put_int(data, bytes, fold->all.read_mostly);
	case hipMemRangeAttributePreferredLocation:
		return put_int(data, bytes, fold->all.preferred);
	case hipMemRangeAttributeAccessedBy:
		return put_accessed_by(data, bytes, &fold->all);
	case hipMemRangeAttributeLastPrefetchLocation:
		return put_int(data, bytes, fold->all.prefetched);
	case hipMemRangeAttributeCoherencyMode:
		return put_int(data, bytes, coherency(fold));
	default:
		return hipErrorInvalidValue;
	}
}

/*
 * Device memory has one attribute, its coherency: coarse-grained, but for what hipExtMallocWithFlags()
 * was asked for (hip-tests, catch/unit/memory/hipMemCoherencyTst.cc).
 */
static hipError_t put_device_attribute(void *data, size_t bytes, hipMemRangeAttribute attribute,
				       const struct um_allocation *allocation)
{
	if (!data || attribute != hipMemRangeAttributeCoherencyMode)
		return hipErrorInvalidValue;
	return put_int(data, bytes,
		       allocation->flags & (hipDeviceMallocFinegrained | hipMallocSignalMemory)
			       ? hipMemRangeCoherencyModeFineGrain
			       : hipMemRangeCoherencyModeCoarseGrain);
}

static const struct um_allocation *find_device_memory(const void *address, size_t bytes)
{
	const struct um_allocation *allocation = um_memory_find(address);

	return allocation && allocation->kind == UM_ALLOCATION_DEVICE && bytes &&
			       um_memory_holds(allocation, address, bytes)
		       ? allocation
		       : NULL;
}

struct asked {
	void **data;
	const size_t *data_bytes;
	const hipMemRangeAttribute *attributes;
	size_t count;
};

static hipError_t get_of_device(const struct asked *asked, const struct um_allocation *allocation)
{
	hipError_t error = hipSuccess;

	for (size_t i = 0; i < asked->count && !error; i++)
		error = put_device_attribute(asked->data[i], asked->data_bytes[i],
					     asked->attributes[i], allocation);
	return error;
}

static hipError_t get_of_managed(const struct asked *asked, const void *address, size_t bytes)
{
	struct range range;

	if (find_range(&range, address, bytes))
		return hipErrorInvalidValue;
	struct fold fold = fold_range(&range);
	hipError_t error = hipSuccess;

	for (size_t i = 0; i < asked->count && !error; i++)
		error = put_attribute(asked->data[i], asked->data_bytes[i], asked->attributes[i],
				      &fold);
	return error;
}

static hipError_t get_attributes(const struct asked *asked, const void *address, size_t bytes)
{
	const struct um_allocation *device_memory = find_device_memory(address, bytes);

	if (!asked->data || !asked->data_bytes || !asked->attributes || !asked->count)
		return hipErrorInvalidValue;
	return device_memory ? get_of_device(asked, device_memory)
			     : get_of_managed(asked, address, bytes);
}

hipError_t hipMemRangeGetAttribute(void *data, size_t data_bytes, hipMemRangeAttribute attribute,
				   const void *address, size_t bytes)
{
	const struct asked asked = {&data, &data_bytes, &attribute, 1};

	UM_ENTER();
	return um_leave(get_attributes(&asked, address, bytes));
}

hipError_t hipMemRangeGetAttributes(void **data, size_t *data_bytes,
				    hipMemRangeAttribute *attributes, size_t count,
				    const void *address, size_t bytes)
{
	const struct asked asked = {data, data_bytes, attributes, count};

	UM_ENTER();
	return um_leave(get_attributes(&asked, address, bytes));
}

/*
 * Validated, noted in the trace, and otherwise without effect, as in AMD's runtime. 0 bytes stand
 * for the whole allocation.
 */
static hipError_t attach(hipStream_t stream, const void *address, size_t bytes, unsigned flags)
{
	struct range range;
	struct um_stream *on;
	hipError_t error = um_stream_find(&on, stream);

	if (error)
		return error;
	if (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle)
		return hipErrorInvalidValue;
	error = find_range(&range, address, bytes ? bytes : 1);
	if (error)
		return error;
	struct um_record_op op = um_stream_op(UM_OP_ATTACH, on);

	um_op_target(&op, address, bytes ? bytes : range.allocation->bytes);
	op.value = flags;
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, hipSuccess);
	return hipSuccess;
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *address, size_t bytes, unsigned flags)
{
	UM_ENTER();
	return um_leave(attach(stream, address, bytes, flags));
}
