/*
 * Several devices pull the same pages, or pages of one block that the driver moves whole: each takes it from the
 * other, and what amdkfd moves from device to device crosses the host's link twice (kfd_migrate.c,
 * svm_migrate_vram_to_vram, 6.8: through system memory). What helps: each device's part is told to stay with it,
 * and the others reach the few lines of it that they need in place; or all of it stays on one side.
 */
#include "finding_draft.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More parts than this are no split that anybody would write. */
#define PARTS_MOST 16

static uint64_t crossing(const struct um_fact_traffic *traffic)
{
	return traffic->moved_to_device + traffic->moved_to_host + traffic->moved_between_devices;
}

static bool is_wanted(const struct um_fact_allocation *allocation, void *context)
{
	(void)context;
	return allocation->kind == UM_ALLOCATION_MANAGED && crossing(&allocation->traffic) > 0;
}

struct sharing {
	int64_t pages, blocks;	 /* that several devices touch; blocks of the driver's */
	int64_t most_turns;	 /* of a page, from device to device */
	uint32_t devices;	 /* that share some */
	uint64_t moved, between; /* bytes that moved at all, of them straight between devices */
};

static int bits(uint32_t mask)
{
	return __builtin_popcount(mask);
}

static void look_at_allocation(const struct um_fact_allocation *allocation, int64_t block_pages,
			       struct sharing *sharing)
{
	uint32_t in_block = 0;

	for (int64_t page = 0; page < allocation->page_count; page++) {
		const struct um_fact_page *seen = um_facts_page(allocation, page);

		in_block = page % block_pages ? in_block | seen->devices : seen->devices;
		sharing->pages += bits(seen->devices) > 1;
		if (seen->device_turns > sharing->most_turns)
			sharing->most_turns = seen->device_turns;
		if (bits(in_block) < 2 ||
		    ((page + 1) % block_pages && page + 1 < allocation->page_count))
			continue;
		sharing->blocks++;
		sharing->devices |= in_block;
	}
	sharing->moved += crossing(&allocation->traffic);
	sharing->between += allocation->traffic.moved_between_devices;
}

static struct sharing look_at_all(const struct um_facts *facts, const struct um_fact_group *group)
{
	int64_t block_pages = (int64_t)(facts->page_bytes / UM_FACT_PAGE_BYTES);
	struct sharing sharing = {0};

	for (size_t i = 0; i < group->count; i++)
		look_at_allocation(group->members[i], block_pages > 0 ? block_pages : 1, &sharing);
	return sharing;
}

/* --- a part of it for each device --- */

struct part {
	int64_t first_page, end_page;
	int owner;
	uint32_t others;
};

struct parts {
	struct part items[PARTS_MOST];
	size_t count;
	bool too_many;
};

/* Who writes it alone; else who touches it first in their order; -1: nobody. */
static int owner_of(const struct um_fact_page *page)
{
	if (bits(page->writers) == 1)
		return __builtin_ctz(page->writers);
	return page->devices ? __builtin_ctz(page->devices) : -1;
}

/* Pages that no device touches belong to the part before. */
static void split(const struct um_fact_allocation *allocation, struct parts *parts)
{
	*parts = (struct parts){0};
	for (int64_t page = 0; page < allocation->page_count && !parts->too_many; page++) {
		const struct um_fact_page *seen = um_facts_page(allocation, page);
		int owner = owner_of(seen);
		struct part *last = parts->count ? &parts->items[parts->count - 1] : NULL;

		if (!last || (owner >= 0 && owner != last->owner && last->owner >= 0)) {
			parts->too_many = parts->count == PARTS_MOST;
			if (parts->too_many)
				return;
			last = &parts->items[parts->count++];
			*last = (struct part){page, page, owner, 0};
		}
		if (last->owner < 0)
			last->owner = owner;
		last->end_page = page + 1;
		last->others |= seen->devices;
	}
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].owner >= 0)
			parts->items[i].others &= ~(UINT32_C(1) << parts->items[i].owner);
}

static void put_rule(FILE *out, const struct um_fact_allocation *allocation,
		     const struct part *part, int64_t end_bytes)
{
	const char *separator = "";

	fprintf(out,
		"  - on: {index: %lld, range: [%lldB, %lldB]}\n    preferred_location: gpu%d\n",
		(long long)allocation->index, (long long)(part->first_page * UM_FACT_PAGE_BYTES),
		(long long)end_bytes, part->owner);
	if (!part->others)
		return;
	fputs("    accessed_by: [", out);
	for (int i = 0; i < UM_DEVICES_MAX; i++)
		if (part->others >> i & 1) {
			fprintf(out, "%sgpu%d", separator, i);
			separator = ", ";
		}
	fputs("]\n", out);
}

static void put_code(FILE *out, const struct um_fact_allocation *allocation, const char *pointer,
		     const struct part *part, int64_t end_bytes)
{
	long long start = (long long)(part->first_page * UM_FACT_PAGE_BYTES);
	long long bytes = (long long)end_bytes - start;

	(void)allocation;
	fprintf(out,
		"hipMemAdvise((char *)%s + %lld, %lld, hipMemAdviseSetPreferredLocation, %d);\n",
		pointer, start, bytes, part->owner);
	for (int i = 0; i < UM_DEVICES_MAX; i++)
		if (part->others >> i & 1)
			fprintf(out,
				"hipMemAdvise((char *)%s + %lld, %lld, hipMemAdviseSetAccessedBy, "
				"%d);\n",
				pointer, start, bytes, i);
}

