/* nvidia_uvm: pages that processors fight over (R29 to R34). */
#include "uvm.h"

#include "trace/base/error.h"
#include "sim/probe/probe.h"

#include <assert.h>
#include <stdlib.h>

#define EVENTS_MOST	 7   /* PAGE_THRASHING_NUM_EVENTS_BITS */
#define THROTTLINGS_MOST 255 /* PAGE_THRASHING_THROTTLING_COUNT_BITS */
#define NEVER_YET	 0   /* of the times here, which are one ns ahead */

struct page_record {
	um_ns last; /* event */
	um_ns nap_end;
	um_ns throttled_since;
	uint32_t fighters, throttled;	     /* places */
	um_device_id pinned_at, let_through; /* or UVM_NOBODY */
	uint16_t throttlings;
	uint8_t events;
	bool pinned;
	bool was_revoked; /* an event was the loss of a right to write */
};

struct uvm_thrash {
	struct page_record *pages; /* of the window; NULL: only the block is watched */
	struct uvm_mask thrashing, pinned;
	um_device_id last_by;
	um_ns last, last_thrashing;
	uint64_t resets;
	bool was_pinned;
};

/* A page that was pinned, and until when. */
struct uvm_pin {
	struct uvm_pin *next;
	struct uvm_block *block;
	uint32_t page;
	um_ns until;
};

static um_ns stamp(um_ns now)
{
	return now + 1;
}

static bool is_within(um_ns from, um_ns to, um_ns lapse)
{
	return to <= from || to - from <= lapse;
}

const struct uvm_mask *um_uvm_thrash_pages(const struct uvm_block *block)
{
	return block->thrash && !uvm_is_empty(&block->thrash->thrashing) ? &block->thrash->thrashing
									 : NULL;
}

uint32_t um_uvm_thrash_fighters(const struct uvm_block *block, uint32_t page)
{
	return block->thrash && block->thrash->pages ? block->thrash->pages[page].fighters : 0;
}

/* --- rows --- */

struct event {
	struct uvm *uvm;
	uint32_t op;
	um_device_id device;
	const char *kind;
	um_ns from, to;
};

static int report_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct event *event = context;
	bool is_own = range->allocation >= UM_OWN_PAGES;
	struct um_driver_event_row row = {
		.op = event->op ? event->op : UM_NULL,
		.device = event->device,
		.kind = event->kind,
		.allocation = is_own ? UM_NULL : (int64_t)range->allocation,
		.first_page = is_own ? UM_NULL : (int64_t)range->first_page,
		.pages = range->pages,
		.count = range->pages,
		.start_ns = (int64_t)event->from,
		.end_ns = (int64_t)event->to,
	};

	(void)index;
	um_probe_driver_event(event->uvm->env->probe, &row);
	return 0;
}

static void report(const struct uvm_block *block, struct uvm_region pages, struct event *event)
{
	um_uvm_for_each_name(block->window, pages, report_piece, event);
}

static void report_throttled(struct uvm *uvm, const struct uvm_block *block, uint32_t page,
			     um_device_id device, um_ns now)
{
	struct event event = {uvm,
			      0,
			      device,
			      UM_EVENT_WORD_THROTTLING,
			      block->thrash->pages[page].throttled_since,
			      now};

	if (device != UM_HOST) /* the host's nap has its own row */
		report(block, (struct uvm_region){page, page + 1}, &event);
}

/* --- forgetting --- */

static void end_throttling(struct uvm *uvm, struct uvm_block *block, uint32_t page,
			   um_device_id device, um_ns now)
{
	struct page_record *record = &block->thrash->pages[page];

	record->throttled &= ~uvm_bit(device);
	if (!record->throttled)
		record->nap_end = NEVER_YET;
	report_throttled(uvm, block, page, device, now);
}

static void end_all_throttling(struct uvm *uvm, struct uvm_block *block, uint32_t page, um_ns now)
{
	for (um_device_id i = UM_HOST; i < uvm->devices; i++)
		if (block->thrash->pages[page].throttled & uvm_bit(i))
			end_throttling(uvm, block, page, i, now);
}

