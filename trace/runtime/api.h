/*
 * What the files of the HIP API share. Every exported function has the same shape:
 *
 *	hipError_t hipX(...)
 *	{
 *		UM_ENTER();
 *		return um_leave(x(...));
 *	}
 *
 * UM_ENTER takes the runtime lock and notes where the caller's address lies: the stack from there on
 * is the site of every record that the call writes. um_leave notes the error for hipGetLastError() and gives the lock back.
 */
#ifndef UM_API_H
#define UM_API_H

#include "arena.h"
#include "module.h"
#include "runtime.h"
#include "tracer.h"
#include "../spool/spool_stack.h"

#include <hip/hip_runtime_api.h>

#define UM_API		__attribute__((visibility("default")))
#define UM_MAX_DEVICES	32u
#define UM_CALL_CONFIGS 8u /* nested <<<>>> whose arguments launch kernels themselves */

struct um_call_config {
	dim3 grid, block;
	size_t lds_bytes;
	hipStream_t stream;
	uint32_t site; /* of the <<<>>> */
};

/* What HIP keeps per host thread. */
struct um_thread {
	hipError_t last_error;
	int device;
	unsigned depth;	      /* API functions that call API functions, and callbacks */
	uintptr_t caller;     /* where the return address of the outermost API function lies */
	uint32_t site;	      /* of the call; 0: not yet asked for */
	uint32_t launch_site; /* of the <<<>>> whose configuration was popped last, until used */
	struct um_call_config configs[UM_CALL_CONFIGS];
	unsigned config_count;
	struct um_stream *streams[UM_MAX_DEVICES]; /* hipStreamPerThread, each made on first use */
	hipStreamCaptureMode capture_mode;
};
extern _Thread_local struct um_thread um_thread;

void um_enter(uintptr_t caller);
/* Records an error, not a success: what hipGetLastError() tells stays until it is read. */
hipError_t um_leave(hipError_t);
#define UM_ENTER() um_enter(UM_STACK_OWN_SLOT)

/* Maps the arena on first use: hipErrorOutOfMemory (said on stderr) when that fails. */
hipError_t um_ready(void);
/* The error that a kernel left the device with, which every later device operation returns. */
hipError_t um_device_error(void);
void um_device_fail(hipError_t);

bool um_is_device(int ordinal);
hipError_t um_device_synchronize(void); /* writes the op */
hipError_t um_device_reset(int device);
void um_peers_reset(int device);
void um_settings_reset(int device);

/* One line on stderr: "umtrace: ...". Never stdout, which is the program's. */
void um_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * Says once per `what` that a part of HIP is missing, notes the loss, returns hipErrorNotSupported.
 */
hipError_t um_refuse_part(const char *what);

/* --- ops of the trace --- */

/* The site of this call: its whole stack. 0 when off, and in a signal handler within such a call. */
uint32_t um_site(void);

/* An op of this call on `stream` (0: null stream), ready for um_tracer_op_begin(). */
struct um_record_op um_op(enum um_op_kind, uint32_t stream);
struct um_stream;
/* The same, of the device that the stream belongs to, whichever is the current one. */
struct um_record_op um_stream_op(enum um_op_kind, const struct um_stream *);
/* Which bytes: sets allocation and offset where `address` is HIP's memory, else leaves 0. */
void um_op_target(struct um_record_op *, const void *address, uint64_t bytes);
void um_op_source(struct um_record_op *, const void *address);

/* --- memory --- */

/*
 * Which allocation `address` lies in: the arena's, or memory registered with hipHostRegister().
 * NULL where it is neither.
 */
struct um_allocation *um_memory_find(const void *address);
/* Whether `address` is where HIP allocates, and nothing is allocated there (any more). */
bool um_memory_is_free(const void *address);
void *um_memory_start(const struct um_allocation *);
/* True if [address, address + bytes) lies within `allocation`; bytes may be 0. */
bool um_memory_holds(const struct um_allocation *allocation, const void *address, uint64_t bytes);
struct um_memory_request {
	enum um_allocation_kind kind;
	unsigned flags;
	uint64_t bytes;
	uint32_t stream;      /* of the trace, where it is allocated in the order of one */
	int device;	      /* whose memory; of the others the current one */
	const char *name;     /* "": the program gave none */
	struct um_pool *pool; /* NULL: none */
};
/* Allocates, writes the op and the ALLOCATION record. */
hipError_t um_memory_allocate(void **out, const struct um_memory_request *);
/* Writes the ALLOCATION record that belongs to `op`. */
void um_memory_record(const struct um_allocation *, const struct um_record_op *op,
		      const char *name);
