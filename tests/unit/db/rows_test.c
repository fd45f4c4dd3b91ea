/* Every table, with every column both set and NULL, there and back. */
#include "trace/base/error.h"
#include "trace/db/trace_db.h"
#include "trace/spool/access_stream.h"
#include "trace/spool/spool_record.h"

#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/umtrace-rows-XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/rows.um.db", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static struct um_db *create(void)
{
	struct um_db *db;

	assert_int_equal(um_db_create(&db, path, true), 0);
	return db;
}

/* A valid text for the columns that only take some. */
static const char *text_of(const struct um_table *table, const struct um_column *column)
{
	static const struct {
		const char *table, *column, *text;
	} texts[] = {
		{"run", "role", "trace"},	    {"run", "ended", "exited"},
		{"origin", "origin", "modelled"},   {"allocation", "kind", "managed"},
		{"op", "kind", "stream_create"},    {"fault", "access", "write"},
		{"host_access", "access", "write"}, {"migration", "cause", "eviction"},
		{"mapping", "change", "remote"},    {"mapping", "cause", "thrashing"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strcmp(texts[i].table, table->name) && !strcmp(texts[i].column, column->name))
			return texts[i].text;
	return column->name;
}

static void fill_row(const struct um_table *table, void *row, bool nulls)
{
	int64_t number = 3; /* so that no mask's row says that lines are unknown */

	for (const struct um_column *column = table->columns; column->name; column++) {
		void *field = (char *)row + column->offset;
		bool null = nulls && !column->required;

		switch (column->type) {
		case UM_COLUMN_INT:
		case UM_COLUMN_ID:
		case UM_COLUMN_END:
			*(int64_t *)field = null ? UM_NULL : number;
			number += strcmp(column->name, "touch") ? 1 : 4;
			break;
		case UM_COLUMN_MASK:
			*(int64_t *)field = UM_NULL; /* line 63 alone: a mask like any other */
			break;
		case UM_COLUMN_REAL:
			*(double *)field = null ? (double)NAN : 12.5e9;
			break;
		case UM_COLUMN_TEXT:
		case UM_COLUMN_WORD:
			*(const char **)field = null ? NULL : text_of(table, column);
			break;
		case UM_COLUMN_BLOB:
			*(struct um_blob *)field = (struct um_blob){"a\0b", 3};
			break;
		}
	}
}

struct expectation {
	const struct um_table *table;
	const void *row;
	size_t seen;
};

static int compare(const void *row, void *context)
{
	struct expectation *expected = context;

	expected->seen++;
	for (const struct um_column *column = expected->table->columns; column->name; column++) {
		const void *a = (const char *)row + column->offset;
		const void *b = (const char *)expected->row + column->offset;

		switch (column->type) {
		case UM_COLUMN_INT:
		case UM_COLUMN_ID:
		case UM_COLUMN_MASK:
		case UM_COLUMN_END:
			assert_int_equal(*(const int64_t *)a, *(const int64_t *)b);
			break;
		case UM_COLUMN_REAL:
			if (isnan(*(const double *)b))
				assert_true(isnan(*(const double *)a));
			else
				assert_true(*(const double *)a == *(const double *)b);
			break;
		case UM_COLUMN_TEXT:
		case UM_COLUMN_WORD:
			if (*(const char *const *)b)
				assert_string_equal(*(const char *const *)a,
						    *(const char *const *)b);
			else
				assert_null(*(const char *const *)a);
			break;
		case UM_COLUMN_BLOB:
			assert_int_equal(((const struct um_blob *)a)->bytes,
					 ((const struct um_blob *)b)->bytes);
			assert_memory_equal(((const struct um_blob *)a)->data,
					    ((const struct um_blob *)b)->data,
					    ((const struct um_blob *)b)->bytes);
			break;
		}
	}
	return 0;
}

static void round_trip(bool nulls)
{
	for (const struct um_table *const *table = um_tables; *table; table++) {
		void *row = calloc(1, (*table)->row_bytes);
		struct expectation expected = {*table, row, 0};
		struct um_db *db = create();

		assert_non_null(row);
		fill_row(*table, row, nulls);
		/* Rows may name others that a broken trace lacks. */
		assert_int_equal(um_db_insert(db, *table, row), 0);
		assert_int_equal(um_db_close(db), 0);
		assert_int_equal(um_db_open(&db, path), 0);
		assert_int_equal(um_db_each(db, *table, NULL, 0, compare, &expected), 0);
		assert_int_equal(expected.seen, 1);
		assert_int_equal(um_db_close(db), 0);
		free(row);
	}
}

static void full_rows_return(void **state)
{
	(void)state;
	round_trip(false);
}

static void nulls_return(void **state)
{
	(void)state;
	round_trip(true);
}

static int64_t ask(struct um_db *db, const char *format, const char *table, const char *column,
		   const char *type)
{
	char sql[512];
	int64_t answer;

	snprintf(sql, sizeof(sql), format, table, column, type);
	assert_int_equal(um_db_integer(db, sql, 0, &answer), 0);
	return answer;
}

static void check_column(struct um_db *db, const struct um_table *table,
			 const struct um_column *column)
{
	static const char *const types[] = {
		[UM_COLUMN_INT] = "INTEGER",  [UM_COLUMN_ID] = "INTEGER",
		[UM_COLUMN_MASK] = "INTEGER", [UM_COLUMN_REAL] = "REAL",
		[UM_COLUMN_TEXT] = "TEXT",    [UM_COLUMN_WORD] = "TEXT",
		[UM_COLUMN_END] = "INTEGER",  [UM_COLUMN_BLOB] = "BLOB"};
	const char *stored = column->stored ? column->stored : column->name;

	assert_int_equal(ask(db,
			     "SELECT \"notnull\" OR pk FROM pragma_table_xinfo('%s') WHERE name = "
			     "'%s' AND hidden = 0",
			     table->name, stored, ""),
			 column->required);
	assert_int_equal(ask(db,
			     "SELECT count(*) FROM pragma_table_xinfo('%s') WHERE name = '%s' AND "
			     "type = '%s'",
			     table->name, column->name, types[column->type]),
			 1);
}

/* The descriptions and schema.sql have the same columns, and agree on NOT NULL. */
static void descriptions_match_the_schema(void **state)
{
	struct um_db *db = create();

	(void)state;
	for (const struct um_table *const *table = um_tables; *table; table++) {
		int64_t columns = 0;

		for (; (*table)->columns[columns].name; columns++)
			check_column(db, *table, &(*table)->columns[columns]);
		assert_int_equal(ask(db,
				     "SELECT count(*) FROM pragma_table_xinfo('%s') WHERE hidden = "
				     "0 AND name <> 'id'",
				     (*table)->name, "", ""),
				 columns);
	}
	assert_int_equal(um_db_close(db), 0);
}

struct word_column {
	const struct um_table *table;
	const char *column;
	const struct um_word *words;
};

static const struct um_column *column_of(const struct word_column *of)
{
	const struct um_column *column = of->table->columns;

	while (strcmp(column->name, of->column) != 0)
		column++;
	return column;
}

static void check_words(const struct word_column *of)
{
	const struct um_column *column = column_of(of);
	void *row = calloc(1, of->table->row_bytes);
	const char **field = (const char **)(void *)((char *)row + column->offset);
	struct um_db *db = create();
	char sql[256];
	int64_t words = 0, found;

	assert_non_null(row);
	fill_row(of->table, row, false);
	for (const struct um_word *word = of->words; word->word; word++, words++) {
		char *copy = strdup(word->word); /* a word is its text, not its place */

		*field = copy;
		assert_int_equal(um_db_insert(db, of->table, row), 0);
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM %s WHERE %s_code = %d AND %s = '%s'",
			 of->table->name, of->column, word->code, of->column, word->word);
		assert_int_equal(um_db_integer(db, sql, 0, &found), 0);
		assert_int_equal(found, 1);
		free(copy);
	}
	*field = "whim";
	assert_int_equal(um_db_insert(db, of->table, row), UM_EINVAL);
	*field = NULL;
	assert_int_equal(um_db_insert(db, of->table, row), column->required ? UM_EINVAL : 0);
	/* Nothing beyond the list is taken either. */
	snprintf(sql, sizeof(sql), "UPDATE %s SET %s_code = %lld", of->table->name, of->column,
		 (long long)words);
	assert_int_equal(um_db_exec(db, sql), UM_EINVAL);
	um_db_close(db);
	free(row);
}

