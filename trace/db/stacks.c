#include "stacks.h"

#include "runtime_frames.h"
#include "stacks_private.h"

#include "trace/base/error.h"
#include "trace/base/kernel_name.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

bool um_stacks_room(void *array, size_t count, size_t *capacity, size_t item_bytes)
{
	void *items;

	if (count < *capacity)
		return true;
	size_t wanted = *capacity ? 2 * *capacity : 64;
	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, wanted, item_bytes);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*capacity = wanted;
	return true;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Modules, files and functions come again and again. False: out of memory. */
static bool keep(struct um_stacks *stacks, const char **text)
{
	if (!*text)
		return true;
	char *const *known = tfind(*text, &stacks->texts, compare_texts);
	if (known) {
		*text = *known;
		return true;
	}
	char *copy = strdup(*text);

	if (!copy || !tsearch(copy, &stacks->texts, compare_texts)) {
		free(copy);
		return false;
	}
	*text = copy;
	return true;
}

/* --- which frames are to be left out --- */

static bool matches(const char *pattern, const char *text)
{
	const char *slash = strrchr(text, '/');

	return fnmatch(pattern, text, 0) == 0 || (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

static bool matches_part(const char *pattern, const char *text, size_t length)
{
	char *part = strndup(text, length);
	bool found = part && fnmatch(pattern, part, 0) == 0;

	free(part);
	return found;
}

static bool function_matches(const char *pattern, const char *function)
{
	struct um_kernel_name name = um_kernel_name(function);

	return fnmatch(pattern, function, 0) == 0 ||
	       matches_part(pattern, name.start, name.length) ||
	       matches_part(pattern, name.start, name.bare_length);
}

static bool is_named(const struct um_stack_frame *frame, const char *const *skip)
{
	for (; skip && *skip; skip++)
		if ((frame->function && function_matches(*skip, frame->function)) ||
		    (frame->file && matches(*skip, frame->file)) || matches(*skip, frame->module))
			return true;
	return false;
}

/* --- reading --- */

struct loading {
	struct um_stacks *stacks;
	const char *const *skip;
	size_t site; /* whose frames come */
};

static int add_site(const void *row, void *context)
{
	const struct um_site_row *site = row;
	struct um_stacks *stacks = ((struct loading *)context)->stacks;
	bool has_parent = site->parent != UM_NULL && site->parent < site->site;

	if (!um_stacks_room(&stacks->sites, stacks->site_count, &stacks->site_capacity,
			    sizeof(*stacks->sites)))
		return out_of_memory();
	stacks->sites[stacks->site_count++] = (struct um_stacks_site){
		.site = site->site, .parent = has_parent ? site->parent : UM_NULL};
	return 0;
}

/* Both tables come in the order of the sites. */
static struct um_stacks_site *site_of_frame(struct loading *loading, int64_t site)
{
	struct um_stacks *stacks = loading->stacks;

	while (loading->site < stacks->site_count && stacks->sites[loading->site].site < site)
		loading->site++;
	return loading->site < stacks->site_count && stacks->sites[loading->site].site == site
		       ? &stacks->sites[loading->site]
		       : NULL;
}

static int add_frame(const void *row, void *context)
{
	const struct um_frame_row *frame = row;
	struct loading *loading = context;
	struct um_stacks *stacks = loading->stacks;
	struct um_stacks_site *site = site_of_frame(loading, frame->site);
	struct um_stack_frame added = {
		.module = frame->module,
		.offset_bytes = frame->offset_bytes,
		.function = frame->function,
		.file = frame->file,
		.line = frame->line,
		.inlined = frame->inlined != 0,
	};

	if (!site)
		return 0;
	if (!keep(stacks, &added.module) || !keep(stacks, &added.function) ||
	    !keep(stacks, &added.file) ||
	    !um_stacks_room(&stacks->frames, stacks->frame_count, &stacks->frame_capacity,
			    sizeof(*stacks->frames)))
		return out_of_memory();
	added.skipped = is_named(&added, loading->skip) || um_is_library_frame(&added);
	if (site->frames++ == 0)
		site->first_frame = stacks->frame_count;
	stacks->frames[stacks->frame_count++] = added;
	return 0;
}

int um_stacks_load(struct um_stacks **out, struct um_db *db, const char *const *skip)
{
	struct um_stacks *stacks = calloc(1, sizeof(*stacks));
	struct loading loading = {.stacks = stacks, .skip = skip};

	*out = NULL;
	if (!stacks)
		return out_of_memory();
	int error = um_db_each(db, &um_table_site, NULL, 0, add_site, &loading);
	if (!error)
		error = um_db_each(db, &um_table_frame, NULL, 0, add_frame, &loading);
	if (!error)
		error = um_stacks_find_wrappers(stacks, db);
	if (error) {
		um_stacks_destroy(stacks);
		return error;
	}
	*out = stacks;
	return 0;
}

void um_stacks_destroy(struct um_stacks *stacks)
{
	if (!stacks)
		return;
	tdestroy(stacks->texts, free);
	free(stacks->sites);
	free(stacks->frames);
	free(stacks->functions);
	free(stacks);
}

/* --- asking --- */

static int compare_sites(const void *key, const void *item)
{
	int64_t wanted = *(const int64_t *)key, site = ((const struct um_stacks_site *)item)->site;

	return (wanted > site) - (wanted < site);
}

size_t um_stacks_frames(const struct um_stacks *stacks, int64_t site,
			const struct um_stack_frame **frames, size_t capacity)
{
	size_t count = 0;

	while (site != UM_NULL && stacks->site_count && count < capacity) {
		const struct um_stacks_site *found =
			bsearch(&site, stacks->sites, stacks->site_count, sizeof(*stacks->sites),
				compare_sites);

		if (!found)
			break;
		for (size_t i = 0; i < found->frames && count < capacity; i++)
			frames[count++] = stacks->frames + found->first_frame + i;
		site = found->parent;
	}
	return count;
}

char *um_stack_frame_text(const struct um_stack_frame *frame)
{
	char *text = NULL;
	int wrote;

	if (frame->file && frame->line != UM_NULL)
		wrote = asprintf(&text, "%s:%" PRId64, frame->file, frame->line);
	else if (frame->function)
		wrote = asprintf(&text, "%s", frame->function);
	else if (!*frame->module)
		wrote = asprintf(&text, "address 0x%" PRIx64, (uint64_t)frame->offset_bytes);
	else
		wrote = asprintf(&text, "%s+0x%" PRIx64, frame->module,
				 (uint64_t)frame->offset_bytes);
	return wrote < 0 ? NULL : text;
}
