/* The host between its files: actor_host.c, host_ops.c, host_touch.c. */
#ifndef UM_HOST_H
#define UM_HOST_H

#include "host_ranges.h"
#include "simulation.h"

enum wait_for { WAIT_NOTHING, WAIT_ALL, WAIT_DEVICE, WAIT_STREAM, WAIT_TASK, WAIT_MARK, WAIT_TIME };

struct um_host {
	struct um_simulation_state *state;
	struct um_op_row op; /* going on */
	bool has_op, at_end;
	bool begins;	    /* the op, when the host has come to it */
	bool told_accesses; /* of the launch or memset in `op` */
	um_ns op_start;
	uint64_t done, all;
	struct um_host_ranges *ranges;

	enum wait_for wait;
	um_device_id wait_device;
	uint32_t wait_stream, wait_mark;
	uint64_t wait_sequence;

	struct um_page_access_row *rows; /* of a host op; a copy, since the source's live shorter */
	size_t row_count, row;
	um_page page; /* within the row */
	bool writes;  /* the row's second pass */

	/* Its own time (host_time.c). */
	bool has_ended;
	int64_t last_end_ns;	 /* of the ops so far, in the trace */
	um_ns own_ns, spent_ns;	 /* of a host op */
	uint64_t pages, touched; /* by its rows, in all passes */
};

/* Goes on with what the host does; an event. */
int um_host_step(void *host, uint64_t unused);
/* A call that returns at `at`, if that is not now. */
int um_host_wait_until(struct um_host *, um_ns at);

/* --- operations (host_ops.c) --- */

/* Begins the op that is in host->op. */
int um_host_begin_op(struct um_host *);
/* Goes on with an op that has waited. */
int um_host_resume_op(struct um_host *);

/* --- the host's own accesses (host_touch.c) --- */

/* Those of a host op. */
int um_host_load_rows(struct um_host *);
/* Touches from where it is; *waits: um_host_step() will run again. */
int um_host_touch_rows(struct um_host *, bool *waits);

/* --- its own time (host_time.c) --- */

/* The op in host->op has come: what passes before it begins. */
um_ns um_host_take_time(struct um_host *);
/* Works on a host op up to the next page, or to its end; *waits: um_host_step() will run again. */
int um_host_work(struct um_host *, bool *waits);

#endif
