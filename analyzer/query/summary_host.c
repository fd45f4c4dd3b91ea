/*
 * Which lines of the host touched which allocation first, and what came back from the GPU for it. Where an
 * interval's pages moved is the model's, by its pages: of each that moved, the line that touched any of it
 * first made it move. What moved beside what was touched goes to the line before it in memory.
 */
#include "query.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define RUN_PAGES_MAX 512 /* of schema.sql: a run lies within 2 MiB */
#define PAGE_BYTES    4096

struct access {
	int64_t op, allocation, first_page, pages, touch;
	size_t line;
};

struct host {
	struct um_summary *summary;
	int64_t block_pages; /* of the model */
	struct access *accesses;
	size_t access_count;
	int64_t group; /* that the last line is of */
};

/* Lines in an order of their own first, so that the rows of one follow one another. */
static const char accesses_sql[] =
	"SELECT frame.file, frame.line, frame.function, frame.module, frame.offset_bytes,"
	" DENSE_RANK() OVER (ORDER BY host_access.allocation, frame.file, frame.line,"
	"  frame.function, CASE WHEN frame.line IS NULL THEN host_access.site END),"
	" host_access.op, host_access.allocation, host_access.first_page, host_access.pages,"
	" host_access.touch, host_access.access"
	" FROM host_access LEFT JOIN temp.user_frame AS frame"
	"  ON frame.site = host_access.site AND frame.kind = '' ORDER BY 6";

static int add_line(struct host *host, struct sqlite3_stmt *row)
{
	struct um_summary *summary = host->summary;
	struct um_host_line_summary *line = um_query_append(
		&summary->host_lines, &summary->host_line_count, sizeof(*summary->host_lines));

	if (!line)
		return UM_ENOMEM;
	host->group = um_query_integer(row, 5);
	line->allocation = um_query_integer(row, 7);
	line->faults = line->migrated_to_host_bytes = 0;
	if (!um_query_text(row, 3))
		return 0;
	return um_summary_site(summary, row, 0, &line->site, &line->has_line, &line->function);
}

static int add_access(struct sqlite3_stmt *row, void *context)
{
	struct host *host = context;
	struct access access = {
		.op = um_query_integer(row, 6),
		.allocation = um_query_integer(row, 7),
		.first_page = um_query_integer(row, 8),
		.pages = um_query_integer(row, 9),
		.touch = um_query_integer(row, 10),
	};
	const char *word = um_query_text(row, 11);
	int error = host->group == um_query_integer(row, 5) ? 0 : add_line(host, row);

	/* Of a file from anyone. */
	if (error || access.pages < 1 || access.pages > RUN_PAGES_MAX || access.first_page < 0 ||
	    access.first_page > INT64_MAX / PAGE_BYTES)
		return error;
	access.line = host->summary->host_line_count - 1;
	struct um_host_line_summary *line = &host->summary->host_lines[access.line];
	struct access *added =
		um_query_append(&host->accesses, &host->access_count, sizeof(*host->accesses));

	if (!added)
		return UM_ENOMEM;
	*added = access;
	if (word && strcmp(word, "read") == 0)
		line->read_pages += access.pages;
	else
		line->written_pages += access.pages;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct access *a = left, *b = right;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	return (a->first_page > b->first_page) - (a->first_page < b->first_page);
}

/* --- what moved --- */

/* Pages of an allocation that moved, or faulted, during an op, and how much in all. */
struct amount {
	int64_t op, allocation, first_page, pages, sum;
	size_t field; /* of the line, that it is added to */
};

/* Index of the first access of the op and allocation that may reach `page`. */
static size_t first_access(const struct host *host, const struct amount *amount, int64_t page)
{
	const struct access sought = {.op = amount->op,
				      .allocation = amount->allocation,
				      .first_page = page - RUN_PAGES_MAX};
	size_t low = 0, high = host->access_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&host->accesses[middle], &sought) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct host *host, size_t i, const struct amount *amount, int64_t end)
{
	return i < host->access_count && host->accesses[i].op == amount->op &&
	       host->accesses[i].allocation == amount->allocation &&
	       host->accesses[i].first_page < end;
}

/* Who touched any of these pages first; NULL: nobody did. */
static const struct access *first_toucher(const struct host *host, const struct amount *amount,
					  int64_t first, int64_t end)
{
	const struct access *found = NULL;

	for (size_t i = first_access(host, amount, first); is_of(host, i, amount, end); i++) {
		const struct access *access = &host->accesses[i];

		if (access->first_page + access->pages > first &&
		    (!found || access->touch < found->touch))
			found = access;
	}
	return found;
}

