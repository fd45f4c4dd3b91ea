#include "query.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char allocations_sql[] =
	"WITH served AS (SELECT allocation, COUNT(*) - COUNT(faults) AS unknown,"
	"  SUM(CASE WHEN device >= 0 THEN faults ELSE 0 END) AS by_device,"
	"  SUM(CASE WHEN device < 0 THEN faults ELSE 0 END) AS by_host"
	"  FROM fault GROUP BY allocation),"
	" moved AS (SELECT allocation, COUNT(*) - COUNT(bytes) AS unknown,"
	"  SUM(CASE WHEN source = -1 THEN bytes ELSE 0 END) AS to_device,"
	"  SUM(CASE WHEN destination = -1 THEN bytes ELSE 0 END) AS to_host,"
	"  SUM(CASE WHEN destination = -1 AND cause = 'eviction' THEN bytes ELSE 0 END) AS evicted"
	"  FROM migration GROUP BY allocation),"
	" remote AS (SELECT allocation, SUM(bytes_to_device) AS to_device,"
	"  SUM(bytes_to_host) AS to_host FROM remote_access GROUP BY allocation),"
	" copied AS (SELECT allocation, SUM(bytes_to_device) AS to_device,"
	"  SUM(bytes_to_host) AS to_host FROM copy_traffic GROUP BY allocation),"
	" mapped AS (SELECT allocation, COUNT(*) AS count FROM mapping WHERE change = 'remote'"
	"  GROUP BY allocation)"
	" SELECT allocation.allocation, allocation.name, allocation.site, allocation.kind,"
	"  allocation.bytes,"
	"  CASE WHEN COALESCE(served.unknown, 0) = 0 THEN COALESCE(served.by_device, 0) END,"
	"  CASE WHEN COALESCE(served.unknown, 0) = 0 THEN COALESCE(served.by_host, 0) END,"
	"  CASE WHEN COALESCE(moved.unknown, 0) = 0 THEN COALESCE(moved.to_device, 0) END,"
	"  CASE WHEN COALESCE(moved.unknown, 0) = 0 THEN COALESCE(moved.to_host, 0) END,"
	"  CASE WHEN COALESCE(moved.unknown, 0) = 0 THEN COALESCE(moved.evicted, 0) END,"
	"  COALESCE(remote.to_device, 0), COALESCE(remote.to_host, 0),"
	"  COALESCE(copied.to_device, 0), COALESCE(copied.to_host, 0), COALESCE(mapped.count, 0)"
	" FROM allocation LEFT JOIN served ON served.allocation = allocation.allocation"
	"  LEFT JOIN moved ON moved.allocation = allocation.allocation"
	"  LEFT JOIN remote ON remote.allocation = allocation.allocation"
	"  LEFT JOIN copied ON copied.allocation = allocation.allocation"
	"  LEFT JOIN mapped ON mapped.allocation = allocation.allocation"
	" ORDER BY allocation.allocation";

static const char sites_sql[] =
	"SELECT allocation.allocation, user.file, user.line, user.function, user.module,"
	"  user.offset_bytes FROM allocation JOIN temp.user_frame AS user"
	"  ON user.site = allocation.site AND user.kind = 'alloc'"
	" ORDER BY allocation.allocation";

void um_summary_forget_absent(const struct um_summary *summary, struct um_allocation_summary *of)
{
	if (summary->is_unattributed)
		of->remote_mappings = UM_NULL;
	if (!summary->has_faults || summary->is_unattributed)
		of->device_faults = of->host_faults = UM_NULL;
	if (!summary->has_host_faults)
		of->host_faults = UM_NULL;
	if (!summary->has_migrations || summary->is_unattributed)
		of->migrated_to_device_bytes = of->migrated_to_host_bytes = of->evicted_bytes =
			UM_NULL;
	if (!summary->has_remote_accesses)
		of->remote_to_device_bytes = of->remote_to_host_bytes = UM_NULL;
	if (!summary->has_copies)
		of->copied_to_device_bytes = of->copied_to_host_bytes = UM_NULL;
}

static int add_allocation(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_allocation_summary *added =
		um_query_append(&summary->allocations, &summary->allocation_count, sizeof(*added));

	if (!added)
		return UM_ENOMEM;
	*added = (struct um_allocation_summary){
		.allocation = um_query_integer(row, 0),
		.name = um_query_text(row, 1),
		.kind = um_query_text(row, 3),
		.bytes = um_query_integer(row, 4),
		.device_faults = um_query_integer(row, 5),
		.host_faults = um_query_integer(row, 6),
		.migrated_to_device_bytes = um_query_integer(row, 7),
		.migrated_to_host_bytes = um_query_integer(row, 8),
		.evicted_bytes = um_query_integer(row, 9),
		.remote_to_device_bytes = um_query_integer(row, 10),
		.remote_to_host_bytes = um_query_integer(row, 11),
		.copied_to_device_bytes = um_query_integer(row, 12),
		.copied_to_host_bytes = um_query_integer(row, 13),
		.remote_mappings = um_query_integer(row, 14),
	};
	if (added->bytes < 0 || added->bytes > INT64_MAX / 2)
		return um_fail(UM_EFORMAT, "%s: damaged: an allocation of a size that cannot be",
			       summary->path);
	um_summary_forget_absent(summary, added);
	int error = um_text_pool_keep(summary->texts, &added->name);
	return error ? error : um_summary_keep(summary, &added->kind, "allocation", "kind");
}

static int compare_ids(const void *key, const void *item)
{
	int64_t wanted = *(const int64_t *)key;
	int64_t id = ((const struct um_allocation_summary *)item)->allocation;

	return (wanted > id) - (wanted < id);
}

struct um_allocation_summary *um_summary_find(struct um_summary *summary, int64_t allocation)
{
	if (!summary->allocation_count)
		return NULL;
	return bsearch(&allocation, summary->allocations, summary->allocation_count,
		       sizeof(*summary->allocations), compare_ids);
}

int um_summary_site(struct um_summary *summary, struct sqlite3_stmt *row, int column,
		    const char **site, bool *has_line, const char **function)
{
	const char *file = um_query_text(row, column), *module = um_query_text(row, column + 3);
	int64_t line = um_query_integer(row, column + 1);
	char *text = NULL;
	int wrote;

	*function = um_query_text(row, column + 2);
	*has_line = file && line != UM_NULL;
	if (*has_line)
		wrote = asprintf(&text, "%s:%" PRId64, file, line);
	else if (*function)
		wrote = asprintf(&text, "%s", *function);
	else if (!module || !*module)
		wrote = asprintf(&text, "address 0x%" PRIx64,
				 (uint64_t)um_query_integer(row, column + 4));
	else
		wrote = asprintf(&text, "%s+0x%" PRIx64, module,
				 (uint64_t)um_query_integer(row, column + 4));
	if (wrote < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	*site = text;
	int error = um_text_pool_keep(summary->texts, site);
	free(text);
	return error ? error : um_text_pool_keep(summary->texts, function);
}

static int add_site(struct sqlite3_stmt *row, void *context)
{
	struct um_summary *summary = context;
	struct um_allocation_summary *of = um_summary_find(summary, um_query_integer(row, 0));

	if (!of)
		return 0;
	return um_summary_site(summary, row, 1, &of->site, &of->has_line, &of->function);
}

int um_summary_load_allocations(struct um_summary *summary, struct um_db *db)
{
	int error = um_query_each(db, allocations_sql, add_allocation, summary);

	return error ? error : um_query_each(db, sites_sql, add_site, summary);
}
