#include "ranks.h"

#include "query.h"
#include "ranks_parts.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RANK(member) offsetof(struct um_rank, member)

const struct um_ranks_quantity um_rank_quantities[] = {
	{"time_ns", "time", "time", UM_RANKS_NS, RANK(time_ns)},
	{"kernels_ns", "GPU time", "GPU time of kernels", UM_RANKS_NS, RANK(kernels_ns)},
	{"launches", "launches", "launches", UM_RANKS_COUNT, RANK(launches)},
	{"device_faults", "GPU\nfaults", "page faults of the GPU", UM_RANKS_COUNT,
	 RANK(device_faults)},
	{"host_faults", "host\nfaults", "page faults of the host", UM_RANKS_COUNT,
	 RANK(host_faults)},
	{"migrated_to_device_bytes", "moved\nin", "moved in", UM_RANKS_BYTES,
	 RANK(moved_to_device)},
	{"migrated_to_host_bytes", "moved\nout", "moved out", UM_RANKS_BYTES, RANK(moved_to_host)},
	{"remote_to_device_bytes", "remote\nin", "remote in", UM_RANKS_BYTES,
	 RANK(remote_to_device)},
	{"remote_to_host_bytes", "remote\nout", "remote out", UM_RANKS_BYTES, RANK(remote_to_host)},
	{"remote_mappings", "remote\nmaps", "remote maps", UM_RANKS_COUNT, RANK(remote_mappings)},
	{"copied_to_device_bytes", "copied\nin", "copied in", UM_RANKS_BYTES,
	 RANK(copied_to_device)},
	{"copied_to_host_bytes", "copied\nout", "copied out", UM_RANKS_BYTES, RANK(copied_to_host)},
	{0},
};

struct um_ranks_seen {
	dev_t device;
	ino_t inode;
};

/* --- life --- */

int um_ranks_create(struct um_ranks **out, const struct um_summary_choice *choice)
{
	struct um_ranks *ranks = calloc(1, sizeof(*ranks));
	int error =
		ranks ? um_text_pool_create(&ranks->texts) : um_fail(UM_ENOMEM, "out of memory");

	*out = NULL;
	if (!error && choice && choice->range) {
		ranks->range = choice->range;
		error = um_text_pool_keep(ranks->texts, &ranks->range);
	}
	if (error)
		um_ranks_destroy(ranks);
	else
		*out = ranks;
	return error;
}

void um_ranks_destroy(struct um_ranks *ranks)
{
	if (!ranks)
		return;
	for (size_t i = 0; i < ranks->count; i++) {
		struct um_rank_group *group = &ranks->groups[i];

		um_ranks_free_items(&group->kernels);
		um_ranks_free_items(&group->allocations);
		um_ranks_free_items(&group->parts);
		free(group->ranks);
		free(group->gaps);
		free(group->outliers);
	}
	free(ranks->groups);
	free(ranks->seen);
	um_text_pool_destroy(ranks->texts);
	free(ranks);
}

/* --- one file --- */

/* What cannot be looked at is said when it is opened. */
static int note_seen(struct um_ranks *ranks, const char *path)
{
	struct stat status;
	struct um_ranks_seen *added;

	if (stat(path, &status) != 0)
		return 0;
	for (size_t i = 0; i < ranks->seen_count; i++)
		if (ranks->seen[i].device == status.st_dev && ranks->seen[i].inode == status.st_ino)
			return um_fail(UM_EEXIST, "%s is given twice", path);
	added = um_query_append(&ranks->seen, &ranks->seen_count, sizeof(*added));
	if (!added)
		return UM_ENOMEM;
	*added = (struct um_ranks_seen){status.st_dev, status.st_ino};
	return 0;
}

static int64_t time_of(const struct um_summary *summary)
{
	const struct um_run_row *run = &summary->run;
	int64_t time_ns;

	if (summary->chosen)
		return summary->chosen_ns;
	if (run->end_ns == UM_NULL || __builtin_sub_overflow(run->end_ns, run->start_ns, &time_ns))
		return UM_NULL;
	return time_ns < 0 ? UM_NULL : time_ns;
}

