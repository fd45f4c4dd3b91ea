/*
 * Missing synchronisation: the host touches pages that a kernel, copy or memset writes, or writes pages
 * that it reads, and has waited for nothing that comes behind it. On a GPU the two run at once. Where
 * launches complete before they return, as under umtrace without a GPU, the program computes what it
 * should; what it waited for (sync_order.h) tells.
 *
 * The host's accesses are known by the page. Where the device touches every line of the page, both
 * touch the same line for certain; else it may be that they share the page alone.
 */
#include "finding_draft.h"
#include "sync_order.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"
#include "trace/db/stacks.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct um_finding_param params[] = {
	{"in-flight", UM_UNIT_COUNT, 4096,
	 "pieces of work that are looked at together; of more, the oldest are taken as waited for "
	 "(an assumption, so that work stays bounded)"},
	{0},
};

/* Touched by both, at least one of them writing. */
struct hazard {
	int64_t pages, certain;
	int64_t first_page; /* of those; UM_NULL: none */
	bool host_wrote, host_read, device_wrote;
};

struct in_flight {
	const struct um_fact_op *op;
	struct um_sync_work work;
};

struct looking {
	struct um_finding_draft *draft;
	struct um_sync_order *order;
	struct in_flight *in_flight;
	size_t count, most;
	bool queries_told;
	struct hazard hazard;		  /* of the pair that is looked at */
	const struct um_fact_use *device; /* so */
};

/* --- pages of a pair --- */

/* The lines of a page that the allocation has. */
static uint64_t all_lines(const struct um_fact_allocation *allocation, int64_t page)
{
	int64_t bytes = allocation->bytes - page * UM_FACT_PAGE_BYTES;
	int64_t lines = (bytes + UM_FACT_LINE_BYTES - 1) / UM_FACT_LINE_BYTES;

	return lines >= 64 ? UINT64_MAX : lines <= 0 ? 0 : (UINT64_C(1) << lines) - 1;
}

struct overlap {
	int64_t first, end; /* pages that both touch */
	bool device_wrote, host_wrote;
	uint64_t lines; /* that the device writes, or touches where the host writes */
};

static void add_overlap(struct looking *looking, const struct um_fact_allocation *allocation,
			const struct overlap *overlap)
{
	struct hazard *hazard = &looking->hazard;

	if (overlap->end <= overlap->first || (!overlap->device_wrote && !overlap->host_wrote))
		return;
	if (hazard->first_page == UM_NULL || overlap->first < hazard->first_page)
		hazard->first_page = overlap->first;
	hazard->device_wrote |= overlap->device_wrote;
	hazard->host_wrote |= overlap->host_wrote;
	hazard->host_read |= !overlap->host_wrote;
	hazard->pages += overlap->end - overlap->first;
	for (int64_t page = overlap->first; page < overlap->end; page++) {
		uint64_t all = all_lines(allocation, page);

		hazard->certain += (overlap->lines & all) == all;
	}
}

static int take_pair(struct sqlite3_stmt *row, void *context)
{
	struct looking *looking = context;
	const struct um_fact_allocation *allocation =
		&looking->draft->facts->allocations[looking->device->allocation];
	int64_t first = um_query_integer(row, 0), pages = um_query_integer(row, 1);
	int64_t host_first = um_query_integer(row, 5), host_pages = um_query_integer(row, 6);
	int64_t touch = um_query_integer(row, 2), host_touch = um_query_integer(row, 7);
	/* Masks of NULL are of lines that are not known. */
	uint64_t read = (uint64_t)sqlite3_column_int64(row, 3);
	uint64_t written = (uint64_t)sqlite3_column_int64(row, 4);
	struct overlap overlap = {
		.first = first > host_first ? first : host_first,
		.end = first + pages < host_first + host_pages ? first + pages
							       : host_first + host_pages,
		.device_wrote = touch & UM_TOUCH_WRITTEN,
		.host_wrote = host_touch & UM_TOUCH_WRITTEN,
	};

	overlap.lines = overlap.host_wrote ? read | written : written;
	add_overlap(looking, allocation, &overlap);
	return 0;
}

