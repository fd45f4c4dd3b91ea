/* What a trace is, in words that another trace does not have. */
#include "sweep_db.h"

#include "trace/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int take_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct um_sweep_facts *facts = context;

	snprintf(facts->identity, sizeof(facts->identity), "%s %s %.200s",
		 run->host ? run->host : "?", run->started ? run->started : "?",
		 run->command ? run->command : "?");
	return 0;
}

static int take_accesses(const void *row, void *context)
{
	const struct um_origin_row *origin = row;
	struct um_sweep_facts *facts = context;

	snprintf(facts->accesses, sizeof(facts->accesses), "%s", origin->origin);
	return 0;
}

/* How much of everything there is. */
static int add_counts(struct um_sweep_facts *facts, struct um_db *trace)
{
	static const struct {
		const char *what, *sql;
	} counts[] = {
		{"ops", "SELECT count(*) FROM op WHERE ?1 IS NOT NULL"},
		{"allocations", "SELECT count(*) FROM allocation WHERE ?1 IS NOT NULL"},
		{"chunks", "SELECT count(*) FROM access_chunk WHERE ?1 IS NOT NULL"},
		{"touches",
		 "SELECT coalesce(sum(touches), 0) FROM access_chunk WHERE ?1 IS NOT NULL"},
		{"stream bytes",
		 "SELECT coalesce(sum(payload_bytes), 0) FROM access_chunk WHERE ?1 IS NOT NULL"},
	};
	size_t used = strlen(facts->identity);
	int error = 0;

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts) && !error; i++) {
		int64_t count;

		error = um_db_integer(trace, counts[i].sql, 1, &count);
		if (!error && used < sizeof(facts->identity))
			used += (size_t)snprintf(facts->identity + used,
						 sizeof(facts->identity) - used, "; %" PRId64 " %s",
						 count, counts[i].what);
	}
	return error;
}

int um_sweep_facts_read(struct um_sweep_facts *facts, struct um_db *trace)
{
	int error;

	strcpy(facts->identity, "?");
	strcpy(facts->accesses, "of unknown origin");
	error = um_db_run(trace, take_run, facts);
	if (!error)
		error = add_counts(facts, trace);
	if (!error)
		error = um_db_each(trace, &um_table_origin, "record = 'page_access' AND ?1 = 0", 0,
				   take_accesses, facts);
	if (!error && !strcmp(facts->accesses, "absent"))
		error = um_fail(UM_ENOTSUP,
				"%s: nothing to replay: it was measured on a GPU, which does not "
				"tell what its kernels touch",
				um_db_path(trace));
	return error;
}
