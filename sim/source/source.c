/*
 * Operations in program order, read in batches so that a trace of any length needs the same memory;
 * allocations, kernels and page accesses on demand. All of it through a cache (trace_cache.h), which
 * simulations that run together share.
 */
#include "source_internal.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

#define OPS_PER_READ 1024
#define ENOUGH	     1 /* a callback's way to end a read */

struct batch {
	struct um_op_row ops[OPS_PER_READ];
	size_t count;
	bool at_end;
};

struct pages {
	struct um_page_access_row *rows;
	size_t count, capacity;
};

struct um_source {
	struct um_db *db;
	struct um_trace_cache *cache, *own_cache;
	struct um_cached *batch, *allocation, *kernel, *pages; /* the last asked for */
	size_t op_at;
	int64_t last_op;
	bool at_end;
};

/*
 * Text of a row lives until the next row only. Kinds and advice are the schema's few words: what is
 * not among them is kept as "", which no reader takes for a kind.
 */
static const char *keep_word(const struct um_word *words, const char *word)
{
	const char *kept = word ? um_word(words, um_word_code(words, word)) : NULL;

	return kept || !word ? kept : "";
}

/* --- life --- */

static int check(void *context, void **value, size_t *bytes)
{
	struct um_db *db = ((struct um_source *)context)->db;
	int64_t launches, chunks = 0;
	int error = um_db_integer(db,
				  "SELECT count(*) FROM op WHERE kind = 'launch' AND result = 0 "
				  "AND flags & 4 = 0 AND EXISTS (SELECT 1 FROM page_access WHERE "
				  "page_access.op = op.op) AND ?1 IS NOT NULL",
				  1, &launches);

	*value = NULL;
	*bytes = 0;
	if (!error)
		error = um_db_integer(db,
				      "SELECT EXISTS (SELECT 1 FROM access_chunk) AND "
				      "?1 IS NOT NULL",
				      1, &chunks);
	if (!error && launches > 0 && !chunks)
		error = um_fail(UM_ENOTSUP,
				"%s: has launches but no access stream; replay an emulated trace "
				"of the same program (umtrace on a machine without a GPU)",
				um_db_path(db));
	return error;
}

static int check_once(struct um_source *source)
{
	const struct um_cached_key key = {UM_CACHED_CHECK, 0, 0};
	struct um_cached *checked;
	int error = um_trace_cache_take(source->cache, key, check, source, NULL, &checked);

	if (!error)
		um_trace_cache_leave(source->cache, checked);
	return error;
}

int um_source_open(struct um_source **out, struct um_db *db, struct um_trace_cache *cache)
{
	struct um_source *source = calloc(1, sizeof(*source));
	int error;

	if (!source)
		return um_fail(UM_ENOMEM, "no memory to read %s", um_db_path(db));
	source->db = db;
	source->last_op = INT64_MIN;
	source->cache = cache;
	error = cache ? 0 : um_trace_cache_create(&source->own_cache, 0);
	if (!cache)
		source->cache = source->own_cache;
	if (!error)
		error = check_once(source);
	if (error)
		um_source_close(source);
	else
		*out = source;
	return error;
}

void um_source_close(struct um_source *source)
{
	if (!source)
		return;
	um_trace_cache_leave(source->cache, source->batch);
	um_trace_cache_leave(source->cache, source->allocation);
	um_trace_cache_leave(source->cache, source->kernel);
	um_trace_cache_leave(source->cache, source->pages);
	um_trace_cache_destroy(source->own_cache);
	free(source);
}

/* The entry in the place of the one that was asked for before. */
static int take(struct um_source *source, struct um_cached **place, struct um_cached_key key,
		um_cached_load_fn load, void *context, um_cached_free_fn free_value)
{
	struct um_cached_key before =
		*place ? um_cached_key_of(*place) : (struct um_cached_key){UM_CACHED_CHECK, 0, 0};

	if (before.kind == key.kind && before.id == key.id)
		return 0;
	um_trace_cache_leave(source->cache, *place);
	*place = NULL;
	return um_trace_cache_take(source->cache, key, load, context, free_value, place);
}

