#include "apply_table.h"

#include <string.h>

/* FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923). */
#define FNV_OFFSET 0xcbf29ce484222325ull
#define FNV_PRIME  0x100000001b3ull

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * FNV_PRIME;
	return hash;
}

uint64_t um_apply_text_hash(const char *text)
{
	return mix(FNV_OFFSET, text, strlen(text));
}

uint64_t um_apply_site_hash(uint64_t parent, const char *module, uint64_t offset)
{
	const char *slash = strrchr(module, '/');
	const char *name = slash ? slash + 1 : module;
	uint64_t hash = mix(FNV_OFFSET, &parent, sizeof(parent));

	hash = mix(hash, name, strlen(name));
	return mix(hash, &offset, sizeof(offset));
}

size_t um_apply_bytes(uint32_t keys, uint32_t events, uint32_t subjects, uint32_t actions)
{
	return sizeof(struct um_apply_header) + keys * sizeof(struct um_apply_key) +
	       events * sizeof(struct um_apply_event) + subjects * sizeof(struct um_apply_subject) +
	       actions * sizeof(struct um_apply_action);
}

struct um_apply_key *um_apply_keys(struct um_apply_header *table)
{
	return (struct um_apply_key *)(table + 1);
}

struct um_apply_event *um_apply_events(struct um_apply_header *table)
{
	return (struct um_apply_event *)(um_apply_keys(table) + table->keys);
}

struct um_apply_subject *um_apply_subjects(struct um_apply_header *table)
{
	return (struct um_apply_subject *)(um_apply_events(table) + table->events);
}

struct um_apply_action *um_apply_actions(struct um_apply_header *table)
{
	return (struct um_apply_action *)(um_apply_subjects(table) + table->subjects);
}

/* Of a list of `all`. */
static bool has(uint32_t all, uint32_t first, uint32_t count)
{
	return first <= all && count <= all - first;
}

static bool keys_are_good(struct um_apply_header *table)
{
	const struct um_apply_key *key = um_apply_keys(table);

	for (uint32_t i = 0; i < table->keys; i++)
		if (!has(table->events, key[i].first_event, key[i].events))
			return false;
	return true;
}

static bool events_are_good(struct um_apply_header *table)
{
	const struct um_apply_event *event = um_apply_events(table);

	for (uint32_t i = 0; i < table->events; i++)
		if (!has(table->actions, event[i].first_action, event[i].actions) ||
		    (event[i].subject != UM_APPLY_NO_SUBJECT &&
		     event[i].subject >= table->subjects))
			return false;
	return true;
}

static bool actions_are_good(struct um_apply_header *table)
{
	const struct um_apply_action *action = um_apply_actions(table);

	for (uint32_t i = 0; i < table->actions; i++)
		if (action[i].subject >= table->subjects ||
		    (action[i].op != UM_OP_ADVISE && action[i].op != UM_OP_PREFETCH))
			return false;
	return true;
}

bool um_apply_is_good(const struct um_apply_header *constant, size_t bytes)
{
	struct um_apply_header *table = (struct um_apply_header *)(uintptr_t)constant;

	return bytes >= sizeof(*table) && table->magic == UM_APPLY_MAGIC &&
	       um_apply_bytes(table->keys, table->events, table->subjects, table->actions) <=
		       bytes &&
	       keys_are_good(table) && events_are_good(table) && actions_are_good(table);
}
