/* What a driver may do to pages, and what an access does to them. */
#include "machine_internal.h"

#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <assert.h>

#define NO_PLACE UM_PLACES_MAX

/* --- copies --- */

static void gain(struct um_machine *machine, struct allocation *allocation, unsigned place,
		 const struct um_page_range *run, enum ledger_entry why)
{
	um_page first = run->first_page;
	uint32_t pages = run->pages;
	struct place_pages *here = &allocation->place[place];

	assert(um_plane_count(here->valid, first, pages) == 0);
	assert(place == 0 || um_plane_count(here->reserved, first, pages) == pages);
	um_plane_fill(here->valid, first, pages, true);
	here->resident_pages += pages;
	machine->ledger[place][why] += pages;
}

static void lose(struct um_machine *machine, struct allocation *allocation, unsigned place,
		 const struct um_page_range *run, enum ledger_entry why)
{
	um_page first = run->first_page;
	uint32_t pages = run->pages;

	assert(um_plane_count(allocation->place[place].valid, first, pages) == pages);
	um_plane_fill(allocation->place[place].valid, first, pages, false);
	allocation->place[place].resident_pages -= pages;
	machine->ledger[place][why] += pages;
}

static void note_moved(struct um_machine *machine, const struct um_page_range *range,
		       um_device_id to)
{
	machine->moved = *range;
	machine->moved_to = to;
}

static void unmap_others(struct um_machine *machine, struct allocation *allocation,
			 unsigned kept_place, um_page first, uint32_t pages)
{
	for (unsigned i = 0; i < machine->places; i++)
		if (i != kept_place)
			set_mapping(&allocation->place[i], first, pages, UM_MAP_NONE);
}

/* `sender`: the place whose copy went to the kept one; NO_PLACE: none did. */
static void lose_others(struct um_machine *machine, struct allocation *allocation,
			unsigned kept_place, const struct um_page_range *run, uint32_t holders,
			unsigned sender)
{
	for (unsigned i = 0; i < machine->places; i++)
		if (i != kept_place && holders >> i & 1)
			lose(machine, allocation, i, run,
			     i == sender ? LEDGER_WENT : LEDGER_DROPPED);
	unmap_others(machine, allocation, kept_place, run->first_page, run->pages);
}

void um_machine_report_migration(struct um_machine *machine, const struct um_page_range *run,
				 um_device_id from, um_device_id to, uint64_t bytes,
				 const struct um_why *why, bool joined,
				 const struct transfer *transfer)
{
	struct um_migration_row row = {
		.op = or_null(why->op),
		.pages = run->pages,
		.bytes = (int64_t)bytes,
		.source = from,
		.destination = to,
		.cause = um_word(um_cause_words, why->cause),
		.transfers = bytes > 0 && !joined,
		.batch = or_null(why->batch),
		.start_ns = (int64_t)transfer->start,
		.end_ns = (int64_t)transfer->end,
	};

	um_machine_name(machine, run, &row.allocation, &row.first_page);
	um_probe_migration(machine->probe, &row);
}

/* --- moving --- */

struct move {
	struct um_machine *machine;
	struct allocation *allocation;
	um_device_id to;
	const struct um_why *why;
	um_ns at, end;
	bool joined; /* to the last transfer */
};

/* One hop of pages with data, to or from the host. */
static int hop(struct move *move, const struct um_page_range *run, um_device_id from,
	       um_device_id to)
{
	struct transfer transfer;
	um_ns latency =
		move->joined ? 0 : um_machine_recorded_latency_ns(move->machine, from == UM_HOST);
	int error =
		um_machine_send_pages(move->machine, run, from, to, latency, move->at, &transfer);

	if (error)
		return error;
	um_machine_report_migration(move->machine, run, from, to,
				    (uint64_t)run->pages * UM_PAGE_BYTES, move->why, move->joined,
				    &transfer);
	move->at = transfer.end;
	if (transfer.end > move->end)
		move->end = transfer.end;
	return 0;
}

/* From one device to another through the host, two transfers one after the other. */
static int send(struct move *move, const struct um_page_range *run, um_device_id from)
{
	um_ns at = move->at;
	int error = 0;

	if (from != UM_HOST && move->to != UM_HOST) {
		error = hop(move, run, from, UM_HOST);
		from = UM_HOST;
	}
	if (!error)
		error = hop(move, run, from, move->to);
	move->at = at;
	return error;
}

static um_device_id first_holder(uint32_t holders)
{
	return __builtin_ctz(holders) - 1;
}

