#include "left_out.h"

#include "trace/base/error.h"
#include "trace/db/stacks.h"

#include <stdlib.h>
#include <string.h>

/* A site from which the program advises or prefetches. */
struct call_site {
	int64_t site;
	bool is_prefetch;
};

struct reading {
	struct call_site *sites;
	size_t count, capacity;
};

static int add_site(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct reading *reading = context;
	bool is_prefetch = strcmp(op->kind, "prefetch") == 0;

	if (op->site == UM_NULL)
		return 0;
	for (size_t i = reading->count; i-- > 0;)
		if (reading->sites[i].site == op->site &&
		    reading->sites[i].is_prefetch == is_prefetch)
			return 0;
	if (reading->count == reading->capacity) {
		size_t capacity = reading->capacity ? 2 * reading->capacity : 16;
		struct call_site *grown = reallocarray(reading->sites, capacity, sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory");
		reading->sites = grown;
		reading->capacity = capacity;
	}
	reading->sites[reading->count++] = (struct call_site){op->site, is_prefetch};
	return 0;
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* The user's frame of a call is where it stands, as umanalyze shows it. */
static int matches(bool *found, const struct um_stacks *stacks, const struct call_site *site,
		   const char *wanted)
{
	const struct um_stack_frame *frame =
		um_stacks_user(stacks, site->site, site->is_prefetch ? "prefetch" : "advise", NULL);
	char *place;

	*found = false;
	if (!frame)
		return 0;
	place = um_stack_frame_text(frame);
	if (!place)
		return um_fail(UM_ENOMEM, "out of memory");
	*found = um_site_matches(wanted, place);
	free(place);
	return 0;
}

static int find_sites(struct um_left_out *out, const struct um_policy *policy,
		      const struct reading *reading, const struct um_stacks *stacks,
		      const struct um_policy_without *without)
{
	size_t before = out->count;
	bool found;

	for (size_t i = 0; i < reading->count; i++) {
		int error = matches(&found, stacks, &reading->sites[i], without->site);

		if (error)
			return error;
		if (found)
			out->sites[out->count++] = reading->sites[i].site;
	}
	return out->count > before
		       ? 0
		       : um_fail_at(UM_EINVAL, policy->path, without->line, 0,
				    "without: the program neither advises nor prefetches at %.200s",
				    without->site);
}

int um_left_out_init(struct um_left_out *out, const struct um_policy *policy, struct um_db *trace)
{
	struct reading reading = {0};
	struct um_stacks *stacks = NULL;
	int error;

	*out = (struct um_left_out){0};
	if (!policy->without_count)
		return 0;
	error = um_db_each(trace, &um_table_op, "kind IN ('advise', 'prefetch') AND op > ?",
			   INT64_MIN, add_site, &reading);
	if (!error)
		error = um_stacks_load(&stacks, trace, NULL);
	if (!error)
		out->sites = calloc(reading.count * policy->without_count + 1, sizeof(*out->sites));
	if (!error && !out->sites)
		error = um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < policy->without_count && !error; i++)
		error = find_sites(out, policy, &reading, stacks, &policy->without[i]);
	if (!error)
		qsort(out->sites, out->count, sizeof(*out->sites), compare);
	um_stacks_destroy(stacks);
	free(reading.sites);
	return error;
}

void um_left_out_fini(struct um_left_out *out)
{
	free(out->sites);
}

bool um_left_out_has(const struct um_left_out *out, int64_t site)
{
	return out->count && site != UM_NULL &&
	       bsearch(&site, out->sites, out->count, sizeof(site), compare);
}
