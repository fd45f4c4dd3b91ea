/*
 * What summary_named.c is made of: the names that the program gave to parts of allocations, each with what the
 * file tells of its pages. Not for the users of summary.h.
 */
#ifndef UM_SUMMARY_NAMED_H
#define UM_SUMMARY_NAMED_H

#include "interval_set.h"
#include "part_lives.h"
#include "summary.h"

#define UM_NAMED_PAGE_BYTES 4096

/* One name in one allocation, or what lies in none. */
struct um_named_group {
	struct um_allocation_summary *of; /* the allocation; NULL: it is not shown */
	const char *name;		  /* NULL: in none */
	struct um_part_summary sums;
	struct um_interval_set places, touched, shared; /* bytes, pages, pages */
	/* Of the row that is being shared out, while `row` is its number: */
	uint64_t row;
	int64_t units, covered_to;
};

struct um_naming {
	struct um_summary *summary;
	struct um_part_lives *lives;
	/* By allocation, then by their first names; those of none come last. */
	struct um_named_group *groups;
	size_t group_count;
	size_t *rest; /* of each group the one that has what lies in no part */
};

/* Makes the groups, and says of each part of `lives` which is its. UM_ENOMEM. */
int um_naming_group(struct um_naming *);
/* Where each lies, and which pages it shares with others. UM_ENOMEM. */
int um_naming_add_places(struct um_naming *);
/* Gives each its share of every row of the file. UM_EFORMAT, UM_ENOMEM. */
int um_naming_share_out(struct um_naming *, struct um_db *);

#endif
