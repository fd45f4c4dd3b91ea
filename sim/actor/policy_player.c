/*
 * The policy's rules against this trace. All of it is worked out before the simulation starts:
 * which allocations each rule is about, which launches each moment means, and so which rule acts at
 * which op. A rule that would never act is an error, with its line. At the same op rules act in the
 * order of the file, so that later rules win.
 */
#include "left_out.h"
#include "simulation.h"

#include "sim/policy/policy_check.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launch {
	int64_t op, stream, device;
	char *kernel;
};

struct action {
	int64_t op;		   /* at which it is due */
	uint32_t rule, allocation; /* places */
	int64_t stream, device;	   /* of the launch that it is for */
};

struct um_player {
	struct um_simulation_state *state;
	struct um_subjects
		*subjects; /* allocations of the trace and their named parts; NULL without rules */
	size_t subject_count, allocation_count; /* with their parts; without */
	struct launch *launches;
	size_t launch_count, launch_capacity;
	struct action *actions; /* by op, then rule, then allocation */
	size_t action_count, action_capacity;
	size_t next; /* action */
	struct um_left_out left_out;
};

/* Room for one more element of an array. */
static int make_room(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
	void **data = array;
	size_t wanted = *capacity ? *capacity * 2 : 64;
	void *grown;

	if (count < *capacity)
		return 0;
	grown = realloc(*data, wanted * element_bytes);
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu elements of a policy", wanted);
	*data = grown;
	*capacity = wanted;
	return 0;
}

/* --- what there is in the trace --- */

static int add_launch(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct um_player *player = context;

	if (op->result != UM_NULL && op->result != 0)
		return 0;
	if (make_room(&player->launches, player->launch_count, &player->launch_capacity,
		      sizeof(*player->launches)))
		return UM_ENOMEM;
	player->launches[player->launch_count++] =
		(struct launch){op->op, op->stream, op->device, NULL};
	return 0;
}

static int name_launch(const void *row, void *context)
{
	const struct um_kernel_row *kernel = row;
	struct um_player *player = context;
	size_t low = 0, high = player->launch_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (player->launches[middle].op < kernel->op)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == player->launch_count || player->launches[low].op != kernel->op ||
	    player->launches[low].kernel)
		return 0;
	player->launches[low].kernel = strdup(kernel->name);
	return player->launches[low].kernel ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

static int look_at_trace(struct um_player *player)
{
	struct um_db *db = player->state->request->trace;
	int error = um_subjects_load(&player->subjects, db);

	if (error)
		return error;
	player->subject_count = um_subjects_count(player->subjects);
	player->allocation_count = um_subjects_allocations(player->subjects);
	if (!error)
		error = um_db_each(db, &um_table_op, "kind = 'launch' AND op > ?", INT64_MIN,
				   add_launch, player);
	if (!error)
		error = um_db_each(db, &um_table_kernel, NULL, 0, name_launch, player);
	return error;
}

/* --- which rule acts when --- */

static const struct um_subject *subject(const struct um_player *player, size_t place)
{
	return um_subjects_at(player->subjects, place);
}

static bool is_about(const struct um_player *player, const struct um_rule *rule, size_t place)
{
	return um_subject_matches(subject(player, place), rule);
}

/* `launch` is NULL where it is for none: on the null stream of device 0 then. */
static int add_action(struct um_player *player, int64_t op, size_t rule, size_t allocation,
		      const struct launch *launch)
{
	if (make_room(&player->actions, player->action_count, &player->action_capacity,
		      sizeof(*player->actions)))
		return UM_ENOMEM;
	player->actions[player->action_count++] =
		(struct action){op, (uint32_t)rule, (uint32_t)allocation,
				launch ? launch->stream : 0, launch ? launch->device : 0};
	return 0;
}

static bool lives_at(const struct um_subject *allocation, int64_t op)
{
	return allocation->made_op < op && op < allocation->freed_op;
}

/* Before launch `place`, or up to `ahead` launches earlier, as early as the allocation lives. */
static int add_before_launch(struct um_player *player, size_t rule, size_t allocation, size_t place)
{
	const struct um_moment *at = &player->state->policy->rules[rule].at;
	size_t first = place > at->ahead ? place - at->ahead : 0;

	for (size_t i = first; i <= place; i++)
		if (lives_at(subject(player, allocation), player->launches[i].op))
			return add_action(player, player->launches[i].op, rule, allocation,
					  &player->launches[place]);
	return 0;
}

/* Places of the allocations and parts that the rule is about; malloc'ed. */
static int find_allocations(const struct um_player *player, const struct um_rule *rule,
			    size_t **places, size_t *count)
{
	*count = 0;
	*places = malloc((player->subject_count + 1) * sizeof(**places));
	if (!*places)
		return um_fail(UM_ENOMEM, "no memory for what a rule matches");
	for (size_t i = 0; i < player->subject_count; i++)
		if (is_about(player, rule, i))
			(*places)[(*count)++] = i;
	return 0;
}

