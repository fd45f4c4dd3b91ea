#include "apply_run.h"

#include "output_name.h"

#include "trace/base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

/* --- before --- */

char *um_apply_policy_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t length = strlen(name);

	if (dot && dot != name && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")))
		length = (size_t)(dot - name);
	return strndup(name, length);
}

static int find_earlier(char **out, const char *given, const char *program)
{
	struct um_job_rank rank;
	const struct um_output_place place = {"", 0, &rank};
	char *pattern = NULL;

	if (given) {
		*out = strdup(given);
		return *out ? 0 : out_of_memory();
	}
	int error = um_job_rank_find(&rank, environ);

	if (!error)
		error = um_output_default(&pattern, program, NULL, &rank);
	if (!error)
		error = um_output_name(out, pattern, &place);
	free(pattern);
	um_job_rank_fini(&rank);
	return error;
}

static int open_earlier(struct um_db **out, const struct um_apply_run *run, const char *policy,
			const char *program)
{
	int error = um_db_open(out, run->earlier_path);

	if (error != UM_ENOENT)
		return error;
	return um_fail(
		UM_ENOENT,
		"-P %s: its rules find what they are about in a trace of an earlier run, and there is "
		"no %s: first umtrace %s, or name one with --baseline",
		policy, run->earlier_path, program);
}

int um_apply_run_init(struct um_apply_run *run, const char *policy, const char *earlier,
		      const char *program)
{
	struct um_db *db = NULL;
	char message[1024];

	*run = (struct um_apply_run){0};
	int error = um_policy_load(&run->policy, policy);

	if (!error)
		error = um_policy_text(&run->policy_text, run->policy);
	if (!error)
		error = find_earlier(&run->earlier_path, earlier, program);
	if (!error)
		error = open_earlier(&db, run, policy, program);
	if (!error)
		error = um_apply_build(&run->build, run->policy, db);
	snprintf(message, sizeof(message), "%s", um_error_message());
	um_db_close(db);
	return error ? um_fail(error, "%s", message) : 0;
}

void um_apply_run_fini(struct um_apply_run *run)
{
	um_policy_destroy(run->policy);
	um_apply_build_fini(&run->build);
	free(run->policy_text);
	free(run->earlier_path);
	free(run->outcome);
	free(run->report);
	*run = (struct um_apply_run){0};
}

uint32_t um_apply_run_bytes(const struct um_apply_run *run)
{
	return run->policy ? (uint32_t)run->build.bytes : 0;
}

void um_apply_run_hand_over(const struct um_apply_run *run, struct um_spool_reader *spool)
{
	void *room = um_spool_apply_room(spool);

	if (run->policy && room)
		memcpy(room, run->build.table, run->build.bytes);
}

void um_apply_run_print_notes(FILE *out, const struct um_apply_run *run)
{
	for (const char *line = run->build.notes; line && *line; line += strcspn(line, "\n") + 1)
		fprintf(out, "umtrace: %.*s\n", (int)strcspn(line, "\n"), line);
}

/* --- after --- */

void um_apply_run_take(struct um_apply_run *run, struct um_spool_reader *spool)
{
	const void *room = um_spool_apply_room(spool);

	if (!run->policy || !room)
		return;
	run->outcome = malloc(run->build.bytes);
	if (run->outcome)
		memcpy(run->outcome, room, run->build.bytes);
}

struct reporting {
	struct um_apply_run *run;
	struct um_db *db;
	FILE *report;
	int error;
};

__attribute__((format(printf, 3, 4))) static void say(struct reporting *reporting, uint64_t count,
						      const char *format, ...)
{
	char detail[1024];
	va_list args;
	const struct um_loss_row row = {
		.op = UM_NULL,
		.device = UM_NULL,
		.kind = "policy",
		.count = (int64_t)count,
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.detail = detail,
	};

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	if (!reporting->error)
		reporting->error = um_db_insert(reporting->db, &um_table_loss, &row);
}

static const char *const reasons[UM_APPLY_OUTCOMES] = {
	[UM_APPLY_NOT_DUE] = "the program did not come to where it is due",
	[UM_APPLY_NO_MEMORY] = "the memory was not there then, or was smaller",
	[UM_APPLY_NO_STREAM] = "its stream was not there",
	[UM_APPLY_REFUSED] = "the call was refused",
	[UM_APPLY_IMPOSSIBLE] = "not possible here",
};

/* The program may have written anything over it. */
static uint32_t outcome_of(const struct um_apply_action *action)
{
	return action->outcome < UM_APPLY_OUTCOMES ? action->outcome : UM_APPLY_NOT_DUE;
}

/* The calls of one line of the policy. */
static void tell_line(struct reporting *reporting, const struct um_apply_action *actions,
		      uint32_t count, unsigned line)
{
	uint64_t by[UM_APPLY_OUTCOMES] = {0}, all = 0;
	int result = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (actions[i].line != line)
			continue;
		all++;
		by[outcome_of(&actions[i])]++;
		if (outcome_of(&actions[i]) == UM_APPLY_REFUSED)
			result = actions[i].result;
	}
	for (uint32_t i = 0; i < UM_APPLY_OUTCOMES; i++)
		if (i == UM_APPLY_REFUSED && by[i])
			say(reporting, by[i],
			    "%s:%u: %" PRIu64 " of %" PRIu64 " calls refused, with error %d",
			    reporting->run->policy->path, line, by[i], all, result);
		else if (i != UM_APPLY_MADE && by[i])
			say(reporting, by[i],
			    "%s:%u: %" PRIu64 " of %" PRIu64 " calls not made: %s",
			    reporting->run->policy->path, line, by[i], all, reasons[i]);
}

