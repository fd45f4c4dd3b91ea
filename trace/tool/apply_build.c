#include "apply_build.h"

#include "apply_kind.h"

#include "sim/actor/left_out.h"
#include "sim/policy/policy_plan.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls that one rule can make of one place: each device, the host, and four kinds of advice. */
#define CALLS_MAX (UM_DEVICES_MAX + 8)

/* A call that an event has. */
struct due {
	size_t occurrence;
	struct um_apply_action action;
};

struct building {
	struct um_apply_build *out;
	const struct um_policy *policy;
	struct um_db *trace;
	struct um_policy_plan plan;
	struct um_left_out left_out;
	size_t *by_subject,
		*by_op; /* occurrences; SIZE_MAX: none. by_op: of launches, sorted by op */
	size_t launch_count;
	uint32_t *numbers; /* of subjects in the table, from 1; 0: not in it */
	uint32_t subject_count;
	struct due *dues;
	size_t due_count, due_capacity;
	FILE *notes;
	unsigned noted_line; /* the last that was noted */
	size_t notes_bytes;
};

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

/* --- which occurrence is meant --- */

static const struct building *sorting; /* of compare_launches() */

static int compare_launches(const void *left, const void *right)
{
	const struct um_occurrence *items = sorting->out->earlier.items;
	int64_t a = items[*(const size_t *)left].op, b = items[*(const size_t *)right].op;

	return (a > b) - (a < b);
}

/* A part's subject is found by the op that named it. */
static size_t part_of(const struct building *b, int64_t op)
{
	for (size_t i = b->plan.allocation_count; i < b->plan.subject_count; i++)
		if (um_plan_subject(&b->plan, i)->made_op == op)
			return i;
	return SIZE_MAX;
}

static int index_occurrences(struct building *b)
{
	const struct um_occurrences *all = &b->out->earlier;

	b->by_subject = calloc(b->plan.subject_count + 1, sizeof(*b->by_subject));
	b->by_op = calloc(all->count + 1, sizeof(*b->by_op));
	b->numbers = calloc(b->plan.subject_count + 1, sizeof(*b->numbers));
	if (!b->by_subject || !b->by_op || !b->numbers)
		return out_of_memory();
	for (size_t i = 0; i < b->plan.subject_count; i++)
		b->by_subject[i] = SIZE_MAX;
	for (size_t i = 0; i < all->count; i++) {
		const struct um_occurrence *one = &all->items[i];
		size_t part;

		if (one->kind == UM_APPLY_LAUNCH)
			b->by_op[b->launch_count++] = i;
		else if (one->kind == UM_APPLY_ALLOCATION) {
			if (one->allocation_place < b->plan.allocation_count)
				b->by_subject[one->allocation_place] = i;
		} else if ((part = part_of(b, one->op)) != SIZE_MAX) {
			b->by_subject[part] = i;
		}
	}
	sorting = b;
	if (b->launch_count)
		qsort(b->by_op, b->launch_count, sizeof(*b->by_op), compare_launches);
	return 0;
}

