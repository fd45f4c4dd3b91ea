/*
 * NVIDIA's libraries in the program: libcuda, which is there, and libcupti, which is found. Both are
 * opened at run time, so that umtrace builds and starts without CUDA.
 */
#ifndef UM_CUPTI_LIBRARY_H
#define UM_CUPTI_LIBRARY_H

#include "cupti_abi.h"

#include <limits.h>

typedef void um_cupti_callback(void *context, uint32_t domain, uint32_t call, const void *data);
typedef void um_cupti_buffer_requested(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void um_cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer,
				       size_t bytes, size_t valid_bytes);

struct um_cupti {
	uint32_t version; /* cuptiGetVersion() */
	int driver;	  /* cuDriverGetVersion(): 13000 is CUDA 13.0 */
	char path[PATH_MAX];

	int (*get_version)(uint32_t *version);
	int (*subscribe)(void **subscriber, um_cupti_callback *, void *context);
	int (*subscribe_2)(void **subscriber, um_cupti_callback *, void *context,
			   struct um_cupti_subscriber_params *); /* NULL before CUDA 12.9 */
	int (*unsubscribe)(void *subscriber);
	int (*enable_callback)(uint32_t enable, void *subscriber, uint32_t domain, uint32_t call);
	int (*enable_domain)(uint32_t enable, void *subscriber, uint32_t domain);
	int (*activity_enable)(uint32_t kind);
	int (*register_callbacks)(um_cupti_buffer_requested *, um_cupti_buffer_completed *);
	int (*register_clock)(uint64_t (*now_ns)(void)); /* may be NULL */
	int (*get_timestamp)(uint64_t *ns);
	int (*flush_all)(uint32_t flags);
	int (*next_record)(uint8_t *buffer, size_t valid_bytes, struct um_cupti_activity **);
	int (*dropped_records)(void *context, uint32_t stream, size_t *dropped);
	int (*configure_counters)(struct um_cupti_counter_config *, uint32_t count);
	int (*device_of)(void *context, uint32_t *device);
	int (*result_text)(int result, const char **text); /* may be NULL */

	int (*driver_version)(int *version);
	int (*device_count)(int *count);
	int (*device_get)(int *device, int ordinal);
	int (*device_name)(char *name, int bytes, int device);
	int (*device_memory)(size_t *bytes, int device);
	int (*device_attribute)(int *value, int attribute, int device);
	int (*pointer_attribute)(void *value, int attribute, um_cuda_pointer);
	int (*is_capturing)(void *stream, int *status); /* may be NULL */
	int (*is_capturing_ptsz)(void *stream, int *status);
	/* What umtrace -P calls, in the forms of CUDA 8, which all later drivers have; device -1: the host. */
	int (*mem_advise)(um_cuda_pointer, size_t bytes, int advice, int device);
	int (*mem_prefetch)(um_cuda_pointer, size_t bytes, int device, void *stream);
	int (*stream_create)(void **stream, unsigned flags);
	int (*alloc_managed)(um_cuda_pointer *, size_t bytes, unsigned flags);
	int (*range_attribute)(void *data, size_t data_bytes, int attribute, um_cuda_pointer,
			       size_t bytes);
};

/*
 * Finds and opens both. Of libcupti: the one that the program has loaded; `hint` (a path or soname;
 * may be NULL); beside its libcudart; under CUDA_HOME and CUDA_PATH; where the loader looks;
 * /usr/local/cuda. Never one of a later CUDA than the driver's. UM_ENOENT: there is none; UM_ENOTSUP: too old or
 * too new, or it lacks a function.
 */
int um_cupti_open(struct um_cupti *, const char *hint);
/* NVIDIA's text for a result, or "error N"; valid until the next call. */
const char *um_cupti_text(const struct um_cupti *, int result);

#endif
