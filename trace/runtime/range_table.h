/*
 * Ranges that were started and have not been stopped, by their ids: to put one in and to take it out
 * take a constant time, however many are open and in whatever order they end. Not for several threads
 * at once.
 */
#ifndef UM_RANGE_TABLE_H
#define UM_RANGE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* First in what is kept; the table owns nothing. */
struct um_range_link {
	struct um_range_link *next;
	uint64_t id;
};

struct um_range_table { /* all zero is empty */
	struct um_range_link **places;
	size_t place_count; /* a power of two, or 0 */
	size_t count;
};

/* Returns 0, or -1 where there is no memory for the first: then it is not in. */
int um_range_table_put(struct um_range_table *, struct um_range_link *);
/* The last one of that id that was put in, and out of it; NULL: there is none. */
struct um_range_link *um_range_table_take(struct um_range_table *, uint64_t id);

#endif