static size_t launch_at(const struct building *b, int64_t op)
{
	size_t low = 0, high = b->launch_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (b->out->earlier.items[b->by_op[middle]].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->launch_count && b->out->earlier.items[b->by_op[low]].op == op
		       ? b->by_op[low]
		       : SIZE_MAX;
}

/* --- kinds --- */

static int kind_of(const struct building *b, const struct um_subject *subject)
{
	return um_plan_kind(&b->plan, subject->allocation, subject->facts.kind);
}

/* The last rule that has it allocated as something. */
static const struct um_rule *kind_rule(const struct building *b, const struct um_subject *subject)
{
	const struct um_rule *found = NULL;

	for (size_t i = 0; i < b->policy->rule_count; i++)
		if (b->policy->rules[i].allocate_as &&
		    um_subject_matches(subject, &b->policy->rules[i]))
			found = &b->policy->rules[i];
	return found;
}

static int check_kind(const struct building *b, const struct um_subject *subject)
{
	int from = um_word_code(um_allocation_words, subject->facts.kind), to = kind_of(b, subject);
	const char *why = NULL;

	if (from == to)
		return 0;
	int error = um_apply_kind_check(&why, b->trace, subject->allocation, from, to);
	if (error || !why)
		return error;
	return um_fail_at(UM_EINVAL, b->policy->path, kind_rule(b, subject)->line, 0,
			  "%.100s cannot be allocated as %s memory: %s",
			  subject->facts.name ? subject->facts.name
			  : subject->place    ? subject->place
					      : "an allocation without a name",
			  um_word(um_allocation_words, to), why);
}

static int check_kinds(const struct building *b)
{
	int error = 0;

	for (size_t i = 0; i < b->plan.allocation_count && !error; i++)
		error = check_kind(b, um_plan_subject(&b->plan, i));
	return error;
}

/* --- calls --- */

static uint32_t advice_code(const char *word)
{
	return (uint32_t)um_word_code(um_advice_words, word);
}

/* The calls of a rule, in the order of the simulator's player; `calls` has the rest filled in. */
static size_t calls_of(struct um_apply_action calls[CALLS_MAX], const struct um_rule *rule)
{
	uint32_t devices = rule->accessed_by & ~UM_BY_HOST;
	struct um_apply_action one = calls[0];
	size_t count = 0;

#define CALL(word, to)                                                                             \
	(calls[count] = one, calls[count].op = UM_OP_ADVISE,                                       \
	 calls[count].advice = advice_code(word), calls[count++].device = (to))
	if (rule->is_prefetch) {
		calls[0].op = UM_OP_PREFETCH;
		calls[0].device = rule->to;
		return 1;
	}
	if (rule->has_preferred_location)
		CALL("preferred_location", rule->preferred_location);
	for (; devices; devices &= devices - 1)
		CALL("accessed_by", __builtin_ctz(devices));
	if (rule->accessed_by & UM_BY_HOST)
		CALL("accessed_by", UM_HOST);
	if (rule->has_read_mostly)
		CALL(rule->read_mostly ? "read_mostly" : "unset_read_mostly", 0);
	if (rule->has_coarse_grain)
		CALL(rule->coarse_grain ? "coarse_grain" : "unset_coarse_grain", 0);
#undef CALL
	return count;
}

static uint32_t stream_of(const struct um_rule *rule, const struct um_plan_action *action)
{
	if (rule->own_stream)
		return UM_APPLY_STREAM_OWN;
	if (!action->launch_op)
		return UM_APPLY_STREAM_NULL;
	return action->op == action->launch_op ? UM_APPLY_STREAM_LAUNCH : UM_APPLY_STREAM_NUMBER;
}

static int add_due(struct building *b, size_t occurrence, const struct um_apply_action *action)
{
	if (b->due_count == b->due_capacity) {
		size_t capacity = b->due_capacity ? 2 * b->due_capacity : 64;
		struct due *grown = reallocarray(b->dues, capacity, sizeof(*grown));

		if (!grown)
			return out_of_memory();
		b->dues = grown;
		b->due_capacity = capacity;
	}
	b->dues[b->due_count++] = (struct due){occurrence, *action};
	return 0;
}

static void note(struct building *b, unsigned line, const char *what)
{
	if (b->noted_line == line)
		return;
	b->noted_line = line;
	fprintf(b->notes, "%s:%u: %s\n", b->policy->path, line, what);
}

static uint32_t number_of(struct building *b, size_t subject)
{
	if (!b->numbers[subject])
		b->numbers[subject] = ++b->subject_count;
	return b->numbers[subject] - 1;
}

static int add_action(struct building *b, const struct um_plan_action *action)
{
	const struct um_rule *rule = &b->policy->rules[action->rule];
	const struct um_subject *subject = um_plan_subject(&b->plan, action->subject);
	struct um_apply_action calls[CALLS_MAX] = {{
		.line = rule->line,
		.stream = stream_of(rule, action),
		.stream_number = (uint32_t)action->stream,
		.stream_device = (int32_t)action->device,
	}};
	size_t at = action->launch_op ? launch_at(b, action->op) : b->by_subject[action->subject];
	int error = 0;

	um_plan_range(&b->plan, action, &calls[0].start, &calls[0].bytes);
	size_t count = calls_of(calls, rule);

	if (!count || !calls[0].bytes)
		return 0;
	if (kind_of(b, subject) != UM_ALLOCATION_MANAGED) {
		note(b, rule->line,
		     "not applied to memory that is not managed: CUDA and HIP take prefetches and "
		     "advice for managed memory only");
		return 0;
	}
	if (at == SIZE_MAX || b->by_subject[action->subject] == SIZE_MAX) {
		note(b, rule->line, "not applied to memory that the trace says too little of");
		return 0;
	}
	for (size_t i = 0; i < count && !error; i++) {
		calls[i].subject = number_of(b, action->subject);
		calls[i].start = calls[0].start;
		calls[i].bytes = calls[0].bytes;
		error = add_due(b, at, &calls[i]);
	}
	return error;
}

/* By the event, and else as they were. */
static int compare_dues(const void *left, const void *right)
{
	const struct due *a = left, *b = right;

	if (a->occurrence != b->occurrence)
		return a->occurrence < b->occurrence ? -1 : 1;
	return a->action.outcome < b->action.outcome ? -1 : 1; /* its place, for now */
}

static int collect_dues(struct building *b)
{
	int error = 0;

	for (size_t i = 0; i < b->plan.action_count && !error; i++)
		error = add_action(b, &b->plan.actions[i]);
	for (size_t i = 0; i < b->due_count; i++)
		b->dues[i].action.outcome = (uint32_t)i;
	if (b->due_count)
		qsort(b->dues, b->due_count, sizeof(*b->dues), compare_dues);
	for (size_t i = 0; i < b->due_count; i++)
		b->dues[i].action.outcome = UM_APPLY_NOT_DUE;
	return error;
}

/* --- the table --- */

struct wanted {
	bool event;
	uint32_t subject, allocate_as; /* of the table; UM_APPLY_NO_SUBJECT */
};

/* What of each occurrence the table has to have. */
static struct wanted *find_wanted(const struct building *b)
{
	struct wanted *wanted = calloc(b->out->earlier.count + 1, sizeof(*wanted));

	for (size_t i = 0; wanted && i < b->out->earlier.count; i++)
		wanted[i].subject = UM_APPLY_NO_SUBJECT;
	for (size_t i = 0; wanted && i < b->due_count; i++)
		wanted[b->dues[i].occurrence].event = true;
	for (size_t i = 0; wanted && i < b->plan.subject_count; i++) {
		const struct um_subject *subject = um_plan_subject(&b->plan, i);
		size_t at = b->by_subject[i];
		int kind = subject->is_part ? 0 : kind_of(b, subject);

		if (at == SIZE_MAX)
			continue;
		if (b->numbers[i])
			wanted[at].subject = b->numbers[i] - 1;
		if (kind && kind != um_word_code(um_allocation_words, subject->facts.kind))
			wanted[at].allocate_as = (uint32_t)kind;
		wanted[at].event |= b->numbers[i] || wanted[at].allocate_as;
	}
	return wanted;
}

static bool same_key(const struct um_occurrence *a, const struct um_occurrence *b)
{
	return a->kind == b->kind && a->hash == b->hash;
}

static uint32_t count_keys(const struct building *b, const struct wanted *wanted, uint32_t *events)
{
	const struct um_occurrence *items = b->out->earlier.items, *last = NULL;
	uint32_t keys = 0;

	*events = 0;
	for (size_t i = 0; i < b->out->earlier.count; i++) {
		if (!wanted[i].event)
			continue;
		keys += !last || !same_key(last, &items[i]);
		last = &items[i];
		++*events;
	}
	return keys;
}

static void fill_events(const struct building *b, const struct wanted *wanted,
			struct um_apply_header *table)
{
	const struct um_occurrence *items = b->out->earlier.items, *last = NULL;
	struct um_apply_key *key = um_apply_keys(table) - 1;
	struct um_apply_event *event = um_apply_events(table);
	uint32_t due = 0;

	for (size_t i = 0; i < b->out->earlier.count; i++) {
		if (!wanted[i].event)
			continue;
		if (!last || !same_key(last, &items[i]))
			*++key = (struct um_apply_key){
				.hash = items[i].hash,
				.kind = items[i].kind,
				.first_event = (uint32_t)(event - um_apply_events(table)),
			};
		last = &items[i];
		key->events++;
		*event = (struct um_apply_event){
			.nth = items[i].nth,
			.subject = wanted[i].subject,
			.allocate_as = wanted[i].allocate_as,
			.first_action = due,
		};
		while (due < b->due_count && b->dues[due].occurrence == i)
			due++;
		event->actions = due - event->first_action;
		event++;
	}
}

static void fill_hints(const struct building *b, struct um_apply_header *table, uint32_t first)
{
	struct um_apply_key *key = um_apply_keys(table) + first;

	for (uint32_t kind = UM_APPLY_ADVISE; kind <= UM_APPLY_PREFETCH; kind++)
		for (size_t i = 0; i < b->left_out.count; i++)
			*key++ = (struct um_apply_key){
				.hash = um_occurrences_site(&b->out->earlier, b->left_out.sites[i]),
				.kind = kind};
}

static int compare_keys(const void *left, const void *right)
{
	const struct um_apply_key *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static void fill_subjects(const struct building *b, struct um_apply_header *table)
{
	struct um_apply_subject *subjects = um_apply_subjects(table);

	for (size_t i = 0; i < b->plan.subject_count; i++) {
		const struct um_subject *subject = um_plan_subject(&b->plan, i);

		if (b->numbers[i])
			subjects[b->numbers[i] - 1] = (struct um_apply_subject){
				.bytes = subject->facts.bytes, .is_part = subject->is_part};
	}
}

static int make_table(struct building *b)
{
	struct wanted *wanted = find_wanted(b);
	uint32_t events, keys = wanted ? count_keys(b, wanted, &events) : 0;
	uint32_t all_keys = keys + 2 * (uint32_t)b->left_out.count;

	if (!wanted)
		return out_of_memory();
	b->out->bytes = um_apply_bytes(all_keys, events, b->subject_count, (uint32_t)b->due_count);
	struct um_apply_header *table = b->out->table = calloc(1, b->out->bytes);
	if (!table || b->out->bytes > UINT32_MAX) {
		free(wanted);
		return table ? um_fail(UM_ELIMIT, "the policy makes too many calls")
			     : out_of_memory();
	}
	*table = (struct um_apply_header){
		.magic = UM_APPLY_MAGIC,
		.keys = all_keys,
		.events = events,
		.subjects = b->subject_count,
		.actions = (uint32_t)b->due_count,
		.flags = (b->policy->keep_program_advice ? 0 : UM_APPLY_DROP_ADVICE) |
			 (b->policy->keep_program_prefetch ? 0 : UM_APPLY_DROP_PREFETCH),
	};
	fill_events(b, wanted, table);
	fill_hints(b, table, keys);
	qsort(um_apply_keys(table), all_keys, sizeof(struct um_apply_key), compare_keys);
	fill_subjects(b, table);
	for (size_t i = 0; i < b->due_count; i++)
		um_apply_actions(table)[i] = b->dues[i].action;
	free(wanted);
	return 0;
}

/* What is of the machine and not of the program. */
static void note_settings(const struct building *b)
{
	const struct um_policy *policy = b->policy;
	const struct {
		const char *key;
		bool given;
	} settings[] = {
		{"machine", policy->machine != NULL},
		{"driver", policy->driver_named || policy->setting_count},
		{"page_size", policy->page_bytes != 0},
		{"memory", policy->memory_source == UM_MEMORY_BY_POLICY},
		{"evict", policy->evict != NULL},
	};
	const char *before = "";

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		if (!settings[i].given)
			continue;
		if (!*before)
			fprintf(b->notes, "%s: not applied, being the machine's: ", policy->path);
		fprintf(b->notes, "%s%s", before, settings[i].key);
		before = ", ";
	}
	if (*before)
		fputc('\n', b->notes);
}

static int build(struct building *b)
{
	int error = um_policy_plan_init(&b->plan, b->policy, b->trace);

	if (!error)
		error = um_left_out_init(&b->left_out, b->policy, b->trace);
	if (!error)
		error = um_occurrences_load(&b->out->earlier, b->trace);
	if (!error)
		error = index_occurrences(b);
	if (!error)
		error = check_kinds(b);
	if (!error)
		error = collect_dues(b);
	if (!error)
		error = make_table(b);
	note_settings(b);
	return error;
}

int um_apply_build(struct um_apply_build *out, const struct um_policy *policy,
		   struct um_db *earlier)
{
	struct building b = {.out = out, .policy = policy, .trace = earlier};
	char message[1024];

	*out = (struct um_apply_build){0};
	b.notes = open_memstream(&out->notes, &b.notes_bytes);
	int error = b.notes ? build(&b) : out_of_memory();

	snprintf(message, sizeof(message), "%s", um_error_message());
	if (b.notes && fclose(b.notes) != 0 && !error)
		error = out_of_memory();
	else if (error)
		um_fail(error, "%s", message);
	um_policy_plan_fini(&b.plan);
	um_left_out_fini(&b.left_out);
	free(b.by_subject);
	free(b.by_op);
	free(b.numbers);
	free(b.dues);
	return error;
}

void um_apply_build_fini(struct um_apply_build *build)
{
	um_occurrences_fini(&build->earlier);
	free(build->table);
	free(build->notes);
	*build = (struct um_apply_build){0};
}
