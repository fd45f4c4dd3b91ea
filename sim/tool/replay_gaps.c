/* What a trace lacks, so that no replay of it can show it. */
#include "replay.h"

#include "trace/db/trace_db.h"

int um_replay_find_gaps(struct um_replay_gaps *gaps, struct um_db *trace)
{
	int64_t outside = 0, pageable = 0, launches = 0, not_recorded = 0;
	int error = um_db_integer(
		trace, "SELECT COALESCE(SUM(MAX(count, 0)), 0) FROM loss WHERE kind = 'outside'", 0,
		&outside);

	if (!error)
		error = um_db_integer(trace,
				      "SELECT COUNT(*) FROM allocation WHERE kind = 'pageable'", 0,
				      &pageable);
	if (!error)
		error = um_db_integer(trace, "SELECT COUNT(*) FROM op WHERE kind = 'launch'", 0,
				      &launches);
	if (!error)
		error = um_db_integer(trace,
				      "SELECT COUNT(*) FROM op WHERE kind = 'launch' AND flags & 8",
				      0, &not_recorded);
	*gaps = (struct um_replay_gaps){
		.outside_accesses = outside > 0 ? (uint64_t)outside : 0,
		.is_pageable = pageable > 0,
		.launches = (uint64_t)launches,
		.not_recorded = (uint64_t)not_recorded,
	};
	return error;
}
