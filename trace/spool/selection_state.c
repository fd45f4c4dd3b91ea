#include "selection_state.h"

#include <stdlib.h>
#include <string.h>

/* A kernel that was launched: there are as many as the program's code has. */
struct um_selected_kernel {
	struct um_selected_kernel *next; /* of the bucket */
	uint64_t launches;
	bool is_taken; /* by its name */
	char symbol[];
};

void um_selection_begin(struct um_selection_state *state, const char *text,
			char *(*demangle)(const char *symbol))
{
	*state = (struct um_selection_state){
		.text = text,
		.demangle = demangle,
		.is_off = um_selection_has(text, UM_SELECT_PROFILE_FROM_START),
	};
}

void um_selection_end(struct um_selection_state *state)
{
	for (unsigned i = 0; i < UM_SELECTION_BUCKETS; i++)
		while (state->kernels[i]) {
			struct um_selected_kernel *next = state->kernels[i]->next;

			free(state->kernels[i]);
			state->kernels[i] = next;
		}
}

/* --- kernels --- */

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static bool takes(const struct um_selection_state *state, const char *symbol)
{
	if (!um_selection_has(state->text, UM_SELECT_KERNELS) &&
	    !um_selection_has(state->text, UM_SELECT_EXCLUDE_KERNELS))
		return true;
	char *name = state->demangle(symbol);
	bool is_taken = um_selection_takes_kernel(state->text, name ? name : symbol);

	free(name);
	return is_taken;
}

/* NULL: no memory. */
static struct um_selected_kernel *know(struct um_selection_state *state, const char *symbol)
{
	struct um_selected_kernel **bucket =
		&state->kernels[hash_of(symbol) % UM_SELECTION_BUCKETS];
	struct um_selected_kernel *kernel = *bucket;
	size_t bytes = strlen(symbol) + 1;

	while (kernel && strcmp(kernel->symbol, symbol) != 0)
		kernel = kernel->next;
	if (kernel || !(kernel = calloc(1, sizeof(*kernel) + bytes)))
		return kernel;
	memcpy(kernel->symbol, symbol, bytes);
	kernel->is_taken = takes(state, symbol);
	kernel->next = *bucket;
	return *bucket = kernel;
}

/* --- the profiler's switch --- */

static unsigned place_of(const struct um_selection_state *state, uint32_t thread)
{
	unsigned at = 0;

	while (at < state->paused_count && state->paused[at] != thread)
		at++;
	return at;
}

void um_selection_switch(struct um_selection_state *state, bool on, uint32_t thread)
{
	unsigned at = place_of(state, thread);
	bool is_paused = at < state->paused_count;

	if (!thread) {
		state->is_off = !on;
		state->paused_count = on ? 0 : state->paused_count;
	} else if (on && is_paused) {
		state->paused[at] = state->paused[--state->paused_count];
	} else if (!on && !is_paused && at < UM_SELECTION_THREADS) {
		state->paused[state->paused_count++] = thread;
	}
}

bool um_selection_is_on(const struct um_selection_state *state, uint32_t thread)
{
	return !state->is_off && place_of(state, thread) == state->paused_count;
}

/* --- launches --- */

bool um_selection_launch(struct um_selection_state *state, const char *symbol, uint32_t thread,
			 bool in_range)
{
	struct um_selected_kernel *kernel = *state->text ? know(state, symbol) : NULL;

	state->launches++;
	if (!um_selection_is_on(state, thread))
		in_range = false;
	else if (!um_selection_has(state->text, UM_SELECT_RANGES))
		in_range = true;
	if (!kernel)
		return in_range;
	kernel->launches++;
	return in_range && kernel->is_taken &&
	       um_selection_takes_launch(state->text, state->launches, kernel->launches);
}
