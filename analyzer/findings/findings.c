/*
 * From a trace to findings: the facts, what every rule makes of them, and a replay of each change. What
 * saves nothing there is dropped, what saves little is folded, the rest is ranked.
 */
#include "advice.h"
#include "facts.h"
#include "finding_replay.h"
#include "finding_rule.h"

#include "analyzer/query/query.h"
#include "analyzer/query/text_pool.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *um_finding_verdict_word(enum um_finding_verdict verdict)
{
	static const char *const words[] = {
		[UM_FINDING_SAVES] = "saves",	      [UM_FINDING_FOLDED] = "folded",
		[UM_FINDING_FAULT] = "fault",	      [UM_FINDING_NOT_REPLAYED] = "not_replayed",
		[UM_FINDING_NO_EFFECT] = "no_effect",
	};

	return words[verdict];
}

/* --- what changes save --- */

uint64_t um_finding_cost_bytes(const struct um_finding_cost *cost)
{
	return cost->bytes_to_device + cost->bytes_to_host + cost->bytes_between_devices;
}

static double share(int64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

double um_finding_worth(const struct um_finding_cost *before, const struct um_finding_cost *after)
{
	double time = share((int64_t)before->end_ns - (int64_t)after->end_ns, before->end_ns);
	double bytes = share((int64_t)um_finding_cost_bytes(before) -
				     (int64_t)um_finding_cost_bytes(after),
			     um_finding_cost_bytes(before));

	if (time <= -UM_FINDING_LEAST_SHARE)
		return 0;
	return time > bytes ? time : bytes > 0 ? bytes : 0;
}

static double worth(const struct um_findings *findings, const struct um_finding_change *change)
{
	return change->not_replayable ? 0 : um_finding_worth(&findings->baseline, &change->cost);
}

static double best_worth(const struct um_findings *findings, const struct um_finding *finding)
{
	return finding->change_count ? worth(findings, &finding->changes[0]) : 0;
}

struct replaying {
	struct um_finding_setup *setup;
	struct um_findings *findings;
	const struct um_findings_choice *choice;
	size_t done, all;
};

/* An equal change that was replayed already; NULL: none. */
static const struct um_finding_change *find_replayed(const struct um_findings *findings,
						     const struct um_finding_change *wanted)
{
	for (size_t i = 0; i < findings->count; i++)
		for (size_t j = 0; j < findings->findings[i].change_count; j++) {
			const struct um_finding_change *change = &findings->findings[i].changes[j];

			if (change == wanted)
				return NULL;
			if (change->policy && change->cost.end_ns &&
			    strcmp(change->policy, wanted->policy) == 0)
				return change;
		}
	return NULL;
}

static int replay_change(struct replaying *replaying, struct um_finding_change *change)
{
	struct um_findings *findings = replaying->findings;
	const struct um_finding_change *same;
	int error = 0;

	if (change->not_replayable)
		return 0;
	same = find_replayed(findings, change);
	if (same)
		change->cost = same->cost;
	else
		error = um_finding_replay(replaying->setup, change->policy, NULL, &change->cost);
	if (error == UM_EINVAL || error == UM_ENOTSUP) {
		change->not_replayable = um_finding_text(findings, "%s", um_error_message());
		return change->not_replayable ? 0 : UM_ENOMEM;
	}
	if (error)
		return error;
	change->saved_ns = (int64_t)findings->baseline.end_ns - (int64_t)change->cost.end_ns;
	change->saved_bytes = (int64_t)um_finding_cost_bytes(&findings->baseline) -
			      (int64_t)um_finding_cost_bytes(&change->cost);
	return 0;
}

/* The best first; as they were where they are alike. */
static void sort_changes(const struct um_findings *findings, struct um_finding *finding)
{
	for (size_t i = 1; i < finding->change_count; i++)
		for (size_t j = i; j > 0 && worth(findings, &finding->changes[j]) >
						    worth(findings, &finding->changes[j - 1]);
		     j--) {
			struct um_finding_change change = finding->changes[j];

			finding->changes[j] = finding->changes[j - 1];
			finding->changes[j - 1] = change;
		}
}

static bool is_replayable(const struct um_finding *finding)
{
	for (size_t i = 0; i < finding->change_count; i++)
		if (!finding->changes[i].not_replayable)
			return true;
	return false;
}

/* Whether the run is the same with the change, but for the time of the call itself. */
static bool does_nothing(const struct um_findings *findings, const struct um_finding_change *change)
{
	const struct um_finding_cost *as_is = &findings->baseline, *cost = &change->cost;
	double time = share(change->saved_ns, as_is->end_ns);

	return !change->not_replayable && cost->bytes_to_device == as_is->bytes_to_device &&
	       cost->bytes_to_host == as_is->bytes_to_host &&
	       cost->bytes_between_devices == as_is->bytes_between_devices &&
	       cost->device_faults == as_is->device_faults &&
	       cost->host_faults == as_is->host_faults && time < UM_FINDING_LEAST_SHARE &&
	       time > -UM_FINDING_LEAST_SHARE;
}

static int replay_finding(struct replaying *replaying, struct um_finding *finding)
{
	const struct um_findings *findings = replaying->findings;
	int error = 0;

	for (size_t i = 0; i < finding->change_count && !error; i++)
		error = replay_change(replaying, &finding->changes[i]);
	if (error)
		return error;
	sort_changes(findings, finding);
	if (finding->verdict == UM_FINDING_FAULT || finding->verdict == UM_FINDING_NO_EFFECT)
		return 0;
	if (finding->claims_no_effect) {
		finding->verdict = does_nothing(findings, &finding->changes[0])
					   ? UM_FINDING_NO_EFFECT
					   : UM_FINDING_FOLDED;
		return 0;
	}
	finding->verdict = !is_replayable(finding) ? UM_FINDING_NOT_REPLAYED
			   : best_worth(findings, finding) >= UM_FINDING_LEAST_SHARE
				   ? UM_FINDING_SAVES
				   : UM_FINDING_FOLDED;
	return 0;
}

/* --- which are replayed, and what remains --- */

static void free_finding(struct um_finding *finding)
{
	free(finding->allocations);
	free(finding->kernels);
	free(finding->evidence);
	free(finding->changes);
}

/* Drops the `index`-th. */
static void drop(struct um_findings *findings, size_t index)
{
	free_finding(&findings->findings[index]);
	findings->count--;
	memmove(&findings->findings[index], &findings->findings[index + 1],
		(findings->count - index) * sizeof(*findings->findings));
}

/* Whether it is about enough to be worth a replay. */
static bool is_large(const struct um_findings *findings, const struct um_finding *finding)
{
	return share(finding->concerned_bytes, um_finding_cost_bytes(&findings->baseline)) >=
		       UM_FINDING_LEAST_SHARE ||
	       share(finding->concerned_ns, findings->baseline.end_ns) >= UM_FINDING_LEAST_SHARE;
}

static void drop_small(struct um_findings *findings)
{
	for (size_t i = findings->count; i-- > 0;) {
		const struct um_finding *finding = &findings->findings[i];

		if (finding->verdict == UM_FINDING_FAULT ||
		    finding->verdict == UM_FINDING_NO_EFFECT || finding->claims_no_effect ||
		    is_large(findings, finding))
			continue;
		drop(findings, i);
		findings->not_tried++;
	}
}

static void drop_useless(struct um_findings *findings)
{
	for (size_t i = findings->count; i-- > 0;) {
		const struct um_finding *finding = &findings->findings[i];

		if (finding->verdict != UM_FINDING_FOLDED ||
		    (best_worth(findings, finding) > 0 && !finding->claims_no_effect))
			continue;
		drop(findings, i);
		findings->dropped++;
	}
}

static int rank_of(const struct um_finding *finding)
{
	static const int ranks[] = {
		[UM_FINDING_FAULT] = 0,	    [UM_FINDING_SAVES] = 1,  [UM_FINDING_NOT_REPLAYED] = 2,
		[UM_FINDING_NO_EFFECT] = 3, [UM_FINDING_FOLDED] = 4,
	};

	return ranks[finding->verdict];
}

static bool goes_before(const struct um_findings *findings, const struct um_finding *a,
			const struct um_finding *b)
{
	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b);
	if (best_worth(findings, a) != best_worth(findings, b))
		return best_worth(findings, a) > best_worth(findings, b);
	return a->concerned_bytes > b->concerned_bytes;
}

