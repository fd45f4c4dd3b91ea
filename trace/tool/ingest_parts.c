/*
 * Parts of allocations that the program named, and how long each lives. Those that live lie within each
 * other or apart: a name that crosses another ends that one, whose place must have been given back.
 * So each has at most one that it lies in, and what a new one crosses is found along these.
 */
#include "ingest_private.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct part {
	uint32_t allocation;
	uint64_t start, end;
	int64_t id;
	struct part *around; /* the smallest that it lies in; NULL: none */
};

/* By allocation and start; of those that begin together the longest comes first. */
struct um_live_parts {
	struct part **items;
	size_t count, capacity;
	int64_t last_id;
};

static int compare(const struct part *a, const struct part *b)
{
	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

/* How many come before `part`; with `or_equal` also those that are the same bytes. */
static size_t place_of(const struct um_live_parts *parts, const struct part *part, bool or_equal)
{
	size_t low = 0, high = parts->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(parts->items[middle], part);

		if (order < 0 || (or_equal && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- ends --- */

/* The one at `place`, at op: what lies in it lies in what is around it from now on. */
static int end_at(struct um_ingest *ingest, size_t place, uint32_t op)
{
	struct um_live_parts *parts = ingest->parts;
	struct part *ended = parts->items[place];

	for (size_t i = place + 1; i < parts->count; i++) {
		struct part *other = parts->items[i];

		if (other->allocation != ended->allocation || other->start >= ended->end)
			break;
		if (other->around == ended)
			other->around = ended->around;
	}
	parts->count--;
	memmove(parts->items + place, parts->items + place + 1,
		(parts->count - place) * sizeof(*parts->items));
	int64_t id = ended->id;

	free(ended);
	return um_db_update(ingest->db, "UPDATE part SET end_op = ? WHERE part = ?",
			    (int64_t[]){um_ingest_op_id(ingest, op), id}, 2);
}

static int end_one(struct um_ingest *ingest, const struct part *part, uint32_t op)
{
	return end_at(ingest, place_of(ingest->parts, part, false), op);
}

/* The smallest that begins there; NULL: none. */
static const struct part *find_named(const struct um_ingest *ingest, const struct um_record_op *op)
{
	const struct part wanted = {.allocation = op->allocation, .start = op->offset};
	size_t after = ingest->parts ? place_of(ingest->parts, &wanted, true) : 0;
	const struct part *found = after ? ingest->parts->items[after - 1] : NULL;

	return found && found->allocation == op->allocation && found->start == op->offset ? found
											  : NULL;
}

uint64_t um_ingest_part_bytes(const struct um_ingest *ingest, const struct um_record_op *op)
{
	const struct part *found = find_named(ingest, op);

	return found ? found->end - found->start : 0;
}

static int end_named(struct um_ingest *ingest, const struct um_record_op *op)
{
	const struct part *found = find_named(ingest, op);

	if (found)
		return end_one(ingest, found, op->op);
	ingest->parts_unknown++;
	return 0;
}

static int end_all_of(struct um_ingest *ingest, const struct um_record_op *op)
{
	const struct part first = {.allocation = op->allocation, .end = UINT64_MAX};
	const struct part behind = {.allocation = op->allocation + 1, .end = UINT64_MAX};
	int error = 0;

	if (!ingest->parts || op->allocation == 0 || op->allocation == UINT32_MAX)
		return 0;
	size_t start = place_of(ingest->parts, &first, false);

	/* From the last on, so that little moves. */
	for (size_t i = place_of(ingest->parts, &behind, false); i > start && !error; i--)
		error = end_at(ingest, i - 1, op->op);
	return error;
}

int um_ingest_parts_op(struct um_ingest *ingest, const struct um_record_op *op)
{
	if (op->end_ns == 0 || op->result != 0)
		return 0;
	if (op->kind == UM_OP_NAME_END)
		return end_named(ingest, op);
	return op->kind == UM_OP_FREE ? end_all_of(ingest, op) : 0;
}

/* --- a new one --- */

/* Of those that begin before it: ends what crosses it or is the same, and finds what is around it. */
static int make_way_before(struct um_ingest *ingest, struct part *added, uint32_t op)
{
	struct um_live_parts *parts = ingest->parts;
	size_t place = place_of(parts, added, true);
	struct part *other = place ? parts->items[place - 1] : NULL;
	int error = 0;

	if (other && other->allocation != added->allocation)
		other = NULL;
	while (other && !error) {
		struct part *around = other->around;
		bool same = other->start == added->start && other->end == added->end;

		if (other->end >= added->end && !same)
			break;
		if (same || other->end > added->start)
			error = end_one(ingest, other, op);
		other = around;
	}
	added->around = other;
	return error;
}

/* Of those that begin within it: ends what reaches beyond, and takes the others in. */
static int make_way_within(struct um_ingest *ingest, struct part *added, uint32_t op)
{
	struct um_live_parts *parts = ingest->parts;
	size_t place = place_of(parts, added, true);
	int error = 0;

	while (place < parts->count && !error) {
		struct part *other = parts->items[place];

		if (other->allocation != added->allocation || other->start >= added->end)
			break;
		if (other->end > added->end) {
			error = end_at(ingest, place, op);
			continue;
		}
		if (other->around == added->around)
			other->around = added;
		place++;
	}
	return error;
}

static int make_room(struct um_ingest *ingest)
{
	struct um_live_parts *parts = ingest->parts;

	if (!parts)
		parts = ingest->parts = calloc(1, sizeof(*parts));
	if (parts && parts->count == parts->capacity) {
		size_t capacity = parts->capacity ? 2 * parts->capacity : 256;
		void *grown = reallocarray(parts->items, capacity, sizeof(*parts->items));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory for %zu names", capacity);
		parts->items = grown;
		parts->capacity = capacity;
	}
	return parts ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static int add(struct um_ingest *ingest, const struct um_record_part *record)
{
	struct part *added = malloc(sizeof(*added));
	struct um_live_parts *parts = ingest->parts;

	if (!added)
		return um_fail(UM_ENOMEM, "out of memory");
	*added = (struct part){
		.allocation = record->allocation,
		.start = record->offset,
		.end = record->offset + record->bytes,
		.id = ++parts->last_id,
	};
	int error = make_way_before(ingest, added, record->op);

	if (!error)
		error = make_way_within(ingest, added, record->op);
	if (error) {
		free(added);
		return error;
	}
	size_t place = place_of(parts, added, true);

	memmove(parts->items + place + 1, parts->items + place,
		(parts->count - place) * sizeof(*parts->items));
	parts->items[place] = added;
	parts->count++;
	return 0;
}

static int insert(struct um_ingest *ingest, const struct um_record_part *record, const char *name)
{
	const struct um_part_row row = {
		.part = ingest->parts->last_id,
		.allocation = record->allocation,
		.offset_bytes = (int64_t)record->offset,
		.bytes = (int64_t)record->bytes,
		.name = name,
		.site = um_or_null(um_ingest_user_site(ingest, record->site)),
		.op = um_ingest_op_id(ingest, record->op),
		.end_op = UM_NULL,
	};

	return um_ingest_insert(ingest, &um_table_part, &row);
}

int um_ingest_part(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_part *part = record;
	const char *at = part->name;
	char name[UM_INGEST_TEXT];
	struct um_known_allocation *known = um_ingest_known(ingest, part->allocation);

	if (part->op == 0 || part->op > ingest->last_op || !known || known->freed ||
	    part->bytes == 0 || part->offset > (uint64_t)known->pages * UM_PAGE_BYTES ||
	    part->bytes > (uint64_t)known->pages * UM_PAGE_BYTES - part->offset ||
	    !um_ingest_text(&at, end, name))
		return UM_RECORD_INVALID;
	int error = make_room(ingest);

	if (!error)
		error = add(ingest, part);
	if (!error)
		error = insert(ingest, part, name);
	if (error || !part->whole)
		return error;
	known->named = true;
	return um_db_update_text(ingest->db, "UPDATE allocation SET name = ? WHERE allocation = ?",
				 name, part->allocation);
}

/* --- the end --- */

int um_ingest_parts_end(struct um_ingest *ingest)
{
	return ingest->parts_unknown ? um_ingest_loss(ingest, UM_LOSS_NAME, ingest->parts_unknown,
						      "um_unname() where no part begins")
				     : 0;
}

void um_live_parts_destroy(struct um_live_parts *parts)
{
	for (size_t i = 0; parts && i < parts->count; i++)
		free(parts->items[i]);
	if (parts)
		free(parts->items);
	free(parts);
}
