/*
 * The groups of a launch. An index of its chunks (which groups each spans) is held; a chunk is
 * loaded when a cursor is in it and dropped with its last cursor. A group goes on in any later
 * chunk that spans it.
 */
#include "group_chunk.h"
#include "source_internal.h"

#include "trace/base/error.h"

#include <stdlib.h>

struct indexed_chunk {
	int64_t number;
	uint64_t first_group, last_group;
	uint64_t lowest_from_here; /* smallest first_group of this chunk and all behind it */
	struct um_group_chunk *loaded;
};

struct um_groups {
	struct um_source *source;
	int64_t op;
	struct indexed_chunk *chunks;
	size_t chunk_count, chunk_capacity;
	uint64_t touches;
	size_t at_chunk, at_group;	/* where the next group may start */
	struct um_group_chunk *current; /* of at_chunk, a use of its own */
	struct um_id_map started;	/* groups that have a cursor already */
};

struct um_group_cursor {
	struct um_groups *groups;
	uint64_t group;
	size_t chunk;		       /* place in the index */
	struct um_group_chunk *loaded; /* a use of it; NULL: look for the next */
	uint32_t next_run;
	struct um_stream_decoder *decoder; /* of a packed chunk */
	struct um_access_run run;
};

/* --- index --- */

static int index_chunk(const void *row, void *context)
{
	const struct um_access_chunk_row *packed = row;
	struct um_groups *groups = context;

	if (groups->chunk_count == groups->chunk_capacity) {
		size_t capacity = groups->chunk_capacity ? groups->chunk_capacity * 2 : 16;
		struct indexed_chunk *grown = realloc(groups->chunks, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for an index of %zu chunks", capacity);
		groups->chunks = grown;
		groups->chunk_capacity = capacity;
	}
	groups->touches += packed->touches > 0 ? (uint64_t)packed->touches : 0;
	groups->chunks[groups->chunk_count++] = (struct indexed_chunk){
		.number = packed->chunk,
		.first_group = (uint64_t)packed->first_group,
		.last_group = (uint64_t)packed->last_group,
	};
	return 0;
}

static void find_lowest(struct um_groups *groups)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = groups->chunk_count; i-- > 0;) {
		if (groups->chunks[i].first_group < lowest)
			lowest = groups->chunks[i].first_group;
		groups->chunks[i].lowest_from_here = lowest;
	}
}

int um_groups_open(struct um_groups **out, struct um_source *source, int64_t op)
{
	struct um_groups *groups = calloc(1, sizeof(*groups));
	int error;

	if (!groups)
		return um_fail(UM_ENOMEM, "no memory for the groups of a launch");
	groups->source = source;
	groups->op = op;
	error = um_db_each(um_source_db(source), &um_table_access_chunk, "op = ?", op, index_chunk,
			   groups);
	if (error) {
		um_groups_close(groups);
		return error;
	}
	find_lowest(groups);
	*out = groups;
	return 0;
}

void um_groups_close(struct um_groups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; i < groups->chunk_count; i++)
		um_group_chunk_destroy(groups->chunks[i].loaded);
	free(groups->chunks);
	um_id_map_fini(&groups->started);
	free(groups);
}

uint64_t um_groups_touches(const struct um_groups *groups)
{
	return groups->touches;
}

/* --- chunks in use --- */

static int use_chunk(struct um_groups *groups, size_t place, struct um_group_chunk **out)
{
	struct indexed_chunk *chunk = &groups->chunks[place];
	int error = 0;

	if (chunk->loaded)
		chunk->loaded->users++;
	else
		error = um_group_chunk_load(&chunk->loaded, um_source_db(groups->source),
					    groups->op, chunk->number);
	*out = chunk->loaded;
	return error;
}

static void leave_chunk(struct um_groups *groups, size_t place)
{
	struct indexed_chunk *chunk = &groups->chunks[place];

	if (--chunk->loaded->users)
		return;
	um_group_chunk_destroy(chunk->loaded);
	chunk->loaded = NULL;
}

/* --- cursors --- */

/* Points the cursor at its group's runs in the chunk that it uses; false if there are none. */
static int enter_chunk(struct um_group_cursor *cursor, bool *found)
{
	struct um_group_chunk *chunk = cursor->loaded;
	const uint32_t *place;

	*found = true;
	if (chunk->payload) {
		if (cursor->decoder)
			um_stream_decoder_reset(cursor->decoder, chunk->payload,
						chunk->payload_bytes);
		else
			return um_stream_decoder_create(&cursor->decoder, chunk->payload,
							chunk->payload_bytes);
		return 0;
	}
	place = um_id_map_find(&chunk->places, cursor->group);
	*found = place;
	cursor->next_run = place ? chunk->groups[*place].first_run : UM_NO_RUN;
	return 0;
}

