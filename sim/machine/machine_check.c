#include "machine_check.h"

#include "machine_internal.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct bytes_each_way {
	uint64_t to_device, to_host;
};

struct um_machine_check {
	const struct um_machine *machine;
	struct um_probe *probe;
	uint64_t words_earned, words_due; /* the cost of the last walk */
	/* What rows told. Those of copies and of the host's remote accesses name no link. */
	struct bytes_each_way of_device[UM_DEVICES_MAX], in_all;
	int64_t pages_moved[UM_PLACES_MAX]; /* to the place, less from it */
};

/* --- a break --- */

static void broken(const struct um_machine_check *check, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3), cold));

static void broken(const struct um_machine_check *check, const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	fprintf(stderr, "machine check: event %" PRIu64 " at %" PRIu64 " ns: %s\n",
		um_engine_events(check->machine->engine), um_machine_now(check->machine), what);
	abort();
}

static const char *place_name(unsigned place, char *text, size_t bytes)
{
	snprintf(text, bytes, place ? "device %u" : "the host", place - 1);
	return text;
}

/* --- what the rows tell --- */

static void add_bytes(struct um_machine_check *check, int64_t device, int64_t to_device,
		      int64_t to_host)
{
	check->in_all.to_device += (uint64_t)to_device;
	check->in_all.to_host += (uint64_t)to_host;
	if (device < 0)
		return;
	check->of_device[device].to_device += (uint64_t)to_device;
	check->of_device[device].to_host += (uint64_t)to_host;
}

static void see_migration(void *context, const struct um_migration_row *row)
{
	struct um_machine_check *check = context;

	if (row->source < 0)
		add_bytes(check, row->destination, row->bytes, 0);
	else if (row->destination < 0)
		add_bytes(check, row->source, 0, row->bytes);
	check->pages_moved[place_of((um_device_id)row->destination)] += row->pages;
	check->pages_moved[place_of((um_device_id)row->source)] -= row->pages;
}

static void see_remote(void *context, const struct um_remote_access_row *row)
{
	add_bytes(context, row->device, row->bytes_to_device, row->bytes_to_host);
}

static void see_copy(void *context, const struct um_copy_traffic_row *row)
{
	add_bytes(context, UM_HOST, row->bytes_to_device, row->bytes_to_host);
}

int um_machine_check_create(struct um_machine_check **out, struct um_machine *machine,
			    struct um_probe *probe)
{
	struct um_machine_check *check = calloc(1, sizeof(*check));
	struct um_observer observer = {.context = check,
				       .migration = see_migration,
				       .remote_access = see_remote,
				       .copy_traffic = see_copy};
	int error;

	*out = NULL;
	if (!check)
		return um_fail(UM_ENOMEM, "no memory for the machine check");
	check->machine = machine;
	check->probe = probe;
	error = um_probe_add(probe, &observer);
	if (error)
		free(check);
	else
		*out = check;
	return error;
}

void um_machine_check_destroy(struct um_machine_check *check)
{
	if (!check)
		return;
	um_probe_remove(check->probe, check);
	free(check);
}

/* --- after every event --- */

static void check_memory(const struct um_machine_check *check, unsigned device)
{
	const struct device_memory *memory = &check->machine->memory[device];

	if (memory->used_bytes > memory->total_bytes)
		broken(check, "device %u has %" PRIu64 " bytes reserved of %" PRIu64, device,
		       memory->used_bytes, memory->total_bytes);
}

static void check_link(const struct um_machine_check *check, unsigned device)
{
	const struct link *link = &check->machine->link[device];
	const struct bytes_each_way *rows = &check->of_device[device];

	if (rows->to_device > link->bytes_to_device || rows->to_host > link->bytes_to_host)
		broken(check,
		       "rows of device %u tell of %" PRIu64 " bytes to it and %" PRIu64
		       " from it; its link carried %" PRIu64 " and %" PRIu64,
		       device, rows->to_device, rows->to_host, link->bytes_to_device,
		       link->bytes_to_host);
}

static void check_links(const struct um_machine_check *check)
{
	struct bytes_each_way booked = {0, 0};

	for (unsigned device = 0; device < check->machine->spec->devices; device++) {
		check_link(check, device);
		booked.to_device += check->machine->link[device].bytes_to_device;
		booked.to_host += check->machine->link[device].bytes_to_host;
	}
	if (booked.to_device != check->in_all.to_device || booked.to_host != check->in_all.to_host)
		broken(check,
		       "rows tell of %" PRIu64 " bytes to devices and %" PRIu64
		       " to the host; the links carried %" PRIu64 " and %" PRIu64,
		       check->in_all.to_device, check->in_all.to_host, booked.to_device,
		       booked.to_host);
}

/* Pages that are at the place by its ledger; negative: it gave away what it had not. */
static int64_t held_by_ledger(const struct um_machine *machine, unsigned place)
{
	const uint64_t *ledger = machine->ledger[place];

	return (int64_t)(ledger[LEDGER_BORN] + ledger[LEDGER_CAME] - ledger[LEDGER_WENT] -
			 ledger[LEDGER_DROPPED] - ledger[LEDGER_FREED]);
}

static void check_ledger(const struct um_machine_check *check, unsigned place)
{
	const uint64_t *ledger = check->machine->ledger[place];
	int64_t moved =
		(int64_t)(ledger[LEDGER_CAME] - ledger[LEDGER_WENT] - ledger[LEDGER_COPIED]);
	char name[32];

	if (moved != check->pages_moved[place])
		broken(check, "rows moved %" PRId64 " pages to %s, its ledger has %" PRId64,
		       check->pages_moved[place], place_name(place, name, sizeof(name)), moved);
	if (held_by_ledger(check->machine, place) < 0)
		broken(check, "%s gave away more pages than came to it",
		       place_name(place, name, sizeof(name)));
}

