#include "lane_group.h"
#include "recorder.h"

#include <hip/hip_runtime_api.h>
#include <stdlib.h>
#include <string.h>

struct um_running um_running;

/* In place of a lane's number: the group has ended or gives up its turn. */
#define NO_LANE UINT32_MAX

static void lane_place(struct um_lane *self, uint32_t number, const struct um_launch *launch)
{
	memcpy(self->block, launch->block, sizeof(self->block));
	memcpy(self->grid, launch->grid, sizeof(self->grid));
	self->thread[0] = number % launch->block[0];
	self->thread[1] = number / launch->block[0] % launch->block[1];
	self->thread[2] = number / launch->block[0] / launch->block[1];
	self->lane = number % UM_WAVE_LANES;
	self->wave = number / UM_WAVE_LANES;
}

struct um_group *um_group_create(const struct um_launch *launch)
{
	uint32_t lanes = launch->block[0] * launch->block[1] * launch->block[2];
	struct um_group *group = calloc(1, sizeof(*group) + lanes * sizeof(*group->lane));

	if (!group)
		return NULL;
	group->lanes = lanes;
	group->waves = (lanes + UM_WAVE_LANES - 1) / UM_WAVE_LANES;
	for (uint32_t i = 0; i < lanes; i++)
		lane_place(&group->lane[i].self, i, launch);
	return group;
}

void um_group_destroy(struct um_group *group)
{
	if (!group)
		return;
	free(group->lds);
	free(group);
}

void um_group_reset(struct um_group *group, const struct um_launch *launch, uint64_t linear)
{
	uint32_t last = group->lanes % UM_WAVE_LANES;

	group->linear = linear;
	group->index[0] = linear % launch->grid[0];
	group->index[1] = linear / launch->grid[0] % launch->grid[1];
	group->index[2] = linear / launch->grid[0] / launch->grid[1];
	group->live = group->lanes;
	for (uint32_t wave = 0; wave < group->waves; wave++)
		group->ready[wave] = UINT64_MAX;
	if (last)
		group->ready[group->waves - 1] = (UINT64_C(1) << last) - 1;
	memset(&group->spin, 0, sizeof(group->spin));
}

static bool any(const struct um_group *group, const uint64_t *set)
{
	uint64_t all = 0;

	for (uint32_t wave = 0; wave < group->waves; wave++)
		all |= set[wave];
	return all;
}

static void make_ready(struct um_group *group, uint64_t *set)
{
	for (uint32_t wave = 0; wave < group->waves; wave++) {
		group->ready[wave] |= set[wave];
		set[wave] = 0;
	}
}

/* Lets wave operations go without the lanes of their waves that spin: those wait for them. */
static bool resolve_past_spinners(struct um_group *group)
{
	bool any_went = false;

	for (uint32_t wave = 0; wave < group->waves; wave++)
		any_went |= um_wave_resolve(group, wave);
	return any_went;
}

/* Every lane has stopped, and some could go on. False: the group gives up its turn. */
static bool next_round(struct um_group *group)
{
	bool spins = um_spin_round(group);

	um_recorder_flush();
	if (spins && resolve_past_spinners(group))
		return true;
	make_ready(group, group->full);
	make_ready(group, group->yielded);
	return !spins;
}

/* No lane of any wave is ready. False: there is none to go on with. */
static bool wake(struct um_group *group)
{
	if (any(group, group->full) || any(group, group->yielded))
		return next_round(group);
	if (!group->live)
		return false;
	make_ready(group, group->at_barrier);
	return true;
}

/* A wave operation goes when no lane of the wave can go on without it. */
static bool wave_ready(struct um_group *group, uint32_t wave)
{
	if (group->ready[wave])
		return true;
	return group->at_wave[wave] && !(group->full[wave] | group->yielded[wave]) &&
	       um_wave_resolve(group, wave);
}

static uint32_t lowest(const struct um_group *group, uint32_t wave)
{
	return wave * UM_WAVE_LANES + (uint32_t)__builtin_ctzll(group->ready[wave]);
}

