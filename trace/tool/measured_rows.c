/* The rows that were told, each once more: with op and allocation, in the order of their times. */
#include "measured_private.h"

#include "trace/base/error.h"

struct attribution {
	struct um_measured *measured;
	struct um_db *db;
	struct um_lives *lives;
	struct um_under_way *under_way;
};

/* --- what every row has --- */

/* Whose pages they are. `address` is left where first_page does not tell it. */
static void find_pages(struct attribution *attribution, int64_t at_ns, int64_t bytes,
		       int64_t *address, int64_t *allocation, int64_t *first_page, int64_t *pages)
{
	const struct um_measured_allocation *found =
		um_lives_find(attribution->lives, at_ns, (uint64_t)*address, (uint64_t)bytes);

	if (!found)
		return;
	int64_t first = (int64_t)(found->address >> UM_PAGE_SHIFT);
	int64_t last = (int64_t)((found->address + found->bytes - 1) >> UM_PAGE_SHIFT);
	int64_t start = *address >> UM_PAGE_SHIFT, end = start + *pages - 1;

	*allocation = found->allocation;
	*first_page = start > first ? start - first : 0;
	*pages = (end < last ? end : last) - (start > first ? start : first) + 1;
	if (start >= first)
		*address = 0;
}

static int64_t bytes_of(int64_t pages)
{
	return pages << UM_PAGE_SHIFT;
}

/* --- what was selected --- */

