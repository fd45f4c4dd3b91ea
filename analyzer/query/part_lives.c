#include "part_lives.h"

#include "query.h"
#include "trace/base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (INT64_C(1) << 60)

/* A call that begins or ends parts. */
struct turn {
	int64_t at_ns, op;
};

struct um_part_lives {
	struct um_life *lives; /* by op */
	size_t count;
	size_t begun;	       /* of them */
	struct um_life **ends; /* by end_op */
	size_t ended;
	struct um_life **live; /* by allocation and start, the longest first */
	size_t live_count;
	struct um_life **found;
	struct turn *turns; /* by time */
	size_t turn_count, turned;
	struct um_db *db;
};

/* --- reading them --- */

static int add_part(const void *row, void *context)
{
	const struct um_part_row *part = row;
	struct um_part_lives *lives = context;

	if (part->offset_bytes < 0 || part->bytes < 1 || part->offset_bytes > BYTES_MAX ||
	    part->bytes > BYTES_MAX)
		return um_fail(UM_EFORMAT, "%s: damaged: a part of a size that cannot be",
			       um_db_path(lives->db));
	struct um_life *life = um_query_append(&lives->lives, &lives->count, sizeof(*life));

	if (!life)
		return UM_ENOMEM;
	*life = (struct um_life){
		.allocation = part->allocation,
		.start = part->offset_bytes,
		.end = part->offset_bytes + part->bytes,
		.op = part->op,
		.end_op = part->end_op == UM_NULL ? INT64_MAX : part->end_op,
		.name = strdup(part->name),
	};
	return life->name ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static int add_turn(struct sqlite3_stmt *row, void *context)
{
	struct um_part_lives *lives = context;
	struct turn *turn = um_query_append(&lives->turns, &lives->turn_count, sizeof(*turn));

	if (!turn)
		return UM_ENOMEM;
	*turn = (struct turn){um_query_integer(row, 0), um_query_integer(row, 1)};
	return 0;
}

static int compare_beginnings(const void *left, const void *right)
{
	const struct um_life *a = left, *b = right;

	return (a->op > b->op) - (a->op < b->op);
}

static int compare_ends(const void *left, const void *right)
{
	const struct um_life *a = *(struct um_life *const *)left;
	const struct um_life *b = *(struct um_life *const *)right;

	return (a->end_op > b->end_op) - (a->end_op < b->end_op);
}

static int sort(struct um_part_lives *lives)
{
	size_t room = lives->count + 1;

	lives->ends = calloc(room, sizeof(struct um_life *));
	lives->live = calloc(room, sizeof(struct um_life *));
	lives->found = calloc(room, sizeof(struct um_life *));
	if (!lives->ends || !lives->live || !lives->found)
		return um_fail(UM_ENOMEM, "out of memory");
	if (!lives->count)
		return 0;
	qsort(lives->lives, lives->count, sizeof(*lives->lives), compare_beginnings);
	for (size_t i = 0; i < lives->count; i++)
		lives->ends[i] = &lives->lives[i];
	qsort(lives->ends, lives->count, sizeof(struct um_life *), compare_ends);
	return 0;
}

int um_part_lives_load(struct um_part_lives **out, struct um_db *db)
{
	struct um_part_lives *lives = calloc(1, sizeof(*lives));
	int error = lives ? 0 : um_fail(UM_ENOMEM, "out of memory");

	*out = lives;
	if (error)
		return error;
	lives->db = db;
	error = um_db_each(db, &um_table_part, NULL, 0, add_part, lives);
	if (!error && lives->count)
		error = um_query_each(db,
				      "SELECT start_ns, op FROM op WHERE kind IN ('name', "
				      "'name_end', 'free') AND start_ns IS NOT NULL ORDER BY 1",
				      add_turn, lives);
	return error ? error : sort(lives);
}

void um_part_lives_destroy(struct um_part_lives *lives)
{
	if (!lives)
		return;
	for (size_t i = 0; i < lives->count; i++)
		free(lives->lives[i].name);
	free(lives->lives);
	free(lives->ends);
	free(lives->live);
	free(lives->found);
	free(lives->turns);
	free(lives);
}

struct um_life *um_part_lives_all(struct um_part_lives *lives, size_t *count)
{
	*count = lives->count;
	return lives->lives;
}

/* --- those that live --- */

static int compare_places(const struct um_life *a, const struct um_life *b)
{
	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a > b) - (a < b);
}