static void words_are_those_of_the_schema(void **state)
{
	static const struct word_column columns[] = {
		{&um_table_fault, "access", um_access_words},
		{&um_table_migration, "cause", um_cause_words},
		{&um_table_mapping, "cause", um_cause_words},
		{&um_table_mapping, "change", um_change_words},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		check_words(&columns[i]);
}

/* Those that are kept as text: the schema takes each, and no other. */
static void kinds_are_those_of_the_schema(void **state)
{
	struct um_op_row op = {.op = 0};
	struct um_allocation_row allocation = {.allocation = 0};
	struct um_db *db = create();

	(void)state;
	for (const struct um_word *word = um_op_words; word->word; word++, op.op++) {
		op.kind = word->word;
		assert_int_equal(um_db_insert(db, &um_table_op, &op), 0);
	}
	assert_int_equal(op.op, UM_OP_KINDS - 1);
	op.kind = "dream";
	assert_int_equal(um_db_insert(db, &um_table_op, &op), UM_EINVAL);
	for (const struct um_word *word = um_allocation_words; word->word; word++) {
		allocation.kind = word->word;
		assert_int_equal(um_db_replace(db, &um_table_allocation, &allocation), 0);
	}
	for (int cause = 0; cause < UM_TRAFFIC_CAUSES; cause++) {
		assert_int_equal(um_traffic_words[cause].code, cause);
		assert_non_null(um_traffic_words[cause].label);
	}
	assert_int_equal(um_word_code(um_advice_words, "coarse_grain"), 100);
	assert_int_equal(um_word_code(um_advice_words, "whim"), -1);
	assert_int_equal(um_word_code(um_advice_words, NULL), -1);
	assert_null(um_word(um_advice_words, 7));
	assert_int_equal(um_db_close(db), 0);
}

static int see_masks(const void *row, void *context)
{
	const struct um_page_access_row *access = row;

	(void)context;
	assert_int_equal(access->touch, UM_TOUCH_READ | UM_TOUCH_LINES_UNKNOWN);
	assert_int_equal(access->lines_read, 0);
	assert_int_equal(access->lines_written, 0);
	return 0;
}

static void unknown_lines_are_null(void **state)
{
	const struct um_page_access_row row = {
		.op = 1,
		.allocation = 1,
		.pages = 1,
		.touch = UM_TOUCH_READ | UM_TOUCH_LINES_UNKNOWN,
		.lines_read = 7,
		.requests = UM_NULL,
		.atomics = UM_NULL,
	};
	struct um_db *db = create();
	int64_t nulls;

	(void)state;
	assert_int_equal(um_db_insert(db, &um_table_page_access, &row), 0);
	assert_int_equal(um_db_integer(db,
				       "SELECT count(*) FROM page_access WHERE lines_read IS NULL "
				       "AND lines_written IS NULL",
				       0, &nulls),
			 0);
	assert_int_equal(nulls, 1);
	assert_int_equal(um_db_each(db, &um_table_page_access, NULL, 0, see_masks, NULL), 0);
	assert_int_equal(um_db_close(db), 0);
}

static void a_key_is_taken_once(void **state)
{
	struct um_origin_row row = {"op.time", "emulated", "run", "as it was"};
	struct um_db *db = create();
	int64_t rows;

	(void)state;
	assert_int_equal(um_db_insert(db, &um_table_origin, &row), 0);
	assert_int_equal(um_db_insert(db, &um_table_origin, &row), UM_EINVAL);
	row.detail = "as it is";
	assert_int_equal(um_db_replace(db, &um_table_origin, &row), 0);
	assert_int_equal(um_db_integer(db, "SELECT count(*) FROM origin WHERE detail = 'as it is'",
				       0, &rows),
			 0);
	assert_int_equal(rows, 1);
	row.origin = "guessed";
	row.record = "page_access";
	assert_int_equal(um_db_insert(db, &um_table_origin, &row), UM_EINVAL);
	/* A row that was refused is no failure of the file. */
	assert_int_equal(um_db_close(db), 0);
}

static int nested(const void *row, void *context)
{
	struct um_db *db = context;
	const struct um_site_row *site = row;
	struct expectation none = {&um_table_frame, NULL, 0};

	assert_int_equal(um_db_each(db, &um_table_frame, "site = ?", site->site, compare, &none),
			 0);
	assert_int_equal(um_db_each(db, &um_table_site, "site > ?", 1000, compare, &none), 0);
	return site->site == 3 ? UM_ESTOPPED : 0;
}

static void reads_nest_and_stop(void **state)
{
	struct um_db *db = create();

	(void)state;
	for (int64_t site = 1; site <= 5; site++)
		assert_int_equal(
			um_db_insert(db, &um_table_site, &(struct um_site_row){site, UM_NULL}), 0);
	assert_int_equal(um_db_each(db, &um_table_site, NULL, 0, nested, db), UM_ESTOPPED);
	assert_int_equal(um_db_close(db), 0);
}

static void many_questions_share_few_statements(void **state)
{
	struct um_db *db = create();
	struct expectation none = {&um_table_site, NULL, 0};

	(void)state;
	for (int i = 0; i < 200; i++) {
		char where[64];

		snprintf(where, sizeof(where), "site > ? + %d", i);
		assert_int_equal(um_db_each(db, &um_table_site, where, 1, compare, &none), 0);
		assert_int_equal(um_db_replace(db, &um_table_device,
					       &(struct um_device_row){0, .name = "d"}),
				 0);
	}
	assert_int_equal(um_db_close(db), 0);
}

static int never(const void *row, void *context)
{
	(void)row;
	(void)context;
	fail();
	return 0;
}

static void null_where_a_value_must_be_is_damage(void **state)
{
	struct um_db *db = create();

	(void)state;
	assert_int_equal(um_db_close(db), 0);

	/* What only another program does: the same columns without their rules. */
	sqlite3 *raw;
	assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(raw,
			     "DROP TABLE frame; CREATE TABLE frame (site, depth, module, "
			     "offset_bytes, function, file, line, inlined); INSERT INTO frame "
			     "(site) VALUES (1)",
			     NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(raw);
	assert_int_equal(um_db_open(&db, path), 0);
	assert_int_equal(um_db_each(db, &um_table_frame, NULL, 0, never, NULL), UM_EFORMAT);
	assert_non_null(strstr(um_error_message(), "'frame' lacks its depth"));
	assert_int_equal(um_db_close(db), 0);
}

static void chunks_return(void **state)
{
	struct um_access_chunk_row row = {.op = 1};
	unsigned char payload[5000], *back;

	(void)state;
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (unsigned char)(i % 7);
	assert_int_equal(um_db_chunk_pack(&row, payload, sizeof(payload)), 0);
	assert_int_equal(row.payload_bytes, sizeof(payload));
	assert_in_range(row.data.bytes, 1, 100);
	assert_int_equal(um_db_chunk_payload(&row, &back), 0);
	assert_memory_equal(back, payload, sizeof(payload));
	free(back);
	free((void *)(uintptr_t)row.data.data);
}

static void damaged_chunks_are_errors(void **state)
{
	struct um_access_chunk_row row = {.op = 1};
	unsigned char payload[1000] = {1, 2, 3}, *back;

	(void)state;
	assert_int_equal(um_db_chunk_pack(&row, payload, sizeof(payload)), 0);
	unsigned char *data = (unsigned char *)(uintptr_t)row.data.data;
	for (size_t i = 0; i < row.data.bytes; i++) {
		data[i] ^= 0x40;
		assert_int_equal(um_db_chunk_payload(&row, &back), UM_EFORMAT);
		data[i] ^= 0x40;
	}
	static const int64_t wrong[] = {-1,	 0,	   999, 1001, UM_STREAM_PAYLOAD_MAX + 1,
					UM_NULL, INT64_MAX};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		row.payload_bytes = wrong[i];
		assert_int_equal(um_db_chunk_payload(&row, &back), UM_EFORMAT);
	}
	row.payload_bytes = sizeof(payload);
	row.data.bytes--;
	assert_int_equal(um_db_chunk_payload(&row, &back), UM_EFORMAT);
	free(data);
}

/* Doubles what it is of, and leaves out the one of 20. */
static int put_again(const void *told, void *context)
{
	struct um_fault_row row = *(const struct um_fault_row *)told;

	row.faults *= 2;
	return row.start_ns == 20 ? 0 : um_db_insert(context, &um_table_fault, &row);
}

static int stop_at_once(const void *told, void *context)
{
	(void)told;
	(void)context;
	return UM_ESTOPPED;
}

static int64_t ask_plainly(struct um_db *db, const char *sql)
{
	int64_t answer;

	assert_int_equal(um_db_integer(db, sql, 0, &answer), 0);
	return answer;
}

static void rows_are_written_anew_in_order(void **state)
{
	struct um_db *db = create();

	(void)state;
	for (int64_t i = 3; i > 0; i--) {
		const struct um_fault_row row = {.pages = 1,
						 .faults = i,
						 .access = "write",
						 .start_ns = 10 * i,
						 .end_ns = 99};

		assert_int_equal(um_db_insert(db, &um_table_fault, &row), 0);
	}
	assert_int_equal(um_db_begin(db), 0);
	assert_int_equal(um_db_rewrite(db, &um_table_fault, "start_ns, rowid", put_again, db), 0);
	assert_int_equal(um_db_commit(db), 0);
	assert_int_equal(
		ask_plainly(db,
			    "SELECT count(*) FROM fault WHERE access = 'write' AND end_ns = 99"),
		2);
	assert_int_equal(ask_plainly(db, "SELECT faults FROM fault WHERE rowid = 1"), 2);
	assert_int_equal(ask_plainly(db, "SELECT faults FROM fault WHERE rowid = 2"), 6);
	/* What was undone can be done again. */
	assert_int_equal(um_db_begin(db), 0);
	assert_int_equal(um_db_rewrite(db, &um_table_fault, "rowid", stop_at_once, NULL),
			 UM_ESTOPPED);
	assert_int_equal(um_db_exec(db, "ROLLBACK"), 0);
	assert_int_equal(ask_plainly(db, "SELECT count(*) FROM fault"), 2);
	assert_int_equal(um_db_rewrite(db, &um_table_fault, "rowid", put_again, db), 0);
	assert_int_equal(um_db_close(db), 0);
}

static void values_are_set(void **state)
{
	static const char set[] = "UPDATE op SET end_ns = ?, site = ? WHERE op = ?";
	struct um_db *db = create();
	const struct um_op_row row = {.op = 7, .kind = "launch"};

	(void)state;
	assert_int_equal(um_db_insert(db, &um_table_op, &row), 0);
	for (int64_t i = 1; i < 100; i++) /* more often than there are statements */
		assert_int_equal(um_db_update(db, set, (int64_t[]){i, UM_NULL, 7}, 3), 0);
	assert_int_equal(ask_plainly(db, "SELECT end_ns FROM op WHERE site IS NULL"), 99);
	assert_int_equal(um_db_update(db, "UPDATE op SET flags = ?", (int64_t[]){UM_NULL}, 1),
			 UM_EINVAL);
	assert_int_equal(um_db_update(db, "UPDATE nowhere SET flags = ?", (int64_t[]){1}, 1),
			 UM_EIO);
	assert_int_equal(um_db_close(db), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_rows_return),
		cmocka_unit_test(nulls_return),
		cmocka_unit_test(descriptions_match_the_schema),
		cmocka_unit_test(words_are_those_of_the_schema),
		cmocka_unit_test(kinds_are_those_of_the_schema),
		cmocka_unit_test(unknown_lines_are_null),
		cmocka_unit_test(a_key_is_taken_once),
		cmocka_unit_test(reads_nest_and_stop),
		cmocka_unit_test(many_questions_share_few_statements),
		cmocka_unit_test(null_where_a_value_must_be_is_damage),
		cmocka_unit_test(chunks_return),
		cmocka_unit_test(damaged_chunks_are_errors),
		cmocka_unit_test(rows_are_written_anew_in_order),
		cmocka_unit_test(values_are_set),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
