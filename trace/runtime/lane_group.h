/*
 * A work-group that runs: its lanes, who of them can go on, and what the others wait for.
 *
 * Sets of lanes are one 64-bit word a wave. The lanes of a wave go on before those of the next, in
 * order; a lane that stops passes control straight to the next one, without a scheduler between.
 * A lane of the group is in one of the sets below, or has ended.
 */
#ifndef UM_LANE_GROUP_H
#define UM_LANE_GROUP_H

#include "exec.h"
#include "fibre.h"
#include "lane_spin.h"
#include "window.h"

/* In place of a lane: the operation is a ballot. */
#define UM_WAVE_BALLOT UM_WAVE_LANES

struct um_lane_state {
	struct um_lane self;
	um_context context;  /* NULL: not started, or ended */
	const void *site;    /* of the wave operation that it waits in */
	uint64_t value;	     /* that it brings to the operation */
	uint32_t source;     /* the lane that it reads, or UM_WAVE_BALLOT */
	const void *address; /* of the access that found the column full; else NULL */
};

/* How far a switch looks ahead. */
#define UM_LANES_AHEAD 2u

typedef uint64_t um_lane_set[UM_GROUP_WAVES_MAX];

struct um_group {
	struct um_group *next; /* in a list of exec.c */
	uint64_t linear;
	uint32_t index[3]; /* blockIdx */
	uint32_t lanes, waves;
	uint32_t live;	   /* lanes that have not ended */
	um_lane_set ready; /* can go on, or have not started */
	um_lane_set at_barrier;
	um_lane_set at_wave;
	um_lane_set full; /* wait until the window is read */
	um_lane_set yielded;
	struct um_spin spin;
	char *lds;	/* room for its LDS while other groups run; NULL before the first time */
	bool lds_saved; /* and it is there */
	/* By lane, apart from the rest: a switch needs nothing else. */
	um_context context[UM_GROUP_LANES_MAX + UM_LANES_AHEAD]; /* NULL: not started, or ended */
	uint64_t result[UM_GROUP_LANES_MAX];			 /* of its last wave operation */
	struct um_lane_state lane[];
};

/* What runs. One launch at a time: the runtime's lock. */
struct um_running {
	const struct um_launch *launch;
	struct um_group *group;
	um_context main; /* of um_exec_run() */
	int error;	 /* hipError_t that ends the launch */
};
extern struct um_running um_running;

/* The lane that runs; its number is um_window.lane. */
static inline struct um_lane_state *um_running_lane(void)
{
	return &um_running.group->lane[um_window.lane];
}

/* NULL without memory. `launch` gives the shape; freed with um_group_destroy(). */
struct um_group *um_group_create(const struct um_launch *launch);
void um_group_destroy(struct um_group *);
/*
 * Makes it the group of that number, no lane started. All lanes of the one before must have ended.
 */
void um_group_reset(struct um_group *, const struct um_launch *, uint64_t linear);
/* Runs the group until it has ended, spins, or um_running.error is set. */
void um_group_run(struct um_group *);

/*
 * For a lane: waits in `set` of its group until something makes it ready. Returns the result of its
 * last wave operation. Callers that are often called should call it last (fibre.c).
 */
uint64_t um_group_wait(uint64_t *set);
/* Ends the launch. */
void um_group_fail(int error) __attribute__((noreturn));

/*
 * Lets the wave operation of the first site go at which lanes of the wave wait, with all that wait
 * there. False when none waits. (lane_wave.c)
 */
bool um_wave_resolve(struct um_group *, uint32_t wave);

#endif