/* How many of those that live come before it. */
static size_t place_of(const struct um_part_lives *lives, const struct um_life *life)
{
	size_t low = 0, high = lives->live_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_places(lives->live[middle], life) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool holds(const struct um_life *outer, const struct um_life *life)
{
	return outer->allocation == life->allocation && outer->end >= life->end;
}

/* Of those behind `place` that lie in `life`: what is around them becomes `to` where it is `from`. */
static void hand_over(struct um_part_lives *lives, size_t place, const struct um_life *life,
		      const struct um_life *from, struct um_life *to)
{
	for (; place < lives->live_count; place++) {
		struct um_life *other = lives->live[place];

		if (other->allocation != life->allocation || other->start >= life->end)
			return;
		if (other->around == from && holds(life, other))
			other->around = to;
	}
}

static void begin(struct um_part_lives *lives, struct um_life *life)
{
	size_t place = place_of(lives, life);
	struct um_life *around = place ? lives->live[place - 1] : NULL;

	while (around && !holds(around, life))
		around = around->allocation == life->allocation ? around->around : NULL;
	memmove(lives->live + place + 1, lives->live + place,
		(lives->live_count - place) * sizeof(struct um_life *));
	lives->live[place] = life;
	lives->live_count++;
	life->around = around;
	hand_over(lives, place + 1, life, around, life);
}

/* A damaged file may have it end before it begins. */
static void end(struct um_part_lives *lives, struct um_life *life)
{
	size_t place = place_of(lives, life);

	if (place == lives->live_count || lives->live[place] != life)
		return;
	lives->live_count--;
	memmove(lives->live + place, lives->live + place + 1,
		(lives->live_count - place) * sizeof(struct um_life *));
	hand_over(lives, place, life, life, life->around);
}

void um_part_lives_rewind(struct um_part_lives *lives)
{
	lives->begun = lives->ended = lives->live_count = lives->turned = 0;
}

static void end_until(struct um_part_lives *lives, int64_t op)
{
	while (lives->ended < lives->count && lives->ends[lives->ended]->end_op <= op)
		end(lives, lives->ends[lives->ended++]);
}

struct um_life *um_part_lives_next(struct um_part_lives *lives)
{
	if (lives->begun == lives->count)
		return NULL;
	struct um_life *life = &lives->lives[lives->begun++];

	end_until(lives, life->op);
	begin(lives, life);
	return life;
}

void um_part_lives_go_to(struct um_part_lives *lives, int64_t op)
{
	while (lives->begun < lives->count && lives->lives[lives->begun].op <= op)
		um_part_lives_next(lives);
	end_until(lives, op);
}

void um_part_lives_go_to_time(struct um_part_lives *lives, int64_t at_ns)
{
	while (lives->turned < lives->turn_count && lives->turns[lives->turned].at_ns <= at_ns)
		um_part_lives_go_to(lives, lives->turns[lives->turned++].op);
}

size_t um_part_lives_at(struct um_part_lives *lives, int64_t allocation, int64_t start,
			int64_t end_at, struct um_life *const **found)
{
	const struct um_life wanted = {.allocation = allocation, .start = start, .end = INT64_MAX};
	size_t place = place_of(lives, &wanted), outer = 0;
	struct um_life *life = place ? lives->live[place - 1] : NULL;

	/* Those that begin before lie around the last of these, or apart. */
	for (; life && life->allocation == allocation; life = life->around)
		if (life->end > start)
			lives->found[outer++] = life;
	for (size_t i = 0; i < outer / 2; i++) {
		struct um_life *swapped = lives->found[i];

		lives->found[i] = lives->found[outer - 1 - i];
		lives->found[outer - 1 - i] = swapped;
	}
	for (; place < lives->live_count && lives->live[place]->allocation == allocation &&
	       lives->live[place]->start < end_at;
	     place++)
		lives->found[outer++] = lives->live[place];
	*found = lives->found;
	return outer;
}
