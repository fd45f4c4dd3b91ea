/*
 * Inside the tap. What is called by the program's threads and by CUPTI's meets here.
 *
 * One lock guards all that the tap knows, and the spool. Two rules keep it from waiting for ever, as
 * CUPTI and the loader have locks of their own and call us with some of them held: with the tap's lock
 * held nobody calls CUPTI, the driver or dladdr(); and nobody waits for the spool's reader.
 */
#ifndef UM_TAP_H
#define UM_TAP_H

#include "cupti_library.h"
#include "../spool/spool_ring.h"
#include "../spool/spool_stack.h"

#include <stdbool.h>

struct um_tap {
	struct um_cupti cupti;
	void *subscriber;
	struct um_spool_writer *writer;
	uint32_t faults;   /* enum um_tap_faults */
	uint64_t start_ns; /* of the trace */
};
extern struct um_tap um_tap;

/* --- tap_state.c: on or off, the lock, threads --- */

struct um_tap_thread {
	bool inside;	   /* has the lock */
	uint16_t calls;	   /* of the driver, that it is in */
	uint32_t number;   /* 1 is the first seen; 0: not yet */
	uint32_t stream;   /* its own default stream; 0: not yet */
	uint32_t ranges;   /* the innermost open one that it pushed */
	uint32_t contexts; /* how many contexts had come and gone when the next was looked up */
	int32_t device;	   /* of the context */
	void *context;
	bool acts;			   /* the calls of the driver that it makes are ours */
	bool left_out;			   /* the call that it is in is to do nothing */
	uint64_t kept_address, kept_bytes; /* of that call */
	const struct um_apply_event *due;  /* of the allocation or part that it told last */
	uint32_t due_site;
	const void
		*out; /* where CUDA's runtime, in a call of the program's, will store an address */
};
struct um_tap_thread *um_tap_thread(void);

bool um_tap_is_on(void);
void um_tap_switch_on(void);
/* For good: the program goes on, and nothing is recorded. */
void um_tap_switch_off(void);
/* False: the tap is off, or a signal handler met its own thread here, which is counted. */
bool um_tap_lock(void);
void um_tap_unlock(void);
uint64_t um_tap_handler_calls(void);
uint64_t um_tap_now_ns(void);

/* --- tap_record.c: records; all with the lock held --- */

uint32_t um_tap_thread_number(void);
/* Numbers of handles, from 1 in the order they were first seen. */
uint32_t um_tap_stream(void *stream, bool per_thread);
void um_tap_forget_stream(void *stream);
uint32_t um_tap_event(void *event);
void um_tap_forget_event(void *event);

/* Room for a record that the program's own calls need; NULL: none, which is counted as a loss. */
void *um_tap_reserve(size_t bytes);
/* The same, for what the driver tells in masses: leaves some of the ring to the others. */
void *um_tap_reserve_bulk(size_t bytes);
void um_tap_commit(void);
/* A copy of a whole record; false: no room. */
bool um_tap_put(const struct um_record *);
/*
 * Gives an op its number and writes it; 0: no room. `correlation` (0: none) finds it again when its
 * times come.
 */
uint32_t um_tap_put_op(struct um_record_op *, uint32_t correlation);
/* The last number that was given. */
uint32_t um_tap_last_op(void);
/* The number of the next allocation, whose record is about to be written. */
uint32_t um_tap_next_allocation(void);
/* When and where the call of this correlation ran. */
void um_tap_put_time(uint32_t correlation, int32_t device, uint64_t start_ns, uint64_t end_ns);
/* The op of a correlation; 0: not known. */
uint32_t um_tap_op_of(uint32_t correlation);

/* Of a block that is about to be added. tap_call_memory.c */
struct um_tap_block;
void um_tap_put_allocation(const struct um_tap_block *, const struct um_record_op *, uint32_t flags,
			   const char *name);

/* The stream of such a number; NULL: it is gone, or no handle of the program's. */
void *um_tap_stream_handle(uint32_t number);

/* --- tap_kernel.c: what was launched; with the lock held --- */

