/*
 * The policy's rules against this trace. All of it is worked out before the simulation starts:
 * which allocations each rule is about, which launches each moment means, and so which rule acts at
 * which op. A rule that would never act is an error, with its line. At the same op rules act in the
 * order of the file, so that later rules win.
 */
#include "left_out.h"
#include "simulation.h"

#include "sim/policy/policy_plan.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct um_player {
	struct um_simulation_state *state;
	struct um_policy_plan plan;
	size_t next; /* action */
	struct um_left_out left_out;
};

int um_player_create(struct um_player **out, struct um_simulation_state *state)
{
	struct um_player *player = calloc(1, sizeof(*player));
	int error = 0;

	if (!player)
		return um_fail(UM_ENOMEM, "no memory for the policy");
	*out = player;
	player->state = state;
	error = um_left_out_init(&player->left_out, state->policy, state->request->trace);
	if (!error)
		error = um_policy_check_devices(state->policy, state->request->machine);
	return error ? error
		     : um_policy_plan_init(&player->plan, state->policy, state->request->trace);
}

void um_player_destroy(struct um_player *player)
{
	if (!player)
		return;
	um_left_out_fini(&player->left_out);
	um_policy_plan_fini(&player->plan);
	free(player);
}

/* --- acting --- */

static const struct um_subject *subject(const struct um_player *player, size_t place)
{
	return um_plan_subject(&player->plan, place);
}

static struct um_page_range range_of(const struct um_player *player,
				     const struct um_plan_action *action)
{
	const struct um_subject *about = subject(player, action->subject);
	uint64_t start, bytes;

	um_plan_range(&player->plan, action, &start, &bytes);
	return um_simulation_pages(player->state, about->allocation,
				   (int64_t)(about->start_bytes + start), (int64_t)bytes);
}

static int advise(struct um_player *player, const struct um_page_range *range,
		  enum um_advice_kind kind, um_device_id device, um_ns *done_at)
{
	struct um_advice advice = {.range = *range, .kind = kind, .device = device};

	return um_simulation_advise(player->state, &advice, done_at);
}

static int act_advice(struct um_player *player, const struct um_rule *rule,
		      const struct um_page_range *range, um_ns *done_at)
{
	uint32_t devices = rule->accessed_by & ~UM_BY_HOST;
	int error = 0;

	if (rule->has_preferred_location)
		error = advise(player, range, UM_ADVICE_PREFERRED_LOCATION,
			       rule->preferred_location, done_at);
	for (; devices && !error; devices &= devices - 1)
		error = advise(player, range, UM_ADVICE_ACCESSED_BY, __builtin_ctz(devices),
			       done_at);
	if (rule->accessed_by & UM_BY_HOST && !error)
		error = advise(player, range, UM_ADVICE_ACCESSED_BY, UM_HOST, done_at);
	if (rule->has_read_mostly && !error)
		error = advise(player, range,
			       rule->read_mostly ? UM_ADVICE_READ_MOSTLY
						 : UM_ADVICE_UNSET_READ_MOSTLY,
			       0, done_at);
	if (rule->has_coarse_grain && !error)
		error = advise(player, range,
			       rule->coarse_grain ? UM_ADVICE_COARSE_GRAIN
						  : UM_ADVICE_UNSET_COARSE_GRAIN,
			       0, done_at);
	return error;
}

static int act_prefetch(struct um_player *player, const struct um_rule *rule,
			const struct um_page_range *range, const struct um_plan_action *action,
			struct um_task_name *waits_for)
{
	const struct um_op_row on = {
		.kind = "launch", .stream = action->stream, .device = action->device};
	struct um_streams *streams = player->state->streams;
	struct um_task *task = calloc(1, sizeof(*task));
	uint32_t index;
	int error;

	if (!task)
		return um_fail(UM_ENOMEM, "no memory for a prefetch");
	task->kind = UM_TASK_PREFETCH;
	task->silent = true;
	task->prefetch = (struct um_prefetch){.range = *range, .to = rule->to};
	error = rule->own_stream ? um_streams_own(streams, &task->stream)
				 : um_streams_find(streams, &on, &task->stream);
	if (error) {
		free(task);
		return error;
	}
	index = task->stream;
	error = um_streams_put(streams, task);
	if (um_simulation_prefetch_waits(player->state))
		*waits_for = (struct um_task_name){index, um_streams_last_sequence(streams)};
	return error;
}

static bool asks(const struct um_rule *rule)
{
	return rule->is_prefetch || rule->has_preferred_location || rule->accessed_by ||
	       rule->has_read_mostly || rule->has_coarse_grain;
}

/*
 * The action is about memory that takes no advice. Says so, once for a rule and kind of memory, unless
 * it is managed memory, of which um_simulation_takes_advice() has said why.
 */
static void refuse(const struct um_player *player, const struct um_plan_action *action)
{
	const struct um_policy *policy = player->state->policy;
	const struct um_rule *rule = &policy->rules[action->rule];
	const struct um_allocation_row *row = um_source_allocation(
		player->state->source, subject(player, action->subject)->allocation);
	int kind = row ? um_player_kind(player, row) : UM_ALLOCATION_MANAGED;
	char what[512];

	if (kind == UM_ALLOCATION_MANAGED || !asks(rule))
		return;
	snprintf(what, sizeof(what), "%.400s:%u: %s of %s memory", policy->path, rule->line,
		 rule->is_prefetch ? "prefetch" : "advice", um_word(um_allocation_words, kind));
	um_ignore(player->state, what,
		  kind == UM_ALLOCATION_PAGEABLE
			  ? "the driver model does not migrate it here"
			  : "CUDA and HIP take prefetches and advice for managed memory only");
}

static int act(struct um_player *player, const struct um_plan_action *action, um_ns *done_at,
	       struct um_task_name *waits_for)
{
	const struct um_rule *rule = &player->state->policy->rules[action->rule];
	int64_t id = subject(player, action->subject)->allocation;
	struct um_page_range range;
	int error = um_simulation_ensure(player->state, id, action->op);

	if (error)
		return error;
	if (!um_simulation_takes_advice(player->state, id)) {
		refuse(player, action);
		return 0;
	}
	range = range_of(player, action);
	if (!range.pages)
		return 0;
	return rule->is_prefetch ? act_prefetch(player, rule, &range, action, waits_for)
				 : act_advice(player, rule, &range, done_at);
}

int um_player_act(struct um_player *player, const struct um_op_row *op, um_ns *done_at,
		  struct um_task_name *waits_for)
{
	int error = 0;

	waits_for->stream = UM_NO_STREAM;
	while (player->next < player->plan.action_count &&
	       player->plan.actions[player->next].op <= op->op &&
	       waits_for->stream == UM_NO_STREAM && !error)
		error = act(player, &player->plan.actions[player->next++], done_at, waits_for);
	return error;
}

bool um_player_leaves_out(const struct um_player *player, const struct um_op_row *op)
{
	return um_left_out_has(&player->left_out, op->site);
}

int um_player_kind(const struct um_player *player, const struct um_allocation_row *row)
{
	return um_plan_kind(&player->plan, row->allocation, row->kind);
}
