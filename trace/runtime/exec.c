#include "exec.h"
#include "device_export.h"
#include "fibre.h"
#include "lane_crash.h"
#include "lane_group.h"
#include "recorder.h"
#include "runtime.h"

#include <hip/hip_runtime_api.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Lanes that a compute unit holds: 4 SIMDs of 8 waves of 64 ("CDNA 2 white paper"). More groups
 * than fit are not in flight at once on a device, and not here: waiting for one of them is a
 * deadlock.
 */
#define LANES_PER_COMPUTE_UNIT 2048u
/*
 * A launch is dead when all its groups in flight only spin, nothing that they look at changes, and
 * they have done so for this many hooks or yields, about a second, and turns each.
 */
#define DEAD_STEPS (UINT64_C(1) << 26)
#define DEAD_TURNS 64u

struct groups {
	struct um_group *first, **last;
	uint32_t count;
};

struct run {
	const struct um_launch *launch;
	uint64_t next, end;	 /* linear numbers of groups not started */
	struct groups waiting;	 /* gave up a turn; the one that waits longest first */
	struct um_group *idle;	 /* ended, to be used again */
	struct um_group *in_lds; /* whose LDS is in place, and has not ended */
	uint32_t in_flight_max;
	uint64_t dead_steps;
	uint64_t dead_turns;
};

static void groups_add(struct groups *groups, struct um_group *group)
{
	group->next = NULL;
	*groups->last = group;
	groups->last = &group->next;
	groups->count++;
}

static struct um_group *groups_take(struct groups *groups, struct um_group **at)
{
	struct um_group *group = *at;

	*at = group->next;
	if (!*at)
		groups->last = at;
	groups->count--;
	return group;
}

/* --- LDS, when groups take turns --- */

static uint64_t lds_bytes(const struct um_launch *launch)
{
	return launch->static_lds_bytes + launch->dynamic_lds_bytes;
}

static bool lds_save(struct um_group *group, const struct um_launch *launch)
{
	if (!lds_bytes(launch))
		return true;
	if (!group->lds)
		group->lds = malloc(lds_bytes(launch));
	if (!group->lds)
		return false;
	if (launch->static_lds_bytes)
		memcpy(group->lds, launch->static_lds, launch->static_lds_bytes);
	memcpy(group->lds + launch->static_lds_bytes, um_lds_dynamic, launch->dynamic_lds_bytes);
	group->lds_saved = true;
	return true;
}

static void lds_restore(struct um_group *group, const struct um_launch *launch)
{
	if (!group->lds_saved)
		return;
	group->lds_saved = false;
	if (launch->static_lds_bytes)
		memcpy(launch->static_lds, group->lds, launch->static_lds_bytes);
	memcpy(um_lds_dynamic, group->lds + launch->static_lds_bytes, launch->dynamic_lds_bytes);
}

static bool lds_give(struct run *run, struct um_group *group)
{
	if (run->in_lds == group)
		return true;
	if (run->in_lds && !lds_save(run->in_lds, run->launch))
		return false;
	lds_restore(group, run->launch);
	run->in_lds = group;
	return true;
}

/* --- whose turn it is --- */

static struct um_group *start_next(struct run *run)
{
	struct um_group *group = run->idle;

	if (group)
		run->idle = group->next;
	else
		group = um_group_create(run->launch);
	if (group)
		um_group_reset(group, run->launch, run->next++);
	else
		um_running.error = hipErrorOutOfMemory;
	return group;
}

/* A group that waits on lines whose contents have changed since. */
static struct um_group *take_woken(struct run *run)
{
	for (struct um_group **at = &run->waiting.first; *at; at = &(*at)->next)
		if (um_spin_contents(&(*at)->spin) != (*at)->spin.contents)
			return groups_take(&run->waiting, at);
	return NULL;
}

static struct um_group *choose(struct run *run)
{
	struct um_group *woken = take_woken(run);

	if (woken)
		return woken;
	if (run->next < run->end && run->waiting.count < run->in_flight_max)
		return start_next(run);
	return run->waiting.count ? groups_take(&run->waiting, &run->waiting.first) : NULL;
}

