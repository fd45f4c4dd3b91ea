#include "policy_plan.h"

#include "trace/base/error.h"
#include "trace/db/rows.h"
#include "trace/db/trace_db.h"

#include <stdlib.h>
#include <string.h>

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
	struct um_policy_plan *plan = context;

	if (op->result != UM_NULL && op->result != 0)
		return 0;
	if (make_room(&plan->launches, plan->launch_count, &plan->launch_capacity,
		      sizeof(*plan->launches)))
		return UM_ENOMEM;
	plan->launches[plan->launch_count++] =
		(struct um_plan_launch){op->op, op->stream, op->device, NULL};
	return 0;
}

static int name_launch(const void *row, void *context)
{
	const struct um_kernel_row *kernel = row;
	struct um_policy_plan *plan = context;
	size_t low = 0, high = plan->launch_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (plan->launches[middle].op < kernel->op)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == plan->launch_count || plan->launches[low].op != kernel->op ||
	    plan->launches[low].kernel)
		return 0;
	plan->launches[low].kernel = strdup(kernel->name);
	return plan->launches[low].kernel ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

static int look_at_trace(struct um_policy_plan *plan)
{
	struct um_db *db = plan->trace;
	int error = um_subjects_load(&plan->subjects, db);

	if (error)
		return error;
	plan->subject_count = um_subjects_count(plan->subjects);
	plan->allocation_count = um_subjects_allocations(plan->subjects);
	if (!error)
		error = um_db_each(db, &um_table_op, "kind = 'launch' AND op > ?", INT64_MIN,
				   add_launch, plan);
	if (!error)
		error = um_db_each(db, &um_table_kernel, NULL, 0, name_launch, plan);
	return error;
}

/* --- which rule acts when --- */

const struct um_subject *um_plan_subject(const struct um_policy_plan *plan, size_t place)
{
	return um_subjects_at(plan->subjects, place);
}

static bool is_about(const struct um_policy_plan *plan, const struct um_rule *rule, size_t place)
{
	return um_subject_matches(um_plan_subject(plan, place), rule);
}

/* `launch` is NULL where it is for none: on the null stream of device 0 then. */
static int add_action(struct um_policy_plan *plan, int64_t op, size_t rule, size_t allocation,
		      const struct um_plan_launch *launch)
{
	if (make_room(&plan->actions, plan->action_count, &plan->action_capacity,
		      sizeof(*plan->actions)))
		return UM_ENOMEM;
	plan->actions[plan->action_count++] = (struct um_plan_action){op,
								      (uint32_t)rule,
								      (uint32_t)allocation,
								      launch ? launch->stream : 0,
								      launch ? launch->device : 0,
								      launch ? launch->op : 0};
	return 0;
}

static bool lives_at(const struct um_subject *allocation, int64_t op)
{
	return allocation->made_op < op && op < allocation->freed_op;
}

/* Before launch `place`, or up to `ahead` launches earlier, as early as the allocation lives. */
static int add_before_launch(struct um_policy_plan *plan, size_t rule, size_t allocation,
			     size_t place)
{
	const struct um_moment *at = &plan->policy->rules[rule].at;
	size_t first = place > at->ahead ? place - at->ahead : 0;

	for (size_t i = first; i <= place; i++)
		if (lives_at(um_plan_subject(plan, allocation), plan->launches[i].op))
			return add_action(plan, plan->launches[i].op, rule, allocation,
					  &plan->launches[place]);
	return 0;
}

/* Places of the allocations and parts that the rule is about; malloc'ed. */
static int find_allocations(const struct um_policy_plan *plan, const struct um_rule *rule,
			    size_t **places, size_t *count)
{
	*count = 0;
	*places = malloc((plan->subject_count + 1) * sizeof(**places));
	if (!*places)
		return um_fail(UM_ENOMEM, "no memory for what a rule matches");
	for (size_t i = 0; i < plan->subject_count; i++)
		if (is_about(plan, rule, i))
			(*places)[(*count)++] = i;
	return 0;
}

