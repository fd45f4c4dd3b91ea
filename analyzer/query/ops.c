#include "ops.h"

#include "query.h"
#include "range_spans.h"
#include "trace/base/error.h"
#include "trace/spool/selection.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
	const struct um_ops_choice *choice;
	int (*call)(const struct um_op_view *, void *);
	void *context;
	struct um_stacks *stacks;
	struct um_span *places; /* of the ranges that are named as asked */
	size_t place_count;
	struct um_op_view view;
};

bool um_ops_is_kind(const char *kind)
{
	return um_word_code(um_op_words, kind) >= 0;
}

/* --- what is asked for --- */

static bool has_kind(const struct um_ops_choice *choice, const char *kind)
{
	if (!choice->kinds || !choice->kinds[0])
		return strcmp(kind, "host") != 0;
	for (const char *const *wanted = choice->kinds; *wanted; wanted++)
		if (strcmp(*wanted, kind) == 0)
			return true;
	return false;
}

static bool kernel_matches(const char *pattern, const char *kernel)
{
	return !pattern || (kernel && um_selection_is_kernel(pattern, kernel));
}

static bool one_allocation_matches(const char *pattern, int64_t allocation, const char *name)
{
	char number[32];

	if (allocation == UM_NULL)
		return false;
	snprintf(number, sizeof(number), "%" PRId64, allocation);
	return strcmp(pattern, number) == 0 || (name && fnmatch(pattern, name, 0) == 0) ||
	       (name && strcmp(pattern, name) == 0); /* "many[0]" */
}

static bool allocation_matches(const char *pattern, const struct um_op_view *view)
{
	return !pattern ||
	       one_allocation_matches(pattern, view->op.allocation, view->allocation_name) ||
	       one_allocation_matches(pattern, view->op.source_allocation, view->source_name);
}

static bool is_chosen(struct listing *listing)
{
	const struct um_ops_choice *choice = listing->choice;
	const struct um_op_view *view = &listing->view;
	const struct um_op_row *op = &view->op;

	return has_kind(choice, op->kind) && kernel_matches(choice->kernel, view->kernel) &&
	       allocation_matches(choice->allocation, view) &&
	       (choice->stream == UM_NULL || choice->stream == op->stream) &&
	       (choice->thread == UM_NULL || choice->thread == op->thread) &&
	       (!choice->failed || (op->result != 0 && op->result != UM_NULL)) &&
	       (!choice->range ||
		um_spans_hold(listing->places, listing->place_count, op->thread, op->op));
}

/* --- rows --- */

static const char ops_sql[] =
	"SELECT op.op, op.kind, op.flags, op.thread, op.stream, op.start_ns, op.end_ns,"
	/* A range is no call, whatever older files say. */
	" CASE WHEN op.kind <> 'range' THEN op.result END,"
	" op.site, op.allocation, op.offset_bytes, op.bytes, op.source_allocation,"
	" op.source_offset_bytes, op.device, op.advice, op.event, op.value, target.name,"
	" target.kind, source.name, kernel.name, kernel.symbol, kernel.grid_x, kernel.grid_y,"
	" kernel.grid_z, kernel.block_x, kernel.block_y, kernel.block_z, kernel.lds_bytes,"
	" user_range.name, COALESCE(part.name, ended.name), kernel.recorded"
	" FROM op LEFT JOIN kernel ON kernel.op = op.op"
	" LEFT JOIN allocation AS target ON target.allocation = op.allocation"
	" LEFT JOIN allocation AS source ON source.allocation = op.source_allocation"
	" LEFT JOIN user_range ON user_range.op = op.op"
	" LEFT JOIN part ON part.op = op.op"
	" LEFT JOIN part AS ended ON ended.end_op = op.op AND op.kind = 'name_end' ORDER BY op.op";