static int add_for_launches(struct um_player *player, size_t rule, const size_t *places,
			    size_t count)
{
	const struct um_moment *at = &player->state->policy->rules[rule].at;
	uint32_t nth = 0;
	int error = 0;

	for (size_t i = 0; i < player->launch_count; i++) {
		const char *kernel = player->launches[i].kernel;

		if (!kernel || !um_moment_names(at, kernel) ||
		    !um_moment_matches(at, kernel, ++nth))
			continue;
		for (size_t place = 0; place < count && !error; place++)
			error = add_before_launch(player, rule, places[place], i);
	}
	return error;
}

static int add_at_allocation(struct um_player *player, size_t rule, const size_t *places,
			     size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		error = add_action(player, subject(player, places[i])->made_op, rule, places[i],
				   NULL);
	return error;
}

static int plan_rule(struct um_player *player, size_t place)
{
	const struct um_policy *policy = player->state->policy;
	const struct um_rule *rule = &policy->rules[place];
	size_t before = player->action_count, count, *places;
	int error = find_allocations(player, rule, &places, &count);

	if (!error)
		error = (rule->at.before ? add_for_launches : add_at_allocation)(player, place,
										 places, count);
	free(places);
	if (error || player->action_count > before)
		return error;
	return um_fail_at(UM_EINVAL, policy->path, rule->line, 0,
			  "this rule matches nothing in %s: umsim policy check lists what each "
			  "rule matches",
			  um_db_path(player->state->request->trace));
}

static int compare_actions(const void *left, const void *right)
{
	const struct action *a = left, *b = right;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->rule != b->rule)
		return a->rule < b->rule ? -1 : 1;
	return a->allocation < b->allocation ? -1 : a->allocation > b->allocation;
}

int um_player_create(struct um_player **out, struct um_simulation_state *state)
{
	struct um_player *player = calloc(1, sizeof(*player));
	int error = 0;

	if (!player)
		return um_fail(UM_ENOMEM, "no memory for the policy");
	*out = player;
	player->state = state;
	error = um_left_out_init(&player->left_out, state->policy, state->request->trace);
	if (error || !state->policy->rule_count)
		return error;
	error = um_policy_check_devices(state->policy, state->request->machine);
	if (!error)
		error = look_at_trace(player);
	for (size_t i = 0; i < state->policy->rule_count && !error; i++)
		error = plan_rule(player, i);
	if (player->action_count)
		qsort(player->actions, player->action_count, sizeof(*player->actions),
		      compare_actions);
	return error;
}

void um_player_destroy(struct um_player *player)
{
	if (!player)
		return;
	um_left_out_fini(&player->left_out);
	um_subjects_destroy(player->subjects);
	for (size_t i = 0; i < player->launch_count; i++)
		free(player->launches[i].kernel);
	free(player->launches);
	free(player->actions);
	free(player);
}

/* --- acting --- */

static struct um_page_range range_of(const struct um_player *player, const struct action *action)
{
	const struct um_selector *on = &player->state->policy->rules[action->rule].on;
	const struct um_subject *about = subject(player, action->allocation);
	uint64_t start = on->has_range ? on->range_start : 0;
	uint64_t end = on->has_range ? on->range_end : about->facts.bytes;

	end = end > about->facts.bytes ? about->facts.bytes : end;
	return um_simulation_pages(player->state, about->allocation,
				   (int64_t)(about->start_bytes + start),
				   end > start ? (int64_t)(end - start) : 0);
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
			const struct um_page_range *range, const struct action *action,
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
static void refuse(const struct um_player *player, const struct action *action)
{
	const struct um_policy *policy = player->state->policy;
	const struct um_rule *rule = &policy->rules[action->rule];
	const struct um_allocation_row *row = um_source_allocation(
		player->state->source, subject(player, action->allocation)->allocation);
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

static int act(struct um_player *player, const struct action *action, um_ns *done_at,
	       struct um_task_name *waits_for)
{
	const struct um_rule *rule = &player->state->policy->rules[action->rule];
	int64_t id = subject(player, action->allocation)->allocation;
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
	while (player->next < player->action_count && player->actions[player->next].op <= op->op &&
	       waits_for->stream == UM_NO_STREAM && !error)
		error = act(player, &player->actions[player->next++], done_at, waits_for);
	return error;
}

bool um_player_leaves_out(const struct um_player *player, const struct um_op_row *op)
{
	return um_left_out_has(&player->left_out, op->site);
}

/* allocation_count if it is not known. */
static size_t find_allocation(const struct um_player *player, int64_t id)
{
	size_t low = 0, high = player->allocation_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (subject(player, middle)->allocation < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < player->allocation_count && subject(player, low)->allocation == id
		       ? low
		       : player->allocation_count;
}

int um_player_kind(const struct um_player *player, const struct um_allocation_row *row)
{
	const struct um_policy *policy = player->state->policy;
	const char *kind = row->kind;

	size_t place = find_allocation(player, row->allocation);

	for (size_t i = 0; i < policy->rule_count && place < player->allocation_count; i++)
		if (policy->rules[i].allocate_as && is_about(player, &policy->rules[i], place))
			kind = policy->rules[i].allocate_as;
	return um_word_code(um_allocation_words, kind);
}
