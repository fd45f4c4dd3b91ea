#include "query.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <sqlite3.h>

/* Everything is added up by op first, so that a kernel's launches meet one row of each. */
static const char kernels_sql[] =
	"WITH served AS (SELECT op, SUM(faults) AS faults, COUNT(*) - COUNT(faults) AS unknown"
	"  FROM fault WHERE device >= 0 GROUP BY op),"
	" moved AS (SELECT op, COUNT(*) - COUNT(bytes) AS unknown,"
	"  SUM(CASE WHEN source = -1 THEN bytes ELSE 0 END) AS to_device,"
	"  SUM(CASE WHEN destination = -1 THEN bytes ELSE 0 END) AS to_host"
	"  FROM migration GROUP BY op),"
	" remote AS (SELECT op, SUM(bytes_to_device) AS to_device, SUM(bytes_to_host) AS to_host"
	"  FROM remote_access GROUP BY op),"
	" mapped AS (SELECT op, COUNT(*) AS count FROM mapping WHERE change = 'remote' GROUP BY op),"
	" asked AS (SELECT op, SUM(requests) AS requests FROM temp.asked GROUP BY op)"
	" SELECT kernel.name, MIN(kernel.op), COUNT(*), SUM(kernel.reads IS NULL),"
	"  SUM(op.end_ns - op.start_ns), SUM(kernel.reads), SUM(kernel.writes),"
	"  SUM(kernel.atomics), SUM(asked.requests), "
	"  CASE WHEN COALESCE(SUM(served.unknown), 0) = 0 THEN COALESCE(SUM(served.faults), 0) END,"
	"  CASE WHEN COALESCE(SUM(moved.unknown), 0) = 0 THEN COALESCE(SUM(moved.to_device), 0) END,"
	"  CASE WHEN COALESCE(SUM(moved.unknown), 0) = 0 THEN COALESCE(SUM(moved.to_host), 0) END,"
	"  COALESCE(SUM(remote.to_device), 0), COALESCE(SUM(remote.to_host), 0),"
	"  MIN(op.end_ns - op.start_ns), MAX(op.end_ns - op.start_ns), COALESCE(SUM(mapped.count), 0),"
	"  CASE WHEN COUNT(kernel.recorded) = COUNT(*) THEN SUM(kernel.recorded <> 0) END"
	" FROM kernel JOIN op ON op.op = kernel.op"
	"  LEFT JOIN served ON served.op = kernel.op LEFT JOIN moved ON moved.op = kernel.op"
	"  LEFT JOIN remote ON remote.op = kernel.op LEFT JOIN asked ON asked.op = kernel.op"
	"  LEFT JOIN mapped ON mapped.op = kernel.op"
	" GROUP BY kernel.name ORDER BY 2";

/* Of a kernel of which nothing was recorded it is not known that nothing happened. */
static void forget_rest(struct um_kernel_summary *kernel)
{
	kernel->reads = kernel->writes = kernel->atomics = kernel->requests = UM_NULL;
	kernel->faults = kernel->remote_mappings = UM_NULL;
	kernel->migrated_to_device_bytes = kernel->migrated_to_host_bytes = UM_NULL;
	kernel->remote_to_device_bytes = kernel->remote_to_host_bytes = UM_NULL;
}

static int add_kernel(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_kernel_summary *kernel =
		um_query_append(&summary->kernels, &summary->kernel_count, sizeof(*kernel));

	if (!kernel)
		return UM_ENOMEM;
	*kernel = (struct um_kernel_summary){
		.name = um_query_text(row, 0),
		.first_op = um_query_integer(row, 1),
		.launches = um_query_integer(row, 2),
		.untraced = um_query_integer(row, 3),
		.duration_ns = um_query_integer(row, 4),
		.reads = um_query_integer(row, 5),
		.writes = um_query_integer(row, 6),
		.atomics = um_query_integer(row, 7),
		.requests = um_query_integer(row, 8),
		.faults = um_query_integer(row, 9),
		.migrated_to_device_bytes = um_query_integer(row, 10),
		.migrated_to_host_bytes = um_query_integer(row, 11),
		.remote_to_device_bytes = um_query_integer(row, 12),
		.remote_to_host_bytes = um_query_integer(row, 13),
		.shortest_ns = um_query_integer(row, 14),
		.longest_ns = um_query_integer(row, 15),
		.remote_mappings = um_query_integer(row, 16),
		.recorded = um_query_integer(row, 17),
	};
	if (summary->is_unattributed)
		kernel->remote_mappings = UM_NULL;
	if (!summary->has_faults || summary->is_unattributed)
		kernel->faults = UM_NULL;
	if (!summary->has_migrations || summary->is_unattributed)
		kernel->migrated_to_device_bytes = kernel->migrated_to_host_bytes = UM_NULL;
	if (!summary->has_remote_accesses)
		kernel->remote_to_device_bytes = kernel->remote_to_host_bytes = UM_NULL;
	if (kernel->recorded == 0)
		forget_rest(kernel);
	um_summary_extrapolate(kernel);
	return um_summary_keep(summary, &kernel->name, "kernel", "name");
}

int um_summary_load_kernels(struct um_summary *summary, struct um_db *db)
{
	return um_query_each(db, kernels_sql, add_kernel, summary);
}