static bool is_in_span(const struct um_measured *measured, int64_t at_ns)
{
	size_t low = 0, high = measured->span_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (measured->spans[middle].start_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	/* The last that began by then. */
	return low ? at_ns <= measured->spans[low - 1].end_ns : !measured->has_spans;
}

/* Whether the row is to be kept; notes of which 'host' ops any is. */
static bool is_kept(struct attribution *attribution, int64_t id, int64_t at_ns)
{
	struct um_measured *measured = attribution->measured;

	if (id != UM_NULL && id % 2 == 0)
		return !um_measured_is_left_out(measured, (uint32_t)(id / 2));
	if (!is_in_span(measured, at_ns))
		return false;
	struct um_measured_op *next =
		id == UM_NULL ? NULL : um_measured_op(measured, (uint32_t)((id + 1) / 2));

	if (id != UM_NULL)
		(next ? next : &measured->last)->host_kept = true;
	return true;
}

/* --- one kind of row each --- */

static int put_fault(const void *told, void *context)
{
	struct attribution *attribution = context;
	struct um_fault_row row = *(const struct um_fault_row *)told;
	const struct um_happening happening = {
		.at_ns = row.start_ns,
		.address = (uint64_t)row.address,
		.bytes = UM_PAGE_BYTES,
		.device = row.device,
		.is_fault = true,
	};

	row.op = um_under_way_find(attribution->under_way, &happening);
	if (!is_kept(attribution, row.op, happening.at_ns))
		return 0;
	find_pages(attribution, row.start_ns, bytes_of(row.pages), &row.address, &row.allocation,
		   &row.first_page, &row.pages);
	return um_db_insert(attribution->db, &um_table_fault, &row);
}

static int put_migration(const void *told, void *context)
{
	struct attribution *attribution = context;
	struct um_migration_row row = *(const struct um_migration_row *)told;
	int cause = um_word_code(um_cause_words, row.cause);
	const struct um_happening happening = {
		.at_ns = row.start_ns,
		.address = (uint64_t)row.address,
		.bytes = (uint64_t)row.bytes,
		.device = cause == UM_CAUSE_EVICTION ? row.source : row.destination,
		.target = row.destination,
		.by_prefetch = cause == UM_CAUSE_PREFETCH,
	};

	row.op = um_under_way_find(attribution->under_way, &happening);
	if (!is_kept(attribution, row.op, happening.at_ns))
		return 0;
	find_pages(attribution, row.start_ns, row.bytes, &row.address, &row.allocation,
		   &row.first_page, &row.pages);
	return um_db_insert(attribution->db, &um_table_migration, &row);
}

static int put_mapping(const void *told, void *context)
{
	struct attribution *attribution = context;
	struct um_mapping_row row = *(const struct um_mapping_row *)told;
	const struct um_happening happening = {
		.at_ns = row.at_ns,
		.address = (uint64_t)row.address,
		.bytes = (uint64_t)bytes_of(row.pages),
		.device = row.device,
		.target = row.device,
		.by_prefetch = um_word_code(um_cause_words, row.cause) == UM_CAUSE_PREFETCH,
		.is_mapping = true,
	};

	row.op = um_under_way_find(attribution->under_way, &happening);
	if (!is_kept(attribution, row.op, happening.at_ns))
		return 0;
	find_pages(attribution, row.at_ns, bytes_of(row.pages), &row.address, &row.allocation,
		   &row.first_page, &row.pages);
	return um_db_insert(attribution->db, &um_table_mapping, &row);
}

static int put_event(const void *told, void *context)
{
	struct attribution *attribution = context;
	struct um_driver_event_row row = *(const struct um_driver_event_row *)told;
	int64_t bytes = row.pages == UM_NULL ? UM_PAGE_BYTES : bytes_of(row.pages);
	int64_t pages = row.pages == UM_NULL ? 1 : row.pages;
	const struct um_happening happening = {
		.at_ns = row.start_ns,
		.address = (uint64_t)row.address,
		.bytes = (uint64_t)bytes,
		.device = row.device == UM_NULL ? -1 : row.device,
	};

	row.op = um_under_way_find(attribution->under_way, &happening);
	if (!is_kept(attribution, row.op, happening.at_ns))
		return 0;
	find_pages(attribution, row.start_ns, bytes, &row.address, &row.allocation, &row.first_page,
		   &pages);
	row.pages = row.pages == UM_NULL ? UM_NULL : pages;
	return um_db_insert(attribution->db, &um_table_driver_event, &row);
}

static const struct {
	const struct um_table *table;
	const char *order_by;
	int (*put)(const void *told, void *context);
} kinds[] = {
	{&um_table_fault, "start_ns, rowid", put_fault},
	{&um_table_migration, "start_ns, rowid", put_migration},
	{&um_table_mapping, "at_ns, rowid", put_mapping},
	{&um_table_driver_event, "start_ns, rowid", put_event},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static int rewrite_all(struct attribution *attribution, int64_t run_start_ns)
{
	int error = um_lives_create(&attribution->lives, attribution->measured);

	if (!error)
		error = um_under_way_create(&attribution->under_way, attribution->measured,
					    run_start_ns);
	for (size_t i = 0; i < KINDS && !error; i++) {
		um_lives_rewind(attribution->lives);
		um_under_way_rewind(attribution->under_way);
		error = um_db_rewrite(attribution->db, kinds[i].table, kinds[i].order_by,
				      kinds[i].put, attribution);
	}
	um_under_way_destroy(attribution->under_way);
	um_lives_destroy(attribution->lives);
	return error;
}

/* --- rows that follow --- */

static int put_host_op(const struct um_measured_op *next, struct um_db *db,
		       const struct um_run_row *run)
{
	bool is_last = next->call_ns == INT64_MAX;

	if (next->host_ns == UM_NULL || !next->host_kept)
		return 0;
	const struct um_op_row row = {
		.op = um_measured_op_id(next->op) - 1,
		.kind = um_word(um_op_words, UM_OP_HOST),
		.thread = UM_NULL,
		.stream = UM_NULL,
		.start_ns = next->host_ns,
		.end_ns = !is_last			 ? next->call_ns
			  : run->end_ns >= next->host_ns ? run->end_ns
							 : UM_NULL,
		.result = UM_NULL,
		.site = UM_NULL,
		.allocation = UM_NULL,
		.offset_bytes = UM_NULL,
		.bytes = UM_NULL,
		.source_allocation = UM_NULL,
		.source_offset_bytes = UM_NULL,
		.device = UM_NULL,
		.event = UM_NULL,
		.value = UM_NULL,
	};

	return um_db_insert(db, &um_table_op, &row);
}

static int put_host_ops(struct um_measured *measured, struct um_db *db,
			const struct um_run_row *run)
{
	int error = 0;

	for (size_t i = 0; i < measured->op_count && !error; i++)
		error = put_host_op(measured->ops + i, db, run);
	return error ? error : put_host_op(&measured->last, db, run);
}

enum memory { ON_HOST, ON_DEVICE, ANYWHERE };

/* Memory that was not allocated through CUDA is the host's. */
static enum memory memory_of(const struct um_measured *measured, uint32_t number)
{
	const struct um_measured_allocation *allocation = um_measured_allocation(measured, number);

	if (!allocation)
		return ON_HOST;
	if (allocation->kind == UM_ALLOCATION_MANAGED)
		return ANYWHERE;
	return allocation->kind == UM_ALLOCATION_DEVICE ? ON_DEVICE : ON_HOST;
}

static int put_copy(const struct um_measured *measured, const struct um_measured_op *op,
		    struct um_db *db)
{
	enum memory target = memory_of(measured, op->allocation);
	enum memory source = memory_of(measured, op->source_allocation);
	struct um_copy_traffic_row row = {
		.op = um_measured_op_id(op->op),
		.allocation = op->allocation ? (int64_t)op->allocation : UM_NULL,
		.start_ns = op->timed ? op->start_ns : op->call_ns,
		.end_ns = op->timed ? op->end_ns : op->call_end_ns,
	};

	if (op->kind != UM_OP_COPY || op->result != 0 || op->call_end_ns == INT64_MAX ||
	    op->bytes > INT64_MAX || target == source || target == ANYWHERE || source == ANYWHERE)
		return 0;
	if (target == ON_DEVICE)
		row.bytes_to_device = (int64_t)op->bytes;
	else
		row.bytes_to_host = (int64_t)op->bytes;
	return um_db_insert(db, &um_table_copy_traffic, &row);
}

static int put_copies(const struct um_measured *measured, struct um_db *db)
{
	int error = 0;

	for (size_t i = 0; i < measured->op_count && !error; i++)
		error = put_copy(measured, measured->ops + i, db);
	return error;
}

int um_measured_attribute(struct um_measured *measured, struct um_db *db,
			  const struct um_run_row *run)
{
	struct attribution attribution = {.measured = measured, .db = db};
	int error = rewrite_all(&attribution, run->start_ns);

	if (!error)
		error = put_host_ops(measured, db, run);
	return error ? error : put_copies(measured, db);
}