/* Few, and alike ones stay in the order of the registry. */
static void rank(struct um_findings *findings)
{
	for (size_t i = 1; i < findings->count; i++)
		for (size_t j = i; j > 0 && goes_before(findings, &findings->findings[j],
							&findings->findings[j - 1]);
		     j--) {
			struct um_finding finding = findings->findings[j];

			findings->findings[j] = findings->findings[j - 1];
			findings->findings[j - 1] = finding;
		}
	while (findings->shown < findings->count &&
	       findings->findings[findings->shown].verdict != UM_FINDING_FOLDED)
		findings->shown++;
}

static const char *best_policy(const struct um_finding *finding)
{
	return finding->change_count ? finding->changes[0].policy : NULL;
}

static void note_also(struct um_finding *finding, const struct um_finding *other)
{
	size_t i = 0;

	while (i < UM_FINDING_ALSO - 1 && finding->also[i] &&
	       strcmp(finding->also[i], other->kind) != 0)
		i++;
	if (i < UM_FINDING_ALSO - 1 && strcmp(finding->kind, other->kind) != 0)
		finding->also[i] = other->kind;
}

/* What one change mends is one finding: that of the rule which comes first. */
static void join_alike(struct um_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		for (size_t j = findings->count; best_policy(&findings->findings[i]) && --j > i;) {
			struct um_finding *one = &findings->findings[i],
					  *other = &findings->findings[j];

			if (!best_policy(other) || one->verdict != other->verdict ||
			    strcmp(best_policy(one), best_policy(other)) != 0)
				continue;
			note_also(one, other);
			drop(findings, j);
		}
}

