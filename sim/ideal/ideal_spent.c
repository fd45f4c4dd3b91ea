#include "ideal_spent.h"

#include "sim/machine/machine.h"
#include "trace/base/error.h"
#include "trace/db/trace_db.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>
#include <string.h>

static int take_allocation(const void *row, void *context)
{
	const struct um_allocation_row *allocation = row;
	struct um_ideal_spent *spent = context;
	size_t id = (size_t)allocation->allocation, slots = spent->allocations;
	unsigned char *grown;

	if (um_word_code(um_allocation_words, allocation->kind) != UM_ALLOCATION_MANAGED ||
	    allocation->allocation < 0 || allocation->allocation >= UM_ALLOC_IDS_END)
		return 0;
	while (slots <= id)
		slots = slots ? slots * 2 : 64;
	grown = realloc(spent->managed, slots);
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for a list of %zu allocations", slots);
	memset(grown + spent->allocations, 0, slots - spent->allocations);
	grown[id] = 1;
	spent->managed = grown;
	spent->allocations = slots;
	return 0;
}

int um_ideal_spent_init(struct um_ideal_spent *spent, struct um_db *trace)
{
	*spent = (struct um_ideal_spent){0};
	return um_db_each(trace, &um_table_allocation, NULL, 0, take_allocation, spent);
}

void um_ideal_spent_fini(struct um_ideal_spent *spent)
{
	free(spent->managed);
	spent->managed = NULL;
	spent->allocations = 0;
}

static bool is_managed(const struct um_ideal_spent *spent, int64_t allocation)
{
	return allocation >= 0 && (size_t)allocation < spent->allocations &&
	       spent->managed[allocation];
}

static void add_fault(void *context, const struct um_fault_row *row)
{
	struct um_ideal_spent *spent = context;

	if (is_managed(spent, row->allocation))
		*(row->device < 0 ? &spent->host_faults : &spent->device_faults) +=
			(uint64_t)row->faults;
}

static void add_migration(void *context, const struct um_migration_row *row)
{
	struct um_ideal_spent *spent = context;

	if (is_managed(spent, row->allocation))
		*(row->source < 0 ? &spent->bytes_to_device : &spent->bytes_to_host) +=
			(uint64_t)row->bytes;
}

static void add_remote(void *context, const struct um_remote_access_row *row)
{
	struct um_ideal_spent *spent = context;

	if (!is_managed(spent, row->allocation))
		return;
	spent->bytes_to_device += (uint64_t)row->bytes_to_device;
	spent->bytes_to_host += (uint64_t)row->bytes_to_host;
}

struct um_observer um_ideal_spent_observer(struct um_ideal_spent *spent)
{
	return (struct um_observer){
		.context = spent,
		.fault = add_fault,
		.migration = add_migration,
		.remote_access = add_remote,
	};
}
