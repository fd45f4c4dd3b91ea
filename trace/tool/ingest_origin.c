#include "ingest_private.h"

#include <stdio.h>
#include <string.h>

static const char not_modelled[] = "no driver model has been run";

static int insert_all(struct um_ingest *ingest, const struct um_origin_row *rows)
{
	int error = 0;

	for (; rows->record && !error; rows++)
		error = um_db_replace(ingest->db, &um_table_origin, rows);
	return error;
}

int um_ingest_origins(struct um_ingest *ingest)
{
	bool watched = ingest->run.host_watch && strcmp(ingest->run.host_watch, "none");
	bool requests = ingest->totals.requests != 0;
	char host[96], order[128];
	const struct um_origin_row rows[] = {
		{"op.time", "emulated", "run", "kernels ran on the CPU: no times of a GPU"},
		{"page_access", "emulated", "run",
		 ingest->totals.pageable
			 ? "of kernels: each access of the lanes, counted, also to memory that HIP "
			   "did not allocate (--pageable)"
			 : "of kernels: each access of the lanes, counted"},
		{"page_access.host", watched ? "measured" : "absent", "run", host},
		{"page_access.requests", requests ? "emulated" : "absent", "run",
		 requests ? "distinct lines of a wave and instruction" : "--no-requests"},
		{"access_chunk", "emulated", "run", order},
		{"fault", "absent", "run", not_modelled},
		{"migration", "absent", "run", not_modelled},
		{"mapping", "absent", "run", not_modelled},
		{"remote_access", "absent", "run", not_modelled},
		{"driver_event", "absent", "run", not_modelled},
		{"copy_traffic", "absent", "run", not_modelled},
		{NULL, NULL, NULL, NULL},
	};

	snprintf(host, sizeof(host), watched ? "by page and interval, seen by %s" : "not watched",
		 ingest->run.host_watch);
	snprintf(order, sizeof(order),
		 "groups one after another, lanes in step; repeats among the "
		 "last %lld pages of a group left out",
		 (long long)ingest->run.filter_pages);
	return insert_all(ingest, rows);
}
