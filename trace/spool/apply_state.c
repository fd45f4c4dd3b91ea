#include "apply_state.h"

#include <string.h>
#include <sys/mman.h>

/* Places that are told apart; what comes later is of no key. 24 MiB of address space, used as needed. */
#define SITES_MAX (1u << 20)

struct place {
	uint64_t hash;
	uint32_t parent;
	uint32_t is_known;
};

struct binding {
	uint64_t address, bytes; /* bytes 0: it is not there */
};

struct um_apply {
	struct um_apply_header *table;
	struct place *places;	  /* by site */
	struct binding *bindings; /* of subjects */
	uint32_t *counts;	  /* of keys: how often it occurred */
	uint32_t *cursors;	  /* of keys: events that are past */
};

static void *room(size_t count, size_t each)
{
	void *mapped = mmap(NULL, (count ? count : 1) * each, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

struct um_apply *um_apply_begin(struct um_apply_header *table, size_t bytes)
{
	if (!table || !um_apply_is_good(table, bytes))
		return NULL;
	struct um_apply *apply = room(1, sizeof(*apply));

	if (!apply)
		return NULL;
	apply->table = table;
	apply->places = room(SITES_MAX, sizeof(*apply->places));
	apply->bindings = room(table->subjects, sizeof(*apply->bindings));
	apply->counts = room(table->keys, sizeof(*apply->counts));
	apply->cursors = room(table->keys, sizeof(*apply->cursors));
	if (!apply->places || !apply->bindings || !apply->counts || !apply->cursors)
		return NULL;
	table->taken = 1;
	return apply;
}

void um_apply_note_site(struct um_apply *apply, const struct um_record_site *site)
{
	uint64_t parent = 0;

	if (site->site >= SITES_MAX)
		return;
	if (site->parent < SITES_MAX)
		parent = apply->places[site->parent].hash;
	apply->places[site->site] = (struct place){
		um_apply_site_hash(parent, site->text, site->offset), site->parent, 1};
}

static int compare(const struct um_apply_key *key, uint32_t kind, uint64_t hash)
{
	if (key->kind != kind)
		return key->kind < kind ? -1 : 1;
	return key->hash < hash ? -1 : key->hash > hash;
}

static uint32_t find_key(const struct um_apply *apply, uint32_t kind, uint64_t hash)
{
	const struct um_apply_key *keys = um_apply_keys(apply->table);
	uint32_t low = 0, high = apply->table->keys;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&keys[middle], kind, hash) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < apply->table->keys && compare(&keys[low], kind, hash) == 0 ? low : UINT32_MAX;
}

/*
 * A trace names the innermost frame of a call that is the program's, not a library's of HIP's (tool/ingest_sites.c),
 * which is the call's own place or one that called it.
 */
static uint32_t find_site(const struct um_apply *apply, uint32_t kind, uint32_t site)
{
	uint32_t key = UINT32_MAX;

	while (site && site < SITES_MAX && key == UINT32_MAX && apply->places[site].is_known) {
		key = find_key(apply, kind, apply->places[site].hash);
		site = apply->places[site].parent;
	}
	return key;
}

struct um_apply_event *um_apply_next(struct um_apply *apply, enum um_apply_kind kind, uint32_t site,
				     const char *text)
{
	uint32_t at = kind == UM_APPLY_LAUNCH ? UINT32_MAX : find_site(apply, kind, site);

	if (at == UINT32_MAX && *text)
		at = find_key(apply, kind, um_apply_text_hash(text));
	if (at == UINT32_MAX)
		return NULL;
	const struct um_apply_key *key = um_apply_keys(apply->table) + at;
	uint32_t nth = ++apply->counts[at], cursor = apply->cursors[at];
	struct um_apply_event *event = um_apply_events(apply->table) + key->first_event + cursor;

	if (cursor >= key->events || event->nth != nth)
		return NULL;
	apply->cursors[at]++;
	return event;
}

bool um_apply_leaves_out(struct um_apply *apply, enum um_apply_kind kind, uint32_t site)
{
	struct um_apply_header *table = apply->table;
	bool advises = kind == UM_APPLY_ADVISE;
	uint32_t all = advises ? UM_APPLY_DROP_ADVICE : UM_APPLY_DROP_PREFETCH;

	if (!(table->flags & all) && find_site(apply, kind, site) == UINT32_MAX)
		return false;
	if (advises)
		table->left_out_advice++;
	else
		table->left_out_prefetch++;
	return true;
}

void um_apply_bind(struct um_apply *apply, const struct um_apply_event *event, uint64_t address,
		   uint64_t bytes)
{
	if (event->subject == UM_APPLY_NO_SUBJECT)
		return;
	struct um_apply_subject *subject = um_apply_subjects(apply->table) + event->subject;

	subject->seen = bytes == subject->bytes ? 1 : 2;
	apply->bindings[event->subject] = (struct binding){address, bytes};
}

void um_apply_unbind(struct um_apply *apply, uint64_t address, uint64_t bytes)
{
	for (uint32_t i = 0; i < apply->table->subjects; i++) {
		struct binding *binding = apply->bindings + i;

		if (binding->bytes && binding->address >= address &&
		    (binding->address == address || binding->address - address < bytes))
			binding->bytes = 0;
	}
}

void um_apply_unbind_part(struct um_apply *apply, uint64_t address)
{
	const struct um_apply_subject *subject = um_apply_subjects(apply->table);

	for (uint32_t i = 0; i < apply->table->subjects; i++)
		if (subject[i].is_part && apply->bindings[i].address == address)
			apply->bindings[i].bytes = 0;
}

struct um_apply_action *um_apply_action(struct um_apply *apply, const struct um_apply_event *event,
					uint32_t *at)
{
	if (*at >= event->actions)
		return NULL;
	return um_apply_actions(apply->table) + event->first_action + (*at)++;
}

bool um_apply_where(struct um_apply *apply, struct um_apply_action *action, uint64_t *address,
		    uint64_t *bytes)
{
	const struct binding *binding = apply->bindings + action->subject;
	bool is_whole = action->start == 0 &&
			action->bytes == um_apply_subjects(apply->table)[action->subject].bytes;

	if (binding->bytes && is_whole) {
		*address = binding->address;
		*bytes = binding->bytes;
		return true;
	}
	if (!binding->bytes || action->start >= binding->bytes ||
	    action->bytes > binding->bytes - action->start) {
		action->outcome = UM_APPLY_NO_MEMORY;
		return false;
	}
	*address = binding->address + action->start;
	*bytes = action->bytes;
	return true;
}
