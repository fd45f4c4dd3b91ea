/*
 * Records of hardware. What a driver did comes by address and in no order: it is kept as it came, and
 * finds its op and its allocation when the run has ended (measured.h).
 */
#include "ingest_private.h"

#include "trace/base/error.h"

#include <limits.h>

#define PAGE_MASK ((uint64_t)UM_PAGE_BYTES - 1)

static bool is_place(const struct um_ingest *ingest, int32_t device)
{
	return device == -1 ||
	       (device >= 0 && device < UM_INGEST_DEVICES && ingest->devices >> device & 1);
}

static bool is_span(uint64_t start_ns, uint64_t end_ns)
{
	return end_ns <= INT64_MAX && start_ns <= end_ns;
}

/* An end that was not told is 0. */
static bool is_open_span(uint64_t start_ns, uint64_t end_ns)
{
	return end_ns == 0 ? start_ns <= INT64_MAX : is_span(start_ns, end_ns);
}

static int64_t pages_of(uint64_t address, uint64_t bytes)
{
	uint64_t last = bytes ? address + bytes - 1 : address;

	return (int64_t)((last >> UM_PAGE_SHIFT) - (address >> UM_PAGE_SHIFT) + 1);
}

/* NULL for one that was not told; `*right` false for one that there is not. */
static const char *optional_word(const struct um_word *words, uint32_t code, bool *right)
{
	const char *word = code <= INT_MAX ? um_word(words, (int)code) : NULL;

	*right = word || code == UINT32_MAX;
	return word;
}

int um_ingest_time(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_time *time = record;
	int64_t values[3] = {0};

	(void)end;
	if (!ingest->measured || time->device < 0 || !is_place(ingest, time->device) ||
	    !is_span(time->start_ns, time->end_ns) || !um_measured_add_time(ingest->measured, time))
		return UM_RECORD_INVALID;
	um_measured_get_time(ingest->measured, time->op, &values[0], &values[1]);
	values[2] = um_ingest_op_id(ingest, time->op);
	return um_db_update(ingest->db, "UPDATE op SET start_ns = ?, end_ns = ? WHERE op = ?",
			    values, 3);
}

int um_ingest_fault(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_fault *fault = record;
	bool right;
	struct um_fault_row row = {
		.op = UM_NULL,
		.device = fault->device,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = 1,
		.address = (int64_t)(fault->address & ~PAGE_MASK),
		.faults = (int64_t)fault->faults,
		.access = optional_word(um_access_words, fault->access, &right),
		.batch = UM_NULL,
		.site = fault->site,
		.start_ns = (int64_t)fault->start_ns,
		.end_ns = um_or_null(fault->end_ns),
	};

	(void)end;
	if (!ingest->measured || !right || !is_place(ingest, fault->device) ||
	    !um_ingest_is_memory(fault->address, 1) || fault->faults == 0 ||
	    fault->faults > UINT32_MAX || !is_open_span(fault->start_ns, fault->end_ns))
		return UM_RECORD_INVALID;
	if (fault->device < 0)
		ingest->totals.host_faults += fault->faults;
	else
		ingest->totals.device_faults += fault->faults;
	return um_ingest_insert(ingest, &um_table_fault, &row);
}

static void add_to_totals(struct um_ingest_totals *totals, const struct um_record_migration *moved)
{
	unsigned cause = moved->cause == UINT32_MAX ? UM_TRAFFIC_UNKNOWN : moved->cause;

	if (moved->source < 0)
		totals->migrated_to_device[cause] += moved->bytes;
	else if (moved->destination < 0)
		totals->migrated_to_host[cause] += moved->bytes;
}

