/* The rows of a simulation that cover runs of pages, and when two of them can be one. */
#ifndef UM_ROW_KIND_H
#define UM_ROW_KIND_H

#include "trace/db/rows.h"

#include <stdbool.h>

enum um_row_kind_name {
	UM_ROW_FAULT,
	UM_ROW_MIGRATION,
	UM_ROW_MAPPING,
	UM_ROW_REMOTE,
	UM_ROW_KINDS
};

union um_page_row {
	struct um_fault_row fault;
	struct um_migration_row migration;
	struct um_mapping_row mapping;
	struct um_remote_access_row remote;
};

struct um_row_kind {
	const struct um_table *table;
	size_t row_bytes;
	size_t first_page, pages; /* offsets of the fields */
	/* Rows that alternate have slots of their own, below UM_ROW_SLOTS. */
	unsigned (*slot)(const void *row);
	/* Never one with another; NULL: none is so. */
	bool (*is_record)(const void *row);
	/* Everything but pages, times and counts is the same. */
	bool (*is_alike)(const void *a, const void *b);
	uint64_t (*hash)(const void *row); /* of what is_alike() compares */
	/* Adds times and counts, and the pages. */
	void (*add)(void *into, const void *row);
};

#define UM_ROW_SLOTS 24

extern const struct um_row_kind um_row_kinds[UM_ROW_KINDS];

static inline int64_t um_row_first(const struct um_row_kind *kind, const void *row)
{
	return *(const int64_t *)(const void *)((const char *)row + kind->first_page);
}

static inline int64_t um_row_pages(const struct um_row_kind *kind, const void *row)
{
	return *(const int64_t *)(const void *)((const char *)row + kind->pages);
}

#endif
