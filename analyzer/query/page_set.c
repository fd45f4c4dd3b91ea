#include "page_set.h"

#include "query.h"
#include "trace/base/error.h"

#include <stdbool.h>
#include <stdlib.h>

struct set {
	int64_t allocation, pages, count; /* count: of its pages that are in */
	uint64_t *words;		  /* bit i of word w: page 64 w + i; NULL: it was dropped */
};

/* Ascending by allocation; numbers are in program order, so that new ones mostly go to the end. */
struct um_page_sets {
	struct set *sets;
	size_t count;
};

int um_page_sets_create(struct um_page_sets **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

void um_page_sets_destroy(struct um_page_sets *sets)
{
	if (!sets)
		return;
	for (size_t i = 0; i < sets->count; i++)
		free(sets->sets[i].words);
	free(sets->sets);
	free(sets);
}

/* The place of the first that is not below. */
static size_t place_of(const struct um_page_sets *sets, int64_t allocation)
{
	size_t low = 0, high = sets->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sets->sets[middle].allocation < allocation)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct set *find(const struct um_page_sets *sets, int64_t allocation)
{
	size_t place = place_of(sets, allocation);

	return place < sets->count && sets->sets[place].allocation == allocation
		       ? &sets->sets[place]
		       : NULL;
}

static struct set *make(struct um_page_sets *sets, int64_t allocation)
{
	size_t place = place_of(sets, allocation);

	if (!um_query_append(&sets->sets, &sets->count, sizeof(*sets->sets)))
		return NULL;
	for (size_t i = sets->count - 1; i > place; i--)
		sets->sets[i] = sets->sets[i - 1];
	sets->sets[place] = (struct set){.allocation = allocation};
	return &sets->sets[place];
}

static int want_words(struct set *set, int64_t all)
{
	if (set->words)
		return 0;
	set->words = calloc((size_t)(all + 63) / 64, sizeof(*set->words));
	set->pages = all;
	set->count = 0;
	return set->words ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

/* Sets or clears the bits of [first, end); returns how many changed. */
static int64_t change(struct set *set, int64_t first, int64_t end, bool to)
{
	int64_t changed = 0;

	for (int64_t page = first; page < end;) {
		int64_t word = page / 64, next = (word + 1) * 64 < end ? (word + 1) * 64 : end;
		int64_t bits = next - page;
		uint64_t mask = (bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1)
				<< (page % 64);
		uint64_t before = set->words[word];

		set->words[word] = to ? before | mask : before & ~mask;
		changed += __builtin_popcountll(before ^ set->words[word]);
		page = next;
	}
	set->count += to ? changed : -changed;
	return changed;
}

/* Cuts [*first, *end) down to what the set can hold. */
static bool cut(const struct set *set, int64_t first, int64_t pages, int64_t *end)
{
	if (first < 0 || pages < 1 || first >= set->pages)
		return false;
	*end = pages < set->pages - first ? first + pages : set->pages;
	return true;
}

int um_page_sets_add(struct um_page_sets *sets, int64_t allocation, int64_t all, int64_t first,
		     int64_t pages, int64_t *changed)
{
	struct set *set = find(sets, allocation);
	int64_t end;
	int error;

	*changed = 0;
	if (!set)
		set = make(sets, allocation);
	if (!set)
		return UM_ENOMEM;
	error = want_words(set, all > 0 ? all : 1);
	if (!error && cut(set, first, pages, &end))
		*changed = change(set, first, end, true);
	return error;
}

int64_t um_page_sets_take(struct um_page_sets *sets, int64_t allocation, int64_t first,
			  int64_t pages)
{
	struct set *set = find(sets, allocation);
	int64_t end;

	if (!set || !set->words || !cut(set, first, pages, &end))
		return 0;
	return change(set, first, end, false);
}

int64_t um_page_sets_drop(struct um_page_sets *sets, int64_t allocation)
{
	struct set *set = find(sets, allocation);
	int64_t count = set ? set->count : 0;

	if (set) {
		free(set->words);
		set->words = NULL;
		set->count = 0;
	}
	return count;
}