static void remove_pins(struct uvm *uvm, const struct uvm_block *block, uint32_t page)
{
	struct uvm_pin **link = &uvm->first_pin;

	uvm->last_pin = NULL;
	while (*link) {
		struct uvm_pin *pin = *link;

		if (pin->block == block && (page == UVM_WINDOW_PAGES || pin->page == page)) {
			*link = pin->next;
			free(pin);
		} else {
			uvm->last_pin = pin;
			link = &pin->next;
		}
	}
}

static void unpin(struct uvm *uvm, struct uvm_block *block, uint32_t page)
{
	struct page_record *record = &block->thrash->pages[page];

	remove_pins(uvm, block, page);
	record->pinned = false;
	record->pinned_at = UVM_NOBODY;
	uvm_clear(&block->thrash->pinned, page);
}

static void reset_page(struct uvm *uvm, struct uvm_block *block, uint32_t page, um_ns now)
{
	struct page_record *record = &block->thrash->pages[page];

	end_all_throttling(uvm, block, page, now);
	if (record->pinned)
		unpin(uvm, block, page);
	record->last = NEVER_YET;
	record->events = 0;
	record->fighters = 0;
	record->was_revoked = false;
	uvm_clear(&block->thrash->thrashing, page);
}

void um_uvm_thrash_reset(struct uvm *uvm, struct uvm_block *block, struct uvm_region pages,
			 um_ns now)
{
	const struct uvm_mask *thrashing = um_uvm_thrash_pages(block);

	for (uint32_t page = pages.first; thrashing && page < pages.end; page++)
		if (uvm_has(&block->thrash->thrashing, page))
			reset_page(uvm, block, page, now);
}

void um_uvm_thrash_forget(struct uvm *uvm, struct uvm_block *block)
{
	if (!block->thrash)
		return;
	remove_pins(uvm, block, UVM_WINDOW_PAGES);
	free(block->thrash->pages);
	free(block->thrash);
	block->thrash = NULL;
}

/* R33: nothing happened for long. */
static void start_over(struct uvm *uvm, struct uvm_block *block, um_ns now)
{
	struct uvm_thrash *thrash = block->thrash;

	for (uint32_t page = block->pages.first; page < block->pages.end; page++)
		if (uvm_has(&thrash->thrashing, page))
			end_all_throttling(uvm, block, page, now);
	free(thrash->pages);
	*thrash = (struct uvm_thrash){.last_by = UVM_NOBODY, .resets = thrash->resets + 1};
}

/* --- events --- */

static int watch(struct uvm_block *block)
{
	if (block->thrash)
		return 0;
	block->thrash = calloc(1, sizeof(*block->thrash));
	if (!block->thrash)
		return um_fail(UM_ENOMEM, "no memory for a record of thrashing");
	block->thrash->last_by = UVM_NOBODY;
	return 0;
}

static int watch_pages(struct uvm_thrash *thrash)
{
	thrash->pages = calloc(UVM_WINDOW_PAGES, sizeof(*thrash->pages));
	if (!thrash->pages)
		return um_fail(UM_ENOMEM, "no memory for a record of thrashing");
	for (uint32_t i = 0; i < UVM_WINDOW_PAGES; i++)
		thrash->pages[i].pinned_at = thrash->pages[i].let_through = UVM_NOBODY;
	return 0;
}

/* Two processors within a lapse. */
static bool is_suspicious(const struct uvm *uvm, const struct uvm_thrash *thrash, um_device_id by,
			  um_ns now)
{
	return thrash->last != NEVER_YET && thrash->last_by != by &&
	       is_within(thrash->last, now, uvm->thrashing.lapse_ns);
}

/* What happened to pages of a block (R29). */
struct incident {
	um_device_id who;
	bool is_revocation;
	uint32_t op;
	um_ns now;
};

/* True: the page begins to thrash. */
static bool note_page(struct uvm *uvm, struct uvm_block *block, uint32_t page,
		      const struct incident *incident)
{
	const struct uvm_thrash_params *params = &uvm->thrashing;
	struct page_record *record = &block->thrash->pages[page];
	um_ns last = record->last, now = incident->now;

	record->fighters |= uvm_bit(incident->who);
	record->last = now;
	if (last == NEVER_YET)
		return false;
	if (!is_within(last, now, params->lapse_ns)) {
		if (record->events >= params->threshold && !record->pinned)
			reset_page(uvm, block, page, now);
		return false;
	}
	record->events = record->events < EVENTS_MOST ? record->events + 1 : EVENTS_MOST;
	record->was_revoked |= incident->is_revocation;
	if (record->events >= params->threshold)
		block->thrash->last_thrashing = now;
	if (record->events != params->threshold)
		return false;
	uvm_set(&block->thrash->thrashing, page);
	return true;
}

