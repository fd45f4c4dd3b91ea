/* Who touched which pages: one pass over page_access, in program order. */
#include "facts.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <stdlib.h>

#define TOUCH_READ	    1
#define TOUCH_WRITTEN	    2
#define TOUCH_WRITTEN_FIRST 4
#define TOUCH_BY_PAGE	    8
#define TOUCH_HARDWARE	    32 /* floating-point atomics by an instruction */

/* --- pages --- */

static int split(struct um_fact_block *block)
{
	block->pages = malloc(UM_FACT_BLOCK_PAGES * sizeof(*block->pages));
	if (!block->pages)
		return um_fail(UM_ENOMEM, "out of memory");
	for (unsigned i = 0; i < UM_FACT_BLOCK_PAGES; i++)
		block->pages[i] = block->all;
	return 0;
}

static int change_block(struct um_fact_block *block, unsigned first, unsigned count, bool whole,
			void (*change)(struct um_fact_page *, void *), void *context)
{
	if (!block->pages && whole) {
		change(&block->all, context);
		return 0;
	}
	if (!block->pages && split(block))
		return UM_ENOMEM;
	for (unsigned i = first; i < first + count; i++)
		change(&block->pages[i], context);
	return 0;
}

int um_facts_change_pages(struct um_fact_allocation *allocation, int64_t first_page, int64_t pages,
			  void (*change)(struct um_fact_page *, void *), void *context)
{
	int64_t end = first_page + pages, next;
	int error = 0;

	if (!allocation->blocks)
		allocation->blocks =
			calloc((size_t)(allocation->page_count - 1) / UM_FACT_BLOCK_PAGES + 1,
			       sizeof(*allocation->blocks));
	if (!allocation->blocks)
		return um_fail(UM_ENOMEM, "out of memory");
	for (int64_t page = first_page; page < end && !error; page = next) {
		int64_t block = page / UM_FACT_BLOCK_PAGES, start = block * UM_FACT_BLOCK_PAGES;

		next = start + UM_FACT_BLOCK_PAGES < end ? start + UM_FACT_BLOCK_PAGES : end;
		/* Pages behind the allocation's end are none. */
		bool whole = page == start && (next == start + UM_FACT_BLOCK_PAGES ||
					       next == allocation->page_count);
		error = change_block(&allocation->blocks[block], (unsigned)(page - start),
				     (unsigned)(next - page), whole, change, context);
	}
	return error;
}

struct touching {
	enum um_toucher who;
	int device;
	int64_t touch;
	uint64_t lines_read, lines_written;
};

static void touch_by_device(struct um_fact_page *page, int device, bool writes)
{
	uint16_t bit = (uint16_t)(1u << device);

	if (page->devices && page->last_device != device)
		page->device_turns += page->device_turns < UINT16_MAX;
	page->last_device = (uint8_t)device;
	page->devices |= bit;
	page->writers |= writes ? bit : 0;
}

static void touch_page(struct um_fact_page *page, void *context)
{
	const struct touching *touching = context;
	bool reads = touching->touch & TOUCH_READ, writes = touching->touch & TOUCH_WRITTEN;

	if (page->last != UM_TOUCHED_BY_NOBODY && page->last != touching->who)
		page->turns += page->turns < UINT16_MAX;
	page->last = touching->who;
	if (touching->who == UM_TOUCHED_BY_HOST) {
		page->host_read |= reads;
		page->host_wrote |= writes;
		return;
	}
	touch_by_device(page, touching->device, writes);
	page->device_read |= reads;
	page->device_wrote |= writes;
	page->device_lines_unknown |= (touching->touch & TOUCH_BY_PAGE) != 0;
	page->lines_read |= touching->lines_read;
	page->lines_written |= touching->lines_written;
}

/* --- uses --- */

struct passing {
	struct um_facts *facts;
	struct um_fact_op *op;
	struct um_fact_allocation *allocation;
	struct um_fact_use *use;
};

static struct um_fact_use *add_use(struct um_facts *facts, const struct um_fact_op *op,
				   const struct um_fact_allocation *allocation, int64_t first_page)
{
	struct um_fact_use *use =
		um_query_append(&facts->uses, &facts->use_count, sizeof(*facts->uses));

	if (use)
		*use = (struct um_fact_use){
			.op = (uint32_t)(op - facts->ops),
			.allocation = (uint32_t)(allocation - facts->allocations),
			.first_page = first_page,
			.end_page = first_page,
		};
	return use;
}

