/*
 * Calls of the driver's functions. tap_call_table.c lists those that are followed; one row says how its
 * params are read, and which function writes what it was. Handlers run with the tap's lock held.
 */
#ifndef UM_TAP_CALL_H
#define UM_TAP_CALL_H

#include "tap.h"
#include "tap_memory.h"

enum um_tap_call_flags {
	UM_TAP_PER_THREAD = 1, /* stream 0 is the thread's */
	UM_TAP_ASYNC = 2,
	UM_TAP_WAITS = 4,   /* told when it begins, and again when it has ended */
	UM_TAP_FREES = 8,   /* what lies at the address is looked up before the call */
	UM_TAP_STORES = 16, /* an address, where its first argument points */
};

struct um_tap_call {
	const struct um_tap_call_row *row;
	const void *params;
	const char *symbol; /* of a launch; may be NULL */
	uint32_t correlation;
	uint64_t start_ns;
	uint64_t end_ns; /* 0: it has only begun */
	int32_t result;	 /* CUresult, which hipError_t has the numbers of */
	int32_t device;	 /* current */
	void *stream;
	uint32_t begun;		   /* the op that it was told as when it began */
	struct um_tap_block freed; /* allocation 0: none that is known */
	bool is_managed;	   /* UM_CUDA_MODULE_GET_GLOBAL and its like */
	const struct um_stack *stack;
	const void *out; /* where the program keeps what it allocated; NULL: not known */
	const struct um_variable *variable; /* the same, as found in the stack */
	uint32_t site;			    /* once it was asked for */
};

struct um_tap_call_row {
	uint16_t number; /* enum um_cuda_call */
	uint8_t flags;
	uint8_t what;	    /* to the handler: allocation kind, hipMemcpyKind, bytes of a value */
	uint16_t stream_at; /* in params; UM_TAP_NO_STREAM, UM_TAP_STREAM_IN_CONFIG */
	void (*write)(struct um_tap_call *);
};
#define UM_TAP_NO_STREAM	0xffffu
#define UM_TAP_STREAM_IN_CONFIG 0xfffeu

/* NULL: it is not followed. */
const struct um_tap_call_row *um_tap_call_row(uint32_t number);
/* Row after row; NULL after the last. */
const struct um_tap_call_row *um_tap_call_next(const struct um_tap_call_row *);

/* An op with what is known of every call. */
struct um_record_op um_tap_op(struct um_tap_call *, enum um_op_kind);
void um_tap_op_target(struct um_record_op *, uint64_t address, uint64_t bytes);
void um_tap_op_source(struct um_record_op *, uint64_t address);

/* How many streams are being captured: their work is not run. */
void um_tap_capture(struct um_tap_call *);

void um_tap_alloc(struct um_tap_call *);
void um_tap_alloc_pitch(struct um_tap_call *);
void um_tap_alloc_async(struct um_tap_call *);
void um_tap_alloc_from_pool(struct um_tap_call *);
void um_tap_alloc_host(struct um_tap_call *);
void um_tap_host_register(struct um_tap_call *);
void um_tap_global(struct um_tap_call *);
void um_tap_pool_create(struct um_tap_call *);
void um_tap_pool_destroy(struct um_tap_call *);
void um_tap_free(struct um_tap_call *);

void um_tap_advise_1(struct um_tap_call *);
void um_tap_advise(struct um_tap_call *);
void um_tap_prefetch_1(struct um_tap_call *);
void um_tap_prefetch(struct um_tap_call *);
void um_tap_prefetch_batch(struct um_tap_call *);
void um_tap_discard_batch(struct um_tap_call *);
void um_tap_discard_and_prefetch(struct um_tap_call *);
void um_tap_attach(struct um_tap_call *);

void um_tap_copy(struct um_tap_call *);
void um_tap_copy_peer(struct um_tap_call *);
void um_tap_copy_2d(struct um_tap_call *);
void um_tap_copy_3d(struct um_tap_call *);
void um_tap_copy_batch(struct um_tap_call *);
void um_tap_copy_3d_batch(struct um_tap_call *);
void um_tap_memset_8(struct um_tap_call *);
void um_tap_memset_16(struct um_tap_call *);
void um_tap_memset_32(struct um_tap_call *);
void um_tap_memset_2d8(struct um_tap_call *);
void um_tap_memset_2d16(struct um_tap_call *);
void um_tap_memset_2d32(struct um_tap_call *);

void um_tap_launch(struct um_tap_call *);
void um_tap_launch_ex(struct um_tap_call *);
void um_tap_launch_multi(struct um_tap_call *);
void um_tap_launch_grid(struct um_tap_call *);
void um_tap_launch_one(struct um_tap_call *);
void um_tap_graph_launch(struct um_tap_call *);

void um_tap_sync_device(struct um_tap_call *);
void um_tap_sync_stream(struct um_tap_call *);
void um_tap_event_sync(struct um_tap_call *);
void um_tap_event_record(struct um_tap_call *);
void um_tap_event_destroy(struct um_tap_call *);
void um_tap_stream_wait(struct um_tap_call *);
void um_tap_stream_create(struct um_tap_call *);
void um_tap_stream_destroy(struct um_tap_call *);
void um_tap_profiler(struct um_tap_call *);

#endif
