#include "skip_frames.h"

#include <stdbool.h>
#include <string.h>

/* fnmatch() takes a set that does not end for the character '[', which nobody means. */
static bool ends_its_sets(const char *pattern)
{
	for (const char *at = pattern; *at; at++) {
		if (*at == '\\' && at[1]) {
			at++;
			continue;
		}
		if (*at != '[')
			continue;
		at++;
		at += *at == '!' || *at == '^';
		/* A ']' that comes first is of the set. */
		at = strchr(*at ? at + 1 : at, ']');
		if (!at)
			return false;
	}
	return true;
}

void um_skip_frames_add(struct um_skip_frames *skip, const char *pattern, struct argp_state *state)
{
	if (!*pattern)
		argp_error(state, "--skip-frames: an empty pattern is like no frame");
	if (!ends_its_sets(pattern))
		argp_error(state,
			   "--skip-frames: \"%s\": a '[' without its ']'; a '[' itself is \"\\[\"",
			   pattern);
	if (skip->count == UM_SKIP_FRAMES_MAX)
		argp_error(state, "--skip-frames: more than %d patterns", UM_SKIP_FRAMES_MAX);
	skip->patterns[skip->count++] = pattern;
}