static void add_kernels(struct um_rank *rank, const struct um_summary *summary, bool is_timed)
{
	rank->launches = 0;
	rank->kernels_ns = is_timed ? 0 : UM_NULL;
	for (size_t i = 0; i < summary->kernel_count; i++) {
		const struct um_kernel_summary *kernel = &summary->kernels[i];

		rank->launches = um_ranks_sum(rank->launches, kernel->launches);
		rank->kernels_ns = um_ranks_sum(rank->kernels_ns, kernel->duration_ns);
	}
}

/* Of all causes but remote accesses and copies, which are no migrations. */
static void add_migrations(struct um_rank *rank, const struct um_summary *summary)
{
	rank->moved_to_device = rank->moved_to_host = 0;
	for (unsigned i = 0; i < UM_TRAFFIC_CAUSES; i++) {
		if (i == UM_TRAFFIC_REMOTE_ACCESS || i == UM_TRAFFIC_COPY)
			continue;
		rank->moved_to_device =
			um_ranks_sum(rank->moved_to_device, summary->traffic[i].bytes_to_device);
		rank->moved_to_host =
			um_ranks_sum(rank->moved_to_host, summary->traffic[i].bytes_to_host);
	}
}

static int fill_rank(struct um_rank *rank, const struct um_summary *summary, bool is_timed,
		     struct um_text_pool *texts)
{
	const struct um_run_row *run = &summary->run;

	*rank = (struct um_rank){
		.path = summary->path,
		.host = run->host,
		.command = run->command,
		.ended = run->ended,
		.started = run->started,
		.rank = run->rank,
		.pid = run->pid,
		.exit_status = run->exit_status,
		.exit_signal = run->exit_signal,
		.time_ns = time_of(summary),
		.device_faults = summary->device_faults.faults,
		.host_faults = summary->host_faults.faults,
		.remote_to_device = summary->traffic[UM_TRAFFIC_REMOTE_ACCESS].bytes_to_device,
		.remote_to_host = summary->traffic[UM_TRAFFIC_REMOTE_ACCESS].bytes_to_host,
		.copied_to_device = summary->traffic[UM_TRAFFIC_COPY].bytes_to_device,
		.copied_to_host = summary->traffic[UM_TRAFFIC_COPY].bytes_to_host,
		.remote_mappings = summary->is_measured ? summary->remote_mappings : UM_NULL,
		.losses = summary->loss_count,
		.file = rank->file,
	};
	add_kernels(rank, summary, is_timed);
	add_migrations(rank, summary);
	int error = um_text_pool_keep(texts, &rank->path);
	if (!error)
		error = um_text_pool_keep(texts, &rank->host);
	if (!error)
		error = um_text_pool_keep(texts, &rank->command);
	if (!error)
		error = um_text_pool_keep(texts, &rank->started);
	return error ? error : um_text_pool_keep(texts, &rank->ended);
}

static int add_summary(struct um_ranks *ranks, const struct um_summary *summary)
{
	struct um_rank_group *group = um_ranks_group(ranks, summary);
	struct um_rank *rank =
		group ? um_query_append(&group->ranks, &group->count, sizeof(*rank)) : NULL;

	if (!rank)
		return UM_ENOMEM;
	rank->file = ranks->files++;
	group->launches = um_ranks_sum(group->launches, summary->launches);
	group->recorded = um_ranks_sum(group->recorded, summary->recorded);
	int error =
		fill_rank(rank, summary, group->is_measured || group->is_simulation, ranks->texts);
	return error ? error : um_ranks_add_items(group, summary, rank->file, ranks->texts);
}

int um_ranks_add(struct um_ranks *ranks, const char *path, const struct um_summary_choice *choice)
{
	struct um_summary_choice brief = choice ? *choice : (struct um_summary_choice){0};
	struct um_summary *summary;
	struct um_db *db;
	int error = note_seen(ranks, path);

	if (!error)
		error = um_db_open(&db, path);
	if (error)
		return error;
	brief.brief = true;
	error = um_summary_load(&summary, db, &brief);
	um_db_close(db);
	if (error == UM_ENOENT && brief.range) {
		ranks->without_range++;
		return 0;
	}
	if (error)
		return error;
	error = add_summary(ranks, summary);
	um_summary_destroy(summary);
	return error;
}