/* From the wave on, round the group. */
static uint32_t next_from_wave(struct um_group *group, uint32_t first)
{
	do {
		for (uint32_t wave = first; wave < group->waves; wave++)
			if (wave_ready(group, wave))
				return lowest(group, wave);
		for (uint32_t wave = 0; wave < first; wave++)
			if (wave_ready(group, wave))
				return lowest(group, wave);
		first = 0;
	} while (wake(group));
	return NO_LANE;
}

/* The lane that goes on after `lane`, which is not ready. */
static inline uint32_t next_lane(struct um_group *group, uint32_t lane)
{
	uint32_t wave = lane / UM_WAVE_LANES;
	uint64_t above = group->ready[wave] >> lane % UM_WAVE_LANES;

	if (above)
		return lane + (uint32_t)__builtin_ctzll(above);
	return next_from_wave(group, wave);
}

static void run_lane(struct um_group *group)
{
	uint32_t lane = um_window.lane;

	memcpy(group->lane[lane].self.group, group->index, sizeof(group->index));
	um_running.launch->entry(um_running.launch->args);
	group->context[lane] = NULL;
	group->ready[lane / UM_WAVE_LANES] &= ~(UINT64_C(1) << lane % UM_WAVE_LANES);
	group->live--;
}

/* Lane after lane, as long as they need no stack of their own. */
static void run_lanes(um_fibre_stack stack)
{
	struct um_group *group = um_running.group;

	for (;;) {
		uint32_t next;

		run_lane(group);
		next = next_lane(group, um_window.lane);
		if (next == NO_LANE)
			um_fibre_leave(stack, um_running.main, 0);
		um_window_lane(next);
		if (group->context[next])
			um_fibre_leave(stack, group->context[next], group->result[next]);
	}
}

/* All lanes of a group whose lanes never wait, on one stack, which a fault may leave. */
static void run_whole(um_fibre_stack stack)
{
	struct um_group *group = um_running.group;
	struct um_lane first = group->lane[0].self;

	memcpy(first.group, group->index, sizeof(group->index));
	um_running.launch->group_entry(um_running.launch->args, &first, &um_window.lane);
	memset(group->ready, 0, group->waves * sizeof(*group->ready));
	group->live = 0;
	um_fibre_leave(stack, um_running.main, 0);
}

/*
 * The stacks of a group do not fit into the first cache, and a switch would wait for the top of the
 * next one: brings it in while the lanes before it run. Half the cost of a barrier.
 */
static inline void prefetch_stack(const struct um_group *group, uint32_t lane)
{
	const char *top = group->context[lane + UM_LANES_AHEAD];

	__builtin_prefetch(top);
	__builtin_prefetch(top + 64);
}

/* Where a lane goes on. NULL: no memory for its stack. */
static inline um_context context_of(struct um_group *group, uint32_t lane)
{
	return group->context[lane] ? group->context[lane] : um_fibre_create(run_lanes);
}

void um_group_run(struct um_group *group)
{
	um_context context;
	uint32_t lane;

	um_running.group = group;
	um_spin_begin(&group->spin);
	lane = next_from_wave(group, 0);
	um_window_lane(lane);
	context = um_running.launch->group_entry ? um_fibre_create(run_whole)
						 : context_of(group, lane);
	if (context)
		um_fibre_jump(&um_running.main, context, group->result[lane]);
	else
		um_running.error = hipErrorOutOfMemory;
}

uint64_t um_group_wait(uint64_t *set)
{
	struct um_group *group = um_running.group;
	uint32_t lane = um_window.lane;
	uint32_t wave = lane / UM_WAVE_LANES;
	uint64_t bit = UINT64_C(1) << lane % UM_WAVE_LANES;
	um_context context;
	uint32_t next;

	group->ready[wave] &= ~bit;
	set[wave] |= bit;
	next = next_lane(group, lane);
	if (next == lane)
		return group->result[lane];
	if (next == NO_LANE)
		return um_fibre_jump(&group->context[lane], um_running.main, 0);
	um_window_lane(next);
	prefetch_stack(group, next);
	context = context_of(group, next);
	if (!context)
		um_group_fail(hipErrorOutOfMemory);
	return um_fibre_jump(&group->context[lane], context, group->result[next]);
}

void um_group_fail(int error)
{
	um_context dropped;

	um_running.error = error;
	um_fibre_jump(&dropped, um_running.main, 0);
	abort(); /* nobody resumes a lane of a launch that failed */
}