static void note_pages(struct uvm *uvm, struct uvm_block *block, struct uvm_region pages,
		       const struct incident *incident)
{
	um_ns at = incident->now - 1;
	struct event event = {uvm, incident->op, incident->who, UM_EVENT_WORD_THRASHING, at, at};
	struct uvm_mask began = {{0}};
	struct uvm_region run = {0, 0};

	for (uint32_t page = pages.first; page < pages.end; page++)
		if (note_page(uvm, block, page, incident))
			uvm_set(&began, page);
	while (uvm_next_run(&began, run.end, &run))
		report(block, run, &event);
}

/* The block is watched. */
static int note(struct uvm *uvm, struct uvm_block *block, struct uvm_region pages,
		const struct incident *incident)
{
	struct uvm_thrash *thrash = block->thrash;
	int error = 0;

	if (!thrash->pages && is_suspicious(uvm, thrash, incident->who, incident->now))
		error = watch_pages(thrash);
	if (!error && thrash->pages)
		note_pages(uvm, block, pages, incident);
	thrash->last = incident->now;
	thrash->last_by = incident->who;
	return error;
}

static bool are_pinned(const struct uvm_thrash *thrash, struct uvm_region pages)
{
	return thrash->pages && um_bitmap_count(thrash->pinned.word, pages.first,
						pages.end - pages.first) == pages.end - pages.first;
}

int um_uvm_thrash_moved(struct uvm *uvm, struct uvm_block *block, um_device_id to,
			struct uvm_region pages, bool is_prefetch, uint32_t op, um_ns at)
{
	struct incident incident = {to, false, op, stamp(at)};
	int error;

	if (!uvm->thrashing.enable)
		return 0;
	error = watch(block);
	if (error || (!is_prefetch && are_pinned(block->thrash, pages)))
		return error;
	return note(uvm, block, pages, &incident);
}

int um_uvm_thrash_revoked(struct uvm *uvm, struct uvm_block *block, um_device_id who,
			  const struct uvm_mask *pages, uint32_t op, um_ns at)
{
	struct incident incident = {who, true, op, stamp(at)};
	int rights = who == UM_HOST ? 1 : 2;
	int error = 0;

	if (!uvm->thrashing.enable || uvm_is_empty(pages))
		return 0;
	error = watch(block);
	while (rights-- && !error) {
		struct uvm_region run = {0, 0};

		while (!error && uvm_next_run(pages, run.end, &run))
			error = note(uvm, block, run, &incident);
	}
	return error;
}

/* --- hints --- */

struct question {
	struct uvm *uvm;
	struct uvm_block *block;
	struct page_record *record;
	uint32_t page;
	um_device_id who;
	um_ns now;
};

static bool all_can_access(const struct question *q, um_device_id where)
{
	if (where == UVM_NOBODY)
		return false;
	for (um_device_id i = UM_HOST; i < q->uvm->devices; i++)
		if (q->record->fighters & uvm_bit(i) && !uvm_can_access(q->uvm, i, where))
			return false;
	return true;
}

/* Over a coherent link, or only who has it. */
static bool is_fast_for_all(const struct question *q, um_device_id where)
{
	uint32_t others = q->record->fighters & ~uvm_bit(where);
	uint32_t host = uvm_bit(UM_HOST);

	if (!q->uvm->coherent)
		return !others;
	return where == UM_HOST || !(others & ~host);
}

/* The place that all can access, nearest to who asks; who asks if there is none. */
static um_device_id common_place(const struct question *q)
{
	if (all_can_access(q, q->who))
		return q->who;
	for (um_device_id i = UM_HOST; i < q->uvm->devices; i++)
		if (all_can_access(q, i))
			return i;
	return q->who;
}