static int replay_all(struct replaying *replaying)
{
	struct um_findings *findings = replaying->findings;
	int error = 0;

	if (!replaying->choice->all)
		drop_small(findings);
	replaying->all = findings->count;
	for (size_t i = 0; i < findings->count && !error; i++) {
		error = replay_finding(replaying, &findings->findings[i]);
		if (replaying->choice->progress)
			replaying->choice->progress(replaying->choice->progress_context, i + 1,
						    findings->count);
	}
	return error;
}

/* --- all of it --- */

struct run_facts {
	struct um_findings *findings;
	char *source, *policy; /* of a simulation; malloc'ed */
	bool is_simulation;
};

static int take_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct run_facts *facts = context;
	struct um_findings *findings = facts->findings;
	int error;

	facts->is_simulation = strcmp(run->role, "simulation") == 0;
	findings->command = run->command;
	error = um_text_pool_keep(findings->texts, &findings->command);
	if (error || !facts->is_simulation)
		return error;
	facts->source = run->source ? strdup(run->source) : NULL;
	facts->policy = run->policy ? strdup(run->policy) : NULL;
	if (!facts->source || !facts->policy)
		return um_fail(UM_EFORMAT, "%s: a simulation that does not say of what",
			       findings->path);
	return 0;
}

static int take_accesses(const void *row, void *context)
{
	struct um_findings *findings = context;

	findings->accesses = ((const struct um_origin_row *)row)->origin;
	return um_text_pool_keep(findings->texts, &findings->accesses);
}

static int take_migrations(const void *row, void *context)
{
	struct um_findings *findings = context;

	findings->is_measured =
		strcmp(((const struct um_origin_row *)row)->origin, "measured") == 0;
	return 0;
}

static int load_origins(struct um_findings *findings, struct um_db *db)
{
	int error = um_db_each(db, &um_table_origin, "record = 'page_access' AND ?1 = 0", 0,
			       take_accesses, findings);

	if (!error)
		error = um_db_each(db, &um_table_origin, "record = 'migration' AND ?1 = 0", 0,
				   take_migrations, findings);
	if (!findings->accesses)
		findings->accesses = "absent";
	return error;
}

struct known_launches {
	size_t all, unknown; /* of those that ran; unknown: what they touched */
};

static struct known_launches count_launches(const struct um_facts *facts)
{
	struct known_launches count = {0};

	for (size_t i = 0; i < facts->op_count; i++)
		if (facts->ops[i].kind == UM_OP_LAUNCH && facts->ops[i].result == 0) {
			count.all++;
			count.unknown += !facts->ops[i].recorded;
		}
	return count;
}

