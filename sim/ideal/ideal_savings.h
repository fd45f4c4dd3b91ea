/*
 * What keeping pages on a device saves: pages that ask to have been kept there from one operation to
 * a later one, each with the lines that need not cross again then.
 */
#ifndef UM_IDEAL_SAVINGS_H
#define UM_IDEAL_SAVINGS_H

#include "ideal_keep.h"

#include <stdbool.h>

/* A moment for each operation that runs alone, as it begins, and where all operations are over. */
struct um_moments {
	bool limited; /* else there is room for all, and nothing is kept here */
	uint64_t room_pages;
	struct um_moment {
		uint64_t room_pages;
		bool own; /* the operation is this device's */
	} * all;
	uint32_t count, capacity;
};
int um_moments_add(struct um_moments *, bool own);

/* --- bytes --- */

#define UM_SAVING_SIZES 7 /* of pages by their lines: up to 1, 2, 4 ... 64 */

struct um_savings {
	struct um_saving_size {
		bool used;
		struct um_keep keep; /* of pages with more lines than the next smaller size has */
		uint64_t kept;
	} size[UM_SAVING_SIZES];
	uint64_t asked_lines;
};

/* A moment has come. */
int um_savings_moment(struct um_savings *, const struct um_moments *);
/* `pages` pages ask, each with `lines` lines, to have been kept from moment `first` to the last. */
int um_savings_ask(struct um_savings *, const struct um_moments *, uint32_t first, unsigned lines,
		   uint64_t pages);
/* Of the lines that were asked for, those that cross whatever is kept: at least so many. */
uint64_t um_savings_lost_lines(const struct um_savings *, const struct um_moments *);
void um_savings_fini(struct um_savings *);

/* --- faults: two moments for each operation, as it begins and as it touches a page --- */

#define UM_DEMAND_SIZES                                                                            \
	33 /* of units by their pages that are touched: 1, 2 or more, 4 or more ... */

struct um_fault_savings {
	struct um_keep size[UM_DEMAND_SIZES];
	bool used[UM_DEMAND_SIZES];
	int sizes; /* none is used from this one on */
	uint64_t asked, kept;
};

int um_fault_savings_begin(struct um_fault_savings *, const struct um_moments *);
int um_fault_savings_within(struct um_fault_savings *, const struct um_moments *);
/*
 * `units` units ask, each with `pages` pages (>= 1), to have been kept since operation moment
 * `first` began, until the last has begun.
 */
int um_fault_savings_ask(struct um_fault_savings *, const struct um_moments *, uint32_t first,
			 uint64_t pages, uint64_t units);
void um_fault_savings_fini(struct um_fault_savings *);

#endif