/* Counts of a damaged trace can be beyond what can be added up: then the sum is not known either. */
static void add_known(int64_t *sum, int64_t value, int64_t times)
{
	int64_t product;

	if (*sum == UM_NULL || value == UM_NULL || __builtin_mul_overflow(value, times, &product) ||
	    __builtin_add_overflow(*sum, product, sum))
		*sum = UM_NULL;
}

static void add_lines(struct um_fact_use *use, const struct um_page_access_row *row)
{
	uint64_t read = (uint64_t)row->lines_read, written = (uint64_t)row->lines_written;
	bool is_unknown = row->touch & TOUCH_BY_PAGE;

	add_known(&use->lines, is_unknown ? UM_NULL : __builtin_popcountll(read | written),
		  row->pages);
	add_known(&use->lines_read, is_unknown ? UM_NULL : __builtin_popcountll(read), row->pages);
	add_known(&use->lines_written, is_unknown ? UM_NULL : __builtin_popcountll(written),
		  row->pages);
	add_known(&use->requests, row->requests, row->pages);
	add_known(&use->atomics, row->atomics, row->pages);
}

static void add_row(struct um_fact_use *use, const struct um_page_access_row *row)
{
	int64_t end = row->first_page + row->pages;

	use->end_page = end > use->end_page ? end : use->end_page;
	use->pages += row->pages;
	use->pages_read += row->touch & TOUCH_READ ? row->pages : 0;
	use->pages_written += row->touch & TOUCH_WRITTEN ? row->pages : 0;
	use->pages_written_first += row->touch & TOUCH_WRITTEN_FIRST ? row->pages : 0;
	use->hardware_atomics_pages += row->touch & TOUCH_HARDWARE ? row->pages : 0;
	add_lines(use, row);
}

static bool is_sane(const struct um_fact_allocation *allocation, int64_t first_page, int64_t pages)
{
	return first_page >= 0 && pages > 0 && first_page < allocation->page_count &&
	       pages <= allocation->page_count - first_page;
}

/* Finds what the row is about; op and allocation NULL: nothing that the file has. */
static void look_up(struct passing *passing, const struct um_page_access_row *row)
{
	struct um_facts *facts = passing->facts;

	if (!passing->op || passing->op->op != row->op) {
		passing->op = um_facts_find_op(facts, row->op);
		passing->use = NULL;
	}
	if (!passing->allocation || passing->allocation->id != row->allocation) {
		passing->allocation = um_facts_find_allocation(facts, row->allocation);
		passing->use = NULL;
	}
}

static int pass_row(const void *item, void *context)
{
	const struct um_page_access_row *row = item;
	struct passing *passing = context;
	struct touching touching = {
		.touch = row->touch,
		.lines_read = (uint64_t)row->lines_read,
		.lines_written = (uint64_t)row->lines_written,
	};

	look_up(passing, row);
	if (!passing->op || !passing->allocation)
		return 0;
	if (!is_sane(passing->allocation, row->first_page, row->pages))
		return um_fail(UM_EFORMAT, "%s: damaged: a run of pages that cannot be",
			       um_db_path(passing->facts->db));
	touching.who = um_facts_toucher(passing->op);
	touching.device = um_op_device(passing->op);
	if (touching.who == UM_TOUCHED_BY_NOBODY)
		return 0;
	if (!passing->use)
		passing->use =
			add_use(passing->facts, passing->op, passing->allocation, row->first_page);
	if (!passing->use)
		return UM_ENOMEM;
	add_row(passing->use, row);
	return um_facts_change_pages(passing->allocation, row->first_page, row->pages, touch_page,
				     &touching);
}

int um_facts_load_pages(struct um_facts *facts)
{
	struct passing passing = {.facts = facts};

	return um_db_each(facts->db, &um_table_page_access, NULL, 0, pass_row, &passing);
}

/* --- what copies and memsets name --- */

