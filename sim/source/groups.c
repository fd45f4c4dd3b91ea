/*
 * The groups of a launch. An index of its chunks (which groups each spans) is held; a chunk is
 * loaded when a cursor is in it and left with its last cursor. A group goes on in any later chunk
 * that spans it. Index and chunks come out of the source's cache.
 */
#include "group_chunk.h"
#include "source_internal.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Runs that a cursor of a packed chunk decodes at a time. */
#define RUNS_PER_DECODE 64
/* A chunk's payload as writers make it, and its runs at their shortest, 2 bytes (access_stream.h). */
#define CHUNK_RUNS_BYTES (32768 * sizeof(struct um_chained_run))

struct indexed_chunk {
	int64_t number;
	uint64_t first_group, last_group;
	uint64_t lowest_from_here; /* smallest first_group of this chunk and all behind it */
};

struct chunk_index {
	struct indexed_chunk *chunks;
	size_t count, capacity;
	uint64_t touches;
};

struct um_groups {
	struct um_source *source;
	int64_t op;
	struct um_cached *cached_index;
	const struct chunk_index *index;
	bool decodes_whole;
	struct used_chunk {
		struct um_cached *cached; /* NULL: nobody here is in it */
		uint32_t users;
	} * used;			      /* one for each of the index */
	size_t at_chunk, at_group;	      /* where the next group may start */
	const struct um_group_chunk *current; /* of at_chunk, a use of its own */
	struct um_id_map started;	      /* groups that have a cursor already */
};

struct um_group_cursor {
	struct um_groups *groups;
	uint64_t group;
	size_t chunk;			     /* place in the index */
	const struct um_group_chunk *loaded; /* a use of it; NULL: look for the next */
	uint32_t next_run;
	struct um_stream_decoder *decoder; /* of a packed chunk */
	struct um_access_run *decoded;	   /* RUNS_PER_DECODE of them, beside the decoder */
	uint32_t decoded_count, decoded_at;
	struct um_access_run run;
};

/* --- index --- */

static void free_index(void *value)
{
	struct chunk_index *index = value;

	free(index->chunks);
	free(index);
}

static int index_chunk(const void *row, void *context)
{
	const struct um_access_chunk_row *packed = row;
	struct chunk_index *index = context;

	if (index->count == index->capacity) {
		size_t capacity = index->capacity ? index->capacity * 2 : 16;
		struct indexed_chunk *grown = realloc(index->chunks, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for an index of %zu chunks", capacity);
		index->chunks = grown;
		index->capacity = capacity;
	}
	index->touches += packed->touches > 0 ? (uint64_t)packed->touches : 0;
	index->chunks[index->count++] = (struct indexed_chunk){
		.number = packed->chunk,
		.first_group = (uint64_t)packed->first_group,
		.last_group = (uint64_t)packed->last_group,
	};
	return 0;
}

static void find_lowest(struct chunk_index *index)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = index->count; i-- > 0;) {
		if (index->chunks[i].first_group < lowest)
			lowest = index->chunks[i].first_group;
		index->chunks[i].lowest_from_here = lowest;
	}
}

static int load_index(void *context, void **value, size_t *bytes)
{
	const struct um_groups *groups = context;
	struct chunk_index *index = calloc(1, sizeof(*index));
	int error;

	if (!index)
		return um_fail(UM_ENOMEM, "no memory for the groups of a launch");
	error = um_db_each(um_source_db(groups->source), &um_table_access_chunk, "op = ?",
			   groups->op, index_chunk, index);
	if (error) {
		free_index(index);
		return error;
	}
	find_lowest(index);
	*value = index;
	*bytes = sizeof(*index) + index->capacity * sizeof(*index->chunks);
	return 0;
}

static int open_index(struct um_groups *groups)
{
	const struct um_cached_key key = {UM_CACHED_INDEX, groups->op, 0};
	uint64_t limit = um_trace_cache_limit(um_source_cache(groups->source));
	int error = um_trace_cache_take(um_source_cache(groups->source), key, load_index, groups,
					free_index, &groups->cached_index);

	if (error)
		return error;
	groups->index = um_cached_value(groups->cached_index);
	groups->decodes_whole = groups->index->count <= limit / 4 / CHUNK_RUNS_BYTES;
	groups->used = calloc(groups->index->count + 1, sizeof(*groups->used));
	return groups->used ? 0 : um_fail(UM_ENOMEM, "no memory for the groups of a launch");
}

int um_groups_open(struct um_groups **out, struct um_source *source, int64_t op)
{
	struct um_groups *groups = calloc(1, sizeof(*groups));
	int error;

	if (!groups)
		return um_fail(UM_ENOMEM, "no memory for the groups of a launch");
	groups->source = source;
	groups->op = op;
	error = open_index(groups);
	if (error)
		um_groups_close(groups);
	else
		*out = groups;
	return error;
}

void um_groups_close(struct um_groups *groups)
{
	struct um_trace_cache *cache;

	if (!groups)
		return;
	cache = um_source_cache(groups->source);
	for (size_t i = 0; groups->used && i < groups->index->count; i++)
		um_trace_cache_leave(cache, groups->used[i].cached);
	um_trace_cache_leave(cache, groups->cached_index);
	free(groups->used);
	um_id_map_fini(&groups->started);
	free(groups);
}

uint64_t um_groups_touches(const struct um_groups *groups)
{
	return groups->index->touches;
}

/* --- chunks in use --- */

struct chunk_reading {
	const struct um_groups *groups;
	int64_t number;
};

static void free_chunk(void *value)
{
	um_group_chunk_destroy(value);
}