/* --- the walk --- */

struct found {
	uint64_t resident_pages[UM_PLACES_MAX], reserved_bytes[UM_DEVICES_MAX];
	uint64_t words;
};

static void check_mappings(const struct um_machine_check *check,
			   const struct allocation *allocation, unsigned place, size_t word,
			   uint64_t elsewhere)
{
	const struct place_pages *pages = &allocation->place[place];
	uint64_t low = *um_plane_word(pages->map_low, word);
	uint64_t high = *um_plane_word(pages->map_high, word);
	uint64_t here = *um_plane_word(pages->valid, word);
	uint64_t local = low & ~high, remote = high & ~low, reading = low & high;
	uint64_t wrong =
		(local & (~here | elsewhere)) | (remote & (here | ~elsewhere)) | (reading & ~here);
	char name[32];

	_Static_assert(UM_MAP_LOCAL == 1 && UM_MAP_REMOTE == 2 && UM_MAP_LOCAL_READ == 3,
		       "the planes hold the mapping's bits");
	if (wrong)
		broken(check, "%s maps page %zu of allocation %u as it may not",
		       place_name(place, name, sizeof(name)),
		       word * UM_WORD_PAGES + (unsigned)__builtin_ctzll(wrong), allocation->id);
}

static void walk_word(const struct um_machine_check *check, const struct allocation *allocation,
		      size_t word, struct found *found)
{
	uint64_t once = 0, twice = 0, bare;

	for (unsigned i = 0; i < check->machine->places; i++) {
		uint64_t valid = *um_plane_word(allocation->place[i].valid, word);

		twice |= once & valid;
		once |= valid;
		found->resident_pages[i] += (uint64_t)__builtin_popcountll(valid);
		if (i > 0 && !allocation->alias_of &&
		    valid & ~*um_plane_word(allocation->place[i].reserved, word))
			broken(check, "device %u holds pages of allocation %u without memory",
			       i - 1, allocation->id);
	}
	bare = *um_plane_word(allocation->populated, word) & ~once;
	if (bare)
		broken(check, "page %zu of allocation %u is populated and nowhere",
		       word * UM_WORD_PAGES + (unsigned)__builtin_ctzll(bare), allocation->id);
	for (unsigned i = 0; i < check->machine->places; i++)
		check_mappings(check, allocation, i, word,
			       twice | (once & ~*um_plane_word(allocation->place[i].valid, word)));
}

static void walk_managed(const struct um_machine_check *check, const struct allocation *allocation,
			 struct found *found)
{
	size_t words = um_bitmap_words(allocation->pages);

	for (size_t word = 0; word < words; word++)
		walk_word(check, allocation, word, found);
	for (unsigned i = 1; i < check->machine->places; i++)
		found->reserved_bytes[i - 1] +=
			um_plane_count(allocation->place[i].reserved, 0, allocation->pages) *
			UM_PAGE_BYTES;
	found->words += words * 5 * check->machine->places; /* bitmaps that were read */
}

static void compare(const struct um_machine_check *check, const struct found *found)
{
	const struct um_machine *machine = check->machine;
	char name[32];

	for (unsigned place = 0; place < machine->places; place++)
		if ((int64_t)found->resident_pages[place] != held_by_ledger(machine, place))
			broken(check, "%s holds %" PRIu64 " pages; its ledger has %" PRId64,
			       place_name(place, name, sizeof(name)), found->resident_pages[place],
			       held_by_ledger(machine, place));
	for (unsigned device = 0; device < machine->spec->devices; device++)
		if (found->reserved_bytes[device] != machine->memory[device].used_bytes)
			broken(check,
			       "device %u has %" PRIu64 " bytes reserved; its allocations have "
			       "%" PRIu64,
			       device, machine->memory[device].used_bytes,
			       found->reserved_bytes[device]);
}

static void walk_allocation(const struct um_machine_check *check,
			    const struct allocation *allocation, struct found *found)
{
	if (!allocation || allocation->home == UM_HOME_HOST)
		return;
	if (allocation->home == UM_HOME_MANAGED)
		walk_managed(check, allocation, found);
	else
		found->reserved_bytes[allocation->device] +=
			(uint64_t)allocation->pages * UM_PAGE_BYTES;
}

/* Returns the words that were read. */
static uint64_t walk(const struct um_machine_check *check)
{
	const struct um_machine *machine = check->machine;
	struct found found = {.words = machine->allocation_slots + machine->own_count};

	for (size_t id = 0; id < machine->allocation_slots; id++)
		walk_allocation(check, machine->allocations[id], &found);
	for (size_t i = 0; i < machine->own_count; i++)
		walk_allocation(check, machine->own[i], &found);
	compare(check, &found);
	return found.words;
}

void um_machine_check_walk(struct um_machine_check *check)
{
	check->words_due = walk(check);
	check->words_earned = 0;
}

void um_machine_check_event(void *context)
{
	struct um_machine_check *check = context;

	for (unsigned device = 0; device < check->machine->spec->devices; device++)
		check_memory(check, device);
	check_links(check);
	for (unsigned place = 0; place < check->machine->places; place++)
		check_ledger(check, place);
	check->words_earned += UM_CHECK_WORDS_AN_EVENT;
	if (check->words_earned >= check->words_due)
		um_machine_check_walk(check);
}