/* --- operations --- */

struct batch_reading {
	struct um_source *source;
	struct batch *batch;
	int64_t last_op;
};

static int take_op(const void *row, void *context)
{
	struct batch_reading *reading = context;
	struct um_op_row *op = &reading->batch->ops[reading->batch->count];

	*op = *(const struct um_op_row *)row;
	/* The order that was asked for, less where the file's own index is damaged. */
	if (op->op <= reading->last_op)
		return um_fail(UM_EFORMAT, "%s: damaged: op %lld stands there twice",
			       um_db_path(reading->source->db), (long long)op->op);
	op->kind = keep_word(um_op_words, op->kind);
	op->advice = keep_word(um_advice_words, op->advice);
	reading->last_op = op->op;
	return ++reading->batch->count == OPS_PER_READ ? ENOUGH : 0;
}

static int load_batch(void *context, void **value, size_t *bytes)
{
	struct um_source *source = context;
	struct batch_reading reading = {source, calloc(1, sizeof(struct batch)), source->last_op};
	int result;

	if (!reading.batch)
		return um_fail(UM_ENOMEM, "no memory to read %s", um_db_path(source->db));
	result = um_db_each(source->db, &um_table_op, "op > ?", source->last_op, take_op, &reading);
	reading.batch->at_end = result != ENOUGH;
	if (result && result != ENOUGH) {
		free(reading.batch);
		return result;
	}
	*value = reading.batch;
	*bytes = sizeof(*reading.batch);
	return 0;
}

const struct um_op_row *um_source_next(struct um_source *source, int *error)
{
	const struct um_cached_key key = {UM_CACHED_OPS, source->last_op, 0};
	const struct batch *batch = source->batch ? um_cached_value(source->batch) : NULL;

	*error = 0;
	if (!batch || source->op_at == batch->count) {
		if (source->at_end)
			return NULL;
		*error = take(source, &source->batch, key, load_batch, source, free);
		source->at_end = *error;
		if (*error)
			return NULL;
		batch = um_cached_value(source->batch);
		source->op_at = 0;
		source->at_end = batch->at_end;
		if (!batch->count)
			return NULL;
	}
	source->last_op = batch->ops[source->op_at].op;
	return &batch->ops[source->op_at++];
}

/* --- one row of a table --- */

struct one_row {
	union {
		struct um_allocation_row allocation;
		struct um_kernel_row kernel;
	} row;
	char *texts[2];
	bool found, no_memory;
};

static void free_one(void *value)
{
	struct one_row *one = value;

	free(one->texts[0]);
	free(one->texts[1]);
	free(one);
}

/* The text of a row is its own from now on. */
static void keep_text(struct one_row *one, const char **field, size_t which)
{
	one->texts[which] = *field ? strdup(*field) : NULL;
	one->no_memory |= *field && !one->texts[which];
	*field = one->texts[which];
}

static int take_allocation(const void *row, void *context)
{
	struct one_row *one = context;

	one->row.allocation = *(const struct um_allocation_row *)row;
	one->row.allocation.kind = keep_word(um_allocation_words, one->row.allocation.kind);
	keep_text(one, &one->row.allocation.name, 0);
	one->found = true;
	return ENOUGH;
}

static int take_kernel(const void *row, void *context)
{
	struct one_row *one = context;

	one->row.kernel = *(const struct um_kernel_row *)row;
	keep_text(one, &one->row.kernel.name, 0);
	keep_text(one, &one->row.kernel.symbol, 1);
	one->found = true;
	return ENOUGH;
}

struct row_reading {
	struct um_source *source;
	const struct um_table *table;
	const char *where;
	int64_t key;
	int (*take)(const void *row, void *context);
};