int um_ingest_migration(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_migration *moved = record;
	bool right;
	struct um_migration_row row = {
		.op = UM_NULL,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = pages_of(moved->address, moved->bytes),
		.address = (int64_t)moved->address,
		.bytes = (int64_t)moved->bytes,
		.source = moved->source,
		.destination = moved->destination,
		.cause = optional_word(um_cause_words, moved->cause, &right),
		.transfers = 1,
		.batch = UM_NULL,
		.start_ns = (int64_t)moved->start_ns,
		.end_ns = (int64_t)moved->end_ns,
	};

	(void)end;
	if (!ingest->measured || !right || !is_place(ingest, moved->source) ||
	    !is_place(ingest, moved->destination) || moved->source == moved->destination ||
	    !um_ingest_is_memory(moved->address, moved->bytes) || moved->bytes == 0 ||
	    !is_span(moved->start_ns, moved->end_ns))
		return UM_RECORD_INVALID;
	add_to_totals(&ingest->totals, moved);
	return um_ingest_insert(ingest, &um_table_migration, &row);
}

int um_ingest_mapping(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_mapping *mapping = record;
	bool right;
	struct um_mapping_row row = {
		.op = UM_NULL,
		.device = mapping->device,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = pages_of(mapping->address, mapping->bytes),
		.address = (int64_t)mapping->address,
		.change = um_word(um_change_words,
				  mapping->change <= INT_MAX ? (int)mapping->change : -1),
		.cause = optional_word(um_cause_words, mapping->cause, &right),
		.at_ns = (int64_t)mapping->at_ns,
	};

	(void)end;
	if (!ingest->measured || !right || !row.change || !is_place(ingest, mapping->device) ||
	    !um_ingest_is_memory(mapping->address, mapping->bytes) || mapping->at_ns > INT64_MAX)
		return UM_RECORD_INVALID;
	ingest->totals.remote_mappings += mapping->change == UM_CHANGE_REMOTE;
	return um_ingest_insert(ingest, &um_table_mapping, &row);
}

int um_ingest_event(struct um_ingest *ingest, const void *record, const char *end)
{
	static const char *const kinds[] = {
		[UM_EVENT_THRASHING] = UM_EVENT_WORD_THRASHING,
		[UM_EVENT_THROTTLING] = UM_EVENT_WORD_THROTTLING,
	};
	const struct um_record_event *event = record;
	bool known = event->kind < sizeof(kinds) / sizeof(*kinds) && kinds[event->kind];
	struct um_driver_event_row row = {
		.op = UM_NULL,
		.device = event->device,
		.kind = known ? kinds[event->kind] : NULL,
		.address = (int64_t)event->address,
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = event->bytes ? pages_of(event->address, event->bytes) : UM_NULL,
		.count = 1,
		.start_ns = (int64_t)event->start_ns,
		.end_ns = um_or_null(event->end_ns),
		.waited_ns = UM_NULL,
	};

	(void)end;
	if (!ingest->measured || !known || !is_place(ingest, event->device) ||
	    !um_ingest_is_memory(event->address, event->bytes) ||
	    !is_open_span(event->start_ns, event->end_ns))
		return UM_RECORD_INVALID;
	return um_ingest_insert(ingest, &um_table_driver_event, &row);
}

int um_ingest_range(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_range *range = record;
	const char *at = range->name;
	char name[UM_INGEST_TEXT];
	struct um_user_range_row row = {
		.op = um_ingest_op_id(ingest, range->op), .last_op = UM_NULL, .name = name};

	if (range->op == 0 || range->op > ingest->last_op || !um_ingest_text(&at, end, name))
		return UM_RECORD_INVALID;
	int result = um_ingest_insert(ingest, &um_table_user_range, &row);
	return result ? result : um_ingest_select_range(ingest, range->op, name);
}

int um_ingest_measured_end(struct um_ingest *ingest)
{
	if (!ingest->measured)
		return 0;
	if (json_object_size(ingest->clocks))
		ingest->run.clocks = ingest->clocks_text =
			json_dumps(ingest->clocks, JSON_COMPACT | JSON_SORT_KEYS);
	return um_measured_attribute(ingest->measured, ingest->db, &ingest->run);
}
