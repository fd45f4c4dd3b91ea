/* --skip-frames PATTERN, as often as wanted, for every command that shows lines. */
#ifndef UM_SKIP_FRAMES_H
#define UM_SKIP_FRAMES_H

#include <argp.h>
#include <stddef.h>

#define UM_SKIP_FRAMES_MAX 64

struct um_skip_frames {
	const char *patterns[UM_SKIP_FRAMES_MAX + 1]; /* ends with NULL */
	size_t count;
};

#define UM_SKIP_FRAMES_OPTION                                                                      \
	{                                                                                          \
		"skip-frames", 's', "PATTERN", 0,                                                  \
			"a call is its caller's where its function (with its scope: "              \
			"'pool::*'), file or library is like PATTERN; may be given more "          \
			"than once",                                                               \
			0                                                                          \
	}

/* Takes one, or ends with argp_error(). */
void um_skip_frames_add(struct um_skip_frames *, const char *pattern, struct argp_state *);

#endif