static int bring_copy(struct move *move, const struct um_page_range *run, struct copies copies)
{
	if (!copies.holders)
		return 0;
	if (copies.populated)
		return send(move, run, first_holder(copies.holders));

	struct transfer nothing = {move->at, move->at};

	um_machine_report_migration(move->machine, run, first_holder(copies.holders), move->to, 0,
				    move->why, false, &nothing);
	return 0;
}

static int migrate_run(struct move *move, const struct um_page_range *run, struct copies copies)
{
	unsigned place = place_of(move->to), sender = NO_PLACE;
	int error = 0;

	if (!(copies.holders >> place & 1)) {
		error = bring_copy(move, run, copies);
		if (error)
			return error;
		if (copies.holders)
			sender = place_of(first_holder(copies.holders));
		gain(move->machine, move->allocation, place, run,
		     copies.holders ? LEDGER_CAME : LEDGER_BORN);
		set_mapping(&move->allocation->place[place], run->first_page, run->pages,
			    UM_MAP_NONE);
	}
	lose_others(move->machine, move->allocation, place, run, copies.holders, sender);
	return 0;
}

/* A holder that has the pages mapped sees a write from now on: LOCAL becomes LOCAL_READ. */
static void end_writing(struct place_pages *holder, const struct um_page_range *run)
{
	uint64_t end = (uint64_t)run->first_page + run->pages;

	for (size_t word = run->first_page / UM_WORD_PAGES; word * UM_WORD_PAGES < end; word++)
		*um_plane_word(holder->map_high, word) |=
			*um_plane_word(holder->map_low, word) &
			um_bitmap_mask(word, run->first_page, end);
}

static int duplicate_run(struct move *move, const struct um_page_range *run, struct copies copies)
{
	unsigned place = place_of(move->to);
	int error;

	if (!copies.populated || !copies.holders)
		return migrate_run(move, run, copies); /* nothing to copy: only the home changes */
	if (copies.holders >> place & 1)
		return 0;
	error = bring_copy(move, run, copies);
	if (error)
		return error;
	gain(move->machine, move->allocation, place, run, LEDGER_CAME);
	move->machine->ledger[place_of(first_holder(copies.holders))][LEDGER_COPIED] += run->pages;
	for (unsigned i = 0; i < move->machine->places; i++)
		if (copies.holders >> i & 1)
			end_writing(&move->allocation->place[i], run);
	set_mapping(&move->allocation->place[place], run->first_page, run->pages, UM_MAP_NONE);
	return 0;
}

/* What a copy engine brings is no transfer of the driver's: its bytes have rows of their own. */
static int copy_run(struct move *move, const struct um_page_range *run, struct copies copies)
{
	assert(copies.populated && !(copies.holders >> place_of(move->to) & 1));
	gain(move->machine, move->allocation, place_of(move->to), run, LEDGER_BORN);
	for (unsigned i = 0; i < move->machine->places; i++)
		if (copies.holders >> i & 1)
			end_writing(&move->allocation->place[i], run);
	set_mapping(&move->allocation->place[place_of(move->to)], run->first_page, run->pages,
		    UM_MAP_LOCAL_READ);
	return 0;
}

static int keep_run(struct move *move, const struct um_page_range *run, struct copies copies)
{
	unsigned place = place_of(move->to);

	if (!(copies.holders >> place & 1)) {
		gain(move->machine, move->allocation, place, run, LEDGER_BORN);
		set_mapping(&move->allocation->place[place], run->first_page, run->pages,
			    UM_MAP_NONE);
	}
	lose_others(move->machine, move->allocation, place, run, copies.holders, NO_PLACE);
	return 0;
}

typedef int (*run_fn)(struct move *, const struct um_page_range *, struct copies);

static int for_each_run(struct move *move, const struct um_page_range *range, run_fn call)
{
	um_page page = range->first_page, end = range->first_page + range->pages;
	int error = 0;

	while (page < end && !error) {
		struct copies copies;
		um_page next =
			um_machine_copies_end(move->machine, move->allocation, page, end, &copies);
		struct um_page_range run = {range->allocation, page, next - page};

		error = call(move, &run, copies);
		page = next;
	}
	return error;
}

static int bring(struct um_machine *machine, const struct um_page_range *range, um_device_id to,
		 const struct um_why *why, um_ns at, um_ns *end, run_fn call)
{
	struct move move = {machine,	       um_machine_managed(machine, range), to, why, at, at,
			    machine->join_next};
	int error = for_each_run(&move, range, call);

	machine->join_next = false;
	note_moved(machine, range, to);
	*end = move.end;
	return error;
}

void um_machine_join_next(struct um_machine *machine)
{
	machine->join_next = true;
}

int um_machine_migrate(struct um_machine *machine, const struct um_page_range *range,
		       um_device_id to, const struct um_why *why, um_ns at, um_ns *end)
{
	return bring(machine, range, to, why, at, end, migrate_run);
}