hipError_t um_memory_free(struct um_allocation *, uint32_t stream);
/* In the child of a fork, which has none of it. */
void um_memory_child(void);
/* The device's own memory that is left; see hipMemGetInfo(). */
uint64_t um_memory_device_left(int device);
/* Where the runtime itself reads and writes: the alias for the arena, the address for all else. */
void *um_memory_own(const void *address);

/* Memory of hipMemMap(): makes the record of an allocation that is in place, or ends it. */
void um_memory_adopt(struct um_allocation *, int device);
void um_memory_release(struct um_allocation *);
/* hipMemCreate() takes it: hipErrorOutOfMemory; hipMemRelease() gives it back. */
hipError_t um_memory_take(int device, uint64_t bytes);
void um_memory_give(int device, uint64_t bytes);
/* At hipDeviceReset(): unmaps and releases all of that device's. */
void um_virtual_reset(int device);
void um_virtual_child(void);

/* --- memory pools --- */

struct um_pool;
/* Memory of a pool comes, or goes with `bytes` below 0. */
void um_pool_count(struct um_pool *, int64_t bytes);
/* At a synchronisation: pools give back what is above their thresholds. */
void um_pools_release(void);

/* --- streams and events --- */

#define UM_CU_MASK_WORDS 10u /* 320 compute units: more than any machine file has */

struct um_stream {
	struct um_stream *next;
	uint32_t id; /* of the trace; 0 for the null stream of each device */
	unsigned flags;
	int priority;
	int device;
	uint64_t busy_until_ns;		    /* of device_clock.h */
	uint32_t cu_mask[UM_CU_MASK_WORDS]; /* all 0: every compute unit */
	struct um_tips *tips;		    /* capture.h; NULL: does not capture */
};
/* Both write their op. NULL when out of memory; false when there is no such stream. */
struct um_stream *um_stream_new(unsigned flags, int priority);
bool um_stream_destroy(struct um_stream *);
void um_stream_each(void (*call)(struct um_stream *, void *), void *context);
struct um_stream *um_stream_null(int device);
/*
 * The stream of a handle (NULL and hipStreamPerThread: of the current device; or a created one); NULL if
 * there is no such.
 */
struct um_stream *um_stream_get(hipStream_t);
/* hipErrorInvalidHandle if there is no such stream. */
hipError_t um_stream_find(struct um_stream **out, hipStream_t);
/* Records `event` as if by hipEventRecord(); used by hipExtLaunchKernel. NULL is legal. */
hipError_t um_event_mark(hipEvent_t event, hipStream_t stream);
/* The stream waits, as if by hipStreamWaitEvent(). */
hipError_t um_event_wait(hipEvent_t event, hipStream_t stream);
bool um_event_valid(hipEvent_t);

/* A function of the host in the order of a stream: one of the two is not NULL. */
struct um_callback {
	hipStream_t stream;
	hipStreamCallback_t with_status;
	hipHostFn_t plain;
	void *data;
};
/* Runs it at once, with its op. hipErrorInvalidHandle. */
hipError_t um_callback_run(const struct um_callback *);

/* --- kernels and variables --- */

/* A kernel that can be launched: hipFunction_t, and what a host stub stands for. */
struct um_function;

/* The kernel of a host stub; hipErrorInvalidDeviceFunction or hipErrorNoBinaryForGpu (said). */
hipError_t um_function_find(struct um_function **out, const void *host_stub);
hipError_t um_function_from_module(struct um_function **out, struct um_module *, const char *name);
void um_function_kernel(struct um_kernel *out, const struct um_function *);
/* hipFunction_t comes from the program. */
bool um_function_valid(const struct um_function *);
/* Device variable of a host variable: hipErrorInvalidSymbol. */
hipError_t um_variable_find(void **address, uint64_t *bytes, const void *host_variable);
/* The part [offset, offset + bytes) of it: hipErrorInvalidValue where it has no such part. */
hipError_t um_variable_part(char **address, const void *host_variable, size_t bytes, size_t offset);
/* Whether this is the memory of a __managed__ variable. */
bool um_variable_owns(const struct um_allocation *);
/* All functions of a module that goes away. */
void um_function_forget(const struct um_module *);

struct um_launch_request {
	struct um_function *function;
	dim3 grid, block;
	size_t lds_bytes;
	hipStream_t stream;
	void **args;
	bool cooperative;
};
/* What it would be refused for. */
hipError_t um_launch_check(const struct um_launch_request *);
/*
 * Takes the arguments out of the one buffer that `extra` names (HIP_LAUNCH_PARAM_*); request->args is
 * the caller's to free().
 */
hipError_t um_launch_unpack(struct um_launch_request *request, void **extra);
/* Validates and runs, or is captured. */
hipError_t um_launch_run(const struct um_launch_request *);
/* Groups of `lanes` lanes and `lds_bytes` that a compute unit holds at once. */
unsigned um_occupancy(unsigned lanes, size_t lds_bytes);

#endif
