#include "smi_pair.h"

#include <string.h>

void um_smi_pairs_init(struct um_smi_pairs *pairs, void (*take)(void *, const struct um_smi_span *),
		       void *context)
{
	memset(pairs, 0, sizeof(*pairs));
	pairs->take = take;
	pairs->context = context;
}

/* What begins with an id, and the id that it ends with. */
static const struct {
	bool begins;
	uint32_t ends; /* the id of the beginning */
	enum um_smi_span_kind kind;
} roles[UM_SMI_IDS] = {
	[UM_SMI_MIGRATE_START] = {true, 0, UM_SMI_MIGRATION},
	[UM_SMI_MIGRATE_END] = {false, UM_SMI_MIGRATE_START, UM_SMI_MIGRATION},
	[UM_SMI_FAULT_START] = {true, 0, UM_SMI_FAULT},
	[UM_SMI_FAULT_END] = {false, UM_SMI_FAULT_START, UM_SMI_FAULT},
	[UM_SMI_QUEUE_EVICTION] = {true, 0, UM_SMI_STOP},
	[UM_SMI_QUEUE_RESTORE] = {false, UM_SMI_QUEUE_EVICTION, UM_SMI_STOP},
};

static bool is_same(const struct um_smi_event *a, const struct um_smi_event *b)
{
	return a->pid == b->pid && a->address == b->address && a->pages == b->pages &&
	       a->gpu == b->gpu && a->from == b->from && a->to == b->to;
}

/* Alike for those that are the same; others seldom share one. */
static uint64_t key_of(uint32_t id, const struct um_smi_event *event)
{
	uint64_t key = event->address ^ (uint64_t)event->pid << 40 ^ (uint64_t)event->gpu << 20;

	key ^= (uint64_t)event->from << 8 ^ (uint64_t)event->to << 32 ^ event->pages << 48;
	return (key + id) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The place of the beginning; `count` if there is none. The latest is the likeliest. */
static unsigned find(const struct um_smi_pairs *pairs, uint32_t id,
		     const struct um_smi_event *event)
{
	uint64_t key = key_of(id, event);

	for (unsigned i = pairs->count; i > 0; i--)
		if (pairs->keys[i - 1] == key && pairs->open[i - 1].id == id &&
		    is_same(&pairs->open[i - 1], event))
			return i - 1;
	return pairs->count;
}

static void close_up(struct um_smi_pairs *pairs, unsigned place)
{
	pairs->count--;
	memmove(pairs->open + place, pairs->open + place + 1,
		(pairs->count - place) * sizeof(*pairs->open));
	memmove(pairs->keys + place, pairs->keys + place + 1,
		(pairs->count - place) * sizeof(*pairs->keys));
}

static void tell(struct um_smi_pairs *pairs, const struct um_smi_event *start,
		 const struct um_smi_event *end)
{
	const struct um_smi_event *event = start ? start : end;
	const struct um_smi_span span = {
		.kind = roles[event->id].kind,
		.start_ns = start ? start->at_ns : UM_SMI_NOT_TOLD,
		.end_ns = end ? end->at_ns : UM_SMI_NOT_TOLD,
		.event = *event,
		.error = end ? end->error : UM_SMI_ERROR_NOT_TOLD,
		.outcome = end && end->id == UM_SMI_FAULT_END ? end->letter : 0,
	};

	pairs->spans += start && end;
	pairs->no_end += !end;
	pairs->no_start += !start;
	pairs->take(pairs->context, &span);
}

/* The oldest makes room: its end would have come long ago. */
static void open_up(struct um_smi_pairs *pairs, const struct um_smi_event *event)
{
	unsigned before = find(pairs, event->id, event);

	if (before < pairs->count && event->id == UM_SMI_QUEUE_EVICTION) {
		pairs->duplicates++;
		return;
	}
	if (before == pairs->count && pairs->count == UM_SMI_OPEN)
		before = 0;
	if (before < pairs->count) {
		struct um_smi_event old = pairs->open[before];

		close_up(pairs, before);
		tell(pairs, &old, NULL);
	}
	pairs->keys[pairs->count] = key_of(event->id, event);
	pairs->open[pairs->count++] = *event;
}

static void finish(struct um_smi_pairs *pairs, const struct um_smi_event *event)
{
	unsigned place = find(pairs, roles[event->id].ends, event);

	/* Queues that are to run again only later stand still for now. */
	if (event->id == UM_SMI_QUEUE_RESTORE && event->letter == 'R')
		return;
	if (place == pairs->count) {
		tell(pairs, NULL, event);
		return;
	}
	struct um_smi_event start = pairs->open[place];

	close_up(pairs, place);
	tell(pairs, &start, event);
}

static void tell_unmapping(struct um_smi_pairs *pairs, const struct um_smi_event *event)
{
	const struct um_smi_span span = {
		.kind = UM_SMI_UNMAPPING,
		.start_ns = event->at_ns,
		.end_ns = event->at_ns,
		.event = *event,
		.error = UM_SMI_ERROR_NOT_TOLD,
	};

	pairs->spans++;
	pairs->take(pairs->context, &span);
}

void um_smi_pairs_put(struct um_smi_pairs *pairs, const struct um_smi_event *event)
{
	if (event->id >= UM_SMI_IDS)
		return;
	if (event->id == UM_SMI_UNMAP)
		tell_unmapping(pairs, event);
	else if (roles[event->id].begins)
		open_up(pairs, event);
	else if (roles[event->id].ends)
		finish(pairs, event);
}

void um_smi_pairs_end(struct um_smi_pairs *pairs)
{
	for (unsigned i = 0; i < pairs->count; i++)
		tell(pairs, &pairs->open[i], NULL);
	pairs->count = 0;
}
