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
	int64_t *host_ops;		 /* ascending; none where there are no ranges */
	size_t host_op_count;
	int64_t last_op; /* that was looked up */
	bool last_is_host;
};

/* --- one row --- */

static const char migration_sql[] =
	"SELECT op, allocation, source, destination, cause_code, start_ns, bytes, transfers,"
	" duration_ns FROM migration";
static const char fault_sql[] =
	"SELECT op, allocation, device, access_code, site, start_ns, faults, pages, batch FROM fault";

static int too_much(const struct digest *digest)
{
	return um_fail(UM_EFORMAT, "%s: integer overflow in a sum", um_db_path(digest->db));
}

enum { OP, START = UM_ROW_GROUP_KEYS - 1, FIRST_AMOUNT, SECOND_AMOUNT, EXTRA };

static int compare_ops(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* Rows that follow each other are mostly of one op. */
static bool is_of_host(struct digest *digest, int64_t op)
{
	if (!digest->host_op_count)
		return false;
	if (op != digest->last_op) {
		digest->last_op = op;
		digest->last_is_host = bsearch(&op, digest->host_ops, digest->host_op_count,
					       sizeof(op), compare_ops) != NULL;
	}
	return digest->last_is_host;
}

static void read_key(struct digest *digest, struct sqlite3_stmt *row, int64_t *key)
{
	for (int i = 0; i < START; i++)
		key[i] = um_query_integer(row, i);
	key[START] = is_of_host(digest, key[OP]) ? um_query_integer(row, START) : UM_NULL;
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

	read_key(digest, row, key);
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

	read_key(digest, row, key);
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
	/* One transaction, whether the caller has one open or not. */
	error = um_db_exec(digest->db, "SAVEPOINT digest");
	if (!error)
		error = um_db_exec(digest->db, table->create);
	if (!error)
		error = insert_groups(digest, table->insert);
	return error ? error : um_db_exec(digest->db, "RELEASE digest");
}

static int add_host_op(struct sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	int64_t *op = um_query_append(&digest->host_ops, &digest->host_op_count, sizeof(*op));

	if (!op)
		return UM_ENOMEM;
	*op = um_query_integer(row, 0);
	return 0;
}

static int read_rows(struct digest *digest, const char *sql,
		     int (*add)(struct sqlite3_stmt *, void *))
{
	um_row_groups_fini(&digest->groups);
	digest->groups = (struct um_row_groups){0};
	return um_query_each(digest->db, sql, add, digest);
}

static int digest_all(struct digest *digest)
{
	int error = um_query_each(digest->db,
				  "SELECT op FROM op WHERE kind = 'host' AND EXISTS (SELECT 1 FROM"
				  " user_range) ORDER BY op",
				  add_host_op, digest);

	if (!error)
		error = read_rows(digest, migration_sql, add_migration);
	if (!error)
		error = hide(digest, &tables[0]);
	if (!error)
		error = read_rows(digest, fault_sql, add_fault);
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
	struct digest digest = {.db = db, .singles = singles, .last_op = UM_NULL};
	int error;

	*singles = (struct um_summary_singles){0};
	error = digest_all(&digest);
	um_row_groups_fini(&digest.groups);
	free(digest.host_ops);
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