static void leave(struct um_group_cursor *cursor)
{
	if (cursor->loaded)
		leave_chunk(cursor->groups, cursor->chunk);
	cursor->loaded = NULL;
}

/* The next chunk that has the group; *found false at the group's end. */
static int find_next_chunk(struct um_group_cursor *cursor, size_t from, bool *found)
{
	struct um_groups *groups = cursor->groups;
	int error = 0;

	*found = false;
	for (cursor->chunk = from; !error && !*found && cursor->chunk < groups->chunk_count;
	     cursor->chunk++) {
		const struct indexed_chunk *chunk = &groups->chunks[cursor->chunk];

		if (cursor->group < chunk->lowest_from_here)
			return 0; /* neither here nor behind */
		if (cursor->group < chunk->first_group || cursor->group > chunk->last_group)
			continue;
		error = use_chunk(groups, cursor->chunk, &cursor->loaded);
		if (error)
			break;
		error = enter_chunk(cursor, found);
		if (*found && !error)
			return 0;
		leave(cursor);
	}
	return error;
}

static int decode_run(struct um_group_cursor *cursor, bool *found)
{
	long count = um_stream_decode(cursor->decoder, &cursor->run, 1);

	*found = count > 0;
	if (count > 0 && cursor->run.group != cursor->group)
		return um_fail(UM_EFORMAT, "op %lld: a chunk holds another group than it says",
			       (long long)cursor->groups->op);
	return count < 0 ? (int)count : 0;
}

static int take_run(struct um_group_cursor *cursor, bool *found)
{
	const struct um_chained_run *run;

	if (cursor->loaded->payload)
		return decode_run(cursor, found);
	*found = cursor->next_run != UM_NO_RUN;
	if (!*found)
		return 0;
	run = &cursor->loaded->runs[cursor->next_run];
	cursor->next_run = run->next;
	cursor->run = (struct um_access_run){cursor->group, run->allocation, run->first_page,
					     run->stride,   run->count,	     run->write};
	return 0;
}

const struct um_access_run *um_group_next(struct um_group_cursor *cursor, int *error)
{
	bool found = false;

	*error = 0;
	while (cursor->loaded) {
		size_t next = cursor->chunk + 1;

		*error = take_run(cursor, &found);
		if (*error)
			return NULL;
		if (found)
			return &cursor->run;
		leave(cursor);
		*error = find_next_chunk(cursor, next, &found);
		if (*error)
			return NULL;
	}
	return NULL;
}

void um_group_close(struct um_group_cursor *cursor)
{
	if (!cursor)
		return;
	leave(cursor);
	um_stream_decoder_destroy(cursor->decoder);
	free(cursor);
}

static int start_cursor(struct um_groups *groups, uint64_t group, struct um_group_cursor **out)
{
	struct um_group_cursor *cursor = calloc(1, sizeof(*cursor));
	bool found;
	int error;

	if (!cursor)
		return um_fail(UM_ENOMEM, "no memory for a group");
	cursor->groups = groups;
	cursor->group = group;
	error = um_id_map_add(&groups->started, group, 0);
	if (!error)
		error = find_next_chunk(cursor, groups->at_chunk, &found);
	if (error) {
		um_group_close(cursor);
		return error;
	}
	*out = cursor;
	return 0;
}

/* The at_group-th group of a chunk; false behind its last. */
static bool group_at(const struct um_group_chunk *chunk, size_t place, uint64_t *group)
{
	if (chunk->payload) {
		*group = chunk->only_group;
		return place == 0;
	}
	if (place >= chunk->group_count)
		return false;
	*group = chunk->groups[place].group;
	return true;
}

static void next_chunk(struct um_groups *groups)
{
	leave_chunk(groups, groups->at_chunk);
	groups->current = NULL;
	groups->at_chunk++;
	groups->at_group = 0;
}

struct um_group_cursor *um_groups_next(struct um_groups *groups, int *error)
{
	struct um_group_cursor *cursor = NULL;
	uint64_t group;

	*error = 0;
	while (!cursor && !*error && groups->at_chunk < groups->chunk_count) {
		if (!groups->current)
			*error = use_chunk(groups, groups->at_chunk, &groups->current);
		if (*error)
			break;
		if (!group_at(groups->current, groups->at_group++, &group))
			next_chunk(groups);
		else if (!um_id_map_find(&groups->started, group))
			*error = start_cursor(groups, group, &cursor);
	}
	return *error ? NULL : cursor;
}
