#include "policy_check.h"

#include "trace/base/error.h"
#include "trace/db/stacks.h"
#include "trace/db/trace_db.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- allocations of a trace */

struct site_names {
	int64_t site;
	const char **names; /* ends with NULL; each malloc'ed */
	char *place;	    /* the user's frame of its stack */
	size_t count, capacity;
};

struct um_subjects {
	struct um_subject *items;
	size_t count, capacity;
	size_t allocation_count; /* of them, which come first */
	int64_t *item_sites;	 /* site of each item */
	struct site_names *sites;
	size_t site_count, site_capacity;
};

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

/* *array with room for one more; false when out of memory. */
static bool make_room(void *array, size_t count, size_t *capacity, size_t item_bytes)
{
	void *items;

	if (count < *capacity)
		return true;
	size_t wanted = *capacity ? 2 * *capacity : 16;
	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, wanted, item_bytes);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*capacity = wanted;
	return true;
}

static bool add_name(struct site_names *site, char *name)
{
	if (!name || !make_room(&site->names, site->count + 1, &site->capacity, sizeof(char *))) {
		free(name);
		return false;
	}
	site->names[site->count++] = name;
	site->names[site->count] = NULL;
	return true;
}

__attribute__((format(printf, 1, 2))) static char *formatted(const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* One way to name a frame of the stack. */
static int add_frame(struct site_names *site, const struct um_stack_frame *frame)
{
	if (!add_name(site, formatted("%s+0x%" PRIx64, frame->module, frame->offset_bytes)))
		return out_of_memory();
	if (frame->function && !add_name(site, strdup(frame->function)))
		return out_of_memory();
	/* As written in its class or namespace, too. */
	const char *scope = frame->function ? strrchr(frame->function, ':') : NULL;
	if (scope && !strpbrk(scope, "<>()") && !add_name(site, strdup(scope + 1)))
		return out_of_memory();
	if (frame->file && frame->line != UM_NULL &&
	    !add_name(site, formatted("%s:%" PRId64, frame->file, frame->line)))
		return out_of_memory();
	return 0;
}

/* Every frame of the stack names it, and the user's is what it is shown as. `kind` is the call's. */
static int name_site(struct um_subjects *subjects, const struct um_stacks *stacks, int64_t id,
		     const char *kind)
{
	const struct um_stack_frame *frames[UM_STACKS_FRAMES_MAX];
	size_t count = um_stacks_frames(stacks, id, frames, UM_STACKS_FRAMES_MAX);
	const struct um_stack_frame *user = um_stacks_user(stacks, id, kind, NULL);

	if (!user)
		return 0;
	if (!make_room(&subjects->sites, subjects->site_count, &subjects->site_capacity,
		       sizeof(*subjects->sites)))
		return out_of_memory();
	struct site_names *site = &subjects->sites[subjects->site_count++];
	*site = (struct site_names){.site = id};
	int error = add_frame(site, user);
	site->place = um_stack_frame_text(user);
	for (size_t i = 0; i < count && !error; i++)
		error = frames[i] == user ? 0 : add_frame(site, frames[i]);
	return error || site->place ? error : out_of_memory();
}

struct site_use {
	int64_t site;
	bool is_part; /* that was named there */
};

static int compare_uses(const void *left, const void *right)
{
	const struct site_use *a = left, *b = right;

	return (a->site > b->site) - (a->site < b->site);
}

/* Each site that an allocation or a part has, once, ascending. */
static int name_sites(struct um_subjects *subjects, struct um_db *trace)
{
	struct site_use *uses = calloc(subjects->count + 1, sizeof(*uses));
	struct um_stacks *stacks = NULL;
	int error = uses ? um_stacks_load(&stacks, trace, NULL) : out_of_memory();

	for (size_t i = 0; i < subjects->count && !error; i++)
		uses[i] = (struct site_use){subjects->item_sites[i], subjects->items[i].is_part};
	if (!error && subjects->count)
		qsort(uses, subjects->count, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < subjects->count && !error; i++)
		if (uses[i].site != UM_NULL && (i == 0 || uses[i].site != uses[i - 1].site))
			error = name_site(subjects, stacks, uses[i].site,
					  uses[i].is_part ? "name" : "alloc");
	um_stacks_destroy(stacks);
	free(uses);
	return error;
}

/* Takes copies of the subject's kind and name. */
static int add_subject(struct um_subjects *subjects, const struct um_subject *added, int64_t site)
{
	size_t capacity = subjects->capacity;

	if (!make_room(&subjects->items, subjects->count, &subjects->capacity,
		       sizeof(*subjects->items)) ||
	    !make_room(&subjects->item_sites, subjects->count, &capacity,
		       sizeof(*subjects->item_sites)))
		return out_of_memory();
	const char *kind = added->facts.kind, *name = added->facts.name;
	struct um_subject *item = &subjects->items[subjects->count];

	*item = *added;
	item->facts.kind = strdup(kind);
	item->facts.name = name ? strdup(name) : NULL;
	subjects->item_sites[subjects->count++] = site;
	return item->facts.kind && (item->facts.name || !name) ? 0 : out_of_memory();
}

static int add_allocation(const void *row, void *context)
{
	const struct um_allocation_row *allocation = row;
	struct um_subjects *subjects = context;
	const struct um_subject added = {
		.allocation = allocation->allocation,
		.made_op = allocation->op == UM_NULL ? 0 : allocation->op,
		.freed_op = allocation->freed_op == UM_NULL ? INT64_MAX : allocation->freed_op,
		.facts = {.index = (uint32_t)subjects->count + 1,
			  .kind = allocation->kind,
			  .name = allocation->name,
			  .bytes = (uint64_t)allocation->bytes},
	};

	return add_subject(subjects, &added, allocation->site);
}

static int compare_allocations(const void *key, const void *item)
{
	int64_t wanted = *(const int64_t *)key;
	int64_t id = ((const struct um_subject *)item)->allocation;

	return (wanted > id) - (wanted < id);
}

static const struct um_subject *find_allocation(const struct um_subjects *subjects, int64_t id)
{
	return subjects->allocation_count
		       ? bsearch(&id, subjects->items, subjects->allocation_count,
				 sizeof(*subjects->items), compare_allocations)
		       : NULL;
}

/* Of an allocation that the file does not have, and of no bytes of it: damage, which matches nothing. */
static int add_part(const void *row, void *context)
{
	const struct um_part_row *part = row;
	struct um_subjects *subjects = context;
	const struct um_subject *of = find_allocation(subjects, part->allocation);

	if (!of || part->offset_bytes < 0 || part->bytes < 1 ||
	    (uint64_t)part->offset_bytes >= of->facts.bytes ||
	    (uint64_t)part->bytes > of->facts.bytes - (uint64_t)part->offset_bytes)
		return 0;
	if ((uint64_t)part->bytes == of->facts.bytes && of->facts.name &&
	    strcmp(part->name, of->facts.name) == 0)
		return 0;
	struct um_allocation_facts facts = of->facts;

	facts.name = part->name;
	facts.bytes = (uint64_t)part->bytes;
	const struct um_subject added = {
		.allocation = part->allocation,
		.made_op = part->op,
		.freed_op = part->end_op == UM_NULL ? INT64_MAX : part->end_op,
		.is_part = true,
		.start_bytes = (uint64_t)part->offset_bytes,
		.facts = facts,
	};

	return add_subject(subjects, &added, part->site);
}

static int compare_sites(const void *key, const void *item)
{
	int64_t wanted = *(const int64_t *)key, site = ((const struct site_names *)item)->site;

	return (wanted > site) - (wanted < site);
}

/* Only once all sites are read: until then the arrays move. */
static void link_sites(struct um_subjects *subjects)
{
	for (size_t i = 0; i < subjects->count; i++) {
		const struct site_names *site =
			!subjects->site_count ? NULL
					      : bsearch(&subjects->item_sites[i], subjects->sites,
							subjects->site_count,
							sizeof(*subjects->sites), compare_sites);
		if (!site)
			continue;
		subjects->items[i].facts.sites = site->names;
		subjects->items[i].place = site->place;
	}
	for (size_t i = subjects->allocation_count; i < subjects->count; i++) {
		const struct um_subject *of =
			find_allocation(subjects, subjects->items[i].allocation);

		subjects->items[i].of = of->facts.name ? of->facts.name : of->place;
	}
}

int um_subjects_load(struct um_subjects **out, struct um_db *trace)
{
	struct um_subjects *subjects = calloc(1, sizeof(*subjects));

	if (!subjects)
		return out_of_memory();
	int error = um_db_each(trace, &um_table_allocation, NULL, 0, add_allocation, subjects);
	subjects->allocation_count = subjects->count;
	if (!error)
		error = um_db_each(trace, &um_table_part, NULL, 0, add_part, subjects);
	if (!error)
		error = name_sites(subjects, trace);
	if (error) {
		um_subjects_destroy(subjects);
		return error;
	}
	link_sites(subjects);
	*out = subjects;
	return 0;
}

void um_subjects_destroy(struct um_subjects *subjects)
{
	if (!subjects)
		return;
	for (size_t i = 0; i < subjects->count; i++) {
		free((char *)subjects->items[i].facts.kind);
		free((char *)subjects->items[i].facts.name);
	}
	for (size_t i = 0; i < subjects->site_count; i++) {
		for (size_t n = 0; n < subjects->sites[i].count; n++)
			free((char *)subjects->sites[i].names[n]);
		free(subjects->sites[i].names);
		free(subjects->sites[i].place);
	}
	free(subjects->sites);
	free(subjects->item_sites);
	free(subjects->items);
	free(subjects);
}

size_t um_subjects_count(const struct um_subjects *subjects)
{
	return subjects->count;
}

size_t um_subjects_allocations(const struct um_subjects *subjects)
{
	return subjects->allocation_count;
}

bool um_subject_matches(const struct um_subject *subject, const struct um_rule *rule)
{
	if (subject->is_part && (!rule->on.name || rule->allocate_as))
		return false;
	return um_rule_matches(rule, &subject->facts);
}

const struct um_subject *um_subjects_at(const struct um_subjects *subjects, size_t index)
{
	return &subjects->items[index];
}

/* ---------------------------------------------------------------- rules against them */

static int match_subjects(struct um_rule_report *report, const struct um_rule *rule,
			  const struct um_subjects *subjects)
{
	size_t capacity = 0;

	for (size_t i = 0; i < subjects->count; i++) {
		if (!um_subject_matches(&subjects->items[i], rule))
			continue;
		if (!make_room(&report->subjects, report->subject_count, &capacity,
			       sizeof(*report->subjects)))
			return out_of_memory();
		report->subjects[report->subject_count++] = i;
	}
	return 0;
}

struct launch_matching {
	const struct um_policy *policy;
	const struct um_subjects *subjects;
	struct um_rule_report *reports;
	uint32_t *seen; /* launches that a rule's moment named so far */
};

static bool any_lives(const struct um_rule_report *report, const struct um_subjects *subjects,
		      int64_t op)
{
	for (size_t i = 0; i < report->subject_count; i++) {
		const struct um_subject *subject = &subjects->items[report->subjects[i]];
		if (subject->made_op < op && op < subject->freed_op)
			return true;
	}
	return false;
}

static int match_launch(const void *row, void *context)
{
	const struct um_kernel_row *kernel = row;
	struct launch_matching *matching = context;

	for (size_t i = 0; i < matching->policy->rule_count; i++) {
		const struct um_moment *at = &matching->policy->rules[i].at;
		struct um_rule_report *report = &matching->reports[i];
		if (!um_moment_names(at, kernel->name))
			continue;
		if (!um_moment_matches(at, kernel->name, ++matching->seen[i]) ||
		    !any_lives(report, matching->subjects, kernel->op))
			continue;
		report->first_op = report->launches ? report->first_op : kernel->op;
		report->last_op = kernel->op;
		report->launches++;
	}
	return 0;
}

static int match_launches(struct um_rule_report *reports, const struct um_policy *policy,
			  const struct um_subjects *subjects, struct um_db *trace)
{
	/* A launch that HIP refused did not happen. */
	static const char launched[] = "op IN (SELECT op FROM op WHERE COALESCE(result, 0) = ?)";
	struct launch_matching matching = {
		.policy = policy, .subjects = subjects, .reports = reports};

	matching.seen = calloc(policy->rule_count + 1, sizeof(*matching.seen));
	if (!matching.seen)
		return out_of_memory();
	int error = um_db_each(trace, &um_table_kernel, launched, 0, match_launch, &matching);
	free(matching.seen);
	return error;
}

int um_policy_report(struct um_rule_report **out, const struct um_policy *policy,
		     const struct um_subjects *subjects, struct um_db *trace)
{
	struct um_rule_report *reports = calloc(policy->rule_count + 1, sizeof(*reports));
	int error = reports ? 0 : out_of_memory();

	for (size_t i = 0; i < policy->rule_count && !error; i++)
		error = match_subjects(&reports[i], &policy->rules[i], subjects);
	if (!error)
		error = match_launches(reports, policy, subjects, trace);
	if (error)
		um_policy_report_free(reports, policy->rule_count);
	else
		*out = reports;
	return error;
}

void um_policy_report_free(struct um_rule_report *reports, size_t rule_count)
{
	if (!reports)
		return;
	for (size_t i = 0; i < rule_count; i++)
		free(reports[i].subjects);
	free(reports);
}

int um_policy_report_check(const struct um_policy *policy, const struct um_rule_report *reports)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct um_rule *rule = &policy->rules[i];
		if (reports[i].subject_count == 0)
			return um_fail_at(UM_EINVAL, policy->path, rule->line, 0,
					  "this rule matches no allocation of the trace");
		if (!rule->at.before || reports[i].launches)
			continue;
		if (rule->at.nth)
			return um_fail_at(UM_EINVAL, policy->path, rule->line, 0,
					  "the trace has no launch number %" PRIu32 " of \"%.64s\" "
					  "while such an allocation lives",
					  rule->at.nth, rule->at.before);
		return um_fail_at(UM_EINVAL, policy->path, rule->line, 0,
				  "the trace has no launch of \"%.64s\" while such an allocation "
				  "lives",
				  rule->at.before);
	}
	return 0;
}

