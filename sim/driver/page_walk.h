/* Walks over the pages of a range, a run of pages in one state at a time. */
#ifndef UM_PAGE_WALK_H
#define UM_PAGE_WALK_H

#include "sim/machine/machine.h"

struct um_state_run {
	struct um_page_range range;
	uint32_t place;		   /* enum um_place_state, as the device sees it */
	enum um_mapping_state map; /* of the device */
};
typedef int (*um_run_fn)(void *context, const struct um_state_run *);

/* Calls for each run; it may change the pages of its run. Stops at what is not 0 and returns it. */
int um_for_each_run(const struct um_machine *, const struct um_page_range *, um_device_id,
		    um_run_fn, void *context);
/* Maps for the device what of the range the host alone has and the device has not mapped. */
int um_map_over_link(struct um_machine *, const struct um_page_range *, um_device_id,
		     const struct um_why *);
/* Unmaps what the device has mapped over the link. */
int um_unmap_over_link(struct um_machine *, const struct um_page_range *, um_device_id,
		       const struct um_why *);

#endif
