#include "user_frames.h"

#include "query.h"
#include "trace/base/error.h"

#include <sqlite3.h>

struct filling {
	struct um_db *db;
	const struct um_stacks *stacks;
	struct sqlite3_stmt *insert;
};

static void bind_text(struct sqlite3_stmt *insert, int column, const char *text)
{
	sqlite3_bind_text(insert, column, text, -1, SQLITE_STATIC); /* NULL is NULL */
}

static int add_site(struct sqlite3_stmt *row, void *context)
{
	struct filling *filling = context;
	struct sqlite3_stmt *insert = filling->insert;
	int64_t site = um_query_integer(row, 0);
	const char *kind = um_query_text(row, 1);
	const struct um_stack_frame *frame =
		um_stacks_user(filling->stacks, site, *kind ? kind : NULL, NULL);

	if (!frame)
		return 0;
	sqlite3_bind_int64(insert, 1, site);
	sqlite3_bind_text(insert, 2, kind, -1, SQLITE_TRANSIENT);
	bind_text(insert, 3, frame->file);
	if (frame->line == UM_NULL)
		sqlite3_bind_null(insert, 4);
	else
		sqlite3_bind_int64(insert, 4, frame->line);
	bind_text(insert, 5, frame->function);
	bind_text(insert, 6, frame->module);
	sqlite3_bind_int64(insert, 7, frame->offset_bytes);
	int result = sqlite3_step(insert);
	sqlite3_reset(insert);
	return result == SQLITE_DONE ? 0
				     : um_fail(UM_EFORMAT, "%s: %s", um_db_path(filling->db),
					       sqlite3_errmsg(um_db_handle(filling->db)));
}

int um_user_frames_create(struct um_db *db, const struct um_stacks *stacks)
{
	struct filling filling = {.db = db, .stacks = stacks};
	int error =
		um_db_exec(db, "CREATE TEMP TABLE user_frame (site INTEGER, kind TEXT,"
			       " file TEXT, line INTEGER, function TEXT, module TEXT,"
			       " offset_bytes INTEGER, PRIMARY KEY (site, kind)) WITHOUT ROWID");

	if (error)
		return error;
	if (sqlite3_prepare_v2(um_db_handle(db),
			       "INSERT INTO temp.user_frame VALUES (?, ?, ?, ?, ?, ?, ?)", -1,
			       &filling.insert, NULL) != SQLITE_OK)
		return um_fail(UM_EFORMAT, "%s: %s", um_db_path(db),
			       sqlite3_errmsg(um_db_handle(db)));
	error = um_query_each(db,
			      "SELECT DISTINCT site, 'alloc' FROM allocation WHERE site IS NOT NULL"
			      " UNION ALL SELECT DISTINCT site, '' FROM site",
			      add_site, &filling);
	sqlite3_finalize(filling.insert);
	return error;
}