static int leave_out(struct um_findings *findings, size_t rules, const struct known_launches *count)
{
	if (!rules)
		return 0;
	findings->rules_left_out = rules;
	findings->left_out_why =
		strcmp(findings->accesses, "absent") == 0
			? um_finding_text(findings, "what kernels touch is not in this file")
			: um_finding_text(findings,
					  "what %zu of the %zu launches touch was not recorded",
					  count->unknown, count->all);
	return findings->left_out_why ? 0 : UM_ENOMEM;
}

static int run_rules(struct um_findings *findings, const struct um_facts *facts, const char *only)
{
	struct known_launches count = count_launches(facts);
	enum um_accesses_needed least = strcmp(findings->accesses, "absent") == 0
						? UM_NEEDS_NO_ACCESSES
					: count.unknown ? UM_NEEDS_SOME_ACCESSES
							: UM_NEEDS_ALL_ACCESSES;
	size_t left_out = 0;
	int error = 0;

	if (only && !um_finding_rule_find(only))
		return UM_EINVAL;
	for (size_t i = 0; um_finding_rules[i] && !error; i++) {
		const struct um_finding_rule *rule = um_finding_rules[i];

		if (only && strcmp(only, rule->name) != 0)
			continue;
		if (rule->needs < least)
			left_out++;
		else
			error = rule->find(rule, facts, findings);
	}
	return error ? error : leave_out(findings, left_out, &count);
}

static int describe_setup(struct um_findings *findings, const struct um_finding_setup *setup)
{
	const struct um_policy *policy = setup->policy;

	findings->machine = setup->machine->name;
	findings->driver = policy->driver->name;
	findings->validated = policy->driver->validated;
	findings->page_bytes =
		policy->page_bytes ? policy->page_bytes : policy->driver->default_page_bytes;
	findings->memory_bytes =
		policy->memory_bytes ? policy->memory_bytes : setup->machine->memory_bytes;
	if (setup->machine->xnack != UM_XNACK_ALWAYS) {
		findings->xnack = um_xnack_word(policy->xnack);
		findings->xnack_source = um_finding_xnack_source(setup);
	}
	findings->policy = setup->choice->policy;
	findings->baseline_origin = "modelled";
	int error = um_text_pool_keep(findings->texts, &findings->machine);
	if (!error)
		error = um_text_pool_keep(findings->texts, &findings->xnack_source);
	return error ? error : um_text_pool_keep(findings->texts, &findings->policy);
}

static void describe_facts(struct um_facts *facts, const struct um_findings *findings,
			   const struct um_finding_setup *setup)
{
	facts->accesses = findings->accesses;
	facts->traffic = findings->baseline_origin;
	facts->is_measured = findings->is_measured;
	if (!setup->policy)
		return;
	facts->machine = setup->machine;
	facts->policy = setup->policy;
	facts->xnack_on = setup->policy->xnack == UM_XNACK_ON;
	facts->page_bytes = findings->page_bytes;
	facts->memory_bytes = findings->memory_bytes;
}

static int replay_baseline(struct um_facts *facts, struct um_finding_setup *setup)
{
	struct um_observer observer = um_facts_observer(facts);

	return um_finding_replay(setup, NULL, &observer, &facts->baseline);
}

static int replay_for_evidence(void *context, const char *policy, struct um_finding_cost *cost)
{
	return um_finding_replay(context, policy, NULL, cost);
}

static int find_measured(struct um_findings *findings, struct um_facts *facts,
			 const struct um_findings_choice *choice)
{
	int error;

	findings->baseline_origin = "measured";
	findings->not_replayable =
		"it was measured on a GPU, which does not tell what its kernels "
		"touch; a trace of the same program without a GPU can be replayed";
	describe_facts(facts, findings, &(struct um_finding_setup){0});
	error = um_facts_load_measured(facts);
	findings->baseline = facts->baseline;
	if (!error)
		error = um_facts_finish_pages(facts);
	if (!error)
		error = run_rules(findings, facts, choice->only);
	for (size_t i = 0; i < findings->count && !error; i++) {
		struct um_finding *finding = &findings->findings[i];

		for (size_t j = 0; j < finding->change_count; j++)
			finding->changes[j].not_replayable = findings->not_replayable;
		if (finding->verdict != UM_FINDING_FAULT)
			finding->verdict = UM_FINDING_NOT_REPLAYED;
	}
	return error;
}