/* A launch's pages stand in the file, as the host's do. */
static int compare_launch(struct looking *looking, const struct um_fact_op *launch,
			  const struct um_fact_op *host, int64_t allocation)
{
	char sql[768];

	snprintf(
		sql, sizeof(sql),
		"SELECT d.first_page, d.pages, d.touch, d.lines_read, d.lines_written,"
		" h.first_page, h.pages, h.touch FROM page_access AS h JOIN page_access AS d"
		" ON d.first_page < h.first_page + h.pages AND h.first_page < d.first_page + d.pages"
		" WHERE h.op = %" PRId64 " AND h.allocation = %" PRId64 " AND d.op = %" PRId64
		" AND d.allocation = %" PRId64,
		host->op, allocation, launch->op, allocation);
	return um_query_each(looking->draft->facts->db, sql, take_pair, looking);
}

static int take_host_row(struct sqlite3_stmt *row, void *context)
{
	struct looking *looking = context;
	const struct um_fact_use *use = looking->device;
	const struct um_fact_op *op = &looking->draft->facts->ops[use->op];
	const struct um_fact_allocation *allocation =
		&looking->draft->facts->allocations[use->allocation];
	int64_t first = um_query_integer(row, 0), end = first + um_query_integer(row, 1);
	bool is_source = use->pages_written == 0;
	int64_t start = is_source ? op->source_offset_bytes : op->offset_bytes;
	/* Whole pages of it; those at its ends are touched in part. */
	int64_t whole = (start + UM_FACT_PAGE_BYTES - 1) / UM_FACT_PAGE_BYTES;
	int64_t whole_end = start + op->bytes == allocation->bytes
				    ? use->end_page
				    : (start + op->bytes) / UM_FACT_PAGE_BYTES;
	bool host_wrote = um_query_integer(row, 2) & UM_TOUCH_WRITTEN;

	first = first > use->first_page ? first : use->first_page;
	end = end < use->end_page ? end : use->end_page;
	for (int64_t page = first; page < end; page++) {
		struct overlap overlap = {
			.first = page,
			.end = page + 1,
			.device_wrote = !is_source,
			.host_wrote = host_wrote,
			.lines = page >= whole && page < whole_end ? UINT64_MAX : 0,
		};

		add_overlap(looking, allocation, &overlap);
	}
	return 0;
}

static int compare_bytes(struct looking *looking, const struct um_fact_op *host, int64_t allocation)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT first_page, pages, touch FROM page_access WHERE op = %" PRId64
		 " AND allocation = %" PRId64,
		 host->op, allocation);
	return um_query_each(looking->draft->facts->db, sql, take_host_row, looking);
}

/* --- the finding --- */

/* The first of the host's instructions that touched the pages, where umtrace --host-sync told. */
static struct um_finding_place host_place(const struct looking *looking,
					  const struct um_fact_op *host,
					  const struct um_fact_allocation *allocation)
{
	const struct um_facts *facts = looking->draft->facts;
	struct um_finding_place place = {.site = UM_NULL, .line = UM_NULL};
	const struct um_stack_frame *frame;
	char sql[320], *text;

	snprintf(sql, sizeof(sql),
		 "SELECT site FROM host_access WHERE op = %" PRId64 " AND allocation = %" PRId64
		 " AND first_page + pages > %" PRId64 " AND ?1 = 0 ORDER BY touch LIMIT 1",
		 host->op, allocation->id, looking->hazard.first_page);
	/* No such row, or a file that never had them: no place. */
	if (um_db_integer(facts->db, sql, 0, &place.site) || place.site == UM_NULL)
		return (struct um_finding_place){.site = UM_NULL, .line = UM_NULL};
	frame = um_stacks_user(facts->stacks, place.site, NULL, NULL);
	text = frame ? um_stack_frame_text(frame) : NULL;
	if (!text)
		return place;
	place.text = um_finding_text(looking->draft->out, "%s", text);
	place.file = frame->file ? um_finding_text(looking->draft->out, "%s", frame->file) : NULL;
	place.function = frame->function
				 ? um_finding_text(looking->draft->out, "%s", frame->function)
				 : NULL;
	place.line = frame->line;
	free(text);
	return place;
}

