#include "summary_digest.h"

#include "query.h"
#include "row_groups.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct digest {
	struct um_db *db;
	struct um_summary_singles *singles;
	struct um_row_groups groups;
	struct um_row_groups sizes[3];	 /* of transfers, by direction: how many of each size */
	struct um_row_groups batches[2]; /* of the host's faults, of devices' */
};

/* --- one row --- */

/* Where there are ranges, the start of a row counts whose op is the host's. */
static const char *const migration_sql[] = {
	"SELECT op, allocation, source, destination, cause_code, NULL, bytes, transfers,"
	" duration_ns FROM migration",
	"SELECT migration.op, migration.allocation, source, destination, cause_code,"
	" CASE op.kind WHEN 'host' THEN migration.start_ns END, migration.bytes, transfers,"
	" duration_ns FROM migration LEFT JOIN op ON op.op = migration.op",
};
static const char *const fault_sql[] = {
	"SELECT op, allocation, device, access_code, site, NULL, faults, pages, batch FROM fault",
	"SELECT fault.op, fault.allocation, fault.device, access_code, fault.site,"
	" CASE op.kind WHEN 'host' THEN fault.start_ns END, faults, pages, batch"
	" FROM fault LEFT JOIN op ON op.op = fault.op",
};

static int too_much(const struct digest *digest)
{
	return um_fail(UM_EFORMAT, "%s: integer overflow in a sum", um_db_path(digest->db));
}

enum { FIRST_AMOUNT = UM_ROW_GROUP_KEYS, SECOND_AMOUNT, EXTRA };

static void read_key(struct sqlite3_stmt *row, int64_t *key)
{
	for (int i = 0; i < UM_ROW_GROUP_KEYS; i++)
		key[i] = um_query_integer(row, i);
}

static int add_once(struct um_row_groups *groups, int64_t value)
{
	const int64_t key[UM_ROW_GROUP_KEYS] = {value}, once[2] = {1, 0};

	return um_row_groups_add(groups, key, once);
}

static int add_transfer(struct digest *digest, const int64_t *key, int64_t bytes,
			int64_t duration_ns)
{
	bool ways[3] = {key[2] == -1, key[3] == -1, key[2] >= 0 && key[3] >= 0};
	int error = 0;

	for (size_t i = 0; i < 3 && !error; i++) {
		if (!ways[i])
			continue;
		error = add_once(&digest->sizes[i], bytes);
		if (duration_ns != UM_NULL &&
		    __builtin_add_overflow(digest->singles->transfers[i].duration_ns, duration_ns,
					   &digest->singles->transfers[i].duration_ns))
			error = too_much(digest);
	}
	return error;
}

static int add_migration(struct sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	int64_t key[UM_ROW_GROUP_KEYS];
	int64_t amounts[2] = {um_query_integer(row, FIRST_AMOUNT),
			      um_query_integer(row, SECOND_AMOUNT)};
	int error = 0;

	read_key(row, key);
	if (amounts[0] == 0)
		amounts[1] = 0;
	if (amounts[0] > 0)
		error = add_transfer(digest, key, amounts[0], um_query_integer(row, EXTRA));
	if (!error)
		error = um_row_groups_add(&digest->groups, key, amounts);
	return error == UM_EFORMAT ? too_much(digest) : error;
}

static int add_fault(struct sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	int64_t key[UM_ROW_GROUP_KEYS], batch = um_query_integer(row, EXTRA);
	const int64_t amounts[2] = {um_query_integer(row, FIRST_AMOUNT),
				    um_query_integer(row, SECOND_AMOUNT)};
	bool of_device;
	int error = 0;

	read_key(row, key);
	of_device = key[2] >= 0;
	digest->singles->faults[of_device].records++;
	if (batch != UM_NULL)
		error = add_once(&digest->batches[of_device], batch);
	if (!error)
		error = um_row_groups_add(&digest->groups, key, amounts);
	return error == UM_EFORMAT ? too_much(digest) : error;
}

/* --- what single rows say --- */

static int by_size(const void *left, const void *right)
{
	const struct um_row_group *a = left, *b = right;

	return (a->key[0] > b->key[0]) - (a->key[0] < b->key[0]);
}

static int64_t size_at(const struct um_row_groups *sizes, int64_t place)
{
	size_t i = 0;

	for (int64_t below = 0; i + 1 < sizes->count && below + sizes->groups[i].sum[0] <= place;)
		below += sizes->groups[i++].sum[0];
	return sizes->groups[i].key[0];
}

/* Of an even number the median is the mean of the two in the middle. */
static int conclude_sizes(struct digest *digest, size_t way)
{
	struct um_row_groups *sizes = &digest->sizes[way];
	__typeof__(&digest->singles->transfers[0]) out = &digest->singles->transfers[way];

	out->median_bytes = out->least_bytes = out->most_bytes = UM_NULL;
	if (!sizes->count)
		return 0;
	qsort(sizes->groups, sizes->count, sizeof(*sizes->groups), by_size);
	for (size_t i = 0; i < sizes->count; i++) {
		int64_t bytes;

		out->count += sizes->groups[i].sum[0];
		if (__builtin_mul_overflow(sizes->groups[i].key[0], sizes->groups[i].sum[0],
					   &bytes) ||
		    __builtin_add_overflow(out->bytes, bytes, &out->bytes))
			return too_much(digest);
	}
	out->least_bytes = sizes->groups[0].key[0];
	out->most_bytes = sizes->groups[sizes->count - 1].key[0];
	int64_t lower = size_at(sizes, (out->count - 1) / 2);
	int64_t upper = size_at(sizes, out->count / 2);
	out->median_bytes = lower + (upper - lower) / 2;
	return 0;
}