/* What is not there, or cannot be read, is an entry that says so. */
static int load_one(void *context, void **value, size_t *bytes)
{
	const struct row_reading *reading = context;
	struct one_row *one = calloc(1, sizeof(*one));
	int result;

	if (!one)
		return um_fail(UM_ENOMEM, "no memory to read %s", um_db_path(reading->source->db));
	result = um_db_each(reading->source->db, reading->table, reading->where, reading->key,
			    reading->take, one);
	one->found = one->found && (result == 0 || result == ENOUGH) && !one->no_memory;
	*value = one;
	*bytes = sizeof(*one);
	for (size_t i = 0; i < 2; i++)
		*bytes += one->texts[i] ? strlen(one->texts[i]) + 1 : 0;
	return 0;
}

static const struct one_row *read_one(struct um_cached **place, enum um_cached_kind kind,
				      struct row_reading *reading)
{
	const struct um_cached_key key = {kind, reading->key, 0};
	const struct one_row *one;

	if (take(reading->source, place, key, load_one, reading, free_one))
		return NULL;
	one = um_cached_value(*place);
	return one->found ? one : NULL;
}

const struct um_allocation_row *um_source_allocation(struct um_source *source, int64_t allocation)
{
	struct row_reading reading = {source, &um_table_allocation, "allocation = ?", allocation,
				      take_allocation};
	const struct one_row *one = source->allocation ? um_cached_value(source->allocation) : NULL;

	if (!one || !one->found || one->row.allocation.allocation != allocation)
		one = read_one(&source->allocation, UM_CACHED_ALLOCATION, &reading);
	return one ? &one->row.allocation : NULL;
}

const struct um_kernel_row *um_source_kernel(struct um_source *source, int64_t op)
{
	struct row_reading reading = {source, &um_table_kernel, "op = ?", op, take_kernel};
	const struct one_row *one = read_one(&source->kernel, UM_CACHED_KERNEL, &reading);

	return one ? &one->row.kernel : NULL;
}

/* --- page accesses --- */

static void free_pages(void *value)
{
	free(((struct pages *)value)->rows);
	free(value);
}

static int take_page(const void *row, void *context)
{
	struct pages *pages = context;

	if (pages->count == pages->capacity) {
		size_t capacity = pages->capacity ? pages->capacity * 2 : 16;
		struct um_page_access_row *grown = realloc(pages->rows, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu page accesses", capacity);
		pages->rows = grown;
		pages->capacity = capacity;
	}
	pages->rows[pages->count++] = *(const struct um_page_access_row *)row;
	return 0;
}

static int load_pages(void *context, void **value, size_t *bytes)
{
	const struct row_reading *reading = context;
	struct pages *pages = calloc(1, sizeof(*pages));
	int error;

	if (!pages)
		return um_fail(UM_ENOMEM, "no memory for page accesses");
	error = um_db_each(reading->source->db, reading->table, reading->where, reading->key,
			   take_page, pages);
	if (error) {
		free_pages(pages);
		return error;
	}
	*value = pages;
	*bytes = sizeof(*pages) + pages->capacity * sizeof(*pages->rows);
	return 0;
}

long um_source_pages(struct um_source *source, int64_t op, const struct um_page_access_row **rows)
{
	const struct um_cached_key key = {UM_CACHED_PAGES, op, 0};
	struct row_reading reading = {source, &um_table_page_access, "op = ?", op, NULL};
	const struct pages *pages;
	int error = take(source, &source->pages, key, load_pages, &reading, free_pages);

	if (error)
		return error;
	pages = um_cached_value(source->pages);
	*rows = pages->rows;
	return (long)pages->count;
}

struct um_db *um_source_db(const struct um_source *source)
{
	return source->db;
}

struct um_trace_cache *um_source_cache(const struct um_source *source)
{
	return source->cache;
}
