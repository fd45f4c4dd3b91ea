#include "apply_kind.h"

#include "trace/spool/spool_record.h"

#include <string.h>

static int note_backend(const void *row, void *context)
{
	const struct um_run_row *run = row;
	const char **why = context;

	if (!run->backend || strcmp(run->backend, "emulated") != 0)
		*why = "on a GPU the driver makes the allocation before umtrace can ask for another";
	else if (!run->host_watch || strcmp(run->host_watch, "none") == 0)
		*why = "the host was not watched, so that the trace does not tell whether it uses it";
	return 0;
}

/*
 * What would fault where the host cannot reach it. By mprotect nothing is missed that works: what is not seen
 * fails there.
 */
static int check_host(const char **why, struct um_db *trace, int64_t allocation)
{
	int64_t used = 0, unwatched = 0;
	int error = um_db_integer(trace,
				  "SELECT EXISTS (SELECT 1 FROM page_access JOIN op USING (op) "
				  "WHERE op.kind = 'host' AND page_access.allocation = ?1)",
				  allocation, &used);

	if (!error)
		error = um_db_integer(
			trace,
			"SELECT EXISTS (SELECT 1 FROM loss WHERE ?1 = 0 AND (kind IN "
			"('host_during_kernel', 'cut_off') OR (kind = 'host_unwatched' AND NOT "
			"EXISTS (SELECT 1 FROM run WHERE host_watch = 'mprotect'))))",
			0, &unwatched);
	if (!error && used)
		*why = "the host reads or writes it";
	else if (!error && unwatched)
		*why = "the trace does not tell all that the host touched (table loss)";
	return error;
}

int um_apply_kind_check(const char **why, struct um_db *trace, int64_t allocation, int from, int to)
{
	*why = NULL;
	int error = um_db_run(trace, note_backend, why);

	if (error || *why)
		return error;
	if (from == UM_ALLOCATION_REGISTERED || from == UM_ALLOCATION_PAGEABLE)
		*why = "HIP did not allocate it";
	else if (to == UM_ALLOCATION_DEVICE && from == UM_ALLOCATION_PINNED)
		*why = "whether the host uses pinned memory no trace tells";
	else if (to == UM_ALLOCATION_DEVICE)
		return check_host(why, trace, allocation);
	return 0;
}