static const char *name_of(const struct um_fact_op *work)
{
	return work->kernel		  ? work->kernel
	       : work->kind == UM_OP_COPY ? "an asynchronous copy"
					  : "an asynchronous memset";
}

static int explain(struct um_finding_draft *draft, const struct looking *looking)
{
	if (looking->hazard.certain && looking->queries_told)
		return um_draft_because(
			draft,
			"Nothing that the host waited for comes behind it, so that the "
			"host may see or replace old values, new ones, or some of each. Traced "
			"without a GPU each launch is complete when it returns, which hides "
			"that.");
	if (!looking->queries_told)
		return um_draft_because(
			draft,
			"Nothing that the host waited for comes behind it. The trace is of an "
			"older umtrace, which did not record queries: a program that asks "
			"hipStreamQuery() first is right.");
	return um_draft_because(
		draft, "Nothing that the host waited for comes behind it, and both touch the same "
		       "pages. Whether they touch the same bytes of these is not known: the host's "
		       "accesses are known by the page.");
}

static int add_evidence(struct um_finding_draft *draft, const struct hazard *hazard)
{
	int error = um_draft_accessed(draft, "pages touched by both", UM_UNIT_COUNT, hazard->pages);

	if (!error)
		error = um_draft_accessed(draft, "of these with all lines touched by the device",
					  UM_UNIT_COUNT, hazard->certain);
	return error ? error
		     : um_draft_accessed(draft, "first page of these", UM_UNIT_COUNT,
					 hazard->first_page);
}

static int add_change(struct um_finding_draft *draft, const struct um_fact_op *work)
{
	struct um_finding_place at =
		draft->finding->at.text ? draft->finding->at : um_facts_place(draft->facts, work);
	const char *call =
		work->stream == 0 ? "hipDeviceSynchronize();" : "hipStreamSynchronize(stream);";

	return um_finding_change(
		draft->out, draft->finding, &at,
		um_finding_text(draft->out, "%s // before the host touches %s", call,
				um_group_pointer(draft->group)),
		NULL,
		"a synchronisation decides what the program computes; what it costs is "
		"no question");
}

static bool is_known(const struct um_finding_draft *draft, const char *kernel,
		     const struct um_fact_allocation *allocation)
{
	for (size_t i = 0; i < draft->out->count; i++) {
		const struct um_finding *finding = &draft->out->findings[i];

		if (finding->rule == draft->rule && finding->kernel_count &&
		    strcmp(finding->kernels[0], kernel) == 0 &&
		    finding->allocations[0] == allocation->id)
			return true;
	}
	return false;
}

static int add(struct looking *looking, const struct um_fact_op *work,
	       const struct um_fact_op *host, const struct um_fact_allocation *allocation)
{
	struct um_finding_draft *draft = looking->draft;
	const struct hazard *hazard = &looking->hazard;
	struct um_fact_group group = {&allocation, 1, allocation->bytes};
	int error;

	draft->group = &group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	draft->finding->verdict = UM_FINDING_FAULT;
	draft->finding->is_certain = hazard->certain > 0 && looking->queries_told;
	draft->finding->concerned_bytes = hazard->pages * UM_FACT_PAGE_BYTES;
	draft->finding->at = host_place(looking, host, allocation);
	if (!draft->finding->at.text)
		draft->finding->at = um_facts_place(draft->facts, work);
	draft->finding->first_op = work->op;
	draft->finding->last_op = host->op;
	draft->finding->phase = work->range;
	error = um_draft_title(draft, "the host %s %s while %s may still %s it",
			       hazard->host_wrote && hazard->host_read ? "reads and writes"
			       : hazard->host_wrote		       ? "writes"
								       : "reads",
			       draft->finding->subject, name_of(work),
			       hazard->device_wrote ? "write" : "read");
	if (!error)
		error = explain(draft, looking);
	if (!error)
		error = um_finding_kernel(draft->out, draft->finding, name_of(work));
	if (!error)
		error = add_evidence(draft, hazard);
	if (!error)
		error = add_change(draft, work);
	draft->group = NULL;
	return error;
}

