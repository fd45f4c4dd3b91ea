/* What figures can be added up: which files are of one kind and of one job. */
#include "ranks_parts.h"

#include "query.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct um_ranks_trait_info um_ranks_traits[UM_RANKS_TRAITS] = {
	[UM_TRAIT_ROLE] = {"role", "trace or simulation", true},
	[UM_TRAIT_BACKEND] = {"backend", "how they ran", true},
	[UM_TRAIT_SELECTION] = {"selection", "selection of launches", false},
	[UM_TRAIT_MACHINE] = {"machine", "machine", false},
	[UM_TRAIT_MACHINE_FILE] = {"machine_text", "machine file", false},
	[UM_TRAIT_DRIVER] = {"driver", "driver", false},
	[UM_TRAIT_SETTINGS] = {"driver_parameters", "settings of the driver", false},
	[UM_TRAIT_PAGE_SIZE] = {"page_size", "page size", false},
	[UM_TRAIT_MEMORY] = {"memory", "device memory", false},
	[UM_TRAIT_XNACK] = {"xnack", "XNACK", false},
	[UM_TRAIT_POLICY] = {"policy", "policy", false},
	[UM_TRAIT_FAULTS] = {"fault_origin", "origin of page faults", false},
	[UM_TRAIT_HOST_FAULTS] = {"host_fault_origin", "origin of page faults of the host", false},
	[UM_TRAIT_MIGRATIONS] = {"migration_origin", "origin of migrations", false},
	[UM_TRAIT_REMOTE] = {"remote_access_origin", "origin of remote accesses", false},
	[UM_TRAIT_COPIES] = {"copy_origin", "origin of copies", false},
	[UM_TRAIT_HOST_WATCH] = {"host_watched", "whether the host was watched", false},
	[UM_TRAIT_JOB] = {"job", "job", false},
};

/* --- one file's --- */

struct traits {
	const char *of[UM_RANKS_TRAITS]; /* NULL: not told, which goes with any */
	char page[32], memory[32], job[512];
	char *policy;	 /* malloc'ed; NULL: as the run has it */
	char *selection; /* malloc'ed; NULL: there is none */
};

static const char *number(char text[32], int64_t value)
{
	if (value == UM_NULL)
		return NULL;
	snprintf(text, 32, "%" PRId64 " bytes", value);
	return text;
}

/* Nothing of a kind says nothing about where others come from. */
static const char *origin(const struct um_summary *summary, const char *record)
{
	const char *is = um_summary_origin(summary, record);

	return is && strcmp(is, "absent") != 0 ? is : NULL;
}

/* Where no launcher names its jobs, as many ranks of a program are taken for one job. */
static const char *job(char text[512], const struct um_run_row *run)
{
	const char *program = run->executable ? run->executable : run->command;

	if (run->job)
		return run->job;
	if (run->rank == UM_NULL)
		snprintf(text, 512, "none: %s", program);
	else if (run->ranks == UM_NULL)
		snprintf(text, 512, "not told: %s", program);
	else
		snprintf(text, 512, "not told: %" PRId64 " ranks of %s", run->ranks, program);
	return text;
}

/*
 * A policy that gives memory as a multiple of what the program has ("memory: 3684KiB # 0.9x") is the same
 * for ranks that have more or less: the multiple counts, not what it came to. UM_ENOMEM.
 */
static int compare_memory_by_multiple(struct traits *traits, const char *policy)
{
	static const char key[] = "\nmemory: ";
	const char *line = policy ? strstr(policy, key) : NULL;
	size_t length = line ? 1 + strcspn(line + 1, "\n") : 0;
	const char *multiple = line ? memchr(line, '#', length) : NULL;

	if (!multiple)
		return 0;
	size_t bytes = length - (size_t)(multiple - line);
	if (asprintf(&traits->policy, "%.*s%s%.*s%s", (int)(line - policy), policy, key, (int)bytes,
		     multiple, line + length) < 0) {
		traits->policy = NULL;
		return um_fail(UM_ENOMEM, "out of memory");
	}
	while (bytes && (*multiple == '#' || *multiple == ' ')) {
		multiple++;
		bytes--;
	}
	snprintf(traits->memory, sizeof(traits->memory), "%.*s", (int)bytes, multiple);
	traits->of[UM_TRAIT_MEMORY] = traits->memory;
	traits->of[UM_TRAIT_POLICY] = traits->policy;
	return 0;
}

/* "kernels=scale*; launches=10..20", or "none": which launches the figures are of. UM_ENOMEM. */
static int find_selection(struct traits *traits, const struct um_summary *summary)
{
	size_t bytes;
	FILE *text;

	traits->of[UM_TRAIT_SELECTION] = "none";
	if (!summary->criterion_count)
		return 0;
	text = open_memstream(&traits->selection, &bytes);
	if (!text)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < summary->criterion_count; i++)
		fprintf(text, "%s%s=%s", i ? "; " : "", summary->criteria[i].criterion,
			summary->criteria[i].value);
	if (fclose(text) != 0)
		return um_fail(UM_ENOMEM, "out of memory");
	traits->of[UM_TRAIT_SELECTION] = traits->selection;
	return 0;
}

