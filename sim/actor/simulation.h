/*
 * The actors of one simulation, shared by the files of this folder only.
 *
 * The host runs the program's operations in order and takes no time for anything but waiting.
 * Streams run their tasks in order; a device's null stream waits for its blocking streams and they for it.
 * Kernels keep as many groups in flight as one machine holds and take turns in the order in which
 * their faults are served; a hit takes no time of its own.
 */
#ifndef UM_SIMULATION_H
#define UM_SIMULATION_H

#include "sim/simulate.h"

#include "sim/driver/evict_future.h"
#include "sim/driver/fault_buffer.h"
#include "sim/source/id_map.h"
#include "sim/source/source.h"
#include "trace/spool/spool_record.h"

#define UM_NO_STREAM UINT32_MAX

struct um_machine_check;

struct um_simulation_state {
	struct um_simulation asked;
	const struct um_simulation *request; /* asked */
	struct um_machine_check *check;	     /* NULL where speed matters */
	const struct um_policy *policy;
	struct um_machine_spec spec; /* the request's; tracing is zero where nothing is traced */
	struct um_engine *engine;
	struct um_machine *machine;
	struct um_driver_env env;
	struct um_evict_choice evict;	   /* where the policy has one */
	struct um_future *future;	   /* where that looks ahead */
	struct um_param_value *own_params; /* where the policy has none */
	struct um_driver *driver;
	struct um_fault_buffers *faults;
	struct um_probe *probe;
	struct um_source *source;
	struct um_streams *streams;
	struct um_player *player;
	struct um_host *host;
	bool has_exited; /* all operations and their tasks are done */
	/* Made so far that a device accesses from afar: pinned, registered or pageable; another device's. */
	uint64_t far_allocations;
	uint64_t next_address; /* of a managed or device allocation */
	char **told;	       /* kinds of things ignored, each said once */
	size_t told_count;
};

/* Says once per `what` that something is not simulated; `why` is a literal. */
void um_ignore(struct um_simulation_state *, const char *what, const char *why);

/*
 * Makes an allocation that is not there yet; *done_at is put later if that takes until then.
 * UM_EFORMAT if it cannot be.
 */
int um_simulation_make(struct um_simulation_state *, int64_t allocation, int64_t op,
		       um_ns *done_at);
/* The same for one that was made before the trace's first op (before main), which takes no time. */
int um_simulation_ensure(struct um_simulation_state *, int64_t allocation, int64_t op);
/* Whether advice and prefetches of the allocation reach the driver. */
bool um_simulation_takes_advice(struct um_simulation_state *, int64_t allocation);
/* Whether the driver has the host wait for prefetches. */
bool um_simulation_prefetch_waits(const struct um_simulation_state *);
/* To the driver, if it takes advice; *done_at is put later if that takes until then. */
int um_simulation_advise(struct um_simulation_state *, const struct um_advice *, um_ns *done_at);
/* Its device if the machine has it, else 0. */
um_device_id um_simulation_device(const struct um_simulation_state *, const struct um_op_row *op);
/* Pages that bytes [offset, offset + bytes) of an allocation lie in, cut at its end. */
struct um_page_range um_simulation_pages(const struct um_simulation_state *, int64_t allocation,
					 int64_t offset_bytes, int64_t bytes);
/* The op is over: tells the probe with simulated times. */
void um_simulation_report(struct um_simulation_state *, const struct um_op_row *op, um_ns start,
			  um_ns end);

/* A task is done, or the host's last op: tells the driver, once, if that was the program's end. */
int um_simulation_check_exit(struct um_simulation_state *);

/* --- tasks on streams (actor_stream.c) --- */

enum um_task_kind {
	UM_TASK_ACCESSES, /* the driver learns what the kernel behind it accesses */
	UM_TASK_KERNEL,	  /* a launch, or a memset, which is a kernel that fills */
	UM_TASK_COPY,
	UM_TASK_PREFETCH,
	UM_TASK_EVENT_RECORD,
	UM_TASK_EVENT_WAIT,
};

struct um_task {
	struct um_task *next;
	struct um_simulation_state *state;
	enum um_task_kind kind;
	uint32_t stream; /* index */
	uint64_t sequence;
	bool started;
	bool silent; /* a policy's: no operation of the program */
	um_ns start;
	struct um_op_row op;
	uint32_t mark; /* EVENT_*: of which recording */
	void *work;    /* of what runs it; abandon() frees it when the simulation ends early */
	void (*abandon)(struct um_task *);
	struct um_prefetch prefetch;
};

int um_streams_create(struct um_streams **out, struct um_simulation_state *);
void um_streams_destroy(struct um_streams *);
/*
 * The index of the stream that the op is on (UM_NULL is the null stream of its device), made if new: of the
 * op's device, and blocking or not as its flags have it.
 */
