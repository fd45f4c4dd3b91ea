/* What the files of stacks.h share. */
#ifndef UM_STACKS_PRIVATE_H
#define UM_STACKS_PRIVATE_H

#include "stacks.h"

struct um_stacks_site {
	int64_t site, parent; /* parent: below site; UM_NULL: none */
	size_t first_frame, frames;
};

/* A function in which calls of a kind stand. */
struct um_stacks_wrapper;

struct um_stacks {
	struct um_stacks_site *sites; /* ascending */
	size_t site_count, site_capacity;
	struct um_stack_frame *frames; /* in the order of their sites */
	size_t frame_count, frame_capacity;
	void *texts;			     /* each once: a tree by tsearch() */
	struct um_stacks_wrapper *functions; /* sorted */
	size_t function_count, function_capacity;
};

/* *array with room for one more; false when out of memory. */
bool um_stacks_room(void *array, size_t count, size_t *capacity, size_t item_bytes);
/* Notes in which functions which kinds of calls stand; stacks_user.c. UM_ENOMEM. */
int um_stacks_find_wrappers(struct um_stacks *, struct um_db *);
/* Whether a frame is the user's own source, as far as that is to be seen. */
bool um_stacks_is_candidate(const struct um_stack_frame *);

#endif