static void give(struct host *host, const struct access *to, const struct amount *amount,
		 int64_t part)
{
	int64_t *sum =
		(int64_t *)(void *)((char *)&host->summary->host_lines[to->line] + amount->field);

	*sum = (int64_t)((uint64_t)*sum + (uint64_t)part);
}

static int64_t part_of(const struct amount *amount, int64_t pages)
{
	return (int64_t)((double)amount->sum * (double)pages / (double)amount->pages);
}

/* Block after block of those that were touched at all. */
static void distribute(struct host *host, const struct amount *amount)
{
	int64_t end = amount->first_page + amount->pages, given = 0, next = amount->first_page;
	const struct access *last = NULL;
	size_t i = first_access(host, amount,
				amount->first_page / host->block_pages * host->block_pages);

	while (next < end) {
		while (is_of(host, i, amount, INT64_MAX) &&
		       host->accesses[i].first_page + host->accesses[i].pages <=
			       next / host->block_pages * host->block_pages)
			i++;
		if (!is_of(host, i, amount, INT64_MAX))
			break;
		int64_t page =
			host->accesses[i].first_page > next ? host->accesses[i].first_page : next;
		int64_t block = page / host->block_pages * host->block_pages;
		int64_t block_end = block + host->block_pages;

		if (block >= end)
			break;
		int64_t from = block > next ? block : next, to = block_end < end ? block_end : end;
		const struct access *first = first_toucher(host, amount, block, block_end);

		if (first) {
			int64_t part = part_of(amount, to - from);

			give(host, first, amount, part);
			given += part;
			last = first;
		}
		next = to;
	}
	if (last)
		give(host, last, amount, amount->sum - given);
}

static int add_moved(struct sqlite3_stmt *row, void *context)
{
	struct amount amount = {
		.op = um_query_integer(row, 0),
		.allocation = um_query_integer(row, 1),
		.first_page = um_query_integer(row, 2),
		.pages = um_query_integer(row, 3),
		.sum = um_query_integer(row, 4),
		.field = um_query_integer(row, 5)
				 ? offsetof(struct um_host_line_summary, faults)
				 : offsetof(struct um_host_line_summary, migrated_to_host_bytes),
	};

	if (amount.first_page >= 0 && amount.pages > 0 && amount.sum > 0 &&
	    amount.first_page < INT64_MAX / PAGE_BYTES && amount.pages < INT64_MAX / PAGE_BYTES)
		distribute(context, &amount);
	return 0;
}

static const char moved_sql[] =
	"SELECT op, allocation, first_page, pages, bytes, 0 FROM migration WHERE destination = -1"
	" AND COALESCE(cause, '') NOT IN ('eviction', 'prefetch', 'advice')"
	" UNION ALL SELECT op, allocation, first_page, pages, faults, 1 FROM fault"
	" WHERE device < 0";

static int most_first(const void *left, const void *right)
{
	const struct um_host_line_summary *a = left, *b = right;

	if (a->migrated_to_host_bytes != b->migrated_to_host_bytes)
		return a->migrated_to_host_bytes > b->migrated_to_host_bytes ? -1 : 1;
	if (a->read_pages + a->written_pages != b->read_pages + b->written_pages)
		return a->read_pages + a->written_pages > b->read_pages + b->written_pages ? -1 : 1;
	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static void forget_absent(struct um_summary *summary)
{
	for (size_t i = 0; i < summary->host_line_count; i++) {
		if (!summary->has_host_faults)
			summary->host_lines[i].faults = UM_NULL;
		if (!summary->has_migrations)
			summary->host_lines[i].migrated_to_host_bytes = UM_NULL;
	}
}

int um_summary_load_host(struct um_summary *summary, struct um_db *db)
{
	struct host host = {.summary = summary, .block_pages = 1, .group = -1};
	int error = um_query_each(db, accesses_sql, add_access, &host);

	if (summary->run.page_bytes != UM_NULL && summary->run.page_bytes > PAGE_BYTES &&
	    summary->run.page_bytes <= INT64_MAX / 2)
		host.block_pages = summary->run.page_bytes / PAGE_BYTES;
	if (!error && host.access_count) {
		qsort(host.accesses, host.access_count, sizeof(*host.accesses), compare);
		error = um_query_each(db, moved_sql, add_moved, &host);
	}
	free(host.accesses);
	if (!error && summary->host_line_count)
		qsort(summary->host_lines, summary->host_line_count, sizeof(*summary->host_lines),
		      most_first);
	forget_absent(summary);
	return error;
}
