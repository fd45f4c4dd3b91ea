/* Loading the facts that rules look at (finding_rule.h): between the files of this folder. */
#ifndef UM_FACTS_H
#define UM_FACTS_H

#include "finding_rule.h"

/* Ops, allocations and their places, ranges (facts_load.c). */
int um_facts_load(struct um_facts *, struct um_db *, struct um_text_pool *,
		  const char *const *skip_frames);
void um_facts_fini(struct um_facts *);

/* Who touched what, from one pass over page_access (facts_pages.c). After um_facts_load(). */
int um_facts_load_pages(struct um_facts *);
/* The same of what copies and memsets name, and each allocation's uses. */
int um_facts_finish_pages(struct um_facts *);
/* Calls `change` for each of the pages, or once for whole blocks that are alike. UM_ENOMEM. */
int um_facts_change_pages(struct um_fact_allocation *, int64_t first_page, int64_t pages,
			  void (*change)(struct um_fact_page *, void *), void *context);

/* What moved, faulted or was accessed in place: rows of a replay, or of a measured file (facts_traffic.c). */
struct um_observer;
struct um_observer um_facts_observer(struct um_facts *);
/* From the tables of the file. */
int um_facts_load_measured(struct um_facts *);

/* Mutable as only their loaders may have them. */
struct um_fact_allocation *um_facts_find_allocation(struct um_facts *, int64_t id);
struct um_fact_op *um_facts_find_op(struct um_facts *, int64_t op);

#endif