static int add_named(struct um_facts *facts, const struct um_fact_op *op, int64_t id,
		     int64_t offset_bytes, bool writes)
{
	struct um_fact_allocation *allocation =
		id == UM_NULL ? NULL : um_facts_find_allocation(facts, id);
	int64_t first, last;
	struct um_fact_use *use;

	if (!allocation || op->bytes <= 0 || offset_bytes < 0 ||
	    op->bytes > allocation->bytes - offset_bytes)
		return 0;
	first = offset_bytes / UM_FACT_PAGE_BYTES;
	last = (offset_bytes + op->bytes - 1) / UM_FACT_PAGE_BYTES;
	use = add_use(facts, op, allocation, first);
	if (!use)
		return UM_ENOMEM;
	use->end_page = last + 1;
	use->pages = last + 1 - first;
	use->pages_read = writes ? 0 : use->pages;
	use->pages_written = use->pages_written_first = writes ? use->pages : 0;
	use->lines = (op->bytes - 1) / UM_FACT_LINE_BYTES + 1;
	use->lines_read = writes ? 0 : use->lines;
	use->lines_written = writes ? use->lines : 0;
	use->requests = use->atomics = UM_NULL;
	return 0;
}

/* Of pages a memset is the device's; a copy is whoever's the driver makes it. */
static int name_op(struct um_facts *facts, const struct um_fact_op *op)
{
	struct touching fill = {
		.who = UM_TOUCHED_BY_DEVICE,
		.device = um_op_device(op),
		.touch = TOUCH_WRITTEN | TOUCH_WRITTEN_FIRST,
		.lines_written = UINT64_MAX,
	};
	size_t before = facts->use_count;
	int error = add_named(facts, op, op->allocation, op->offset_bytes, true);

	if (!error && op->kind == UM_OP_MEMSET && facts->use_count > before) {
		const struct um_fact_use *use = &facts->uses[before];

		error = um_facts_change_pages(&facts->allocations[use->allocation], use->first_page,
					      use->pages, touch_page, &fill);
	}
	if (!error && op->kind == UM_OP_COPY)
		error = add_named(facts, op, op->source_allocation, op->source_offset_bytes, false);
	return error;
}

static int compare_uses(const void *left, const void *right)
{
	const struct um_fact_use *a = left, *b = right;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static void add_up(struct um_facts *facts, struct um_fact_allocation *allocation,
		   const struct um_fact_use *use)
{
	const struct um_fact_op *op = &facts->ops[use->op];

	if (op->kind == UM_OP_COPY)
		return;
	if (um_facts_toucher(op) == UM_TOUCHED_BY_HOST) {
		allocation->host_uses++;
		allocation->host_reads_pages += use->pages_read;
		allocation->host_writes_pages += use->pages_written;
	} else {
		allocation->device_uses++;
		allocation->device_reads_pages += use->pages_read;
		allocation->device_writes_pages += use->pages_written;
	}
}

/* Each allocation's uses, and each op's. */
static int index_uses(struct um_facts *facts)
{
	for (size_t i = 0; i < facts->use_count; i++)
		facts->allocations[facts->uses[i].allocation].use_count++;
	for (size_t i = 0; i < facts->allocation_count; i++) {
		struct um_fact_allocation *allocation = &facts->allocations[i];

		allocation->uses = malloc((allocation->use_count + 1) * sizeof(size_t));
		if (!allocation->uses)
			return um_fail(UM_ENOMEM, "out of memory");
		allocation->use_count = 0;
	}
	for (size_t i = 0; i < facts->use_count; i++) {
		const struct um_fact_use *use = &facts->uses[i];
		struct um_fact_allocation *allocation = &facts->allocations[use->allocation];
		struct um_fact_op *op = &facts->ops[use->op];

		((size_t *)allocation->uses)[allocation->use_count++] = i;
		op->first_use = op->use_count ? op->first_use : i;
		op->use_count++;
		add_up(facts, allocation, use);
	}
	return 0;
}

int um_facts_finish_pages(struct um_facts *facts)
{
	int error = 0;

	for (size_t i = 0; i < facts->op_count && !error; i++)
		if ((facts->ops[i].kind == UM_OP_COPY || facts->ops[i].kind == UM_OP_MEMSET) &&
		    !facts->ops[i].result)
			error = name_op(facts, &facts->ops[i]);
	if (!error && facts->use_count)
		qsort(facts->uses, facts->use_count, sizeof(*facts->uses), compare_uses);
	return error ? error : index_uses(facts);
}
