/*
 * What CUPTI costs by itself: a library that the driver loads as it loads umtrace's tap
 * (CUDA_INJECTION64_PATH), which asks for the same records as `umtrace --faults=gpu` and throws them
 * away. tests/gpu/measure sets its times beside the tap's. Needs NVIDIA's headers.
 */
#include <cupti.h>

#include <stdbool.h>
#include <stdlib.h>

#define BUFFER_BYTES ((size_t)512 << 10)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

int InitializeInjection(void);

static void lend(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0;
}

static void throw_away(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
		       size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	(void)valid_bytes;
	free(buffer);
}

static void enable_counters(void)
{
	static const CUpti_ActivityUnifiedMemoryCounterKind kinds[] = {
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
	};
	CUpti_ActivityUnifiedMemoryCounterConfig counters[COUNT(kinds)];

	for (size_t i = 0; i < COUNT(kinds); i++)
		counters[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
			.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
			.kind = kinds[i],
			.enable = 1};
	cuptiActivityConfigureUnifiedMemoryCounter(counters, COUNT(kinds));
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

/* The counters can be had from the first context on. */
static void on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			const void *data)
{
	static bool enabled;

	(void)user;
	(void)data;
	if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
	    enabled)
		return;
	enabled = true;
	enable_counters();
}

int InitializeInjection(void)
{
	static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
						   CUPTI_ACTIVITY_KIND_MEMCPY,
						   CUPTI_ACTIVITY_KIND_MEMSET};
	CUpti_SubscriberHandle subscriber;

	if (cuptiSubscribe(&subscriber, on_callback, NULL))
		return 1;
	cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
			    CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	cuptiActivityRegisterCallbacks(lend, throw_away);
	for (size_t i = 0; i < COUNT(kinds); i++)
		cuptiActivityEnable(kinds[i]);
	return 1;
}
