#include "render_ranks.h"

#include "render_json.h"
#include "trace/base/error.h"

#include <math.h>
#include <stdbool.h>

/* Takes the value; false: there was no memory for it. */
static bool put(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) == 0;
}

static json_t *finished(json_t *object, bool good)
{
	if (good)
		return object;
	json_decref(object);
	return NULL;
}

/* Appends; false: there was no memory for it. */
static bool append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) == 0;
}

/* "rank" where there is one; "path" tells always. */
static json_t *place_json(const struct um_rank_group *group, const struct um_extent *extent,
			  size_t at)
{
	if (!extent->known)
		return json_null();
	return json_pack("{s:o, s:o}", "rank", um_integer_json(group->ranks[at].rank), "path",
			 um_text_json(group->ranks[at].path));
}

static json_t *extent_json(const struct um_rank_group *group, const struct um_extent *extent,
			   bool has_median)
{
	json_t *object = json_object();
	bool good = put(object, "sum", um_integer_json(extent->sum)) &&
		    put(object, "known_of_ranks", json_integer((json_int_t)extent->known)) &&
		    put(object, "least", um_integer_json(extent->least)) &&
		    put(object, "least_of", place_json(group, extent, extent->least_at)) &&
		    (!has_median || put(object, "median", um_integer_json(extent->median))) &&
		    put(object, "most", um_integer_json(extent->most)) &&
		    put(object, "most_of", place_json(group, extent, extent->most_at));

	return finished(object, good);
}

static json_t *rank_json(const struct um_rank *rank)
{
	json_t *object = json_object();
	bool good = put(object, "rank", um_integer_json(rank->rank)) &&
		    put(object, "host", um_nullable_text_json(rank->host)) &&
		    put(object, "pid", um_integer_json(rank->pid)) &&
		    put(object, "path", um_text_json(rank->path)) &&
		    put(object, "command", um_text_json(rank->command)) &&
		    put(object, "started", um_nullable_text_json(rank->started)) &&
		    put(object, "ended", um_text_json(rank->ended)) &&
		    put(object, "exit_status", um_integer_json(rank->exit_status)) &&
		    put(object, "exit_signal", um_integer_json(rank->exit_signal)) &&
		    put(object, "losses", json_integer((json_int_t)rank->losses));

	for (const struct um_ranks_quantity *quantity = um_rank_quantities; good && quantity->name;
	     quantity++)
		good = put(
			object, quantity->name,
			um_integer_json(*(const int64_t *)((const char *)rank + quantity->offset)));
	return finished(object, good);
}

static json_t *ranks_json(const struct um_rank_group *group)
{
	json_t *array = json_array();
	bool good = true;

	for (size_t i = 0; i < group->count && good; i++)
		good = append(array, rank_json(&group->ranks[i]));
	return finished(array, good);
}

static json_t *totals_json(const struct um_rank_group *group)
{
	json_t *object = json_object();
	bool good = true;

	for (size_t i = 0; um_rank_quantities[i].name && good; i++)
		good = put(object, um_rank_quantities[i].name,
			   extent_json(group, &group->extents[i], true));
	return finished(object, good);
}

static json_t *outliers_json(const struct um_rank_group *group)
{
	json_t *array = json_array();
	bool good = true;

	for (size_t i = 0; i < group->outlier_count && good; i++) {
		const struct um_ranks_outlier *outlier = &group->outliers[i];
		const struct um_rank *rank = &group->ranks[outlier->at];

		good = append(array,
			      json_pack("{s:o, s:o, s:s, s:I, s:I, s:o}", "rank",
					um_integer_json(rank->rank), "path",
					um_text_json(rank->path), "figure", outlier->quantity->name,
					"value", (json_int_t)outlier->value, "median",
					(json_int_t)outlier->median, "deviations",
					isfinite(outlier->deviations)
						? json_real(outlier->deviations)
						: json_null()));
	}
	return finished(array, good);
}