static um_device_id holder(const struct question *q)
{
	const struct uvm_window *window = q->block->window;

	if (uvm_has(&window->place[uvm_place_of(q->who)].resident, q->page))
		return q->who;
	for (um_device_id i = UM_HOST; i < q->uvm->devices; i++)
		if (uvm_has(&window->place[uvm_place_of(i)].resident, q->page))
			return i;
	return UVM_NOBODY;
}

static struct uvm_hint pin_at(um_device_id residency)
{
	return (struct uvm_hint){.kind = UVM_HINT_PIN, .residency = residency};
}

static const struct uvm_hint throttle = {.kind = UVM_HINT_THROTTLE};
static const struct uvm_hint no_hint = {.kind = UVM_HINT_NONE};

static bool is_due_for_pin(const struct question *q)
{
	return q->record->throttlings >= q->uvm->thrashing.pin_threshold;
}

static struct uvm_hint hint_for_preferred(const struct question *q)
{
	const struct page_record *record = q->record;

	if (record->pinned)
		return record->pinned_at == q->who || record->let_through == q->who ? pin_at(q->who)
										    : throttle;
	if (record->let_through != q->who)
		return throttle;
	return is_due_for_pin(q) ? pin_at(q->who) : no_hint;
}

static struct uvm_hint hint_for_other(const struct question *q)
{
	const struct page_record *record = q->record;

	if (record->pinned) {
		if (record->let_through == q->who)
			return pin_at(common_place(q));
		return uvm_can_access(q->uvm, q->who, record->pinned_at) ? pin_at(record->pinned_at)
									 : throttle;
	}
	if (record->let_through != q->who)
		return throttle;
	return is_due_for_pin(q) ? pin_at(q->who) : no_hint;
}

/* get_hint_for_migration_thrashing (R32) */
static struct uvm_hint decide(const struct question *q)
{
	um_device_id preferred = q->block->policy.preferred, now_at = holder(q);
	bool preferred_fights = preferred != UVM_NOBODY && q->record->fighters & uvm_bit(preferred);

	if (all_can_access(q, preferred))
		return pin_at(preferred);
	if (!preferred_fights && now_at != UVM_NOBODY && is_fast_for_all(q, now_at)) {
		if (now_at != UM_HOST || !all_can_access(q, q->who))
			return pin_at(now_at);
		return q->who != UM_HOST ? pin_at(q->who) : no_hint;
	}
	return q->who == preferred ? hint_for_preferred(q) : hint_for_other(q);
}

/* It was pinned, and rights are revoked nevertheless (R32). */
static bool is_only_throttled(const struct question *q)
{
	const struct page_record *record = q->record;

	return record->pinned && record->was_revoked && record->let_through != q->who;
}

/* R30: who is let through in this nap. */
static void let_one_through(const struct question *q)
{
	struct page_record *record = q->record;

	if (q->now > record->nap_end) {
		record->nap_end = q->now + q->uvm->thrashing.nap_ns;
		record->let_through = record->let_through == q->who ? UVM_NOBODY : q->who;
	} else if (record->let_through == UVM_NOBODY) {
		record->let_through = q->who;
	}
}

static int add_pin(const struct question *q)
{
	struct uvm_pin *pin = malloc(sizeof(*pin));

	if (!pin)
		return um_fail(UM_ENOMEM, "no memory for a pinned page");
	*pin = (struct uvm_pin){
		.block = q->block, .page = q->page, .until = q->now + q->uvm->thrashing.pin_ns};
	*(q->uvm->last_pin ? &q->uvm->last_pin->next : &q->uvm->first_pin) = pin;
	q->uvm->last_pin = pin;
	return 0;
}

static int take_pin(const struct question *q, um_device_id residency)
{
	struct page_record *record = q->record;
	const struct uvm_place *place = &q->block->window->place[uvm_place_of(residency)];
	int error = 0;

	if (!record->pinned || !uvm_has(&place->resident, q->page))
		end_all_throttling(q->uvm, q->block, q->page, q->now);
	if (!record->pinned) {
		if (q->uvm->thrashing.pin_ns)
			error = add_pin(q);
		record->throttlings = 0;
		record->pinned = true;
		q->block->thrash->was_pinned = true;
		uvm_set(&q->block->thrash->pinned, q->page);
	}
	record->pinned_at = residency;
	return error;
}