/* --- tables --- */

static const struct digested {
	const char *name, *create, *insert;
} tables[] = {
	{"migration",
	 "CREATE TEMP TABLE migration (op, allocation, source, destination, cause_code, start_ns, bytes,"
	 " transfers, cause TEXT AS (CASE cause_code WHEN 0 THEN 'device_fault' WHEN 1 THEN 'host_fault'"
	 " WHEN 2 THEN 'prefetch' WHEN 3 THEN 'eviction' WHEN 4 THEN 'advice' WHEN 5 THEN 'duplicate'"
	 " WHEN 6 THEN 'driver_prefetch' WHEN 7 THEN 'access_counter' WHEN 8 THEN 'thrashing'"
	 " WHEN 9 THEN 'out_of_memory' WHEN 10 THEN 'host_unmap' END))",
	 "INSERT INTO temp.migration VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
	{"fault",
	 "CREATE TEMP TABLE fault (op, allocation, device, access_code, site, start_ns, faults, pages,"
	 " access TEXT AS (CASE access_code WHEN 0 THEN 'read' WHEN 1 THEN 'write'"
	 " WHEN 2 THEN 'atomic' WHEN 3 THEN 'prefetch' END))",
	 "INSERT INTO temp.fault VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
};

static void bind(sqlite3_stmt *statement, int at, int64_t value)
{
	if (value == UM_NULL)
		sqlite3_bind_null(statement, at);
	else
		sqlite3_bind_int64(statement, at, value);
}

static int insert_groups(const struct digest *digest, const char *sql)
{
	sqlite3 *handle = um_db_handle(digest->db);
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);

	for (size_t i = 0; i < digest->groups.count && result == SQLITE_OK; i++) {
		const struct um_row_group *group = &digest->groups.groups[i];

		for (int key = 0; key < UM_ROW_GROUP_KEYS; key++)
			bind(statement, key + 1, group->key[key]);
		bind(statement, UM_ROW_GROUP_KEYS + 1, group->sum[0]);
		bind(statement, UM_ROW_GROUP_KEYS + 2, group->sum[1]);
		sqlite3_step(statement);
		result = sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return result == SQLITE_OK
		       ? 0
		       : um_fail(UM_EIO, "%s: %s", um_db_path(digest->db), sqlite3_errmsg(handle));
}

/* What hides the table already (ranges that were chosen, an older file's) stays: it is read as it is. */
static int hide(const struct digest *digest, const struct digested *table)
{
	int64_t hidden = 0;
	char sql[128];
	int error;

	snprintf(sql, sizeof(sql),
		 "SELECT COUNT(*) FROM temp.sqlite_master WHERE name = '%s' AND ?1 = 0",
		 table->name);
	error = um_db_integer(digest->db, sql, 0, &hidden);
	if (error || hidden)
		return error;
	error = um_db_exec(digest->db, table->create);
	return error ? error : insert_groups(digest, table->insert);
}

static int read_rows(struct digest *digest, const char *const *sql, bool has_ranges,
		     int (*add)(struct sqlite3_stmt *, void *))
{
	um_row_groups_fini(&digest->groups);
	digest->groups = (struct um_row_groups){0};
	return um_query_each(digest->db, sql[has_ranges], add, digest);
}

static int digest_all(struct digest *digest)
{
	int64_t has_ranges = 0;
	int error =
		um_db_integer(digest->db, "SELECT EXISTS (SELECT 1 FROM user_range WHERE ?1 = 0)",
			      0, &has_ranges);

	if (!error)
		error = read_rows(digest, migration_sql, has_ranges != 0, add_migration);
	if (!error)
		error = hide(digest, &tables[0]);
	if (!error)
		error = read_rows(digest, fault_sql, has_ranges != 0, add_fault);
	if (!error)
		error = hide(digest, &tables[1]);
	for (size_t i = 0; i < 3 && !error; i++)
		error = conclude_sizes(digest, i);
	for (size_t i = 0; i < 2; i++)
		digest->singles->faults[i].batches = (int64_t)digest->batches[i].count;
	return error;
}

int um_summary_digest_begin(struct um_db *db, struct um_summary_singles *singles)
{
	struct digest digest = {.db = db, .singles = singles};
	int error;

	*singles = (struct um_summary_singles){0};
	error = digest_all(&digest);
	um_row_groups_fini(&digest.groups);
	for (size_t i = 0; i < 3; i++)
		um_row_groups_fini(&digest.sizes[i]);
	for (size_t i = 0; i < 2; i++)
		um_row_groups_fini(&digest.batches[i]);
	return error;
}

/* Those of a range that was chosen are no digests: they have all columns. */
static int drop(struct um_db *db, const char *table)
{
	int64_t digested = 0;
	char sql[160];
	int error;

	snprintf(sql, sizeof(sql),
		 "SELECT COUNT(*) FROM temp.sqlite_master WHERE name = '%s' AND type = 'table'"
		 " AND sql NOT LIKE '%%first_page%%' AND ?1 = 0",
		 table);
	error = um_db_integer(db, sql, 0, &digested);
	if (error || !digested)
		return error;
	snprintf(sql, sizeof(sql), "DROP TABLE temp.%s", table);
	return um_db_exec(db, sql);
}

int um_summary_digest_end(struct um_db *db)
{
	int error = drop(db, "migration");

	return error ? error : drop(db, "fault");
}