/* --- after the last --- */

static int compare_ranks(const void *a, const void *b)
{
	const struct um_rank *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return (left->file > right->file) - (left->file < right->file);
}

static int refuse_twice(const struct um_rank_group *group)
{
	for (size_t i = 1; i < group->count && !group->is_unranked; i++)
		if (group->ranks[i].rank == group->ranks[i - 1].rank)
			return um_fail(UM_ENOTSUP,
				       "rank %" PRId64 " is there twice, in %s and %s, and nothing "
				       "in them tells their jobs apart: leave one out",
				       group->ranks[i].rank, group->ranks[i - 1].path,
				       group->ranks[i].path);
	return 0;
}

static int add_gap(struct um_rank_group *group, int64_t first, int64_t last)
{
	struct um_rank_gap *gap;

	if (first > last)
		return 0;
	gap = um_query_append(&group->gaps, &group->gap_count, sizeof(*gap));
	if (!gap)
		return UM_ENOMEM;
	*gap = (struct um_rank_gap){first, last};
	group->missing += last - first + 1;
	return 0;
}

static int find_gaps(struct um_rank_group *group)
{
	int64_t next = 0;
	int error = 0;

	if (group->is_unranked || group->ranks_of_job == UM_NULL)
		return 0;
	for (size_t i = 0; i < group->count && !error; i++) {
		int64_t rank = group->ranks[i].rank;

		if (rank < next || rank >= group->ranks_of_job)
			continue; /* a damaged file */
		error = add_gap(group, next, rank - 1);
		next = rank + 1;
	}
	return error ? error : add_gap(group, next, group->ranks_of_job - 1);
}

static size_t count_texts(const struct um_rank_group *group, size_t offset)
{
	size_t different = 0;

	for (size_t i = 0; i < group->count; i++) {
		const char *text = *(const char *const *)((const char *)&group->ranks[i] + offset);
		bool is_new = text != NULL;

		for (size_t before = 0; before < i && is_new; before++) {
			const char *other = *(
				const char *const *)((const char *)&group->ranks[before] + offset);

			is_new = !other || strcmp(other, text) != 0;
		}
		different += is_new;
	}
	return different;
}

/* Texts of one form, so that their order is that of the times. */
static void find_times(struct um_rank_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		const char *started = group->ranks[i].started;

		if (!started)
			continue;
		if (!group->first_started || strcmp(started, group->first_started) < 0)
			group->first_started = started;
		if (!group->last_started || strcmp(started, group->last_started) > 0)
			group->last_started = started;
	}
}

static int finish_group(struct um_rank_group *group, size_t *place)
{
	qsort(group->ranks, group->count, sizeof(*group->ranks), compare_ranks);
	int error = refuse_twice(group);

	if (!error)
		error = find_gaps(group);
	if (error)
		return error;
	for (size_t i = 0; i < group->count; i++)
		place[group->ranks[i].file] = i;
	group->command = group->ranks[0].command;
	group->driver = group->traits[UM_TRAIT_DRIVER];
	group->machine = group->traits[UM_TRAIT_MACHINE];
	group->commands = count_texts(group, offsetof(struct um_rank, command));
	group->hosts = count_texts(group, offsetof(struct um_rank, host));
	find_times(group);
	error = um_ranks_compare(group);
	um_ranks_finish_items(group, place);
	return error;
}

int um_ranks_finish(struct um_ranks *ranks)
{
	size_t *place = calloc(ranks->files + 1, sizeof(*place));
	int error = place ? 0 : um_fail(UM_ENOMEM, "out of memory");

	for (size_t i = 0; i < ranks->count && !error; i++)
		error = finish_group(&ranks->groups[i], place);
	free(place);
	if (!error && !ranks->count && ranks->without_range)
		error = um_fail(UM_ENOENT, "no file has a range that is called '%s'", ranks->range);
	return error;
}
