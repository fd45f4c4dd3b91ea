#include "row_kind.h"

#include <string.h>

static int64_t same_or_null(int64_t a, int64_t b)
{
	return a == b ? a : UM_NULL;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* FNV-1a over 64-bit words instead of bytes: (Fowler, Noll, Vo), 64-bit offset basis and prime. */
static uint64_t hash_of(const int64_t *values, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ (uint64_t)values[i]) * 0x100000001b3u;
	return hash;
}

/* --- faults: a slot each device --- */

static unsigned fault_slot(const void *row)
{
	return (unsigned)(((const struct um_fault_row *)row)->device + 1) % UM_ROW_SLOTS;
}

static bool fault_is_alike(const void *left, const void *right)
{
	const struct um_fault_row *a = left, *b = right;

	return a->op == b->op && a->device == b->device && a->allocation == b->allocation &&
	       !strcmp(a->access, b->access);
}

static uint64_t fault_hash(const void *row)
{
	const struct um_fault_row *fault = row;

	return hash_of((int64_t[]){fault->op, fault->device, fault->allocation, fault->access[0]},
		       4);
}

static void fault_add(void *into, const void *row)
{
	struct um_fault_row *sum = into;
	const struct um_fault_row *fault = row;

	sum->first_page = earlier(sum->first_page, fault->first_page);
	sum->pages += fault->pages;
	sum->faults += fault->faults;
	sum->batch = same_or_null(sum->batch, fault->batch);
	sum->start_ns = earlier(sum->start_ns, fault->start_ns);
	sum->end_ns = later(sum->end_ns, fault->end_ns);
}

/* --- migrations: a slot for each cause, to the host or not, with bytes or not --- */

static unsigned migration_slot(const void *row)
{
	const struct um_migration_row *migration = row;

	return ((unsigned)um_word_code(um_cause_words, migration->cause) * 4 +
		(migration->destination < 0) * 2 + (migration->bytes > 0)) %
	       UM_ROW_SLOTS;
}

static bool migration_is_alike(const void *left, const void *right)
{
	const struct um_migration_row *a = left, *b = right;

	return a->op == b->op && a->allocation == b->allocation && a->source == b->source &&
	       a->destination == b->destination && !strcmp(a->cause, b->cause) &&
	       (a->bytes > 0) == (b->bytes > 0);
}

static uint64_t migration_hash(const void *row)
{
	const struct um_migration_row *migration = row;

	return hash_of((int64_t[]){migration->op, migration->allocation, migration->source,
				   migration->destination,
				   um_word_code(um_cause_words, migration->cause),
				   migration->bytes > 0},
		       6);
}

static void migration_add(void *into, const void *row)
{
	struct um_migration_row *sum = into;
	const struct um_migration_row *migration = row;

	sum->first_page = earlier(sum->first_page, migration->first_page);
	sum->pages += migration->pages;
	sum->bytes += migration->bytes;
	sum->transfers += migration->transfers;
	sum->batch = same_or_null(sum->batch, migration->batch);
	sum->start_ns = earlier(sum->start_ns, migration->start_ns);
	sum->end_ns = later(sum->end_ns, migration->end_ns);
}

/* --- mappings: a slot for each change, by its first letter, and device --- */

static unsigned mapping_slot(const void *row)
{
	const struct um_mapping_row *mapping = row;

	return ((unsigned char)mapping->change[0] + (unsigned)(mapping->device + 1)) % UM_ROW_SLOTS;
}

static bool mapping_is_record(const void *row)
{
	return ((const struct um_mapping_row *)row)->is_record;
}

static bool mapping_is_alike(const void *left, const void *right)
{
	const struct um_mapping_row *a = left, *b = right;

	return a->op == b->op && a->device == b->device && a->allocation == b->allocation &&
	       !strcmp(a->change, b->change) &&
	       um_word_code(um_cause_words, a->cause) == um_word_code(um_cause_words, b->cause);
}

static uint64_t mapping_hash(const void *row)
{
	const struct um_mapping_row *mapping = row;

	return hash_of(
		(int64_t[]){mapping->op, mapping->device, mapping->allocation, mapping->change[0]},
		4);
}

static void mapping_add(void *into, const void *row)
{
	struct um_mapping_row *sum = into;
	const struct um_mapping_row *mapping = row;

	sum->first_page = earlier(sum->first_page, mapping->first_page);
	sum->pages += mapping->pages;
	sum->batch = same_or_null(sum->batch, mapping->batch);
	sum->at_ns = earlier(sum->at_ns, mapping->at_ns);
}

/* --- remote accesses --- */

static unsigned remote_slot(const void *row)
{
	(void)row;
	return 0;
}

static bool remote_is_alike(const void *left, const void *right)
{
	const struct um_remote_access_row *a = left, *b = right;

	return a->op == b->op && a->device == b->device && a->allocation == b->allocation;
}

static uint64_t remote_hash(const void *row)
{
	const struct um_remote_access_row *remote = row;

	return hash_of((int64_t[]){remote->op, remote->device, remote->allocation}, 3);
}

static void remote_add(void *into, const void *row)
{
	struct um_remote_access_row *sum = into;
	const struct um_remote_access_row *remote = row;

	sum->first_page = earlier(sum->first_page, remote->first_page);
	sum->pages += remote->pages;
	sum->lines_read += remote->lines_read;
	sum->lines_written += remote->lines_written;
	sum->requests = sum->requests == UM_NULL || remote->requests == UM_NULL
				? UM_NULL
				: sum->requests + remote->requests;
	sum->bytes_to_device += remote->bytes_to_device;
	sum->bytes_to_host += remote->bytes_to_host;
}

#define KIND(name, table_, row, ...)                                                               \
	{                                                                                          \
		.table = &(table_), .row_bytes = sizeof(struct row),                               \
		.first_page = offsetof(struct row, first_page),                                    \
		.pages = offsetof(struct row, pages), .slot = name##_slot,                         \
		.is_alike = name##_is_alike, .hash = name##_hash, .add = name##_add, __VA_ARGS__   \
	}

const struct um_row_kind um_row_kinds[UM_ROW_KINDS] = {
	[UM_ROW_FAULT] = KIND(fault, um_table_fault, um_fault_row, ),
	[UM_ROW_MIGRATION] = KIND(migration, um_table_migration, um_migration_row, ),
	[UM_ROW_MAPPING] =
		KIND(mapping, um_table_mapping, um_mapping_row, .is_record = mapping_is_record),
	[UM_ROW_REMOTE] = KIND(remote, um_table_remote_access, um_remote_access_row, ),
};
