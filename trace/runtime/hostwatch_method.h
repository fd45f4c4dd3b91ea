/*
 * What the ways of watching the host have in common. hostwatch.c picks one and keeps the ranges;
 * a method knows only blocks: the ranges, with those that touch one another joined.
 *
 * The methods see the arena's program mapping by address. A method that returns false is in trouble
 * for good: hostwatch.c stops watching and says `um_hostwatch_trouble()`.
 */
#ifndef UM_HOSTWATCH_METHOD_H
#define UM_HOSTWATCH_METHOD_H

#include "hostwatch.h"

/* [first_page, end_page) of the arena. Lists of them ascend and do not overlap. */
struct um_watch_range {
	uint64_t first_page, end_page;
};
struct um_watch_blocks {
	const struct um_watch_range *block;
	size_t count;
};

/* Takes what was touched, ascending. Pages between two blocks may be among it. */
typedef void um_watch_emit(uint64_t first_page, uint64_t end_page, uint32_t touch);

struct um_watch_method {
	enum um_host_watch kind;
	const char *limits; /* what it does not see, for the trace; NULL: nothing worth saying */
	uint32_t threads;   /* of its own, in the program */
	/* Whether it works here: tries itself on pages of its own. */
	bool (*start)(void);
	/* A new block is armed at once; one that goes away is left as memory is that nobody
	 * watches. */
	bool (*add)(struct um_watch_range);
	bool (*remove)(struct um_watch_range);
	bool (*arm)(struct um_watch_blocks);
	/* Of some blocks, or parts of some, in the middle of an interval: arms what was touched. */
	bool (*rearm)(struct um_watch_blocks);
	/*
	 * What was touched since arm(), rearm() or add(). Whether more is seen until the next arm() is open.
	 */
	bool (*collect)(struct um_watch_blocks, um_watch_emit *);
	/* So that kernels run at full speed until arm(); NULL: they do anyway. */
	bool (*open)(struct um_watch_blocks);
	/* NULL: it does not see who touches. */
	bool (*touch)(uint64_t page, unsigned access, struct um_page_touch *touch);
	/* Before start(), where it does. */
	void (*ask_places)(void);
	/* In the child of a fork: closes descriptors, gives handlers back. */
	void (*child)(void);
};

extern const struct um_watch_method um_watch_wp_async;
extern const struct um_watch_method um_watch_uffd_sync;
extern const struct um_watch_method um_watch_mprotect;

/* Part of this interval is not known; watching goes on. */
void um_watch_note(const char *trouble);
char *um_watch_address(uint64_t page);

#endif