static int find_traits(struct traits *traits, const struct um_summary *summary)
{
	const struct um_run_row *run = &summary->run;
	bool measured = summary->is_measured;
	const char *device = summary->device_count ? summary->devices[0].name : NULL;
	const char *watch = run->host_watch;

	*traits = (struct traits){
		.of = {
			[UM_TRAIT_ROLE] = run->role,
			[UM_TRAIT_BACKEND] = run->backend,
			[UM_TRAIT_MACHINE] = measured ? device : run->machine,
			[UM_TRAIT_MACHINE_FILE] = run->machine_text,
			[UM_TRAIT_DRIVER] = measured ? run->driver_version : run->driver,
			[UM_TRAIT_SETTINGS] = run->driver_parameters,
			[UM_TRAIT_XNACK] = run->xnack,
			[UM_TRAIT_POLICY] = run->policy,
			[UM_TRAIT_FAULTS] = origin(summary, "fault"),
			[UM_TRAIT_HOST_FAULTS] = origin(summary, "fault.host"),
			[UM_TRAIT_MIGRATIONS] = origin(summary, "migration"),
			[UM_TRAIT_REMOTE] = origin(summary, "remote_access"),
			[UM_TRAIT_COPIES] = origin(summary, "copy_traffic"),
		}};
	if (watch)
		traits->of[UM_TRAIT_HOST_WATCH] = strcmp(watch, "none") == 0 ? "no" : "yes";
	traits->of[UM_TRAIT_PAGE_SIZE] = number(traits->page, run->page_bytes);
	traits->of[UM_TRAIT_MEMORY] = number(traits->memory, run->memory_bytes);
	traits->of[UM_TRAIT_JOB] = job(traits->job, run);
	int error = find_selection(traits, summary);
	return error ? error : compare_memory_by_multiple(traits, run->policy);
}

/* --- groups --- */

static bool is_other(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static bool belongs(const struct um_rank_group *group, const struct traits *traits,
		    const struct um_summary *summary)
{
	if (group->is_unranked != (summary->run.rank == UM_NULL))
		return false;
	for (size_t i = 0; i < UM_RANKS_TRAITS; i++)
		if (is_other(group->traits[i], traits->of[i]))
			return false;
	return true;
}

/* What the files before it did not tell, this one may. */
static int keep_traits(struct um_ranks *ranks, struct um_rank_group *group,
		       const struct traits *traits)
{
	int error = 0;

	for (size_t i = 0; i < UM_RANKS_TRAITS && !error; i++) {
		if (group->traits[i] || !traits->of[i])
			continue;
		group->traits[i] = traits->of[i];
		error = um_text_pool_keep(ranks->texts, &group->traits[i]);
	}
	for (size_t i = 0; i < UM_RANKS_TRAITS; i++)
		if (is_other(group->traits[i], ranks->groups[0].traits[i]))
			group->differs |= UINT32_C(1) << i;
	return error;
}

static struct um_rank_group *begin_group(struct um_ranks *ranks, const struct um_summary *summary)
{
	struct um_rank_group *group =
		um_query_append(&ranks->groups, &ranks->count, sizeof(*group));

	if (!group)
		return NULL;
	group->is_measured = summary->is_measured;
	group->is_simulation = strcmp(summary->run.role, "simulation") == 0;
	group->is_unranked = summary->run.rank == UM_NULL;
	group->is_job_guessed = !group->is_unranked && !summary->run.job;
	group->ranks_of_job = summary->run.ranks;
	group->command = summary->run.command;
	return um_text_pool_keep(ranks->texts, &group->command) ? NULL : group;
}

static struct um_rank_group *find_group(struct um_ranks *ranks, const struct um_summary *summary,
					const struct traits *traits)
{
	struct um_rank_group *group = NULL;

	for (size_t i = 0; i < ranks->count && !group; i++)
		if (belongs(&ranks->groups[i], traits, summary))
			group = &ranks->groups[i];
	if (!group)
		group = begin_group(ranks, summary);
	return group && keep_traits(ranks, group, traits) == 0 ? group : NULL;
}

struct um_rank_group *um_ranks_group(struct um_ranks *ranks, const struct um_summary *summary)
{
	struct um_rank_group *group = NULL;
	struct traits traits;

	if (find_traits(&traits, summary) == 0)
		group = find_group(ranks, summary, &traits);
	free(traits.policy);
	free(traits.selection);
	if (!group)
		return NULL;
	/* A size that one launcher's variable did not have, another's may. */
	if (group->ranks_of_job == UM_NULL)
		group->ranks_of_job = summary->run.ranks;
	group->is_measured |= summary->is_measured;
	return group;
}
