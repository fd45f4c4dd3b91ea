/* What a trace lacks, so that no replay of it can show it. */
#include "replay.h"

#include "trace/db/trace_db.h"

int um_replay_find_gaps(struct um_replay_gaps *gaps, struct um_db *trace)
{
	int64_t outside = 0, pageable = 0;
	int error = um_db_integer(
		trace, "SELECT COALESCE(SUM(MAX(count, 0)), 0) FROM loss WHERE kind = 'outside'", 0,
		&outside);

	if (!error)
		error = um_db_integer(trace,
				      "SELECT COUNT(*) FROM allocation WHERE kind = 'pageable'", 0,
				      &pageable);
	*gaps = (struct um_replay_gaps){
		.outside_accesses = outside > 0 ? (uint64_t)outside : 0,
		.is_pageable = pageable > 0,
	};
	return error;
}