static int add_for_launches(struct um_policy_plan *plan, size_t rule, const size_t *places,
			    size_t count)
{
	const struct um_moment *at = &plan->policy->rules[rule].at;
	uint32_t nth = 0;
	int error = 0;

	for (size_t i = 0; i < plan->launch_count; i++) {
		const char *kernel = plan->launches[i].kernel;

		if (!kernel || !um_moment_names(at, kernel) ||
		    !um_moment_matches(at, kernel, ++nth))
			continue;
		for (size_t place = 0; place < count && !error; place++)
			error = add_before_launch(plan, rule, places[place], i);
	}
	return error;
}

static int add_at_allocation(struct um_policy_plan *plan, size_t rule, const size_t *places,
			     size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		error = add_action(plan, um_plan_subject(plan, places[i])->made_op, rule, places[i],
				   NULL);
	return error;
}

static int plan_rule(struct um_policy_plan *plan, size_t place)
{
	const struct um_policy *policy = plan->policy;
	const struct um_rule *rule = &policy->rules[place];
	size_t before = plan->action_count, count, *places;
	int error = find_allocations(plan, rule, &places, &count);

	if (!error)
		error = (rule->at.before ? add_for_launches : add_at_allocation)(plan, place,
										 places, count);
	free(places);
	if (error || plan->action_count > before)
		return error;
	return um_fail_at(UM_EINVAL, policy->path, rule->line, 0,
			  "this rule matches nothing in %s: umsim policy check lists what each "
			  "rule matches",
			  um_db_path(plan->trace));
}

static int compare_actions(const void *left, const void *right)
{
	const struct um_plan_action *a = left, *b = right;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->rule != b->rule)
		return a->rule < b->rule ? -1 : 1;
	return a->subject < b->subject ? -1 : a->subject > b->subject;
}

int um_policy_plan_init(struct um_policy_plan *plan, const struct um_policy *policy,
			struct um_db *trace)
{
	int error = 0;

	*plan = (struct um_policy_plan){.policy = policy, .trace = trace};
	if (!policy->rule_count)
		return 0;
	error = look_at_trace(plan);
	for (size_t i = 0; i < policy->rule_count && !error; i++)
		error = plan_rule(plan, i);
	if (plan->action_count)
		qsort(plan->actions, plan->action_count, sizeof(*plan->actions), compare_actions);
	return error;
}

void um_policy_plan_fini(struct um_policy_plan *plan)
{
	um_subjects_destroy(plan->subjects);
	for (size_t i = 0; i < plan->launch_count; i++)
		free(plan->launches[i].kernel);
	free(plan->launches);
	free(plan->actions);
}

/* --- what it says of an allocation --- */

/* allocation_count if it is not known. */
static size_t find_allocation(const struct um_policy_plan *plan, int64_t id)
{
	size_t low = 0, high = plan->allocation_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (um_plan_subject(plan, middle)->allocation < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < plan->allocation_count && um_plan_subject(plan, low)->allocation == id
		       ? low
		       : plan->allocation_count;
}

int um_plan_kind(const struct um_policy_plan *plan, int64_t allocation, const char *kind)
{
	const struct um_policy *policy = plan->policy;
	size_t place = find_allocation(plan, allocation);

	for (size_t i = 0; i < policy->rule_count && place < plan->allocation_count; i++)
		if (policy->rules[i].allocate_as && is_about(plan, &policy->rules[i], place))
			kind = policy->rules[i].allocate_as;
	return um_word_code(um_allocation_words, kind);
}

void um_plan_range(const struct um_policy_plan *plan, const struct um_plan_action *action,
		   uint64_t *start, uint64_t *bytes)
{
	const struct um_selector *on = &plan->policy->rules[action->rule].on;
	const struct um_subject *about = um_plan_subject(plan, action->subject);
	uint64_t end = on->has_range ? on->range_end : about->facts.bytes;

	*start = on->has_range ? on->range_start : 0;
	end = end > about->facts.bytes ? about->facts.bytes : end;
	*bytes = end > *start ? end - *start : 0;
}
