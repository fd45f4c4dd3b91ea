#include "baseline.h"

#include "finding_replay.h"
#include "trace/base/error.h"

#include <string.h>

static int take_accesses(const void *row, void *context)
{
	const struct um_origin_row *origin = row;

	*(bool *)context = strcmp(origin->origin, "absent") != 0;
	return 0;
}

static int check_accesses(struct um_db *trace)
{
	bool has = false;
	int error = um_db_each(trace, &um_table_origin, "record = 'page_access' AND ?1 = 0", 0,
			       take_accesses, &has);

	if (error || has)
		return error;
	return um_fail(UM_ENOTSUP, "%s: it does not tell what its kernels touched",
		       um_db_path(trace));
}

/* --- rows as they are --- */

struct copying {
	struct um_db *to;
	const struct um_table *table;
};

static int copy_row(const void *row, void *context)
{
	const struct copying *copying = context;

	return um_db_insert(copying->to, copying->table, row);
}

static int copy_tables(struct um_db *to, struct um_db *from)
{
	static const struct um_table *const tables[] = {
		&um_table_site,	  &um_table_frame,	&um_table_allocation,  &um_table_part,
		&um_table_kernel, &um_table_user_range, &um_table_page_access,
	};
	int error = um_db_begin(to);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++) {
		struct copying copying = {to, tables[i]};

		error = um_db_each(from, tables[i], NULL, 0, copy_row, &copying);
	}
	return error ? error : um_db_commit(to);
}

/* --- the replay --- */

static int replay_into(struct um_db *to, struct um_db *trace,
		       const struct um_findings_choice *choice)
{
	struct um_finding_setup setup;
	struct um_finding_cost cost;
	struct um_observer rows;
	int error = um_finding_setup_init(&setup, trace, choice, NULL);

	if (!error)
		error = um_probe_db(&rows, to, UM_PROBE_OPS);
	if (!error)
		error = um_finding_replay(&setup, NULL, &rows, &cost);
	um_finding_setup_fini(&setup);
	return error;
}

int um_baseline_write(const char *path, struct um_db *trace,
		      const struct um_findings_choice *choice)
{
	struct um_db *to;
	int error = check_accesses(trace), close_error;

	if (!error)
		error = um_db_create(&to, path, true);
	if (error)
		return error;
	error = replay_into(to, trace, choice);
	if (!error)
		error = copy_tables(to, trace);
	close_error = um_db_close(to);
	return error ? error : close_error;
}