static void tell_actions(struct reporting *reporting, struct um_apply_header *planned,
			 const struct um_apply_action *actions)
{
	const struct um_policy *policy = reporting->run->policy;

	for (uint32_t i = 0; i < planned->actions; i++)
		reporting->run->made += outcome_of(&actions[i]) == UM_APPLY_MADE;
	for (size_t i = 0; i < policy->rule_count; i++)
		tell_line(reporting, actions, planned->actions, policy->rules[i].line);
}

static void tell_subjects(struct reporting *reporting, const struct um_apply_subject *subjects,
			  uint32_t count)
{
	uint64_t missing = 0, others = 0;

	for (uint32_t i = 0; i < count; i++) {
		missing += subjects[i].seen == 0;
		others += subjects[i].seen == 2;
	}
	if (missing)
		say(reporting, missing,
		    "%" PRIu64 " of %u allocations or parts that rules are about did not come",
		    missing, count);
	if (others)
		say(reporting, others,
		    "%" PRIu64
		    " of %u allocations or parts that rules are about came with another size",
		    others, count);
}

static void tell_kinds(struct reporting *reporting, struct um_apply_header *planned,
		       const struct um_apply_event *events)
{
	uint64_t all = 0, missing = 0;

	for (uint32_t i = 0; i < planned->events; i++) {
		all += um_apply_events(planned)[i].allocate_as != 0;
		missing += um_apply_events(planned)[i].allocate_as && !events[i].is_switched;
	}
	if (missing)
		say(reporting, missing,
		    "%" PRIu64 " of %" PRIu64 " allocations were not made as another kind", missing,
		    all);
}

/* --- what the earlier run did not have --- */

static bool is_before(const struct um_occurrence *a, const struct um_occurrence *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	if (a->hash != b->hash)
		return a->hash < b->hash;
	return a->nth < b->nth;
}

static void tell_unseen(struct reporting *reporting)
{
	static const char *const words[] = {
		[UM_APPLY_ALLOCATION] = "allocations",
		[UM_APPLY_NAME] = "names of parts",
		[UM_APPLY_LAUNCH] = "launches",
	};
	const struct um_occurrences *earlier = &reporting->run->build.earlier;
	uint64_t unseen[UM_APPLY_LAUNCH + 1] = {0};
	struct um_occurrences now;
	size_t at = 0;

	reporting->error = um_occurrences_load(&now, reporting->db);
	for (size_t i = 0; i < now.count && !reporting->error; i++) {
		while (at < earlier->count && is_before(&earlier->items[at], &now.items[i]))
			at++;
		if (at == earlier->count || is_before(&now.items[i], &earlier->items[at]))
			unseen[now.items[i].kind]++;
	}
	um_occurrences_fini(&now);
	for (uint32_t kind = UM_APPLY_ALLOCATION; kind <= UM_APPLY_LAUNCH; kind++)
		if (unseen[kind])
			say(reporting, unseen[kind],
			    "%" PRIu64 " %s that %s does not have: no rule is about them",
			    unseen[kind], words[kind], reporting->run->earlier_path);
}

static void tell(struct reporting *reporting)
{
	struct um_apply_header *planned = reporting->run->build.table;
	const struct um_apply_header *header = reporting->run->outcome;
	const char *left = (const char *)header;
	const char *base = (const char *)planned;

	if (!header || !header->taken) {
		say(reporting, 1, "%s was not applied: the program did not take it",
		    reporting->run->policy->path);
		return;
	}
	/* Where each part lies is believed of our own table alone. */
	tell_actions(reporting, planned,
		     (const void *)(left + ((const char *)um_apply_actions(planned) - base)));
	tell_subjects(reporting,
		      (const void *)(left + ((const char *)um_apply_subjects(planned) - base)),
		      planned->subjects);
	tell_kinds(reporting, planned,
		   (const void *)(left + ((const char *)um_apply_events(planned) - base)));
	if (header->left_out_advice || header->left_out_prefetch)
		fprintf(reporting->report,
			"of the program's own calls left out: %u of advice, %u prefetches\n",
			header->left_out_advice, header->left_out_prefetch);
	tell_unseen(reporting);
}

int um_apply_run_finish(struct um_apply_run *run, struct um_db *db)
{
	struct reporting reporting = {.run = run, .db = db};
	size_t bytes;

	if (!run->policy)
		return 0;
	reporting.report = open_memstream(&run->report, &bytes);
	if (!reporting.report)
		return out_of_memory();
	reporting.error = um_db_begin(db);
	if (!reporting.error)
		tell(&reporting);
	if (fclose(reporting.report) != 0 && !reporting.error)
		reporting.error = out_of_memory();
	return reporting.error ? reporting.error : um_db_commit(db);
}