int um_streams_find(struct um_streams *, const struct um_op_row *op, uint32_t *index);
/* The policy's own stream, which waits for nothing. */
int um_streams_own(struct um_streams *, uint32_t *index);
/* Takes the task over; starts it if it is its turn. */
int um_streams_put(struct um_streams *, struct um_task *);
/* The task is done now: frees it, starts what waited, tells the host. */
int um_streams_done(struct um_streams *, struct um_task *);

/* Recordings of events: a mark is done when its task has run. */
int um_streams_new_mark(struct um_streams *, int64_t event, uint32_t *mark);
/* The last recording of the event; false if there is none. */
bool um_streams_last_mark(const struct um_streams *, int64_t event, uint32_t *mark);
bool um_streams_mark_done(const struct um_streams *, uint32_t mark);
bool um_streams_idle(const struct um_streams *); /* all of them */
bool um_streams_idle_on(const struct um_streams *, um_device_id);
bool um_stream_idle(const struct um_streams *, uint32_t index);
/* Whether the task that um_streams_put() numbered so is done. */
bool um_streams_passed(const struct um_streams *, uint32_t index, uint64_t sequence);
uint64_t um_streams_last_sequence(const struct um_streams *);

/* What runs a task; each calls um_streams_done() when it is over. */
int um_accesses_start(struct um_task *);
int um_kernel_start(struct um_task *);
int um_copy_start(struct um_task *);

/* How long the launch's atomics on one address take (kernel_atomics.c). UM_EFORMAT, UM_ENOMEM. */
int um_kernel_atomics_ns(struct um_simulation_state *, const struct um_kernel_row *, um_ns *ns);

/*
 * What comes, of the whole trace, for eviction orders that look ahead (look_ahead.c). UM_EFORMAT,
 * UM_ENOMEM.
 */
int um_look_ahead(struct um_future **out, struct um_simulation_state *, uint64_t page_bytes);

/* --- accesses that a driver learns of before (actor_accesses.c) --- */

bool um_accesses_are_told(const struct um_simulation_state *);
/* Whether the host waits until a launch may access what it does. */
bool um_accesses_hold_the_host(const struct um_simulation_state *);
/* *done_at comes in as now. UM_EFORMAT: a row lies outside its allocation. */
int um_accesses_tell(struct um_simulation_state *, const struct um_accesses *, um_ns *done_at);

/* --- the host (actor_host.c) --- */

int um_host_create(struct um_host **out, struct um_simulation_state *);
void um_host_destroy(struct um_host *);
int um_host_start(struct um_host *);
/* Something is done: looks whether the host waits for it. */
int um_host_look(struct um_host *);
/* It has done all operations. */
bool um_host_at_end(const struct um_host *);

/* --- the policy's rules (policy_player.c) --- */

/*
 * Works out which rule acts before which op. UM_EINVAL with its line for one that matches nothing.
 */
int um_player_create(struct um_player **out, struct um_simulation_state *);
void um_player_destroy(struct um_player *);
/* Whether the policy leaves out a call of the program: advice or a prefetch. */
bool um_player_leaves_out(const struct um_player *, const struct um_op_row *);
/* The kind that the policy makes of an allocation (enum um_allocation_kind); -1: none that there is. */
int um_player_kind(const struct um_player *, const struct um_allocation_row *);
/*
 * What is due at this op: after an allocation is made, before a launch is put on its stream.
 * *done_at is put later if the calls take until then. *waits_for: a prefetch that the host has to
 * wait for (its stream is UM_NO_STREAM if there is none); what is due after it waits for the next
 * call.
 */
struct um_task_name {
	uint32_t stream;
	uint64_t sequence;
};
int um_player_act(struct um_player *, const struct um_op_row *op, um_ns *done_at,
		  struct um_task_name *waits_for);

/* --- remote accesses (remote_tally.c) --- */

/* Which managed pages a kernel accessed over the link. */
struct um_remote_tally {
	struct um_remote_pages {
		um_alloc_id allocation;
		uint64_t *pages; /* one bit each */
	} * allocations;
	size_t count;
};
int um_remote_tally_add(struct um_remote_tally *, const struct um_machine *,
			const struct um_page_range *);
/* Rows for the op's page accesses that went over the link, and the link's time; *end: when done. */
int um_remote_tally_settle(struct um_remote_tally *, struct um_simulation_state *,
			   const struct um_page_access_row *rows, long count, um_device_id,
			   um_ns at, um_ns *end);
void um_remote_tally_fini(struct um_remote_tally *);

#endif
