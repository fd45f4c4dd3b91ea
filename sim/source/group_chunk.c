#include "group_chunk.h"

#include "trace/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS_PER_DECODE 256

static int add_group(struct um_group_chunk *chunk, uint64_t group, uint32_t *place)
{
	if (chunk->group_count == chunk->group_capacity) {
		size_t capacity = chunk->group_capacity ? chunk->group_capacity * 2 : 16;
		struct um_chunk_group *grown = realloc(chunk->groups, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu groups", capacity);
		chunk->groups = grown;
		chunk->group_capacity = capacity;
	}
	*place = (uint32_t)chunk->group_count;
	chunk->groups[chunk->group_count++] = (struct um_chunk_group){group, UM_NO_RUN, UM_NO_RUN};
	return um_id_map_add(&chunk->places, group, *place);
}

static int place_of_group(struct um_group_chunk *chunk, uint64_t group, uint32_t *place)
{
	const uint32_t *known;

	if (chunk->group_count && chunk->groups[*place].group == group)
		return 0; /* as the run before */
	known = um_id_map_find(&chunk->places, group);
	if (!known)
		return add_group(chunk, group, place);
	*place = *known;
	return 0;
}

static int add_run(struct um_group_chunk *chunk, const struct um_access_run *run, uint32_t *place)
{
	uint32_t index = (uint32_t)chunk->run_count;
	struct um_chunk_group *group;

	if (place_of_group(chunk, run->group, place))
		return UM_ENOMEM;
	if (chunk->run_count == chunk->run_capacity) {
		size_t capacity = chunk->run_capacity ? chunk->run_capacity * 2 : 1024;
		struct um_chained_run *grown = realloc(chunk->runs, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu access runs", capacity);
		chunk->runs = grown;
		chunk->run_capacity = capacity;
	}
	group = &chunk->groups[*place];
	if (group->first_run == UM_NO_RUN)
		group->first_run = index;
	else
		chunk->runs[group->last_run].next = index;
	group->last_run = index;
	chunk->runs[chunk->run_count++] = (struct um_chained_run){
		run->allocation, run->first_page, run->stride, run->count, UM_NO_RUN, run->write};
	return 0;
}

static int chain_runs(struct um_group_chunk *chunk, const unsigned char *payload, size_t bytes)
{
	struct um_access_run runs[RUNS_PER_DECODE];
	struct um_stream_decoder *decoder;
	uint32_t place = 0;
	long count = 0;
	int error = um_stream_decoder_create(&decoder, payload, bytes);

	if (error)
		return error;
	while (!error && (count = um_stream_decode(decoder, runs, RUNS_PER_DECODE)) > 0)
		for (long i = 0; i < count && !error; i++)
			error = add_run(chunk, &runs[i], &place);
	um_stream_decoder_destroy(decoder);
	return error ? error : (int)count;
}

struct unpacking {
	struct um_group_chunk *chunk;
	bool whole;
};

static int unpack(const void *row, void *context)
{
	const struct um_access_chunk_row *packed = row;
	const struct unpacking *unpacking = context;
	struct um_group_chunk *chunk = unpacking->chunk;
	unsigned char *payload;
	int error = um_db_chunk_payload(packed, &payload);

	if (error)
		return error;
	chunk->payload = payload;
	chunk->payload_bytes = (size_t)packed->payload_bytes;
	chunk->only_group = (uint64_t)packed->first_group;
	if (packed->first_group == packed->last_group && !unpacking->whole)
		return 0;
	error = chain_runs(chunk, payload, chunk->payload_bytes);
	free(payload);
	chunk->payload = NULL;
	return error;
}

int um_group_chunk_load(struct um_group_chunk **out, struct um_db *db, int64_t op, int64_t number,
			bool whole)
{
	struct um_group_chunk *chunk = calloc(1, sizeof(*chunk));
	struct unpacking unpacking = {chunk, whole};
	char where[64];
	int error;

	if (!chunk)
		return um_fail(UM_ENOMEM, "no memory for a chunk of accesses");
	snprintf(where, sizeof(where), "op = ? AND chunk = %" PRId64, number);
	error = um_db_each(db, &um_table_access_chunk, where, op, unpack, &unpacking);
	if (error) {
		um_group_chunk_destroy(chunk);
		return error;
	}
	*out = chunk;
	return 0;
}

size_t um_group_chunk_bytes(const struct um_group_chunk *chunk)
{
	return sizeof(*chunk) + (chunk->payload ? chunk->payload_bytes : 0) +
	       chunk->run_capacity * sizeof(*chunk->runs) +
	       chunk->group_capacity * sizeof(*chunk->groups) +
	       chunk->places.capacity * sizeof(*chunk->places.slots);
}

void um_group_chunk_destroy(struct um_group_chunk *chunk)
{
	if (!chunk)
		return;
	free(chunk->payload);
	free(chunk->runs);
	free(chunk->groups);
	um_id_map_fini(&chunk->places);
	free(chunk);
}