static void take_throttling(const struct question *q)
{
	struct page_record *record = q->record;

	if (record->throttled & uvm_bit(q->who))
		return;
	record->throttled |= uvm_bit(q->who);
	record->throttled_since = q->now;
	if (!record->pinned && record->throttlings < THROTTLINGS_MOST)
		record->throttlings++;
}

/* R34: signed is compared with unsigned, so that negative votes are many. */
#define VOTES		   32
#define LAPSE_MOST_NS	   UINT64_C(500000000)
#define LAPSE_STEP_MOST_NS UINT64_C(50000000)

static void adjust_lapse(struct uvm *uvm, um_ns since_last)
{
	struct uvm_thrash_params *params = &uvm->thrashing;
	um_ns step = params->lapse_ns / 8;

	if (uvm->version < UVM_590 || !params->adjusts)
		return;
	params->lapse_votes += since_last < params->lapse_ns ? -1 : 1;
	if ((params->lapse_votes >= 0 && params->lapse_votes < VOTES) ||
	    params->lapse_ns >= LAPSE_MOST_NS)
		return;
	params->lapse_ns += step < LAPSE_STEP_MOST_NS ? step : LAPSE_STEP_MOST_NS;
	params->lapse_votes /= 2;
}

static bool is_long_over(const struct uvm *uvm, const struct uvm_thrash *thrash, um_ns now)
{
	return thrash->last_thrashing != NEVER_YET && now > thrash->last_thrashing &&
	       now - thrash->last_thrashing > uvm->thrashing.epoch_ns && !thrash->was_pinned &&
	       thrash->resets < uvm->thrashing.max_resets;
}

/* Whether the page is of those that are fought over now. */
static bool is_thrashing(const struct question *q, struct uvm_hint *hint)
{
	struct page_record *record = q->record;
	um_ns since = q->now > record->last ? q->now - record->last : 0;

	if (record->events < q->uvm->thrashing.threshold)
		return false;
	if (record->throttled & uvm_bit(q->who)) {
		if (q->now < record->nap_end && record->let_through != q->who) {
			*hint = throttle;
			return false;
		}
		end_throttling(q->uvm, q->block, q->page, q->who, q->now);
	}
	adjust_lapse(q->uvm, since);
	return since <= q->uvm->thrashing.lapse_ns || record->pinned;
}

int um_uvm_thrash_hint(struct uvm *uvm, struct uvm_block *block, uint32_t page, um_device_id who,
		       um_ns at, struct uvm_hint *hint)
{
	struct uvm_thrash *thrash = block->thrash;
	struct question q = {uvm, block, NULL, page, who, stamp(at)};

	*hint = no_hint;
	if (!uvm->thrashing.enable || !thrash || !thrash->pages)
		return 0;
	if (is_long_over(uvm, thrash, q.now)) {
		start_over(uvm, block, q.now);
		return 0;
	}
	q.record = &thrash->pages[page];
	if (is_thrashing(&q, hint)) {
		q.record->fighters |= uvm_bit(who);
		let_one_through(&q);
		*hint = is_only_throttled(&q) ? throttle : decide(&q);
	}
	if (hint->kind == UVM_HINT_THROTTLE) {
		take_throttling(&q);
		hint->until = q.record->nap_end - 1;
	}
	return hint->kind == UVM_HINT_PIN ? take_pin(&q, hint->residency) : 0;
}

/* --- the end of pins --- */

static void end_pin(struct uvm *uvm, struct uvm_block *block, uint32_t page, um_ns now)
{
	struct um_why why = {.cause = UM_CAUSE_THRASHING};
	struct uvm_window *window = block->window;
	struct uvm_mask one = {{0}};

	uvm_set(&one, page);
	for (um_device_id i = UM_HOST; i < uvm->devices; i++)
		if (!(block->policy.accessed_by & uvm_bit(i)) &&
		    !uvm_has(&window->place[uvm_place_of(i)].resident, page))
			um_uvm_unmap(uvm, window, i, &one, &why);
	reset_page(uvm, block, page, now);
}

void um_uvm_thrash_unpin_due(struct uvm *uvm)
{
	um_ns now = stamp(um_machine_now(uvm->machine));

	while (uvm->first_pin && uvm->first_pin->until <= now)
		end_pin(uvm, uvm->first_pin->block, uvm->first_pin->page, now);
}
