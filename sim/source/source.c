/*
 * Operations in program order, read in batches so that a trace of any length needs the same memory;
 * allocations, kernels and page accesses on demand.
 */
#include "source_internal.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

#define OPS_PER_READ 1024
#define ENOUGH	     1 /* a callback's way to end a read */

struct um_source {
	struct um_db *db;
	struct um_op_row ops[OPS_PER_READ];
	size_t op_count, op_at;
	int64_t last_op;
	bool at_end;
	struct um_allocation_row allocation;
	char *allocation_name;
	struct um_kernel_row kernel;
	char *kernel_name, *kernel_symbol;
	struct um_page_access_row *pages;
	size_t page_count, page_capacity;
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

int um_source_open(struct um_source **out, struct um_db *db)
{
	struct um_source *source;
	int64_t launches, chunks;
	int error = um_db_integer(db,
				  "SELECT count(*) FROM op WHERE kind = 'launch' AND result = 0 "
				  "AND flags & 4 = 0 AND EXISTS (SELECT 1 FROM page_access WHERE "
				  "page_access.op = op.op) AND ?1 IS NOT NULL",
				  1, &launches);

	if (!error)
		error = um_db_integer(db,
				      "SELECT EXISTS (SELECT 1 FROM access_chunk) AND "
				      "?1 IS NOT NULL",
				      1, &chunks);
	if (error)
		return error;
	if (launches > 0 && !chunks)
		return um_fail(UM_ENOTSUP,
			       "%s: has launches but no access stream; replay an emulated trace of "
			       "the same program (umtrace on a machine without a GPU)",
			       um_db_path(db));
	source = calloc(1, sizeof(*source));
	if (!source)
		return um_fail(UM_ENOMEM, "no memory to read %s", um_db_path(db));
	source->db = db;
	source->last_op = INT64_MIN;
	*out = source;
	return 0;
}

void um_source_close(struct um_source *source)
{
	if (!source)
		return;
	free(source->allocation_name);
	free(source->kernel_name);
	free(source->kernel_symbol);
	free(source->pages);
	free(source);
}

/* --- operations --- */

static int take_op(const void *row, void *context)
{
	struct um_source *source = context;
	struct um_op_row *op = &source->ops[source->op_count++];

	*op = *(const struct um_op_row *)row;
	/* The order that was asked for, less where the file's own index is damaged. */
	if (op->op <= source->last_op)
		return um_fail(UM_EFORMAT, "%s: damaged: op %lld stands there twice",
			       um_db_path(source->db), (long long)op->op);
	op->kind = keep_word(um_op_words, op->kind);
	op->advice = keep_word(um_advice_words, op->advice);
	source->last_op = op->op;
	return source->op_count == OPS_PER_READ ? ENOUGH : 0;
}

const struct um_op_row *um_source_next(struct um_source *source, int *error)
{
	int result;

	*error = 0;
	if (source->op_at < source->op_count)
		return &source->ops[source->op_at++];
	if (source->at_end)
		return NULL;
	source->op_at = source->op_count = 0;
	result = um_db_each(source->db, &um_table_op, "op > ?", source->last_op, take_op, source);
	source->at_end = result != ENOUGH;
	if (result && result != ENOUGH) {
		*error = result;
		return NULL;
	}
	return source->op_count ? &source->ops[source->op_at++] : NULL;
}

/* --- one row of a table --- */

struct one_row {
	void *out;
	size_t bytes;
	char **texts[2]; /* where to keep text, in the order of `offsets` */
	size_t offsets[2];
	const char **word; /* a kind of allocation, or NULL */
	bool found, no_memory;
};

static int take_one(const void *row, void *context)
{
	struct one_row *one = context;

	memcpy(one->out, row, one->bytes);
	one->found = true;
	if (one->word)
		*one->word = keep_word(um_allocation_words, *one->word);
	for (size_t i = 0; i < 2 && one->texts[i]; i++) {
		const char **field = (const char **)(void *)((char *)one->out + one->offsets[i]);
		char *copy = *field ? strdup(*field) : NULL;

		one->no_memory |= *field && !copy;
		free(*one->texts[i]);
		*one->texts[i] = copy;
		*field = copy;
	}
	return ENOUGH;
}

static bool read_one(struct um_source *source, const struct um_table *table, const char *where,
		     int64_t key, struct one_row *one)
{
	int result = um_db_each(source->db, table, where, key, take_one, one);

	return (result == 0 || result == ENOUGH) && one->found && !one->no_memory;
}

const struct um_allocation_row *um_source_allocation(struct um_source *source, int64_t allocation)
{
	struct um_allocation_row *row = &source->allocation;
	struct one_row one = {
		.out = row,
		.bytes = sizeof(*row),
		.word = &row->kind,
		.texts = {&source->allocation_name},
		.offsets = {offsetof(struct um_allocation_row, name)},
	};

	if (row->allocation == allocation && row->kind)
		return row;
	row->kind = NULL;
	return read_one(source, &um_table_allocation, "allocation = ?", allocation, &one) ? row
											  : NULL;
}

const struct um_kernel_row *um_source_kernel(struct um_source *source, int64_t op)
{
	struct one_row one = {
		.out = &source->kernel,
		.bytes = sizeof(source->kernel),
		.texts = {&source->kernel_name, &source->kernel_symbol},
		.offsets = {offsetof(struct um_kernel_row, name),
			    offsetof(struct um_kernel_row, symbol)},
	};

	return read_one(source, &um_table_kernel, "op = ?", op, &one) ? &source->kernel : NULL;
}

/* --- page accesses --- */

static int take_page(const void *row, void *context)
{
	struct um_source *source = context;

	if (source->page_count == source->page_capacity) {
		size_t capacity = source->page_capacity ? source->page_capacity * 2 : 64;
		struct um_page_access_row *grown =
			realloc(source->pages, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu page accesses", capacity);
		source->pages = grown;
		source->page_capacity = capacity;
	}
	source->pages[source->page_count++] = *(const struct um_page_access_row *)row;
	return 0;
}

long um_source_pages(struct um_source *source, int64_t op, const struct um_page_access_row **rows)
{
	int error;

	source->page_count = 0;
	error = um_db_each(source->db, &um_table_page_access, "op = ?", op, take_page, source);
	if (error)
		return error;
	*rows = source->pages;
	return (long)source->page_count;
}

struct um_db *um_source_db(const struct um_source *source)
{
	return source->db;
}
