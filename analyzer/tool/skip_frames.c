#include "skip_frames.h"

void um_skip_frames_add(struct um_skip_frames *skip, const char *pattern, struct argp_state *state)
{
	if (!*pattern)
		argp_error(state, "--skip-frames: an empty pattern is like no frame");
	if (skip->count == UM_SKIP_FRAMES_MAX)
		argp_error(state, "--skip-frames: more than %d patterns", UM_SKIP_FRAMES_MAX);
	skip->patterns[skip->count++] = pattern;
}
