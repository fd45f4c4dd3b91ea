#include "finding_calls.h"

#include "analyzer/query/query.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct lines {
	struct um_call_line *items;
	size_t count;
	/* Places of sites that were asked for, so that each is looked up once. */
	struct known {
		int64_t site;
		size_t line;
	} * known;
	size_t known_count;
};

static struct um_call_line *find_line(struct lines *lines, const struct um_facts *facts,
				      const struct um_fact_op *op)
{
	struct um_finding_place at;
	struct known *known;
	size_t line = 0;

	for (size_t i = 0; i < lines->known_count; i++)
		if (lines->known[i].site == op->site)
			return &lines->items[lines->known[i].line];
	at = um_facts_place(facts, op);
	while (line < lines->count && (!at.text || !lines->items[line].at.text ||
				       strcmp(lines->items[line].at.text, at.text) != 0))
		line++;
	if (line == lines->count) {
		struct um_call_line *added =
			um_query_append(&lines->items, &lines->count, sizeof(*added));

		if (!added)
			return NULL;
		added->at = at;
	}
	known = um_query_append(&lines->known, &lines->known_count, sizeof(*known));
	if (!known)
		return NULL;
	*known = (struct known){op->site, line};
	return &lines->items[line];
}

static int gather(struct lines *lines, const struct um_facts *facts, int kind)
{
	for (size_t i = 0; i < facts->op_count; i++) {
		const struct um_fact_op *op = &facts->ops[i], **added;
		struct um_call_line *line;

		if (op->kind != kind || op->result)
			continue;
		line = find_line(lines, facts, op);
		added = line ? um_query_append(&line->calls, &line->count, sizeof(*added)) : NULL;
		if (!added)
			return UM_ENOMEM;
		*added = op;
	}
	return 0;
}

int um_facts_call_lines(const struct um_facts *facts, int kind,
			int (*call)(const struct um_call_line *, void *), void *context)
{
	struct lines lines = {0};
	int error = gather(&lines, facts, kind);

	for (size_t i = 0; i < lines.count && !error; i++)
		error = call(&lines.items[i], context);
	for (size_t i = 0; i < lines.count; i++)
		free(lines.items[i].calls);
	free(lines.items);
	free(lines.known);
	return error;
}

int64_t um_line_moved_bytes(const struct um_call_line *line)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < line->count; i++)
		bytes += line->calls[i]->traffic.moved_to_device +
			 line->calls[i]->traffic.moved_to_host;
	return (int64_t)bytes;
}

const struct um_fact_op *um_facts_next_use(const struct um_facts *facts,
					   const struct um_fact_op *call, int64_t *pages)
{
	const struct um_fact_allocation *allocation =
		call->allocation == UM_NULL ? NULL : um_facts_allocation(facts, call->allocation);
	int64_t first = call->offset_bytes / UM_FACT_PAGE_BYTES;
	int64_t end = (call->offset_bytes + call->bytes - 1) / UM_FACT_PAGE_BYTES + 1;
	size_t low = 0, high = allocation ? allocation->use_count : 0;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (facts->ops[facts->uses[allocation->uses[middle]].op].op < call->op)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; allocation && i < allocation->use_count; i++) {
		const struct um_fact_use *use = &facts->uses[allocation->uses[i]];

		if (use->first_page >= end || use->end_page <= first)
			continue;
		*pages = use->pages < end - first ? use->pages : end - first;
		return &facts->ops[use->op];
	}
	return NULL;
}

static const char *subject_of(const struct um_finding_draft *draft, const struct um_call_line *line)
{
	const struct um_fact_allocation *first =
		um_facts_allocation(draft->facts, line->calls[0]->allocation);

	for (size_t i = 1; i < line->count; i++)
		if (line->calls[i]->allocation != line->calls[0]->allocation)
			return "several allocations";
	return first ? first->label : "memory that HIP does not know";
}

static int add_allocation(struct um_finding *finding, int64_t allocation)
{
	int64_t *added;

	for (size_t i = 0; i < finding->allocation_count; i++)
		if (finding->allocations[i] == allocation)
			return 0;
	added = um_query_append(&finding->allocations, &finding->allocation_count, sizeof(*added));
	if (!added)
		return UM_ENOMEM;
	*added = allocation;
	return 0;
}

int um_finding_begin_calls(struct um_finding_draft *draft, const struct um_call_line *line)
{
	struct um_finding *finding;
	int error = 0;

	draft->group = NULL;
	if (um_finding_begin(draft))
		return UM_ENOMEM;
	finding = draft->finding;
	finding->at = line->at;
	finding->subject = subject_of(draft, line);
	finding->first_op = line->calls[0]->op;
	finding->last_op = line->calls[line->count - 1]->op;
	finding->phase = line->calls[0]->range;
	for (size_t i = 0; i < line->count && !error; i++)
		if (line->calls[i]->allocation != UM_NULL)
			error = add_allocation(finding, line->calls[i]->allocation);
	return error;
}