struct um_tap_kernel {
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared_bytes;
	const char *name; /* mangled */
};
void um_tap_put_kernel(uint32_t op, const struct um_tap_kernel *);
/* It has run, and this much shared memory is its own. */
void um_tap_kernel_ran(uint32_t op, const struct um_tap_kernel *, uint32_t static_bytes);

/* --- tap_stranger.c: managed memory that no call allocated --- */

/* The driver spoke of this address. With the lock held. */
void um_tap_note_address(uint64_t address);
/* Asks the driver about addresses that nobody allocated. Without the lock, in a call of the program's. */
void um_tap_ask_addresses(void);

/* --- tap_loss.c: what was not recorded --- */

/* Counts; `detail` must last for ever. Told now and then, and at the end. With the lock held. */
void um_tap_lost(enum um_loss_kind, uint64_t count, const char *detail);
/* "detail number" */
void um_tap_lost_number(enum um_loss_kind, uint64_t count, const char *detail, uint32_t number);
void um_tap_tell_losses(bool at_end);
/* A record of it at once, with a text of its own. */
void um_tap_put_loss(enum um_loss_kind, uint64_t count, const char *text);

/* --- tap_site.c: where calls come from --- */

/* Notes where the tap itself and NVIDIA's libraries lie, whose frames are left out. */
void um_tap_site_init(const struct um_cupti *);
/* The stack that stands above the function that asks, found or walked. Without the lock. */
void um_tap_unwind(struct um_stack *);
/* The site of the whole stack; 0: none. With the lock held. */
uint32_t um_tap_site(const struct um_stack *);
/* How many of a stack's innermost frames are not the program's. */
size_t um_tap_hidden(const struct um_stack *);
/* Writes in what the program keeps the allocation that was told last. With the lock held. */
struct um_variable;
void um_tap_put_variable(const struct um_variable *, uint32_t allocation, const void *out);
/* The site of an instruction. With the lock held. */
uint32_t um_tap_site_of_instruction(uint64_t address);
/* Whether any loaded object asks for NVTX_INJECTION64_PATH: has NVTX compiled in. */
bool um_tap_program_has_nvtx(void);

/* --- tap_call.c: calls of the driver --- */

void um_tap_on_call(uint32_t call, const struct um_cupti_call *);
/* Of CUDA's runtime, which calls the driver in turn. */
void um_tap_on_runtime_call(uint32_t call, const struct um_cupti_call *);
/* Asks for the callbacks of all calls that are followed. */
void um_tap_enable_calls(void);

/* --- tap_device.c --- */

/* "580.159.04" of /proc/driver/nvidia/version; "" where there is none. */
void um_tap_driver_version(char version[32], const char *path);
/* Writes DEVICE records, once. Without the lock, after the driver's start. */
void um_tap_put_devices(void);
/* The ordinal of the device of a context. Without the lock. */
int32_t um_tap_device(void *context);
void um_tap_context_changed(void);

/* --- tap_activity.c --- */

/* Asks for activity; a kind that CUPTI refuses is told as a loss. */
void um_tap_start_activity(void);
/* The counters of unified memory, once, after the driver's start. */
void um_tap_start_counters(void);
/* There is something to flush. */
void um_tap_note_call(void);
/* Has CUPTI hand over what is complete. Without the lock. */
void um_tap_flush(void);
/* All there is, complete or not; after this CUPTI is not asked again. Without the lock. */
void um_tap_flush_last(void);

/* --- tap_unified.c --- */

/* A record of unified memory; with the lock held. Times are as CUPTI gave them, plus offset_ns. */
void um_tap_on_unified(const struct um_cupti_unified *, uint64_t offset_ns);

/* --- tap_nvtx.c --- */

void um_tap_on_nvtx(uint32_t call, const struct um_cupti_nvtx_data *);
void um_tap_enable_nvtx(void);
/* Ranges of umtrace.h, with the lock held; `id` is none of NVTX's. NULL stands for "". */
void um_tap_range_push(const char *text);
void um_tap_range_pop(void);
void um_tap_range_start(const char *text, uint64_t id);
void um_tap_range_stop(uint64_t id);

/* --- tap_names.c: umtrace.h --- */

/* From now on the tap says of itself that it records, to who finds um_trace_hooks_tap_1(). */
void um_tap_announce_names(void);

#endif