static int load_chunk(void *context, void **value, size_t *bytes)
{
	const struct chunk_reading *reading = context;
	const struct um_groups *groups = reading->groups;
	struct um_group_chunk *chunk;
	int error = um_group_chunk_load(&chunk, um_source_db(groups->source), groups->op,
					reading->number, groups->decodes_whole);

	if (error)
		return error;
	*value = chunk;
	*bytes = um_group_chunk_bytes(chunk);
	return 0;
}

static int use_chunk(struct um_groups *groups, size_t place, const struct um_group_chunk **out)
{
	struct chunk_reading reading = {groups, groups->index->chunks[place].number};
	const struct um_cached_key key = {UM_CACHED_CHUNK, groups->op, reading.number};
	struct used_chunk *used = &groups->used[place];

	if (!used->users) {
		int error = um_trace_cache_take(um_source_cache(groups->source), key, load_chunk,
						&reading, free_chunk, &used->cached);
		if (error)
			return error;
		um_source_took(groups->source, used->cached);
	}
	used->users++;
	*out = um_cached_value(used->cached);
	return 0;
}

static void leave_chunk(struct um_groups *groups, size_t place)
{
	struct used_chunk *used = &groups->used[place];

	if (--used->users)
		return;
	um_trace_cache_leave(um_source_cache(groups->source), used->cached);
	used->cached = NULL;
}

/* --- cursors --- */

static int start_decoding(struct um_group_cursor *cursor, const struct um_group_chunk *chunk)
{
	cursor->decoded_count = cursor->decoded_at = 0;
	if (cursor->decoder) {
		um_stream_decoder_reset(cursor->decoder, chunk->payload, chunk->payload_bytes);
		return 0;
	}
	cursor->decoded = malloc(RUNS_PER_DECODE * sizeof(*cursor->decoded));
	if (!cursor->decoded)
		return um_fail(UM_ENOMEM, "no memory for a group");
	return um_stream_decoder_create(&cursor->decoder, chunk->payload, chunk->payload_bytes);
}

/* Points the cursor at its group's runs in the chunk that it uses; false if there are none. */
static int enter_chunk(struct um_group_cursor *cursor, bool *found)
{
	const struct um_group_chunk *chunk = cursor->loaded;
	const uint32_t *place;

	*found = true;
	if (chunk->payload)
		return start_decoding(cursor, chunk);
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
	cursor->decoded_count = cursor->decoded_at = 0;
}

/* The next chunk that has the group; *found false at the group's end. */
static int find_next_chunk(struct um_group_cursor *cursor, size_t from, bool *found)
{
	struct um_groups *groups = cursor->groups;
	int error = 0;

	*found = false;
	for (cursor->chunk = from; !error && !*found && cursor->chunk < groups->index->count;
	     cursor->chunk++) {
		const struct indexed_chunk *chunk = &groups->index->chunks[cursor->chunk];

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

static int decode_runs(struct um_group_cursor *cursor)
{
	long count = um_stream_decode(cursor->decoder, cursor->decoded, RUNS_PER_DECODE);

	for (long i = 0; i < count; i++)
		if (cursor->decoded[i].group != cursor->group)
			return um_fail(UM_EFORMAT,
				       "op %lld: a chunk holds another group than it says",
				       (long long)cursor->groups->op);
	cursor->decoded_count = count > 0 ? (uint32_t)count : 0;
	cursor->decoded_at = 0;
	return count < 0 ? (int)count : 0;
}

static int decode_run(struct um_group_cursor *cursor, const struct um_access_run **found)
{
	int error = cursor->decoded_at < cursor->decoded_count ? 0 : decode_runs(cursor);

	*found = cursor->decoded_at < cursor->decoded_count ? &cursor->decoded[cursor->decoded_at++]
							    : NULL;
	return error;
}

/* *found: NULL behind the last of the chunk. */
static int take_run(struct um_group_cursor *cursor, const struct um_access_run **found)
{
	const struct um_chained_run *run;

	if (cursor->loaded->payload)
		return decode_run(cursor, found);
	*found = NULL;
	if (cursor->next_run == UM_NO_RUN)
		return 0;
	run = &cursor->loaded->runs[cursor->next_run];
	cursor->next_run = run->next;
	cursor->run = (struct um_access_run){cursor->group, run->allocation, run->first_page,
					     run->stride,   run->count,	     run->write};
	*found = &cursor->run;
	return 0;
}

static const struct um_access_run *take_later_run(struct um_group_cursor *cursor, int *error)
{
	const struct um_access_run *run = NULL;
	bool found;

	while (cursor->loaded && !run && !*error) {
		size_t next = cursor->chunk + 1;

		*error = take_run(cursor, &run);
		if (run || *error)
			break;
		leave(cursor);
		*error = find_next_chunk(cursor, next, &found);
	}
	return *error ? NULL : run;
}

const struct um_access_run *um_group_next(struct um_group_cursor *cursor, int *error)
{
	*error = 0;
	if (cursor->decoded_at < cursor->decoded_count) /* what most are */
		return &cursor->decoded[cursor->decoded_at++];
	return take_later_run(cursor, error);
}

const struct um_access_run *um_group_ahead(const struct um_group_cursor *cursor, uint32_t runs)
{
	uint32_t left = cursor->decoded_count - cursor->decoded_at;

	return runs < left ? &cursor->decoded[cursor->decoded_at + runs] : NULL;
}

void um_group_close(struct um_group_cursor *cursor)
{
	if (!cursor)
		return;
	leave(cursor);
	um_stream_decoder_destroy(cursor->decoder);
	free(cursor->decoded);
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
	while (!cursor && !*error && groups->at_chunk < groups->index->count) {
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