static int find_and_replay(struct um_findings *findings, struct um_facts *facts,
			   struct um_finding_setup *setup, const struct um_findings_choice *choice)
{
	struct replaying replaying = {.setup = setup, .findings = findings, .choice = choice};
	int error = describe_setup(findings, setup);

	if (error)
		return error;
	describe_facts(facts, findings, setup);
	error = um_facts_load_pages(facts);
	if (!error)
		error = um_facts_finish_pages(facts);
	if (!error)
		error = um_policy_footprint(&facts->footprint_bytes, setup->trace);
	if (!error)
		error = replay_baseline(facts, setup);
	findings->baseline = facts->baseline;
	facts->replay = replay_for_evidence;
	facts->replay_context = setup;
	if (!error)
		error = run_rules(findings, facts, choice->only);
	if (!error)
		error = replay_all(&replaying);
	if (!error)
		drop_useless(findings);
	return error;
}

/* `policy_text` is taken over. */
static int find_in(struct um_findings *findings, struct um_db *trace,
		   const struct um_findings_choice *choice, char *policy_text)
{
	struct um_facts facts = {0};
	struct um_finding_setup setup = {0};
	int error = load_origins(findings, trace);

	if (!error)
		error = um_facts_load(&facts, trace, findings->texts, choice->skip_frames);
	if (!error && findings->is_measured) {
		free(policy_text);
		error = find_measured(findings, &facts, choice);
	} else if (!error) {
		error = um_finding_setup_init(&setup, trace, choice, policy_text);
		if (!error)
			error = find_and_replay(findings, &facts, &setup, choice);
	} else {
		free(policy_text);
	}
	if (!error) {
		join_alike(findings);
		rank(findings);
	}
	if (!error && choice->together && !findings->not_replayable)
		error = um_findings_put_together(findings, &setup);
	um_finding_setup_fini(&setup);
	um_facts_fini(&facts);
	return error;
}

/* The trace that a simulation was made from: as it was named, or beside it. */
static int open_source(struct um_db **out, const char *simulation, const char *source)
{
	const char *slash = strrchr(simulation, '/'), *name = strrchr(source, '/');
	char *beside;
	int error = um_db_open(out, source);

	if (error != UM_ENOENT || !slash)
		return error;
	if (asprintf(&beside, "%.*s/%s", (int)(slash - simulation), simulation,
		     name ? name + 1 : source) < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	error = um_db_open(out, beside);
	free(beside);
	return error;
}

static int find_in_simulation(struct um_findings *findings, const struct run_facts *run,
			      const struct um_findings_choice *choice)
{
	struct um_db *trace;
	char *policy = strdup(run->policy);
	int error = policy ? open_source(&trace, findings->path, run->source)
			   : um_fail(UM_ENOMEM, "out of memory");

	if (error) {
		free(policy);
		return error;
	}
	error = find_in(findings, trace, choice, policy);
	um_db_close(trace);
	return error;
}

int um_findings_load(struct um_findings **out, struct um_db *db,
		     const struct um_findings_choice *choice)
{
	static const struct um_findings_choice all;
	struct um_findings *findings = calloc(1, sizeof(*findings));
	struct run_facts run = {.findings = findings};
	int error = findings ? um_text_pool_create(&findings->texts)
			     : um_fail(UM_ENOMEM, "out of memory");

	choice = choice ? choice : &all;
	if (!error) {
		findings->path = um_db_path(db);
		error = um_text_pool_keep(findings->texts, &findings->path);
	}
	if (!error)
		error = um_query_check_run(db);
	if (!error)
		error = um_db_run(db, take_run, &run);
	if (!error)
		error = run.is_simulation ? find_in_simulation(findings, &run, choice)
					  : find_in(findings, db, choice, NULL);
	free(run.source);
	free(run.policy);
	if (error)
		um_findings_destroy(findings);
	else
		*out = findings;
	return error;
}

void um_findings_destroy(struct um_findings *findings)
{
	if (!findings)
		return;
	for (size_t i = 0; i < findings->count; i++)
		free_finding(&findings->findings[i]);
	free(findings->findings);
	um_text_pool_destroy(findings->texts);
	free(findings);
}