static void read_op(struct um_op_row *op, struct sqlite3_stmt *row)
{
	*op = (struct um_op_row){
		.op = um_query_integer(row, 0),
		.kind = um_query_text(row, 1),
		.flags = um_query_integer(row, 2),
		.thread = um_query_integer(row, 3),
		.stream = um_query_integer(row, 4),
		.start_ns = um_query_integer(row, 5),
		.end_ns = um_query_integer(row, 6),
		.result = um_query_integer(row, 7),
		.site = um_query_integer(row, 8),
		.allocation = um_query_integer(row, 9),
		.offset_bytes = um_query_integer(row, 10),
		.bytes = um_query_integer(row, 11),
		.source_allocation = um_query_integer(row, 12),
		.source_offset_bytes = um_query_integer(row, 13),
		.device = um_query_integer(row, 14),
		.advice = um_query_text(row, 15),
		.event = um_query_integer(row, 16),
		.value = um_query_integer(row, 17),
	};
}

static void read_view(struct um_op_view *view, struct sqlite3_stmt *row)
{
	read_op(&view->op, row);
	view->allocation_name = um_query_text(row, 18);
	view->allocation_kind = um_query_text(row, 19);
	view->source_name = um_query_text(row, 20);
	view->kernel = um_query_text(row, 21);
	view->symbol = um_query_text(row, 22);
	for (int i = 0; i < 3; i++) {
		view->grid[i] = um_query_integer(row, 23 + i);
		view->block[i] = um_query_integer(row, 26 + i);
	}
	view->lds_bytes = um_query_integer(row, 29);
	view->range = um_query_text(row, 30);
	view->part = um_query_text(row, 31);
	view->recorded = um_query_integer(row, 32);
	view->frame_count = 0;
	view->user = NULL;
}

static int look_at(struct sqlite3_stmt *row, void *context)
{
	struct listing *listing = context;
	struct um_op_view *view = &listing->view;

	read_view(view, row);
	if (!view->op.kind)
		return um_fail(UM_EFORMAT, "damaged: a call without its kind");
	if (!is_chosen(listing))
		return 0;
	view->frame_count = um_stacks_frames(listing->stacks, view->op.site, view->frames,
					     UM_STACKS_FRAMES_MAX);
	view->user = um_stacks_user(listing->stacks, view->op.site, view->op.kind, NULL);
	return listing->call(view, listing->context);
}

/* --- ranges --- */

static int add_range(struct sqlite3_stmt *row, void *context)
{
	struct listing *listing = context;
	const char *name = um_query_text(row, 0);
	int64_t last_op = um_query_integer(row, 2);

	if (!name || fnmatch(listing->choice->range, name, 0) != 0)
		return 0;
	struct um_span *added =
		um_query_append(&listing->places, &listing->place_count, sizeof(*added));

	if (!added)
		return UM_ENOMEM;
	*added = (struct um_span){.thread = um_query_integer(row, 3),
				  .first = um_query_integer(row, 1),
				  .last = last_op == UM_NULL ? INT64_MAX : last_op};
	return 0;
}

static int load_ranges(struct listing *listing, struct um_db *db)
{
	int error = um_query_each(db,
				  "SELECT user_range.name, user_range.op, user_range.last_op,"
				  " op.thread FROM user_range JOIN op ON op.op = user_range.op"
				  " ORDER BY user_range.op",
				  add_range, listing);

	if (!error && listing->place_count == 0)
		error = um_fail(UM_ENOENT, "%s: no range is called '%s'", um_db_path(db),
				listing->choice->range);
	um_spans_merge(listing->places, &listing->place_count);
	return error;
}

int um_ops_each(struct um_db *db, const struct um_ops_choice *choice,
		int (*call)(const struct um_op_view *, void *context), void *context)
{
	struct listing listing = {.choice = choice, .call = call, .context = context};
	int error = um_query_check_run(db);

	if (!error)
		error = um_stacks_load(&listing.stacks, db, choice->skip_frames);
	if (!error && choice->range)
		error = load_ranges(&listing, db);
	if (!error)
		error = um_query_each(db, ops_sql, look_at, &listing);
	um_stacks_destroy(listing.stacks);
	free(listing.places);
	return error;
}