/* --- what is in flight --- */

static void forget_done(struct looking *looking)
{
	size_t kept = 0;

	for (size_t i = 0; i < looking->count; i++)
		if (!um_sync_order_is_done(looking->order, looking->in_flight[i].work))
			looking->in_flight[kept++] = looking->in_flight[i];
	looking->count = kept;
}

static void begin(struct looking *looking, const struct um_fact_op *op, struct um_sync_work work)
{
	if (op->kind == UM_OP_PREFETCH || !op->use_count)
		return;
	if (looking->count == looking->most) {
		memmove(looking->in_flight, looking->in_flight + 1,
			(looking->count - 1) * sizeof(*looking->in_flight));
		looking->count--;
	}
	looking->in_flight[looking->count++] = (struct in_flight){op, work};
}

static bool may_meet(const struct um_fact_use *device, const struct um_fact_use *host)
{
	return device->allocation == host->allocation && device->first_page < host->end_page &&
	       host->first_page < device->end_page &&
	       (device->pages_written || host->pages_written);
}

static int compare(struct looking *looking, const struct um_fact_op *work,
		   const struct um_fact_use *device, const struct um_fact_op *host,
		   const struct um_fact_use *touched)
{
	const struct um_fact_allocation *allocation =
		&looking->draft->facts->allocations[device->allocation];
	int error;

	if (!may_meet(device, touched) || allocation->kind != UM_ALLOCATION_MANAGED ||
	    is_known(looking->draft, name_of(work), allocation))
		return 0;
	looking->hazard = (struct hazard){.first_page = UM_NULL};
	looking->device = device;
	error = work->kind == UM_OP_LAUNCH ? compare_launch(looking, work, host, allocation->id)
					   : compare_bytes(looking, host, allocation->id);
	if (error || !looking->hazard.pages)
		return error;
	return add(looking, work, host, allocation);
}

static int look_at_host(struct looking *looking, const struct um_fact_op *host)
{
	const struct um_fact_use *uses = looking->draft->facts->uses;
	int error = 0;

	forget_done(looking);
	for (size_t i = 0; i < looking->count; i++) {
		const struct um_fact_op *work = looking->in_flight[i].op;

		for (size_t j = 0; j < work->use_count; j++)
			for (size_t k = 0; k < host->use_count && !error; k++)
				error = compare(looking, work, &uses[work->first_use + j], host,
						&uses[host->first_use + k]);
	}
	return error;
}

static int pass(struct looking *looking)
{
	const struct um_facts *facts = looking->draft->facts;
	int error = 0;

	for (size_t i = 0; i < facts->op_count && error >= 0; i++) {
		const struct um_fact_op *op = &facts->ops[i];
		struct um_sync_work work;

		error = um_sync_order_pass(looking->order, op, &work);
		if (error > 0)
			begin(looking, op, work);
		else if (!error && op->kind == UM_OP_HOST)
			error = look_at_host(looking, op);
	}
	return error < 0 ? error : 0;
}

/* From this version on traces have the queries that found their work done. */
#define QUERIES_SINCE 6

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};
	struct looking looking = {.draft = &draft,
				  .most = (size_t)um_finding_param(rule, "in-flight")};
	int64_t version;
	int error;

	error = um_db_integer(facts->db,
			      "SELECT user_version FROM pragma_user_version WHERE ?1 = 0", 0,
			      &version);
	if (error)
		return error;
	looking.queries_told = version >= QUERIES_SINCE;
	looking.in_flight = calloc(looking.most, sizeof(*looking.in_flight));
	error = looking.in_flight ? um_sync_order_create(&looking.order, looking.queries_told)
				  : um_fail(UM_ENOMEM, "out of memory");
	if (!error)
		error = pass(&looking);
	um_sync_order_destroy(looking.order);
	free(looking.in_flight);
	return error;
}

const struct um_finding_rule um_finding_missing_sync = {
	.name = "missing-sync",
	.help = "memory that the host touches before what the device does with it is waited for",
	.params = params,
	.needs = UM_NEEDS_SOME_ACCESSES,
	.find = find,
};
