/* What crossed the link and why: added up from the rows of a replay, or of a measured file. */
#include "facts.h"

#include "sim/probe/probe.h"

#include <string.h>

static uint64_t known(int64_t value)
{
	return value == UM_NULL || value < 0 ? 0 : (uint64_t)value;
}

/* Whose a row is; any may be NULL. */
struct owners {
	struct um_fact_traffic *of[2];
	struct um_fact_allocation *allocation;
	struct um_fact_use *use;
};

static struct um_fact_use *find_use(struct um_facts *facts, const struct um_fact_op *op,
				    const struct um_fact_allocation *allocation)
{
	size_t low = op->first_use, high = op->first_use + op->use_count;
	uint32_t wanted = (uint32_t)(allocation - facts->allocations);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (facts->uses[middle].allocation < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < op->first_use + op->use_count && facts->uses[low].allocation == wanted
		       ? &facts->uses[low]
		       : NULL;
}

static struct owners owners(struct um_facts *facts, int64_t op, int64_t allocation)
{
	struct um_fact_op *call = op == UM_NULL ? NULL : um_facts_find_op(facts, op);
	struct owners owners = {
		.allocation =
			allocation == UM_NULL ? NULL : um_facts_find_allocation(facts, allocation)};

	owners.of[0] = call ? &call->traffic : NULL;
	owners.of[1] = owners.allocation ? &owners.allocation->traffic : NULL;
	if (call && owners.allocation)
		owners.use = find_use(facts, call, owners.allocation);
	return owners;
}

#define EACH_OWNER(traffic, owners)                                                                \
	for (unsigned owner = 0; owner < 2; owner++)                                               \
		for (struct um_fact_traffic *traffic = (owners).of[owner]; traffic; traffic = NULL)

static void add_time(void *context, const struct um_op_row *row)
{
	struct um_fact_op *op = um_facts_find_op(context, row->op);

	if (!op)
		return;
	op->run_start_ns = row->start_ns;
	op->run_end_ns = row->end_ns;
}

static void add_fault(void *context, const struct um_fault_row *row)
{
	struct owners who = owners(context, row->op, row->allocation);

	EACH_OWNER(traffic, who)
	*(row->device < 0 ? &traffic->host_faults : &traffic->device_faults) += known(row->faults);
	if (who.use)
		*(row->device < 0 ? &who.use->host_faults : &who.use->device_faults) +=
			known(row->faults);
}

static void move_in(struct um_fact_page *page, void *context)
{
	(void)context;
	page->moved_in += page->moved_in < UINT16_MAX;
}

static void move_out(struct um_fact_page *page, void *context)
{
	(void)context;
	page->moved_out += page->moved_out < UINT16_MAX;
}

static void mark_pages(struct um_fact_allocation *allocation, const struct um_migration_row *row)
{
	int64_t first = row->first_page, pages = row->pages;

	if (!allocation || first == UM_NULL || first < 0 || pages <= 0 ||
	    first >= allocation->page_count)
		return;
	if (pages > allocation->page_count - first)
		pages = allocation->page_count - first;
	/* Without memory for the marks the bytes are still counted. */
	um_facts_change_pages(allocation, first, pages, row->source < 0 ? move_in : move_out, NULL);
}

static void add_migration(void *context, const struct um_migration_row *row)
{
	struct owners who = owners(context, row->op, row->allocation);
	uint64_t bytes = known(row->bytes);
	int cause = row->cause ? um_word_code(um_cause_words, row->cause) : -1;

	if (bytes && row->source >= 0 && row->destination >= 0) {
		EACH_OWNER(traffic, who)
		traffic->moved_between_devices += bytes;
		return;
	}
	if (!bytes)
		return;
	EACH_OWNER(traffic, who)
	{
		*(row->source < 0 ? &traffic->moved_to_device : &traffic->moved_to_host) += bytes;
		if (cause >= 0)
			(row->source < 0 ? traffic->moved_in : traffic->moved_out)[cause] += bytes;
	}
	if (who.use && cause != UM_CAUSE_PREFETCH)
		*(row->source < 0 ? &who.use->faulted_in : &who.use->faulted_out) += bytes;
	mark_pages(who.allocation, row);
}

static void add_remote(void *context, const struct um_remote_access_row *row)
{
	struct owners who = owners(context, row->op, row->allocation);

	EACH_OWNER(traffic, who)
	{
		traffic->remote_to_device += known(row->bytes_to_device);
		traffic->remote_to_host += known(row->bytes_to_host);
		traffic->remote_requests += known(row->requests);
	}
	if (who.use)
		who.use->remote += known(row->bytes_to_device) + known(row->bytes_to_host);
}

static void add_copy(void *context, const struct um_copy_traffic_row *row)
{
	struct owners who = owners(context, row->op, row->allocation);

	EACH_OWNER(traffic, who)
	{
		traffic->copied_to_device += known(row->bytes_to_device);
		traffic->copied_to_host += known(row->bytes_to_host);
	}
}

static void add_peer(void *context, const struct um_peer_traffic_row *row)
{
	struct owners who = owners(context, row->op, row->allocation);

	if (strcmp(row->cause, "copy") == 0)
		return;
	EACH_OWNER(traffic, who)
	traffic->remote_between_devices += known(row->bytes);
}

struct um_observer um_facts_observer(struct um_facts *facts)
{
	return (struct um_observer){
		.context = facts,
		.op = add_time,
		.fault = add_fault,
		.migration = add_migration,
		.remote_access = add_remote,
		.copy_traffic = add_copy,
		.peer_traffic = add_peer,
	};
}

/* --- of a measured file --- */

#define COUNT(name, row_type)                                                                      \
	static int count_##name(const void *row, void *context)                                    \
	{                                                                                          \
		add_##name(context, row);                                                          \
		return 0;                                                                          \
	}
COUNT(fault, um_fault_row)
COUNT(migration, um_migration_row)
COUNT(remote, um_remote_access_row)
COUNT(copy, um_copy_traffic_row)

static int sum_allocations(struct um_facts *facts)
{
	struct um_finding_cost *cost = &facts->baseline;
	int64_t value;
	static const struct {
		const char *sql;
		size_t offset;
	} sums[] = {
		{"SELECT SUM(bytes) FROM migration WHERE source = -1 AND ?1 = 0",
		 offsetof(struct um_finding_cost, bytes_to_device)},
		{"SELECT SUM(bytes) FROM migration WHERE destination = -1 AND ?1 = 0",
		 offsetof(struct um_finding_cost, bytes_to_host)},
		{"SELECT TOTAL(bytes) + (SELECT TOTAL(bytes) FROM peer_traffic) FROM migration"
		 " WHERE source >= 0 AND destination >= 0 AND ?1 = 0",
		 offsetof(struct um_finding_cost, bytes_between_devices)},
		{"SELECT SUM(bytes_to_device) FROM copy_traffic WHERE ?1 = 0",
		 offsetof(struct um_finding_cost, copied_to_device)},
		{"SELECT SUM(bytes_to_host) FROM copy_traffic WHERE ?1 = 0",
		 offsetof(struct um_finding_cost, copied_to_host)},
		{"SELECT SUM(faults) FROM fault WHERE device >= 0 AND ?1 = 0",
		 offsetof(struct um_finding_cost, device_faults)},
		{"SELECT SUM(faults) FROM fault WHERE device < 0 AND ?1 = 0",
		 offsetof(struct um_finding_cost, host_faults)},
		{"SELECT end_ns - start_ns FROM run WHERE ?1 = 0",
		 offsetof(struct um_finding_cost, end_ns)},
	};

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		int error = um_db_integer(facts->db, sums[i].sql, 0, &value);

		if (error)
			return error;
		*(uint64_t *)(void *)((char *)cost + sums[i].offset) = known(value);
	}
	cost->bytes_to_device += cost->copied_to_device;
	cost->bytes_to_host += cost->copied_to_host;
	return 0;
}

int um_facts_load_measured(struct um_facts *facts)
{
	static const struct {
		const struct um_table *table;
		int (*count)(const void *, void *);
	} tables[] = {
		{&um_table_fault, count_fault},
		{&um_table_migration, count_migration},
		{&um_table_remote_access, count_remote},
		{&um_table_copy_traffic, count_copy},
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !error; i++)
		error = um_db_each(facts->db, tables[i].table, NULL, 0, tables[i].count, facts);
	for (size_t i = 0; i < facts->op_count; i++) {
		facts->ops[i].run_start_ns = facts->ops[i].start_ns;
		facts->ops[i].run_end_ns = facts->ops[i].end_ns;
	}
	return error ? error : sum_allocations(facts);
}