/* ---------------------------------------------------------------- in words */

static void say(FILE *out, const char **separator, const char *what)
{
	fprintf(out, "%s%s", *separator, what);
	*separator = ", ";
}

static void say_place(FILE *out, um_device_id device)
{
	if (device == UM_HOST)
		fputs(" host", out);
	else
		fprintf(out, " gpu%d", device);
}

static void say_advice(FILE *out, const struct um_rule *rule)
{
	const char *separator = "";

	if (rule->has_preferred_location) {
		say(out, &separator, "preferred_location");
		say_place(out, rule->preferred_location);
	}
	if (rule->accessed_by) {
		say(out, &separator, "accessed_by");
		for (um_device_id device = 0; device < UM_DEVICES_MAX; device++)
			if (rule->accessed_by >> device & 1)
				say_place(out, device);
		if (rule->accessed_by & UM_BY_HOST)
			say_place(out, UM_HOST);
	}
	if (rule->has_read_mostly)
		say(out, &separator, rule->read_mostly ? "read_mostly" : "not read_mostly");
	if (rule->has_coarse_grain)
		say(out, &separator, rule->coarse_grain ? "coarse_grain" : "not coarse_grain");
	if (rule->allocate_as) {
		say(out, &separator, "allocate_as ");
		fputs(rule->allocate_as, out);
	}
}

int um_rule_action_text(char **out, const struct um_rule *rule)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return out_of_memory();
	if (rule->is_prefetch) {
		fputs("prefetch to", stream);
		say_place(stream, rule->to);
	} else {
		say_advice(stream, rule);
	}
	if (fclose(stream) != 0) {
		free(text);
		return out_of_memory();
	}
	*out = text;
	return 0;
}
