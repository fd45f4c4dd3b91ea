#include "page_state.h"

#include <hip/hip_runtime_api.h>

#include <stdlib.h>
#include <string.h>

struct run {
	uint64_t first; /* to the first of the next run, or to the end */
	struct um_page_advice advice;
};

struct um_page_state {
	uint64_t pages;
	size_t count, capacity;
	struct run *run; /* ascending, the first at 0 */
};

struct um_page_advice um_page_advice_none(void)
{
	return (struct um_page_advice){
		.preferred = hipInvalidDeviceId,
		.prefetched = hipInvalidDeviceId,
	};
}

struct um_page_state *um_page_state_new(uint64_t pages)
{
	struct um_page_state *state = calloc(1, sizeof(*state));
	struct run *run = calloc(8, sizeof(*run));

	if (!state || !run) {
		free(state);
		free(run);
		return NULL;
	}
	run[0].advice = um_page_advice_none();
	*state = (struct um_page_state){pages, 1, 8, run};
	return state;
}

void um_page_state_free(struct um_page_state *state)
{
	if (!state)
		return;
	free(state->run);
	free(state);
}

static bool reserve(struct um_page_state *state, size_t count)
{
	if (count <= state->capacity)
		return true;
	struct run *grown = realloc(state->run, 2 * count * sizeof(*grown));

	if (!grown)
		return false;
	state->run = grown;
	state->capacity = 2 * count;
	return true;
}

/* Index of the run that holds `page`. */
static size_t run_of(const struct um_page_state *state, uint64_t page)
{
	size_t low = 0, high = state->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (state->run[middle].first <= page)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Makes a run begin at `page` and returns its index; there is room. */
static size_t split(struct um_page_state *state, uint64_t page)
{
	size_t at = run_of(state, page);

	if (state->run[at].first == page)
		return at;
	memmove(state->run + at + 2, state->run + at + 1,
		(state->count - at - 1) * sizeof(*state->run));
	state->run[at + 1] = (struct run){page, state->run[at].advice};
	state->count++;
	return at + 1;
}

static bool same(const struct um_page_advice *a, const struct um_page_advice *b)
{
	return a->preferred == b->preferred && a->prefetched == b->prefetched &&
	       a->accessed_by == b->accessed_by && a->accessed_by_host == b->accessed_by_host &&
	       a->read_mostly == b->read_mostly && a->coarse_grain == b->coarse_grain;
}

static void join_equal(struct um_page_state *state)
{
	size_t kept = 0;

	for (size_t i = 1; i < state->count; i++)
		if (!same(&state->run[kept].advice, &state->run[i].advice))
			state->run[++kept] = state->run[i];
	state->count = kept + 1;
}

bool um_page_state_change(struct um_page_state *state, uint64_t first, uint64_t pages,
			  void (*change)(struct um_page_advice *, int32_t), int32_t argument)
{
	if (!reserve(state, state->count + 2))
		return false;
	size_t from = split(state, first);
	size_t to = first + pages < state->pages ? split(state, first + pages) : state->count;

	for (size_t i = from; i < to; i++)
		change(&state->run[i].advice, argument);
	join_equal(state);
	return true;
}

void um_page_state_look(const struct um_page_state *state, uint64_t first, uint64_t pages,
			void (*see)(const struct um_page_advice *, void *), void *context)
{
	for (size_t i = run_of(state, first);
	     i < state->count && state->run[i].first < first + pages; i++)
		see(&state->run[i].advice, context);
}
