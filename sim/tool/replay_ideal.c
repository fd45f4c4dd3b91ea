/* The distance of each simulation to the least that any policy could do (sim/ideal). */
#include "replay.h"

#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/db/trace_db.h"

#include <jansson.h>
#include <string.h>

/* --- finding it --- */

/* What is allocated as something else has other bytes and faults: the bounds are not of it. */
static bool changes_kinds(const struct um_policy *policy)
{
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].allocate_as)
			return true;
	return false;
}

/* Whether the driver's devices are peers, where it knows of such a thing. */
static bool has_peers(const struct um_replay *replay)
{
	const struct um_param_value *hive =
		um_param_find(replay->policy->params, replay->driver->params, "hive");

	return hive && hive->integer;
}

static bool is_of_same(const struct um_replay *a, const struct um_replay *b)
{
	return has_peers(a) == has_peers(b) && a->driver->packed_bytes == b->driver->packed_bytes &&
	       a->memory_bytes == b->memory_bytes && a->page_bytes == b->page_bytes &&
	       a->machine->devices == b->machine->devices && a->machine->apu == b->machine->apu &&
	       a->machine->link.coherent == b->machine->link.coherent;
}

int um_replay_find_ideal(struct um_replay_run *run)
{
	struct um_replay *replay = run->replay;
	const struct um_ideal_request request = {
		.trace = run->trace,
		.machine = replay->machine,
		.memory_bytes = replay->memory_bytes,
		.peers = has_peers(replay),
		.packed_bytes = replay->driver->packed_bytes,
		.page_bytes = replay->page_bytes,
	};

	int error;

	if (changes_kinds(replay->policy) || replay->driver->without_managed_memory)
		return 0;
	for (const struct um_replay *other = run->replays; other != replay; other++)
		if (other->has_ideal && is_of_same(other, replay)) {
			replay->ideal = other->ideal;
			replay->has_ideal = true;
			return 0;
		}
	error = um_ideal_bounds(&replay->ideal, &request);
	replay->has_ideal = error == 0;
	return error;
}

static const char *why_none(const struct um_replay *replay)
{
	return replay->driver->without_managed_memory ? "there is no managed memory"
						      : "the policy allocates as something else";
}

int um_replay_write_ideal(struct um_db *db, const struct um_replay *replay)
{
	const struct um_ideal *ideal = &replay->ideal;
	const struct um_bound_row rows[] = {
		{UM_BOUND_BYTES_TO_DEVICE, UM_NULL, (int64_t)ideal->bytes_to_device},
		{UM_BOUND_BYTES_TO_HOST, UM_NULL, (int64_t)ideal->bytes_to_host},
		{UM_BOUND_DEVICE_FAULTS, (int64_t)replay->page_bytes,
		 (int64_t)ideal->device_faults},
		{UM_BOUND_HOST_FAULTS, (int64_t)replay->page_bytes, (int64_t)ideal->host_faults},
	};
	const struct um_origin_row origin = {
		.record = "bound",
		.origin = replay->has_ideal ? "inferred" : "absent",
		.clock = "run",
		.detail = replay->has_ideal ? "lower bounds, proven for the accesses of the source"
					    : why_none(replay),
	};
	int error = um_db_insert(db, &um_table_origin, &origin);

	for (size_t i = 0; replay->has_ideal && i < sizeof(rows) / sizeof(*rows) && !error; i++)
		error = um_db_insert(db, &um_table_bound, &rows[i]);
	return error;
}

/* --- the quantities of which there is a least --- */

struct quantity {
	const char *name, *title;
	uint64_t (*here)(const struct um_ideal_spent *);
	uint64_t (*least)(const struct um_ideal *);
	char *(*format)(char *buffer, size_t capacity, uint64_t value);
};

#define SUM_OF(name, sum)                                                                          \
	static uint64_t name##_here(const struct um_ideal_spent *all)                              \
	{                                                                                          \
		return sum;                                                                        \
	}                                                                                          \
	static uint64_t name##_least(const struct um_ideal *all)                                   \
	{                                                                                          \
		return sum;                                                                        \
	}
SUM_OF(bytes, all->bytes_to_device + all->bytes_to_host)
SUM_OF(device_faults, all->device_faults)
SUM_OF(host_faults, all->host_faults)

