#include "summary_digest.h"

#include "interval_set.h"
#include "query.h"
#include "row_groups.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct digest {
	struct um_db *db;
	struct um_summary_singles *singles;
	struct um_row_groups groups;
	struct um_row_group rows[UM_ROW_GROUPS_AT_ONCE]; /* that are to be added to them */
	size_t row_count;
	struct um_row_groups sizes[3]; /* of transfers, by direction: how many of each size */
	struct um_interval_set
		batches[2]; /* of the host's faults, of devices': numbers that mostly ascend */
	int64_t *host_ops;  /* ascending; none where there are no ranges */
	size_t host_op_count;
	int64_t last_op; /* that was looked up */
	bool last_is_host;
};

/* --- one row --- */

static int too_much(const struct digest *digest)
{
	return um_fail(UM_EFORMAT, "%s: integer overflow in a sum", um_db_path(digest->db));
}

/* Places in the columns that are read of a row: keys, amounts, and one more. */
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

/* Rows of devices' ops, whose time does not matter, are one by one key less. */
static void settle_key(struct digest *digest, int64_t *key)
{
	if (!is_of_host(digest, key[OP]))
		key[START] = UM_NULL;
}

static int add_rows(struct digest *digest)
{
	int error = um_row_groups_add_rows(&digest->groups, digest->rows, digest->row_count);

	digest->row_count = 0;
	return error == UM_EFORMAT ? too_much(digest) : error;
}

/* Keys and amounts stand in a row as they do in a group. */
static int add_row(struct digest *digest, const int64_t *values)
{
	memcpy(&digest->rows[digest->row_count++], values, sizeof(digest->rows[0]));
	return digest->row_count < UM_ROW_GROUPS_AT_ONCE ? 0 : add_rows(digest);
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

static int add_migration(int64_t *values, void *context)
{
	struct digest *digest = context;
	int error = 0;

	settle_key(digest, values);
	if (values[FIRST_AMOUNT] == 0)
		values[SECOND_AMOUNT] = 0;
	if (values[FIRST_AMOUNT] > 0)
		error = add_transfer(digest, values, values[FIRST_AMOUNT], values[EXTRA]);
	return error ? error : add_row(digest, values);
}

static int add_batch(struct digest *digest, bool of_device, int64_t batch)
{
	if (batch == INT64_MAX)
		return too_much(digest);
	return um_interval_set_add(&digest->batches[of_device], batch, batch + 1);
}

static int add_fault(int64_t *values, void *context)
{
	struct digest *digest = context;
	bool of_device = values[2] >= 0;
	int error = 0;

	settle_key(digest, values);
	digest->singles->faults[of_device].records++;
	if (values[EXTRA] != UM_NULL)
		error = add_batch(digest, of_device, values[EXTRA]);
	return error ? error : add_row(digest, values);
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
	const char *name;
	int (*add)(int64_t *values, void *context);
	const char *keys; /* less the start */
	const char *amounts, *create, *insert;
} tables[] = {
	{"migration", add_migration, "op, allocation, source, destination, cause_code",
	 "bytes, transfers, duration_ns",
	 "CREATE TEMP TABLE migration (op, allocation, source, destination, cause_code, start_ns, bytes,"
	 " transfers, cause TEXT AS (CASE cause_code WHEN 0 THEN 'device_fault' WHEN 1 THEN 'host_fault'"
	 " WHEN 2 THEN 'prefetch' WHEN 3 THEN 'eviction' WHEN 4 THEN 'advice' WHEN 5 THEN 'duplicate'"
	 " WHEN 6 THEN 'driver_prefetch' WHEN 7 THEN 'access_counter' WHEN 8 THEN 'thrashing'"
	 " WHEN 9 THEN 'out_of_memory' WHEN 10 THEN 'host_unmap' END))",
	 "INSERT INTO temp.migration VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
	{"fault", add_fault, "op, allocation, device, access_code, site", "faults, pages, batch",
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

static int digest_table(struct digest *digest, const struct digested *table)
{
	char columns[128];
	int error;

	um_row_groups_fini(&digest->groups);
	digest->groups = (struct um_row_groups){0};
	snprintf(columns, sizeof(columns), "%s, %s, %s", table->keys,
		 digest->host_op_count ? "start_ns" : "NULL", table->amounts);
	error = um_query_scan(digest->db, columns, table->name, table->add, digest);
	if (!error)
		error = add_rows(digest);
	return error ? error : hide(digest, table);
}

static int digest_all(struct digest *digest)
{
	int error = um_query_each(digest->db,
				  "SELECT op FROM op WHERE kind = 'host' AND EXISTS (SELECT 1 FROM"
				  " user_range) ORDER BY op",
				  add_host_op, digest);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++)
		error = digest_table(digest, &tables[i]);
	for (size_t i = 0; i < 3 && !error; i++)
		error = conclude_sizes(digest, i);
	for (size_t i = 0; i < 2; i++)
		digest->singles->faults[i].batches = um_interval_set_total(&digest->batches[i]);
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
		um_interval_set_fini(&digest.batches[i]);
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
