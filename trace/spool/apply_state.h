/*
 * The program's side of a table (apply_table.h): counts what happens and says what is due. Nothing is
 * allocated after um_apply_begin(). Callers hold a lock of their own.
 */
#ifndef UM_APPLY_STATE_H
#define UM_APPLY_STATE_H

#include "apply_table.h"

struct um_apply;

/* NULL: the table is none, or there is no memory for what is counted. It is kept for good. */
struct um_apply *um_apply_begin(struct um_apply_header *table, size_t bytes);

/* A SITE record, told in the order of their numbers. */
void um_apply_note_site(struct um_apply *, const struct um_record_site *);
/*
 * One more allocation, part or launch; the event that it is, or NULL. `site` is that of its call; `text` of a
 * launch the kernel's symbol, of an allocation the name of a variable or "".
 */
struct um_apply_event *um_apply_next(struct um_apply *, enum um_apply_kind, uint32_t site,
				     const char *text);
/* Whether the program's own hint (UM_APPLY_ADVISE, UM_APPLY_PREFETCH) is to be left out; counts it. */
bool um_apply_leaves_out(struct um_apply *, enum um_apply_kind, uint32_t site);

/* The event's subject lies here from now on. */
void um_apply_bind(struct um_apply *, const struct um_apply_event *, uint64_t address,
		   uint64_t bytes);
/* What lies in [address, address + bytes) was freed. */
void um_apply_unbind(struct um_apply *, uint64_t address, uint64_t bytes);
/* The part that begins at `address` has its name no more. */
void um_apply_unbind_part(struct um_apply *, uint64_t address);

/* The event's actions, in order: *at is 0 at first. NULL: no more. */
struct um_apply_action *um_apply_action(struct um_apply *, const struct um_apply_event *,
					uint32_t *at);
/*
 * Where the action is about: what was all of its subject is so too where that has another size now. False: its
 * outcome is UM_APPLY_NO_MEMORY.
 */
bool um_apply_where(struct um_apply *, struct um_apply_action *, uint64_t *address,
		    uint64_t *bytes);

#endif
