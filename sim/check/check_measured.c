#include "check_measured.h"

#include "trace/base/error.h"

#include <string.h>

/* --- what it is --- */

struct described {
	struct um_check_side *side;
	const char *path;
};

static int take_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	const struct described *described = context;

	described->side->ends_early = strcmp(run->ended, "running") == 0;
	described->side->tells_all_reached = described->side->card.is_cupti;
	if (strcmp(run->role, "trace") != 0)
		return um_fail(UM_EINVAL,
			       "%s is a simulation; --against takes what umtrace measured on a GPU",
			       described->path);
	return 0;
}

/* The word of table origin, if it is one to compare with; others are of no card. */
static const char *origin_word(const char *origin)
{
	static const char *const words[] = {"measured", "imported"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], origin) == 0)
			return words[i];
	return NULL;
}

/* fault.host is of the origin of fault where it has none of its own. */
static int take_origin(const void *row, void *context)
{
	const struct um_origin_row *origin = row;
	struct um_check_side *side = ((struct described *)context)->side;

	for (size_t i = 0; i < UM_CHECK_QUANTITIES; i++) {
		const char *record = um_check_quantities[i].record;
		bool is_own = record && strcmp(record, origin->record) == 0;
		bool is_inherited = record && strcmp(origin->record, "fault") == 0 &&
				    strcmp(record, "fault.host") == 0;

		/* In the table's order 'fault' comes before 'fault.host'. */
		if (is_own || is_inherited)
			side->origin[i] = origin_word(origin->origin);
	}
	return 0;
}

static int describe(struct um_check_side *side, struct um_db *db, const char *path)
{
	struct described described = {side, path};
	int error = um_db_run(db, take_run, &described);

	if (!error)
		error = um_db_each(db, &um_table_origin, NULL, 0, take_origin, &described);
	if (!side->origin[UM_CHECK_BYTES_TO_DEVICE] || !side->origin[UM_CHECK_REMOTE_MAPS])
		side->tells_all_reached = false;
	if (!error && !side->origin[UM_CHECK_BYTES_TO_DEVICE])
		error = um_fail(UM_EINVAL,
				"%s has no migrations that were measured on a GPU; --against takes "
				"what umtrace recorded there",
				path);
	return error;
}

/* --- its rows --- */

#define TAKE(name, row_type)                                                                       \
	static int take_##name(const void *row, void *context)                                     \
	{                                                                                          \
		return um_check_add_##name(context, (const struct row_type *)row);                 \
	}
TAKE(op, um_op_row)
TAKE(fault, um_fault_row)
TAKE(migration, um_migration_row)
TAKE(mapping, um_mapping_row)
TAKE(remote_access, um_remote_access_row)
TAKE(copy, um_copy_traffic_row)

static int read_rows(struct um_check_side *side, struct um_db *db)
{
	static const struct {
		const struct um_table *table;
		int (*take)(const void *row, void *context);
	} tables[] = {{&um_table_op, take_op},
		      {&um_table_fault, take_fault},
		      {&um_table_migration, take_migration},
		      {&um_table_mapping, take_mapping},
		      {&um_table_remote_access, take_remote_access},
		      {&um_table_copy_traffic, take_copy}};
	int64_t lost = 0;
	int error = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !error; i++)
		error = um_db_each(db, tables[i].table, NULL, 0, tables[i].take, side);
	if (!error)
		error = um_db_integer(
			db,
			"SELECT TOTAL(MAX(count, 0)) FROM loss WHERE kind IN ('dropped', 'unknown_record')",
			0, &lost);
	side->lost = lost > 0 ? (uint64_t)lost : 0;
	return error;
}

static int read_all(struct um_check_side *side, struct um_db *db, const char *path)
{
	int error = um_check_side_program(side, db);

	if (!error)
		error = describe(side, db, path);
	if (!error)
		error = read_rows(side, db);
	um_check_side_complete(side);
	return error;
}

int um_check_measured_read(struct um_check_side *out, const char *path)
{
	struct um_db *db;
	int error = um_db_open(&db, path);

	if (error)
		return error;
	error = read_all(out, db, path);
	um_db_close(db);
	if (error)
		um_check_side_free(out);
	return error;
}