static const struct quantity quantities[] = {
	{"bytes", "migrated\n+ remote", bytes_here, bytes_least, um_format_bytes},
	{"device_faults", "device\nfaults", device_faults_here, device_faults_least,
	 um_format_count},
	{"host_faults", "host\nfaults", host_faults_here, host_faults_least, um_format_count},
};
#define QUANTITIES (sizeof(quantities) / sizeof(*quantities))

/*
 * What is written as a multiple of the least. False: the least is 0, of which nothing is one, or
 * there was less, as of faults that prefetches or mappings have spared.
 */
static bool find_ratio(const struct um_replay *replay, const struct quantity *quantity,
		       double *ratio)
{
	uint64_t least = quantity->least(&replay->ideal);

	*ratio = least ? (double)quantity->here(&replay->spent) / (double)least : 0;
	return *ratio >= 1;
}

/* --- text --- */

static void add_quantity(struct um_text_table *table, const struct um_replay *replay,
			 const struct quantity *quantity)
{
	char text[32];
	double ratio;

	um_text_table_cell(table, "%s",
			   quantity->format(text, sizeof(text), quantity->here(&replay->spent)));
	um_text_table_cell(table, "%s",
			   quantity->format(text, sizeof(text), quantity->least(&replay->ideal)));
	if (find_ratio(replay, quantity, &ratio))
		um_text_table_cell(table, "%.3g x", ratio);
	else if (quantity->least(&replay->ideal))
		um_text_table_cell(table, "-");
	else
		um_text_table_cell(table, quantity->here(&replay->spent) ? "none needed" : "1 x");
}

static void add_row(struct um_text_table *table, const struct um_replay *replay)
{
	um_replay_name_cells(table, replay);
	for (size_t i = 0; i < QUANTITIES && replay->has_ideal; i++)
		add_quantity(table, replay, &quantities[i]);
	for (size_t i = 0; i < 3 * QUANTITIES && !replay->has_ideal; i++)
		um_text_table_cell(table, "-");
}

static void add_notes(struct um_text_table *table, const struct um_replay *replays, size_t count)
{
	um_text_table_note(table,
			   "ideal: no driver and no policy can do with less, of managed "
			   "memory and without explicit copies; its faults are those of "
			   "demand paging at this page size; - where prefetches, mappings or "
			   "evictions made do with fewer");
	for (size_t i = 0; i < count; i++)
		if (!replays[i].has_ideal)
			um_text_table_note(table,
					   "%s: %s, so the ideal of the program as it was says "
					   "nothing of it",
					   replays[i].policy_name, why_none(&replays[i]));
}

int um_replay_print_ideal(FILE *out, const struct um_replay *replays, size_t count)
{
	struct um_text_column columns[3 + 3 * QUANTITIES + 1] = {{NULL, UM_ALIGN_LEFT}};
	struct um_text_table *table;
	size_t column = um_replay_name_columns(columns, "distance\nto the ideal", replays);
	int error;

	for (size_t i = 0; i < QUANTITIES; i++) {
		columns[column++] = (struct um_text_column){quantities[i].title, UM_ALIGN_RIGHT};
		columns[column++] = (struct um_text_column){"ideal", UM_ALIGN_RIGHT};
		columns[column++] = (struct um_text_column){"over\nideal", UM_ALIGN_RIGHT};
	}
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		add_row(table, &replays[i]);
	add_notes(table, replays, count);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* --- JSON --- */

static json_t *ratios_of(const struct um_replay *replay)
{
	json_t *all = json_object();
	double ratio;

	for (size_t i = 0; i < QUANTITIES; i++)
		json_object_set_new(all, quantities[i].name,
				    find_ratio(replay, &quantities[i], &ratio) ? json_real(ratio)
									       : json_null());
	return all;
}

json_t *um_replay_ideal_json(const struct um_replay *replay)
{
	const struct um_ideal *ideal = &replay->ideal;
	const struct um_ideal_spent *spent = &replay->spent;

	if (!replay->has_ideal)
		return json_null();
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}, s:o}", "bytes_to_device",
		(json_int_t)ideal->bytes_to_device, "bytes_to_host",
		(json_int_t)ideal->bytes_to_host, "device_faults", (json_int_t)ideal->device_faults,
		"host_faults", (json_int_t)ideal->host_faults, "here", "bytes_to_device",
		(json_int_t)spent->bytes_to_device, "bytes_to_host",
		(json_int_t)spent->bytes_to_host, "device_faults", (json_int_t)spent->device_faults,
		"host_faults", (json_int_t)spent->host_faults, "over_ideal", ratios_of(replay));
}