/* --- a launch that makes no progress --- */

static void say_dead(const struct run *run)
{
	const struct um_group *group = run->waiting.first;
	const struct um_lane_state *lane = &group->lane[group->spin.lane];
	const void *address = lane->address;
	char where[64] = "in um_yield()";

	if (!address && group->spin.lines)
		address = um_spin_address(group->spin.line[0]);
	if (address)
		snprintf(where, sizeof(where), "on address %p", address);
	dprintf(STDERR_FILENO,
		"umtrace: kernel %s makes no progress: group (%u,%u,%u), lane %u spins %s\n",
		run->launch->name, group->index[0], group->index[1], group->index[2],
		group->spin.lane, where);
}

static void give_up_when_dead(struct run *run, const struct um_spin *spin, bool changed)
{
	if (spin->worked || changed) {
		run->dead_steps = run->dead_turns = 0;
		return;
	}
	run->dead_steps += spin->steps;
	if (++run->dead_turns % run->waiting.count == 0)
		sched_yield(); /* another host thread may be what they wait for */
	if (run->dead_steps < DEAD_STEPS || run->dead_turns / run->waiting.count < DEAD_TURNS)
		return;
	say_dead(run);
	um_running.error = hipErrorLaunchFailure;
}

static void put_off(struct run *run, struct um_group *group)
{
	uint64_t contents = um_spin_contents(&group->spin);
	bool changed = contents != group->spin.contents;

	group->spin.contents = contents;
	groups_add(&run->waiting, group);
	give_up_when_dead(run, &group->spin, changed);
}

static void end(struct run *run, struct um_group *group)
{
	run->dead_steps = run->dead_turns = 0;
	run->in_lds = NULL;
	group->next = run->idle;
	run->idle = group;
}

static void turn(struct run *run, struct um_group *group)
{
	if (!lds_give(run, group)) {
		um_running.error = hipErrorOutOfMemory;
		groups_add(&run->waiting, group);
		return;
	}
	um_recorder_group_begin(group->linear);
	um_group_run(group);
	um_recorder_flush();
	if (group->live)
		put_off(run, group);
	else
		end(run, group);
}

static void run_groups(struct run *run)
{
	struct um_group *group;

	while (!um_running.error && (group = choose(run)))
		turn(run, group);
}

static void destroy_all(struct um_group *group)
{
	while (group) {
		struct um_group *next = group->next;

		um_group_destroy(group);
		group = next;
	}
}

static int check(const struct um_launch *launch, uint32_t lanes, uint64_t groups, uint64_t fit)
{
	if (!lanes || lanes > UM_GROUP_LANES_MAX || launch->dynamic_lds_bytes > UM_LDS_BYTES)
		return hipErrorInvalidValue;
	if (launch->cooperative && groups > fit)
		return hipErrorCooperativeLaunchTooLarge;
	return hipSuccess;
}

int um_exec_run(const struct um_launch *launch, struct um_launch_totals *totals)
{
	uint32_t lanes = launch->block[0] * launch->block[1] * launch->block[2];
	uint64_t groups = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
	uint32_t resident = um_device_get(0)->compute_units * LANES_PER_COMPUTE_UNIT;
	uint64_t fit = lanes && resident > lanes ? resident / lanes : 1;
	struct run run = {.launch = launch, .end = groups, .in_flight_max = (uint32_t)fit};
	int error = check(launch, lanes, groups, fit);

	if (error)
		return error;
	if (um_recorder_begin(launch->hooked ? launch->op : 0, lanes))
		return hipErrorOutOfMemory;
	run.waiting.last = &run.waiting.first;
	um_running.launch = launch;
	um_running.error = hipSuccess;
	um_crash_watch();
	run_groups(&run);
	um_crash_unwatch();
	um_recorder_end(totals);
	um_fibre_drop_all();
	destroy_all(run.waiting.first);
	destroy_all(run.idle);
	return um_running.error;
}