static json_t *item_json(const struct um_rank_group *group, const struct um_ranks_item *item,
			 const struct um_ranks_quantity *quantities, bool is_kernel)
{
	json_t *object = json_object();
	bool good = put(object, "name", um_nullable_text_json(item->name)) &&
		    (is_kernel || (put(object, "site", um_nullable_text_json(item->site)) &&
				   put(object, "kind", um_nullable_text_json(item->kind)))) &&
		    put(object, "ranks", json_integer((json_int_t)item->ranks));

	for (size_t i = 0; quantities[i].name && good; i++)
		good = put(object, quantities[i].name,
			   extent_json(group, &item->extents[i], false));
	return finished(object, good);
}

static json_t *items_json(const struct um_rank_group *group, const struct um_ranks_items *items,
			  const struct um_ranks_quantity *quantities, bool is_kernel)
{
	json_t *array = json_array();
	bool good = true;

	for (size_t i = 0; i < items->count && good; i++)
		good = append(array, item_json(group, items->items[i], quantities, is_kernel));
	return finished(array, good);
}

static json_t *missing_json(const struct um_rank_group *group)
{
	json_t *array = json_array();
	bool good = true;

	for (size_t i = 0; i < group->gap_count && good; i++)
		good = append(array,
			      json_pack("{s:I, s:I}", "first", (json_int_t)group->gaps[i].first,
					"last", (json_int_t)group->gaps[i].last));
	return finished(array, good);
}

/* What is alike in all of them, which is what tells kinds apart. */
static json_t *traits_json(const struct um_rank_group *group)
{
	json_t *object = json_object();
	bool good = true;

	for (size_t i = 0; i < UM_RANKS_TRAITS && good; i++)
		good = put(object, um_ranks_traits[i].name,
			   um_nullable_text_json(group->traits[i]));
	return finished(object, good);
}

static json_t *differs_json(const struct um_rank_group *group)
{
	json_t *array = json_array();
	bool good = true;

	for (size_t i = 0; i < UM_RANKS_TRAITS && good; i++)
		if (group->differs >> i & 1)
			good = append(array, json_string(um_ranks_traits[i].name));
	return finished(array, good);
}

static json_t *group_json(const struct um_rank_group *group)
{
	json_t *object = json_object();
	bool good = put(object, "command", um_text_json(group->command)) &&
		    put(object, "commands", json_integer((json_int_t)group->commands)) &&
		    put(object, "hosts", json_integer((json_int_t)group->hosts)) &&
		    put(object, "is_measured", json_boolean(group->is_measured)) &&
		    put(object, "traits", traits_json(group)) &&
		    put(object, "differs_from_the_first_in", differs_json(group)) &&
		    put(object, "is_job_guessed", json_boolean(group->is_job_guessed)) &&
		    put(object, "ranks_of_job", um_integer_json(group->ranks_of_job)) &&
		    put(object, "missing_ranks", json_integer((json_int_t)group->missing)) &&
		    put(object, "missing", missing_json(group)) &&
		    put(object, "ranks", ranks_json(group)) &&
		    put(object, "totals", totals_json(group)) &&
		    put(object, "outliers", outliers_json(group)) &&
		    put(object, "kernels",
			items_json(group, &group->kernels, um_ranks_kernel_quantities, true)) &&
		    put(object, "allocations",
			items_json(group, &group->allocations, um_ranks_allocation_quantities,
				   false)) &&
		    put(object, "parts",
			items_json(group, &group->parts, um_ranks_allocation_quantities, false)) &&
		    put(object, "launches", um_integer_json(group->launches)) &&
		    put(object, "launches_recorded", um_integer_json(group->recorded));

	return finished(object, good);
}

static json_t *all_json(const struct um_ranks *ranks)
{
	json_t *object = json_object(), *groups = json_array();
	bool good = true;

	for (size_t i = 0; i < ranks->count && good; i++)
		good = append(groups, group_json(&ranks->groups[i]));
	if (!put(object, "kinds", finished(groups, good)))
		good = false;
	return finished(object, good && put(object, "range", um_nullable_text_json(ranks->range)) &&
					put(object, "files_without_range",
					    json_integer((json_int_t)ranks->without_range)));
}

int um_render_ranks_json(FILE *out, const struct um_ranks *ranks)
{
	json_t *json = all_json(ranks);

	if (!json)
		return um_fail(UM_ENOMEM, "out of memory");
	int failed = json_dumpf(json, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
	json_decref(json);
	return failed ? um_fail_errno(UM_EIO, "writing") : 0;
}