struct split_texts {
	FILE *rules, *code;
	char *rules_text, *code_text;
	size_t rules_bytes, code_bytes;
};

static int open_texts(struct split_texts *texts)
{
	texts->rules = open_memstream(&texts->rules_text, &texts->rules_bytes);
	texts->code = open_memstream(&texts->code_text, &texts->code_bytes);
	return texts->rules && texts->code ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

static int close_texts(struct split_texts *texts)
{
	bool bad = texts->rules && fclose(texts->rules) != 0;

	bad |= texts->code && fclose(texts->code) != 0;
	return bad ? um_fail(UM_ENOMEM, "out of memory") : 0;
}

/* False: it cannot be said in so few lines. */
static bool put_split(struct split_texts *texts, const struct um_fact_allocation *allocation)
{
	const struct um_fact_group one = {&allocation, 1, allocation->bytes};
	const char *pointer = um_group_pointer(&one);
	struct parts parts;

	split(allocation, &parts);
	if (parts.too_many)
		return false;
	for (size_t i = 0; i < parts.count; i++) {
		const struct part *part = &parts.items[i];
		int64_t end = part->end_page * UM_FACT_PAGE_BYTES;

		if (part->owner < 0)
			continue;
		end = end < allocation->bytes ? end : allocation->bytes;
		put_rule(texts->rules, allocation, part, end);
		put_code(texts->code, allocation, pointer, part, end);
	}
	return true;
}

static int change_split(struct um_finding_draft *draft)
{
	struct split_texts texts = {0};
	const char *rules = NULL, *code = NULL;
	int error = open_texts(&texts), closed;
	bool fits = draft->group->count <= PARTS_MOST;

	if (!error)
		fputs("advise:\n", texts.rules);
	for (size_t i = 0; i < draft->group->count && !error && fits; i++)
		fits = put_split(&texts, draft->group->members[i]);
	closed = close_texts(&texts);
	error = error ? error : closed;
	if (!error && fits && texts.code_bytes) {
		texts.code_text[texts.code_bytes - 1] = '\0';
		rules = um_finding_text(draft->out, "%s", texts.rules_text);
		code = um_finding_text(draft->out, "%s", texts.code_text);
		error = rules && code ? um_finding_change(draft->out, draft->finding,
							  &draft->group->members[0]->at, code,
							  rules, NULL)
				      : UM_ENOMEM;
	}
	free(texts.rules_text);
	free(texts.code_text);
	return error;
}

/* --- what is said --- */

static int add_evidence(struct um_finding_draft *draft, const struct sharing *sharing)
{
	int error = um_draft_accessed(draft, "devices", UM_UNIT_COUNT, bits(sharing->devices));

	if (!error)
		error = um_draft_accessed(draft, "pages that several of them touch", UM_UNIT_COUNT,
					  sharing->pages);
	if (!error)
		error = um_draft_accessed(draft,
					  "blocks that the driver moves, with such pages or "
					  "with pages of several",
					  UM_UNIT_COUNT, sharing->blocks);
	if (!error)
		error = um_draft_accessed(draft, "turns from device to device, of a page, at most",
					  UM_UNIT_COUNT, sharing->most_turns);
	if (!error)
		error = um_draft_moved(draft, "moved, over the host's link", UM_UNIT_BYTES,
				       (int64_t)(sharing->moved - sharing->between));
	if (!error && sharing->between)
		error = um_draft_moved(draft, "moved, from device to device", UM_UNIT_BYTES,
				       (int64_t)sharing->between);
	return error ? error : um_draft_uses(draft);
}

static int add_changes(struct um_finding_draft *draft)
{
	int error = change_split(draft);

	if (!error)
		error = um_change_stay_on_device(draft);
	if (!error)
		error = um_change_read_mostly(draft);
	return error ? error : um_change_stay_on_host(draft);
}

static int explain(struct um_finding_draft *draft, const struct sharing *sharing)
{
	char block[32];

	um_format_bytes(block, sizeof(block), draft->facts->page_bytes);
	return sharing->pages
		       ? um_draft_because(draft,
					  "They touch the same pages in turn, and each turn moves "
					  "what the driver moves at once, up to %s.",
					  block)
		       : um_draft_because(draft,
					  "Each has pages of its own, but the driver moves up to "
					  "%s at once, and with them those of others.",
					  block);
}

static int look_at(const struct um_fact_group *group, void *context)
{
	struct um_finding_draft *draft = context;
	struct sharing sharing = look_at_all(draft->facts, group);
	int error;

	if (!sharing.blocks)
		return 0;
	draft->group = group;
	error = um_finding_begin(draft);
	if (error)
		return error;
	draft->finding->concerned_bytes = (int64_t)sharing.moved;
	draft->finding->concerned_ns = (int64_t)draft->facts->baseline.end_ns;
	error = um_draft_title(draft, "%d devices pull pages of %s from each other",
			       bits(sharing.devices), draft->finding->subject);
	if (!error)
		error = explain(draft, &sharing);
	if (!error)
		error = add_evidence(draft, &sharing);
	return error ? error : add_changes(draft);
}

static int find(const struct um_finding_rule *rule, const struct um_facts *facts,
		struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_groups(facts, is_wanted, look_at, &draft);
}

const struct um_finding_rule um_finding_shared_by_devices = {
	.name = "shared-by-devices",
	.help = "pages that several devices pull from each other",
	.find = find,
};