int um_machine_duplicate(struct um_machine *machine, const struct um_page_range *range,
			 um_device_id to, const struct um_why *why, um_ns at, um_ns *end)
{
	return bring(machine, range, to, why, at, end, duplicate_run);
}

int um_machine_copy_pages(struct um_machine *machine, const struct um_page_range *range,
			  um_device_id from, um_device_id to, um_ns at, um_ns *end)
{
	um_ns none;
	struct transfer transfer;
	int error = from == UM_HOST || to == UM_HOST
			    ? um_machine_send_pages(machine, range, from, to,
						    um_machine_latency_ns(machine, from == UM_HOST),
						    at, &transfer)
			    : um_machine_send_to_peer(machine, range, from, to, at, &transfer);

	*end = error ? at : transfer.end;
	return error ? error : bring(machine, range, to, &(struct um_why){0}, at, &none, copy_run);
}

void um_machine_keep_only(struct um_machine *machine, const struct um_page_range *range,
			  um_device_id device)
{
	um_ns now = um_machine_now(machine), end;

	bring(machine, range, device, &(struct um_why){0}, now, &end, keep_run);
}

static int populate_run(struct move *move, const struct um_page_range *run, struct copies copies)
{
	if (!copies.holders)
		gain(move->machine, move->allocation, place_of(move->to), run, LEDGER_BORN);
	return 0;
}

int um_machine_populate(struct um_machine *machine, const struct um_page_range *range,
			um_device_id at_device, const struct um_why *why)
{
	um_ns now = um_machine_now(machine), end;

	return bring(machine, range, at_device, why, now, &end, populate_run);
}

/* --- mappings --- */

static void report_mapping(struct um_machine *machine, const struct um_page_range *run,
			   um_device_id device, enum um_mapping_change change,
			   const struct um_why *why)
{
	struct um_mapping_row row = {
		.op = or_null(why->op),
		.device = device,
		.pages = run->pages,
		.change = um_word(um_change_words, change),
		.cause = change == UM_CHANGE_FIRST_TOUCH ? NULL
							 : um_word(um_cause_words, why->cause),
		.batch = or_null(why->batch),
		.at_ns = (int64_t)um_machine_now(machine),
		.is_record = machine->record_next,
	};

	um_machine_name(machine, run, &row.allocation, &row.first_page);
	um_probe_mapping(machine->probe, &row);
}

static int drop_run(struct move *move, const struct um_page_range *run, struct copies copies)
{
	unsigned place = place_of(move->to);

	if (!(copies.holders >> place & 1))
		return 0;
	assert(!copies.populated || copies.holders & ~(1u << place));
	lose(move->machine, move->allocation, place, run, LEDGER_DROPPED);
	set_mapping(&move->allocation->place[place], run->first_page, run->pages, UM_MAP_NONE);
	report_mapping(move->machine, run, move->to, UM_CHANGE_UNMAPPED, move->why);
	return 0;
}

int um_machine_drop(struct um_machine *machine, const struct um_page_range *range,
		    um_device_id from, const struct um_why *why)
{
	um_ns now = um_machine_now(machine);
	struct move move = {machine, um_machine_managed(machine, range), from, why, now, now,
			    false};

	return for_each_run(&move, range, drop_run);
}

static bool mapping_is_right(const struct um_machine *machine, const struct allocation *allocation,
			     const struct um_page_range *run, unsigned place,
			     enum um_mapping_state state)
{
	uint64_t here = um_plane_count(allocation->place[place].valid, run->first_page, run->pages);
	uint64_t elsewhere = 0;

	for (unsigned i = 0; i < machine->places; i++)
		if (i != place)
			elsewhere += um_plane_count(allocation->place[i].valid, run->first_page,
						    run->pages);
	switch (state) {
	case UM_MAP_LOCAL:
		return here == run->pages && elsewhere == 0;
	case UM_MAP_LOCAL_READ:
		return here == run->pages;
	case UM_MAP_REMOTE:
		return here == 0 && elsewhere >= run->pages;
	case UM_MAP_NONE:
		break;
	}
	return true;
}

static bool has_just_moved(const struct um_machine *machine, const struct um_page_range *run,
			   um_device_id device)
{
	const struct um_page_range *moved = &machine->moved;

	return moved->allocation == run->allocation && machine->moved_to == device &&
	       run->first_page >= moved->first_page &&
	       run->first_page + run->pages <= moved->first_page + moved->pages;
}

