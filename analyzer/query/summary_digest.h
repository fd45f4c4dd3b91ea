/*
 * Large tables read once: what a summary asks of `migration` and `fault` it asks several times, and each time
 * SQLite sorts all rows. While a digest stands, temporary tables of these names hide them, in which
 * rows of one op, allocation, place and cause are one, with their bytes and faults added up (NULL where one is not
 * known). Rows of the host's ops stay apart by their start, where there are ranges: whose they are is known by
 * time alone. Not for queries of single rows, pages or batches. A part of summary.c.
 */
#ifndef UM_SUMMARY_DIGEST_H
#define UM_SUMMARY_DIGEST_H

#include "summary.h"

/* What single rows say, and sums of rows do not. */
struct um_summary_singles {
	struct {
		int64_t count, bytes, least_bytes, most_bytes, median_bytes, duration_ns;
	} transfers
		[3]; /* of bytes: to a device, to the host, between devices; median UM_NULL: none */
	struct {
		int64_t records, batches;
	} faults[2]; /* of the host, of devices */
};

/* UM_EFORMAT: sums beyond 64 bits; UM_ENOMEM. */
int um_summary_digest_begin(struct um_db *, struct um_summary_singles *);
/* The tables are as they were. Also after a failure of the above. */
int um_summary_digest_end(struct um_db *);

#endif