int um_machine_map(struct um_machine *machine, const struct um_page_range *range,
		   um_device_id device, enum um_mapping_state state, const struct um_why *why)
{
	static const enum um_mapping_change changes[] = {
		[UM_MAP_NONE] = UM_CHANGE_UNMAPPED,
		[UM_MAP_LOCAL] = UM_CHANGE_LOCAL,
		[UM_MAP_REMOTE] = UM_CHANGE_REMOTE,
		[UM_MAP_LOCAL_READ] = UM_CHANGE_LOCAL,
	};
	struct allocation *allocation = um_machine_managed(machine, range);
	um_page page = range->first_page, end = range->first_page + range->pages;

	assert(mapping_is_right(machine, allocation, range, place_of(device), state));
	while (page < end) {
		enum um_mapping_state was;
		uint32_t place;
		um_page next = um_machine_run_end(machine, range->allocation, page, end, device,
						  &place, &was);
		struct um_page_range run = {range->allocation, page, next - page};

		page = next;
		if (was == state)
			continue;
		set_mapping(&allocation->place[place_of(device)], run.first_page, run.pages, state);
		if (!has_just_moved(machine, &run, device) || state == UM_MAP_REMOTE)
			report_mapping(machine, &run, device, changes[state], why);
	}
	machine->record_next = false;
	return 0;
}

void um_machine_record_next(struct um_machine *machine)
{
	machine->record_next = true;
}

/* --- accesses --- */

struct um_machine_own_pages um_machine_own_pages(const struct um_machine *machine, um_alloc_id id,
						 um_device_id device)
{
	const struct allocation *allocation =
		um_machine_managed(machine, &(struct um_page_range){id, 0, 0});
	const struct place_pages *place = &allocation->place[place_of(device)];

	return (struct um_machine_own_pages){place->map_low.first, place->map_high.first,
					     allocation->populated.first};
}

static void get_data(struct um_machine *machine, struct allocation *allocation,
		     const struct um_page_range *run, um_device_id device, const struct um_why *why)
{
	um_plane_fill(allocation->populated, run->first_page, run->pages, true);
	report_mapping(machine, run, device, UM_CHANGE_FIRST_TOUCH, why);
}

void um_machine_fill(struct um_machine *machine, const struct um_page_range *range,
		     um_device_id device, uint32_t op)
{
	struct allocation *allocation = um_machine_managed(machine, range);
	um_page page = range->first_page, end = range->first_page + range->pages;
	struct um_why why = {.op = op};

	while (page < end) {
		struct copies copies;
		um_page next = um_machine_copies_end(machine, allocation, page, end, &copies);
		struct um_page_range run = {range->allocation, page, next - page};

		page = next;
		if (!copies.populated && copies.holders >> place_of(device) & 1)
			get_data(machine, allocation, &run, device, &why);
	}
}

static bool access_is_allowed(enum um_mapping_state map, bool write)
{
	return map == UM_MAP_LOCAL || map == UM_MAP_REMOTE || (map == UM_MAP_LOCAL_READ && !write);
}

void um_machine_touch(struct um_machine *machine, const struct um_page_range *range,
		      um_device_id device, bool write, uint32_t op)
{
	struct allocation *allocation = um_machine_managed(machine, range);
	um_page page = range->first_page, end = range->first_page + range->pages;
	struct um_why why = {.op = op};

	while (page < end) {
		enum um_mapping_state map;
		uint32_t place;
		um_page next = um_machine_run_end(machine, range->allocation, page, end, device,
						  &place, &map);
		struct um_page_range run = {range->allocation, page, next - page};

		assert(access_is_allowed(map, write));
		page = next;
		if (!(place & UM_PAGE_POPULATED))
			get_data(machine, allocation, &run, device, &why);
	}
}

static int copy_into_run(struct move *move, const struct um_page_range *run, struct copies copies)
{
	assert(copies.holders);
	um_plane_fill(move->allocation->populated, run->first_page, run->pages, true);
	if (copies.holders & (copies.holders - 1))
		lose_others(move->machine, move->allocation, place_of(first_holder(copies.holders)),
			    run, copies.holders, NO_PLACE);
	return 0;
}

void um_machine_copy_into(struct um_machine *machine, const struct um_page_range *range,
			  uint32_t op)
{
	struct um_why why = {.op = op};
	struct move move = {
		.machine = machine, .allocation = um_machine_managed(machine, range), .why = &why};

	for_each_run(&move, range, copy_into_run);
}

um_page um_machine_holder_end(const struct um_machine *machine, um_alloc_id id, um_page from,
			      um_page limit, um_device_id *holder, bool *nowhere)
{
	struct um_page_range range = {id, from, limit - from};
	struct copies copies;
	um_page end = um_machine_copies_end(machine, um_machine_managed(machine, &range), from,
					    limit, &copies);

	*nowhere = !copies.holders;
	*holder = copies.holders ? first_holder(copies.holders) : UM_HOST;
	return end;
}
